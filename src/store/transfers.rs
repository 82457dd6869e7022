//! The table `transfers`: payouts and refunds.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::{Chain, Mode};
use crate::domain::money::coin::{Rate, Units};
use crate::domain::money::{Cents, Currency};
use crate::domain::time::Time;
use crate::domain::transfer::terms::Terms;
use crate::domain::transfer::{Transfer, TransferKind, TransferStatus};
use rusqlite::{Row, named_params};

/// Reads a row in the order of the table's columns, then the ids of its account and of its invoice.
fn read(row: &Row<'_>) -> rusqlite::Result<Transfer> {
    let mut next = Columns::of(row);
    let (seq, id, kind, account, mode) = (
        next.take()?,
        next.take()?,
        next.take()?,
        next.take()?,
        next.take()?,
    );
    let invoice: Option<i64> = next.take()?;
    let (status, currency, amount, asset) =
        (next.take()?, next.take()?, next.take()?, next.take()?);
    let _chain: Chain = next.take()?;
    let to_address = next.take()?;
    let amount_crypto: Option<Units> = next.take()?;
    let network_fee: Option<Units> = next.take()?;
    let rate: Option<Rate> = next.take()?;
    let terms = rate.zip(network_fee.zip(amount_crypto));
    let (txid, reason, failure_reason, sending) =
        (next.take()?, next.take()?, next.take()?, next.take()?);
    let (requested_at, approved_at, finalized_at) = (next.take()?, next.take()?, next.take()?);
    let (account_id, invoice_id): (String, Option<String>) = (next.take()?, next.take()?);
    Ok(Transfer {
        seq,
        id,
        kind,
        account,
        account_id,
        mode,
        invoice: invoice.zip(invoice_id),
        status,
        currency,
        amount,
        asset,
        to_address,
        terms: terms.map(|(rate, (network_fee, amount_crypto))| Terms {
            rate,
            network_fee,
            amount_crypto,
        }),
        txid,
        reason,
        failure_reason,
        sending,
        requested_at,
        approved_at,
        finalized_at,
    })
}

/// Adds a transfer that was just requested; its `seq`.
pub fn insert(tx: &Tx<'_>, transfer: &Transfer) -> Result<i64, StoreError> {
    let params = named_params! {
        ":id": transfer.id,
        ":kind": transfer.kind,
        ":account": transfer.account,
        ":mode": transfer.mode,
        ":invoice": transfer.invoice.as_ref().map(|(seq, _)| *seq),
        ":status": transfer.status,
        ":currency": transfer.currency,
        ":amount": transfer.amount,
        ":asset": transfer.asset.id,
        ":chain": transfer.asset.chain,
        ":to_address": transfer.to_address,
        ":reason": transfer.reason,
        ":requested_at": transfer.requested_at,
    };
    tx.insert(include_str!("../../sql/transfers/insert.sql"), params)
}

/// Saves what can change of a transfer that was `before`.
pub fn update(tx: &Tx<'_>, transfer: &Transfer, before: TransferStatus) -> Result<(), StoreError> {
    tx.note(|changes| changes.transfers = true);
    let terms = transfer.terms.as_ref();
    let params = named_params! {
        ":seq": transfer.seq,
        ":before": before,
        ":status": transfer.status,
        ":amount_crypto": terms.map(|terms| terms.amount_crypto),
        ":network_fee": terms.map(|terms| terms.network_fee),
        ":rate": terms.map(|terms| terms.rate),
        ":txid": transfer.txid,
        ":failure_reason": transfer.failure_reason,
        ":sending": transfer.sending,
        ":approved_at": transfer.approved_at,
        ":finalized_at": transfer.finalized_at,
    };
    match tx.run(include_str!("../../sql/transfers/update.sql"), params)? {
        1 => Ok(()),
        _ => Err(StoreError::Failed(format!(
            "{} {} is not {before} any more",
            transfer.kind, transfer.id
        ))),
    }
}

/// The transfer with this id, whoever's it is: for those who act for no caller.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<Transfer>, StoreError> {
    db.first(
        include_str!("../../sql/transfers/by_id.sql"),
        named_params! { ":id": id },
        read,
    )
}

/// The newest transfers of a kind; of one invoice where its id is given.
pub fn list(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    kind: TransferKind,
    invoice: Option<&str>,
    limit: u32,
) -> Result<Vec<Transfer>, StoreError> {
    match invoice {
        None => {
            let params = named_params! {
                ":account": account, ":mode": mode, ":kind": kind, ":limit": limit
            };
            db.all(include_str!("../../sql/transfers/list.sql"), params, read)
        }
        Some(invoice) => {
            let params = named_params! {
                ":account": account, ":mode": mode, ":kind": kind, ":invoice": invoice, ":limit": limit
            };
            db.all(
                include_str!("../../sql/transfers/list_of_invoice.sql"),
                params,
                read,
            )
        }
    }
}

/// The newest transfers of a kind over all accounts, of one status where one is given.
pub fn of_all(
    db: &Reader<'_>,
    mode: Mode,
    kind: TransferKind,
    status: Option<TransferStatus>,
    limit: u32,
) -> Result<Vec<Transfer>, StoreError> {
    let params = named_params! {
        ":mode": mode, ":kind": kind, ":status": status, ":limit": limit
    };
    db.all(include_str!("../../sql/transfers/of_all.sql"), params, read)
}

/// Has the account a payout that is neither sent nor put back, in either currency?
pub fn has_open_payout(db: &Reader<'_>, account: i64) -> Result<bool, StoreError> {
    let found = db.first(
        include_str!("../../sql/transfers/has_open_payout.sql"),
        named_params! { ":account": account },
        |row| row.get(0),
    )?;
    Ok(found.unwrap_or(false))
}

/// Payouts in a currency that were requested after `since` and not put back.
pub fn paid_out(
    db: &Reader<'_>,
    account: i64,
    currency: Currency,
    since: Time,
) -> Result<Cents, StoreError> {
    let sum = db.first(
        include_str!("../../sql/transfers/paid_out.sql"),
        named_params! { ":account": account, ":currency": currency, ":since": since },
        |row| row.get(0),
    )?;
    Ok(sum.unwrap_or(Cents::ZERO))
}

/// Refunds of an invoice that were not put back.
pub fn refunded(db: &Reader<'_>, invoice: i64) -> Result<Cents, StoreError> {
    let sum = db.first(
        include_str!("../../sql/transfers/refunded.sql"),
        named_params! { ":invoice": invoice },
        |row| row.get(0),
    )?;
    Ok(sum.unwrap_or(Cents::ZERO))
}

/// Approved transfers of live mode, oldest first.
pub fn to_send(db: &Reader<'_>, limit: u32) -> Result<Vec<Transfer>, StoreError> {
    db.all(
        include_str!("../../sql/transfers/to_send.sql"),
        named_params! { ":limit": limit },
        read,
    )
}

/// Transfers that a command was started for and has not answered, oldest first.
pub fn sending(db: &Reader<'_>) -> Result<Vec<Transfer>, StoreError> {
    db.all(include_str!("../../sql/transfers/sending.sql"), [], read)
}
