//! URLs, origins and hosts, and the only code that parses them.
//!
//! Invariant: an accepted URL leads to a site or to an app, never to a script, to data inside the URL, or to a file.
//! A text that two parsers could read differently is refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const NAME_CHARS_MAX: usize = 253;

/// Schemes that the browser or the operating system handles itself. No app owns them, and some run the rest of the
/// URL as a script.
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

/// Problem of a text that is not a valid URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlProblem {
    /// The text has characters outside printable ASCII.
    NotPlain,
    /// The text does not have the form `https://shop.example/a`.
    Shape,
    /// The scheme is neither http nor https.
    Scheme,
    /// The text has a user name or a password.
    Credentials,
    /// The host is neither a name nor an address.
    Host,
    /// The port is not a number from 1 to 65535.
    Port,
}

impl UrlProblem {
    /// Returns the requirement that the text violates; `None` if the only requirement is "an absolute URL".
    pub const fn remedy(self) -> Option<&'static str> {
        match self {
            UrlProblem::NotPlain | UrlProblem::Shape | UrlProblem::Scheme => None,
            UrlProblem::Credentials => Some("must not carry a user name or password"),
            UrlProblem::Host => Some(
                "must name a host: a domain, four decimal numbers, or an IPv6 address in brackets",
            ),
            UrlProblem::Port => Some("must have a port from 1 to 65535, or none"),
        }
    }
}

/// A host: a name or an IP address.
#[derive(Clone, Copy, Debug)]
pub enum Host<'a> {
    /// An IPv4 address of four decimal numbers, or an IPv6 address (written in brackets).
    Address(IpAddr),
    /// A name without a trailing dot.
    Name(&'a str),
}

impl PartialEq for Host<'_> {
    /// Compares names without regard to case.
    fn eq(&self, other: &Host<'_>) -> bool {
        match (self, other) {
            (Host::Address(one), Host::Address(other)) => one == other,
            (Host::Name(one), Host::Name(other)) => one.eq_ignore_ascii_case(other),
            (Host::Address(_), Host::Name(_)) | (Host::Name(_), Host::Address(_)) => false,
        }
    }
}

impl<'a> Host<'a> {
    /// Reads a name or an IPv4 address.
    ///
    /// Browsers read a host whose last part is a number as an address, also in octal or hexadecimal. This parser
    /// accepts such a host only if it consists of four decimal numbers.
    ///
    /// # Errors
    /// [`UrlProblem::Host`].
    pub fn parse(text: &'a str) -> Result<Host<'a>, UrlProblem> {
        let name = text.strip_suffix('.').unwrap_or(text);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_plain);
        if name.len() > NAME_CHARS_MAX || !name.split('.').all(is_label) {
            return Err(UrlProblem::Host);
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
        let is_hexadecimal = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if last.bytes().all(|byte| byte.is_ascii_digit()) || hexadecimal.is_some_and(is_hexadecimal)
        {
            let address: Ipv4Addr = name.parse().map_err(|_| UrlProblem::Host)?;
            return Ok(Host::Address(IpAddr::V4(address)));
        }
        Ok(Host::Name(name))
    }
}

/// A host with an optional port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Authority<'a> {
    /// The host.
    pub host: Host<'a>,
    /// Port, 1 to 65535; `None` for the default port of the scheme.
    pub port: Option<u16>,
}

impl<'a> Authority<'a> {
    /// Reads `host` or `host:port`.
    ///
    /// # Errors
    /// [`UrlProblem::Shape`] for an unclosed bracket, [`UrlProblem::Host`], [`UrlProblem::Port`].
    pub fn parse(text: &'a str) -> Result<Authority<'a>, UrlProblem> {
        let (host, port) = split_port(text)?;
        let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(address) => {
                let address: Ipv6Addr = address.parse().map_err(|_| UrlProblem::Host)?;
                Host::Address(IpAddr::V6(address))
            }
            None => Host::parse(host)?,
        };
        let is_number = |port: &&str| port.bytes().all(|byte| byte.is_ascii_digit());
        let number = |port: &str| port.parse().ok().filter(|port| *port > 0);
        let port = match port {
            None => None,
            Some(port) => {
                Some(Some(port).filter(is_number).and_then(number).ok_or(UrlProblem::Port)?)
            }
        };
        Ok(Authority { host, port })
    }
}

/// Splits a host from the port after the colon. The host of an IPv6 address keeps its brackets.
fn split_port(text: &str) -> Result<(&str, Option<&str>), UrlProblem> {
    let end = match text.starts_with('[') {
        true => text.find(']').ok_or(UrlProblem::Shape)?.saturating_add(1),
        false => text.find(':').unwrap_or(text.len()),
    };
    let (host, port) = text.split_at_checked(end).ok_or(UrlProblem::Host)?;
    match port.strip_prefix(':') {
        None if port.is_empty() => Ok((host, None)),
        None => Err(UrlProblem::Host),
        port => Ok((host, port)),
    }
}

/// An absolute http or https URL in plain ASCII, without credentials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteUrl<'a> {
    text: &'a str,
    is_https: bool,
    /// Host as written, including brackets or a trailing dot.
    host: &'a str,
    authority: Authority<'a>,
    /// Path, query and fragment as written, or an empty text.
    rest: &'a str,
}

impl<'a> SiteUrl<'a> {
    /// Parses an http or https URL.
    ///
    /// # Errors
    /// The problem of the text.
    pub fn parse(text: &'a str) -> Result<SiteUrl<'a>, UrlProblem> {
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(UrlProblem::NotPlain);
        }
        let (scheme, rest) =
            split_scheme(text).filter(|_| has_only_url_chars(text)).ok_or(UrlProblem::Shape)?;
        let is_https = scheme.eq_ignore_ascii_case("https");
        if !is_http(scheme) {
            return Err(UrlProblem::Scheme);
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at_checked(end).ok_or(UrlProblem::Shape)?;
        if authority.is_empty() {
            return Err(UrlProblem::Shape);
        }
        if authority.contains('@') {
            return Err(UrlProblem::Credentials);
        }
        let (host, _) = split_port(authority)?;
        Ok(SiteUrl { text, is_https, host, authority: Authority::parse(authority)?, rest })
    }

    /// Returns `true` for https.
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Returns the host and the port.
    pub fn authority(&self) -> Authority<'a> {
        self.authority
    }

    /// Returns the host as written, with its brackets or trailing dot.
    pub fn host_text(&self) -> &'a str {
        self.host
    }

    /// Returns the URL without path, query and fragment: the home page of the site.
    pub fn home_page(&self) -> &'a str {
        self.text.strip_suffix(self.rest).unwrap_or(self.text)
    }

    /// Returns the text after host and port: path, query, fragment, or nothing.
    pub fn text_after_authority(&self) -> &'a str {
        self.rest
    }

    /// Returns scheme, host and port as browsers send them: in lower case, without the default port of the scheme.
    pub fn origin(&self) -> String {
        let scheme = if self.is_https { "https" } else { "http" };
        let host = self.host.to_ascii_lowercase();
        match self.authority.port {
            Some(port) if port != self.default_port() => format!("{scheme}://{host}:{port}"),
            _ => format!("{scheme}://{host}"),
        }
    }

    /// Returns `true` if both URLs have the same scheme, host and port.
    pub fn is_same_origin(&self, other: &SiteUrl<'_>) -> bool {
        self.is_https == other.is_https
            && self.authority.host == other.authority.host
            && self.port() == other.port()
    }

    /// Returns `true` if a `Host` header names the host and port of this URL. The port in the header may be absent or
    /// empty.
    pub fn matches_host_header(&self, header: &str) -> bool {
        let header = header.strip_suffix(':').unwrap_or(header);
        Authority::parse(header).is_ok_and(|at| {
            at.host == self.authority.host && at.port.unwrap_or(self.default_port()) == self.port()
        })
    }

    fn port(&self) -> u16 {
        self.authority.port.unwrap_or(self.default_port())
    }

    fn default_port(&self) -> u16 {
        if self.is_https { 443 } else { 80 }
    }
}

impl fmt::Display for SiteUrl<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.text)
    }
}

/// URL to which a customer is sent: an http or https URL, or a URL whose scheme belongs to an app, like
/// `myshop://paid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteOrAppUrl<'a>(&'a str);

impl<'a> SiteOrAppUrl<'a> {
    /// Parses the URL of a site or of an app.
    pub fn parse(text: &'a str) -> Option<SiteOrAppUrl<'a>> {
        let is_app = || {
            split_scheme(text).filter(|_| has_only_url_chars(text)).is_some_and(|(scheme, _)| {
                let mut never = NEVER_AN_APP.iter();
                !is_http(scheme) && !never.any(|never| scheme.eq_ignore_ascii_case(never))
            })
        };
        (SiteUrl::parse(text).is_ok() || is_app()).then_some(SiteOrAppUrl(text))
    }
}

impl fmt::Display for SiteOrAppUrl<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }
}

/// Splits a URL into its scheme and the text after `://`; `None` if the text does not begin with a scheme (RFC 3986).
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_part);
    is_scheme.then_some((scheme, rest))
}

fn is_http(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// Returns `true` for printable ASCII without spaces, double quotes, angle brackets, backslashes and backticks.
fn has_only_url_chars(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\`".contains(&byte))
}

#[cfg(test)]
mod tests;
