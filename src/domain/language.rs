//! Languages of the checkout, and the choice of a language for each customer.
//!
//! Invariant: every request gets a supported language.

use super::text_enum::text_enum;

text_enum! {
    /// A language of the checkout.
    #[derive(Default)]
    pub enum Language {
        /// English.
        #[default]
        English = "en",
        /// German.
        German = "de",
        /// French.
        French = "fr",
        /// Spanish.
        Spanish = "es",
        /// Italian.
        Italian = "it",
        /// Portuguese.
        Portuguese = "pt",
        /// Dutch.
        Dutch = "nl",
        /// Polish.
        Polish = "pl",
        /// Turkish.
        Turkish = "tr",
        /// Japanese.
        Japanese = "ja",
        /// Chinese, in simplified characters.
        Chinese = "zh",
        /// Arabic.
        Arabic = "ar",
    }
}

/// Setting of an account whose checkout uses the language of the customer's browser.
pub const AUTO: &str = "auto";

/// Largest number of entries of `Accept-Language` that are read.
const ENTRIES_MAX: usize = 50;

impl Language {
    /// Returns the language of a tag like `pt` or `pt-BR`. The region is ignored.
    pub fn from_tag(tag: &str) -> Option<Language> {
        let primary = tag.split('-').next().unwrap_or_default();
        primary.to_ascii_lowercase().parse().ok()
    }

    /// Returns the language of a customer: the language selected on the page, otherwise the account's setting.
    ///
    /// The setting [`AUTO`] means the browser's preference (`Accept-Language`, RFC 9110). An unknown setting means
    /// English.
    pub fn for_customer(picked: Option<&str>, setting: &str, accepted: &str) -> Language {
        let picked = picked.and_then(Language::from_tag);
        picked.unwrap_or_else(|| match setting {
            AUTO => browser_language(accepted),
            setting => Language::from_tag(setting).unwrap_or_default(),
        })
    }
}

/// Returns the supported language with the highest weight in `Accept-Language`. A weight of 0 excludes a language.
fn browser_language(accepted: &str) -> Language {
    let mut best = (0, Language::default());
    for entry in accepted.split(',').take(ENTRIES_MAX) {
        let (tag, weight) = entry.split_once(';').unwrap_or((entry, "q=1"));
        let weight = weight.trim().strip_prefix("q=").and_then(parse_weight);
        if let (Some(weight), Some(language)) = (weight, Language::from_tag(tag.trim()))
            && weight > best.0
        {
            best = (weight, language);
        }
    }
    best.1
}

/// Parses a weight from `0` to `1` with at most three decimals. Returns the weight in thousandths.
fn parse_weight(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if !matches!(whole, "0" | "1") || decimals.len() > 3 {
        return None;
    }
    let number: u16 = format!("{whole}{decimals:0<3}").parse().ok()?;
    Some(number.min(1000))
}

#[cfg(test)]
mod tests {
    use super::{AUTO, Language};

    #[test]
    fn browser_preference_selects_the_language() {
        for (accepted, expected) in [
            ("", Language::English),
            ("*", Language::English),
            ("de", Language::German),
            ("de-AT,de;q=0.9,en;q=0.8", Language::German),
            ("sv,fi;q=0.9,pt-BR;q=0.2,en;q=0.1", Language::Portuguese),
            ("en;q=0.4, fr;q=0.55 ,it;q=0.5", Language::French),
            ("es;q=0,pl;q=0.001", Language::Polish),
            ("ZH-hant-TW", Language::Chinese),
            ("ja;q=0.8,ar;q=0.8", Language::Japanese),
            ("de;q=2,nl;q=x,tr;q=0.1234,it;level=1", Language::English),
            ("\u{e9}-,;;=,q=1", Language::English),
            (&"sv,".repeat(10_000), Language::English),
        ] {
            assert_eq!(Language::for_customer(None, AUTO, accepted), expected);
        }
    }

    #[test]
    fn selection_precedes_setting_and_setting_precedes_browser() {
        let choose = |picked, setting| Language::for_customer(picked, setting, "fr");
        assert_eq!(choose(Some("tr"), "de"), Language::Turkish);
        assert_eq!(choose(Some("xx"), "de-CH"), Language::German);
        assert_eq!(choose(None, "de"), Language::German);
        assert_eq!(choose(Some(""), AUTO), Language::French);
        assert_eq!(choose(None, "sv"), Language::English);
    }
}
