//! Payment links in the operator interface: creates, changes and lists them.
//!
//! Invariant: the price of a link is allowed for an invoice of its account.

use crate::domain::link::PaymentLink;
use crate::domain::time::Time;
use crate::domain::{id, render};
use crate::service::audit_log;
use crate::service::links::{find, link_not_found};
use crate::service::page::{self, Page, none_if_not_found};
use crate::service::{Error, Json, Scope, Service};
use crate::store::{PageBounds, Reader, Tx, accounts, payment_links};
use serde_json::json;

impl Service {
    /// Creates a link.
    ///
    /// # Errors
    /// `amount_too_large`.
    pub fn create_link(
        &self,
        tx: &Tx<'_>,
        now: Time,
        scope: &Scope,
        actor: &str,
        mut link: PaymentLink,
    ) -> Result<Json, Error> {
        link.id = id::new(now).to_string();
        link.account = scope.account();
        check_price(tx, &link)?;
        link.seq = payment_links::insert(tx, &link)?;
        let detail = json!({ "name": link.name, "amount": link.amount, "mode": link.mode });
        let (account, object) = (Some(link.account), Some(link.id.as_str()));
        audit_log::record(tx, now, actor, "payment_link.create", account, object, &detail)?;
        Ok(render::payment_link(&link, &self.links)?)
    }

    /// Stores a changed link.
    ///
    /// # Errors
    /// `amount_too_large`.
    pub fn change_link(
        &self,
        tx: &Tx<'_>,
        now: Time,
        actor: &str,
        link: &PaymentLink,
    ) -> Result<Json, Error> {
        check_price(tx, link)?;
        payment_links::update(tx, link)?;
        let detail = json!({ "name": link.name, "amount": link.amount, "active": link.active });
        let (account, object) = (Some(link.account), Some(link.id.as_str()));
        audit_log::record(tx, now, actor, "payment_link.change", account, object, &detail)?;
        Ok(render::payment_link(link, &self.links)?)
    }

    /// Returns a link.
    ///
    /// # Errors
    /// `not_found` if the link does not belong to the caller.
    pub fn link(&self, scope: &Scope, id: &str) -> Result<Json, Error> {
        let link = self.read(|db| owned_link(db, scope, id))?;
        Ok(render::payment_link(&link, &self.links)?)
    }

    /// Returns a page of links, newest first.
    ///
    /// # Errors
    /// `invalid_request` if `before` is not a link of the caller.
    pub fn links(&self, scope: &Scope, before: Option<&str>, limit: u32) -> Result<Page, Error> {
        let (account, mode) = (scope.account(), scope.mode());
        self.read(|db| {
            let before =
                page::find_page_start(before, |id| none_if_not_found(owned_link(db, scope, id)))?;
            let page = PageBounds::with_one_more_row(before.map(|link| link.seq), limit);
            let found = payment_links::page(db, account, mode, page)?;
            let rendered = found.into_iter().map(|link| {
                let json = render::payment_link(&link, &self.links)?;
                Ok((link.id, json))
            });
            Page::from_entries(rendered, limit)
        })
    }
}

/// Refuses a price that is too high for an invoice of the account.
fn check_price(db: &Reader<'_>, link: &PaymentLink) -> Result<(), Error> {
    let account = accounts::by_seq(db, link.account)?;
    match link.amount {
        Some(amount) => account.check_price(Some(amount)).map(drop).map_err(Error::from),
        None => Ok(()),
    }
}

/// Returns a link of the caller.
///
/// # Errors
/// `not_found`.
pub fn owned_link(db: &Reader<'_>, scope: &Scope, id: &str) -> Result<PaymentLink, Error> {
    let mine = |link: &PaymentLink| link.account == scope.account() && link.mode == scope.mode();
    find(db, id)?.filter(mine).ok_or_else(link_not_found)
}
