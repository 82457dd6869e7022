//! Nodes of Solana, asked by their JSON-RPC about addresses by name: SOL, and the listed tokens of the token program.
//!
//! Heights are slots, of which some have no block. Invariant: an answer counts only where it is of a slot not below the one
//! that it was asked for, and payments only as the balances that a transaction changed.
//!
//! Cost in requests: a poll 4, and one for each hundred accounts; what has become final 3, and the same again.

mod accounts;
mod answers;
mod credits;
mod histories;
mod identity;
mod reading;
mod slots;
mod step;

use super::rpc::{Failure, MethodError, Rpc, lied};
use super::tokens::Tokens;
use super::{
    BlockRead, CarriedOut, FoundTransaction, Head, Lookup, MempoolRead, Node, NodeError, Watched,
};
use crate::domain::asset::{ASSETS, Asset, AssetKind, Chain};
use crate::domain::following::Known;
use crate::domain::observation::{Block, Spent};
use crate::domain::time::Time;
use answers::Commitment;
use credits::Carried;
use histories::{Entry, HISTORIES_MAX, Histories};
use identity::Identity;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use slots::Header;
use std::collections::HashMap;
use step::StepState;

/// Slots by which what is final grows at once while nothing waits for it: those of some minutes.
const FINAL_STEP: u32 = 600;
/// The same while a transfer waits for it.
const SENT_STEP: u32 = 20;
/// The most transactions that are known to have been told of. What is told twice is written once.
const TOLD_MAX: usize = 200_000;
/// Code of a node that has not come as far as was asked for.
const MIN_CONTEXT_SLOT: i64 = -32016;
/// A node of Solana.
pub struct Solana {
    rpc: Rpc,
    /// From the settings.
    overridden: Tokens,
    /// The chain's own coin.
    native: &'static Asset,
    identity: Option<Identity>,
    /// Slot and time of the newest block.
    head_slot: u32,
    head_time: Time,
    /// The highest final slot that it told of, and the one that was told on.
    finalized_seen: u32,
    finalized: Option<u32>,
    /// Accounts in one request.
    at_once: usize,
    /// Accounts of tokens, by owner.
    derived: HashMap<String, Vec<String>>,
    /// Histories at the head, and of what is final.
    head: Histories,
    finals: Histories,
    /// Histories that this step may still ask for.
    histories_left: usize,
    /// Blocks that this step asked for.
    headers: HashMap<(u32, Commitment), Header>,
    /// Transactions that were read since the last step that was taken.
    carried: HashMap<(String, Commitment), Carried>,
    /// Slots of the transactions that were told of: what the file has.
    told: HashMap<String, u32>,
    /// The same of the present step.
    telling: Vec<Entry>,
    step: StepState,
}

impl Solana {
    /// Returns a node at the url of this client; `None` where the chain has no coin. `overridden` is for test networks only.
    pub fn new(rpc: Rpc, overridden: Tokens) -> Option<Solana> {
        let is_native =
            |asset: &&Asset| asset.chain == Chain::Solana && asset.kind == AssetKind::Native;
        Some(Solana {
            rpc,
            overridden,
            native: ASSETS.iter().find(is_native)?,
            identity: None,
            head_slot: 0,
            head_time: Time(0),
            finalized_seen: 0,
            finalized: None,
            at_once: accounts::AT_ONCE,
            derived: HashMap::new(),
            head: Histories::default(),
            finals: Histories::default(),
            histories_left: HISTORIES_MAX,
            headers: HashMap::new(),
            carried: HashMap::new(),
            told: HashMap::new(),
            telling: Vec::new(),
            step: StepState::default(),
        })
    }

    /// Asks a method that may refuse.
    fn try_ask<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<Result<T, MethodError>, NodeError> {
        match self.rpc.call(method, params) {
            Ok(value) => Ok(Ok(value)),
            Err(Failure::Method(error)) if error.code == MIN_CONTEXT_SLOT => Err(NodeError::Behind),
            Err(Failure::Method(error)) => Ok(Err(error)),
            Err(Failure::Node(error)) => Err(error),
        }
    }

    fn ask<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, NodeError> {
        let answer = self.try_ask(method, params)?;
        answer.map_err(|error| refused(method, &error))
    }

    fn read_head(&mut self) -> Result<Head, NodeError> {
        self.identified()?;
        self.headers.clear();
        let of = |commitment| json!([{ "commitment": commitment }]);
        let slot: u32 = self.ask("getSlot", &of(Commitment::Confirmed))?;
        let header = self.block(slot, Commitment::Confirmed)?;
        let finalized: u32 = self.ask("getSlot", &of(Commitment::Finalized))?;
        // Two nodes behind one url may answer: what was final for one, is so for the other a moment later.
        self.finalized_seen = self.finalized_seen.max(finalized);
        let finalized = self.finalized_seen.min(slot);
        if self.is_final_due(finalized) {
            self.finalized = Some(finalized);
        }
        self.head_slot = slot;
        self.head_time = header.time;
        Ok(Head {
            block: header.block,
            time: header.time,
            is_complete: true,
            // As long as some histories were not asked for, no range can be read for good.
            finalized: self.finalized.filter(|_| self.finals.pending == 0),
        })
    }

    /// Returns `true` if it is time to read again what is final by now: a payment or a transfer waits for that, or it was not
    /// read for some minutes.
    fn is_final_due(&self, finalized: u32) -> bool {
        let Some(before) = self.finalized else {
            return true;
        };
        let step = if self.step.has_sent {
            SENT_STEP
        } else {
            FINAL_STEP
        };
        let complete = self.step.complete.unwrap_or(before);
        finalized >= before.saturating_add(step)
            || finalized > before && self.step.is_open_between(complete, finalized)
    }

    /// Counts an answer that was read and cannot be believed as a failure. What was read of a branch that is no more is
    /// forgotten.
    fn judged<T>(&mut self, outcome: Result<T, NodeError>) -> Result<T, NodeError> {
        if let Err(NodeError::Lied(_) | NodeError::Behind) = &outcome {
            self.carried.clear();
        }
        self.rpc.distrust_if_lied(outcome)
    }

    /// Returns a transaction in a block, with its block and the time of it.
    fn located(&mut self, txid: &str) -> Result<Option<(Carried, Header)>, NodeError> {
        self.identified()?;
        let Some(carried) = self.carried(txid, Commitment::Confirmed)? else {
            return Ok(None);
        };
        let header = self.block(carried.slot, Commitment::Confirmed)?;
        Ok(Some((carried, header)))
    }

    fn look_up(&mut self, txid: &str, watched: &dyn Watched) -> Result<Lookup, NodeError> {
        let Some((carried, header)) = self.located(txid)? else {
            return Ok(Lookup::Absent);
        };
        let accounts = self.accounts(watched)?;
        let received = carried.received(txid, &accounts)?;
        Ok(Lookup::Found(Box::new(FoundTransaction {
            block: Some((header.block, header.time)),
            first_seen: None,
            is_done: carried.is_done,
            spends: carried.senders.into_iter().map(Spent::Address).collect(),
            nonce: None,
            received,
            is_traced: true,
        })))
    }
}

impl Node for Solana {
    fn asks_by_name(&self) -> bool {
        true
    }

    fn begin_step(&mut self, known: &Known) {
        self.step = StepState::of(known);
        self.headers.clear();
        self.telling.clear();
        self.histories_left = HISTORIES_MAX;
        let complete = self.step.complete.unwrap_or(0);
        let told = &self.told;
        let is_told = |signature: &str, slot| told.get(signature) == Some(&slot);
        self.head.forget(complete, is_told);
        if !self.step.has_rescan {
            self.finals.forget(complete, |_, _| true);
        }
    }

    fn taken(&mut self) {
        if self.told.len() > TOLD_MAX {
            self.told.clear();
        }
        let told = self.telling.drain(..);
        self.told
            .extend(told.map(|(slot, signature)| (signature, slot)));
        self.carried.clear();
    }

    fn network(&mut self) -> Result<String, NodeError> {
        let identity = self.identified();
        Ok(self.judged(identity)?.network.to_owned())
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        let head = self.read_head();
        self.judged(head)
    }

    fn hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        let hash = self.identified().and_then(|_| self.hash_of(height));
        self.judged(hash)
    }

    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn Watched,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let blocks = self.read_range(from, to, watched);
        self.judged(blocks)
    }

    fn late(&mut self, to: &Block, watched: &dyn Watched) -> Result<Vec<BlockRead>, NodeError> {
        let late = self.read_late(to, watched);
        self.judged(late)
    }

    /// Money on this chain is watched once it is in a block.
    fn mempool(&mut self, _: &[String], _: &dyn Watched) -> Result<MempoolRead, NodeError> {
        Ok(MempoolRead::default())
    }

    fn block_of(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        let located = self.located(txid);
        let located = self.judged(located)?;
        Ok(located.map(|(_, header)| header.block))
    }

    fn carried_out(&mut self, txid: &str) -> Result<Option<CarriedOut>, NodeError> {
        let located = self.located(txid);
        let located = self.judged(located)?;
        Ok(located.map(|(carried, header)| CarriedOut {
            block: header.block,
            time: header.time,
            is_done: carried.is_done,
        }))
    }

    fn transaction(
        &mut self,
        txid: &str,
        _: &[String],
        watched: &dyn Watched,
    ) -> Result<Lookup, NodeError> {
        let found = self.look_up(txid, watched);
        self.judged(found)
    }

    fn time_at(&mut self, height: u32) -> Result<Option<Time>, NodeError> {
        let time = self.identified().and_then(|_| self.time_of(height));
        self.judged(time)
    }

    fn requests(&self) -> u64 {
        self.rpc.requests()
    }
}

fn refused(method: &str, error: &MethodError) -> NodeError {
    let (message, code) = (&error.message, error.code);
    NodeError::Unreachable(format!("it refuses {method}: {message} ({code})"))
}
