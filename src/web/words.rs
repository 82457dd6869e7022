//! Texts of the customers' pages in each language. They are built into the binary and parsed at their first use.
//!
//! Invariant: every language has every text, with the same fields, for example `{amount}`. A test checks this.

use super::packed::Packed;
use crate::domain::Language;
use std::sync::OnceLock;

/// Unicode isolate characters that make the text between them run from left to right.
const LEFT_TO_RIGHT: (char, char) = ('\u{2066}', '\u{2069}');

/// Declares the texts. Each name is also the name of the text in the language files.
macro_rules! texts {
    ($($name:ident)+) => {
        /// All texts of one language.
        pub struct Words { $(
            #[doc = concat!("`", stringify!($name), "` of the language's file.")]
            pub $name: &'static str,
        )+ }

        impl Words {
            /// Names of all texts, in the order of the language files.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// Parses the texts of a language file. A missing text becomes empty.
            fn read(file: &'static str) -> Words {
                let line = |name: &str| {
                    let mut lines = file.lines().filter_map(|line| line.split_once(" = "));
                    lines.find(|(found, _)| *found == name).map_or("", |(_, text)| text)
                };
                Words { $($name: line(stringify!($name))),+ }
            }
        }
    };
}

texts! {
    name tag direction decimal language test test_note offline cancel back page_title pay_title choose_coin search search_none
    no_coin network time_left left_five left_one left_none send_title more_title waiting under_note part_note scan scan_test qr_pay
    qr_page qr_address open_wallet amount address copy copy_amount copy_address copied copy_failed only_network whole help help_open
    help_scan help_check other_coin details price rate until due received invoice transaction coin date receipt
    print_receipt progress step_seen step_confirming step_paid step_done seen_title seen_note
    confirmations confirmations_final wait_range wait_most wait_soon paid_title paid_note over_note short_title short_note late_title
    late_note expired_title expired_note reading_note seen_late_note cancelled_title cancelled_note failed_title failed_note sent_title sent_note
    try_title try_note try_exact try_under try_over try_late try_clock link_amount link_example link_go link_wrong link_most
    link_expired_title link_expired_note link_used_title link_used_note link_scan link_save link_print link_open
    error_title error_note error_coin error_shop error_missing_title error_missing_note error_path_note error_busy_title
    error_busy_note error_later_title error_later_note error_broken_title error_broken_note error_back error_help
}

impl Words {
    /// Returns the texts of a language. The first call for a language parses its file.
    #[must_use]
    pub fn for_language(language: Language) -> &'static Words {
        macro_rules! read {
            ($file:literal) => {{
                static TEXT: OnceLock<String> = OnceLock::new();
                static READ: OnceLock<Words> = OnceLock::new();
                let packed = include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".txt.gz"));
                READ.get_or_init(|| Words::read(TEXT.get_or_init(|| Packed(packed).text())))
            }};
        }
        match language {
            Language::English => read!("en"),
            Language::German => read!("de"),
            Language::French => read!("fr"),
            Language::Spanish => read!("es"),
            Language::Italian => read!("it"),
            Language::Portuguese => read!("pt"),
            Language::Dutch => read!("nl"),
            Language::Polish => read!("pl"),
            Language::Turkish => read!("tr"),
            Language::Japanese => read!("ja"),
            Language::Chinese => read!("zh"),
            Language::Arabic => read!("ar"),
        }
    }

    /// Formats a decimal number with the decimal separator of the language.
    #[must_use]
    pub fn format_number(&self, decimal: &str) -> String {
        decimal.replace('.', self.decimal)
    }

    /// Formats an amount with its unit. In a right-to-left language, the amount still runs from left to right.
    #[must_use]
    pub fn format_amount(&self, decimal: &str, unit: &str) -> String {
        let sum = format!("{} {unit}", self.format_number(decimal));
        match (self.direction, LEFT_TO_RIGHT) {
            ("rtl", (begin, end)) => format!("{begin}{sum}{end}"),
            _ => sum,
        }
    }
}

/// Inserts values for the fields of a text, for example `{amount}`. Inserted values are not searched for fields.
#[must_use]
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut parts = text.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        let value = values.iter().find(|(known, _)| *known == name);
        filled.push_str(value.map_or("", |(_, value)| value));
        filled.push_str(rest);
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::{Words, fill};
    use crate::domain::mail::receipt::receipt;
    use crate::domain::{Cents, Currency, Language, ReceiptFacts, Time};

    /// Returns the names of the fields in a text, in alphabetical order.
    fn field_names(text: &str) -> Vec<&str> {
        let fields = text.split('{').skip(1);
        let mut fields: Vec<_> = fields.filter_map(|part| part.split('}').next()).collect();
        fields.sort_unstable();
        fields
    }

    /// Returns the names and the texts in the file of a language.
    fn file_texts(language: Language) -> Vec<(String, String)> {
        let path = format!("{}/src/web/languages/{language}.txt", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let pair = |line: &str| {
            let (name, text) = line.split_once(" = ").unwrap_or((line, ""));
            (name.to_owned(), text.to_owned())
        };
        lines.map(pair).collect()
    }

    #[test]
    fn every_language_has_every_text_with_the_same_fields() {
        let english = file_texts(Language::English);
        let names: Vec<_> = english.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, Words::NAMES);
        for language in Language::ALL {
            let own = file_texts(*language);
            assert_eq!(own.len(), english.len(), "{language}");
            for ((name, text), (expected, in_english)) in own.iter().zip(&english) {
                assert_eq!(name, expected, "{language}");
                assert!(!text.trim().is_empty(), "{language}: {name}");
                assert_eq!(text.trim(), text, "{language}: {name}");
                assert_eq!(field_names(text), field_names(in_english), "{language}: {name}");
                let is_term =
                    ["name", "tag", "transaction"].contains(&name.as_str()) || text.len() < 8;
                let is_own = is_term || text != in_english || *language == Language::English;
                assert!(is_own, "{language}: {name} is not translated");
            }
            let words = Words::for_language(*language);
            assert!(words.tag.starts_with(language.as_str()), "{language}");
            assert!(matches!(words.direction, "ltr" | "rtl"), "{language}");
            assert!(matches!(words.decimal, "." | ","), "{language}");
        }
    }

    #[test]
    fn emailed_receipt_uses_the_words_of_the_page() {
        let facts = ReceiptFacts {
            shop: "Shop",
            amount: Cents(2000),
            currency: Currency::Eur,
            received: None,
            paid_at: Time(0),
            order_id: None,
            description: None,
            invoice_id: "i",
            url: "https://pay.example/checkout/i",
        };
        for language in Language::ALL {
            let words = Words::for_language(*language);
            let body = receipt(&facts, *language).body;
            assert!(body.starts_with(words.paid_note), "{language}: {body}");
            for name in [words.date, words.invoice, words.amount] {
                assert!(body.lines().any(|line| line.starts_with(name)), "{language}: {name}");
            }
        }
    }

    #[test]
    fn french_punctuation_never_starts_a_line() {
        for (name, text) in file_texts(Language::French) {
            for mark in [" :", " ;", " ?", " !", " »", "« "] {
                assert!(!text.contains(mark), "{name} has a plain space in “{mark}”: {text}");
            }
        }
    }

    #[test]
    fn inserted_values_are_not_searched_for_fields() {
        let values = [("a", "{b}"), ("b", "x")];
        assert_eq!(fill("{a} and {b}{c}.", &values), "{b} and x.");
        assert_eq!(fill("", &values), "");
        assert_eq!(fill("no field", &values), "no field");
        assert_eq!(fill("{", &values), "");
    }

    #[test]
    fn amounts_use_the_notation_of_the_language() {
        let sum = |language| Words::for_language(language).format_amount("0.25", "LTC");
        assert_eq!(sum(Language::English), "0.25 LTC");
        assert_eq!(sum(Language::German), "0,25 LTC");
        assert_eq!(sum(Language::Arabic), "\u{2066}0.25 LTC\u{2069}");
    }
}
