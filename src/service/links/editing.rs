//! Payment links in the operator interface: creates, changes and lists them, and stores their pictures.
//!
//! Invariant: the price of a link is allowed for an invoice of its account.

use crate::domain::link::PICTURES_MAX;
use crate::domain::{LinkUses, PaymentLink, Picture, Refusal, RefusalCode, Time, id};
use crate::render;
use crate::service::links::{find, link_not_found};
use crate::service::page::{self, Page, none_if_not_found};
use crate::service::{Error, Json, Scope, Service, Step, audit_log};
use crate::store::{PageBounds, Reader, Tx, accounts, invoices, payment_links};
use serde_json::{Value, json};

impl Service {
    /// Returns a link.
    ///
    /// # Errors
    /// `not_found` if the link does not belong to the caller.
    pub fn link(&self, scope: &Scope, now: Time, id: &str) -> Result<Json, Error> {
        self.read_snapshot(|db| self.render_link(db, &owned_link(db, scope, id)?, now))
    }

    /// Returns the paid invoices of a link, the one that was paid last first.
    ///
    /// # Errors
    /// `not_found` if the link does not belong to the caller.
    pub fn paid_link_invoices(
        &self,
        scope: &Scope,
        id: &str,
        limit: u32,
    ) -> Result<Vec<Json>, Error> {
        self.read_snapshot(|db| {
            let link = owned_link(db, scope, id)?;
            let ids = payment_links::list_paid_invoices(db, &link.id, limit)?;
            let found = ids.iter().filter_map(|id| invoices::by_id(db, id).transpose());
            found.map(|invoice| Ok(render::invoice(&invoice?, &self.links, &[])?)).collect()
        })
    }

    fn render_link(&self, db: &Reader<'_>, link: &PaymentLink, now: Time) -> Result<Json, Error> {
        let uses = payment_links::count_uses(db, &link.id, None)?;
        Ok(render::payment_link(link, uses, now, &self.links)?)
    }

    /// Returns a page of links, newest first.
    ///
    /// # Errors
    /// `invalid_request` if `before` is not a link of the caller.
    pub fn links(
        &self,
        scope: &Scope,
        now: Time,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Page, Error> {
        let (account, mode) = (scope.account(), scope.mode());
        self.read_snapshot(|db| {
            let before =
                page::find_page_start(before, |id| none_if_not_found(owned_link(db, scope, id)))?;
            let page = PageBounds::with_one_more_row(before.map(|link| link.seq), limit);
            let found = payment_links::page(db, account, mode, page)?;
            let rendered = found.into_iter().map(|link| {
                let json = self.render_link(db, &link, now)?;
                Ok((link.id, json))
            });
            Page::from_entries(rendered, limit)
        })
    }
}

/// Creates a link.
///
/// # Errors
/// `amount_too_large`.
pub fn create_link(
    step: &Step<'_>,
    scope: &Scope,
    actor: &str,
    mut link: PaymentLink,
) -> Result<Json, Error> {
    let Step { service, tx, now } = *step;
    link.id = id::new(now).to_string();
    link.account = scope.account();
    check_price(tx, &link)?;
    link.seq = payment_links::insert(tx, &link)?;
    let detail = json!({
        "name": link.name, "amount": link.amount, "mode": link.mode, "expiresAt": link.expires_at,
        "paidUsesMax": link.paid_uses_max, "redirectUrl": link.redirect_url,
    });
    record(tx, now, actor, "payment_link.create", &link, &detail)?;
    Ok(render::payment_link(&link, LinkUses::default(), now, &service.links)?)
}

/// Stores a changed link.
///
/// # Errors
/// `amount_too_large`.
pub fn change_link(step: &Step<'_>, actor: &str, link: &PaymentLink) -> Result<Json, Error> {
    let Step { service, tx, now } = *step;
    check_price(tx, link)?;
    payment_links::update(tx, link)?;
    let detail = json!({
        "name": link.name, "amount": link.amount, "active": link.active, "expiresAt": link.expires_at,
        "paidUsesMax": link.paid_uses_max, "redirectUrl": link.redirect_url,
    });
    record(tx, now, actor, "payment_link.change", link, &detail)?;
    service.render_link(tx, link, now)
}

/// Stores the picture of a link. An earlier picture is replaced.
///
/// # Errors
/// `not_found` if the link does not belong to the caller. Then the error of the picture. `invalid_request` if the
/// account has too many pictures.
pub fn set_link_picture(
    step: &Step<'_>,
    scope: &Scope,
    actor: &str,
    id: &str,
    picture: Result<Picture, Refusal>,
) -> Result<Json, Error> {
    let Step { service, tx, now } = *step;
    let mut link = owned_link(tx, scope, id)?;
    let picture = picture?;
    if link.picture.is_none() && payment_links::count_pictures(tx, link.account)? >= PICTURES_MAX {
        let message = format!(
            "the payment links of this account have {PICTURES_MAX} pictures; remove one first"
        );
        return Err(Refusal::new(RefusalCode::InvalidRequest, message).into());
    }
    let info = picture.info();
    payment_links::put_picture(tx, link.seq, &info, &picture)?;
    let detail = json!({ "hash": info.hash, "format": picture.format });
    record(tx, now, actor, "payment_link.set_picture", &link, &detail)?;
    link.picture = Some(info);
    service.render_link(tx, &link, now)
}

/// Removes the picture of a link. Succeeds if the link has none.
///
/// # Errors
/// `not_found` if the link does not belong to the caller.
pub fn remove_link_picture(
    step: &Step<'_>,
    scope: &Scope,
    actor: &str,
    id: &str,
) -> Result<Json, Error> {
    let Step { service, tx, now } = *step;
    let mut link = owned_link(tx, scope, id)?;
    if payment_links::delete_picture(tx, link.seq)? {
        record(tx, now, actor, "payment_link.remove_picture", &link, &json!({}))?;
    }
    link.picture = None;
    service.render_link(tx, &link, now)
}

fn record(
    tx: &Tx<'_>,
    now: Time,
    actor: &str,
    action: &'static str,
    link: &PaymentLink,
    detail: &Value,
) -> Result<(), Error> {
    let (account, object) = (Some(link.account), Some(link.id.as_str()));
    audit_log::record(tx, now, actor, action, account, object, detail)
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
