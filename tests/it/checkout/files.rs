//! Static files of pages, and the widget.

use crate::support::{Response, Shop};
use serde_json::json;

/// Returns the path of the logo in a page, which contains the server's version.
fn logo_path(shop: &Shop) -> String {
    let invoice = shop.create_invoice("10.00", json!({}));
    let url = invoice["checkoutUrl"].as_str().unwrap();
    let page = shop.get(url.strip_prefix(shop.url()).unwrap(), None).expect(200);
    let (_, rest) = page.text.split_once("../assets/").unwrap();
    let (path, _) = rest.split_once('"').unwrap();
    format!("/assets/{path}")
}

fn header<'a>(answer: &'a Response, name: &str) -> &'a str {
    answer.headers.get(name).map_or("", String::as_str)
}

#[test]
fn file_is_cached_forever_under_its_version_only() {
    let shop = Shop::open();
    let path = logo_path(&shop);
    let now = shop.get(&path, None).expect(200);
    assert_eq!(header(&now, "content-type"), "image/svg+xml");
    assert_eq!(header(&now, "cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(header(&now, "x-content-type-options"), "nosniff");
    let version = path.split('/').nth(2).unwrap();
    let other = shop.get(&path.replace(version, "0123456789abcdef"), None).expect(200);
    assert_eq!(header(&other, "cache-control"), "no-cache");
    assert_eq!(other.text, now.text);
    for nothing in ["shared/x.svg", "x/coffer.svg", "shared", "shared/../widget/widget.js"] {
        let path = format!("/assets/{version}/{nothing}");
        shop.get(&path, None).expect(404);
    }
}

#[test]
fn file_is_compressed_if_accepted() {
    let shop = Shop::open();
    let plain = shop.get("/widget.js", None).expect(200);
    assert_eq!(header(&plain, "content-encoding"), "");
    assert_eq!(header(&plain, "vary"), "accept-encoding");
    assert_eq!(plain.text, include_str!("../../../src/web/assets/widget/widget.js"));
    let part = shop.send("GET", "/widget.js", &[("range", "bytes=0-9")], "");
    assert_eq!(part.expect(200).text, plain.text);
    let asked =
        |codings: &str| shop.send("HEAD", "/widget.js", &[("accept-encoding", codings)], "");
    let packed = asked("br, gzip").expect(200);
    assert_eq!(header(&packed, "content-encoding"), "gzip");
    assert_eq!(header(&packed, "vary"), "accept-encoding");
    let bytes = |answer: &Response| header(answer, "content-length").parse::<usize>().unwrap();
    assert!(bytes(&packed) < bytes(&plain));
    for (codings, encoding) in
        [("*", "gzip"), ("gzip;q=0, *", ""), ("gzip;q=0", ""), ("identity;q=0, gzip", "gzip")]
    {
        let answer = asked(codings).expect(200);
        assert_eq!(header(&answer, "content-encoding"), encoding, "{codings}");
        let expected = if encoding.is_empty() { bytes(&plain) } else { bytes(&packed) };
        assert_eq!(bytes(&answer), expected, "{codings}");
    }
}

#[test]
fn unchanged_widget_gets_304() {
    let shop = Shop::open();
    let widget = shop.get("/widget.js", None).expect(200);
    assert_eq!(header(&widget, "content-type"), "text/javascript; charset=utf-8");
    assert_eq!(header(&widget, "x-content-type-options"), "nosniff");
    for part in ["data-coffer-key", "CofferWidget", "/v1/public/checkout-sessions", "checkoutUrl"] {
        assert!(widget.text.contains(part), "{part}");
    }
    let tag = header(&widget, "etag");
    let asked = |known: &str| shop.send("GET", "/widget.js", &[("if-none-match", known)], "");
    // The compressed and the uncompressed widget have the same weak ETag.
    let strong = tag.strip_prefix("W/").unwrap();
    for known in [tag, "*", &format!("\"x\", {tag}"), strong] {
        let answer = asked(known).expect(304);
        assert_eq!((answer.text.as_str(), header(&answer, "etag")), ("", tag));
    }
    assert_ne!(asked("\"0000000000000000\"").expect(200).text, "");
}
