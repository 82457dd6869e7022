//! Fields of a payment link's page, and of its QR code for printing.

use super::Moment;
use crate::domain::qr::Qr;
use crate::web::words::Words;
use askama::Template;

/// The body of a payment link's page: a description and a form that creates the invoice.
#[derive(Template)]
#[template(path = "link/link.html", config = "src/web/askama.toml")]
pub struct LinkPage<'a> {
    /// Texts of the page's language.
    pub words: &'static Words,
    /// Language that the customer chose, `None` without a choice.
    pub lang: Option<&'static str>,
    /// Id of the payment link.
    pub id: &'a str,
    /// Name of the payment link.
    pub name: &'a str,
    /// Description of the purchase.
    pub description: Option<&'a str>,
    /// Picture of the payment link.
    pub picture: Option<LinkPicture>,
    /// Time from which the payment link creates no invoice.
    pub until: Option<Moment>,
    /// Error in the submitted form.
    pub problem: Option<&'a str>,
    /// Label of the field for the amount.
    pub amount_label: String,
    /// Hint with an example of an amount.
    pub example: String,
    /// Price of the payment link.
    pub price: Price<'a>,
}

/// The body of the page of a payment link that creates no invoices: a message to the payer.
#[derive(Template)]
#[template(path = "link/closed.html", config = "src/web/askama.toml")]
pub struct ClosedLinkPage<'a> {
    /// Heading, which names the state of the payment link.
    pub heading: &'a str,
    /// Advice for the payer.
    pub message: &'a str,
    /// Name of the payment link.
    pub description: Option<&'a str>,
    /// Picture of the payment link.
    pub picture: Option<LinkPicture>,
}

/// The picture of a payment link.
pub struct LinkPicture {
    /// URL of the picture, relative to the page.
    pub url: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

/// The price of a payment link.
pub enum Price<'a> {
    /// A fixed price with its currency.
    Fixed(String),
    /// A price that the customer chooses. The value is the amount entered so far.
    Named(&'a str),
}

/// The page with the QR code of a payment link, for printing.
#[derive(Template)]
#[template(path = "link/poster.html", config = "src/web/askama.toml")]
pub struct LinkQrPage<'a> {
    /// Texts of the page's language.
    pub words: &'static Words,
    /// Language that the customer chose, `None` without a choice.
    pub lang: Option<&'static str>,
    /// Id of the payment link.
    pub id: &'a str,
    /// Name of the payment link.
    pub name: &'a str,
    /// Price with its currency, if the price is fixed.
    pub price: Option<String>,
    /// QR code of the payment link's URL, `None` if the URL is too long.
    pub qr: Option<Qr>,
    /// Text alternative for the QR code.
    pub qr_label: String,
    /// URL of the payment link.
    pub url: String,
}

/// The QR code of a payment link as an SVG image.
#[derive(Template)]
#[template(path = "link/qr.svg", config = "src/web/askama.toml", escape = "html")]
pub struct LinkSvg {
    /// QR code of the payment link's URL.
    pub qr: Qr,
}
