//! The table `deposits`.
//!
//! What always holds: what a chain says of a deposit stands in its observation, and is read from there.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Mode;
use crate::domain::deposit::Deposit;
use crate::domain::payment::PaymentState;
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
        observation: next.take()?,
        asset: next.take()?,
        address: next.take()?,
        txid: next.take()?,
        position: next.take()?,
        amount: next.take()?,
        quoted: next.quoted()?,
        fixed_at: next.take()?,
        gross: next.take()?,
        fee: next.take()?,
        status: next.take::<PaymentState>()?.into(),
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
        ":observation": deposit.observation,
        ":rate": deposit.quoted.rate,
        ":rate_source": deposit.quoted.source,
        ":rate_at": deposit.quoted.at,
        ":fixed_at": deposit.fixed_at,
        ":gross": deposit.gross,
        ":fee": deposit.fee,
        ":created_at": deposit.created_at,
    };
    tx.insert(include_str!("../../sql/deposits/insert.sql"), params)
}

/// Notes at which rate and value a deposit is fixed, with which fee, and whether it has been confirmed; it must never have
/// been confirmed before.
pub fn fix(tx: &Tx<'_>, deposit: &Deposit) -> Result<(), StoreError> {
    let params = named_params! {
        ":seq": deposit.seq, ":rate": deposit.quoted.rate, ":rate_source": deposit.quoted.source,
        ":rate_at": deposit.quoted.at, ":fixed_at": deposit.fixed_at, ":gross": deposit.gross, ":fee": deposit.fee,
        ":was_confirmed": deposit.was_confirmed,
    };
    match tx.run(include_str!("../../sql/deposits/fix.sql"), params)? {
        1 => Ok(()),
        _ => Err(StoreError::Failed(format!(
            "deposit {} was confirmed before",
            deposit.seq
        ))),
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

/// The deposit that an observation came to.
pub fn of_observation(db: &Reader<'_>, observation: i64) -> Result<Option<Deposit>, StoreError> {
    db.first(
        include_str!("../../sql/deposits/of_observation.sql"),
        named_params! { ":observation": observation },
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
