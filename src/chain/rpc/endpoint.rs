//! Parses the url of a node into address, login and label.
//!
//! Invariant: messages contain only the label: scheme, host and port of the url, and its number in the list. Login,
//! path and query may be secrets.

use std::borrow::Cow;
use std::fmt;

use crate::domain::{SiteUrl, UrlProblem};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Shortest part of a url that is redacted. Shorter parts occur in ordinary text.
const SECRET_CHARS_MIN: usize = 6;

/// Url and login of a node.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Url without the login.
    url: String,
    /// Value of the `Authorization` header, if the url has a login.
    login: Option<String>,
    /// Scheme, host and port. With several urls, the label ends in the number of the url, such as `(2 of 2)`.
    label: String,
    /// Parts of the url to redact in every text from the node.
    secrets: Vec<String>,
}

impl Endpoint {
    /// Parses a url such as `http://user:password@127.0.0.1:8332`.
    ///
    /// # Errors
    /// A message that says what would be valid, without any part of the url.
    pub fn parse(text: &str) -> Result<Endpoint, String> {
        let (scheme, rest) =
            text.split_once("://").ok_or_else(|| describe_url_problem(UrlProblem::Shape))?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let url = format!("{scheme}://{host}{path}");
        let site = SiteUrl::parse(&url).map_err(describe_url_problem)?;
        let scheme = scheme.to_ascii_lowercase();
        let port = site.authority().port;
        let port = port.map_or_else(String::new, |port| format!(":{port}"));
        let shown = format!("{scheme}://{}{port}", site.host_text());
        let mut secrets: Vec<String> =
            path.split(['/', '?', '#', '&', '=']).map(str::to_owned).collect();
        let login = user.map(|user| {
            let decoded = percent_decode(user);
            let encoded = STANDARD.encode(&decoded);
            let decoded = String::from_utf8_lossy(&decoded).into_owned();
            secrets.extend(user.split(':').chain(decoded.split(':')).map(str::to_owned));
            secrets.extend([encoded.clone(), decoded]);
            format!("Basic {encoded}")
        });
        secrets.retain(|secret| secret.chars().count() >= SECRET_CHARS_MIN);
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Ok(Endpoint { url, login, label: shown, secrets })
    }

    /// Returns the endpoint of a node that does not use HTTP, from a checked url and its label.
    pub fn non_http(url: &str, label: String) -> Endpoint {
        Endpoint { url: url.to_owned(), login: None, label, secrets: Vec::new() }
    }

    /// Parses one or more urls, separated by commas.
    pub fn parse_list(text: &str) -> Result<Vec<Endpoint>, String> {
        Endpoint::parse_list_with(text, Endpoint::parse)
    }

    /// Parses one or more urls, separated by commas, with `parse` for each.
    ///
    /// # Errors
    ///
    /// The first error of `parse`.
    pub fn parse_list_with(
        text: &str,
        parse: impl Fn(&str) -> Result<Endpoint, String>,
    ) -> Result<Vec<Endpoint>, String> {
        let parsed = text.split(',').map(|url| parse(url.trim()));
        let mut list = parsed.collect::<Result<Vec<Endpoint>, String>>()?;
        let count = list.len();
        if count > 1 {
            for (place, endpoint) in (1..=count).zip(&mut list) {
                endpoint.label = format!("{} ({place} of {count})", endpoint.label);
            }
        }
        Ok(list)
    }

    /// Returns the scheme, in lower case.
    pub fn scheme(&self) -> &str {
        self.label.split(':').next().unwrap_or_default()
    }

    /// Returns scheme, host and port of the url, and its number in the list. Messages may contain no other part of
    /// the url.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the url with this path appended. The result may be a secret.
    pub(super) fn url_with_path(&self, path: &str) -> Cow<'_, str> {
        if path.is_empty() {
            return Cow::Borrowed(&self.url);
        }
        let end = self.url.find(['?', '#']).unwrap_or(self.url.len());
        let (url, query) = self.url.split_at_checked(end).unwrap_or((&self.url, ""));
        Cow::Owned(format!("{}{path}{query}", url.trim_end_matches('/')))
    }

    /// Returns the url without the login. The url may be a secret.
    pub(in crate::chain) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the value of the `Authorization` header, which is a secret.
    pub(super) fn authorization(&self) -> Option<&str> {
        self.login.as_deref()
    }

    /// Redacts the secret parts of the url in a text from the node. A node may repeat them.
    pub(super) fn redact(&self, text: &str) -> String {
        let secrets = self.secrets.iter();
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Endpoint({})", self.label)
    }
}

fn describe_url_problem(fault: UrlProblem) -> String {
    let expected = "must be a url like http://user:password@127.0.0.1:8332";
    fault.remedy().unwrap_or(expected).to_owned()
}

/// Decodes percent codes. Invalid codes stay unchanged.
fn percent_decode(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%');
        let code = code
            .filter(|code| code.iter().all(u8::is_ascii_hexdigit))
            .and_then(|code| str::from_utf8(code).ok())
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = match code {
            Some(_) => after.get(2..).unwrap_or_default(),
            None => after,
        };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    #[test]
    fn label_has_only_scheme_host_and_port() {
        for (text, url, login, shown) in [
            (
                "http://coffer:pass%40word%3D=@127.0.0.1:8332",
                "http://127.0.0.1:8332",
                Some("Basic Y29mZmVyOnBhc3NAd29yZD09"),
                "http://127.0.0.1:8332",
            ),
            (
                "HTTPS://Node.example/v3/0123456789abcdef?key=fedcba",
                "HTTPS://Node.example/v3/0123456789abcdef?key=fedcba",
                None,
                "https://Node.example",
            ),
            ("http://a@b:c@[::1]:1/", "http://[::1]:1/", Some("Basic YUBiOmM="), "http://[::1]:1"),
        ] {
            let read = Endpoint::parse(text);
            let parts = read.as_ref().map(|read| {
                (read.url_with_path("").into_owned(), read.authorization(), read.label())
            });
            assert_eq!(parts, Ok((url.to_owned(), login, shown)));
            assert_eq!(format!("{read:?}"), format!("Ok(Endpoint({shown}))"));
        }
    }

    #[test]
    fn path_is_inserted_before_the_query() {
        for (text, expected) in [
            ("http://a@b:1", "http://b:1/wallet/x"),
            ("http://b:1/", "http://b:1/wallet/x"),
            ("https://b/key/?a=b/", "https://b/key/wallet/x?a=b/"),
        ] {
            let url = Endpoint::parse(text).map(|url| url.url_with_path("/wallet/x").into_owned());
            assert_eq!(url.as_deref(), Ok(expected));
        }
    }

    #[test]
    fn invalid_url_is_rejected_without_repeating_it() {
        for wrong in [
            "",
            "node",
            "secret:secret@host",
            "ftp://secret@host",
            "http://secret@",
            "http://secret@host:0",
            "http://secret@ho st",
            "http://secret@host:port",
        ] {
            let said = Endpoint::parse(wrong).err().unwrap_or_default();
            assert!(said.starts_with("must "), "{wrong}: {said}");
            assert!(!said.contains("secret"), "{wrong}: {said}");
        }
        let list = Endpoint::parse_list("http://a:1, http://a:2").unwrap_or_default();
        let shown: Vec<&str> = list.iter().map(Endpoint::label).collect();
        assert_eq!(shown, ["http://a:1 (1 of 2)", "http://a:2 (2 of 2)"]);
        assert!(Endpoint::parse_list("http://a,").is_err());
    }

    #[test]
    fn secrets_repeated_by_a_node_are_redacted() {
        let read = Endpoint::parse("http://user:pass%20word@host/v3/0123456789?key=abcdef").ok();
        let text =
            "no project 0123456789 for pass word, pass%20word, abcdef and dXNlcjpwYXNzIHdvcmQ=";
        let redacted = read.map(|read| read.redact(text));
        assert_eq!(redacted.as_deref(), Some("no project … for …, …, … and …"));
    }
}
