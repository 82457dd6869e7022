//! What a browser gets: pages, their style, the widget; real files, built into the binary.
//!
//! What lives here: the files beside this one, the table of those that are sent as they are, and filling a page in. What
//! does not: what is put in (`http`). What always holds: a text that is filled in is escaped, and markup comes from the files here only.

/// The frame around every page.
pub const PAGE: &str = include_str!("page.html");
/// A page that says what went wrong.
pub const ERROR: &str = include_str!("error.html");
/// Says that no real money is meant.
pub const TEST: &str = include_str!("test.html");
/// Loads the page again after some seconds.
pub const REFRESH: &str = include_str!("refresh.html");
/// The shop at the top of a page.
pub const SHOP: &str = include_str!("shop.html");
/// The shop's picture.
pub const LOGO: &str = include_str!("logo.html");
/// One paragraph.
pub const PARAGRAPH: &str = include_str!("paragraph.html");
/// A paragraph that is read out at once.
pub const PROBLEM: &str = include_str!("problem.html");
/// A paragraph that is a link.
pub const WAY_OUT: &str = include_str!("way_out.html");
/// An invoice without a coin.
pub const CHOOSE: &str = include_str!("checkout/choose.html");
/// The form that picks a coin.
pub const COINS: &str = include_str!("checkout/coins.html");
/// One coin of it.
pub const COIN: &str = include_str!("checkout/coin.html");
/// An invoice with a coin: how much is to be sent, where to, until when.
pub const PAY: &str = include_str!("checkout/pay.html");
/// The title before the form that picks another coin.
pub const OTHER_COIN: &str = include_str!("checkout/other_coin.html");
/// An invoice on which nothing is left to do.
pub const STATE: &str = include_str!("checkout/state.html");
/// A term and what it is.
pub const FACT: &str = include_str!("checkout/fact.html");
/// A payment link.
pub const LINK: &str = include_str!("link/link.html");
/// Its price.
pub const PRICE: &str = include_str!("link/price.html");
/// The field for a price that the payer names.
pub const AMOUNT: &str = include_str!("link/amount.html");
/// The first operator, to be made.
pub const SETUP: &str = include_str!("setup/form.html");
/// The first operator, made.
pub const SETUP_DONE: &str = include_str!("setup/done.html");

/// A file that is sent as it is.
pub struct File {
    /// What it is called among the operations.
    pub operation: &'static str,
    /// Where it is.
    pub path: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// What it is.
    pub content_type: &'static str,
    /// A number that another version of it does not have.
    pub hash: u64,
    /// What is in it.
    pub bytes: &'static [u8],
}

/// Every file that is sent as it is.
pub static FILES: [File; 2] = [
    File {
        operation: "style",
        path: "/style.css",
        about: "The style of the pages.",
        content_type: "text/css; charset=utf-8",
        ..file(include_bytes!("style.css"))
    },
    File {
        operation: "widget",
        path: "/widget.js",
        about: "The script that opens the checkout from a shop's page.",
        content_type: "text/javascript; charset=utf-8",
        ..file(include_bytes!("widget.js"))
    },
];

/// What follows from the bytes of a file.
const fn file(bytes: &'static [u8]) -> File {
    File {
        operation: "",
        path: "",
        about: "",
        content_type: "",
        hash: hash(bytes),
        bytes,
    }
}

/// FNV-1a: it tells versions of our own files apart, and is no defence against anybody.
const fn hash(bytes: &[u8]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut rest = bytes;
    while let [byte, more @ ..] = rest {
        hash = (hash ^ *byte as u64).wrapping_mul(0x0100_0000_01b3);
        rest = more;
    }
    hash
}

/// Markup that was made here: files, with escaped texts in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup(String);

impl Markup {
    /// Nothing.
    pub fn none() -> Markup {
        Markup::default()
    }

    /// One after the other.
    pub fn all(parts: impl IntoIterator<Item = Markup>) -> Markup {
        Markup(parts.into_iter().map(|part| part.0).collect())
    }

    /// As it is sent.
    pub fn into_text(self) -> String {
        self.0
    }
}

/// One of the files above, being filled in: `{{name}}` stands for what is put in under this name, or for nothing.
pub struct Filling {
    template: &'static str,
    values: Vec<(&'static str, String)>,
}

impl Filling {
    /// Begins with this file.
    pub fn of(template: &'static str) -> Filling {
        Filling {
            template,
            values: Vec::new(),
        }
    }

    /// Puts in a text, escaped.
    pub fn text(mut self, name: &'static str, text: &str) -> Filling {
        self.values.push((name, escaped(text)));
        self
    }

    /// Puts in markup.
    pub fn part(mut self, name: &'static str, part: Markup) -> Filling {
        self.values.push((name, part.0));
        self
    }

    /// The file with everything put in. What was put in is not searched for names again.
    pub fn done(&self) -> Markup {
        let mut out = String::with_capacity(self.template.len());
        let mut rest = self.template;
        while let Some((before, after)) = rest.split_once("{{") {
            out.push_str(before);
            let (name, after) = after.split_once("}}").unwrap_or((after, ""));
            let value = self.values.iter().find(|(known, _)| *known == name);
            out.push_str(value.map_or("", |(_, text)| text));
            rest = after;
        }
        out.push_str(rest);
        Markup(out)
    }
}

/// A text as it stands in HTML, between tags or in the quotes of an attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{FILES, Filling, Markup, PARAGRAPH, hash};

    #[test]
    fn a_text_is_escaped_and_not_searched_again() {
        let hostile = "{{text}}\"'><script>&";
        let done = Filling::of(PARAGRAPH).text("text", hostile).done();
        let text = done.into_text();
        let safe = "{{text}}&quot;&#39;&gt;&lt;script&gt;&amp;";
        assert!(text.contains(safe), "{text}");
    }

    #[test]
    fn files_have_the_hash_of_their_bytes() {
        // As FNV-1a's authors list it.
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
        for file in &FILES {
            assert_eq!(file.hash, hash(file.bytes), "{}", file.path);
        }
    }

    #[test]
    fn what_is_not_put_in_is_nothing() {
        let done = Filling::of("a{{b}}c{{d").part("x", Markup::none()).done();
        assert_eq!(done.into_text(), "ac");
    }

    #[test]
    fn markup_goes_in_as_it_is() {
        let inner = Filling::of("[{{text}}]").text("text", "1 < 2").done();
        let both = Markup::all([inner.clone(), inner]);
        let done = Filling::of("({{it}})").part("it", both).done();
        assert_eq!(done.into_text(), "([1 &lt; 2][1 &lt; 2])");
    }
}
