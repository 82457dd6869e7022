//! Payment links: making, changing and reading them, and what opening one makes.
//!
//! What always holds: an invoice from a link passes the checks that every other passes, and names its link.

use super::audit_log::{self, Entry};
use super::events::{Page, unknown_before};
use super::invoices::{may_be_made, new_invoice};
use super::settle::Cause;
use super::{Error, Json, Scope, Service};
use crate::domain::account::Account;
use crate::domain::fields::Fields;
use crate::domain::invoice::draft::Draft;
use crate::domain::link::{LinkChange, PaymentLink};
use crate::domain::money::Cents;
use crate::domain::refusal::Refusal;
use crate::domain::time::Time;
use crate::domain::{id, render};
use crate::store::{Reader, accounts, invoices, payment_links};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What whoever opens a link sees.
pub struct OpenLink {
    /// Whose link it is.
    pub account: Account,
    /// The link.
    pub link: PaymentLink,
    /// Is nothing real paid here?
    pub is_simulated: bool,
}

/// The invoice that a link made: where its checkout is.
pub struct Begun {
    /// The invoice's id.
    pub invoice_id: String,
    /// What opens its checkout.
    pub token: String,
}

impl Service {
    /// Makes a link.
    ///
    /// # Errors
    /// `invalid_request`, `amount_too_large`.
    pub async fn create_link(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        actor: &str,
        body: Map<String, Value>,
    ) -> Result<Json, Error> {
        let (scope, actor) = (*scope, actor.to_owned());
        self.write(move |service, tx| {
            let mut link = PaymentLink::parse(&Fields::of(&body), scope.mode(), now)?;
            link.id = id::new(now).to_string();
            link.account = scope.account();
            within_limit(tx, &link)?;
            link.seq = payment_links::insert(tx, &link)?;
            let detail = json!({ "name": link.name, "amount": link.amount, "mode": link.mode });
            let (account, object) = (Some(link.account), Some(link.id.as_str()));
            let noted = Entry {
                action: "payment_link.create",
                account,
                object,
                detail: &detail,
            };
            audit_log::record(tx, now, &actor, &noted)?;
            Ok(render::payment_link(&link, &service.links)?)
        })
        .await
    }

    /// Changes a link.
    ///
    /// # Errors
    /// `not_found`, `invalid_request`, `amount_too_large`.
    pub async fn change_link(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        actor: &str,
        id: &str,
        body: Map<String, Value>,
    ) -> Result<Json, Error> {
        let (scope, actor, id) = (*scope, actor.to_owned(), id.to_owned());
        self.write(move |service, tx| {
            let mut link = owned(tx, &scope, &id)?;
            let fields = Fields::of(&body);
            fields.only(&["name", "amount", "description", "active"])?;
            link.apply(LinkChange::parse(&fields)?);
            within_limit(tx, &link)?;
            payment_links::update(tx, &link)?;
            let detail = json!({ "name": link.name, "amount": link.amount, "active": link.active });
            let (account, object) = (Some(link.account), Some(link.id.as_str()));
            let noted = Entry {
                action: "payment_link.change",
                account,
                object,
                detail: &detail,
            };
            audit_log::record(tx, now, &actor, &noted)?;
            Ok(render::payment_link(&link, &service.links)?)
        })
        .await
    }

    /// One link.
    ///
    /// # Errors
    /// `not_found` where it is not the caller's.
    pub fn link(&self, scope: &Scope, id: &str) -> Result<Json, Error> {
        let link = self.read(|db| owned(db, scope, id))?;
        Ok(render::payment_link(&link, &self.links)?)
    }

    /// A page of links, newest first.
    ///
    /// # Errors
    /// `invalid_request` where `before` names none of the caller's links.
    pub fn links(&self, scope: &Scope, before: Option<&str>, limit: u32) -> Result<Page, Error> {
        let (account, mode) = (scope.account(), scope.mode());
        self.read(|db| {
            let before = match before {
                None => i64::MAX,
                Some(id) => owned(db, scope, id).map_err(|_| unknown_before())?.seq,
            };
            let limit_and_one = limit.saturating_add(1);
            let found = payment_links::page(db, account, mode, before, limit_and_one)?;
            let rendered = found.into_iter().map(|link| {
                let json = render::payment_link(&link, &self.links)?;
                Ok((link.id, json))
            });
            Ok(Page::cut(rendered.collect::<Result<_, Error>>()?, limit))
        })
    }

    /// A link as whoever opens it sees it.
    ///
    /// # Errors
    /// `not_found` where there is none, or it is switched off.
    pub fn open_link(&self, id: &str) -> Result<OpenLink, Error> {
        let (link, account) = self.read(|db| {
            let link = opened(db, id)?;
            let account = accounts::by_seq(db, link.account)?;
            Ok((link, account))
        })?;
        Ok(OpenLink {
            is_simulated: self.is_simulated(link.mode),
            account,
            link,
        })
    }

    /// Makes the invoice of a link; `amount` is what the payer names, where the link has no price.
    ///
    /// # Errors
    /// `not_found`, what refuses invoices of this account, `amount_too_large`.
    pub async fn invoice_of_link(
        self: &Arc<Self>,
        now: Time,
        id: &str,
        amount: Option<Cents>,
    ) -> Result<Begun, Error> {
        let id = id.to_owned();
        self.write(move |service, tx| {
            let link = opened(tx, &id)?;
            let account = accounts::by_seq(tx, link.account)?;
            may_be_made(tx, &account, link.mode)?;
            let draft = draft(&link, link.amount.or(amount))?;
            let amount = account.check_price(draft.amount)?;
            let mut invoice = new_invoice(&account, link.mode, amount, draft, now);
            invoice.payment_link_id = Some(link.id);
            invoice.seq = invoices::insert(tx, &invoice)?;
            let invoice = service.settle(tx, now, invoice, Cause::Created)?;
            Ok(Begun {
                token: service.links.token(&invoice.id),
                invoice_id: invoice.id,
            })
        })
        .await
    }
}

/// What is wanted of the invoice of a link.
fn draft(link: &PaymentLink, amount: Option<Cents>) -> Result<Draft, Error> {
    let description = link
        .description
        .clone()
        .unwrap_or_else(|| link.name.clone());
    Ok(Draft {
        amount,
        currency: link.currency,
        order_id: None,
        description: Some(description),
        asset: None,
        redirect_url: None,
        cancel_url: None,
        webhook_url: None,
        metadata: RawValue::from_string("{}".to_owned())?,
        ttl_seconds: None,
        customer_email: None,
        warnings: Vec::new(),
    })
}

/// Refuses a price that no invoice of the account may have.
fn within_limit(db: &Reader<'_>, link: &PaymentLink) -> Result<(), Error> {
    let account = accounts::by_seq(db, link.account)?;
    match link.amount {
        Some(amount) => account
            .check_price(Some(amount))
            .map(drop)
            .map_err(Error::from),
        None => Ok(()),
    }
}

/// The caller's link.
fn owned(db: &Reader<'_>, scope: &Scope, id: &str) -> Result<PaymentLink, Error> {
    let mine = |link: &PaymentLink| link.account == scope.account() && link.mode == scope.mode();
    find(db, id)?.filter(mine).ok_or_else(unknown)
}

/// The link that can be opened by this id.
fn opened(db: &Reader<'_>, id: &str) -> Result<PaymentLink, Error> {
    find(db, id)?.filter(|link| link.active).ok_or_else(unknown)
}

/// The link with this id, whoever's it is.
fn find(db: &Reader<'_>, id: &str) -> Result<Option<PaymentLink>, Error> {
    match id::parse(id) {
        Some(id) => Ok(payment_links::by_id(db, &id)?),
        None => Ok(None),
    }
}

/// 404 for a link that is not there, or not for who asks.
fn unknown() -> Error {
    Refusal::not_found("payment link").into()
}
