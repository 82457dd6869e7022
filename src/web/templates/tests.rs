//! Tests that pages show inserted values as text, never as markup.

use super::{
    ClosedLinkPage, CoinChoicePage, CoinEntry, CoinMark, CoinOption, CoinOptions, ErrorPage,
    ExitLink, Frame, HiddenFields, LanguageLink, LinkPage, LinkPicture, LinkQrPage, LiveCheckout,
    Moment, OutcomeKind, OutcomePage, Page, PageUpdates, PaymentPage, Price, ProgressLine, Receipt,
    SetupForm, Shop, SimulationButtons, Step, StepState, TimeLeft, UnconfirmedPayment,
};
use crate::domain::qr::Qr;
use crate::domain::{Language, SiteOrAppUrl, SiteUrl};
use crate::web::STYLE;
use crate::web::words::Words;
use askama::Template;

/// Characters that could end an attribute or a text, start an element, or look like a template field.
const HOSTILE: &str = "{{x}}{%x%}\"'><script>&";
const ESCAPED: &str = "{{x}}{%x%}&#34;&#39;&#62;&#60;script&#62;&#38;";

/// A URL with the characters of `HOSTILE` that a URL may contain.
const URL: &str = "https://shop.example/{{x}}?'&";
const ESCAPED_URL: &str = "\"https://shop.example/{{x}}?&#39;&#38;\"";

fn hostile_text() -> String {
    HOSTILE.to_owned()
}

fn words() -> &'static Words {
    Words::for_language(Language::English)
}

fn exit_link() -> Option<ExitLink<'static>> {
    Some(ExitLink { kind: HOSTILE, url: SiteOrAppUrl::parse(URL)?, text: HOSTILE })
}

fn hidden_fields() -> HiddenFields {
    HiddenFields { token: hostile_text(), lang: Some(HOSTILE), parent: Some(hostile_text()) }
}

fn time_left() -> Option<TimeLeft> {
    Some(TimeLeft { seconds: 10, text: hostile_text() })
}

fn link_picture() -> Option<LinkPicture> {
    Some(LinkPicture { url: hostile_text(), width: 1, height: 1 })
}

fn coin_mark() -> CoinMark {
    CoinMark { coin: hostile_text(), network: Some(HOSTILE) }
}

fn coin_options() -> CoinOptions<'static> {
    let coin = || CoinOption {
        id: HOSTILE,
        name: HOSTILE,
        symbol: HOSTILE,
        mark: coin_mark(),
        network: hostile_text(),
        network_text: hostile_text(),
        is_for_tests: true,
        due: hostile_text(),
    };
    let entry = |options| CoinEntry {
        symbol: HOSTILE,
        name: HOSTILE,
        mark: coin_mark(),
        networks: hostile_text(),
        due: Some(hostile_text()),
        options,
    };
    let entries = vec![entry(vec![coin()]), entry(vec![coin(), coin()])];
    CoinOptions { invoice_id: HOSTILE, hidden: hidden_fields(), entries }
}

/// Number of times that the value of `coin_options` shows the hostile text: nine times for a coin on one network, six
/// times for a coin on several networks and seven times for each of its two networks, and four times outside the coins.
const COIN_TEXT_COUNT: usize = 9 + 6 + 2 * 7 + 4;

fn progress() -> Option<ProgressLine> {
    let states = [StepState::Done, StepState::Done, StepState::Current, StepState::Ahead];
    Some(states.map(|state| Step { name: HOSTILE, state }))
}

/// Asserts that the page shows the hostile text this many times, and escapes it each time.
#[track_caller]
fn assert_escaped(body: impl Template, times: usize) {
    let shop = Shop { name: HOSTILE, logo: SiteUrl::parse(URL).ok() };
    let link = LanguageLink { href: hostile_text(), tag: HOSTILE, name: HOSTILE, is_current: true };
    let frame = Frame {
        title: hostile_text(),
        root: hostile_text(),
        shop: Some(shop),
        is_for_tests: true,
        refresh_seconds: Some(10),
        languages: vec![link],
        ..Frame::default()
    };
    let page = Page { frame, body }.render().unwrap_or_default();
    let in_frame: usize = 3 + 4;
    let found = page.matches(ESCAPED).count();
    assert_eq!(found, in_frame.saturating_add(times), "{page}");
    assert!(page.contains(ESCAPED_URL), "{page}");
    // `{time}` is expected: one of Coffer's own texts contains this field, which the script fills.
    let ours = [STYLE, ESCAPED, "{time}"];
    let rest = page.replace(ESCAPED_URL, "\"\"");
    let rest = ours.iter().fold(rest, |rest, part| rest.replace(part, ""));
    let rest = rest.replace("noscript", "");
    for trace in ["<script", "script>", "{", "}", "'", "&"] {
        assert!(!rest.contains(trace), "{trace} in {page}");
    }
    assert_eq!(rest.matches('"').count() % 2, 0, "{page}");
}

fn live_checkout<Body: Template>(
    body: Body,
    trial: Option<SimulationButtons>,
) -> LiveCheckout<Body> {
    LiveCheckout {
        words: words(),
        state: HOSTILE,
        live: PageUpdates { poll_seconds: 10, events: Some(hostile_text()) },
        hidden: hidden_fields(),
        trial,
        body,
    }
}

#[test]
fn checkout_page_escapes_every_field() {
    let choose = || CoinChoicePage {
        words: words(),
        heading: hostile_text(),
        description: Some(HOSTILE),
        progress: progress(),
        left: time_left(),
        coins: coin_options(),
        way_out: exit_link(),
    };
    assert_escaped(choose(), 3 + 4 + COIN_TEXT_COUNT + 2);
    let no_coins = CoinOptions { entries: Vec::new(), ..coin_options() };
    let without = CoinChoicePage { coins: no_coins, progress: None, ..choose() };
    assert_escaped(without, 3 + 2);
    let trial = SimulationButtons {
        invoice_id: hostile_text(),
        cases: vec![(HOSTILE, HOSTILE), (HOSTILE, HOSTILE)],
    };
    let whole = live_checkout(choose(), Some(trial));
    assert_escaped(whole, 3 + 4 + COIN_TEXT_COUNT + 2 + 2 + 4 + 4);
    assert_escaped(live_checkout(choose(), None), 3 + 4 + COIN_TEXT_COUNT + 2 + 2);
}

fn unconfirmed_payment(explorer: Option<SiteUrl<'static>>) -> UnconfirmedPayment<'static> {
    UnconfirmedPayment {
        amount: hostile_text(),
        depth: Some(hostile_text()),
        progress: Some((1, 2)),
        wait: Some(hostile_text()),
        txid: HOSTILE,
        explorer,
    }
}

#[test]
fn payment_page_escapes_every_field() {
    let pay = || PaymentPage {
        words: words(),
        invoice_id: HOSTILE,
        price: hostile_text(),
        description: Some(HOSTILE),
        progress: progress(),
        heading: hostile_text(),
        left: time_left(),
        received: None,
        unconfirmed: Vec::new(),
        mark: coin_mark(),
        coin_name: HOSTILE,
        network_text: hostile_text(),
        qr: Qr::encode(HOSTILE),
        qr_label: hostile_text(),
        address_qr: Qr::encode(HOSTILE),
        scan: HOSTILE,
        uri: Some(hostile_text()),
        due: hostile_text(),
        exact: hostile_text(),
        symbol: HOSTILE,
        address: HOSTILE,
        only_network: hostile_text(),
        steps: [hostile_text(), hostile_text(), hostile_text()],
        rate: hostile_text(),
        until: Moment { moment: hostile_text(), text: hostile_text() },
        other_coins: Some(coin_options()),
        way_out: exit_link(),
    };
    assert_escaped(pay(), 21 + 4 + 4 + COIN_TEXT_COUNT + 2);
    let page = pay().render().unwrap_or_default();
    let [wallet, code] = ["class=\"wallet\"", "<figure>"].map(|part| page.find(part));
    assert!(wallet.is_some() && wallet < code, "phones show the wallet's link first: {page}");
    let top_up = PaymentPage {
        received: Some(hostile_text()),
        unconfirmed: vec![unconfirmed_payment(None)],
        other_coins: None,
        uri: None,
        ..pay()
    };
    assert_escaped(top_up, 21 + 4 + 4 + 5 + 2);
}

#[test]
fn outcome_page_escapes_every_field() {
    let state = || OutcomePage {
        words: words(),
        invoice_id: HOSTILE,
        price: hostile_text(),
        progress: progress(),
        kind: OutcomeKind::Confirming,
        heading: HOSTILE,
        message: HOSTILE,
        description: Some(HOSTILE),
        receipt: None,
        facts: vec![(HOSTILE, hostile_text()), (HOSTILE, hostile_text())],
        unconfirmed: [None, SiteUrl::parse(URL).ok()].map(unconfirmed_payment).into(),
        asks_for_sent: true,
        way_out: exit_link(),
    };
    assert_escaped(state(), 5 + 4 + 4 + 2 * 5 + 2);
    let lines = [hostile_text(), hostile_text()];
    let receipt = Receipt {
        seller: HOSTILE,
        address_lines: &lines,
        facts: vec![(HOSTILE, hostile_text())],
        transactions: vec![(HOSTILE, None), (HOSTILE, SiteUrl::parse(URL).ok())],
    };
    let paid = OutcomePage { receipt: Some(receipt), unconfirmed: Vec::new(), ..state() };
    assert_escaped(paid, 5 + 4 + 3 + 2 + 2 + 2);
}

#[test]
fn other_pages_escape_every_field() {
    let problem = ErrorPage {
        words: words(),
        heading: HOSTILE,
        message: hostile_text(),
        request_id: HOSTILE,
        back: Some(hostile_text()),
    };
    assert_escaped(problem, 4);
    let link = || LinkPage {
        words: words(),
        lang: Some(HOSTILE),
        id: HOSTILE,
        name: HOSTILE,
        description: Some(HOSTILE),
        picture: link_picture(),
        until: Some(Moment { moment: hostile_text(), text: hostile_text() }),
        problem: Some(HOSTILE),
        amount_label: hostile_text(),
        example: hostile_text(),
        price: Price::Named(HOSTILE),
    };
    assert_escaped(link(), 11);
    let price = Price::Fixed(hostile_text());
    assert_escaped(LinkPage { price, ..link() }, 9);
    let closed = ClosedLinkPage {
        heading: HOSTILE,
        message: HOSTILE,
        description: Some(HOSTILE),
        picture: link_picture(),
    };
    assert_escaped(closed, 4);
    let code = LinkQrPage {
        words: words(),
        lang: Some(HOSTILE),
        id: HOSTILE,
        name: HOSTILE,
        price: Some(hostile_text()),
        qr: Qr::encode(HOSTILE),
        qr_label: hostile_text(),
        url: hostile_text(),
    };
    assert_escaped(code, 6);
    let setup = SetupForm {
        token: HOSTILE,
        email: HOSTILE,
        shop: HOSTILE,
        problem: Some(HOSTILE),
        password_chars_min: 10,
    };
    assert_escaped(setup, 4);
}

#[test]
fn parent_origin_is_escaped_and_scripts_are_files() {
    let frame =
        Frame { parent: Some(hostile_text()), script: Some("folder/file.js"), ..Frame::default() };
    let body = SetupForm { token: "", email: "", shop: "", problem: None, password_chars_min: 10 };
    let page = Page { frame, body }.render().unwrap_or_default();
    let named = format!("<meta name=\"coffer-parent\" content=\"{ESCAPED}\">");
    assert!(page.contains(&named), "{page}");
    let files = page.matches("<script type=\"module\" src=\"assets/").count();
    assert_eq!((files, page.matches("<script").count()), (2, 2), "{page}");
}
