//! The fields of each page: one type for each template, checked against its file by the compiler.
//!
//! What lives here: the fields of every page. What does not: markup, which is in the `.html` files beside this one, and
//! where the fields come from (`http`). What always holds: every field is escaped when it is put in, and
//! what stands as a url was read as one.

pub mod app;

use crate::domain::url::{Destination, Site};
use askama::Template;

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
    /// Seconds after which the page loads itself again.
    pub refresh_seconds: Option<u32>,
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
    /// What kind of thing it is.
    pub heading: &'a str,
    /// What exactly.
    pub message: String,
    /// The request that it went wrong in.
    pub request_id: &'a str,
}

/// The coins that one can be picked of.
pub struct Coins<'a> {
    /// The invoice.
    pub invoice_id: &'a str,
    /// What opens its checkout.
    pub token: &'a str,
    /// One for each coin.
    pub coins: Vec<Coin>,
}

/// One coin to be picked.
pub struct Coin {
    /// Its id.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Is it one of a test network?
    pub is_for_tests: bool,
    /// How much of it would be due.
    pub due: String,
    /// Its symbol.
    pub symbol: &'static str,
}

/// An invoice without a coin.
#[derive(Template)]
#[template(path = "checkout/choose.html", config = "src/web/askama.toml")]
pub struct Choose<'a> {
    /// The price.
    pub amount: String,
    /// Its currency.
    pub currency: &'static str,
    /// What is paid for.
    pub description: Option<&'a str>,
    /// How long it can be paid.
    pub until: Moment,
    /// What it can be paid with; there may be none.
    pub coins: Coins<'a>,
    /// The way back.
    pub way_out: Option<WayOut<'a>>,
}

/// An invoice with a coin: how much is to be sent, where to, until when.
#[derive(Template)]
#[template(path = "checkout/pay.html", config = "src/web/askama.toml")]
pub struct Pay<'a> {
    /// The price.
    pub amount: String,
    /// Its currency.
    pub currency: &'static str,
    /// What is paid for.
    pub description: Option<&'a str>,
    /// How long it can be paid.
    pub until: Moment,
    /// How much of the coin is to be sent.
    pub due: String,
    /// The coin's symbol.
    pub symbol: &'static str,
    /// Its chain.
    pub chain: &'static str,
    /// Where it is to be sent to.
    pub address: &'a str,
    /// What one of it is worth in the price's currency.
    pub rate: String,
    /// How much of it has come, where that is less than was due.
    pub received: Option<String>,
    /// The other coins, where one may still be picked.
    pub other_coins: Option<Coins<'a>>,
    /// The way back.
    pub way_out: Option<WayOut<'a>>,
}

/// An invoice on which nothing is left to do.
#[derive(Template)]
#[template(path = "checkout/state.html", config = "src/web/askama.toml")]
pub struct State<'a> {
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
    /// The way on, or back.
    pub way_out: Option<WayOut<'a>>,
}

/// A payment that was seen and is not confirmed.
pub struct Unconfirmed<'a> {
    /// How much of which coin.
    pub amount: String,
    /// How far it has come.
    pub depth: String,
    /// The transaction.
    pub txid: &'a str,
    /// Where a person looks it up.
    pub explorer: Option<Site<'a>>,
}

/// A payment link.
#[derive(Template)]
#[template(path = "link/link.html", config = "src/web/askama.toml")]
pub struct Link<'a> {
    /// Its id.
    pub id: &'a str,
    /// What it is called.
    pub name: &'a str,
    /// What is paid for.
    pub description: Option<&'a str>,
    /// What was wrong with what was sent.
    pub problem: Option<&'a str>,
    /// The price's currency.
    pub currency: &'static str,
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{
        Choose, Coin, Coins, Frame, Link, Moment, Page, Pay, Price, Problem, Setup, SetupDone,
        Shop, State, Unconfirmed, WayOut,
    };
    use crate::domain::url::{Destination, Site};
    use askama::Template;

    /// What would end an attribute or a text, begin an element, or be filled in once more.
    const HOSTILE: &str = "{{x}}{%x%}\"'><script>&";
    const ESCAPED: &str = "{{x}}{%x%}&#34;&#39;&#62;&#60;script&#62;&#38;";

    /// What a url may have of it.
    const URL: &str = "https://shop.example/{{x}}?'&";
    const ESCAPED_URL: &str = "\"https://shop.example/{{x}}?&#39;&#38;\"";

    fn way_out() -> Option<WayOut<'static>> {
        Some(WayOut {
            kind: HOSTILE,
            url: Destination::parse(URL).unwrap(),
            text: HOSTILE,
        })
    }

    fn until() -> Moment {
        Moment {
            moment: HOSTILE.to_owned(),
            text: HOSTILE.to_owned(),
        }
    }

    fn coins() -> Coins<'static> {
        let coin = || Coin {
            id: HOSTILE,
            name: HOSTILE,
            is_for_tests: true,
            due: HOSTILE.to_owned(),
            symbol: HOSTILE,
        };
        Coins {
            invoice_id: HOSTILE,
            token: HOSTILE,
            coins: vec![coin(), coin()],
        }
    }

    fn unconfirmed(explorer: Option<Site<'static>>) -> Unconfirmed<'static> {
        Unconfirmed {
            amount: HOSTILE.to_owned(),
            depth: HOSTILE.to_owned(),
            txid: HOSTILE,
            explorer,
        }
    }

    /// Asserts that the page shows the hostile text so often, and that it is a text wherever it is shown.
    #[track_caller]
    fn shows(body: impl Template, times: usize) {
        let shop = Shop {
            name: HOSTILE,
            logo: Site::parse(URL).ok(),
        };
        let frame = Frame {
            title: HOSTILE.to_owned(),
            root: HOSTILE.to_owned(),
            shop: Some(shop),
            is_for_tests: true,
            script: None,
            refresh_seconds: Some(10),
        };
        let page = Page { frame, body }.render().unwrap();
        let in_frame: usize = 3;
        assert_eq!(
            page.matches(ESCAPED).count(),
            in_frame.saturating_add(times),
            "{page}"
        );
        assert!(page.contains(ESCAPED_URL), "{page}");
        let rest = page.replace(ESCAPED, "").replace(ESCAPED_URL, "\"\"");
        for trace in ["script", "{", "}", "'", "&"] {
            assert!(!rest.contains(trace), "{trace} in {page}");
        }
        assert_eq!(rest.matches('"').count() % 2, 0, "{page}");
    }

    #[test]
    fn every_field_of_a_checkout_is_a_text_wherever_it_stands() {
        let choose = || Choose {
            amount: HOSTILE.to_owned(),
            currency: HOSTILE,
            description: Some(HOSTILE),
            until: until(),
            coins: coins(),
            way_out: way_out(),
        };
        shows(choose(), 5 + 10 + 2);
        let no_coins = Coins {
            coins: Vec::new(),
            ..coins()
        };
        let without = Choose {
            coins: no_coins,
            ..choose()
        };
        shows(without, 5 + 2);
        let pay = || Pay {
            amount: HOSTILE.to_owned(),
            currency: HOSTILE,
            description: Some(HOSTILE),
            until: until(),
            due: HOSTILE.to_owned(),
            symbol: HOSTILE,
            chain: HOSTILE,
            address: HOSTILE,
            rate: HOSTILE.to_owned(),
            received: None,
            other_coins: Some(coins()),
            way_out: way_out(),
        };
        shows(pay(), 16 + 10 + 2);
        let top_up = Pay {
            received: Some(HOSTILE.to_owned()),
            other_coins: None,
            ..pay()
        };
        shows(top_up, 16 + 2 + 2);
        let state = State {
            heading: HOSTILE,
            message: HOSTILE,
            description: Some(HOSTILE),
            facts: vec![(HOSTILE, HOSTILE.to_owned()), (HOSTILE, HOSTILE.to_owned())],
            unconfirmed: [None, Site::parse(URL).ok()].map(unconfirmed).into(),
            way_out: way_out(),
        };
        shows(state, 3 + 4 + 6 + 2);
    }

    #[test]
    fn every_field_of_another_page_is_a_text_wherever_it_stands() {
        let problem = Problem {
            heading: HOSTILE,
            message: HOSTILE.to_owned(),
            request_id: HOSTILE,
        };
        shows(problem, 3);
        let link = || Link {
            id: HOSTILE,
            name: HOSTILE,
            description: Some(HOSTILE),
            problem: Some(HOSTILE),
            currency: HOSTILE,
            price: Price::Named(HOSTILE),
        };
        shows(link(), 6);
        let price = Price::Fixed(HOSTILE.to_owned());
        shows(Link { price, ..link() }, 6);
        let setup = Setup {
            token: HOSTILE,
            email: HOSTILE,
            problem: Some(HOSTILE),
            password_chars_min: 10,
        };
        shows(setup, 3);
        shows(SetupDone { email: HOSTILE }, 1);
    }
}
