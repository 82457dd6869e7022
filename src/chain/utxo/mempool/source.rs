//! Requests to a node while its mempool is read. Each answer about a transaction is judged apart.

use super::MempoolEntry;
use crate::chain::NodeError;
use crate::chain::rpc::{ApartSeed, CallFailure, MethodError, Rpc};
use crate::chain::utxo::read::{OutputScanner, ScannedTx, TxSeed};
use crate::chain::utxo::values::{HashBytes, HashText, unix_time};
use crate::chain::utxo::{NOT_FOUND, unexpected_error};
use crate::domain::Time;
use serde::Deserialize;
use serde_json::json;
use std::marker::PhantomData;

/// Largest number of requests for one transaction that may fail in one step.
const FAILURES_MAX: u32 = 3;

/// A node while its mempool is read.
pub(in crate::chain::utxo) struct MempoolSource<'a> {
    pub rpc: &'a mut Rpc,
    pub scanner: OutputScanner<'a>,
    /// Hash of the node's newest block.
    newest: Option<&'a str>,
    /// Number of requests for one transaction that may still fail in this step.
    pub failures_left: u32,
}

/// Answer of the node about a transaction in its mempool.
pub(super) enum TxAnswer {
    Read(Box<ScannedTx>),
    Gone,
    Refused(Refusal),
}

/// A transaction that the node lists and does not give.
pub(super) struct Refusal {
    /// Why it cannot be read: the end of a sentence that begins with "its node".
    pub reason: String,
    /// The failure of the node, if it gives no other transaction either.
    pub error: NodeError,
}

impl From<NodeError> for Refusal {
    fn from(error: NodeError) -> Refusal {
        Refusal { reason: error.to_string(), error }
    }
}

/// Answer of the node about the entry of a transaction in its mempool.
pub(super) enum Arrival {
    At(Option<Time>),
    Gone,
    /// The node does not tell the time. The text is the end of a sentence that begins with "its node".
    Untold(String),
}

/// The transactions of a block.
#[derive(Deserialize)]
struct BlockIds {
    tx: Vec<HashText>,
}

/// Answer to a call whose value is read apart.
type ApartAnswer<T> = Result<Result<T, serde_json::Error>, MethodError>;

impl<'a> MempoolSource<'a> {
    pub(in crate::chain::utxo) fn new(
        rpc: &'a mut Rpc,
        scanner: OutputScanner<'a>,
        newest: Option<&'a str>,
    ) -> MempoolSource<'a> {
        MempoolSource { rpc, scanner, newest, failures_left: FAILURES_MAX }
    }

    /// Fetches and scans transactions, and returns the answers in the same order.
    pub(super) fn fetch_transactions(
        &mut self,
        txids: &[HashBytes],
    ) -> Result<Vec<TxAnswer>, NodeError> {
        let texts: Vec<String> = txids.iter().map(HashBytes::hex_text).collect();
        let calls: Vec<_> = texts.iter().map(|txid| ("getrawtransaction", (txid, 1))).collect();
        let answers = self.rpc.batch_with_seed(&calls, ApartSeed(TxSeed(self.scanner)))?;
        let answers = texts.iter().zip(answers);
        Ok(answers.map(|(txid, answer)| self.judge_transaction(txid, answer)).collect())
    }

    fn judge_transaction(&self, txid: &str, answer: ApartAnswer<ScannedTx>) -> TxAnswer {
        TxAnswer::Refused(match answer {
            Ok(Ok(read)) if read.txid == *txid => return TxAnswer::Read(Box::new(read)),
            Ok(Ok(_)) => NodeError::Lied(format!("transaction {txid} is another one")).into(),
            Ok(Err(error)) => self.rpc.unreadable_value(&error).into(),
            Err(error) if error.code == NOT_FOUND => return TxAnswer::Gone,
            Err(error) => {
                let MethodError { code, message } = &error;
                let reason = format!("refuses getrawtransaction: {message} ({code})");
                let call = format!("getrawtransaction {txid}");
                let error = unexpected_error(&call, CallFailure::Method(error));
                Refusal { reason, error }
            }
        })
    }

    /// Fetches the times at which transactions entered the mempool, in the same order.
    pub(super) fn fetch_arrivals(&mut self, txids: &[&str]) -> Result<Vec<Arrival>, NodeError> {
        let calls: Vec<_> = txids.iter().map(|txid| ("getmempoolentry", [txid])).collect();
        let seed = ApartSeed(PhantomData::<MempoolEntry>);
        let answers = self.rpc.batch_with_seed(&calls, seed)?;
        Ok(answers.into_iter().map(|answer| self.judge_entry(answer)).collect())
    }

    fn judge_entry(&self, answer: ApartAnswer<MempoolEntry>) -> Arrival {
        match answer {
            Ok(Ok(entry)) => Arrival::At(unix_time(entry.time)),
            Ok(Err(error)) => Arrival::Untold(self.rpc.unreadable_value(&error).to_string()),
            Err(error) if error.code == NOT_FOUND => Arrival::Gone,
            Err(MethodError { code, message }) => {
                Arrival::Untold(format!("refuses getmempoolentry: {message} ({code})"))
            }
        }
    }

    /// Returns `true` if the node gives the first transaction of its newest block.
    pub(super) fn gives_mined_transaction(&mut self) -> bool {
        let Some(hash) = self.newest else {
            return false;
        };
        let Ok(BlockIds { tx }) = self.rpc.call("getblock", &json!([hash, true])) else {
            return false;
        };
        let Some(HashText(first)) = tx.into_iter().next() else {
            return false;
        };
        // Without an index, the node needs the hash of the block. Dogecoin nodes do not accept it, and need an index.
        [json!([first, 1, hash]), json!([first, 1])].into_iter().any(|params| {
            let seed = ApartSeed(TxSeed(self.scanner));
            let answer = self.rpc.call_with_seed("getrawtransaction", &params, seed);
            answer.is_ok_and(|read| read.is_ok_and(|read| read.txid == first))
        })
    }
}
