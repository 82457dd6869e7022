//! Timeline of an invoice: everything that happened to it, in order, and the sums behind each status.
//!
//! Invariant: the sums beside a status are those of the moment at which the status was computed.

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
    /// Subject of a timeline entry.
    pub enum EntryKind {
        /// The invoice was created.
        Created = "created",
        /// A coin was selected.
        CoinPicked = "coin_picked",
        /// A payment was seen, confirmed, dropped or orphaned.
        Payment = "payment",
        /// The status changed.
        Status = "status",
        /// The deadline passed.
        Deadline = "deadline",
        /// A ledger entry was booked.
        Booking = "booking",
        /// A refund changed its status.
        Refund = "refund",
    }
}

text_enum! {
    /// Change of a payment.
    pub enum PaymentStep {
        /// Seen on the chain, for the first time or again after it was dropped.
        Seen = "seen",
        /// Final.
        Confirmed = "confirmed",
        /// Gone from its chain.
        Dropped = "dropped",
        /// Seen after its block was reorganized away.
        Orphaned = "orphaned",
    }
}

/// A stored step in the life of an invoice.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Time of the step.
    pub at: Time,
    /// Content of the step.
    pub what: What,
}

/// Content of a stored step.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// A coin was selected: `seq` of the quote.
    Picked(i64),
    /// A payment changed its state: `seq` of the payment, and its new state.
    Payment(i64, PaymentState),
    /// The invoice changed to this status.
    Status(InvoiceStatus),
}

/// Everything that is stored about the life of an invoice.
pub struct History<'a> {
    /// The invoice.
    pub invoice: &'a Invoice,
    /// Quotes of the invoice.
    pub quotes: &'a [Quote],
    /// Payments, oldest first.
    pub payments: &'a [Payment],
    /// Confirmations of each payment on its chain, in the order of `payments`.
    pub on_chain: &'a [OnChain],
    /// Steps, oldest first.
    pub steps: &'a [Step],
    /// Ledger entries of its payments, oldest first, each with the `seq` of its payment.
    pub booked: &'a [(i64, Booked)],
    /// Refunds of the invoice.
    pub refunds: &'a [Transfer],
}

/// An entry of the timeline.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Time of the entry.
    pub at: Time,
    /// Subject of the entry.
    pub kind: EntryKind,
    /// The entry as a sentence.
    pub text: String,
    /// New status, if the entry is a change of status.
    pub status: Option<InvoiceStatus>,
    /// Sums that explain the status.
    pub sums: Option<Sums>,
    /// Coin that was selected.
    pub coin: Option<Picked>,
    /// Payment that changed.
    pub payment: Option<Paid>,
    /// Ledger entry that was booked.
    pub booking: Option<Booking>,
    /// Id of the refund and its new status.
    pub refund: Option<(String, TransferStatus)>,
}

/// A coin that was selected for an invoice.
#[derive(Clone, Debug)]
pub struct Picked {
    /// The coin.
    pub asset: &'static Asset,
    /// Rate of the coin and its source.
    pub quoted: Quoted,
    /// Amount that the customer is asked to pay.
    pub amount_expected: Units,
    /// Address to pay to.
    pub address: String,
}

/// A payment and its change.
#[derive(Clone, Debug)]
pub struct Paid {
    /// Id of the payment.
    pub id: String,
    /// Change of the payment.
    pub step: PaymentStep,
    /// Coin of the payment.
    pub asset: &'static Asset,
    /// Amount that was sent.
    pub amount: Units,
    /// Rate at which the payment was valued, and its source.
    pub quoted: Quoted,
    /// Value in the currency of the invoice.
    pub value: Cents,
    /// `true` if the payment was seen before the deadline.
    pub on_time: bool,
    /// Transaction id.
    pub txid: String,
    /// Confirmations on its chain. Their number is set at the last step of the payment only.
    pub on_chain: OnChain,
}

/// A ledger entry that belongs to the invoice.
#[derive(Clone, Debug)]
pub struct Booking {
    /// Id of the ledger entry.
    pub id: String,
    /// Kind of the ledger entry.
    pub kind: LedgerKind,
    /// Amount with its sign.
    pub amount: Cents,
}

impl Entry {
    /// Returns an entry that has only a text.
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

/// A payment during the replay: its state so far, and its ledger entries that are not in the timeline yet.
struct Replayed<'a> {
    payment: &'a Payment,
    /// Time at which the payment was priced: creation of its quote if it was on time, otherwise its first step.
    priced_at: Option<Time>,
    /// `None` before its first step.
    judged: Option<Judged>,
    booked: Vec<&'a Booked>,
}

impl Replayed<'_> {
    /// Moves the payment to a state and returns the change that this makes.
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

    /// Takes the ledger entries of one step into or out of `confirmed`. Each such step books as many entries as the
    /// first.
    fn booked_now(&mut self, at_once: usize) -> Vec<Entry> {
        let count = at_once.min(self.booked.len());
        self.booked.drain(..count).map(booking).collect()
    }

    /// Returns the number of ledger entries that one step books: the sale, and the fee if there is one.
    fn at_once(&self) -> usize {
        let first = |booked: &&&Booked| matches!(booked.kind, LedgerKind::Sale | LedgerKind::Fee);
        self.booked.iter().filter(first).count()
    }
}

/// Returns everything that happened to an invoice until now, oldest first.
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

/// Returns every payment before its first step, with its ledger entries.
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

/// Returns the entry of a selected coin.
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

/// Returns the entry of a payment's change.
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

/// Returns the entry of a ledger entry.
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

/// Returns the entry of a change of status.
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

/// Returns the entries of a refund: its request, its approval and its end, as far as they have happened.
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
