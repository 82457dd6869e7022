//! Payment links as visitors use them: reads a link, and creates an invoice for its visitor.
//!
//! Invariant: an invoice from a link passes the same checks as any other invoice, and stores the id of the link. The
//! invoice takes no address before its payer selects a coin. A link has a limited number of open invoices, and creates
//! none after its expiry or when its paid uses have reached their limit.

pub mod editing;

use super::events::record_invoice_event;
use super::invoices::{check_may_create, new_invoice};
use super::{Error, Service, Step};
use crate::domain::invoice::draft::CreateInvoice;
use crate::domain::link::OPEN_INVOICES_MAX;
use crate::domain::time::SECOND_MS;
use crate::domain::{
    Account, Cents, EventType, LinkState, LinkUses, PaymentLink, Refusal, RefusalCode, Time, id,
};
use crate::render;
use crate::store::payment_links::{self, StoredPicture};
use crate::store::{Reader, accounts, invoices};
use serde_json::value::RawValue;
use std::sync::Arc;

/// Data of a payment link for its page.
pub struct PublicLink {
    /// Account of the link.
    pub account: Account,
    /// Payment link that the page shows.
    pub link: PaymentLink,
    /// State of the link.
    pub state: LinkState,
    /// URL of the page of the link.
    pub url: String,
    /// `true` if payments are in test coins without value.
    pub is_for_tests: bool,
}

/// Result of a request to create an invoice through a link.
pub enum LinkOutcome {
    /// The invoice was created.
    Created(LinkInvoice),
    /// The link creates no invoices in this state.
    Closed(LinkState),
}

/// An invoice that a link created, with access to its checkout.
pub struct LinkInvoice {
    /// Id of the invoice.
    pub invoice_id: String,
    /// Token that opens the checkout of the invoice.
    pub token: String,
}

impl Service {
    /// Returns the data of a link for its page.
    ///
    /// # Errors
    ///
    /// `not_found` if the link does not exist or is switched off.
    pub fn public_link(&self, now: Time, id: &str) -> Result<PublicLink, Error> {
        self.read_snapshot(|db| {
            let link = find_enabled(db, id)?;
            Ok(PublicLink {
                state: current_state(db, &link, now)?,
                url: self.links.payment_link_url(&link.id),
                is_for_tests: self.has_test_coins(db, link.mode, None)?,
                account: accounts::by_seq(db, link.account)?,
                link,
            })
        })
    }

    /// Returns the account of a link, also if the link is switched off. `None` if there is no such link or the file
    /// cannot be read.
    pub fn account_of_link(&self, id: &str) -> Option<Account> {
        let found = self.read(|db| match find(db, id)? {
            Some(link) => Ok(Some(accounts::by_seq(db, link.account)?)),
            None => Ok(None),
        });
        found.ok().flatten()
    }

    /// Returns the picture of a link, also if the link is switched off.
    ///
    /// # Errors
    ///
    /// `not_found` if the link has no picture with this hash.
    pub fn link_picture(&self, id: &str, hash: &str) -> Result<StoredPicture, Error> {
        let found = match id::parse(id) {
            Some(id) => self.read(|db| Ok(payment_links::picture(db, &id, hash)?))?,
            None => None,
        };
        found.ok_or_else(|| Refusal::not_found("picture").into())
    }

    /// Creates the invoice of a link. `amount` is the payer's choice, used if the link has no price.
    ///
    /// # Errors
    ///
    /// `not_found`. `rate_limited` if the link has too many open invoices. `amount_too_large`. Also the errors of a
    /// new invoice of this account.
    pub async fn create_link_invoice(
        self: &Arc<Self>,
        now: Time,
        id: &str,
        amount: Option<Cents>,
    ) -> Result<LinkOutcome, Error> {
        let id = id.to_owned();
        self.write(now, move |step| {
            let Step { service, tx, .. } = *step;
            let link = find_enabled(tx, &id)?;
            let state = current_state(tx, &link, now)?;
            if state != LinkState::Open {
                return Ok(LinkOutcome::Closed(state));
            }
            let account = accounts::by_seq(tx, link.account)?;
            check_may_create(tx, &account, link.mode)?;
            check_open_invoices(tx, &link, now)?;
            let draft = invoice_draft(&link, link.amount.or(amount))?;
            let amount = account.check_price(draft.amount)?;
            let mut invoice = new_invoice(&account, link.mode, amount, &draft, now);
            invoice.payment_link_id = Some(link.id);
            invoices::insert(tx, &invoice)?
                .ok_or_else(|| Error::Failed("an invoice was not written".to_owned()))?;
            let object = render::invoice(&invoice, &service.links, &[])?;
            record_invoice_event(step, &invoice, &object, EventType::InvoiceCreated, None)?;
            Ok(LinkOutcome::Created(LinkInvoice {
                token: service.links.checkout_token(&invoice.id),
                invoice_id: invoice.id,
            }))
        })
        .await
    }
}

/// Returns the state of a link. Counts its uses only if they have a limit, and not beyond the limit.
fn current_state(db: &Reader<'_>, link: &PaymentLink, now: Time) -> Result<LinkState, Error> {
    let uses = match link.paid_uses_max {
        Some(most) => payment_links::count_uses(db, &link.id, Some(most))?,
        None => LinkUses::default(),
    };
    Ok(link.state(uses, now))
}

/// Checks that the link may have one more open invoice.
///
/// # Errors
///
/// `rate_limited` if the link has the maximum number of open invoices.
fn check_open_invoices(db: &Reader<'_>, link: &PaymentLink, now: Time) -> Result<(), Error> {
    let (open, first_end) = payment_links::count_open_invoices(db, &link.id, now)?;
    if open < OPEN_INVOICES_MAX {
        return Ok(());
    }
    let wait_ms = first_end.map_or(SECOND_MS, |end| end.since_ms(now));
    let seconds = wait_ms.saturating_add(999).div_euclid(SECOND_MS);
    let message = format!(
        "this payment link has {OPEN_INVOICES_MAX} invoices that nobody has paid yet; try again in {seconds} s"
    );
    let refusal = Refusal::new(RefusalCode::RateLimited, message);
    Err(refusal.with_retry_after(seconds).into())
}

fn invoice_draft(link: &PaymentLink, amount: Option<Cents>) -> Result<CreateInvoice, Error> {
    let description = link.description.clone().unwrap_or_else(|| link.name.clone());
    Ok(CreateInvoice {
        amount,
        currency: link.currency,
        order_id: None,
        description: Some(description),
        asset: None,
        redirect_url: link.redirect_url.clone(),
        cancel_url: None,
        webhook_url: None,
        metadata: RawValue::from_string("{}".to_owned())?,
        ttl_seconds: None,
        customer_email: None,
    })
}

fn find_enabled(db: &Reader<'_>, id: &str) -> Result<PaymentLink, Error> {
    find(db, id)?.filter(|link| link.active).ok_or_else(link_not_found)
}

/// Returns the link with this id, of any account.
pub(super) fn find(db: &Reader<'_>, id: &str) -> Result<Option<PaymentLink>, Error> {
    match id::parse(id) {
        Some(id) => Ok(payment_links::by_id(db, &id)?),
        None => Ok(None),
    }
}

/// Returns 404 for a link that does not exist or that the caller must not see.
pub(super) fn link_not_found() -> Error {
    Refusal::not_found("payment link").into()
}
