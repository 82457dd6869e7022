//! Fields of each page: one type for each template. The compiler checks the types against the `.html` files.
//!
//! Invariant: every field is escaped when it is inserted, and every link to another site has been parsed as a URL.

pub mod app;
mod checkout;
mod link;
pub mod sandbox;
#[cfg(test)]
mod tests;

use super::words::Words;
use crate::domain::{Language, SiteOrAppUrl, SiteUrl};

use askama::Template;
pub use checkout::{
    CoinChoicePage, CoinEntry, CoinMark, CoinOption, CoinOptions, HiddenFields, LiveCheckout,
    OutcomeKind, OutcomePage, PageUpdates, PaymentPage, ProgressLine, Receipt, SimulationButtons,
    Step, StepState, TimeLeft, UnconfirmedPayment,
};
pub use link::{ClosedLinkPage, LinkPage, LinkPicture, LinkQrPage, LinkSvg, Price};

/// A complete page: a body inside a frame.
#[derive(Template)]
#[template(path = "page.html", config = "src/web/askama.toml")]
pub struct Page<'a, Body: Template> {
    /// Frame around the body: head, shop and links.
    pub frame: Frame<'a>,
    /// Template of the body.
    pub body: Body,
}

/// The parts that surround the body of every page.
#[derive(Default)]
pub struct Frame<'a> {
    /// Language of the page.
    pub language: Language,
    /// Title of the page.
    pub title: String,
    /// Relative path to the root of the server, for example `../`.
    pub root: String,
    /// Shop shown at the top of the page.
    pub shop: Option<Shop<'a>>,
    /// `true` if no real money is involved. The page then shows a note.
    pub is_for_tests: bool,
    /// Script of the page, as `folder/name` in the assets. The page works without the script as well.
    pub script: Option<&'static str>,
    /// Origin of the embedding page, which receives messages from this page.
    pub parent: Option<String>,
    /// Seconds until the page reloads itself if the browser runs no script.
    pub refresh_seconds: Option<u32>,
    /// Style sheet with the shop's colors. Its hash is in the page's security policy.
    pub brand: Option<String>,
    /// Links to the page in each language. Empty if the page has only one language.
    pub languages: Vec<LanguageLink>,
}

impl Frame<'_> {
    /// Returns the texts of the page's language.
    #[must_use]
    pub fn words(&self) -> &'static Words {
        Words::for_language(self.language)
    }
}

/// A link to the same page in another language.
pub struct LanguageLink {
    /// URL of the page in that language.
    pub href: String,
    /// Tag of the language, as in the HTML attribute `lang`.
    pub tag: &'static str,
    /// Name of the language, written in that language.
    pub name: &'static str,
    /// `true` for the current language of the page.
    pub is_current: bool,
}

/// The shop that a page belongs to.
pub struct Shop<'a> {
    /// Name of the shop.
    pub name: &'a str,
    /// URL of the shop's logo.
    pub logo: Option<SiteUrl<'a>>,
}

/// A link to a website or an app outside the page.
pub struct ExitLink<'a> {
    /// CSS class of the link.
    pub kind: &'static str,
    /// Target of the link: a website or an app.
    pub url: SiteOrAppUrl<'a>,
    /// Text of the link.
    pub text: &'static str,
}

/// A time in two formats: for machines and for people.
pub struct Moment {
    /// Time in the format of JSON, for machines.
    pub moment: String,
    /// Time in the format for people, for example `2026-11-21 09:30 UTC`.
    pub text: String,
}

/// The body of an error page.
#[derive(Template)]
#[template(path = "error.html", config = "src/web/askama.toml")]
pub struct ErrorPage<'a> {
    /// Texts of the reader's language.
    pub words: &'static Words,
    /// Heading that names the kind of error.
    pub heading: &'a str,
    /// Message about the error, or advice for a customer.
    pub message: String,
    /// Id of the failed request.
    pub request_id: &'a str,
    /// Relative link back to the checkout page, if the failed request was a form sent from the checkout page.
    pub back: Option<String>,
}

/// The body of the set-up page: a form that creates the first operator.
#[derive(Template)]
#[template(path = "setup/form.html", config = "src/web/askama.toml")]
pub struct SetupForm<'a> {
    /// Token of the set-up link.
    pub token: &'a str,
    /// Email address from the submitted form, to show again.
    pub email: &'a str,
    /// Name of the shop from the submitted form, to show again.
    pub shop: &'a str,
    /// Error in the submitted form.
    pub problem: Option<&'a str>,
    /// Minimum length of a password, in characters.
    pub password_chars_min: usize,
}
