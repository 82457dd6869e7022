//! Fields of the checkout page in each state of an invoice.
//!
//! Invariant: texts are in the language of the page, and all values are already inserted.

use super::{ExitLink, Moment};
use crate::domain::SiteUrl;
use crate::domain::qr::Qr;

use crate::web::words::Words;
use askama::Template;

/// The body of a checkout page, with the data that the script needs to update the page.
#[derive(Template)]
#[template(path = "checkout/live.html", config = "src/web/askama.toml")]
pub struct LiveCheckout<Body: Template> {
    /// Texts of the page's language.
    pub words: &'static Words,
    /// Name of the page's state. When the state changes, the script moves the focus to the heading.
    pub state: &'static str,
    /// Polling interval and event stream of the page.
    pub live: PageUpdates,
    /// Hidden fields of the form with the buttons of a test invoice.
    pub hidden: HiddenFields,
    /// Buttons that simulate payments, `None` if the page has none.
    pub trial: Option<SimulationButtons>,
    /// Template of the content, which depends on the state.
    pub body: Body,
}

/// Polling interval and event stream through which a checkout page learns of changes.
pub struct PageUpdates {
    /// Polling interval of the script, in seconds.
    pub poll_seconds: u32,
    /// Relative URL of the event stream, `None` if the page needs none.
    pub events: Option<String>,
}

/// Hidden fields of the forms on a checkout page.
#[derive(Clone)]
pub struct HiddenFields {
    /// Token that opens the checkout of the invoice.
    pub token: String,
    /// Language that the customer chose, `None` without a choice.
    pub lang: Option<&'static str>,
    /// Origin of the page that embeds the checkout, if there is one.
    pub parent: Option<String>,
}

/// Buttons that simulate payments of a test invoice.
pub struct SimulationButtons {
    /// Id of the invoice.
    pub invoice_id: String,
    /// Submitted value and label of each button.
    pub cases: Vec<(&'static str, &'static str)>,
}

/// Time that the customer has left to pay.
pub struct TimeLeft {
    /// Time left to pay, in seconds.
    pub seconds: i64,
    /// Sentence with the time left to pay.
    pub text: String,
}

/// The coins that a customer can choose.
pub struct CoinOptions<'a> {
    /// Id of the invoice.
    pub invoice_id: &'a str,
    /// Hidden fields of the form that chooses a coin.
    pub hidden: HiddenFields,
    /// Coins that can be chosen, one entry for each symbol. There may be none.
    pub entries: Vec<CoinEntry>,
}

/// The coins of one symbol. More than one coin are the same coin on several networks.
pub struct CoinEntry {
    /// Symbol of the coins, for example `USDC`.
    pub symbol: &'static str,
    /// Name of the coins without their network.
    pub name: &'static str,
    /// Mark of the coins, without a network.
    pub mark: CoinMark,
    /// Names of the networks.
    pub networks: String,
    /// Amount due with its symbol, `None` if it depends on the network.
    pub due: Option<String>,
    /// The coins, at least one.
    pub options: Vec<CoinOption>,
}

/// Mark of a coin: names of pictures in `coins/marks.svg`.
pub struct CoinMark {
    /// Picture of the coin.
    pub coin: String,
    /// Picture of the network, for a token that exists on several networks.
    pub network: Option<&'static str>,
}

/// A coin that a customer can choose.
pub struct CoinOption {
    /// Id of the asset.
    pub id: &'static str,
    /// Name of the coin without its network.
    pub name: &'static str,
    /// Symbol of the coin, for example `BTC`.
    pub symbol: &'static str,
    /// Mark of the coin.
    pub mark: CoinMark,
    /// Name of the coin's network.
    pub network: String,
    /// Phrase that names the coin's network.
    pub network_text: String,
    /// `true` for a coin of a test network, which has no value.
    pub is_for_tests: bool,
    /// Amount due in this coin, with its symbol.
    pub due: String,
}

/// State of a step of the progress line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    /// The step is completed.
    Done,
    /// The step is the next one to be completed.
    Current,
    /// The step follows the current one.
    Ahead,
}

/// A step of a payment in the progress line.
pub struct Step {
    /// Name of the step.
    pub name: &'static str,
    /// State of the step.
    pub state: StepState,
}

/// The progress line: coin, seen, confirming, paid.
pub type ProgressLine = [Step; 4];

/// The checkout page before the customer chooses a coin.
#[derive(Template)]
#[template(path = "checkout/choose.html", config = "src/web/askama.toml")]
pub struct CoinChoicePage<'a> {
    /// Texts of the page's language.
    pub words: &'static Words,
    /// Heading, which states the price.
    pub heading: String,
    /// Description of the purchase.
    pub description: Option<&'a str>,
    /// Progress of the payment.
    pub progress: Option<ProgressLine>,
    /// Time left to pay.
    pub left: Option<TimeLeft>,
    /// Coins that the customer can choose. There may be none.
    pub coins: CoinOptions<'a>,
    /// Link back to the shop.
    pub way_out: Option<ExitLink<'a>>,
}

/// The checkout page that shows amount, address and deadline of the payment.
#[derive(Template)]
#[template(path = "checkout/pay.html", config = "src/web/askama.toml")]
pub struct PaymentPage<'a> {
    /// Texts of the page's language.
    pub words: &'static Words,
    /// Id of the invoice.
    pub invoice_id: &'a str,
    /// Price of the invoice with its currency.
    pub price: String,
    /// Description of the purchase.
    pub description: Option<&'a str>,
    /// Progress of the payment.
    pub progress: Option<ProgressLine>,
    /// Heading, which states the amount to send.
    pub heading: String,
    /// Time left to pay.
    pub left: Option<TimeLeft>,
    /// Sentence with the amount received so far, if more must be sent.
    pub received: Option<String>,
    /// Payments that were seen and are not confirmed.
    pub unconfirmed: Vec<UnconfirmedPayment<'a>>,
    /// Mark of the coin.
    pub mark: CoinMark,
    /// Name of the coin without its network.
    pub coin_name: &'static str,
    /// Phrase that names the coin's network.
    pub network_text: String,
    /// QR code that a wallet can scan, `None` if its text is too long.
    pub qr: Option<Qr>,
    /// Text alternative for the QR code.
    pub qr_label: String,
    /// QR code of the address alone, for wallets that read no payment URI. `None` if `qr` is this code already.
    pub address_qr: Option<Qr>,
    /// Instruction to scan the QR code.
    pub scan: &'static str,
    /// Payment URI that opens a wallet, if the coin has one.
    pub uri: Option<String>,
    /// Amount to send, in the number format of the language.
    pub due: String,
    /// Amount to send, with a decimal point, as wallets read it.
    pub exact: String,
    /// Symbol of the coin.
    pub symbol: &'static str,
    /// Address to which the customer pays.
    pub address: &'a str,
    /// Warning to send only this coin, and to send it only on this network.
    pub only_network: String,
    /// Instructions for customers who pay with crypto for the first time.
    pub steps: [String; 3],
    /// Exchange rate, for example `1 BTC = 60000 EUR`.
    pub rate: String,
    /// Deadline of the payment.
    pub until: Moment,
    /// Coins that the customer can choose instead, `None` if there are none.
    pub other_coins: Option<CoinOptions<'a>>,
    /// Link back to the shop.
    pub way_out: Option<ExitLink<'a>>,
}

/// Kind of outcome of an invoice, which selects the icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    /// The network confirms a payment.
    Confirming,
    /// The invoice is paid.
    Paid,
    /// The invoice is paid, and more than its price has arrived.
    Overpaid,
    /// Less than the price has arrived.
    Short,
    /// The payment arrived too late.
    Late,
    /// Nothing arrived in time.
    Expired,
    /// The shop cancelled the invoice.
    Cancelled,
    /// The payment vanished from its network.
    Failed,
}

impl OutcomeKind {
    /// Returns the CSS class for the color of the icon.
    pub const fn tone(self) -> &'static str {
        match self {
            OutcomeKind::Confirming => "waits",
            OutcomeKind::Paid | OutcomeKind::Overpaid => "good",
            OutcomeKind::Short
            | OutcomeKind::Late
            | OutcomeKind::Expired
            | OutcomeKind::Cancelled
            | OutcomeKind::Failed => "bad",
        }
    }
}

/// The checkout page when the customer has nothing left to do.
#[derive(Template)]
#[template(path = "checkout/state.html", config = "src/web/askama.toml")]
pub struct OutcomePage<'a> {
    /// Texts of the page's language.
    pub words: &'static Words,
    /// Id of the invoice.
    pub invoice_id: &'a str,
    /// Price of the invoice with its currency.
    pub price: String,
    /// Progress of the payment, `None` if the payment ended without success.
    pub progress: Option<ProgressLine>,
    /// Kind of outcome, which selects the icon.
    pub kind: OutcomeKind,
    /// Heading that states the outcome.
    pub heading: &'static str,
    /// Sentence that explains the outcome.
    pub message: &'static str,
    /// Description of the purchase.
    pub description: Option<&'a str>,
    /// Receipt of a paid invoice. It replaces `facts`.
    pub receipt: Option<Receipt<'a>>,
    /// Labels and values, for example the amounts due and received.
    pub facts: Vec<(&'static str, String)>,
    /// Payments that were seen and are not confirmed.
    pub unconfirmed: Vec<UnconfirmedPayment<'a>>,
    /// `true` if the page advises customers who have paid but see no payment.
    pub asks_for_sent: bool,
    /// Link back to the shop.
    pub way_out: Option<ExitLink<'a>>,
}

/// A payment that was seen and is not confirmed.
pub struct UnconfirmedPayment<'a> {
    /// Amount with its coin, for example `0.1 BTC`.
    pub amount: String,
    /// Sentence with the number of confirmations, `None` if the number is unknown.
    pub depth: Option<String>,
    /// Number of confirmations so far, and number needed. `None` if the chain requires finality instead of a number
    /// of confirmations.
    pub progress: Option<(u32, u32)>,
    /// Usual time until the payment is confirmed, in words.
    pub wait: Option<String>,
    /// Id of the transaction.
    pub txid: &'a str,
    /// Link to the transaction in a block explorer.
    pub explorer: Option<SiteUrl<'a>>,
}

/// The receipt of a paid invoice, on the screen and on paper.
pub struct Receipt<'a> {
    /// Name of the shop.
    pub seller: &'a str,
    /// Lines below the name, for example an address.
    pub address_lines: &'a [String],
    /// Labels and values, for example the date and the rate.
    pub facts: Vec<(&'static str, String)>,
    /// Id of each transaction, with its link to a block explorer.
    pub transactions: Vec<(&'a str, Option<SiteUrl<'a>>)>,
}
