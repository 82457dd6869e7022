//! The fields of the checkout, state by state.
//!
//! What always holds: its texts come whole, with everything put in, in the language of its words.

use super::{Moment, WayOut};
use crate::domain::qr::Qr;
use crate::domain::url::Site;
use crate::web::words::Words;
use askama::Template;

/// The state of an invoice, and what keeps it true while the page is open.
#[derive(Template)]
#[template(path = "checkout/live.html", config = "src/web/askama.toml")]
pub struct Live<Body: Template> {
    /// The texts of the page's language.
    pub words: &'static Words,
    /// What the page is about now: when this changes, the reader is taken to the heading.
    pub state: &'static str,
    /// How the page learns of changes.
    pub live: Updates,
    /// What the buttons of a test invoice send.
    pub hidden: Hidden,
    /// The buttons of a test invoice.
    pub trial: Option<Trial>,
    /// One of the templates below.
    pub body: Body,
}

/// How a page learns of changes.
pub struct Updates {
    /// Seconds after which it asks, whatever it was told.
    pub poll_seconds: u32,
    /// Where it is told at once, seen from the page.
    pub events: Option<String>,
}

/// What the forms of a checkout send besides what they say.
#[derive(Clone)]
pub struct Hidden {
    /// What opens the checkout.
    pub token: String,
    /// The language that was picked.
    pub lang: Option<&'static str>,
    /// The origin of the page around the checkout.
    pub parent: Option<String>,
}

/// The buttons by which a test invoice is paid.
pub struct Trial {
    /// The invoice.
    pub invoice_id: String,
    /// What each button sends, and says.
    pub cases: Vec<(&'static str, &'static str)>,
}

/// The time that is left.
pub struct Left {
    /// In seconds.
    pub seconds: i64,
    /// As a person reads it.
    pub text: String,
}

/// The coins that one can be picked of.
pub struct Coins<'a> {
    /// The invoice.
    pub invoice_id: &'a str,
    /// What its form sends besides.
    pub hidden: Hidden,
    /// One for each coin.
    pub coins: Vec<Coin>,
}

/// One coin to be picked.
pub struct Coin {
    /// Its id.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its symbol.
    pub symbol: &'static str,
    /// The file of its picture, without its end.
    pub logo: String,
    /// The network that it is sent on.
    pub network: String,
    /// The same as a phrase.
    pub network_text: String,
    /// Is it one of a test network?
    pub is_for_tests: bool,
    /// How much of it would be due.
    pub due: String,
}

/// An invoice without a coin.
#[derive(Template)]
#[template(path = "checkout/choose.html", config = "src/web/askama.toml")]
pub struct Choose<'a> {
    /// The texts of the page's language.
    pub words: &'static Words,
    /// The price.
    pub heading: String,
    /// What is paid for.
    pub description: Option<&'a str>,
    /// How long it can be paid.
    pub left: Option<Left>,
    /// What it can be paid with; there may be none.
    pub coins: Coins<'a>,
    /// The way back.
    pub way_out: Option<WayOut<'a>>,
}

/// An invoice with a coin: how much is to be sent, where to, until when.
#[derive(Template)]
#[template(path = "checkout/pay.html", config = "src/web/askama.toml")]
pub struct Pay<'a> {
    /// The texts of the page's language.
    pub words: &'static Words,
    /// The invoice.
    pub invoice_id: &'a str,
    /// The price.
    pub price: String,
    /// What is paid for.
    pub description: Option<&'a str>,
    /// How much is to be sent.
    pub heading: String,
    /// How long it can be paid.
    pub left: Option<Left>,
    /// How much has come, where that is less than was due.
    pub received: Option<String>,
    /// What was seen and is not confirmed.
    pub unconfirmed: Vec<Unconfirmed<'a>>,
    /// The picture that a wallet reads.
    pub qr: Option<Qr>,
    /// What is in it.
    pub qr_label: String,
    /// What it is good for.
    pub scan: &'static str,
    /// What a wallet is opened by.
    pub uri: Option<String>,
    /// How much of the coin is to be sent, as the language writes it.
    pub due: String,
    /// The same as a wallet reads it.
    pub exact: String,
    /// The coin's symbol.
    pub symbol: &'static str,
    /// Where it is to be sent to.
    pub address: &'a str,
    /// That it is this coin on this network, and no other.
    pub only_network: String,
    /// How it is done, for who has never done it.
    pub steps: [String; 3],
    /// What one of the coin is worth.
    pub rate: String,
    /// How long it can be paid.
    pub until: Moment,
    /// The other coins, where one may still be picked.
    pub other_coins: Option<Coins<'a>>,
    /// The way back.
    pub way_out: Option<WayOut<'a>>,
}

/// What became of an invoice, in one look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is paid.
    Good,
    /// It will be.
    Waits,
    /// It is not.
    Bad,
}

/// An invoice on which nothing is left to do.
#[derive(Template)]
#[template(path = "checkout/state.html", config = "src/web/askama.toml")]
pub struct State<'a> {
    /// The texts of the page's language.
    pub words: &'static Words,
    /// The invoice.
    pub invoice_id: &'a str,
    /// What it is in one look.
    pub kind: Kind,
    /// What became of it.
    pub heading: &'static str,
    /// The same in a sentence.
    pub message: &'static str,
    /// What is paid for.
    pub description: Option<&'a str>,
    /// Terms, and what they are here.
    pub facts: Vec<(&'static str, String)>,
    /// What was seen and is not confirmed.
    pub unconfirmed: Vec<Unconfirmed<'a>>,
    /// Is there something to say to who has sent money and does not see it?
    pub asks_for_sent: bool,
    /// The way on, or back.
    pub way_out: Option<WayOut<'a>>,
}

/// A payment that was seen and is not confirmed.
pub struct Unconfirmed<'a> {
    /// How much of which coin.
    pub amount: String,
    /// How far it has come.
    pub depth: String,
    /// The same as numbers: so many of so many.
    pub progress: Option<(u32, u32)>,
    /// How long the rest usually takes.
    pub wait: Option<String>,
    /// The transaction.
    pub txid: &'a str,
    /// Where a person looks it up.
    pub explorer: Option<Site<'a>>,
}
