//! Looks up one transaction by its id.
//!
//! Invariant: a transaction is in a block only if the node's block at the height in the receipt contains the
//! transaction.

use super::answers::{FullBlockResponse, TransactionInfo, TronTransaction};
use super::hex::TronId;
use super::range::parse_block;
use super::{NodeApi, Tron, TronHeader, invalid_answer};
use crate::chain::transfers::{TransferFilter, have_all_received_native_coins};
use crate::chain::{FoundTransaction, LookupResult, NodeError, ReceivedOutput, WatchTargets};
use crate::domain::InputSource;
use crate::domain::address::account_address;
use crate::domain::asset::Chain;
use serde_json::json;

pub(super) struct IncludedTransaction {
    pub header: TronHeader,
    pub is_done: bool,
    transaction: TronTransaction,
    info: TransactionInfo,
}

impl Tron {
    pub(super) fn find_in_block(
        &mut self,
        txid: &str,
    ) -> Result<Option<IncludedTransaction>, NodeError> {
        self.verify_identity()?;
        let Some(txid) = TronId::parse(txid) else {
            return Ok(None);
        };
        let body = json!({ "value": txid.to_string() });
        let info: TransactionInfo = self.post(NodeApi::Head, "gettransactioninfobyid", &body)?;
        let Some(id) = info.id else {
            return Ok(None);
        };
        if id != txid {
            return Err(invalid_answer("it tells of another transaction"));
        }
        let height = info.block_number;
        let body = json!({ "num": height });
        let block: FullBlockResponse = self.post(NodeApi::Head, "getblockbynum", &body)?;
        let block = parse_block(block)?.ok_or(NodeError::Behind)?;
        if block.header.block.height != height {
            return Err(invalid_answer("it answers a block of another height"));
        }
        // The receipt may be of a block that a reorg removed.
        let mut transactions = block.transactions.into_iter();
        let Some(transaction) = transactions.find(|one| one.id == txid) else {
            return Ok(None);
        };
        let is_contract = transaction.runs_contract();
        if is_contract && transaction.is_done {
            self.update_has_internal(&info);
        }
        let is_done = transaction.is_done && (!is_contract || info.has_succeeded());
        Ok(Some(IncludedTransaction { header: block.header, is_done, transaction, info }))
    }

    /// Implements [`Node::look_up_transaction`](crate::chain::Node::look_up_transaction).
    pub(super) fn look_up(
        &mut self,
        txid: &str,
        native_to: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<LookupResult, NodeError> {
        let Some(found) = self.find_in_block(txid)? else {
            return Ok(LookupResult::Absent);
        };
        let tokens = self.verify_identity()?.tokens;
        let filter =
            TransferFilter { chain: Chain::Tron, native: self.native, tokens: &tokens, watched };
        let received = filter.payments_if_consistent(&found.transaction, Some(&found.info))?;
        let is_traced = self.has_all_contract_transfers(&found, &received, native_to);
        let sender = found.transaction.sender;
        let sender = sender.and_then(|sender| account_address(Chain::Tron, &sender.0));
        Ok(LookupResult::Found(Box::new(FoundTransaction {
            block: Some((found.header.block, found.header.time)),
            first_seen: None,
            is_done: found.is_done,
            spends: sender.into_iter().map(InputSource::Address).collect(),
            nonce: None,
            received,
            is_traced,
        })))
    }

    /// Returns `true` if the `received` payments include all native coins that contracts may have sent to these
    /// addresses.
    fn has_all_contract_transfers(
        &self,
        found: &IncludedTransaction,
        received: &[ReceivedOutput],
        native_to: &[String],
    ) -> bool {
        !found.transaction.runs_contract()
            || !found.is_done
            || self.has_internal == Some(true)
            || have_all_received_native_coins(self.native, received, native_to)
    }
}
