//! The table `payment_links`.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Mode;
use crate::domain::link::PaymentLink;
use rusqlite::{Row, named_params};

/// Reads a row in the order of the table's columns.
fn read(row: &Row<'_>) -> rusqlite::Result<PaymentLink> {
    let mut next = Columns::of(row);
    Ok(PaymentLink {
        seq: next.take()?,
        id: next.take()?,
        account: next.take()?,
        mode: next.take()?,
        name: next.take()?,
        amount: next.take()?,
        currency: next.take()?,
        description: next.take()?,
        active: next.take()?,
        created_at: next.take()?,
    })
}

/// Adds a link; its `seq`.
pub fn insert(tx: &Tx<'_>, link: &PaymentLink) -> Result<i64, StoreError> {
    let params = named_params! {
        ":id": link.id,
        ":account": link.account,
        ":mode": link.mode,
        ":name": link.name,
        ":amount": link.amount,
        ":currency": link.currency,
        ":description": link.description,
        ":active": link.active,
        ":created_at": link.created_at,
    };
    tx.insert(include_str!("../../sql/payment_links/insert.sql"), params)
}

/// Saves what can change of a link.
pub fn update(tx: &Tx<'_>, link: &PaymentLink) -> Result<(), StoreError> {
    let params = named_params! {
        ":seq": link.seq,
        ":name": link.name,
        ":amount": link.amount,
        ":description": link.description,
        ":active": link.active,
    };
    tx.run(include_str!("../../sql/payment_links/update.sql"), params)
        .map(drop)
}

/// The link with this id, whoever's it is: for those who open it.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<PaymentLink>, StoreError> {
    db.first(
        include_str!("../../sql/payment_links/by_id.sql"),
        named_params! { ":id": id },
        read,
    )
}

/// The links of an account that are older than `before`, newest first.
pub fn page(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    before: i64,
    limit: u32,
) -> Result<Vec<PaymentLink>, StoreError> {
    let params =
        named_params! { ":account": account, ":mode": mode, ":before": before, ":limit": limit };
    db.all(
        include_str!("../../sql/payment_links/page.sql"),
        params,
        read,
    )
}
