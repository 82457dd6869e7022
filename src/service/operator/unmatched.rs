//! Payments that matched nothing: listing them with what they are worth and whom they may be for, and noting what came of
//! one.
//!
//! What does not live here: recording them, giving them to somebody and undoing that (`intake`).

use crate::domain::money::{Cents, Currency};
use crate::domain::payment::PaymentState;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::render::unmatched::{Around, Candidate, unmatched as rendered};
use crate::domain::text_enum::text_enum;
use crate::domain::time::Time;
use crate::domain::unmatched::{Resolution, ResolveUnmatchedPayment, Unmatched, UnmatchedReason};
use crate::service::audit_log::{self, Entry};
use crate::service::events::{Page, unknown_before};
use crate::service::{Error, Json, Service};
use crate::store::addresses::{Owner, owner};
use crate::store::{
    PageBounds, Reader, Tx, accounts, customers, deposits, invoices, payments, unmatched_payments,
};
use serde_json::json;

text_enum! {
    /// Which of them are asked for.
    pub enum Looked {
        /// Those nobody has looked at.
        Open = "open",
        /// All.
        All = "all",
    }
}

/// A query for a page of them.
#[derive(Clone, Debug)]
pub struct UnmatchedQuery {
    /// Only open ones, or all.
    pub looked: Looked,
    /// Only older than the one with this id.
    pub before: Option<String>,
    /// How many at most.
    pub limit: u32,
}

impl Service {
    /// A page of payments that matched nothing, newest first; of every account, and of none.
    ///
    /// # Errors
    /// `invalid_request` where `before` names none of them.
    pub fn unmatched_payments(&self, now: Time, wanted: &UnmatchedQuery) -> Result<Page, Error> {
        self.read_at_one_moment(|db| {
            let before = match &wanted.before {
                None => None,
                Some(id) => {
                    let found = unmatched_payments::by_id(db, id)?;
                    Some(found.ok_or_else(unknown_before)?.seq)
                }
            };
            let only_open = wanted.looked == Looked::Open;
            let page = PageBounds::with_one_more(before, wanted.limit);
            let found = unmatched_payments::page(db, only_open, page)?;
            let shown = found
                .iter()
                .map(|payment| Ok((payment.id.clone(), self.unmatched_shown(db, now, payment)?)));
            Ok(Page::cut(
                shown.collect::<Result<_, Error>>()?,
                wanted.limit,
            ))
        })
    }

    /// Notes what came of a payment. A second note takes the place of the first.
    ///
    /// # Errors
    /// `not_found`; `invalid_transition` where something else has come of it already.
    pub fn resolve_unmatched(
        &self,
        tx: &Tx<'_>,
        now: Time,
        actor: &str,
        id: &str,
        (outcome, body): (Resolution, &ResolveUnmatchedPayment),
    ) -> Result<Json, Error> {
        let gone = || Refusal::not_found("unmatched payment");
        let payment = unmatched_payments::by_id(tx, id)?.ok_or_else(gone)?;
        if let Some(other) = payment.outcome.filter(|other| *other != outcome) {
            let message = format!("it has been {other}: undo that first");
            return Err(Refusal::new(Code::InvalidTransition, message).into());
        }
        let (chain, note) = (payment.asset.chain, body.note.as_deref());
        let return_txid = body.return_txid.as_deref();
        let return_txid = return_txid.map(|text| chain.canonical_txid(text));
        unmatched_payments::resolve(tx, payment.seq, outcome, note, return_txid.as_deref(), now)?;
        let detail = json!({ "outcome": outcome, "note": note, "returnTxid": return_txid });
        let noted = Entry {
            action: "unmatched_payment.resolve",
            account: None,
            object: Some(id),
            detail: &detail,
        };
        audit_log::record(tx, now, actor, &noted)?;
        let payment = unmatched_payments::by_id(tx, id)?.ok_or_else(gone)?;
        self.unmatched_shown(tx, now, &payment)
    }

    /// A payment that matched nothing, with all that follows from it just now.
    pub(in crate::service) fn unmatched_shown(
        &self,
        db: &Reader<'_>,
        now: Time,
        payment: &Unmatched,
    ) -> Result<Json, Error> {
        let (chain, txid) = (payment.asset.chain, &payment.txid);
        let mut around = Around {
            explorer_url: self.explorer_url(db, payment.mode, chain, txid)?,
            worth: [None, None],
            candidate: candidate(db, payment)?,
            payment: None,
            deposit: None,
            can_be_undone: payment.outcome.is_some(),
        };
        for (worth, currency) in around.worth.iter_mut().zip([Currency::Eur, Currency::Usd]) {
            *worth = self.worth_now(db, now, payment, currency)?;
        }
        if payment.outcome == Some(Resolution::Assigned) {
            let became = payments::of_observation(db, payment.observation)?;
            let deposit = deposits::of_observation(db, payment.observation)?;
            let is_booked = became.as_ref().is_some_and(|became| became.was_confirmed)
                || deposit
                    .as_ref()
                    .is_some_and(|deposit| deposit.was_confirmed);
            around.payment = became.map(|became| became.id);
            around.deposit = deposit.map(|deposit| deposit.id);
            around.can_be_undone = !is_booked;
        }
        Ok(rendered(payment, &around)?)
    }

    /// What it is worth at the rate of now; nothing where there is no fresh one, or it is worth more than can be counted.
    fn worth_now(
        &self,
        db: &Reader<'_>,
        now: Time,
        payment: &Unmatched,
        currency: Currency,
    ) -> Result<Option<Cents>, Error> {
        let rate = self.rate(db, payment.mode, payment.asset, currency, now)?;
        let worth = rate.ok().map(|quoted| {
            quoted
                .rate
                .value(payment.amount, payment.asset.decimals)
                .ok()
        });
        Ok(worth.flatten())
    }
}

/// Whom it can be given to at one press: whose address it came to, where that can be booked. On another chain than the one
/// that was asked for, the same key has the same address.
fn candidate(db: &Reader<'_>, payment: &Unmatched) -> Result<Option<Candidate>, Error> {
    let is_open = payment.outcome.is_none() && payment.state != PaymentState::Dropped;
    let can_be_booked = match payment.reason {
        UnmatchedReason::Dust | UnmatchedReason::TooLarge => false,
        UnmatchedReason::UnknownAddress
        | UnmatchedReason::UnquotedCoin
        | UnmatchedReason::NoRate
        | UnmatchedReason::Coinbase
        | UnmatchedReason::Unwatched => true,
    };
    if !is_open || !can_be_booked {
        return Ok(None);
    }
    let chain = payment.asset.chain;
    Ok(match owner(db, payment.mode, chain, &payment.address)? {
        Some(Owner::Invoice(seq)) => Some(Candidate::Invoice {
            invoice: invoices::by_seq(db, seq)?.id,
        }),
        Some(Owner::Customer(seq)) if chain.row().customer_family.is_some() => {
            let customer = customers::by_seq(db, seq)?;
            Some(Candidate::Customer {
                account: accounts::by_seq(db, customer.account)?.id,
                customer: customer.reference,
            })
        }
        Some(Owner::Customer(_)) | None => None,
    })
}
