//! Payments of one transaction, read from its receipt.
//!
//! Invariant: the receipt is of the block that was read. The position of a token payment is the index of its log in
//! the receipt, counted from 1.

use super::answers::{EvmLog, Receipt};
use super::hex::{Number, Word};
use super::logs::parse_token_transfer;
use super::traces::InternalTransfer;
use crate::chain::rpc::invalid_answer;
use crate::chain::transfers::{Transfer, TransferFilter};
use crate::chain::{NodeError, ReceivedOutput};
use crate::domain::observation::CONTRACTS_FROM;

/// Transfers of one transaction that are payments if its receipt confirms them.
#[derive(Debug, Default)]
pub struct TransferCandidate {
    /// Hash of the block in which the node reported the transaction.
    pub block: Option<Word>,
    /// Transfer of native coins by the transaction itself, not by a contract.
    pub own_transfer: Option<Transfer>,
    /// Transfers of native coins by contracts.
    pub internal_transfers: Vec<InternalTransfer>,
    /// Logs of token transfers that `eth_getLogs` returned.
    pub logs: Vec<EvmLog>,
}

impl TransferFilter<'_> {
    /// Returns `true` if the log may be a payment. A transfer of zero is not a payment: it is spam that tricks users
    /// into copying a wrong address.
    pub(super) fn matches_log(&self, log: &EvmLog) -> bool {
        let transfer = parse_token_transfer(log).filter(|_| self.find_token(log.address).is_some());
        let transfer = transfer.filter(|transfer| !transfer.amount.is_zero());
        transfer.is_some_and(|transfer| self.watched.has_account(&transfer.to.0))
    }

    /// Returns the payments of a transaction, by position.
    ///
    /// # Errors
    /// [`NodeError::Lied`] if the receipt contradicts itself or the hint. [`NodeError::Behind`] if the receipt is of
    /// another block.
    pub(super) fn receipt_payments(
        &self,
        height: u32,
        txid: Word,
        hint: &TransferCandidate,
        receipt: &Receipt,
    ) -> Result<Vec<ReceivedOutput>, NodeError> {
        if hint.block != Some(receipt.block_hash) {
            return Err(NodeError::Behind);
        }
        let is_its =
            receipt.transaction_hash == txid && receipt.block_number.to_u32() == Some(height);
        let has_logs = hint.logs.iter().all(|hint| {
            let mut logs = receipt.logs.iter();
            logs.any(|log| is_same_log(log, hint))
        });
        let is_done = match receipt.status {
            Number::Small(1) => true,
            Number::Small(0) if receipt.logs.is_empty() => false,
            _ => return Err(invalid_answer("a receipt tells of no status that there is")),
        };
        if !is_its || !has_logs || !has_ordered_logs(receipt) {
            return Err(invalid_answer("a receipt does not fit its transaction"));
        }
        if !is_done {
            return Ok(Vec::new());
        }
        let own = hint.own_transfer.into_iter();
        let own = own.filter_map(|transfer| Some((self.native?, 0, transfer)));
        let tokens = (1..CONTRACTS_FROM).zip(&receipt.logs);
        let tokens = tokens.filter_map(|(position, log)| {
            Some((self.find_token(log.address)?, position, parse_token_transfer(log)?))
        });
        let internal = hint.internal_transfers.iter().filter_map(|internal| {
            let position = CONTRACTS_FROM.saturating_add(internal.ordinal);
            Some((self.native?, position, internal.transfer))
        });
        let transfers = own.chain(tokens).chain(internal);
        Ok(transfers
            .filter_map(|(asset, position, transfer)| {
                self.watched_payment(asset, txid, position, transfer)
            })
            .collect())
    }
}

fn is_same_log(log: &EvmLog, other: &EvmLog) -> bool {
    (log.address, log.log_index, log.data) == (other.address, other.log_index, other.data)
        && log.topics == other.topics
}

/// Returns `true` if all logs belong to the receipt and are in order.
fn has_ordered_logs(receipt: &Receipt) -> bool {
    let is_its = |log: &EvmLog| {
        log.transaction_hash == receipt.transaction_hash
            && log.block_hash == receipt.block_hash
            && !log.removed
    };
    let mut places = receipt.logs.iter().map(|log| log.log_index.to_u32());
    places.all(|place| place.is_some())
        && receipt.logs.is_sorted_by(|one, next| one.log_index.to_u32() < next.log_index.to_u32())
        && receipt.logs.iter().all(is_its)
}
