//! The table `payments`: payments of invoices.
//!
//! Invariant: the state of a payment on its chain is stored only in the row of its observation.

use super::statement::statements;
use super::{StoreError, Tx, invoice_steps};
use crate::domain::{Cents, Currency, InvoiceChange, Mode, Payment, PaymentState, RateQuote, Time};

statements! {
    row read(
        p.seq, p.id, p.invoice, p.quote, p.observation, o.mode, o.asset, o.txid, o.position, o.amount, p.rate,
        p.rate_source, p.rate_at, p.rate_spread_bps, p.rate_evidence, p.value, p.on_time, o.state, p.was_confirmed,
        p.seen_at, o.confirmed_at,
    ) -> Payment {
        Ok(Payment {
            seq, id, invoice, quote, observation, mode, asset, txid, position, amount,
            quoted: RateQuote {
                rate, source: rate_source, at: rate_at, spread: rate_spread_bps, evidence: rate_evidence,
            },
            value, on_time, state, was_confirmed, seen_at, confirmed_at,
        })
    }

    /// Returns the payments of an invoice, in the order of insertion.
    pub fn of_invoice(db, invoice: i64) -> Vec<Payment> =
        select "from payments p join observations o on o.seq = p.observation \
            where p.invoice = :invoice order by p.seq";

    /// Returns the newest unconfirmed payments of an invoice, newest first.
    pub fn newest_unconfirmed(db, invoice: i64, limit: u32) -> Vec<Payment> =
        select "from payments p join observations o on o.seq = p.observation \
            where p.invoice = :invoice and o.state = 'seen' order by p.seq desc limit :limit";

    /// Returns the newest confirmed payments of an invoice, newest first.
    pub fn newest_confirmed(db, invoice: i64, limit: u32) -> Vec<Payment> =
        select "from payments p join observations o on o.seq = p.observation \
            where p.invoice = :invoice and o.state = 'confirmed' order by p.seq desc limit :limit";

    /// Returns the payment with this id.
    pub fn by_id(db, id: &str) -> Option<Payment> =
        select "from payments p join observations o on o.seq = p.observation \
            where p.id = :id";

    /// Returns the payment that belongs to an observation.
    pub fn of_observation(db, observation: i64) -> Option<Payment> =
        select "from payments p join observations o on o.seq = p.observation \
            where p.observation = :observation";

    /// Returns the values of an invoice's payments that are not dropped.
    pub fn undropped_values(db, invoice: i64) -> Vec<(value: Cents)> =
        "select p.value from payments p join observations o on o.seq = p.observation \
            where p.invoice = :invoice and o.state <> 'dropped'";

    /// Returns the values of the unconfirmed payments of an account's invoices with the status `detected`.
    pub fn pending_values(db, account: i64, mode: Mode) -> Vec<(currency: Currency, value: Cents)> =
        "select i.currency, p.value \
            from invoices i join payments p on p.invoice = i.seq join observations o on o.seq = p.observation \
            where o.state = 'seen' and i.account = :account and i.mode = :mode and i.status = 'detected'";

    fn insert_row(tx, payment: &Payment, created_at: Time) -> i64 = insert into payments {
        id: payment.id, invoice: payment.invoice, quote: payment.quote, observation: payment.observation,
        rate: payment.quoted.rate, rate_source: payment.quoted.source, rate_at: payment.quoted.at,
        rate_spread_bps: payment.quoted.spread, rate_evidence: payment.quoted.evidence, value: payment.value,
        on_time: payment.on_time, was_confirmed: false, seen_at: payment.seen_at, created_at,
    };

    /// Stores `seen_at`, `on_time`, the rate and the value of a payment.
    ///
    /// # Errors
    /// [`StoreError`] if the payment was confirmed before.
    pub fn save_terms(tx, payment: &Payment) =
        file "sql/payments/judge_again.sql"
        with {
            seq: payment.seq, seen_at: payment.seen_at, on_time: payment.on_time, rate: payment.quoted.rate,
            rate_source: payment.quoted.source, rate_at: payment.quoted.at, value: payment.value,
            rate_spread_bps: payment.quoted.spread, rate_evidence: payment.quoted.evidence,
        }
        else("payment {} was confirmed before", payment.seq);

    fn set_was_confirmed(tx, seq: i64) = "update payments set was_confirmed = 1 where seq = :seq";

    fn remove_row(tx, seq: i64) =
        "delete from payments where seq = :seq and was_confirmed = 0" else("payment {seq} was confirmed before");
}

/// Inserts a new payment and returns its `seq`.
pub fn insert(tx: &Tx<'_>, payment: &Payment, now: Time) -> Result<i64, StoreError> {
    let seq = insert_row(tx, payment, now)?;
    invoice_steps::insert(
        tx,
        payment.invoice,
        now,
        InvoiceChange::Payment(seq, PaymentState::Seen),
    )?;
    Ok(seq)
}

/// Records a new state of a payment. The observation must have this state already.
pub fn record_state_change(
    tx: &Tx<'_>,
    payment: &Payment,
    state: PaymentState,
    now: Time,
) -> Result<(), StoreError> {
    if state == PaymentState::Confirmed && !payment.was_confirmed {
        set_was_confirmed(tx, payment.seq)?;
    }
    invoice_steps::insert(tx, payment.invoice, now, InvoiceChange::Payment(payment.seq, state))
}

/// Deletes a payment and its steps, because its assignment to the invoice was undone.
///
/// # Errors
/// [`StoreError`] if the payment was confirmed before.
pub fn remove(tx: &Tx<'_>, payment: &Payment) -> Result<(), StoreError> {
    invoice_steps::remove_of_payment(tx, payment.invoice, payment.seq)?;
    remove_row(tx, payment.seq)
}
