//! The link from the checkout back to the shop.

use super::CheckoutView;
use crate::domain::SiteUrl;
use crate::http::pages::exit_link;
use crate::web::templates::ExitLink;

impl<'a> CheckoutView<'a> {
    /// Returns the link back to the shop.
    ///
    /// Many shops cancel the order when its `cancelUrl` is opened, and many thank for a payment when its `redirectUrl`
    /// is opened. So a customer whose payment was seen, in time or not, goes to the `redirectUrl`, and any other
    /// customer to the `cancelUrl`. Where the invoice has only the other one, the link leads to the home page of its
    /// site, which does neither.
    pub(super) fn back_link(&self) -> Option<ExitLink<'a>> {
        let (invoice, words) = (self.invoice(), self.words());
        let redirect_url = invoice.redirect_url.as_deref();
        let cancel_url = invoice.cancel_url.as_deref();
        if invoice.amount_received.is_some() || !self.checkout.unconfirmed.is_empty() {
            // The rest is still to be paid here, so the way out is not the main action of the page.
            let kind = if self.checkout.rest.is_some() { "back" } else { "go" };
            let back = exit_link(redirect_url, words.back, kind);
            return back.or_else(|| exit_link(home_page(cancel_url), words.back, "back"));
        }
        if invoice.status.is_open() && !self.is_past_deadline() {
            return exit_link(cancel_url, words.cancel, "back");
        }
        let back = exit_link(cancel_url, words.back, "back");
        back.or_else(|| exit_link(home_page(redirect_url), words.back, "back"))
    }
}

/// Returns the home page of a site, `None` for the URL of an app.
fn home_page(url: Option<&str>) -> Option<&str> {
    SiteUrl::parse(url?).ok().map(|site| site.home_page())
}
