//! The pages: complete HTML made here, without a script.
//!
//! What lives here: the frame of every page, its headers, and errors that are pages. What
//! does not: the markup, which is in `web`, and what a browser lets a page do, which is its route's. What always holds: a
//! page loads nothing from elsewhere but the shop's picture.

pub(super) mod checkout;
mod form;
pub(super) mod link;
pub(super) mod setup;

use super::policy::Policy;
use super::reply::Reply;
use super::request::Call;
use crate::domain::account::Account;
use crate::domain::time::Time;
use crate::domain::url;
use crate::service::Error;
use crate::web::{ERROR, Filling, LOGO, Markup, PAGE, REFRESH, SHOP, TEST, WAY_OUT};
use hyper::StatusCode;
use hyper::header::{
    CONTENT_SECURITY_POLICY, REFERRER_POLICY, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};

/// A page, before it is put into its frame.
#[derive(Default)]
struct Page {
    title: String,
    /// From the page's path back to where all paths begin, like `../`.
    root: String,
    shop: Markup,
    /// Where the shop's picture comes from.
    picture_origin: Option<String>,
    is_simulated: bool,
    /// Seconds after which it loads itself again.
    refresh_seconds: Option<u32>,
    body: Markup,
}

impl Page {
    /// A page with the shop at its top.
    fn of_shop(account: &Account, is_simulated: bool, root: &str, title: String) -> Page {
        let picture = account.branding.logo_url.as_deref();
        let picture = picture.and_then(|url| Some((url, origin(url)?)));
        let logo = match picture {
            Some((url, _)) => Filling::of(LOGO).text("url", url).done(),
            None => Markup::none(),
        };
        let shop = Filling::of(SHOP).text("name", &account.name);
        Page {
            title,
            root: root.to_owned(),
            shop: shop.part("logo", logo).done(),
            picture_origin: picture.map(|(_, origin)| origin.to_owned()),
            is_simulated,
            ..Page::default()
        }
    }

    /// The page in its frame, with its headers.
    fn reply(self, status: StatusCode, policy: Policy) -> Reply {
        let test = if self.is_simulated {
            Filling::of(TEST).done()
        } else {
            Markup::none()
        };
        let refresh = match self.refresh_seconds {
            Some(seconds) => Filling::of(REFRESH)
                .text("seconds", &seconds.to_string())
                .done(),
            None => Markup::none(),
        };
        let page = Filling::of(PAGE)
            .text("title", &self.title)
            .text("root", &self.root)
            .part("refresh", refresh)
            .part("test", test)
            .part("shop", self.shop)
            .part("body", self.body);
        let policy = policy.text(self.picture_origin.as_deref());
        let reply = Reply::text(status, "text/html; charset=utf-8", page.done().into_text());
        safely(reply).with(CONTENT_SECURITY_POLICY, &policy)
    }
}

/// What every answer here has: it is what it says it is, and its address is told to nobody.
fn safely(reply: Reply) -> Reply {
    reply
        .with(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .with(REFERRER_POLICY, "no-referrer")
}

/// The page of an error.
pub(super) fn error(path: &str, error: Error, request_id: &str) -> Reply {
    super::error::answer_as(error, request_id, |refusal, status| {
        let heading = match status {
            StatusCode::NOT_FOUND => "There is nothing here",
            StatusCode::TOO_MANY_REQUESTS => "Too many at once",
            StatusCode::SERVICE_UNAVAILABLE => "Not at the moment",
            StatusCode::INTERNAL_SERVER_ERROR => "Something broke",
            _ => "That did not work",
        };
        let body = Filling::of(ERROR)
            .text("heading", heading)
            .text("message", &sentence(&refusal.message))
            .text("id", request_id);
        let slashes = path.matches('/').count();
        let page = Page {
            title: heading.to_owned(),
            root: "../".repeat(slashes.saturating_sub(1)),
            body: body.done(),
            ..Page::default()
        };
        page.reply(status, Policy::ALONE)
    })
}

/// A refusal's message as a sentence.
fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let first = characters.next().map(|first| first.to_uppercase());
    let rest = characters.as_str().trim_end_matches('.');
    format!(
        "{}{rest}.",
        first.map(String::from_iter).unwrap_or_default()
    )
}

/// 303: on to another page; `location` is seen from the page that was asked for.
fn see_other(location: &str) -> Reply {
    let reply = Reply {
        status: StatusCode::SEE_OTHER,
        ..Reply::nothing()
    };
    safely(reply).with(hyper::header::LOCATION, location)
}

/// 429 as a page.
fn too_fast(path: &str, call: &Call, wait_seconds: i64, refusal: Error) -> Reply {
    error(path, refusal, &call.request_id).with(RETRY_AFTER, &wait_seconds.to_string())
}

/// A link out of a page; none where it would lead anywhere but to a site or an app.
fn way_out(url: Option<&str>, text: &str, kind: &str) -> Markup {
    let leads_out =
        |url: &&str| origin(url).is_some() || (url::is_site_or_app(url) && !url::is_site(url));
    match url.filter(leads_out) {
        Some(url) => {
            let link = Filling::of(WAY_OUT).text("url", url).text("text", text);
            link.text("kind", kind).done()
        }
        None => Markup::none(),
    }
}

/// The scheme, host and port that an http or https url begins with.
fn origin(url: &str) -> Option<&str> {
    let (_, rest) = url::split(url).filter(|(scheme, _)| url::is_http(scheme))?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    let is_host = !host.is_empty() && host.bytes().all(is_plain);
    let after_host = rest.len().saturating_sub(host.len());
    url.get(..url.len().saturating_sub(after_host))
        .filter(|_| is_host)
}

/// A moment as a person reads it.
fn readable(time: Time) -> String {
    let text = time.to_string();
    let (day, hour) = (text.get(..10), text.get(11..16));
    format!(
        "{} {} UTC",
        day.unwrap_or_default(),
        hour.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::{origin, readable, sentence};
    use crate::domain::time::Time;

    #[test]
    fn an_origin_is_that_of_a_site() {
        for (url, expected) in [
            ("https://shop.example/a?b#c", Some("https://shop.example")),
            ("http://localhost:8080", Some("http://localhost:8080")),
            ("https://[::1]:1/x", Some("https://[::1]:1")),
            ("HTTPS://Shop.example/x", Some("HTTPS://Shop.example")),
            ("https://a;b/", None),
            ("https:///x", None),
            ("javascript:alert(1)", None),
            ("data:text/plain,x", None),
            ("//shop.example", None),
        ] {
            assert_eq!(origin(url), expected, "{url}");
        }
    }

    #[test]
    fn what_people_read() {
        assert_eq!(readable(Time(1_795_253_400_007)), "2026-11-21 09:30 UTC");
        assert_eq!(sentence("no such invoice"), "No such invoice.");
        assert_eq!(sentence(""), ".");
    }
}
