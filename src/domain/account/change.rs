//! Request body that changes an account. Merchants and operators may change the settings. Only operators may change
//! the terms.

use super::Account;
use super::checkout_rules::{AddressLinesRule, FavoriteCoinsRule};
use crate::domain::asset::Asset;
use crate::domain::fields::rule::{
    CoinRule, DescribedRule, FlagRule, IntegerRule, described, integer, object,
};
use crate::domain::fields::text_rule::{UrlRule, name, site_or_app_url};
use crate::domain::fields::{Fields, Keywords, Rule, Schema, input, schema, schema_from_keywords};
use crate::domain::language::{AUTO, Language};
use crate::domain::money::{AmountError, Bps, Cents};
use crate::domain::rate::SPREAD_BPS_MAX;
use crate::domain::refusal::Refusal;
use crate::domain::url::SiteUrl;
use serde_json::{Number, Value, json};

/// Largest server quota that an account can have.
pub const SERVER_QUOTA_MAX: i64 = 100_000;
const ORIGINS_MAX: usize = 50;
const ORIGIN_CHARS_MAX: usize = 300;

input! {
    /// Changes of an account. Absent fields stay as they are.
    pub ChangeAccount, checked
        name, ttl_seconds, success_url, cancel_url, branding, checkout_lang, allowed_origins, favorite_coins,
        address_lines, payout_asset, fee_bps, under_bps, over_bps, rate_spread_bps, customers_enabled,
        settlement_enabled, server_quota, max_invoice_amount, payout_minimum, payout_daily_limit, signer_limit;
    unknown refused {
        /// Name of the merchant.
        optional name: String = name(1..=200), "Corner Shop";
        /// Time to pay in seconds, for invoices without their own.
        optional ttl_seconds: i64 = integer(60..=86_400);
        /// URL for the customer after payment: a site, or an app by its own scheme; null for none.
        change success_url: String = CUSTOMER_URL;
        /// URL for the customer who cancels: a site, or an app by its own scheme; null for none.
        change cancel_url: String = CUSTOMER_URL;
        /// Appearance of the checkout. Null removes a part.
        optional branding: ChangeBranding = object(ChangeBranding::read, &ChangeBranding::OBJECT), { "color": "#0a84ff" };
        /// Language of the checkout, like en or pt-BR: English, German, French, Spanish, Italian, Portuguese, Dutch,
        /// Polish, Turkish, Japanese, Chinese (simplified) or Arabic. auto follows the customer's browser.
        optional checkout_lang: String = LanguageRule;
        /// Origins whose pages may use the public keys; empty for all.
        optional allowed_origins: Vec<String> = OriginsRule;
        /// Coins that the checkout lists first, in this order; empty for the usual order.
        optional favorite_coins: Vec<&'static Asset> = FavoriteCoinsRule, ["BTC", "USDC-BASE"];
        /// Lines below the name on receipts, for example an address; at most 8 lines of 100 characters.
        optional address_lines: Vec<String> = AddressLinesRule, ["1 Example Street", "10115 Berlin"];
        /// Coin of the payouts.
        optional payout_asset: &'static Asset = CoinRule;
        /// Fee in basis points.
        optional fee_bps: Bps = bps_up_to(10_000);
        /// Highest price of an invoice. Operators only.
        optional max_invoice_amount: Cents = MoneyLimitRule { takes_zero: false };
        /// Lowest amount of a payout. Operators only.
        optional payout_minimum: Cents = MoneyLimitRule { takes_zero: false };
        /// Highest sum of payouts in any 24 hours, in each currency. Operators only.
        optional payout_daily_limit: Cents = MoneyLimitRule { takes_zero: false };
        /// Highest sum for the signer in any 24 hours, in each currency; 0 for nothing, null for no limit. Operators
        /// only.
        change signer_limit: Cents = MoneyLimitRule { takes_zero: true };
        /// Underpayment that still counts as paid, in basis points of the price.
        optional under_bps: Bps = bps_up_to(2_000);
        /// Overpayment that still counts as exact, in basis points of the price.
        optional over_bps: Bps = bps_up_to(2_000);
        /// Discount of the account's rates from the sources' rates, in basis points: the customer pays that much more
        /// of a coin.
        optional rate_spread_bps: Bps = bps_up_to(SPREAD_BPS_MAX);
        /// Whether customers may have static deposit addresses.
        optional customers_enabled: bool = FlagRule;
        /// Whether settlement is enabled; stored and shown only.
        optional settlement_enabled: bool = FlagRule;
        /// Highest number of servers at once; 0 forbids orders.
        optional server_quota: i64 = integer(0..=SERVER_QUOTA_MAX);
    }
}

input! {
    /// Appearance of the checkout. Null removes a part.
    pub ChangeBranding, checked color, logo_url; unknown refused {
        /// Color, as # and six hexadecimal digits.
        change color: String = ColorRule;
        /// URL of the logo; https.
        change logo_url: String = LogoRule;
    }
}

impl ChangeAccount {
    /// JSON names of the fields that only operators may change.
    pub const TERMS: [&'static str; 11] = [
        "feeBps",
        "maxInvoiceAmount",
        "payoutMinimum",
        "payoutDailyLimit",
        "signerLimit",
        "underBps",
        "overBps",
        "rateSpreadBps",
        "customersEnabled",
        "settlementEnabled",
        "serverQuota",
    ];

    /// Applies the change to an account. Absent fields keep their values.
    pub fn apply(self, to: &mut Account) {
        to.name = self.name.unwrap_or_else(|| std::mem::take(&mut to.name));
        set_if_some(&mut to.ttl_seconds, self.ttl_seconds);
        set_if_some(&mut to.success_url, self.success_url);
        set_if_some(&mut to.cancel_url, self.cancel_url);
        if let Some(branding) = self.branding {
            set_if_some(&mut to.branding.color, branding.color);
            set_if_some(&mut to.branding.logo_url, branding.logo_url);
        }
        set_if_some(&mut to.checkout_lang, self.checkout_lang);
        set_if_some(&mut to.allowed_origins, self.allowed_origins);
        set_if_some(&mut to.favorite_coins, self.favorite_coins);
        set_if_some(&mut to.address_lines, self.address_lines);
        set_if_some(&mut to.payout_asset, self.payout_asset);
        set_if_some(&mut to.fee, self.fee_bps);
        set_if_some(&mut to.under, self.under_bps);
        set_if_some(&mut to.over, self.over_bps);
        set_if_some(&mut to.spread, self.rate_spread_bps);
        set_if_some(&mut to.customers_enabled, self.customers_enabled);
        set_if_some(&mut to.settlement_enabled, self.settlement_enabled);
        set_if_some(&mut to.server_quota, self.server_quota);
        set_if_some(&mut to.invoice_max, self.max_invoice_amount);
        set_if_some(&mut to.payout_min, self.payout_minimum);
        set_if_some(&mut to.payout_daily_max, self.payout_daily_limit);
        set_if_some(&mut to.signer_max, self.signer_limit);
    }
}

pub(super) fn set_if_some<T>(to: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *to = value;
    }
}

const CUSTOMER_URL: DescribedRule<UrlRule> = described(
    site_or_app_url(),
    schema!({
        "type": "string",
        "maxLength": 2048,
        "pattern": "^[A-Za-z][A-Za-z0-9+.-]*://[!#-;=?-\\[\\]^_a-z{|}~]*$"
    }),
);

pub(super) struct BpsRule(IntegerRule);

/// Returns the rule for 0 to `max` basis points.
pub(super) const fn bps_up_to(max: u32) -> BpsRule {
    BpsRule(integer(0..=max as i64))
}

impl Rule for BpsRule {
    type Value = Bps;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Bps>, Refusal> {
        let number = self.0.read(fields, name)?;
        let number = number.and_then(|number| u32::try_from(number).ok());
        Ok(number.map(Bps))
    }

    fn json_schema(&self) -> Keywords {
        self.0.json_schema()
    }
}

/// Rule for a positive amount of money, as a string or a number. Zero is allowed if `takes_zero`.
pub(super) struct MoneyLimitRule {
    pub(super) takes_zero: bool,
}

impl Rule for MoneyLimitRule {
    type Value = Cents;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Cents>, Refusal> {
        let Some(value) = fields.get(name) else {
            return Ok(None);
        };
        let digits = value.as_str().or_else(|| value.as_number().map(Number::as_str));
        if self.takes_zero && matches!(digits, Some("0" | "0.0" | "0.00")) {
            return Ok(Some(Cents::ZERO));
        }
        let problem = match digits.map(Cents::parse) {
            Some(Ok(cents)) => return Ok(Some(cents)),
            Some(Err(AmountError::TooLarge)) => format!("must be at most {}", Cents::AMOUNT_MAX),
            Some(Err(AmountError::Malformed)) | None => {
                "must be a positive decimal with at most two decimals".to_owned()
            }
        };
        Err(Refusal::field(name, problem))
    }

    fn json_schema(&self) -> Keywords {
        let text = json!({ "type": "string", "pattern": "^[0-9]{1,12}(\\.[0-9]{1,2})?$" });
        let least = if self.takes_zero { "minimum" } else { "exclusiveMinimum" };
        schema_from_keywords([("anyOf", json!([text, { "type": "number", least: 0 }]))])
    }
}

struct ColorRule;

impl Rule for ColorRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let color = fields.text(name, 7..=7)?.map(str::to_ascii_lowercase);
        if !color.as_deref().is_none_or(is_color) {
            let problem = "must be # and six hex digits, like #0a84ff";
            return Err(Refusal::field(name, problem));
        }
        Ok(color)
    }

    fn json_schema(&self) -> Keywords {
        const SCHEMA: Schema = schema!({ "type": "string", "pattern": "^#[0-9a-fA-F]{6}$" });
        SCHEMA.json_schema()
    }
}

struct LogoRule;

impl Rule for LogoRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let url = fields.url(name)?;
        let is_https = |url: &str| SiteUrl::parse(url).is_ok_and(|site| site.is_https());
        if url.is_some_and(|url| !is_https(url)) {
            return Err(Refusal::field(name, "must be an https:// url"));
        }
        Ok(url.map(str::to_owned))
    }

    fn json_schema(&self) -> Keywords {
        const SCHEMA: Schema = schema!({
            "type": "string",
            "maxLength": 2048,
            "pattern": "^[Hh][Tt][Tt][Pp][Ss]://[!$-.0-9;=@-\\[\\]^_a-z{|}~][!#-;=?-\\[\\]^_a-z{|}~]*$"
        });
        SCHEMA.json_schema()
    }
}

struct LanguageRule;

impl Rule for LanguageRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let lang = fields.text(name, 2..=35)?;
        if !lang.is_none_or(is_language_setting) {
            let known = Language::TEXTS.join(", ");
            let problem =
                format!("must be {AUTO}, or a language tag that begins with one of {known}");
            return Err(Refusal::field(name, problem));
        }
        Ok(lang.map(str::to_owned))
    }

    fn json_schema(&self) -> Keywords {
        const SCHEMA: Schema = schema!({
            "type": "string",
            "pattern": "^(auto|([Ee][Nn]|[Dd][Ee]|[Ff][Rr]|[Ee][Ss]|[Ii][Tt]|[Pp][Tt]|[Nn][Ll]|[Pp][Ll]|[Tt][Rr]|[Jj][Aa]|[Zz][Hh]|[Aa][Rr])(-[A-Za-z0-9]{2,8})*)$",
            "maxLength": 35
        });
        SCHEMA.json_schema()
    }
}

struct OriginsRule;

impl Rule for OriginsRule {
    type Value = Vec<String>;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Vec<String>>, Refusal> {
        let Some(list) = fields.list(name)? else {
            return Ok(None);
        };
        if list.len() > ORIGINS_MAX {
            let problem = format!("must have at most {ORIGINS_MAX} entries");
            return Err(Refusal::field(name, problem));
        }
        let origins = list.iter().map(|item| read_origin(name, item.as_str()));
        origins.collect::<Result<_, _>>().map(Some)
    }

    fn json_schema(&self) -> Keywords {
        const ORIGIN: Schema = schema!({
            "type": "string",
            "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[A-Za-z0-9\\[][A-Za-z0-9.:\\[\\]-]*$"
        });
        schema_from_keywords([
            ("type", json!("array")),
            ("maxItems", json!(ORIGINS_MAX)),
            ("items", Value::Object(ORIGIN.json_schema())),
        ])
    }
}

/// Returns `true` for `#` and six lower-case hex digits.
fn is_color(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.strip_prefix('#').is_some_and(|digits| digits.len() == 6 && digits.bytes().all(is_digit))
}

/// Returns `true` for `auto`, and for a tag of a checkout language, like `en` or `pt-BR`.
fn is_language_setting(text: &str) -> bool {
    if text == AUTO {
        return true;
    }
    let mut parts = text.split('-').skip(1);
    Language::from_tag(text).is_some()
        && parts.all(|part| {
            (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// Parses an origin. Returns its scheme, host and port in the form that browsers send.
fn read_origin(name: &str, text: Option<&str>) -> Result<String, Refusal> {
    let site = text.filter(|text| text.len() <= ORIGIN_CHARS_MAX);
    let site = site.and_then(|text| SiteUrl::parse(text).ok());
    let origin = site.filter(|site| site.text_after_authority().is_empty());
    origin.map(|site| site.origin()).ok_or_else(|| {
        let problem = "must be a list of origins like https://shop.example, without a path";
        Refusal::field(name, problem)
    })
}

#[cfg(test)]
mod tests {
    use super::{is_color, is_language_setting, read_origin};

    #[test]
    fn malformed_colors_languages_and_origins_are_refused() {
        assert!(is_color("#0a84ff"));
        for wrong in ["0a84ff", "#0a84f", "#0A84FF", "#0a84fg", "#0a84fff"] {
            assert!(!is_color(wrong), "{wrong}");
        }
        assert!(
            is_language_setting("en")
                && is_language_setting("pt-BR")
                && is_language_setting("zh-Hant-TW")
        );
        assert!(is_language_setting("auto"));
        for wrong in ["", "e", "english", "en_GB", "en-", "-en", "é", "sv", "Auto", "auto-de"] {
            assert!(!is_language_setting(wrong), "{wrong}");
        }
        let read = |text| read_origin("allowedOrigins", Some(text)).ok();
        assert_eq!(read("https://Shop.Example").as_deref(), Some("https://shop.example"));
        assert_eq!(read("http://localhost:3000").as_deref(), Some("http://localhost:3000"));
        // Browsers omit the default port of a scheme from an origin.
        assert_eq!(read("http://[::1]:80").as_deref(), Some("http://[::1]"));
        for wrong in [
            "*",
            "shop.example",
            "https://",
            "https://a/b",
            "https://a b",
            "ftp://a",
            "https://:80",
            "https://a/",
            "https://a:0",
            "https://a:65536",
            "https://me@a",
            "https://a..b",
            "null",
        ] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }
}
