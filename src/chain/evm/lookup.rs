//! Looks up one transaction by its id, and checks whether another transaction used its nonce.
//!
//! Invariant: a transaction is reported in a block only if the block hash in its receipt is the hash that the node
//! returns for the receipt's height.

use super::answers::{EvmHeader, Receipt, Trace, TransactionByHash};
use super::hex::{Account, Number, Word};
use super::logs::encode_quantity;
use super::received::TransferCandidate;
use super::traces::{InternalTransfer, internal_transfers};
use super::{Evm, invalid_answer, to_block_and_time};
use crate::chain::rpc::CallFailure;
use crate::chain::transfers::{Transfer, TransferFilter, have_all_received_native_coins};
use crate::chain::{FoundTransaction, LookupResult, NodeError, ReceivedOutput, WatchTargets};
use crate::domain::address::account_address;
use crate::domain::{Block, InputSource, Time};
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

/// Outcome of a transaction: its payments, whether it succeeded, and whether contract transfers were traced.
struct TransactionEffects {
    received: Vec<ReceivedOutput>,
    is_done: bool,
    is_traced: bool,
}

impl Evm {
    /// Implements [`Node::look_up_transaction`](crate::chain::Node::look_up_transaction).
    pub(super) fn look_up(
        &mut self,
        txid: &str,
        native_to: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<LookupResult, NodeError> {
        self.verify_identity()?;
        let Some(txid) = Word::parse(txid) else {
            return Ok(LookupResult::Absent);
        };
        let calls = [("eth_getTransactionByHash", [txid]), ("eth_getTransactionReceipt", [txid])];
        let answers = self.call_all_required::<RawAnswer>(&calls)?;
        let [told, receipt] = answers.as_slice() else {
            return Err(invalid_answer("it left out answers"));
        };
        let told: Option<TransactionByHash> = parse_raw_answer(told)?;
        let receipt: Option<Receipt> = parse_raw_answer(receipt)?;
        if told.as_ref().is_some_and(|told| told.hash != txid) {
            return Err(invalid_answer("it answers another transaction"));
        }
        match (told, receipt) {
            (None, None) => Ok(LookupResult::Absent),
            (Some(told), None) if told.block_hash.is_none() => self.pending_lookup(&told),
            (Some(told), Some(receipt)) if told.block_hash == Some(receipt.block_hash) => {
                self.lookup_in_block(&told, &receipt, native_to, watched)
            }
            // A reorg or a new block happened between the two responses.
            (Some(_) | None, Some(_)) | (Some(_), None) => Err(NodeError::Behind),
        }
    }

    fn pending_lookup(&self, told: &TransactionByHash) -> Result<LookupResult, NodeError> {
        let outcome = TransactionEffects { received: Vec::new(), is_done: true, is_traced: true };
        self.to_lookup(told, None, outcome)
    }

    fn lookup_in_block(
        &mut self,
        told: &TransactionByHash,
        receipt: &Receipt,
        native_to: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<LookupResult, NodeError> {
        let height = receipt.block_number.to_u32();
        let height =
            height.ok_or_else(|| invalid_answer("a receipt is of no height that there is"))?;
        // The receipt may be of a block that a reorg removed.
        let canonical = self.fetch_header(height)?;
        let Some(canonical) = canonical.filter(|header| header.hash == receipt.block_hash) else {
            return Ok(LookupResult::Absent);
        };
        let outcome = self.read_effects(told, height, receipt, native_to, watched)?;
        self.to_lookup(told, Some(to_block_and_time(&canonical)?), outcome)
    }

    fn read_effects(
        &mut self,
        told: &TransactionByHash,
        height: u32,
        receipt: &Receipt,
        native_to: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<TransactionEffects, NodeError> {
        let tokens = self.verify_identity()?;
        let mut hint = TransferCandidate {
            block: Some(receipt.block_hash),
            own_transfer: told.to.map(|to| Transfer { from: told.from, to, amount: told.value }),
            ..TransferCandidate::default()
        };
        let filter =
            TransferFilter { chain: self.chain, native: self.native, tokens: &tokens, watched };
        let received = filter.receipt_payments(height, told.hash, &hint, receipt)?;
        let is_done = !receipt.status.is_zero();
        if !is_done || have_all_received_native_coins(self.native, &received, native_to) {
            return Ok(TransactionEffects { received, is_done, is_traced: true });
        }
        let Some(sent) = self.contract_transfers(told.hash, receipt.block_hash)? else {
            return Ok(TransactionEffects { received, is_done, is_traced: false });
        };
        hint.internal_transfers = sent;
        Ok(TransactionEffects {
            received: filter.receipt_payments(height, told.hash, &hint, receipt)?,
            is_done,
            is_traced: true,
        })
    }

    /// Returns the transfers that contracts made in a transaction; `None` if the node has no traces.
    fn contract_transfers(
        &mut self,
        txid: Word,
        block: Word,
    ) -> Result<Option<Vec<InternalTransfer>>, NodeError> {
        if self.lacks_traces() {
            return Ok(None);
        }
        let steps = self.rpc.call::<Option<Vec<Trace>>>("trace_transaction", &[txid]);
        let steps = match steps {
            Ok(steps) => steps.unwrap_or_default(),
            Err(CallFailure::Method(_) | CallFailure::Node(NodeError::Wrong(_))) => {
                return Ok(None);
            }
            Err(CallFailure::Node(error)) => return Err(error),
        };
        if steps.iter().any(|step| step.transaction_hash != Some(txid)) {
            return Err(invalid_answer("it answers traces of another transaction"));
        }
        // Each transaction has at least one call frame. An empty list therefore means that the node has no traces of
        // the transaction.
        let is_told = !steps.is_empty();
        let sent = internal_transfers(&steps, block)?;
        Ok(is_told.then_some(sent))
    }

    fn to_lookup(
        &self,
        told: &TransactionByHash,
        block: Option<(Block, Time)>,
        outcome: TransactionEffects,
    ) -> Result<LookupResult, NodeError> {
        let nonce = told.nonce.to_u128().and_then(|nonce| u64::try_from(nonce).ok());
        let nonce =
            nonce.ok_or_else(|| invalid_answer("a transaction has no nonce that there is"))?;
        let sender = account_address(self.chain, &told.from.0).map(InputSource::Address);
        Ok(LookupResult::Found(Box::new(FoundTransaction {
            block,
            first_seen: None,
            is_done: outcome.is_done,
            spends: sender.into_iter().collect(),
            nonce: Some(nonce),
            received: outcome.received,
            is_traced: outcome.is_traced,
        })))
    }

    /// Implements [`Node::block_if_nonce_used`](crate::chain::Node::block_if_nonce_used).
    ///
    /// The transaction count and the receipt are requested in one batch, because two nodes behind one url may have
    /// different heads.
    pub(super) fn check_nonce_used(
        &mut self,
        txid: &str,
        sender: &str,
        nonce: u64,
        height: u32,
    ) -> Result<Option<Block>, NodeError> {
        self.verify_identity()?;
        let (Some(txid), Some(sender)) = (Word::parse(txid), Account::parse(sender)) else {
            return Ok(None);
        };
        let calls = [
            ("eth_getTransactionCount", json!([sender, encode_quantity(height)])),
            ("eth_getBlockByNumber", json!([encode_quantity(height), false])),
            ("eth_getTransactionReceipt", json!([txid])),
        ];
        let mut answers = self.rpc.batch::<RawAnswer>(&calls)?.into_iter();
        // Nodes keep the state of recent blocks only.
        let Some(Ok(count)) = answers.next() else {
            return Ok(None);
        };
        let mut told = Vec::with_capacity(calls.len());
        for ((method, _), answer) in calls.iter().skip(1).zip(answers) {
            told.push(answer.map_err(|error| self.unexpected_error(method, &error))?);
        }
        let [header, receipt] = told.as_slice() else {
            return Err(invalid_answer("it left out answers"));
        };
        let count: Number = parse_raw_answer(&count)?;
        let header: Option<EvmHeader> = parse_raw_answer(header)?;
        let receipt: Option<Receipt> = parse_raw_answer(receipt)?;
        let (Some(header), None) = (header, receipt) else {
            return Err(NodeError::Behind);
        };
        let (block, _) = to_block_and_time(&header)?;
        if block.height != height {
            return Err(invalid_answer("it answers a block of another height"));
        }
        let count = count.to_u128();
        let count =
            count.ok_or_else(|| invalid_answer("an account has sent more than can be counted"))?;
        let is_taken = count > u128::from(nonce);
        Ok(is_taken.then_some(block))
    }

    /// Implements [`Node::block_time_at`](crate::chain::Node::block_time_at).
    pub(super) fn read_time_at(&mut self, height: u32) -> Result<Option<Time>, NodeError> {
        self.verify_identity()?;
        let params = (encode_quantity(height), false);
        match self.rpc.call::<Option<EvmHeader>>("eth_getBlockByNumber", &params) {
            Ok(Some(header)) => {
                let (block, time) = to_block_and_time(&header)?;
                if block.height != height {
                    return Err(invalid_answer("it answers a block of another height"));
                }
                Ok(Some(time))
            }
            // The error code for an old block differs between nodes.
            Ok(None) | Err(CallFailure::Method(_)) => Ok(None),
            Err(CallFailure::Node(error)) => Err(error),
        }
    }
}

/// JSON text of one result in a batch of several methods; `None` for `null`.
type RawAnswer = Option<Box<RawValue>>;

fn parse_raw_answer<T: DeserializeOwned>(answer: &RawAnswer) -> Result<T, NodeError> {
    let text = answer.as_ref().map_or("null", |told| told.get());
    serde_json::from_str(text)
        .map_err(|error| NodeError::Lied(format!("its answer is not what was asked: {error}")))
}
