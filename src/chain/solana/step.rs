//! Data about the current step: the state of the database at the start of the step, and the reads done so far.

use super::histories::SlotSignature;
use crate::domain::{ChainState, OpenObservation};

#[derive(Debug, Default)]
pub(super) struct StepContext {
    /// Highest slot up to which blocks were read.
    pub cursor: Option<u32>,
    /// Highest slot up to which all blocks were read again after they became final.
    pub complete: Option<u32>,
    /// Slots whose block hashes are in the database.
    kept: Vec<u32>,
    /// `true` if a deep reorg stopped the chain. A rescan then reads the chain again from a lower slot.
    pub is_stopped: bool,
    pub has_rescan: bool,
    /// `true` if a transfer waits for the confirmation of its transaction.
    pub has_sent: bool,
    /// Transactions in the database that are not final.
    open: Vec<SlotSignature>,
    /// Transactions that the database has in the blocks of the rescan.
    again: Vec<SlotSignature>,
    pub has_read_head: bool,
    pub has_polled: bool,
}

impl StepContext {
    pub(super) fn new(known: &ChainState) -> StepContext {
        let places = |of: &[OpenObservation]| {
            let in_block =
                |one: &OpenObservation| Some((one.block.as_ref()?.height, one.txid.clone()));
            of.iter().filter_map(in_block).collect()
        };
        let rescan = known.rescan.as_ref();
        StepContext {
            cursor: known.cursor.as_ref().map(|cursor| cursor.block.height),
            complete: known.complete.as_ref().map(|complete| complete.height),
            kept: known.kept.iter().map(|block| block.height).collect(),
            is_stopped: known.stopped.is_some(),
            has_rescan: rescan.is_some(),
            has_sent: !known.sent.is_empty(),
            open: places(&known.open),
            again: rescan.map(|rescan| places(&rescan.known)).unwrap_or_default(),
            has_read_head: false,
            has_polled: false,
        }
    }

    pub(super) fn has_stored_hash(&self, slot: u32) -> bool {
        self.cursor == Some(slot) || self.kept.contains(&slot)
    }

    /// Returns `true` if any transaction that is not final is in a slot above `behind` and up to `to`.
    pub(super) fn has_nonfinal_transaction(&self, behind: u32, to: u32) -> bool {
        let mut open = self.open.iter();
        open.any(|(slot, _)| *slot > behind && *slot <= to)
    }

    /// Returns the transactions that the database has in these slots.
    pub(super) fn known_transactions_between(&self, from: u32, to: u32) -> Vec<SlotSignature> {
        let known = self.open.iter().chain(&self.again);
        let known = known.filter(|(slot, _)| (from..=to).contains(slot));
        known.cloned().collect()
    }
}
