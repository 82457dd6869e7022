//! Reads blocks by slot, and detects slots without a block.
//!
//! Invariant: a slot counts as permanently empty only if the node reports this for a final slot.

use super::answers::{BlockHeaderJson, Commitment};
use super::{Solana, invalid_answer, unexpected_error};
use crate::chain::NodeError;
use crate::chain::rpc::MethodError;
use crate::domain::observation::NO_BLOCK;
use crate::domain::{Block, Time};
use serde_json::json;

/// Placeholder for the hash of a block that the node has deleted because of its age.
const TOO_OLD: &str = "not kept";
/// Largest expected difference between the heads of two nodes behind one url, in slots.
pub(super) const MARGIN: u32 = 150;
/// Number of slots in the first search for the newest block.
const SEARCH: u32 = 64;
/// Number of listed blocks that are tried if the node does not give the newest of them.
const LISTED_TRIES: usize = 8;
/// Largest number of slots searched for the next block. No outage so far has left more slots empty.
const NEXT_MAX: u32 = 5_000;
/// Earliest time of a block, in Unix seconds: the main network started on 16 March 2020.
const FIRST_BLOCK_TIME: i64 = 1_584_316_800;

/// Error code for deleted blocks. This code and the following ones are from `rpc_custom_error` in
/// <https://github.com/anza-xyz/agave>.
const CLEANED_UP: i64 = -32001;
const NOT_AVAILABLE: i64 = -32004;
const SLOT_SKIPPED: i64 = -32007;
const LONG_TERM_SKIPPED: i64 = -32009;
const NOT_YET: i64 = -32014;
/// Error code for an invalid parameter.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// Values of `maxSupportedTransactionVersion` in `getBlock`, the preferred one first. The answer contains no
/// transaction, so the highest number is safe.
const BLOCK_VERSIONS: &[u8] = &[255, 1, 0];
/// Distances of the slots below the newest one that are tried if the node does not give the newest block.
const HEAD_DISTANCES: [u32; 8] = [0, 0, 1, 2, 4, 8, 16, 32];

#[derive(Clone, Debug)]
pub(super) struct SlotHeader {
    pub block: Block,
    pub parent: String,
    pub parent_height: u32,
    pub time: Time,
}

#[derive(Clone, Debug)]
pub(super) enum SlotState {
    Block(SlotHeader),
    /// The node reports that the slot will never have a block.
    Skipped,
    /// The node returns no block, for an unknown reason.
    Missing,
    /// The node has deleted the blocks up to this slot.
    TooOld,
}

impl Solana {
    /// Returns the state of a slot. A block is cached until the end of the step.
    pub(super) fn slot_state(
        &mut self,
        slot: u32,
        commitment: Commitment,
    ) -> Result<SlotState, NodeError> {
        if let Some(known) = self.headers.get(&(slot, commitment)) {
            return Ok(SlotState::Block(known.clone()));
        }
        let params = |version: u8| {
            json!([slot, {
                "commitment": commitment, "encoding": "json", "transactionDetails": "none", "rewards": false,
                "maxSupportedTransactionVersion": version,
            }])
        };
        let answer: Result<Option<BlockHeaderJson>, MethodError> =
            self.call_with_version("getBlock", BLOCK_VERSIONS, params)?;
        let answer = match answer {
            Ok(Some(answer)) => answer,
            Ok(None) => return Ok(SlotState::Missing),
            Err(error) => {
                return match error.code {
                    SLOT_SKIPPED | LONG_TERM_SKIPPED => Ok(SlotState::Skipped),
                    NOT_AVAILABLE | NOT_YET => Ok(SlotState::Missing),
                    CLEANED_UP => Ok(SlotState::TooOld),
                    _ if is_before_first_block(&error) => Ok(SlotState::TooOld),
                    _ => Err(unexpected_error(&format!("getBlock of slot {slot}"), &error)),
                };
            }
        };
        let header = self.parse_header(slot, answer)?;
        self.headers.insert((slot, commitment), header.clone());
        Ok(SlotState::Block(header))
    }

    fn parse_header(
        &mut self,
        slot: u32,
        answer: BlockHeaderJson,
    ) -> Result<SlotHeader, NodeError> {
        for hash in [&answer.blockhash, &answer.previous_blockhash] {
            let is_text = hash.bytes().all(|byte| byte.is_ascii_alphanumeric());
            if !is_text || !(32..=44).contains(&hash.len()) {
                return Err(invalid_answer("the hash of a block is none"));
            }
        }
        if answer.parent_slot > slot {
            return Err(invalid_answer("the parent of a block is of a later slot"));
        }
        let seconds = match answer.block_time.filter(|seconds| *seconds >= FIRST_BLOCK_TIME) {
            Some(seconds) => Some(seconds),
            // The node may not return the time of a block yet. Some nodes return a wrong time in `getBlock` and the
            // right time in `getBlockTime`.
            None => self.call_required("getBlockTime", &json!([slot]))?,
        };
        let seconds: Option<i64> = seconds;
        let seconds = seconds.ok_or_else(|| {
            NodeError::Unreachable(format!("it does not tell the time of block {slot}"))
        })?;
        Ok(SlotHeader {
            block: Block { height: slot, hash: answer.blockhash },
            parent: answer.previous_blockhash,
            parent_height: answer.parent_slot,
            time: unix_time(seconds)?,
        })
    }

    /// Returns the header of the block at a slot that must have a block.
    pub(super) fn required_header(
        &mut self,
        slot: u32,
        commitment: Commitment,
    ) -> Result<SlotHeader, NodeError> {
        match self.slot_state(slot, commitment)? {
            SlotState::Block(header) => Ok(header),
            SlotState::Skipped | SlotState::Missing => Err(NodeError::Behind),
            SlotState::TooOld => Err(pruned_slot_error(slot)),
        }
    }

    /// Returns the header of the newest block that the node gives, at `slot` or a few slots below. Some nodes always
    /// give blocks some slots later than they report them.
    pub(super) fn newest_header(&mut self, slot: u32) -> Result<SlotHeader, NodeError> {
        // The head never goes back below a block that was read.
        let lowest = self.step.cursor.filter(|cursor| *cursor <= slot).unwrap_or(0);
        let mut tried = None;
        for distance in HEAD_DISTANCES {
            let candidate = slot.saturating_sub(distance).max(lowest);
            if distance > 0 && tried == Some(candidate) {
                break;
            }
            tried = Some(candidate);
            match self.slot_state(candidate, Commitment::Confirmed)? {
                SlotState::Block(header) => return Ok(header),
                SlotState::Skipped | SlotState::Missing => {}
                SlotState::TooOld => return Err(pruned_slot_error(candidate)),
            }
        }
        Err(NodeError::Behind)
    }

    /// Implements [`Node::block_hash_at`](crate::chain::Node::block_hash_at).
    pub(super) fn hash_of_slot(&mut self, slot: u32) -> Result<Option<String>, NodeError> {
        let finalized = self.finalized_seen;
        Ok(match self.slot_state(slot, Commitment::Confirmed)? {
            SlotState::Block(header) => Some(header.block.hash),
            SlotState::Skipped => (slot <= finalized).then(|| NO_BLOCK.to_owned()),
            // Another node behind the same url may have answered, and that node may lag.
            SlotState::Missing => {
                let is_below = slot.saturating_add(MARGIN) <= finalized;
                is_below.then(|| NO_BLOCK.to_owned())
            }
            SlotState::TooOld if self.step.has_stored_hash(slot) => {
                return Err(pruned_slot_error(slot));
            }
            // A rescan from the oldest stored block also requests the hash of the block before, which the node may
            // have deleted.
            SlotState::TooOld => Some(TOO_OLD.to_owned()),
        })
    }

    pub(super) fn newest_block_between(
        &mut self,
        from: u32,
        to: u32,
        commitment: Commitment,
    ) -> Result<SlotHeader, NodeError> {
        if let SlotState::Block(header) = self.slot_state(to, commitment)? {
            return Ok(header);
        }
        for low in [from.max(to.saturating_sub(SEARCH)), from] {
            let params = json!([low, to, { "commitment": commitment }]);
            let slots: Vec<u32> = self.call_required("getBlocks", &params)?;
            let mut slots: Vec<u32> =
                slots.into_iter().filter(|slot| (low..=to).contains(slot)).collect();
            slots.sort_unstable();
            // The node may list a block and not give it.
            for slot in slots.into_iter().rev().take(LISTED_TRIES) {
                if let SlotState::Block(header) = self.slot_state(slot, commitment)? {
                    return Ok(header);
                }
            }
        }
        Err(NodeError::Behind)
    }

    /// Implements [`Node::block_time_at`](crate::chain::Node::block_time_at). For a slot without a block, returns the time of the
    /// next block.
    pub(super) fn time_of_slot(&mut self, slot: u32) -> Result<Option<Time>, NodeError> {
        match self.slot_state(slot, Commitment::Confirmed)? {
            SlotState::Block(header) => return Ok(Some(header.time)),
            SlotState::TooOld => return Ok(None),
            SlotState::Skipped | SlotState::Missing => {}
        }
        let last = slot.saturating_add(NEXT_MAX);
        let params = json!([slot, last, { "commitment": Commitment::Confirmed }]);
        let slots: Vec<u32> = self.call_required("getBlocks", &params)?;
        let next = slots.into_iter().filter(|one| (slot..=last).contains(one)).min();
        match next {
            Some(next) => Ok(Some(self.required_header(next, Commitment::Confirmed)?.time)),
            None => Ok(None),
        }
    }
}

fn pruned_slot_error(slot: u32) -> NodeError {
    NodeError::Wrong(format!(
        "it no longer has the block at {slot}, up to which the chain was read: name a node that keeps older blocks"
    ))
}

/// Returns `true` if a node refuses a slot because it no longer has its block. Its code is that of any invalid
/// parameter, so that only the text tells.
pub(super) fn is_before_first_block(error: &MethodError) -> bool {
    error.code == INVALID_PARAMS && error.message.contains("before the first")
}

pub(super) fn unix_time(seconds: i64) -> Result<Time, NodeError> {
    let time = seconds.checked_mul(1000).map(Time);
    let time = time.filter(|time| (Time(0)..=Time::MAX).contains(time));
    time.ok_or_else(|| invalid_answer("a block is of no time that there is"))
}
