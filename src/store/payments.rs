//! The table `payments`.
//!
//! What always holds: a payment's state on its chain is in the row of its observation, and is read from there.

use super::statement::{commands, rows, values};
use super::{StoreError, Tx, invoice_steps, observations};
use crate::domain::asset::Mode;
use crate::domain::money::{Cents, Currency};
use crate::domain::payment::{Payment, PaymentState};
use crate::domain::rate::RateQuote;
use crate::domain::time::Time;
use rusqlite::named_params;

rows! {
    fn read(
        p.seq, p.id, p.invoice, p.quote, p.observation, o.mode, o.asset, o.txid, o.position, o.amount, p.rate,
        p.rate_source, p.rate_at, p.rate_spread_bps, p.rate_evidence, p.value, p.on_time, o.state, p.was_confirmed, p.seen_at, o.confirmed_at,
    ) -> Payment {
        Ok(Payment {
            seq, id, invoice, quote, observation, mode, asset, txid, position, amount,
            quoted: RateQuote {
                rate, source: rate_source, at: rate_at, spread: rate_spread_bps, evidence: rate_evidence,
            },
            value, on_time, state, was_confirmed, seen_at, confirmed_at,
        })
    }

    /// The payments of an invoice, in the order they were recorded.
    pub fn of_invoice(db, invoice: i64) -> Vec<Payment> =
        select "from payments p join observations o on o.seq = p.observation \
            where p.invoice = :invoice order by p.seq";

    /// The newest payments of an invoice that are seen and not confirmed, newest first.
    pub fn newest_seen(db, invoice: i64, limit: u32) -> Vec<Payment> =
        select "from payments p join observations o on o.seq = p.observation \
            where p.invoice = :invoice and o.state = 'seen' order by p.seq desc limit :limit";

    /// The payment with this id.
    pub fn by_id(db, id: &str) -> Option<Payment> =
        select "from payments p join observations o on o.seq = p.observation \
            where p.id = :id";

    /// The payment that an observation came to.
    pub fn of_observation(db, observation: i64) -> Option<Payment> =
        select "from payments p join observations o on o.seq = p.observation \
            where p.observation = :observation";
}

values! {
    /// What each payment of an invoice is worth that counts.
    pub fn counting(db, invoice: i64) -> Vec<(value: Cents)> =
        "select p.value from payments p join observations o on o.seq = p.observation \
            where p.invoice = :invoice and o.state <> 'dropped'";

    /// The values of payments seen and not confirmed, of an account's invoices in `detected`.
    pub fn pending(db, account: i64, mode: Mode) -> Vec<(currency: Currency, value: Cents)> =
        "select i.currency, p.value \
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
    JUDGE_AGAIN.change_one(tx, params, || {
        format!("payment {} was confirmed before", payment.seq)
    })
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
    REMOVE.change_one(tx, named_params! { ":seq": payment.seq }, || {
        format!("payment {} was confirmed before", payment.seq)
    })
}
