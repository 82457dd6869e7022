//! Payments to watched accounts in one transaction of Tron.
//!
//! Invariant: the position of a token payment is the index of its log in the transaction, counted from 1. The
//! position of a native payment by a contract is its index among all native transfers by contracts in the
//! transaction.

use super::answers::{InternalTransaction, TransactionInfo, TronAction, TronLog, TronTransaction};
use super::hex::{word_to_account, word_to_number};
use super::invalid_answer;
use crate::chain::evm::TRANSFER;
use crate::chain::evm::hex::{Number, Word};
use crate::chain::transfers::{Transfer, TransferFilter};
use crate::chain::{NodeError, ReceivedOutput};
use crate::domain::Asset;
use crate::domain::observation::CONTRACTS_FROM;

/// Values of `note` for calls that transfer native coins: `call`, `create` and `suicide`, in hexadecimal. Calls for
/// staking have amounts too, but other notes.
const MOVING: [&str; 3] = ["63616c6c", "637265617465", "73756963696465"];

impl TransferFilter<'_> {
    /// Returns `true` if the transaction is a call that transfers a listed token to a watched account.
    pub(super) fn has_watched_transfer_call(&self, transaction: &TronTransaction) -> bool {
        let TronAction::Call { transfers } = &transaction.action else {
            return false;
        };
        transfers.is_some_and(|(contract, to)| {
            self.find_token(contract).is_some() && self.watched.has_account(&to.0)
        })
    }

    /// Returns the payments of a transaction, by position.
    ///
    /// # Errors
    /// [`NodeError::Lied`] if there are payments, and block and receipt disagree on whether the transaction succeeded.
    pub(super) fn payments_if_consistent(
        &self,
        transaction: &TronTransaction,
        info: Option<&TransactionInfo>,
    ) -> Result<Vec<ReceivedOutput>, NodeError> {
        let by_receipt =
            info.filter(|_| transaction.runs_contract()).map(TransactionInfo::has_succeeded);
        if !transaction.is_done && by_receipt != Some(true) {
            return Ok(Vec::new());
        }
        let received = self.transaction_payments(transaction, info);
        let agrees = transaction.is_done && by_receipt != Some(false);
        if agrees || received.is_empty() {
            return Ok(received);
        }
        Err(invalid_answer("a block and its receipts disagree on whether a transaction succeeded"))
    }

    /// Returns the payments of a successful transaction, by position. Without `info`, payments that a
    /// contract makes are missing.
    fn transaction_payments(
        &self,
        transaction: &TronTransaction,
        info: Option<&TransactionInfo>,
    ) -> Vec<ReceivedOutput> {
        let mut found = Vec::new();
        let mut add = |asset, position, transfer| {
            found.extend(self.watched_payment(asset, transaction.id, position, transfer));
        };
        if let (TronAction::Transfer { to, amount }, Some(from), Some(native)) =
            (&transaction.action, transaction.sender, self.native)
        {
            let (to, amount) = (*to, Number::Small(u128::from(*amount)));
            add(native, 0, Transfer { from, to, amount });
        }
        let logs = info.map_or(&[][..], |info| info.log.as_slice());
        for (position, log) in (1..CONTRACTS_FROM).zip(logs) {
            if let Some((asset, transfer)) = self.parse_token_transfer(log) {
                add(asset, position, transfer);
            }
        }
        let internal = info.map_or(&[][..], |info| info.internal.as_slice());
        let internal = internal.iter().filter_map(parse_internal_transfer);
        for (position, transfer) in (CONTRACTS_FROM..).zip(internal) {
            if let (Some(native), Some(transfer)) = (self.native, transfer) {
                add(native, position, transfer);
            }
        }
        found
    }

    /// Parses the transfer of a listed token from a log; `None` for any other log.
    fn parse_token_transfer(&self, log: &TronLog) -> Option<(&'static Asset, Transfer)> {
        let asset = self.find_token(log.address?.0)?;
        let [event, from, to] = log.topics.as_slice() else {
            return None;
        };
        let event: Option<Word> = Word::parse_digits(event.as_bytes());
        let from = word_to_account(from.as_bytes())?;
        let to = word_to_account(to.as_bytes())?;
        let amount = word_to_number(&log.data)?;
        (event == Some(TRANSFER)).then_some((asset, Transfer { from, to, amount }))
    }
}

/// Returns the transfer of native coins in a call. The outer `None` means that the call transferred no native coins.
/// The inner `None` means that sender or recipient is unknown.
fn parse_internal_transfer(step: &InternalTransaction) -> Option<Option<Transfer>> {
    if step.rejected || !MOVING.contains(&step.note.as_str()) {
        return None;
    }
    let mut values = step.values.iter();
    let value = values.find(|value| value.token_id.is_none())?;
    let amount = u128::try_from(value.call_value).ok();
    let amount = amount.filter(|amount| *amount > 0)?;
    let accounts = step.caller_address.zip(step.to);
    Some(accounts.map(|(from, to)| Transfer {
        from: from.0,
        to: to.0,
        amount: Number::Small(amount),
    }))
}
