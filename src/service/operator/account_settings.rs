//! What can be changed of an account: reads a body of changes, field by field.
//!
//! What does not live here: who may change it (`accounts`) and the account's status (`service::accounts`). What
//! always holds: a body is read whole before anything of it is saved.

use crate::domain::account::Account;
use crate::domain::asset::Asset;
use crate::domain::fields::Fields;
use crate::domain::language::{AUTO, Language};
use crate::domain::money::{AmountError, Bps, Cents};
use crate::domain::rate::SPREAD_BPS_MAX;
use crate::domain::refusal::Refusal;
use crate::domain::url::Site;
use serde_json::Value;

/// Fields that only an operator changes: the terms of the account.
pub const TERMS: [&str; 11] = [
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

/// What the merchant changes too.
pub(in crate::service) const SETTINGS: [&str; 8] = [
    "name",
    "ttlSeconds",
    "successUrl",
    "cancelUrl",
    "branding",
    "checkoutLang",
    "allowedOrigins",
    "payoutAsset",
];

/// The most servers that an account may be allowed.
pub const SERVER_QUOTA_MAX: i64 = 100_000;
/// The most origins that an account lists.
const ORIGINS_MAX: usize = 50;
/// The longest origin, in characters.
const ORIGIN_CHARS_MAX: usize = 300;

/// Changes the account's terms.
pub(in crate::service) fn change_terms(
    account: &mut Account,
    fields: &Fields<'_>,
) -> Result<(), Refusal> {
    account.fee = bps(fields, "feeBps", 10_000)?.unwrap_or(account.fee);
    account.under = bps(fields, "underBps", 2_000)?.unwrap_or(account.under);
    account.over = bps(fields, "overBps", 2_000)?.unwrap_or(account.over);
    let spread_max = i64::from(SPREAD_BPS_MAX);
    account.spread = bps(fields, "rateSpreadBps", spread_max)?.unwrap_or(account.spread);
    account.customers_enabled = fields
        .flag("customersEnabled")?
        .unwrap_or(account.customers_enabled);
    account.settlement_enabled = fields
        .flag("settlementEnabled")?
        .unwrap_or(account.settlement_enabled);
    account.server_quota = fields
        .integer("serverQuota", 0..=SERVER_QUOTA_MAX)?
        .unwrap_or(account.server_quota);
    account.invoice_max = cents(fields, "maxInvoiceAmount")?.unwrap_or(account.invoice_max);
    account.payout_min = cents(fields, "payoutMinimum")?.unwrap_or(account.payout_min);
    account.payout_daily_max =
        cents(fields, "payoutDailyLimit")?.unwrap_or(account.payout_daily_max);
    if fields.names("signerLimit") {
        account.signer_max = limit(fields, "signerLimit")?;
    }
    Ok(())
}

/// Changes the coin that payouts are sent in.
pub(in crate::service) fn change_payout_asset(
    account: &mut Account,
    fields: &Fields<'_>,
) -> Result<(), Refusal> {
    if let Some(asset) = fields.text("payoutAsset", 1..=40)? {
        account.payout_asset = Asset::find(asset).ok_or_else(|| {
            let known = Asset::ids().join(", ");
            Refusal::field("payoutAsset", format!("must be one of {known}"))
        })?;
    }
    Ok(())
}

/// Changes what the merchant may change. Urls and branding are taken away by null.
pub(in crate::service) fn change_settings(
    account: &mut Account,
    fields: &Fields<'_>,
) -> Result<(), Refusal> {
    if let Some(name) = fields.name("name", 1..=200)? {
        name.clone_into(&mut account.name);
    }
    account.ttl_seconds = fields
        .integer("ttlSeconds", 60..=86_400)?
        .unwrap_or(account.ttl_seconds);
    if fields.names("successUrl") {
        account.success_url = fields.site_or_app("successUrl")?.map(str::to_owned);
    }
    if fields.names("cancelUrl") {
        account.cancel_url = fields.site_or_app("cancelUrl")?.map(str::to_owned);
    }
    if let Some(branding) = fields.object("branding")? {
        change_branding(account, &Fields::of(branding))?;
    }
    if let Some(lang) = fields.text("checkoutLang", 2..=35)? {
        if !is_language(lang) {
            let known = Language::TEXTS.join(", ");
            let problem =
                format!("must be {AUTO}, or a language tag that begins with one of {known}");
            return Err(Refusal::field("checkoutLang", problem));
        }
        lang.clone_into(&mut account.checkout_lang);
    }
    if let Some(list) = fields.list("allowedOrigins")? {
        if list.len() > ORIGINS_MAX {
            let problem = format!("must have at most {ORIGINS_MAX} entries");
            return Err(Refusal::field("allowedOrigins", problem));
        }
        let origins = list.iter().map(|item| origin(item.as_str()));
        account.allowed_origins = origins.collect::<Result<_, _>>()?;
    }
    change_payout_asset(account, fields)
}

/// Changes how the checkout looks.
fn change_branding(account: &mut Account, fields: &Fields<'_>) -> Result<(), Refusal> {
    let inside = |refusal: Refusal| Refusal {
        message: format!("branding: {}", refusal.message),
        param: Some("branding".to_owned()),
        ..refusal
    };
    fields.only(&["color", "logoUrl"]).map_err(inside)?;
    if fields.names("color") {
        let color = fields.text("color", 7..=7).map_err(inside)?;
        let color = color.map(str::to_ascii_lowercase);
        if !color.as_deref().is_none_or(is_color) {
            let problem = "must be # and six hex digits, like #0a84ff";
            return Err(inside(Refusal::field("color", problem)));
        }
        account.branding.color = color;
    }
    if fields.names("logoUrl") {
        let url = fields.url("logoUrl").map_err(inside)?;
        let is_https = |url: &str| Site::parse(url).is_ok_and(|site| site.is_https());
        if url.is_some_and(|url| !is_https(url)) {
            return Err(inside(Refusal::field("logoUrl", "must be an https:// url")));
        }
        account.branding.logo_url = url.map(str::to_owned);
    }
    Ok(())
}

/// `#` and six lower-case hex digits?
fn is_color(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.strip_prefix('#')
        .is_some_and(|digits| digits.len() == 6 && digits.bytes().all(is_digit))
}

/// A language that the checkout speaks, and what narrows it: `en`, `pt-BR`; or that of the customer's browser: `auto`.
fn is_language(text: &str) -> bool {
    if text == AUTO {
        return true;
    }
    let mut parts = text.split('-').skip(1);
    Language::of_tag(text).is_some()
        && parts.all(|part| {
            (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// Scheme, host and port as a browser sends them.
fn origin(text: Option<&str>) -> Result<String, Refusal> {
    let site = text.filter(|text| text.len() <= ORIGIN_CHARS_MAX);
    let site = site.and_then(|text| Site::parse(text).ok());
    let origin = site.filter(|site| site.rest().is_empty());
    origin.map(|site| site.origin()).ok_or_else(|| {
        let problem = "must be a list of origins like https://shop.example, without a path";
        Refusal::field("allowedOrigins", problem)
    })
}

/// Basis points up to `max`.
fn bps(fields: &Fields<'_>, name: &str, max: i64) -> Result<Option<Bps>, Refusal> {
    let number = fields.integer(name, 0..=max)?;
    Ok(number
        .and_then(|number| u32::try_from(number).ok())
        .map(Bps))
}

/// A limit: an amount of fiat money, or zero; `None` for no limit.
fn limit(fields: &Fields<'_>, name: &str) -> Result<Option<Cents>, Refusal> {
    let is_zero = |text: &str| matches!(text, "0" | "0.0" | "0.00");
    match fields.get(name).and_then(digits) {
        Some(text) if is_zero(text) => Ok(Some(Cents::ZERO)),
        Some(_) | None => cents(fields, name),
    }
}

/// The digits of an amount, which is text or a number.
fn digits(value: &Value) -> Option<&str> {
    value
        .as_str()
        .or_else(|| value.as_number().map(serde_json::Number::as_str))
}

/// An amount of fiat money, as text or number.
fn cents(fields: &Fields<'_>, name: &str) -> Result<Option<Cents>, Refusal> {
    let Some(value) = fields.get(name) else {
        return Ok(None);
    };
    match digits(value).map(Cents::parse) {
        Some(Ok(cents)) => Ok(Some(cents)),
        Some(Err(AmountError::TooLarge)) => Err(Refusal::field(
            name,
            format!("must be at most {}", Cents::AMOUNT_MAX),
        )),
        Some(Err(AmountError::Malformed)) | None => Err(Refusal::field(
            name,
            "must be a positive decimal with at most two decimals",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_color, is_language, origin};

    #[test]
    fn colors_languages_and_origins_are_told_from_others() {
        assert!(is_color("#0a84ff"));
        for wrong in ["0a84ff", "#0a84f", "#0A84FF", "#0a84fg", "#0a84fff"] {
            assert!(!is_color(wrong), "{wrong}");
        }
        assert!(is_language("en") && is_language("pt-BR") && is_language("zh-Hant-TW"));
        assert!(is_language("auto"));
        for wrong in [
            "", "e", "english", "en_GB", "en-", "-en", "é", "sv", "Auto", "auto-de",
        ] {
            assert!(!is_language(wrong), "{wrong}");
        }
        let read = |text| origin(Some(text)).ok();
        assert_eq!(
            read("https://Shop.Example").as_deref(),
            Some("https://shop.example")
        );
        assert_eq!(
            read("http://localhost:3000").as_deref(),
            Some("http://localhost:3000")
        );
        // Browsers leave a scheme's own port out.
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
