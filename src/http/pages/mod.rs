//! HTML pages with their headers.
//!
//! Invariant: a page loads nothing from other origins except the shop's logo.

pub(super) mod app;
pub(super) mod checkout;
pub(super) mod docs;
mod error;
mod form;
pub(super) mod front_door;
pub(super) mod link;
pub(super) mod setup;

use super::client;
use super::policy::PagePolicy;
use super::reply::Reply;
use super::request::{Call, Param, ParamKind};
use crate::domain::color::{csp_style_source, text_color_on};
use crate::domain::{Account, Language, SiteOrAppUrl, SiteUrl, Time};
use crate::service::Error;
use crate::web::templates::{ExitLink, Frame, LanguageLink, Moment, Page, Shop};
use crate::web::words::Words;
use askama::Template;
pub(super) use error::{ErrorContext, error_page, unknown_path_page};
use hyper::header::{
    ACCEPT_LANGUAGE, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{HeaderMap, StatusCode};

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

#[derive(Clone, Copy)]
struct CustomerLanguage {
    language: Language,
    /// Language that the customer chose on the page, `None` if the customer made no choice.
    picked: Option<&'static str>,
    words: &'static Words,
}

impl CustomerLanguage {
    /// Chooses the language from the customer's choice, the account's setting and the browser's languages.
    fn new(picked: Option<&str>, account: &Account, headers: &HeaderMap) -> CustomerLanguage {
        CustomerLanguage::choose(picked, &account.checkout_lang, &accept_language(headers))
    }

    /// Chooses the language from the customer's choice, the account's setting and an `Accept-Language` header.
    fn choose(picked: Option<&str>, setting: &str, accepted: &str) -> CustomerLanguage {
        let language = Language::for_customer(picked, setting, accepted);
        let picked = picked.and_then(Language::from_tag);
        CustomerLanguage {
            language,
            picked: picked.map(Language::as_str),
            words: Words::for_language(language),
        }
    }
}

/// Returns the values of the `Accept-Language` header, joined by commas.
pub(super) fn accept_language(headers: &HeaderMap) -> String {
    let accepted = headers.get_all(ACCEPT_LANGUAGE).into_iter();
    let accepted: Vec<_> = accepted.filter_map(|value| value.to_str().ok()).collect();
    accepted.join(",")
}

/// Returns the query parameter for the chosen language, to append to other parameters. Returns an empty text for an
/// unknown language.
fn lang_query(lang: &str) -> String {
    let language = Language::from_tag(lang);
    language.map_or_else(String::new, |language| format!("&lang={language}"))
}

/// Query parameter for the language of a customer's page.
const LANG: Param = Param { name: "lang", about: "Language of the page.", kind: ParamKind::Any };

/// Returns the parts that surround the body of a shop's page. `query` has the page's query parameters except the
/// language.
fn shop_frame<'a>(
    account: &'a Account,
    is_for_tests: bool,
    speech: CustomerLanguage,
    query: &str,
    title: String,
) -> Frame<'a> {
    let logo = account.branding.logo_url.as_deref();
    let color = account.branding.color.as_deref();
    let on_color = color.and_then(|color| Some((color, text_color_on(color)?)));
    let link = |language: &Language| {
        let words = Words::for_language(*language);
        LanguageLink {
            href: format!("?lang={language}{query}"),
            tag: words.tag,
            name: words.name,
            is_current: *language == speech.language,
        }
    };
    Frame {
        language: speech.language,
        title,
        root: "../".to_owned(),
        shop: Some(Shop {
            name: &account.name,
            logo: logo.and_then(|url| SiteUrl::parse(url).ok()),
        }),
        is_for_tests,
        brand: on_color.map(|(color, text)| format!(":root{{--brand:{color};--on-brand:{text}}}")),
        languages: Language::ALL.iter().map(link).collect(),
        ..Frame::default()
    }
}

/// Returns the parts that surround the body of a page of the service itself. Paths are relative to the root of the
/// server.
fn service_frame(title: &str) -> Frame<'static> {
    Frame { title: title.to_owned(), ..Frame::default() }
}

fn page_reply(
    status: StatusCode,
    policy: PagePolicy<'_>,
    frame: Frame<'_>,
    body: impl Template,
) -> Result<Reply, Error> {
    let picture = frame.shop.as_ref().and_then(|shop| shop.logo);
    let picture = picture.map(|site| site.origin());
    let brand = frame.brand.as_deref().map(csp_style_source);
    let text = policy.header_value(picture.as_deref(), brand.as_deref());
    let page = Page { frame, body }.render();
    let page = page.map_err(|error| Error::Failed(error.to_string()))?;
    let reply = Reply::text(status, "text/html; charset=utf-8", page);
    Ok(with_policy(reply, policy, &text))
}

/// Adds the security headers of a page. `text` is the value of the Content-Security-Policy.
fn with_policy(reply: Reply, policy: PagePolicy<'_>, text: &str) -> Reply {
    let reply = with_page_headers(reply).with_header(CONTENT_SECURITY_POLICY, text);
    if policy.is_isolated { reply.with_header(OPENER_POLICY, "same-origin") } else { reply }
}

/// Adds the headers of all pages, which forbid content sniffing and referrers.
fn with_page_headers(reply: Reply) -> Reply {
    reply.with_header(X_CONTENT_TYPE_OPTIONS, "nosniff").with_header(REFERRER_POLICY, "no-referrer")
}

/// Turns the message of a refusal into a sentence, with a capital letter and a full stop.
fn to_sentence(message: &str) -> String {
    let mut characters = message.chars();
    let first = characters.next().map(|first| first.to_uppercase());
    let rest = characters.as_str().trim_end_matches('.');
    format!("{}{rest}.", first.map(String::from_iter).unwrap_or_default())
}

/// Redirects with status 303 to `location`, which is relative to the requested page.
fn redirect(location: &str) -> Reply {
    let reply = Reply { status: StatusCode::SEE_OTHER, ..Reply::no_content() };
    with_page_headers(reply).with_header(hyper::header::LOCATION, location)
}

/// Counts the creation of an invoice through a payment link against the limits of the client's networks. The creation
/// needs no key.
///
/// # Errors
/// `rate_limited` if this client, or a network that contains the client, has reached its limit.
fn count_creation(call: &Call) -> Result<(), Error> {
    let networks = client::enclosing_networks(call.client_address());
    let uptime = call.http.clock.uptime();
    match call.http.link_limiter.count_in_networks(&networks, uptime) {
        Some(verdict) if !verdict.allowed => {
            Err(verdict.refusal().with_retry_after(verdict.wait_seconds).into())
        }
        _ => Ok(()),
    }
}

/// Returns a link to a website or an app outside the page. Returns `None` if the URL is neither.
fn exit_link<'a>(
    url: Option<&'a str>,
    text: &'static str,
    kind: &'static str,
) -> Option<ExitLink<'a>> {
    let url = SiteOrAppUrl::parse(url?)?;
    Some(ExitLink { kind, url, text })
}

/// Returns a time in two formats: the format of JSON, and a format for people.
fn format_moment(time: Time) -> Moment {
    let moment = time.to_string();
    let (day, hour) = (moment.get(..10), moment.get(11..16));
    let (day, hour) = (day.unwrap_or_default(), hour.unwrap_or_default());
    let text = format!("{day} {hour} UTC");
    Moment { moment, text }
}

fn non_empty(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{format_moment, to_sentence};
    use crate::domain::Time;

    #[test]
    fn times_and_messages_are_formatted_for_people() {
        assert_eq!(format_moment(Time(1_795_253_400_007)).text, "2026-11-21 09:30 UTC");
        assert_eq!(to_sentence("no such invoice"), "No such invoice.");
        assert_eq!(to_sentence(""), ".");
    }
}
