//! What the file knows when a step begins, as far as it decides what is asked.

use super::histories::Entry;
use crate::domain::following::{Known, Open};

/// State of a step.
#[derive(Debug, Default)]
pub(super) struct StepState {
    /// Slot up to which the chain was read, and up to which it was read for good.
    pub cursor: Option<u32>,
    pub complete: Option<u32>,
    /// Slots whose hashes the file has.
    kept: Vec<u32>,
    /// `true`: the chain is stopped, and read again from below.
    pub is_stopped: bool,
    /// `true`: blocks are read again.
    pub has_rescan: bool,
    /// `true`: a transfer waits for its transaction.
    pub has_sent: bool,
    /// Slots and signatures of what is known and not final, and of what is in the blocks that are read again.
    open: Vec<Entry>,
    again: Vec<Entry>,
    /// `true`: the slots at the head were read in this step.
    pub has_read_head: bool,
    /// `true`: the accounts were looked at for that.
    pub has_looked: bool,
}

impl StepState {
    pub(super) fn of(known: &Known) -> StepState {
        let places = |of: &[Open]| {
            let in_block = |one: &Open| Some((one.block.as_ref()?.height, one.txid.clone()));
            of.iter().filter_map(in_block).collect()
        };
        let rescan = known.rescan.as_ref();
        StepState {
            cursor: known.cursor.as_ref().map(|cursor| cursor.block.height),
            complete: known.complete.as_ref().map(|complete| complete.height),
            kept: known.kept.iter().map(|block| block.height).collect(),
            is_stopped: known.stopped.is_some(),
            has_rescan: rescan.is_some(),
            has_sent: !known.sent.is_empty(),
            open: places(&known.open),
            again: rescan
                .map(|rescan| places(&rescan.known))
                .unwrap_or_default(),
            has_read_head: false,
            has_looked: false,
        }
    }

    /// Returns `true` if the file has the hash of the block at this slot.
    pub(super) fn has_read(&self, slot: u32) -> bool {
        self.cursor == Some(slot) || self.kept.contains(&slot)
    }

    /// Returns `true` if something that is known is in the slots behind one, up to another.
    pub(super) fn is_open_between(&self, behind: u32, to: u32) -> bool {
        let mut open = self.open.iter();
        open.any(|(slot, _)| *slot > behind && *slot <= to)
    }

    /// Returns the transactions that are known to be in these slots.
    pub(super) fn known_between(&self, from: u32, to: u32) -> Vec<Entry> {
        let known = self.open.iter().chain(&self.again);
        let known = known.filter(|(slot, _)| (from..=to).contains(slot));
        known.cloned().collect()
    }
}
