//! The table `transfer_acts`: what people and the signer did with the transactions of transfers. Rows are only added.

use super::statement::statements;
use crate::domain::{Time, TransferAct, TransferActKind, TxidSource};

statements! {
    row read(a.kind, a.txid, a.source, a.at) -> TransferAct {
        Ok(TransferAct { kind, txid, source, at })
    }

    /// Returns the acts on the transactions of a transfer, oldest first.
    pub fn of_transfer(db, transfer: i64) -> Vec<TransferAct> =
        select "from transfer_acts a where a.transfer = :transfer order by a.seq";

    /// Inserts an act.
    pub fn insert(tx, transfer: i64, kind: TransferActKind, txid: &str, source: TxidSource, at: Time) =
        insert into transfer_acts { transfer, kind, txid, source, at };
}
