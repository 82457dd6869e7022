//! The table `deposits`.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::{Chain, Mode};
use crate::domain::deposit::{Deposit, DepositStatus};
use crate::domain::money::Cents;
use crate::domain::time::Time;
use rusqlite::{Row, named_params};

fn read(row: &Row<'_>) -> rusqlite::Result<Deposit> {
    let mut next = Columns::of(row);
    Ok(Deposit {
        seq: next.take()?,
        id: next.take()?,
        account: next.take()?,
        mode: next.take()?,
        customer: next.take()?,
        customer_ref: next.take()?,
        asset: next.take()?,
        address: next.take()?,
        txid: next.take()?,
        position: next.take()?,
        amount: next.take()?,
        rate: next.take()?,
        gross: next.take()?,
        fee: next.take()?,
        status: next.take()?,
        was_confirmed: next.take()?,
        created_at: next.take()?,
        confirmed_at: next.take()?,
    })
}

/// Adds a deposit that was just detected; its `seq`.
pub fn insert(tx: &Tx<'_>, deposit: &Deposit) -> Result<i64, StoreError> {
    let params = named_params! {
        ":id": deposit.id,
        ":account": deposit.account,
        ":mode": deposit.mode,
        ":customer": deposit.customer,
        ":chain": deposit.asset.chain,
        ":asset": deposit.asset.id,
        ":address": deposit.address,
        ":txid": deposit.txid,
        ":position": deposit.position,
        ":amount": deposit.amount,
        ":rate": deposit.rate,
        ":gross": deposit.gross,
        ":fee": deposit.fee,
        ":created_at": deposit.created_at,
    };
    tx.insert(include_str!("../../sql/deposits/insert.sql"), params)
}

/// Moves a deposit from one status to the next; it must still be in `before`.
pub fn update(
    tx: &Tx<'_>,
    seq: i64,
    before: DepositStatus,
    status: DepositStatus,
    fee: Cents,
    confirmed_at: Option<Time>,
) -> Result<(), StoreError> {
    let params = named_params! {
        ":seq": seq, ":before": before, ":status": status, ":fee": fee, ":confirmed_at": confirmed_at,
    };
    match tx.run(include_str!("../../sql/deposits/update.sql"), params)? {
        1 => Ok(()),
        _ => Err(StoreError::Failed(format!("deposit {seq} is not {before}"))),
    }
}

/// The deposit with this id, whoever's it is: for those who act for no caller, or look whose it is.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<Deposit>, StoreError> {
    db.first(
        include_str!("../../sql/deposits/by_id.sql"),
        named_params! { ":id": id },
        read,
    )
}

/// The deposits that one transaction made, by position.
pub fn of_transaction(
    db: &Reader<'_>,
    mode: Mode,
    chain: Chain,
    txid: &str,
) -> Result<Vec<Deposit>, StoreError> {
    let params = named_params! { ":mode": mode, ":chain": chain, ":txid": txid };
    db.all(
        include_str!("../../sql/deposits/of_transaction.sql"),
        params,
        read,
    )
}

/// The newest deposits, of one customer where one is named.
pub fn list(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    customer: Option<&str>,
    limit: u32,
) -> Result<Vec<Deposit>, StoreError> {
    match customer {
        None => {
            let params = named_params! { ":account": account, ":mode": mode, ":limit": limit };
            db.all(include_str!("../../sql/deposits/list.sql"), params, read)
        }
        Some(reference) => {
            let params = named_params! { ":account": account, ":mode": mode, ":ref": reference, ":limit": limit };
            db.all(
                include_str!("../../sql/deposits/list_of_customer.sql"),
                params,
                read,
            )
        }
    }
}
