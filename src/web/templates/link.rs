//! The fields of a payment link: its page, and its QR code for a counter.

use crate::domain::qr::Qr;
use crate::web::words::Words;
use askama::Template;

/// A payment link.
#[derive(Template)]
#[template(path = "link/link.html", config = "src/web/askama.toml")]
pub struct Link<'a> {
    /// The texts of the page's language.
    pub words: &'static Words,
    /// The language that was picked.
    pub lang: Option<&'static str>,
    /// Its id.
    pub id: &'a str,
    /// What it is called.
    pub name: &'a str,
    /// What is paid for.
    pub description: Option<&'a str>,
    /// What was wrong with what was sent.
    pub problem: Option<&'a str>,
    /// What the field of an amount is called.
    pub amount_label: String,
    /// What an amount looks like.
    pub example: String,
    /// Its price.
    pub price: Price<'a>,
}

/// The price of a payment link.
pub enum Price<'a> {
    /// It is this.
    Fixed(String),
    /// The payer names it, and has entered this.
    Named(&'a str),
}

/// The QR code of a payment link, to be printed.
#[derive(Template)]
#[template(path = "link/poster.html", config = "src/web/askama.toml")]
pub struct LinkQr<'a> {
    /// The texts of the page's language.
    pub words: &'static Words,
    /// The language that was picked.
    pub lang: Option<&'static str>,
    /// Its id.
    pub id: &'a str,
    /// What it is called.
    pub name: &'a str,
    /// Its price, where it has one.
    pub price: Option<String>,
    /// The code.
    pub qr: Option<Qr>,
    /// What is in it.
    pub qr_label: String,
    /// Where the link leads.
    pub url: String,
}

/// The same code as a picture by itself.
#[derive(Template)]
#[template(path = "link/qr.svg", config = "src/web/askama.toml", escape = "html")]
pub struct LinkSvg {
    /// The code.
    pub qr: Qr,
}
