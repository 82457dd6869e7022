//! The fields of the checkout page in each state.
//!
//! Invariant: texts are complete, with all values inserted, in the language of the page.

use super::{Moment, WayOut};
use crate::domain::qr::Qr;
use crate::domain::url::Site;
use crate::web::words::Words;
use askama::Template;

/// The checkout page of an invoice, with the means to update it while it is open.
#[derive(Template)]
#[template(path = "checkout/live.html", config = "src/web/askama.toml")]
pub struct Live<Body: Template> {
    /// Texts of the page's language.
    pub words: &'static Words,
    /// State of the page. When it changes, the script moves the focus to the heading.
    pub state: &'static str,
    /// Means by which the page learns of changes.
    pub live: Updates,
    /// Hidden fields of the buttons of a test invoice.
    pub hidden: Hidden,
    /// Buttons of a test invoice.
    pub trial: Option<Trial>,
    /// One of the body templates.
    pub body: Body,
}

/// The means by which a page learns of changes.
pub struct Updates {
    /// Polling interval, in seconds.
    pub poll_seconds: u32,
    /// Relative URL of the event stream.
    pub events: Option<String>,
}

/// The hidden fields of the forms on the checkout page.
#[derive(Clone)]
pub struct Hidden {
    /// Token that opens the checkout.
    pub token: String,
    /// Language that the customer chose.
    pub lang: Option<&'static str>,
    /// Origin of the page that embeds the checkout.
    pub parent: Option<String>,
}

/// The buttons that simulate payments of a test invoice.
pub struct Trial {
    /// Invoice id.
    pub invoice_id: String,
    /// Value and label of each button.
    pub cases: Vec<(&'static str, &'static str)>,
}

/// The time left to pay.
pub struct Left {
    /// Seconds.
    pub seconds: i64,
    /// Time as people read it.
    pub text: String,
}

/// The coins to choose from.
pub struct Coins<'a> {
    /// Invoice id.
    pub invoice_id: &'a str,
    /// Hidden fields of the form.
    pub hidden: Hidden,
    /// Coins.
    pub coins: Vec<Coin>,
}

/// A coin to choose.
pub struct Coin {
    /// Asset id.
    pub id: &'static str,
    /// Name.
    pub name: &'static str,
    /// Symbol.
    pub symbol: &'static str,
    /// File name of the logo, without extension.
    pub logo: String,
    /// Network of the coin.
    pub network: String,
    /// Network as a phrase.
    pub network_text: String,
    /// `true` for a coin of a test network.
    pub is_for_tests: bool,
    /// Amount due in this coin.
    pub due: String,
}

/// The checkout page before a coin is chosen.
#[derive(Template)]
#[template(path = "checkout/choose.html", config = "src/web/askama.toml")]
pub struct Choose<'a> {
    /// Texts of the page's language.
    pub words: &'static Words,
    /// Heading: the price.
    pub heading: String,
    /// Description of the purchase.
    pub description: Option<&'a str>,
    /// Time left to pay.
    pub left: Option<Left>,
    /// Coins to choose from. There may be none.
    pub coins: Coins<'a>,
    /// Link back to the shop.
    pub way_out: Option<WayOut<'a>>,
}

/// The checkout page with amount, address and deadline.
#[derive(Template)]
#[template(path = "checkout/pay.html", config = "src/web/askama.toml")]
pub struct Pay<'a> {
    /// Texts of the page's language.
    pub words: &'static Words,
    /// Invoice id.
    pub invoice_id: &'a str,
    /// Price.
    pub price: String,
    /// Description of the purchase.
    pub description: Option<&'a str>,
    /// Heading: the amount to send.
    pub heading: String,
    /// Time left to pay.
    pub left: Option<Left>,
    /// Amount received so far, if it is less than the amount due.
    pub received: Option<String>,
    /// Payments that are not confirmed.
    pub unconfirmed: Vec<Unconfirmed<'a>>,
    /// QR code for a wallet.
    pub qr: Option<Qr>,
    /// Text alternative of the QR code.
    pub qr_label: String,
    /// Instruction beside the QR code.
    pub scan: &'static str,
    /// Payment URI that opens a wallet.
    pub uri: Option<String>,
    /// Amount to send, in the format of the language.
    pub due: String,
    /// Amount to send, in the format that wallets read.
    pub exact: String,
    /// Symbol of the coin.
    pub symbol: &'static str,
    /// Address to pay to.
    pub address: &'a str,
    /// Warning to send only this coin on this network.
    pub only_network: String,
    /// Instructions for a first payment.
    pub steps: [String; 3],
    /// Exchange rate of the coin.
    pub rate: String,
    /// Deadline of the payment.
    pub until: Moment,
    /// Other coins, if the customer may still change the coin.
    pub other_coins: Option<Coins<'a>>,
    /// Link back to the shop.
    pub way_out: Option<WayOut<'a>>,
}

/// The outcome of an invoice, shown by an icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Paid.
    Good,
    /// Payment in progress.
    Waits,
    /// Not paid.
    Bad,
}

/// The checkout page when nothing is left to do.
#[derive(Template)]
#[template(path = "checkout/state.html", config = "src/web/askama.toml")]
pub struct State<'a> {
    /// Texts of the page's language.
    pub words: &'static Words,
    /// Invoice id.
    pub invoice_id: &'a str,
    /// Icon.
    pub kind: Kind,
    /// Heading about the outcome.
    pub heading: &'static str,
    /// Sentence about the outcome.
    pub message: &'static str,
    /// Description of the purchase.
    pub description: Option<&'a str>,
    /// Labels and values.
    pub facts: Vec<(&'static str, String)>,
    /// Payments that are not confirmed.
    pub unconfirmed: Vec<Unconfirmed<'a>>,
    /// `true` if the page has advice for a customer who sent money that is not shown.
    pub asks_for_sent: bool,
    /// Link to the shop.
    pub way_out: Option<WayOut<'a>>,
}

/// A payment that was seen but is not confirmed.
pub struct Unconfirmed<'a> {
    /// Amount and coin.
    pub amount: String,
    /// Number of confirmations in words.
    pub depth: String,
    /// Confirmations so far, and confirmations required.
    pub progress: Option<(u32, u32)>,
    /// Usual time until it is confirmed.
    pub wait: Option<String>,
    /// Transaction id.
    pub txid: &'a str,
    /// Link to a block explorer.
    pub explorer: Option<Site<'a>>,
}
