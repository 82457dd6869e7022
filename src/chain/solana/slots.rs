//! Slots and their blocks: what a node has at a slot, and which slots have blocks.
//!
//! Invariant: a slot counts as empty for good only where the node says so of a slot that is final.

use super::answers::{BlockAnswer, Commitment};
use super::{Solana, lied, refused};
use crate::chain::NodeError;
use crate::chain::rpc::MethodError;
use crate::domain::observation::Block;
use crate::domain::time::Time;
use serde_json::json;

/// In place of the hash of a slot that never gets a block.
const SKIPPED: &str = "skipped";
/// In place of the hash of a block that is older than those that the node keeps.
const TOO_OLD: &str = "not kept";
/// Slots by which two nodes behind one url may differ.
pub(super) const MARGIN: u32 = 150;
/// Slots below one among which the last block is looked for first.
const SEARCH: u32 = 64;
/// Slots among which the next block is looked for: fewer than any outage left empty.
const NEXT_MAX: u32 = 5_000;
/// Before this there was no block, in seconds since 1970: the main network began on 16 March 2020.
const BEGAN: i64 = 1_584_316_800;

/// Codes of `rpc_custom_error` in <https://github.com/anza-xyz/agave>.
const CLEANED_UP: i64 = -32001;
const NOT_AVAILABLE: i64 = -32004;
const SLOT_SKIPPED: i64 = -32007;
const LONG_TERM_SKIPPED: i64 = -32009;
const NOT_YET: i64 = -32014;
/// Code of a parameter that is refused.
const INVALID_PARAMS: i64 = -32602;

/// A block without its transactions.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub block: Block,
    pub parent: String,
    pub parent_height: u32,
    pub time: Time,
}

/// What a node has at a slot.
#[derive(Clone, Debug)]
pub(super) enum SlotState {
    Block(Header),
    /// It says that there never will be a block.
    Skipped,
    /// It has none, and does not say why.
    Missing,
    /// It keeps blocks of later slots only.
    TooOld,
}

impl Solana {
    /// Returns what the node has at a slot; asked once in a step.
    pub(super) fn slot(
        &mut self,
        slot: u32,
        commitment: Commitment,
    ) -> Result<SlotState, NodeError> {
        if let Some(known) = self.headers.get(&(slot, commitment)) {
            return Ok(SlotState::Block(known.clone()));
        }
        let params = json!([slot, {
            "commitment": commitment, "encoding": "json", "transactionDetails": "none", "rewards": false,
            "maxSupportedTransactionVersion": 0,
        }]);
        let answer: Result<Option<BlockAnswer>, MethodError> = self.try_ask("getBlock", &params)?;
        let answer = match answer {
            Ok(Some(answer)) => answer,
            Ok(None) => return Ok(SlotState::Missing),
            Err(error) => {
                return match error.code {
                    SLOT_SKIPPED | LONG_TERM_SKIPPED => Ok(SlotState::Skipped),
                    NOT_AVAILABLE | NOT_YET => Ok(SlotState::Missing),
                    CLEANED_UP => Ok(SlotState::TooOld),
                    INVALID_PARAMS if error.message.contains("before the first") => {
                        Ok(SlotState::TooOld)
                    }
                    _ => Err(refused("getBlock", &error)),
                };
            }
        };
        let header = self.header(slot, answer)?;
        self.headers.insert((slot, commitment), header.clone());
        Ok(SlotState::Block(header))
    }

    fn header(&mut self, slot: u32, answer: BlockAnswer) -> Result<Header, NodeError> {
        for hash in [&answer.blockhash, &answer.previous_blockhash] {
            let is_text = hash.bytes().all(|byte| byte.is_ascii_alphanumeric());
            if !is_text || !(32..=44).contains(&hash.len()) {
                return Err(lied("the hash of a block is none"));
            }
        }
        if answer.parent_slot > slot {
            return Err(lied("the parent of a block is of a later slot"));
        }
        let seconds = match answer.block_time.filter(|seconds| *seconds >= BEGAN) {
            Some(seconds) => Some(seconds),
            // A block may have no time yet; and some nodes tell a wrong one here, and the right one there.
            None => self.ask("getBlockTime", &json!([slot]))?,
        };
        let seconds: Option<i64> = seconds;
        let seconds = seconds.ok_or_else(|| {
            NodeError::Unreachable(format!("it does not tell the time of block {slot}"))
        })?;
        Ok(Header {
            block: Block {
                height: slot,
                hash: answer.blockhash,
            },
            parent: answer.previous_blockhash,
            parent_height: answer.parent_slot,
            time: moment(seconds)?,
        })
    }

    /// Returns the block at a slot, where transactions of ours are.
    pub(super) fn block(&mut self, slot: u32, commitment: Commitment) -> Result<Header, NodeError> {
        match self.slot(slot, commitment)? {
            SlotState::Block(header) => Ok(header),
            SlotState::Skipped | SlotState::Missing => Err(NodeError::Behind),
            SlotState::TooOld => Err(too_old(slot)),
        }
    }

    /// [`Node::hash_at`](crate::chain::Node::hash_at).
    pub(super) fn hash_of(&mut self, slot: u32) -> Result<Option<String>, NodeError> {
        let finalized = self.finalized_seen;
        Ok(match self.slot(slot, Commitment::Confirmed)? {
            SlotState::Block(header) => Some(header.block.hash),
            SlotState::Skipped => (slot <= finalized).then(|| SKIPPED.to_owned()),
            // Another node behind the same url may just not have come so far.
            SlotState::Missing => {
                let is_below = slot.saturating_add(MARGIN) <= finalized;
                is_below.then(|| SKIPPED.to_owned())
            }
            SlotState::TooOld if self.step.has_read(slot) => return Err(too_old(slot)),
            // What is read again from the oldest block on has none before it.
            SlotState::TooOld => Some(TOO_OLD.to_owned()),
        })
    }

    /// Returns the last block of these slots.
    pub(super) fn last_block(
        &mut self,
        (from, to): (u32, u32),
        commitment: Commitment,
    ) -> Result<Header, NodeError> {
        if let SlotState::Block(header) = self.slot(to, commitment)? {
            return Ok(header);
        }
        for low in [from.max(to.saturating_sub(SEARCH)), from] {
            let params = json!([low, to, { "commitment": commitment }]);
            let slots: Vec<u32> = self.ask("getBlocks", &params)?;
            let last = slots
                .into_iter()
                .filter(|slot| (low..=to).contains(slot))
                .max();
            if let Some(last) = last {
                return self.block(last, commitment);
            }
        }
        Err(NodeError::Behind)
    }

    /// [`Node::time_at`](crate::chain::Node::time_at): of a slot without a block, the time of the next one.
    pub(super) fn time_of(&mut self, slot: u32) -> Result<Option<Time>, NodeError> {
        match self.slot(slot, Commitment::Confirmed)? {
            SlotState::Block(header) => return Ok(Some(header.time)),
            SlotState::TooOld => return Ok(None),
            SlotState::Skipped | SlotState::Missing => {}
        }
        let last = slot.saturating_add(NEXT_MAX);
        let params = json!([slot, last, { "commitment": Commitment::Confirmed }]);
        let slots: Vec<u32> = self.ask("getBlocks", &params)?;
        let next = slots
            .into_iter()
            .filter(|one| (slot..=last).contains(one))
            .min();
        match next {
            Some(next) => Ok(Some(self.block(next, Commitment::Confirmed)?.time)),
            None => Ok(None),
        }
    }
}

fn too_old(slot: u32) -> NodeError {
    NodeError::Wrong(format!(
        "it no longer has the block at {slot}, up to which the chain was read: name a node that keeps older blocks"
    ))
}

/// A time that a node tells, in seconds since 1970.
pub(super) fn moment(seconds: i64) -> Result<Time, NodeError> {
    let time = seconds.checked_mul(1000).map(Time);
    let time = time.filter(|time| (Time(0)..=Time::MAX).contains(time));
    time.ok_or_else(|| lied("a block is of no time that there is"))
}
