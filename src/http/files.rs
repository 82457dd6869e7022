//! Static files for browsers: the table `web::ASSETS`, and the widget, which shops load from a fixed path.
//!
//! Invariant: the URL of a file contains the server's version, so caches may keep the file for ever. A URL with
//! another version returns the current file uncached, so pages loaded before an update still work.

use super::reply::Reply;
use super::request::Call;
use super::route::{Handler, PLAIN, Resource, Route};
use crate::domain::Refusal;
use crate::service::Error;
use crate::web::packed::{Packed, decompress};
use crate::web::{StaticFile, VERSION, static_file};
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, ETAG, HeaderName, IF_NONE_MATCH, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{HeaderMap, StatusCode};

/// `Cache-Control` for a file URL with this server's version. The content of the URL never changes. One year is the
/// longest age that caches use.
const VERSIONED_CACHE: &str = "public, max-age=31536000, immutable";
/// `Cache-Control` for a file URL with the version of another server. A page loaded before an update requests such a
/// URL.
const OTHER_VERSION_CACHE: &str = "no-cache";
/// `Cache-Control` of the widget: five minutes.
const WIDGET_CACHE: &str = "public, max-age=300";

pub(super) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "asset",
            path: "/assets/{version}/{folder}/{file}",
            summary: "A file that a page loads.",
            handler: Handler::Open(|call| Box::pin(send_file(call))),
            ..PLAIN
        },
        Route {
            operation: "widget",
            path: "/widget.js",
            summary: "URL of the script that opens the checkout on the shop's page.",
            handler: Handler::Open(|call| Box::pin(send_widget(call))),
            ..PLAIN
        },
    ],
};

async fn send_file(call: Call) -> Result<Reply, Error> {
    let [version, folder, file] = &*call.path else {
        return Err(Refusal::not_found("file").into());
    };
    let found = static_file(folder, file).ok_or_else(|| Refusal::not_found("file"))?;
    let cache = if version == VERSION { VERSIONED_CACHE } else { OTHER_VERSION_CACHE };
    Ok(file_reply(found, &call.headers).with_static_header(CACHE_CONTROL, cache))
}

/// Sends the widget, or status 304 if the browser already has the widget. The ETag is weak, because compressed and
/// plain bytes are the same widget.
async fn send_widget(call: Call) -> Result<Reply, Error> {
    let file = static_file("widget", "widget.js").ok_or_else(|| Refusal::not_found("file"))?;
    let tag = format!("\"{VERSION}\"");
    let is_known = header_values(&call.headers, IF_NONE_MATCH)
        .any(|text| matches!(text.trim(), "*") || text.contains(&tag));
    let tag = format!("W/{tag}");
    let reply = if is_known {
        Reply { status: StatusCode::NOT_MODIFIED, ..Reply::no_content() }
            .with_static_header(VARY, "accept-encoding")
    } else {
        file_reply(file, &call.headers)
    };
    let reply = reply.with_static_header(CACHE_CONTROL, WIDGET_CACHE);
    Ok(reply.with_header(ETAG, &tag))
}

fn file_reply(file: &'static StaticFile, headers: &HeaderMap) -> Reply {
    let content_type = file.content_type().unwrap_or("application/octet-stream");
    let reply = packed_reply(&file.packed, content_type, headers);
    reply.with_static_header(X_CONTENT_TYPE_OPTIONS, "nosniff")
}

/// Returns a file as gzip, or decompressed for callers that do not accept gzip. Range requests receive the whole
/// file.
pub(super) fn packed_reply(
    packed: &'static Packed,
    content_type: &'static str,
    headers: &HeaderMap,
) -> Reply {
    gzip_reply(Bytes::from_static(packed.0), content_type, headers)
}

/// Returns a text that is compressed with gzip, or decompressed for callers that do not accept gzip.
pub(super) fn gzip_reply(gzip: Bytes, content_type: &'static str, headers: &HeaderMap) -> Reply {
    let reply = if accepts_gzip(headers) {
        let reply = Reply::text(StatusCode::OK, content_type, gzip);
        reply.with_static_header(CONTENT_ENCODING, "gzip")
    } else {
        Reply::text(StatusCode::OK, content_type, decompress(&gzip))
    };
    reply.with_static_header(VARY, "accept-encoding")
}

/// Returns `true` if the caller accepts gzip (RFC 9110, section 12.5.3). A coding with weight 0 is refused, and `*`
/// stands for every coding that is not listed.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let codings = || header_values(headers, ACCEPT_ENCODING).flat_map(|text| text.split(','));
    let takes = |wanted: &str| {
        codings().find_map(|coding| {
            let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
            let is_none = weight
                .split_once('=')
                .is_some_and(|(_, weight)| weight.trim().trim_matches(['0', '.']).is_empty());
            name.trim().eq_ignore_ascii_case(wanted).then_some(!is_none)
        })
    };
    takes("gzip").or_else(|| takes("*")).unwrap_or(false)
}

fn header_values(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let values = headers.get_all(name).into_iter();
    values.filter_map(|value| value.to_str().ok())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::accepts_gzip;
    use hyper::HeaderMap;
    use hyper::header::ACCEPT_ENCODING;

    #[test]
    fn gzip_is_accepted_by_name_wildcard_and_weight() {
        for (text, takes) in [
            ("gzip", true),
            ("deflate, GZIP;q=0.5, br", true),
            ("gzip;q=0", false),
            ("gzip; q=0.000", false),
            ("gzip;q=0.001", true),
            ("x-gzip", false),
            ("*", true),
            ("*;q=0", false),
            ("*;q=0, gzip", true),
            ("gzip;q=0, *", false),
            ("identity;q=0, *;q=0.5", true),
            ("identity;q=0", false),
            ("br", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            assert!(!accepts_gzip(&headers));
            headers.insert(ACCEPT_ENCODING, text.parse().unwrap());
            assert_eq!(accepts_gzip(&headers), takes, "{text}");
        }
    }
}
