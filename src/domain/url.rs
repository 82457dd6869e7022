//! Urls that a merchant gives: which form they have.
//!
//! What lives here: the rules on the text of a url. What does not: which address may be called, which the guard of
//! `outbound` judges. What always holds: a url that passes leads to a site or to an app, never to a script, to text
//! that the url itself carries, or to a file.

/// Schemes that a browser or the system itself handles: not an app's own, and some of them run what follows.
const NEVER_AN_APP: [&str; 19] = [
    "about",
    "android-app",
    "blob",
    "chrome",
    "chrome-extension",
    "content",
    "data",
    "file",
    "filesystem",
    "ftp",
    "intent",
    "jar",
    "javascript",
    "moz-extension",
    "resource",
    "vbscript",
    "view-source",
    "ws",
    "wss",
];

/// Is this text an absolute http or https url in plain ASCII?
pub fn is_site(text: &str) -> bool {
    is_plain(text)
        && split(text).is_some_and(|(scheme, rest)| {
            is_http(scheme) && !rest.starts_with(['/', '?', '#', ':']) && !rest.is_empty()
        })
}

/// Is this text the url of a site, or one that an app has registered, like `myshop://paid`?
pub fn is_site_or_app(text: &str) -> bool {
    let is_app = || {
        split(text).is_some_and(|(scheme, _)| {
            let mut never = NEVER_AN_APP.iter();
            !is_http(scheme) && !never.any(|never| scheme.eq_ignore_ascii_case(never))
        })
    };
    is_site(text) || (is_plain(text) && is_app())
}

/// The scheme of a url and what follows its `://`; nothing where the text does not begin with a scheme (RFC 3986).
pub fn split(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_part);
    is_scheme.then_some((scheme, rest))
}

/// Is this the scheme of a site, in whatever case?
pub fn is_http(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || is_https(scheme)
}

/// Is this the scheme of a site that is reached through TLS, in whatever case?
pub fn is_https(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("https")
}

/// Printable ASCII without the characters that end a url in other texts.
fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_graphic() && !b"\"<>\\`".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::{NEVER_AN_APP, is_site, is_site_or_app};

    #[test]
    fn a_site_is_http_or_https_in_whatever_case() {
        for url in [
            "https://shop.example",
            "HTTPS://Shop.example/a?b#c",
            "hTTp://127.0.0.1:8080/",
        ] {
            assert!(is_site(url) && is_site_or_app(url), "{url}");
        }
        for url in [
            "https:shop.example",
            "https:/shop.example",
            "https:///shop",
            "HTTPS://",
            "https://?",
            "http://:80",
            "//shop.example",
            "ſhttps://shop.example",
            "httpſ://shop.example",
            "https://sh\u{f6}p.example",
        ] {
            assert!(!is_site(url) && !is_site_or_app(url), "{url}");
        }
    }

    #[test]
    fn an_apps_url_has_a_scheme_of_its_own() {
        for url in [
            "myshop://paid",
            "MyShop://",
            "com.shop.app:///thanks?id=1#x",
            "a1+b-c.d://x",
            "javascripts://x",
            "x-data://x",
        ] {
            assert!(is_site_or_app(url) && !is_site(url), "{url}");
        }
        for url in [
            "myshop:paid",
            "myshop:/paid",
            "://paid",
            "1shop://paid",
            "my_shop://paid",
            "my shop://paid",
            "myshop://pa id",
            "myshop://pa\"id",
            "myshop://pa<id",
            "myshop://pa\\id",
            "",
        ] {
            assert!(!is_site_or_app(url), "{url}");
        }
    }

    #[test]
    fn no_disguise_makes_a_script_an_apps_url() {
        for never in NEVER_AN_APP {
            let (first, rest) = never.split_at(1);
            let upper = never.to_ascii_uppercase();
            for url in [
                format!("{never}:x"),
                format!("{never}://x"),
                format!("{upper}://x"),
                format!("{}{rest}://%0aalert(1)", first.to_ascii_uppercase()),
                format!("{first}\t{rest}://x"),
                format!("{first}\n{rest}://x"),
                format!("{first}\r{rest}://x"),
                format!("{first}\0{rest}://x"),
                format!("{first}\u{200b}{rest}://x"),
                format!("{first}%09{rest}://x"),
                format!(" {never}://x"),
                format!("\u{1}{never}://x"),
                format!("{never} ://x"),
                format!("{never}:\t//x"),
                format!("{never}:x://x"),
                format!("feed:{never}://x"),
                format!("view-source:{never}://x"),
                format!("&#106;{rest}://x"),
                format!("{never}&colon;//x"),
            ] {
                assert!(!is_site_or_app(&url), "{url:?}");
            }
        }
    }
}
