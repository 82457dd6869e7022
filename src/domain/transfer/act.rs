//! Recorded acts of people and of the signer on the transactions of a transfer.

use super::TxidSource;
use crate::domain::text_enum::text_enum;
use crate::domain::time::Time;

text_enum! {
    /// Kind of an act.
    pub enum TransferActKind {
        /// A transaction was entered as the one that sends the transfer.
        Entered = "entered",
        /// The transaction of the transfer was removed.
        Detached = "detached",
        /// A proposed transaction was dismissed.
        Dismissed = "dismissed",
    }
}

/// An act on a transaction of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferAct {
    /// Kind of the act.
    pub kind: TransferActKind,
    /// Id of the transaction on the chain.
    pub txid: String,
    /// Source of the transaction id: a person, or the signer for its answer.
    pub source: TxidSource,
    /// Time of the act.
    pub at: Time,
}
