//! The table `payments`.
//!
//! What always holds: a payment's state on its chain is in the row of its observation, and is read from there.

use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx, invoice_steps, observations};
use crate::domain::asset::Mode;
use crate::domain::money::{Cents, Currency};
use crate::domain::payment::{Payment, PaymentState};
use crate::domain::rate::Quoted;
use crate::domain::time::Time;
use rusqlite::named_params;

rows! {
    fn read(
        p.seq, p.id, p.invoice, p.quote, p.observation, o.mode, o.asset, o.txid, o.position, o.amount, p.rate,
        p.rate_source, p.rate_at, p.rate_spread_bps, p.rate_evidence, p.value, p.on_time, o.state, p.was_confirmed, p.seen_at, o.confirmed_at,
    ) -> Payment {
        Ok(Payment {
            seq, id, invoice, quote, observation, mode, asset, txid, position, amount,
            quoted: Quoted {
                rate, source: rate_source, at: rate_at, spread: rate_spread_bps, evidence: rate_evidence,
            },
            value, on_time, state, was_confirmed, seen_at, confirmed_at,
        })
    }
    OF_INVOICE = select "from payments p join observations o on o.seq = p.observation \
        where p.invoice = :invoice order by p.seq";
    NEWEST_SEEN = select "from payments p join observations o on o.seq = p.observation \
        where p.invoice = :invoice and o.state = 'seen' order by p.seq desc limit :limit";
    BY_ID = select "from payments p join observations o on o.seq = p.observation \
        where p.id = :id";
    OF_OBSERVATION = select "from payments p join observations o on o.seq = p.observation \
        where p.observation = :observation";
}

values! {
    COUNTING(value: Cents) = "select p.value from payments p join observations o on o.seq = p.observation \
        where p.invoice = :invoice and o.state <> 'dropped'";
    PENDING(currency: Currency, value: Cents) = "select i.currency, p.value \
        from invoices i join payments p on p.invoice = i.seq join observations o on o.seq = p.observation \
        where o.state = 'seen' and i.account = :account and i.mode = :mode and i.status = 'detected'";
}

commands! {
    INSERT = file "sql/payments/insert.sql";
    JUDGE_AGAIN = file "sql/payments/judge_again.sql";
    CONFIRM = "update payments set was_confirmed = 1 where seq = :seq";
    REMOVE = "delete from payments where seq = :seq and was_confirmed = 0";
}

/// Adds a payment that was just seen; its `seq`.
pub fn insert(tx: &Tx<'_>, payment: &Payment, now: Time) -> Result<i64, StoreError> {
    let params = named_params! {
        ":id": payment.id,
        ":invoice": payment.invoice,
        ":quote": payment.quote,
        ":observation": payment.observation,
        ":rate": payment.quoted.rate,
        ":rate_source": payment.quoted.source,
        ":rate_at": payment.quoted.at,
        ":rate_spread_bps": payment.quoted.spread,
        ":rate_evidence": payment.quoted.evidence,
        ":value": payment.value,
        ":on_time": payment.on_time,
        ":seen_at": payment.seen_at,
        ":created_at": now,
    };
    let seq = INSERT.insert(tx, params)?;
    invoice_steps::payment(tx, (payment.invoice, seq), PaymentState::Seen, now)?;
    Ok(seq)
}

/// Moves what was seen for a payment from one state to the next; it must still be in `before`.
pub fn update(
    tx: &Tx<'_>,
    payment: &Payment,
    state: PaymentState,
    now: Time,
) -> Result<(), StoreError> {
    observations::update(tx, payment.observation, payment.state, state, now)?;
    came_to(tx, payment, state, now)
}

/// Notes from when a payment counts that was never confirmed, whether it is in time, and what it is worth by that.
pub fn judge_again(tx: &Tx<'_>, payment: &Payment) -> Result<(), StoreError> {
    let params = named_params! {
        ":seq": payment.seq, ":seen_at": payment.seen_at, ":on_time": payment.on_time, ":rate": payment.quoted.rate,
        ":rate_source": payment.quoted.source, ":rate_at": payment.quoted.at, ":value": payment.value,
        ":rate_spread_bps": payment.quoted.spread, ":rate_evidence": payment.quoted.evidence,
    };
    match JUDGE_AGAIN.run(tx, params)? {
        1 => Ok(()),
        _ => Err(StoreError::Failed(format!(
            "payment {} was confirmed before",
            payment.seq
        ))),
    }
}

/// Notes that a payment came to a state, in which what was seen for it is already.
pub fn came_to(
    tx: &Tx<'_>,
    payment: &Payment,
    state: PaymentState,
    now: Time,
) -> Result<(), StoreError> {
    if state == PaymentState::Confirmed && !payment.was_confirmed {
        let params = named_params! { ":seq": payment.seq };
        CONFIRM.run(tx, params)?;
    }
    invoice_steps::payment(tx, (payment.invoice, payment.seq), state, now)
}

/// Removes a payment that was given to its invoice, with its steps; it must never have been confirmed.
pub fn remove(tx: &Tx<'_>, payment: &Payment) -> Result<(), StoreError> {
    invoice_steps::remove_payment(tx, payment.seq)?;
    match REMOVE.run(tx, named_params! { ":seq": payment.seq })? {
        1 => Ok(()),
        _ => Err(StoreError::Failed(format!(
            "payment {} was confirmed before",
            payment.seq
        ))),
    }
}

/// The payments of an invoice, in the order they were recorded.
pub fn of_invoice(db: &Reader<'_>, invoice: i64) -> Result<Vec<Payment>, StoreError> {
    OF_INVOICE.all(db, named_params! { ":invoice": invoice })
}

/// The newest payments of an invoice that are seen and not confirmed, newest first.
pub fn newest_seen(db: &Reader<'_>, invoice: i64, limit: u32) -> Result<Vec<Payment>, StoreError> {
    NEWEST_SEEN.all(db, named_params! { ":invoice": invoice, ":limit": limit })
}

/// What each payment of an invoice is worth that counts.
pub fn counting(db: &Reader<'_>, invoice: i64) -> Result<Vec<Cents>, StoreError> {
    COUNTING.all(db, named_params! { ":invoice": invoice })
}

/// The payment with this id.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<Payment>, StoreError> {
    BY_ID.first(db, named_params! { ":id": id })
}

/// The payment that an observation came to.
pub fn of_observation(db: &Reader<'_>, observation: i64) -> Result<Option<Payment>, StoreError> {
    OF_OBSERVATION.first(db, named_params! { ":observation": observation })
}

/// The values of payments seen and not confirmed, of an account's invoices in `detected`.
pub fn pending(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
) -> Result<Vec<(Currency, Cents)>, StoreError> {
    let params = named_params! { ":account": account, ":mode": mode };
    PENDING.all(db, params)
}
