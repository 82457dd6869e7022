//! The timeline of an invoice: what happened to it, in order, and why its status is what it is, in numbers.
//!
//! What lives here: replaying what is stored. What does not: the words and sums for a status (`reason`). What
//! always holds: the numbers beside a status are those of the moment at which it was computed.

mod depth;
mod reason;

use super::asset::Asset;
use super::confirmations::OnChain;
use super::invoice::Invoice;
use super::ledger::Entry as Booked;
use super::ledger::LedgerKind;
use super::money::Cents;
use super::money::coin::Units;
use super::payment::{Payment, PaymentState};
use super::quote::Quote;
use super::rate::Quoted;
use super::status::{InvoiceStatus, Judged};
use super::text_enum::text_enum;
use super::time::Time;
use super::transfer::{Transfer, TransferStatus};
pub use reason::Sums;
use reason::{payment_text, told_by, transfer_text, why};
use std::collections::HashMap;

text_enum! {
    /// What an entry of the timeline tells of.
    pub enum EntryKind {
        /// The invoice was made.
        Created = "created",
        /// A coin was picked.
        CoinPicked = "coin_picked",
        /// A payment was seen, confirmed, dropped or orphaned.
        Payment = "payment",
        /// The status changed.
        Status = "status",
        /// The time to pay was over.
        Deadline = "deadline",
        /// The ledger was moved.
        Booking = "booking",
        /// A refund went a step.
        Refund = "refund",
    }
}

text_enum! {
    /// What happened to a payment.
    pub enum PaymentStep {
        /// It was seen, or seen again after it had gone.
        Seen = "seen",
        /// It is final.
        Confirmed = "confirmed",
        /// It is gone.
        Dropped = "dropped",
        /// Its block is gone; it is seen still.
        Orphaned = "orphaned",
    }
}

/// One step as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// When.
    pub at: Time,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// This quote was picked.
    Picked(i64),
    /// This payment came into this state.
    Payment(i64, PaymentState),
    /// The status changed to this one.
    Status(InvoiceStatus),
}

/// All that is stored of an invoice's life.
pub struct History<'a> {
    /// The invoice.
    pub invoice: &'a Invoice,
    /// Its quotes.
    pub quotes: &'a [Quote],
    /// Its payments, oldest first.
    pub payments: &'a [Payment],
    /// How each of them stands on its chain, in the same order.
    pub on_chain: &'a [OnChain],
    /// Its steps, oldest first.
    pub steps: &'a [Step],
    /// What its payments booked, oldest first, each with its payment.
    pub booked: &'a [(i64, Booked)],
    /// Its refunds.
    pub refunds: &'a [Transfer],
}

/// An entry of the timeline.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When.
    pub at: Time,
    /// What it tells of.
    pub kind: EntryKind,
    /// The same in words.
    pub text: String,
    /// The status from here on, where this is a change of it.
    pub status: Option<InvoiceStatus>,
    /// What the status follows from.
    pub sums: Option<Sums>,
    /// The coin that was picked.
    pub coin: Option<Picked>,
    /// The payment that something happened to.
    pub payment: Option<Paid>,
    /// What was booked.
    pub booking: Option<Booking>,
    /// Which refund, and where it stands.
    pub refund: Option<(String, TransferStatus)>,
}

/// A coin that was picked.
#[derive(Clone, Debug)]
pub struct Picked {
    /// Which coin.
    pub asset: &'static Asset,
    /// Its rate, and where that came from.
    pub quoted: Quoted,
    /// What the customer is asked to pay.
    pub amount_expected: Units,
    /// Where to.
    pub address: String,
}

/// A payment, and what happened to it.
#[derive(Clone, Debug)]
pub struct Paid {
    /// Its id.
    pub id: String,
    /// What happened.
    pub step: PaymentStep,
    /// The coin it came in.
    pub asset: &'static Asset,
    /// What was sent.
    pub amount: Units,
    /// The rate it was judged at, and where that came from.
    pub quoted: Quoted,
    /// What it is worth.
    pub value: Cents,
    /// Seen before the deadline?
    pub on_time: bool,
    /// The transaction.
    pub txid: String,
    /// How it stands on its chain: how deep it is, at its last step only.
    pub on_chain: OnChain,
}

/// An entry of the ledger.
#[derive(Clone, Debug)]
pub struct Booking {
    /// Its id.
    pub id: String,
    /// What it is for.
    pub kind: LedgerKind,
    /// Signed.
    pub amount: Cents,
}

impl Entry {
    /// An entry of words only.
    fn of(at: Time, kind: EntryKind, text: String) -> Entry {
        Entry {
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

/// A payment while it is replayed: where it stood, and what of it was not told yet.
struct Replayed<'a> {
    payment: &'a Payment,
    /// When it was priced: when its quote was made, where it came in time; else by its first step.
    priced_at: Option<Time>,
    /// Nothing before its first step.
    judged: Option<Judged>,
    booked: Vec<&'a Booked>,
}

impl Replayed<'_> {
    /// Comes into a state; what happened by that.
    fn enter(&mut self, state: PaymentState) -> PaymentStep {
        let before = self.judged.map(|judged| judged.state);
        let was_confirmed = self.judged.is_some_and(|judged| judged.was_confirmed);
        self.judged = Some(Judged {
            state,
            was_confirmed: was_confirmed || state == PaymentState::Confirmed,
            ..Judged::from(self.payment)
        });
        match (before, state) {
            (Some(PaymentState::Confirmed), PaymentState::Seen) => PaymentStep::Orphaned,
            (_, PaymentState::Seen) => PaymentStep::Seen,
            (_, PaymentState::Confirmed) => PaymentStep::Confirmed,
            (_, PaymentState::Dropped) => PaymentStep::Dropped,
        }
    }

    /// What a step into or out of `confirmed` booked: as many entries each time as the first time.
    fn booked_now(&mut self, at_once: usize) -> Vec<Entry> {
        let count = at_once.min(self.booked.len());
        self.booked.drain(..count).map(booking).collect()
    }

    /// How many entries one step of it books: its sale and its fee, where there is one.
    fn at_once(&self) -> usize {
        let first = |booked: &&&Booked| matches!(booked.kind, LedgerKind::Sale | LedgerKind::Fee);
        self.booked.iter().filter(first).count()
    }
}

/// What happened to an invoice until now, oldest first.
pub fn timeline(history: &History<'_>, now: Time) -> Vec<Entry> {
    let invoice = history.invoice;
    let mut payments = replayed(history);
    let shares: Vec<usize> = payments.iter().map(Replayed::at_once).collect();
    let created = format!(
        "created: {} {} due until {}",
        invoice.amount, invoice.currency, invoice.expires_at
    );
    let mut entries = vec![Entry {
        status: Some(InvoiceStatus::Created),
        ..Entry::of(invoice.created_at, EntryKind::Created, created)
    }];
    for step in history.steps {
        match step.what {
            What::Picked(quote) => entries.extend(picked(history, step.at, quote)),
            What::Payment(seq, state) => {
                let place = payments.binary_search_by_key(&seq, |one| one.payment.seq);
                let place = place.unwrap_or(payments.len());
                let (Some(replayed), Some(share)) = (payments.get_mut(place), shares.get(place))
                else {
                    continue;
                };
                let before = replayed.judged.map(|judged| judged.state);
                let what = replayed.enter(state);
                let priced_at = *replayed.priced_at.get_or_insert(step.at);
                entries.push(paid(invoice, step.at, (replayed.payment, priced_at), what));
                if [before, Some(state)].contains(&Some(PaymentState::Confirmed)) {
                    entries.extend(replayed.booked_now(*share));
                }
            }
            What::Status(status) => entries.push(changed(invoice, step.at, status, &payments)),
        }
    }
    let deadline = invoice.expires_at;
    if deadline <= now {
        let text = "the time to pay is over; what is seen from now on is late".to_owned();
        let place = entries.iter().position(|entry| entry.at >= deadline);
        let entry = Entry::of(deadline, EntryKind::Deadline, text);
        entries.insert(place.unwrap_or(entries.len()), entry);
    }
    for refund in history.refunds.iter().flat_map(refund_steps) {
        let place = entries.iter().rposition(|entry| entry.at <= refund.at);
        entries.insert(place.map_or(0, |place| place.saturating_add(1)), refund);
    }
    depth::tell(&mut entries, history);
    entries
}

/// Every payment before its first step, with what it booked.
fn replayed<'a>(history: &History<'a>) -> Vec<Replayed<'a>> {
    let quoted_at = |payment: &Payment| {
        let mut quotes = history.quotes.iter();
        let quote = quotes.find(|quote| quote.seq == payment.quote)?;
        payment.on_time.then_some(quote.created_at)
    };
    let mut of_payments: HashMap<i64, Vec<&Booked>> = HashMap::new();
    for (of, booked) in history.booked {
        of_payments.entry(*of).or_default().push(booked);
    }
    let of = |payment: &'a Payment| Replayed {
        payment,
        priced_at: quoted_at(payment),
        judged: None,
        booked: of_payments.remove(&payment.seq).unwrap_or_default(),
    };
    history.payments.iter().map(of).collect()
}

/// A coin was picked.
fn picked(history: &History<'_>, at: Time, quote: i64) -> Option<Entry> {
    let quote = history.quotes.iter().find(|known| known.seq == quote)?;
    let text = format!(
        "{} picked: {} at {} {} each{}, to {}",
        quote.asset.id,
        quote.asset.text(quote.amount_expected),
        quote.quoted.rate,
        history.invoice.currency,
        told_by(&quote.quoted, quote.created_at),
        quote.address
    );
    Some(Entry {
        coin: Some(Picked {
            asset: quote.asset,
            quoted: quote.quoted.clone(),
            amount_expected: quote.amount_expected,
            address: quote.address.clone(),
        }),
        ..Entry::of(at, EntryKind::CoinPicked, text)
    })
}

/// Something happened to a payment.
fn paid(
    invoice: &Invoice,
    at: Time,
    (payment, priced_at): (&Payment, Time),
    step: PaymentStep,
) -> Entry {
    let paid = Paid {
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
    Entry {
        payment: Some(paid),
        ..Entry::of(at, EntryKind::Payment, text)
    }
}

/// The ledger was moved.
fn booking(booked: &Booked) -> Entry {
    let why = booked.memo.as_ref().map(|memo| format!(": {memo}"));
    let text = format!(
        "booked {} {} as {}{}",
        booked.amount,
        booked.currency,
        booked.kind,
        why.unwrap_or_default()
    );
    Entry {
        booking: Some(Booking {
            id: booked.id.clone(),
            kind: booked.kind,
            amount: booked.amount,
        }),
        ..Entry::of(booked.created_at, EntryKind::Booking, text)
    }
}

/// The status changed.
fn changed(invoice: &Invoice, at: Time, status: InvoiceStatus, payments: &[Replayed<'_>]) -> Entry {
    let judged: Vec<Judged> = payments.iter().filter_map(|one| one.judged).collect();
    let sums = Sums::of(&invoice.terms(), &judged);
    let text = why(status, invoice, &sums, &judged);
    Entry {
        status: Some(status),
        sums: Some(sums),
        ..Entry::of(at, EntryKind::Status, text)
    }
}

/// The steps of a refund that have a time.
fn refund_steps(refund: &Transfer) -> Vec<Entry> {
    let approved = refund.approved_at.map(|at| (at, TransferStatus::Approved));
    let ended = refund.finalized_at.map(|at| (at, refund.status));
    let steps = [
        Some((refund.requested_at, TransferStatus::Requested)),
        approved,
        ended,
    ];
    let entry = |(at, status): (Time, TransferStatus)| Entry {
        refund: Some((refund.id.clone(), status)),
        ..Entry::of(at, EntryKind::Refund, transfer_text(refund, status))
    };
    steps.into_iter().flatten().map(entry).collect()
}

#[cfg(test)]
mod tests;
