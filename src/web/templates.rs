//! The fields of each page: one type for each template. The compiler checks the types against the `.html` files.
//!
//! Invariant: every field is escaped when it is inserted, and every URL was parsed as one.

pub mod app;
mod checkout;
mod link;
pub mod sandbox;
#[cfg(test)]
mod tests;

use super::words::Words;
use crate::domain::language::Language;
use crate::domain::url::{Destination, Site};
use askama::Template;
pub use checkout::{
    Choose, Coin, Coins, Hidden, Kind, Left, Live, Pay, State, Trial, Unconfirmed, Updates,
};
pub use link::{Link, LinkQr, LinkSvg, Price};

/// A page: a body in its frame.
#[derive(Template)]
#[template(path = "page.html", config = "src/web/askama.toml")]
pub struct Page<'a, Body: Template> {
    /// The parts around the body.
    pub frame: Frame<'a>,
    /// One of the body templates.
    pub body: Body,
}

/// The parts that every page has around its body.
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
    /// `true` if no real money is involved.
    pub is_for_tests: bool,
    /// Script of the page, as `folder/name` in the assets. The page also works without it.
    pub script: Option<&'static str>,
    /// Origin of the embedding page that receives messages.
    pub parent: Option<String>,
    /// Seconds until the page reloads itself if no script runs.
    pub refresh_seconds: Option<u32>,
    /// Style of the shop. Its hash is in the page's security policy.
    pub brand: Option<String>,
    /// Languages to choose from. Empty: there is no choice.
    pub languages: Vec<LanguageLink>,
}

impl Frame<'_> {
    /// Returns the texts of the page's language.
    #[must_use]
    pub fn words(&self) -> &'static Words {
        Words::of(self.language)
    }
}

/// A link to the same page in another language.
pub struct LanguageLink {
    /// Target of the link.
    pub href: String,
    /// Language tag, as in the HTML attribute `lang`.
    pub tag: &'static str,
    /// Name of the language, in that language.
    pub name: &'static str,
    /// `true` for the language of this page.
    pub is_current: bool,
}

/// A shop.
pub struct Shop<'a> {
    /// Name.
    pub name: &'a str,
    /// Logo.
    pub logo: Option<Site<'a>>,
}

/// A link that leaves the page.
pub struct WayOut<'a> {
    /// CSS class.
    pub kind: &'static str,
    /// Target: a website or an app.
    pub url: Destination<'a>,
    /// Text of the link.
    pub text: &'static str,
}

/// A time, for machines and for people.
pub struct Moment {
    /// Time as in JSON.
    pub moment: String,
    /// Time as people read it.
    pub text: String,
}

/// An error page.
#[derive(Template)]
#[template(path = "error.html", config = "src/web/askama.toml")]
pub struct Problem<'a> {
    /// Texts of the reader's language.
    pub words: &'static Words,
    /// Kind of error.
    pub heading: &'a str,
    /// Message about this error.
    pub message: String,
    /// Id of the failed request.
    pub request_id: &'a str,
    /// Relative link to the page that the reader came from.
    pub back: Option<String>,
}

/// The form that creates the first operator.
#[derive(Template)]
#[template(path = "setup/form.html", config = "src/web/askama.toml")]
pub struct Setup<'a> {
    /// Token of the set-up link.
    pub token: &'a str,
    /// Email address that was entered.
    pub email: &'a str,
    /// Problem with the submitted form.
    pub problem: Option<&'a str>,
    /// Minimum number of characters of a password.
    pub password_chars_min: usize,
}

/// The page shown after the first operator was created.
#[derive(Template)]
#[template(path = "setup/done.html", config = "src/web/askama.toml")]
pub struct SetupDone<'a> {
    /// Email address of the new operator.
    pub email: &'a str,
}
