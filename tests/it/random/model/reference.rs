//! The expected state of the service after each step.
//!
//! Invariant: only ids, addresses and creation times are taken from responses.

use super::paper::{COINS, Coin, fee_cents};

/// State of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentState {
    Seen,
    Confirmed,
    Dropped,
}

#[derive(Debug)]
pub struct ModelPayment {
    pub id: String,
    pub txid: String,
    pub coin: &'static Coin,
    pub units: i128,
    pub value: i128,
    pub on_time: bool,
    pub state: PaymentState,
    pub was_confirmed: bool,
    pub seen_at: i64,
    /// Ledger entries of the payment that are not reversed, in cents.
    unreversed: Vec<i128>,
}

/// An event: its type, the status of its object, and its time in Unix milliseconds.
pub type EventRecord = (String, String, i64);

#[derive(Debug)]
pub struct ModelInvoice {
    pub id: String,
    pub live: bool,
    pub currency: &'static str,
    pub amount: i128,
    pub created_at: i64,
    pub expires_at: i64,
    pub cancelled_at: Option<i64>,
    pub status: &'static str,
    pub confirmed_at: Option<i64>,
    /// Quoted coins, in the order of the quotes.
    pub quotes: Vec<&'static Coin>,
    pub picked: Option<&'static Coin>,
    pub payments: Vec<ModelPayment>,
    pub events: Vec<EventRecord>,
    /// Addresses of the invoice that responses have contained, by pool.
    pub addresses: std::collections::BTreeMap<&'static str, String>,
}

#[derive(Debug)]
pub struct LedgerEntry {
    pub live: bool,
    pub currency: &'static str,
    pub kind: &'static str,
    pub amount: i128,
    pub fee_bps: Option<i128>,
    pub invoice: String,
    pub at: i64,
}

/// The expected state of all accounts and invoices.
#[derive(Debug, Default)]
pub struct ExpectedState {
    pub now: i64,
    pub fee_bps: i128,
    pub invoices: Vec<ModelInvoice>,
    pub ledger: Vec<LedgerEntry>,
}

/// HTTP status and code of an expected error.
pub type ExpectedError = (u16, &'static str);

pub const UNAVAILABLE: ExpectedError = (400, "coin_unavailable");
const IN_FLIGHT: ExpectedError = (400, "payment_in_flight");
/// Expected error for a payment of zero.
const ZERO_PAYMENT_ERROR: ExpectedError = (400, "invalid_request");
const CLOSED: ExpectedError = (400, "invoice_closed");
const NO_SUCH_STEP: ExpectedError = (409, "invalid_transition");
const NOT_CANCELLABLE: ExpectedError = (409, "invoice_not_cancellable");

impl ModelInvoice {
    pub fn deadline(&self) -> i64 {
        self.cancelled_at.unwrap_or(i64::MAX).min(self.expires_at)
    }

    pub fn counted_payments(&self) -> impl Iterator<Item = &ModelPayment> {
        self.payments.iter().filter(|payment| payment.state != PaymentState::Dropped)
    }

    /// Returns the coin of the first payment that is not dropped, or else the selected coin.
    pub fn coin(&self) -> Option<&'static Coin> {
        self.counted_payments().next().map(|first| first.coin).or(self.picked)
    }

    /// Returns the sum of seen and confirmed amounts in the coin of the invoice, in base units.
    pub fn received_units(&self) -> Option<i128> {
        let coin = self.coin()?;
        let in_coin = self.counted_payments().filter(|payment| payment.coin.id == coin.id);
        in_coin.map(|payment| payment.units).reduce(|sum, units| sum + units)
    }

    /// Returns the amount still to be paid, in cents.
    pub fn due_cents(&self) -> i128 {
        let paid: i128 = self.counted_payments().map(|payment| payment.value).sum();
        if paid < self.amount { self.amount - paid } else { self.amount }
    }

    /// Returns the status that the documentation defines. Both tolerances are 0.5 percent.
    fn computed_status(&self, now: i64) -> &'static str {
        let any = |wanted: &dyn Fn(&ModelPayment) -> bool| self.payments.iter().any(wanted);
        let money = |late_too: bool| -> i128 {
            let confirmed = self.payments.iter().filter(|p| p.state == PaymentState::Confirmed);
            confirmed.filter(|p| p.on_time || late_too).map(|p| p.value * 1_000).sum()
        };
        let (least, most) = (self.amount * 995, self.amount * 1_005);
        let waiting = any(&|p| p.state == PaymentState::Seen && p.on_time);
        if any(&|p| p.state == PaymentState::Confirmed) || waiting {
            return match (money(false) >= least, waiting) {
                (true, _) if money(true) > most => "overpaid",
                (true, _) => "confirmed",
                (false, true) => "detected",
                (false, false) if money(true) >= least => "paid_late",
                (false, false) => "underpaid",
            };
        }
        let past = now >= self.deadline();
        if self.cancelled_at.is_some() {
            "cancelled"
        } else if any(&|p| p.state == PaymentState::Dropped && p.was_confirmed) {
            "failed"
        } else if past {
            let lost = any(&|p| p.state == PaymentState::Dropped && p.on_time);
            if lost { "failed" } else { "expired" }
        } else if self.quotes.is_empty() {
            "created"
        } else {
            "awaiting_payment"
        }
    }

    /// Computes the status again. A changed status adds an event. A confirmed payment adds an event even if the
    /// status stays the same.
    fn update_status(&mut self, now: i64, confirmed: bool) {
        let after = self.computed_status(now);
        let before = std::mem::replace(&mut self.status, after);
        let paid = |status: &str| status == "confirmed" || status == "overpaid";
        if !paid(self.status) {
            self.confirmed_at = None;
        } else if !paid(before) {
            self.confirmed_at = Some(now);
        }
        if (confirmed || before != self.status) && self.status != "awaiting_payment" {
            self.push_event(self.status, now);
        }
    }

    fn push_event(&mut self, what: &str, now: i64) {
        let event = (format!("invoice.{what}"), self.status.to_owned(), now);
        self.events.push(event);
    }

    fn select_coin(&mut self, coin: &'static Coin) -> Result<(), ExpectedError> {
        if !self.quotes.iter().any(|quoted| quoted.id == coin.id) {
            if !coin.accepts_price(self.amount, self.currency) {
                return Err(UNAVAILABLE);
            }
            self.quotes.push(coin);
        }
        self.picked = Some(coin);
        Ok(())
    }

    /// Returns the coin of a simulated payment.
    pub fn simulated_payment_coin(
        &self,
        wanted: Option<&'static Coin>,
    ) -> Result<&'static Coin, ExpectedError> {
        let first = COINS.iter().find(|coin| coin.accepts_price(self.amount, self.currency));
        let coin = self.coin().or(wanted).or(first).ok_or(UNAVAILABLE)?;
        let quoted = self.quotes.iter().any(|other| other.id == coin.id);
        if quoted || coin.accepts_price(self.amount, self.currency) {
            Ok(coin)
        } else {
            Err(UNAVAILABLE)
        }
    }
}

impl ExpectedState {
    pub fn create_invoice(&mut self, mut invoice: ModelInvoice, coin: Option<&'static Coin>) {
        if let Some(coin) = coin {
            // If the coin cannot be selected, the simulation only returns a warning.
            let _ = invoice.select_coin(coin);
        }
        invoice.status = invoice.computed_status(self.now);
        invoice.push_event("created", self.now);
        self.invoices.push(invoice);
    }

    pub fn select_coin(&mut self, at: usize, coin: &'static Coin) -> Result<(), ExpectedError> {
        let (now, invoice) = (self.now, &mut self.invoices[at]);
        let counted = invoice.counted_payments().next().is_some();
        if counted && now < invoice.deadline() {
            return Err(IN_FLIGHT);
        }
        if counted || !["created", "awaiting_payment"].contains(&invoice.computed_status(now)) {
            return Err(CLOSED);
        }
        invoice.select_coin(coin)?;
        invoice.update_status(now, false);
        Ok(())
    }

    pub fn cancel_invoice(&mut self, at: usize) -> Result<(), ExpectedError> {
        let (now, invoice) = (self.now, &mut self.invoices[at]);
        let open = ["created", "awaiting_payment"].contains(&invoice.computed_status(now));
        if !open || invoice.counted_payments().next().is_some() {
            return Err(NOT_CANCELLABLE);
        }
        invoice.cancelled_at = Some(now);
        invoice.update_status(now, false);
        Ok(())
    }

    /// Adds a seen payment without ids. Returns `false` if the value is too small for a payment.
    pub fn add_payment(
        &mut self,
        at: usize,
        coin: &'static Coin,
        units: i128,
        seen_at: i64,
    ) -> Result<bool, ExpectedError> {
        if units == 0 {
            return Err(ZERO_PAYMENT_ERROR);
        }
        let (now, invoice) = (self.now, &mut self.invoices[at]);
        if !invoice.quotes.iter().any(|quoted| quoted.id == coin.id) {
            invoice.select_coin(coin)?;
        }
        if !coin.is_worth_a_cent(units, invoice.currency) {
            invoice.update_status(now, false);
            return Ok(false);
        }
        invoice.payments.push(ModelPayment {
            id: String::new(),
            txid: String::new(),
            coin,
            units,
            value: coin.value_cents(units, invoice.currency),
            on_time: seen_at < invoice.deadline(),
            state: PaymentState::Seen,
            was_confirmed: false,
            seen_at,
            unreversed: Vec::new(),
        });
        invoice.update_status(now, false);
        Ok(true)
    }

    /// Sets the payment id and the transaction id of the last payment.
    pub fn set_ids_of_last_payment(&mut self, at: usize, id: String, txid: String) {
        let last = self.invoices[at].payments.last_mut().unwrap();
        (last.id, last.txid) = (id, txid);
    }

    /// Replaces a seen payment. The new payment keeps the time at which the old one was seen, unless the new amount
    /// is larger.
    pub fn replace_payment(
        &mut self,
        at: usize,
        which: usize,
        units: i128,
    ) -> Result<bool, ExpectedError> {
        let now = self.now;
        let old = &mut self.invoices[at].payments[which];
        if old.state != PaymentState::Seen {
            return Err(NO_SUCH_STEP);
        }
        if units == 0 {
            return Err(ZERO_PAYMENT_ERROR);
        }
        old.state = PaymentState::Dropped;
        let coin = old.coin;
        let seen_at = if units <= old.units { old.seen_at } else { now };
        self.add_payment(at, coin, units, seen_at)
    }

    /// Applies a state change to a payment: `seen`, `confirmed`, `dropped` or `orphaned`.
    pub fn change_payment_state(
        &mut self,
        at: usize,
        which: usize,
        step: &str,
    ) -> Result<(), ExpectedError> {
        let payment = &self.invoices[at].payments[which];
        let next = match (step, payment.state) {
            ("confirmed", PaymentState::Seen | PaymentState::Dropped) => PaymentState::Confirmed,
            ("dropped", PaymentState::Seen | PaymentState::Confirmed) => PaymentState::Dropped,
            ("seen", PaymentState::Dropped) | ("orphaned", PaymentState::Confirmed) => {
                PaymentState::Seen
            }
            _ => return Err(NO_SUCH_STEP),
        };
        self.book_payment(at, which, next);
        let invoice = &mut self.invoices[at];
        let payment = &mut invoice.payments[which];
        payment.state = next;
        payment.was_confirmed |= next == PaymentState::Confirmed;
        invoice.update_status(self.now, next == PaymentState::Confirmed);
        Ok(())
    }

    fn book_payment(&mut self, at: usize, which: usize, next: PaymentState) {
        let invoice = &mut self.invoices[at];
        let payment = &mut invoice.payments[which];
        let first = next == PaymentState::Confirmed && !payment.was_confirmed;
        let mut booked: Vec<(&'static str, i128, Option<i128>)> = Vec::new();
        if first {
            let fee = fee_cents(payment.value, self.fee_bps);
            booked.push(("sale", payment.value, None));
            booked.push(("fee", -fee, Some(self.fee_bps)));
            booked.retain(|(_, amount, _)| *amount != 0);
        } else if next == PaymentState::Confirmed || payment.state == PaymentState::Confirmed {
            let back = payment.unreversed.iter();
            booked.extend(back.map(|amount| ("adjustment", -amount, None)));
        } else {
            return;
        }
        payment.unreversed = booked.iter().map(|(_, amount, _)| *amount).collect();
        let (live, currency) = (invoice.live, invoice.currency);
        for (kind, amount, fee_bps) in booked {
            self.ledger.push(LedgerEntry {
                live,
                currency,
                kind,
                amount,
                fee_bps,
                invoice: invoice.id.clone(),
                at: self.now,
            });
        }
    }

    /// Moves the clock of the model. Each invoice expires at its own deadline.
    pub fn advance_clock(&mut self, to: i64) {
        for invoice in &mut self.invoices {
            let open = ["created", "awaiting_payment"].contains(&invoice.status);
            if open && invoice.expires_at <= to {
                invoice.update_status(invoice.expires_at, false);
            }
        }
        self.now = to;
    }

    /// Returns the sum of the ledger entries in a mode and currency, either of one kind or of all kinds.
    pub fn ledger_sum(&self, live: bool, currency: &str, kind: Option<&str>) -> i128 {
        let of_both =
            self.ledger.iter().filter(|entry| entry.live == live && entry.currency == currency);
        of_both
            .filter(|entry| kind.is_none_or(|kind| entry.kind == kind))
            .map(|entry| entry.amount)
            .sum()
    }

    /// Returns the expected net amount of seen payments to detected invoices.
    pub fn pending_net(&self, live: bool, currency: &str) -> i128 {
        let detected = self.invoices.iter().filter(|invoice| {
            invoice.live == live && invoice.currency == currency && invoice.status == "detected"
        });
        let seen = detected
            .flat_map(|invoice| &invoice.payments)
            .filter(|payment| payment.state == PaymentState::Seen);
        seen.map(|payment| payment.value - fee_cents(payment.value, self.fee_bps)).sum()
    }
}
