//! Urls, origins and hosts: the one place that takes them apart.
//!
//! What lives here: which texts they are, and their parts. What does not: which address may be called, which the guard of
//! `outbound` judges, and which host a sandbox answers to (`http::hosts`). What always holds: a url that passes leads to a
//! site or to an app, never to a script, to text that the url itself carries, or to a file; and what two parsers could
//! read differently does not pass.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The most characters of a host's name.
const NAME_CHARS_MAX: usize = 253;

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

/// What is wrong with a text that is to be a url.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It has characters that are not printable ASCII.
    NotPlain,
    /// It is not like `https://shop.example/a`.
    Shape,
    /// It is a url, and neither http nor https.
    Scheme,
    /// It carries a user name or a password.
    Credentials,
    /// Its host is neither a name nor an address.
    Host,
    /// Its port is no number from 1 to 65535.
    Port,
}

impl Fault {
    /// What would be right, where it is more than being an absolute url.
    pub const fn remedy(self) -> Option<&'static str> {
        match self {
            Fault::NotPlain | Fault::Shape | Fault::Scheme => None,
            Fault::Credentials => Some("must not carry a user name or password"),
            Fault::Host => Some(
                "must name a host: a domain, four decimal numbers, or an IPv6 address in brackets",
            ),
            Fault::Port => Some("must have a port from 1 to 65535, or none"),
        }
    }
}

/// A host: a name, or an address as a browser writes it.
#[derive(Clone, Copy, Debug)]
pub enum Host<'a> {
    /// An IPv4 address of four decimal numbers, or an IPv6 address, which stood in brackets.
    Address(IpAddr),
    /// A name without a dot at its end.
    Name(&'a str),
}

impl PartialEq for Host<'_> {
    /// Names are the same in whatever case.
    fn eq(&self, other: &Host<'_>) -> bool {
        match (self, other) {
            (Host::Address(one), Host::Address(other)) => one == other,
            (Host::Name(one), Host::Name(other)) => one.eq_ignore_ascii_case(other),
            (Host::Address(_), Host::Name(_)) | (Host::Name(_), Host::Address(_)) => false,
        }
    }
}

impl<'a> Host<'a> {
    /// Reads a name or an IPv4 address. What ends in a number is an address to a browser, whatever its notation: here only
    /// four decimal numbers are one, and no other number is a name.
    ///
    /// # Errors
    /// [`Fault::Host`].
    pub fn parse(text: &'a str) -> Result<Host<'a>, Fault> {
        let name = text.strip_suffix('.').unwrap_or(text);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_plain);
        if name.len() > NAME_CHARS_MAX || !name.split('.').all(is_label) {
            return Err(Fault::Host);
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
        let is_hexadecimal = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if last.bytes().all(|byte| byte.is_ascii_digit()) || hexadecimal.is_some_and(is_hexadecimal)
        {
            let address: Ipv4Addr = name.parse().map_err(|_| Fault::Host)?;
            return Ok(Host::Address(IpAddr::V4(address)));
        }
        Ok(Host::Name(name))
    }
}

/// A host and perhaps a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Authority<'a> {
    /// The host.
    pub host: Host<'a>,
    /// The port, 1 to 65535; none: that of the scheme.
    pub port: Option<u16>,
}

impl<'a> Authority<'a> {
    /// Reads `host` or `host:port`.
    ///
    /// # Errors
    /// [`Fault::Shape`] where a bracket is not closed, [`Fault::Host`], [`Fault::Port`].
    pub fn parse(text: &'a str) -> Result<Authority<'a>, Fault> {
        let (host, port) = split_port(text)?;
        let host = match host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
        {
            Some(address) => {
                let address: Ipv6Addr = address.parse().map_err(|_| Fault::Host)?;
                Host::Address(IpAddr::V6(address))
            }
            None => Host::parse(host)?,
        };
        let is_number = |port: &&str| port.bytes().all(|byte| byte.is_ascii_digit());
        let number = |port: &str| port.parse().ok().filter(|port| *port > 0);
        let port = match port {
            None => None,
            Some(port) => Some(
                Some(port)
                    .filter(is_number)
                    .and_then(number)
                    .ok_or(Fault::Port)?,
            ),
        };
        Ok(Authority { host, port })
    }
}

/// A host with its brackets, and what stands after the colon that follows it.
fn split_port(text: &str) -> Result<(&str, Option<&str>), Fault> {
    let end = match text.starts_with('[') {
        true => text.find(']').ok_or(Fault::Shape)?.saturating_add(1),
        false => text.find(':').unwrap_or(text.len()),
    };
    let (host, port) = text.split_at_checked(end).ok_or(Fault::Host)?;
    match port.strip_prefix(':') {
        None if port.is_empty() => Ok((host, None)),
        None => Err(Fault::Host),
        port => Ok((host, port)),
    }
}

/// An absolute http or https url in plain ASCII, without credentials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site<'a> {
    text: &'a str,
    is_https: bool,
    /// The host as it is written, brackets and a dot at its end included.
    host: &'a str,
    authority: Authority<'a>,
    /// What follows the host and the port.
    rest: &'a str,
}

impl<'a> Site<'a> {
    /// Takes a url apart.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &'a str) -> Result<Site<'a>, Fault> {
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Fault::NotPlain);
        }
        let (scheme, rest) = split(text).filter(|_| is_plain(text)).ok_or(Fault::Shape)?;
        let is_https = scheme.eq_ignore_ascii_case("https");
        if !is_http(scheme) {
            return Err(Fault::Scheme);
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at_checked(end).ok_or(Fault::Shape)?;
        if authority.is_empty() {
            return Err(Fault::Shape);
        }
        if authority.contains('@') {
            return Err(Fault::Credentials);
        }
        let (host, _) = split_port(authority)?;
        Ok(Site {
            text,
            is_https,
            host,
            authority: Authority::parse(authority)?,
            rest,
        })
    }

    /// Is it reached through TLS?
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Its host and port.
    pub fn authority(&self) -> Authority<'a> {
        self.authority
    }

    /// Its host as it is written, brackets and a dot at its end included.
    pub fn host_text(&self) -> &'a str {
        self.host
    }

    /// What follows its host and port: a path, a query, a fragment, or nothing.
    pub fn rest(&self) -> &'a str {
        self.rest
    }

    /// Scheme, host and port as browsers send them: in lower case, and without the scheme's own port.
    pub fn origin(&self) -> String {
        let scheme = if self.is_https { "https" } else { "http" };
        let host = self.host.to_ascii_lowercase();
        match self.authority.port {
            Some(port) if port != self.own_port() => format!("{scheme}://{host}:{port}"),
            _ => format!("{scheme}://{host}"),
        }
    }

    /// Has it the scheme, the host and the port of the other one?
    pub fn has_origin_of(&self, other: &Site<'_>) -> bool {
        self.is_https == other.is_https
            && self.authority.host == other.authority.host
            && self.port() == other.port()
    }

    /// Are these its host and port, as a `Host` header names them? There a port may be left out or empty.
    pub fn is_at(&self, header: &str) -> bool {
        let header = header.strip_suffix(':').unwrap_or(header);
        Authority::parse(header).is_ok_and(|at| {
            at.host == self.authority.host && at.port.unwrap_or(self.own_port()) == self.port()
        })
    }

    fn port(&self) -> u16 {
        self.authority.port.unwrap_or(self.own_port())
    }

    /// The port of its scheme.
    fn own_port(&self) -> u16 {
        if self.is_https { 443 } else { 80 }
    }
}

impl fmt::Display for Site<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.text)
    }
}

/// Where a customer may be led: the url of a site, or one that an app has registered, like `myshop://paid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination<'a>(&'a str);

impl<'a> Destination<'a> {
    /// Reads one.
    pub fn parse(text: &'a str) -> Option<Destination<'a>> {
        let is_app = || {
            split(text)
                .filter(|_| is_plain(text))
                .is_some_and(|(scheme, _)| {
                    let mut never = NEVER_AN_APP.iter();
                    !is_http(scheme) && !never.any(|never| scheme.eq_ignore_ascii_case(never))
                })
        };
        (Site::parse(text).is_ok() || is_app()).then_some(Destination(text))
    }
}

impl fmt::Display for Destination<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }
}

/// The scheme of a url and what follows its `://`; nothing where the text does not begin with a scheme (RFC 3986).
fn split(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_part);
    is_scheme.then_some((scheme, rest))
}

/// Is this the scheme of a site, in whatever case?
fn is_http(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// Printable ASCII without the characters that end a url in other texts.
fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_graphic() && !b"\"<>\\`".contains(&byte))
}

#[cfg(test)]
mod tests;
