//! The fields of each page: one type for each template, checked against its file by the compiler.
//!
//! What lives here: the fields of every page. What does not: markup, which is in the `.html` files beside this one, and
//! where the fields come from (`http`). What always holds: every field is escaped when it is put in, and
//! what stands as a url was read as one.

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

/// A page: its body in its frame.
#[derive(Template)]
#[template(path = "page.html", config = "src/web/askama.toml")]
pub struct Page<'a, Body: Template> {
    /// What is around the body.
    pub frame: Frame<'a>,
    /// One of the templates below.
    pub body: Body,
}

/// What every page has around its body.
#[derive(Default)]
pub struct Frame<'a> {
    /// What it is written in.
    pub language: Language,
    /// The page's title.
    pub title: String,
    /// From the page's path back to where all paths begin, like `../`.
    pub root: String,
    /// The shop at the top of the page.
    pub shop: Option<Shop<'a>>,
    /// Is no real money meant?
    pub is_for_tests: bool,
    /// The script that makes the page better, as `folder/name` among the assets; it is complete without.
    pub script: Option<&'static str>,
    /// The origin of the page around this one that is told what happens here.
    pub parent: Option<String>,
    /// Seconds after which the page loads itself again where no script does better.
    pub refresh_seconds: Option<u32>,
    /// The shop's own style: a text that is in the page's policy.
    pub brand: Option<String>,
    /// What else it can be read in; none: there is no choice.
    pub languages: Vec<LanguageLink>,
}

impl Frame<'_> {
    /// The texts of its language.
    #[must_use]
    pub fn words(&self) -> &'static Words {
        Words::of(self.language)
    }
}

/// The same page in a language.
pub struct LanguageLink {
    /// Where it is.
    pub href: String,
    /// The language's tag, as in `lang` of HTML.
    pub tag: &'static str,
    /// What the language calls itself.
    pub name: &'static str,
    /// Is it the one that the page is in?
    pub is_current: bool,
}

/// A shop.
pub struct Shop<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its picture.
    pub logo: Option<Site<'a>>,
}

/// A link out of a page.
pub struct WayOut<'a> {
    /// What it looks like: a class of the style.
    pub kind: &'static str,
    /// Where it leads to: a site or an app.
    pub url: Destination<'a>,
    /// What it says.
    pub text: &'static str,
}

/// A moment, for machines and for people.
pub struct Moment {
    /// As it is in JSON.
    pub moment: String,
    /// As a person reads it.
    pub text: String,
}

/// What went wrong.
#[derive(Template)]
#[template(path = "error.html", config = "src/web/askama.toml")]
pub struct Problem<'a> {
    /// The texts of the reader's language.
    pub words: &'static Words,
    /// What kind of thing it is.
    pub heading: &'a str,
    /// What exactly.
    pub message: String,
    /// The request that it went wrong in.
    pub request_id: &'a str,
    /// Where the reader came from, as it is seen from this page.
    pub back: Option<String>,
}

/// The first operator, to be made.
#[derive(Template)]
#[template(path = "setup/form.html", config = "src/web/askama.toml")]
pub struct Setup<'a> {
    /// What the set-up link carries.
    pub token: &'a str,
    /// The address that was entered.
    pub email: &'a str,
    /// What was wrong with what was sent.
    pub problem: Option<&'a str>,
    /// The fewest characters of a password.
    pub password_chars_min: usize,
}

/// The first operator, made.
#[derive(Template)]
#[template(path = "setup/done.html", config = "src/web/askama.toml")]
pub struct SetupDone<'a> {
    /// Who may sign in.
    pub email: &'a str,
}
