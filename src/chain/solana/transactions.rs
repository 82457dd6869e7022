//! Reads single transactions. A transaction that cannot be read is set aside, and stops nothing.
//!
//! Version 1 of the format is the highest one that is read: SIMD-0385.

use super::accounts::PolledAccounts;
use super::answers::{Commitment, TransactionJson};
use super::credits::{ListedCoins, TransactionCredits};
use super::histories::SlotSignature;
use super::set_aside::FORGOTTEN;
use super::slots::{INVALID_PARAMS, MARGIN, is_before_first_block};
use super::{KEPT_MAX, Solana, unexpected_error};
use crate::chain::rpc::MethodError;
use crate::chain::{NodeError, ReceivedOutput};
use crate::domain::address::is_solana_txid;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Values of `maxSupportedTransactionVersion` in `getTransaction`, the preferred one first. Some nodes refuse a value
/// that they do not know.
const TRANSACTION_VERSIONS: &[u8] = &[1, 0];
/// Error code of a node that does not keep up with the chain.
const UNHEALTHY: i64 = -32005;

/// Places of the versions that the node accepts, by method. Valid until a request fails, because the next request may
/// reach another node.
#[derive(Debug, Default)]
pub(super) struct AcceptedVersions {
    epoch: u64,
    places: HashMap<&'static str, usize>,
}

/// The answer of the node about one transaction.
pub(super) enum TransactionRead {
    /// The transaction is in a block.
    Credits(TransactionCredits),
    /// The node knows no such transaction.
    Absent,
    /// The node does not give the transaction, for this reason: the end of a sentence that begins with "its node".
    Unreadable(String),
}

/// The result of reading a transaction that the history of an account lists.
pub(super) enum ListedRead {
    /// Slot and payments of the transaction.
    Payments(u32, Vec<ReceivedOutput>),
    /// The transaction is no longer on the chain.
    Gone,
    /// The transaction cannot be read, for this reason.
    SetAside(String),
}

impl Solana {
    /// Calls a method with the first of these versions that the node accepts.
    pub(super) fn call_with_version<T: DeserializeOwned>(
        &mut self,
        method: &'static str,
        versions: &[u8],
        params: impl Fn(u8) -> Value,
    ) -> Result<Result<T, MethodError>, NodeError> {
        let epoch = self.rpc.failure_epoch();
        if self.versions.epoch != epoch {
            self.versions = AcceptedVersions { epoch, places: HashMap::new() };
        }
        let first = self.versions.places.get(method).copied().unwrap_or(0);
        let mut answer = Err(MethodError { code: INVALID_PARAMS, message: String::new() });
        for (place, version) in versions.iter().enumerate().skip(first) {
            answer = self.call(method, &params(*version))?;
            let is_refused = answer
                .as_ref()
                .is_err_and(|error| error.code == INVALID_PARAMS && !is_before_first_block(error));
            if !is_refused {
                self.versions.places.insert(method, place);
                break;
            }
        }
        Ok(answer)
    }

    pub(super) fn read_transaction(
        &mut self,
        signature: &str,
        commitment: Commitment,
    ) -> Result<TransactionRead, NodeError> {
        if !is_solana_txid(signature) {
            return Ok(TransactionRead::Absent);
        }
        let key = (signature.to_owned(), commitment);
        if let Some(kept) = self.carried.get(&key) {
            return Ok(TransactionRead::Credits(kept.clone()));
        }
        let params = |version: u8| {
            json!([signature, {
                "commitment": commitment, "encoding": "json", "maxSupportedTransactionVersion": version,
            }])
        };
        // The answer is parsed only below, so that a transaction of another form is told apart from a faulty node.
        let answer: Result<Option<Box<RawValue>>, MethodError> =
            self.call_with_version("getTransaction", TRANSACTION_VERSIONS, params)?;
        let text = match answer {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(TransactionRead::Absent),
            Err(error) if error.code == UNHEALTHY => {
                return Err(unexpected_error("getTransaction", &error));
            }
            Err(MethodError { code, message }) => {
                let reason = format!("refuses getTransaction: {message} ({code})");
                return Ok(TransactionRead::Unreadable(reason));
            }
        };
        let mints = self.verify_identity()?.mints;
        let coins = ListedCoins { native: self.native, mints: &mints };
        let answer: Result<TransactionJson, _> = serde_json::from_str(text.get());
        let credits = match answer {
            Ok(answer) => TransactionCredits::parse(&answer, signature, &coins),
            Err(_) => {
                let reason = "gives it in a form that is not known".to_owned();
                return Ok(TransactionRead::Unreadable(reason));
            }
        };
        let credits = match credits {
            Ok(credits) => credits,
            Err(error) => return Ok(TransactionRead::Unreadable(error.to_string())),
        };
        if self.carried.len() >= KEPT_MAX {
            self.carried.clear();
        }
        self.carried.insert(key, credits.clone());
        Ok(TransactionRead::Credits(credits))
    }

    /// Returns the result of a transaction that is looked up by its signature; `None` if the transaction is not in a
    /// block of the chain.
    pub(super) fn transaction_result(
        &mut self,
        signature: &str,
        commitment: Commitment,
    ) -> Result<Option<TransactionCredits>, NodeError> {
        match self.read_transaction(signature, commitment)? {
            TransactionRead::Credits(credits) => Ok(Some(credits)),
            TransactionRead::Absent => Ok(None),
            TransactionRead::Unreadable(reason) => {
                Err(NodeError::Lied(format!("the node {reason}")))
            }
        }
    }

    pub(super) fn read_listed_transaction(
        &mut self,
        slot: u32,
        signature: &str,
        commitment: Commitment,
        accounts: &PolledAccounts,
    ) -> Result<ListedRead, NodeError> {
        self.aside.count_ask(signature);
        let key = (signature.to_owned(), commitment);
        let mut read = self.read_transaction(signature, commitment)?;
        if let TransactionRead::Credits(credits) = &read
            && credits.slot != slot
        {
            self.carried.remove(&key);
            read = self.read_transaction(signature, commitment)?;
        }
        let credits = match read {
            TransactionRead::Credits(credits) => credits,
            TransactionRead::Unreadable(reason) => return Ok(ListedRead::SetAside(reason)),
            TransactionRead::Absent => {
                return self.judge_absent_transaction(slot, signature, commitment);
            }
        };
        let highest = match commitment {
            Commitment::Confirmed => self.head_slot,
            Commitment::Finalized => self.finalized_seen,
        };
        // A history may have named a false slot. For a transaction that is set aside, the final answer decides.
        let is_settled =
            commitment == Commitment::Finalized && self.aside.has_transaction(signature);
        if credits.slot > highest || (!is_settled && credits.slot.abs_diff(slot) > MARGIN) {
            self.carried.remove(&key);
            let other = credits.slot;
            let reason = format!("lists it in slot {slot}, and gives it in slot {other}");
            return Ok(ListedRead::SetAside(reason));
        }
        match credits.received_payments(signature, accounts) {
            Ok(received) => Ok(ListedRead::Payments(credits.slot, received)),
            Err(error) => {
                self.carried.remove(&key);
                Ok(ListedRead::SetAside(error.to_string()))
            }
        }
    }

    /// Decides about a listed transaction that the node does not have. The histories that list it are read again.
    fn judge_absent_transaction(
        &mut self,
        slot: u32,
        signature: &str,
        commitment: Commitment,
    ) -> Result<ListedRead, NodeError> {
        if slot == 0 && self.aside.is_forgotten(signature) {
            return Ok(ListedRead::SetAside(FORGOTTEN.to_owned()));
        }
        let key: SlotSignature = (slot, signature.to_owned());
        let is_final = commitment == Commitment::Finalized;
        let is_listed = !is_final || self.finals.found.contains_key(&key);
        if !is_listed
            && matches!(
                self.read_transaction(signature, Commitment::Confirmed)?,
                TransactionRead::Credits(_)
            )
        {
            return Err(NodeError::Behind);
        }
        for histories in [&mut self.head, &mut self.finals] {
            histories.invalidate_transaction(key.clone());
        }
        let is_kept = is_listed || self.aside.has_transaction(signature) && !self.step.has_rescan;
        Ok(match is_kept {
            true => ListedRead::SetAside("lists it and does not have it".to_owned()),
            false => ListedRead::Gone,
        })
    }

    pub(super) fn change_transaction_slot(&mut self, from: u32, signature: &str, to: u32) {
        for histories in [&mut self.head, &mut self.finals] {
            if let Some(named) = histories.found.remove(&(from, signature.to_owned())) {
                histories.found.insert((to, signature.to_owned()), named);
            }
        }
    }
}
