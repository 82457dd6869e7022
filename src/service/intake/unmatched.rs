//! Unmatched payments in the operator interface: lists them with their value and a likely recipient, and records
//! their outcome.
//!
//! `observations` stores them, `assign` assigns them, and `undo` reopens them.

use crate::domain::text_enum::text_enum;
use crate::domain::unmatched::ResolveUnmatchedPayment;
use crate::domain::{
    Cents, Currency, PaymentState, Refusal, RefusalCode, Time, UnmatchedPayment, UnmatchedReason,
    UnmatchedResolution,
};
use crate::render::unmatched::{
    AssignmentCandidate, UnmatchedContext, unmatched_payment as rendered,
};
use crate::service::page::{self, Page};
use crate::service::{Error, Json, Service, Step, audit_log};
use crate::store::addresses::{AddressOwner, find_owner};
use crate::store::{
    PageBounds, Reader, accounts, customers, deposits, invoices, payments, unmatched_payments,
};
use serde_json::json;

text_enum! {
    /// Filter of unmatched payments.
    pub enum UnmatchedFilter {
        /// Only payments without an outcome.
        Open = "open",
        /// All payments.
        All = "all",
    }
}

/// Query for a page of unmatched payments.
#[derive(Clone, Debug)]
pub struct UnmatchedQuery {
    /// Filter by outcome.
    pub outcome_filter: UnmatchedFilter,
    /// Only payments older than the one with this ID.
    pub before: Option<String>,
    /// Largest number of payments.
    pub limit: u32,
}

impl Service {
    /// Returns a page of unmatched payments, newest first. Payments that belong to no account are included.
    ///
    /// # Errors
    ///
    /// `invalid_request` if `before` is unknown.
    pub fn unmatched_payments(&self, now: Time, wanted: &UnmatchedQuery) -> Result<Page, Error> {
        self.read_snapshot(|db| {
            let find = |id: &str| unmatched_payments::by_id(db, id);
            let before = page::find_page_start(wanted.before.as_deref(), find)?;
            let only_open = wanted.outcome_filter == UnmatchedFilter::Open;
            let page = PageBounds::with_one_more_row(before.map(|found| found.seq), wanted.limit);
            let found = unmatched_payments::page(db, only_open, page)?;
            let shown = found
                .iter()
                .map(|payment| Ok((payment.id.clone(), self.unmatched_payment(db, now, payment)?)));
            Page::from_entries(shown, wanted.limit)
        })
    }

    /// Returns an unmatched payment with its current value, likely recipient and possible actions.
    pub(in crate::service) fn unmatched_payment(
        &self,
        db: &Reader<'_>,
        now: Time,
        payment: &UnmatchedPayment,
    ) -> Result<Json, Error> {
        let (chain, txid) = (payment.asset.chain, &payment.txid);
        let mut around = UnmatchedContext {
            explorer_url: self.explorer_url(db, payment.mode, chain, txid)?,
            worth: [None, None],
            candidate: likely_recipient(db, payment)?,
            payment: None,
            deposit: None,
            can_be_undone: payment.outcome.is_some(),
        };
        for (worth, currency) in around.worth.iter_mut().zip([Currency::Eur, Currency::Usd]) {
            *worth = self.current_value(db, now, payment, currency)?;
        }
        if payment.outcome == Some(UnmatchedResolution::Assigned) {
            let became = payments::of_observation(db, payment.observation)?;
            let deposit = deposits::of_observation(db, payment.observation)?;
            let is_booked = became.as_ref().is_some_and(|became| became.was_confirmed)
                || deposit.as_ref().is_some_and(|deposit| deposit.was_confirmed);
            around.payment = became.map(|became| became.id);
            around.deposit = deposit.map(|deposit| deposit.id);
            around.can_be_undone = !is_booked;
        }
        Ok(rendered(payment, &around)?)
    }

    /// Returns the value at the current rate, or `None` if there is no fresh rate or the value is too large.
    fn current_value(
        &self,
        db: &Reader<'_>,
        now: Time,
        payment: &UnmatchedPayment,
        currency: Currency,
    ) -> Result<Option<Cents>, Error> {
        let rate = self.fresh_rate(db, payment.mode, payment.asset, currency, now)?;
        let worth =
            rate.ok().map(|quoted| quoted.rate.value(payment.amount, payment.asset.decimals).ok());
        Ok(worth.flatten())
    }
}

/// Records the outcome of a payment. Can be repeated with the same outcome, to change the note.
///
/// # Errors
///
/// `not_found`. `invalid_transition` if the payment has another outcome.
pub fn resolve_unmatched_payment(
    step: &Step<'_>,
    actor: &str,
    id: &str,
    outcome: UnmatchedResolution,
    body: &ResolveUnmatchedPayment,
) -> Result<Json, Error> {
    let Step { service, tx, now } = *step;
    let gone = || Refusal::not_found("unmatched payment");
    let payment = unmatched_payments::by_id(tx, id)?.ok_or_else(gone)?;
    if let Some(other) = payment.outcome.filter(|other| *other != outcome) {
        let message = format!("it has been {other}: undo that first");
        return Err(Refusal::new(RefusalCode::InvalidTransition, message).into());
    }
    let (chain, note) = (payment.asset.chain, body.note.as_deref());
    let return_txid = body.return_txid.as_deref();
    let return_txid = return_txid.map(|text| chain.canonical_txid(text));
    unmatched_payments::resolve(tx, payment.seq, outcome, note, return_txid.as_deref(), now)?;
    let detail = json!({ "outcome": outcome, "note": note, "returnTxid": return_txid });
    audit_log::record(tx, now, actor, "unmatched_payment.resolve", None, Some(id), &detail)?;
    let payment = unmatched_payments::by_id(tx, id)?.ok_or_else(gone)?;
    service.unmatched_payment(tx, now, &payment)
}

/// Returns the owner of the address as a likely recipient, if the payment can be booked.
///
/// The same key has the same address on several chains. The payment may therefore be on another chain than the quote.
fn likely_recipient(
    db: &Reader<'_>,
    payment: &UnmatchedPayment,
) -> Result<Option<AssignmentCandidate>, Error> {
    let is_open = payment.outcome.is_none() && payment.state != PaymentState::Dropped;
    let can_be_booked = match payment.reason {
        UnmatchedReason::Dust | UnmatchedReason::TooLarge => false,
        UnmatchedReason::UnknownAddress
        | UnmatchedReason::UnquotedCoin
        | UnmatchedReason::NoRate
        | UnmatchedReason::Coinbase => true,
    };
    if !is_open || !can_be_booked {
        return Ok(None);
    }
    let chain = payment.asset.chain;
    Ok(match find_owner(db, payment.mode, chain, &payment.address)? {
        Some(AddressOwner::Invoice(seq)) => {
            Some(AssignmentCandidate::Invoice { invoice: invoices::by_seq(db, seq)?.id })
        }
        Some(AddressOwner::Customer(seq)) if chain.row().customer_family.is_some() => {
            let customer = customers::by_seq(db, seq)?;
            Some(AssignmentCandidate::Customer {
                account: accounts::by_seq(db, customer.account)?.id,
                customer: customer.reference,
            })
        }
        Some(AddressOwner::Customer(_)) | None => None,
    })
}
