//! The API reference at `/docs` and the guides: completeness, links and compression.

use crate::support::installation::Installation;
use crate::support::{Response, Shop, agent, send};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Maximum number of bytes of a page of the reference, as it is sent to browsers.
const PAGE_BYTES_MAX: usize = 60_000;

/// Returns the pages of the reference by their paths: the first page and those of all topics.
#[track_caller]
fn reference_pages(shop: &Shop) -> BTreeMap<String, String> {
    let first = shop.get("/docs", None).expect(200).text;
    let topics = first.split("<h2><a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let paths = topics.map(|link| format!("/{link}"));
    let mut pages: BTreeMap<String, String> =
        paths.map(|path| (path.clone(), shop.get(&path, None).expect(200).text)).collect();
    assert!(pages.len() >= 20, "{:?}", pages.keys());
    pages.insert("/docs".to_owned(), first);
    pages
}

#[test]
fn reference_lists_every_operation_webhook_and_error() {
    let shop = Shop::open();
    let pages = reference_pages(&shop);
    let topics: String =
        pages.iter().filter(|(path, _)| *path != "/docs").map(|(_, page)| &**page).collect();
    let once = |said: String, id: &str| {
        assert_eq!(topics.matches(&said).count(), 1, "{said}");
        let entry = format!("<li class=\"entry\" id=\"{id}\"");
        assert_eq!(pages["/docs"].matches(&entry).count(), 1, "{id}");
    };
    for path in ["/v1/openapi.json", "/sandbox/openapi.json"] {
        let document = shop.get(path, None).expect(200).json();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let id = operation["operationId"].as_str().unwrap();
                let method = method.to_uppercase();
                once(format!("id=\"{id}\" data-method=\"{method}\" data-path=\"{path}\""), id);
            }
        }
        for (name, _) in document["webhooks"].as_object().into_iter().flatten() {
            once(format!("id=\"webhook-{name}\""), &format!("webhook-{name}"));
        }
    }
    let codes = shop.get("/v1/openapi.json", None).json();
    let codes = codes["components"]["schemas"]["Error"]["properties"]["error"]["enum"].clone();
    for code in codes.as_array().unwrap() {
        let code = code.as_str().unwrap();
        once(format!("id=\"error-{code}\""), &format!("error-{code}"));
    }
    for (path, page) in &pages {
        for (part, times) in [("<h1", 1), ("<main", 1), ("<script", 1), ("{{", 0)] {
            assert_eq!(page.matches(part).count(), times, "{part} in {path}");
        }
        assert_eq!(*page, shop.get(path, None).text);
    }
    for unknown in ["x", "Invoices", "..", "%2e%2e", ""] {
        shop.get(&format!("/docs/reference/{unknown}"), None).expect(404);
    }
}

#[test]
fn links_of_the_reference_lead_somewhere() {
    let shop = Shop::open();
    let pages = reference_pages(&shop);
    for (path, page) in &pages {
        let folder = path.rsplit_once('/').unwrap().0;
        for link in page.split(" href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let (to, place) = link.split_once('#').unwrap_or((link, ""));
            let to = match to {
                "" => path.clone(),
                _ if to.starts_with("../../") => to.replacen("../..", "", 1),
                _ => format!("{folder}/{to}"),
            };
            let to = to.replace("/./", "/").replace("/reference/../", "/");
            if place.is_empty() {
                shop.get(&to, None).expect(200);
            } else {
                let guide = || shop.get(&to, None).expect(200).text;
                let page = pages.get(&to).cloned().unwrap_or_else(guide);
                assert!(page.contains(&format!(" id=\"{place}\"")), "{link} in {path}");
            }
        }
    }
}

#[test]
fn pages_of_the_reference_are_compressed_and_small() {
    let (_served, running) = Installation::start_new(&[]);
    let shop = Shop::open();
    for (url, pages) in [(running.url.clone(), 17), (shop.url().to_owned(), 20)] {
        let asked = |path: &str, codings: &str| {
            send(&agent(), "HEAD", &format!("{url}{path}"), &[("accept-encoding", codings)], "")
        };
        let mut count = 0;
        for path in reference_pages(&shop).keys() {
            let (plain, packed) = (asked(path, ""), asked(path, "gzip"));
            if plain.status == 404 && path.contains("/sandbox-") {
                continue;
            }
            let bytes =
                |answer: &Response| answer.headers["content-length"].parse::<usize>().unwrap();
            assert!(bytes(&packed) <= PAGE_BYTES_MAX, "{path}: {}", bytes(&packed));
            assert!(bytes(&packed) * 2 < bytes(&plain), "{path}");
            assert_eq!(packed.headers["content-encoding"], "gzip");
            assert_eq!(packed.headers["vary"], "accept-encoding");
            count += 1;
        }
        assert!(count >= pages, "{url}: {count}");
    }
}

#[test]
fn every_guide_is_listed_and_its_links_work() {
    let shop = Shop::open();
    let reference = shop.get("/docs", None).expect(200).text;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web/guides");
    let files = std::fs::read_dir(folder).unwrap();
    let names: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .map(|name| name.strip_suffix(".md").unwrap().to_owned())
        .collect();
    let pages: BTreeMap<&str, String> = names
        .iter()
        .map(|name| (&**name, shop.get(&format!("/docs/{name}"), None).expect(200).text))
        .collect();
    assert!(pages.len() >= 20);
    for (name, page) in &pages {
        let listed = format!("<dt><a href=\"docs/{name}\">");
        assert_eq!(reference.matches(&listed).count(), 1, "{name}");
        for (part, times) in [
            ("<h1 id", 1),
            ("<main", 1),
            ("<script", 0),
            ("{{", 0),
            ("{%", 0),
            (".md\"", 0),
            ("aria-current=\"page\"", 1),
            ("aria-label=\"On this page\"", 1),
            ("</html>", 1),
        ] {
            assert_eq!(page.matches(part).count(), times, "{part} in {name}");
        }
        for link in page.split(" href=\"").skip(1) {
            let link = link.split('"').next().unwrap();
            let (to, place) = link.split_once('#').unwrap_or((link, ""));
            let to = if to.is_empty() { name } else { to };
            match pages.get(to) {
                _ if ["guide", "guides"].contains(&place) => {}
                Some(page) => {
                    let place = format!(" id=\"{place}\"");
                    assert!(place == " id=\"\"" || page.contains(&place), "{link} in {name}");
                }
                None => {
                    assert!(to.starts_with("../"), "{link} in {name}");
                    shop.get(to.trim_start_matches(".."), None).expect(200);
                }
            }
        }
    }
    for unknown in ["x", "webhooks.md", "..", "%2e%2e", "webhooks/x", "WEBHOOKS"] {
        shop.get(&format!("/docs/{unknown}"), None).expect(404);
    }
}

#[test]
fn all_readers_get_the_same_guide_compressed_if_accepted() {
    let (_served, running) = Installation::start_new(&[]);
    let asked = |method: &str, codings: &str| {
        let url = format!("{}/docs/webhooks", running.url);
        send(&agent(), method, &url, &[("accept-encoding", codings)], "")
    };
    let plain = asked("GET", "");
    let packed = asked("HEAD", "gzip, br");
    assert_eq!((plain.status, packed.status), (200, 200));
    let bytes = |answer: &Response| answer.headers["content-length"].parse::<usize>().unwrap();
    assert_eq!(bytes(&plain), plain.text.len());
    assert!(bytes(&packed) * 2 < plain.text.len());
    assert_eq!(packed.headers["content-encoding"], "gzip");
    assert!(!plain.headers.contains_key("content-encoding"));
    for answer in [&plain, &packed] {
        assert_eq!(answer.headers["content-type"], "text/html; charset=utf-8");
        assert_eq!(answer.headers["vary"], "accept-encoding");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        let policy = &answer.headers["content-security-policy"];
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"));
    }
    let shop = Shop::open();
    assert_eq!(shop.get("/docs/webhooks", None).expect(200).text, plain.text);
}

#[test]
fn reference_shows_server_url_and_hides_sandbox() {
    let (_served, running) = Installation::start_new(&[]);
    for path in ["/docs", "/docs/reference/invoices"] {
        let page = send(&agent(), "GET", &format!("{}{path}", running.url), &[], "");
        assert_eq!(page.status, 200);
        assert!(
            page.text.contains(&format!("curl {}/v1/invoices", running.url)) || path == "/docs"
        );
        assert!(page.text.contains("SECRET_KEY") && page.text.contains("id=\"createInvoice\""));
        for of_sandbox in ["sk_test_sandbox", "reference/sandbox", "data-sandbox", "./\">Sandbox"] {
            assert!(!page.text.contains(of_sandbox), "{of_sandbox}");
        }
        let policy = &page.headers["content-security-policy"];
        assert!(
            policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
    }
}

#[test]
fn reference_command_creates_an_invoice() {
    let shop = Shop::open();
    let page = shop.get("/docs/reference/invoices", None).expect(200).text;
    let text = page.replace("&#34;", "\"").replace("&#39;", "'");
    let (_, rest) = text.split_once("id=\"createInvoice\"").unwrap();
    let (_, rest) = rest.split_once("<pre class=\"curl\" tabindex=\"0\"><code>").unwrap();
    let (command, _) = rest.split_once("</code>").unwrap();
    let output = Command::new("sh").args(["-euc", command]).output().unwrap();
    let created: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(created["object"], "invoice", "{command}: {created}");
}
