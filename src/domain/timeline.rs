//! Timeline of an invoice: its events in order, and the sums that explain each status.
//!
//! Invariant: an entry with a status has the sums from which this status was computed.

mod depth;
mod reason;

use super::asset::Asset;
use super::confirmations::OnChain;
use super::invoice::Invoice;
use super::ledger::{LedgerEntry, LedgerKind};
use super::money::Cents;
use super::money::coin::Units;
use super::payment::{Payment, PaymentState};
use super::quote::Quote;
use super::rate::RateQuote;
use super::status::{InvoiceStatus, PaymentFacts};
use super::text_enum::text_enum;
use super::time::Time;
use super::transfer::{Transfer, TransferStatus};
pub use reason::Sums;
use reason::{payment_text, rate_source_text, status_reason, transfer_text};
use std::collections::HashMap;

text_enum! {
    /// Kind of a timeline entry.
    pub enum TimelineEntryKind {
        /// The invoice was created.
        Created = "created",
        /// A coin was selected.
        CoinPicked = "coin_picked",
        /// A payment was seen, confirmed, dropped or orphaned.
        Payment = "payment",
        /// The status of the invoice changed.
        Status = "status",
        /// The deadline of the invoice passed.
        Deadline = "deadline",
        /// A ledger entry was booked.
        Booking = "booking",
        /// A refund changed its status.
        Refund = "refund",
    }
}

text_enum! {
    /// Change of a payment's state.
    pub enum PaymentStep {
        /// Seen on the chain, for the first time or again after it was dropped.
        Seen = "seen",
        /// Final by the confirmation rule of the coin.
        Confirmed = "confirmed",
        /// No longer in the mempool or on the chain.
        Dropped = "dropped",
        /// Seen again, after a reorg removed its block.
        Orphaned = "orphaned",
    }
}

/// A stored change of an invoice, with its time.
#[derive(Clone, Copy, Debug)]
pub struct InvoiceStep {
    /// Time of the change.
    pub at: Time,
    /// The change.
    pub change: InvoiceChange,
}

/// Content of a stored change of an invoice.
#[derive(Clone, Copy, Debug)]
pub enum InvoiceChange {
    /// A coin was selected. The number is the `seq` of the selected quote.
    Picked(i64),
    /// The payment with this `seq` entered this state.
    Payment(i64, PaymentState),
    /// The invoice entered this status.
    Status(InvoiceStatus),
}

/// All stored data from which the timeline of an invoice is built.
pub struct InvoiceHistory<'a> {
    /// The invoice.
    pub invoice: &'a Invoice,
    /// Quotes of the invoice.
    pub quotes: &'a [Quote],
    /// Payments, oldest first.
    pub payments: &'a [Payment],
    /// Confirmations of each payment on its chain, in the order of `payments`.
    pub on_chain: &'a [OnChain],
    /// Changes, oldest first.
    pub steps: &'a [InvoiceStep],
    /// Ledger entries of the invoice's payments, oldest first, each with the `seq` of its payment.
    pub booked: &'a [(i64, LedgerEntry)],
    /// Refunds of the invoice.
    pub refunds: &'a [Transfer],
}

/// An entry of the timeline.
#[derive(Clone, Debug)]
pub struct TimelineEntry {
    /// Time of the entry.
    pub at: Time,
    /// Kind of the entry.
    pub kind: TimelineEntryKind,
    /// Sentence that describes the entry.
    pub text: String,
    /// New status, if the entry is a change of status.
    pub status: Option<InvoiceStatus>,
    /// Sums that explain the new status.
    pub sums: Option<Sums>,
    /// Coin that was selected.
    pub coin: Option<SelectedCoin>,
    /// Payment that changed.
    pub payment: Option<TimelinePayment>,
    /// Ledger entry that was booked.
    pub booking: Option<TimelineBooking>,
    /// Id of the refund and its new status.
    pub refund: Option<(String, TransferStatus)>,
}

/// A coin that was selected for an invoice.
#[derive(Clone, Debug)]
pub struct SelectedCoin {
    /// The coin.
    pub asset: &'static Asset,
    /// Rate of the coin and its source.
    pub quoted: RateQuote,
    /// Amount that the customer is asked to pay.
    pub amount_expected: Units,
    /// Address that the customer pays to.
    pub address: String,
}

/// A payment and its change.
#[derive(Clone, Debug)]
pub struct TimelinePayment {
    /// Id of the payment.
    pub id: String,
    /// Change of the payment.
    pub step: PaymentStep,
    /// Coin of the payment.
    pub asset: &'static Asset,
    /// Amount that was sent.
    pub amount: Units,
    /// Rate at which the payment was valued, and its source.
    pub quoted: RateQuote,
    /// Value in the currency of the invoice.
    pub value: Cents,
    /// `true` if the payment was seen before the deadline.
    pub on_time: bool,
    /// Transaction id.
    pub txid: String,
    /// Confirmations of the payment. The number is set only at the payment's last entry.
    pub on_chain: OnChain,
}

/// A ledger entry that belongs to the invoice.
#[derive(Clone, Debug)]
pub struct TimelineBooking {
    /// Id of the ledger entry.
    pub id: String,
    /// Kind of the ledger entry.
    pub kind: LedgerKind,
    /// Amount; negative if money leaves the balance.
    pub amount: Cents,
}

impl TimelineEntry {
    fn with_text(at: Time, kind: TimelineEntryKind, text: String) -> TimelineEntry {
        TimelineEntry {
            at,
            kind,
            text,
            status: None,
            sums: None,
            coin: None,
            payment: None,
            booking: None,
            refund: None,
        }
    }
}

/// A payment during the replay of the invoice's changes. It has its state so far, and its ledger entries that the
/// timeline does not have yet.
struct ReplayedPayment<'a> {
    payment: &'a Payment,
    /// Time at which the payment was priced: the creation of its quote if the payment was on time, otherwise the
    /// first change of the payment.
    priced_at: Option<Time>,
    /// State so far; `None` before the first change of the payment.
    judged: Option<PaymentFacts>,
    bookings: Vec<&'a LedgerEntry>,
    /// Number of ledger entries of each confirmation or reversal: 1 for the sale, and 1 for the fee if there is one.
    bookings_per_step: usize,
}

impl ReplayedPayment<'_> {
    fn enter_state(&mut self, state: PaymentState) -> PaymentStep {
        let before = self.judged.map(|judged| judged.state);
        let was_confirmed = self.judged.is_some_and(|judged| judged.was_confirmed);
        self.judged = Some(PaymentFacts {
            state,
            was_confirmed: was_confirmed || state == PaymentState::Confirmed,
            ..PaymentFacts::from(self.payment)
        });
        match (before, state) {
            (Some(PaymentState::Confirmed), PaymentState::Seen) => PaymentStep::Orphaned,
            (_, PaymentState::Seen) => PaymentStep::Seen,
            (_, PaymentState::Confirmed) => PaymentStep::Confirmed,
            (_, PaymentState::Dropped) => PaymentStep::Dropped,
        }
    }

    /// Takes the ledger entries of the next confirmation or reversal.
    fn take_bookings(&mut self) -> impl Iterator<Item = TimelineEntry> {
        let count = self.bookings_per_step.min(self.bookings.len());
        self.bookings.drain(..count).map(booking_entry)
    }
}

/// Returns the timeline of an invoice until `now`, oldest entry first.
pub fn timeline(history: &InvoiceHistory<'_>, now: Time) -> Vec<TimelineEntry> {
    let invoice = history.invoice;
    let mut payments = payments_before_replay(history);
    let created = format!(
        "created: {} {} due until {}",
        invoice.amount, invoice.currency, invoice.expires_at
    );
    let mut entries = vec![TimelineEntry {
        status: Some(InvoiceStatus::Created),
        ..TimelineEntry::with_text(invoice.created_at, TimelineEntryKind::Created, created)
    }];
    for step in history.steps {
        match step.change {
            InvoiceChange::Picked(quote) => entries.extend(coin_entry(history, step.at, quote)),
            InvoiceChange::Payment(seq, state) => {
                let index = payments.binary_search_by_key(&seq, |one| one.payment.seq);
                let found = index.ok().and_then(|index| payments.get_mut(index));
                let Some(replayed) = found else {
                    continue;
                };
                let before = replayed.judged.map(|judged| judged.state);
                let change = replayed.enter_state(state);
                let priced_at = *replayed.priced_at.get_or_insert(step.at);
                let payment = replayed.payment;
                entries.push(payment_entry(invoice, step.at, payment, priced_at, change));
                if [before, Some(state)].contains(&Some(PaymentState::Confirmed)) {
                    entries.extend(replayed.take_bookings());
                }
            }
            InvoiceChange::Status(status) => {
                entries.push(status_entry(invoice, step.at, status, &payments))
            }
        }
    }
    let deadline = invoice.expires_at;
    if deadline <= now {
        let text = "the payment deadline has passed; later payments are late".to_owned();
        let place = entries.iter().position(|entry| entry.at >= deadline);
        let entry = TimelineEntry::with_text(deadline, TimelineEntryKind::Deadline, text);
        entries.insert(place.unwrap_or(entries.len()), entry);
    }
    for refund in history.refunds.iter().flat_map(refund_entries) {
        let place = entries.iter().rposition(|entry| entry.at <= refund.at);
        entries.insert(place.map_or(0, |place| place.saturating_add(1)), refund);
    }
    depth::add_confirmations(&mut entries, history);
    entries
}

/// Returns the payments of the invoice as they are before the replay, with their ledger entries.
fn payments_before_replay<'a>(history: &InvoiceHistory<'a>) -> Vec<ReplayedPayment<'a>> {
    let quoted_at = |payment: &Payment| {
        let mut quotes = history.quotes.iter();
        let quote = quotes.find(|quote| quote.seq == payment.quote)?;
        payment.on_time.then_some(quote.created_at)
    };
    let mut by_payment: HashMap<i64, Vec<&LedgerEntry>> = HashMap::new();
    for (payment, booked) in history.booked {
        by_payment.entry(*payment).or_default().push(booked);
    }
    let unreplayed = |payment: &'a Payment| {
        let bookings = by_payment.remove(&payment.seq).unwrap_or_default();
        let first =
            bookings.iter().filter(|one| matches!(one.kind, LedgerKind::Sale | LedgerKind::Fee));
        ReplayedPayment {
            payment,
            priced_at: quoted_at(payment),
            judged: None,
            bookings_per_step: first.count(),
            bookings,
        }
    };
    history.payments.iter().map(unreplayed).collect()
}

fn coin_entry(history: &InvoiceHistory<'_>, at: Time, quote: i64) -> Option<TimelineEntry> {
    let quote = history.quotes.iter().find(|known| known.seq == quote)?;
    let text = format!(
        "{} picked: {} at {} {} each{}, to {}",
        quote.asset.id,
        quote.asset.format_units(quote.amount_expected),
        quote.quoted.rate,
        history.invoice.currency,
        rate_source_text(&quote.quoted, quote.created_at),
        quote.address
    );
    Some(TimelineEntry {
        coin: Some(SelectedCoin {
            asset: quote.asset,
            quoted: quote.quoted.clone(),
            amount_expected: quote.amount_expected,
            address: quote.address.clone(),
        }),
        ..TimelineEntry::with_text(at, TimelineEntryKind::CoinPicked, text)
    })
}

fn payment_entry(
    invoice: &Invoice,
    at: Time,
    payment: &Payment,
    priced_at: Time,
    step: PaymentStep,
) -> TimelineEntry {
    let paid = TimelinePayment {
        id: payment.id.clone(),
        step,
        asset: payment.asset,
        amount: payment.amount,
        quoted: payment.quoted.clone(),
        value: payment.value,
        on_time: payment.on_time,
        txid: payment.txid.clone(),
        on_chain: OnChain::default(),
    };
    let text = payment_text(&paid, invoice.currency, priced_at);
    TimelineEntry {
        payment: Some(paid),
        ..TimelineEntry::with_text(at, TimelineEntryKind::Payment, text)
    }
}

fn booking_entry(booked: &LedgerEntry) -> TimelineEntry {
    let why = booked.memo.as_ref().map(|memo| format!(": {memo}"));
    let text = format!(
        "booked {} {} as {}{}",
        booked.amount,
        booked.currency,
        booked.kind,
        why.unwrap_or_default()
    );
    TimelineEntry {
        booking: Some(TimelineBooking {
            id: booked.id.clone(),
            kind: booked.kind,
            amount: booked.amount,
        }),
        ..TimelineEntry::with_text(booked.created_at, TimelineEntryKind::Booking, text)
    }
}

fn status_entry(
    invoice: &Invoice,
    at: Time,
    status: InvoiceStatus,
    payments: &[ReplayedPayment<'_>],
) -> TimelineEntry {
    let judged: Vec<PaymentFacts> = payments.iter().filter_map(|one| one.judged).collect();
    let sums = Sums::new(&invoice.terms(), &judged);
    let text = status_reason(status, invoice, &sums, &judged);
    TimelineEntry {
        status: Some(status),
        sums: Some(sums),
        ..TimelineEntry::with_text(at, TimelineEntryKind::Status, text)
    }
}

/// Returns the timeline entries of a refund: its request, and its approval and end if they have happened.
fn refund_entries(refund: &Transfer) -> Vec<TimelineEntry> {
    let requested = Some((refund.requested_at, TransferStatus::Requested));
    let approved = refund.approved_at.map(|at| (at, TransferStatus::Approved));
    let ended = refund.finalized_at.map(|at| (at, refund.status));
    let entry = |(at, status): (Time, TransferStatus)| TimelineEntry {
        refund: Some((refund.id.clone(), status)),
        ..TimelineEntry::with_text(at, TimelineEntryKind::Refund, transfer_text(refund, status))
    };
    let steps = [requested, approved, ended].into_iter();
    steps.flatten().map(entry).collect()
}

#[cfg(test)]
mod tests;
