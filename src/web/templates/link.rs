//! The fields of a payment link's page, and of its QR code to print.

use crate::domain::qr::Qr;
use crate::web::words::Words;
use askama::Template;

/// The page of a payment link.
#[derive(Template)]
#[template(path = "link/link.html", config = "src/web/askama.toml")]
pub struct Link<'a> {
    /// Texts of the page's language.
    pub words: &'static Words,
    /// Language that the customer chose.
    pub lang: Option<&'static str>,
    /// Id of the link.
    pub id: &'a str,
    /// Name.
    pub name: &'a str,
    /// Description of the purchase.
    pub description: Option<&'a str>,
    /// Problem with the submitted form.
    pub problem: Option<&'a str>,
    /// Label of the amount field.
    pub amount_label: String,
    /// Example of an amount.
    pub example: String,
    /// Price.
    pub price: Price<'a>,
}

/// The price of a payment link.
pub enum Price<'a> {
    /// A fixed price.
    Fixed(String),
    /// A price that the payer chooses, with the amount entered so far.
    Named(&'a str),
}

/// The QR code of a payment link, to print.
#[derive(Template)]
#[template(path = "link/poster.html", config = "src/web/askama.toml")]
pub struct LinkQr<'a> {
    /// Texts of the page's language.
    pub words: &'static Words,
    /// Language that the customer chose.
    pub lang: Option<&'static str>,
    /// Id of the link.
    pub id: &'a str,
    /// Name.
    pub name: &'a str,
    /// Price, if it is fixed.
    pub price: Option<String>,
    /// QR code.
    pub qr: Option<Qr>,
    /// Text alternative of the QR code.
    pub qr_label: String,
    /// Target of the link.
    pub url: String,
}

/// The QR code as an SVG image.
#[derive(Template)]
#[template(path = "link/qr.svg", config = "src/web/askama.toml", escape = "html")]
pub struct LinkSvg {
    /// QR code.
    pub qr: Qr,
}
