//! Client of a Solana node over JSON-RPC, for SOL and the listed tokens. The client polls accounts and does not read
//! whole blocks.
//!
//! Heights are slots, and some slots have no block. Invariant: a response counts only if its slot is not below the
//! requested slot. Payments come only from balance changes of a transaction.
//!
//! Cost in requests: 4 for a poll, and 1 for each hundred accounts. Each range of finalized slots costs 3 requests and
//! a further poll.

mod accounts;
mod answers;
mod credits;
mod histories;
mod identity;
mod reading;
mod set_aside;
mod slots;
mod step;
mod transactions;

use super::rpc::{CallFailure, MethodError, Rpc, invalid_answer};
use super::tokens::Tokens;
use super::{
    BlockRead, FinalProblem, FoundTransaction, Head, LookupResult, MempoolRead, Node, NodeError,
    TransactionOutcome, WatchTargets,
};
use crate::domain::asset::{ASSETS, Chain};
use crate::domain::{Asset, AssetKind, Block, ChainState, InputSource, SetAside, Time};
use answers::Commitment;
use credits::TransactionCredits;
use histories::{AccountHistories, HISTORIES_MAX, SlotSignature};
use identity::SolanaIdentity;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use set_aside::AsideList;
use slots::{MARGIN, SlotHeader};
use std::collections::HashMap;
use step::StepContext;
use transactions::AcceptedVersions;

/// Smallest advance of the final height while no payment or transfer waits for finality, in slots: about 4 minutes.
const FINAL_STEP: u32 = 600;
/// Smallest advance of the final height while a payout or refund waits for finality, in slots.
const SENT_STEP: u32 = 20;
/// Number of transactions in `returned` above which the map is cleared. A cleared transaction is returned again, but
/// is still stored only once.
const RETURNED_MAX: usize = 200_000;
/// Error code of a node that has not reached the requested slot.
const MIN_CONTEXT_SLOT: i64 = -32016;
/// Largest number of cached transaction results.
const KEPT_MAX: usize = 2_000;

/// A client of a Solana node.
pub struct Solana {
    rpc: Rpc,
    /// Mints from the settings, by coin. They replace the built-in mints.
    overridden: Tokens,
    native: &'static Asset,
    identity: Option<SolanaIdentity>,
    head_slot: u32,
    head_time: Time,
    /// Highest final slot that the node returned.
    finalized_seen: u32,
    /// Highest final slot in the results of [`Node::head`].
    finalized: Option<u32>,
    /// Why the node gave no final slot with its newest block.
    final_problem: Option<FinalProblem>,
    /// Current number of accounts in one request.
    accounts_per_request: usize,
    /// Addresses of the token accounts of each watched address.
    derived: HashMap<String, Vec<String>>,
    /// Histories at the confirmed level.
    head: AccountHistories,
    /// Histories at the finalized level.
    finals: AccountHistories,
    /// Number of histories that this step may still read.
    histories_left: usize,
    /// Block headers read in this step.
    headers: HashMap<(u32, Commitment), SlotHeader>,
    /// Results of the transactions that were read after the last completed step.
    carried: HashMap<(String, Commitment), TransactionCredits>,
    /// Slots of the transactions that the database already has, by signature.
    returned: HashMap<String, u32>,
    /// Transactions that the current step has returned.
    pending_returned: Vec<SlotSignature>,
    /// What the node does not give.
    aside: AsideList,
    versions: AcceptedVersions,
    step: StepContext,
}

impl Solana {
    /// Creates a client; `None` if Coffer lists no coin of the chain. `overridden` contains the mints of a test
    /// network.
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
            final_problem: None,
            accounts_per_request: accounts::ACCOUNTS_PER_REQUEST,
            derived: HashMap::new(),
            head: AccountHistories::default(),
            finals: AccountHistories::default(),
            histories_left: HISTORIES_MAX,
            headers: HashMap::new(),
            carried: HashMap::new(),
            returned: HashMap::new(),
            pending_returned: Vec::new(),
            aside: AsideList::default(),
            versions: AcceptedVersions::default(),
            step: StepContext::default(),
        })
    }

    /// Calls a method. The inner error is an error that the method returned.
    fn call<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<Result<T, MethodError>, NodeError> {
        match self.rpc.call(method, params) {
            Ok(value) => Ok(Ok(value)),
            Err(CallFailure::Method(error)) if error.code == MIN_CONTEXT_SLOT => {
                Err(NodeError::Behind)
            }
            Err(CallFailure::Method(error)) => Ok(Err(error)),
            Err(CallFailure::Node(error)) => Err(error),
        }
    }

    fn call_required<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, NodeError> {
        let answer = self.call(method, params)?;
        answer.map_err(|error| unexpected_error(method, &error))
    }

    fn read_head(&mut self) -> Result<Head, NodeError> {
        self.verify_identity()?;
        self.headers.clear();
        let of = |commitment| json!([{ "commitment": commitment }]);
        let slot: u32 = self.call_required("getSlot", &of(Commitment::Confirmed))?;
        let header = self.newest_header(slot)?;
        let last: Result<u32, NodeError> =
            self.call_required("getSlot", &of(Commitment::Finalized));
        if let Err(NodeError::Behind) = last {
            return Err(NodeError::Behind);
        }
        self.final_problem = last.as_ref().err().map(|error| FinalProblem {
            asked: format!("getSlot finalized at {}", self.rpc.label()),
            error: error.clone(),
        });
        if let Ok(finalized) = last {
            if finalized > slot.saturating_add(MARGIN) {
                return Err(invalid_answer("its final slot is above its newest one"));
            }
            // Two nodes behind one url may answer. A slot that is final on one of them will soon be final on both.
            self.finalized_seen = self.finalized_seen.max(finalized.min(slot));
            let finalized = self.finalized_seen.min(header.block.height);
            if self.is_final_advance_due(finalized) {
                self.finalized = Some(finalized);
            }
        }
        let slot = header.block.height;
        self.head_slot = slot;
        self.head_time = header.time;
        Ok(Head {
            block: header.block,
            time: header.time,
            is_complete: true,
            // While some final histories are not yet read, no slot counts as final.
            finalized: self.finalized.filter(|_| self.finals.pending == 0),
        })
    }

    /// Returns `true` if the final height should advance, because a payment or transfer waits for finality, or
    /// because some minutes have passed.
    fn is_final_advance_due(&self, finalized: u32) -> bool {
        let Some(before) = self.finalized else {
            return true;
        };
        let step = if self.step.has_sent { SENT_STEP } else { FINAL_STEP };
        let complete = self.step.complete.unwrap_or(before);
        // The block of the earlier final slot may be missing.
        let is_unread = complete < before;
        finalized >= before.saturating_add(step)
            || finalized > before
                && (is_unread || self.step.has_nonfinal_transaction(complete, finalized))
    }

    /// Counts a failure if the outcome is [`NodeError::Lied`]. For this outcome and for [`NodeError::Behind`], clears
    /// `carried`, because its transactions may be on an abandoned branch.
    fn distrust_if_invalid<T>(&mut self, outcome: Result<T, NodeError>) -> Result<T, NodeError> {
        if let Err(NodeError::Lied(_) | NodeError::Behind) = &outcome {
            self.carried.clear();
        }
        self.rpc.distrust_if_invalid(outcome)
    }

    fn find_in_block(
        &mut self,
        txid: &str,
    ) -> Result<Option<(TransactionCredits, SlotHeader)>, NodeError> {
        self.verify_identity()?;
        let Some(carried) = self.transaction_result(txid, Commitment::Confirmed)? else {
            return Ok(None);
        };
        let header = self.required_header(carried.slot, Commitment::Confirmed)?;
        Ok(Some((carried, header)))
    }

    fn look_up(
        &mut self,
        txid: &str,
        watched: &dyn WatchTargets,
    ) -> Result<LookupResult, NodeError> {
        let Some((carried, header)) = self.find_in_block(txid)? else {
            return Ok(LookupResult::Absent);
        };
        let accounts = self.polled_accounts(watched)?;
        let received = carried.received_payments(txid, &accounts)?;
        Ok(LookupResult::Found(Box::new(FoundTransaction {
            block: Some((header.block, header.time)),
            first_seen: None,
            is_done: carried.is_done,
            spends: carried.senders.into_iter().map(InputSource::Address).collect(),
            nonce: None,
            received,
            is_traced: true,
        })))
    }
}

impl Node for Solana {
    fn is_queried_by_address(&self) -> bool {
        true
    }

    fn begin_step(&mut self, known: &ChainState) {
        self.step = StepContext::new(known);
        self.aside.begin_step(known);
        for signature in self.aside.forgotten_transactions() {
            self.returned.remove(signature);
        }
        self.headers.clear();
        self.pending_returned.clear();
        self.histories_left = HISTORIES_MAX;
        let complete = self.step.complete.unwrap_or(0);
        let told = &self.returned;
        let is_returned = |signature: &str, slot| told.get(signature) == Some(&slot);
        self.head.forget_returned_transactions(complete, is_returned);
        if !self.step.has_rescan {
            self.finals.forget_returned_transactions(complete, |_, _| true);
        }
    }

    fn mark_answers_stored(&mut self) {
        if self.returned.len() > RETURNED_MAX {
            self.returned.clear();
        }
        let told = self.pending_returned.drain(..);
        self.returned.extend(told.map(|(slot, signature)| (signature, slot)));
        self.carried.clear();
    }

    fn network(&mut self) -> Result<String, NodeError> {
        let identity = self.verify_identity();
        Ok(self.distrust_if_invalid(identity)?.network.to_owned())
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        let head = self.read_head();
        self.distrust_if_invalid(head)
    }

    fn block_hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        let hash = self.verify_identity().and_then(|_| self.hash_of_slot(height));
        self.distrust_if_invalid(hash)
    }

    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let blocks = self.read_range(from, to, watched);
        self.distrust_if_invalid(blocks)
    }

    fn late_payments(
        &mut self,
        to: &Block,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let late = self.read_late_payments(to, watched);
        self.distrust_if_invalid(late)
    }

    /// Returns nothing, because payments on Solana are watched only once they are in a block.
    fn mempool(&mut self, _: &[String], _: &dyn WatchTargets) -> Result<MempoolRead, NodeError> {
        Ok(MempoolRead::default())
    }

    fn block_of_transaction(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        let located = self.find_in_block(txid);
        let located = self.distrust_if_invalid(located)?;
        Ok(located.map(|(_, header)| header.block))
    }

    fn transaction_outcome(&mut self, txid: &str) -> Result<Option<TransactionOutcome>, NodeError> {
        let located = self.find_in_block(txid);
        let located = self.distrust_if_invalid(located)?;
        Ok(located.map(|(carried, header)| TransactionOutcome {
            block: header.block,
            time: header.time,
            is_done: carried.is_done,
        }))
    }

    fn look_up_transaction(
        &mut self,
        txid: &str,
        _: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<LookupResult, NodeError> {
        let found = self.look_up(txid, watched);
        self.distrust_if_invalid(found)
    }

    fn block_time_at(&mut self, height: u32) -> Result<Option<Time>, NodeError> {
        let time = self.verify_identity().and_then(|_| self.time_of_slot(height));
        self.distrust_if_invalid(time)
    }

    fn final_problem(&self) -> Option<&FinalProblem> {
        self.final_problem.as_ref()
    }

    fn set_aside(&self) -> Vec<SetAside> {
        self.aside.to_list()
    }

    fn request_count(&self) -> u64 {
        self.rpc.call_count()
    }
}

fn unexpected_error(method: &str, error: &MethodError) -> NodeError {
    let (message, code) = (&error.message, error.code);
    NodeError::Unreachable(format!("it refuses {method}: {message} ({code})"))
}
