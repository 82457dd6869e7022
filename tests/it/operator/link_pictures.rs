//! Pictures of payment links: upload, delivery to browsers, removal and access.

use crate::support::links::LinkClient;
use crate::support::{Shop, agent};
use serde_json::{Value, json};
use std::thread;

/// Largest size of a picture, in bytes.
const PICTURE_BYTES_MAX: usize = 100 * 1024;

/// A response whose body may be binary.
struct BinaryResponse {
    status: u16,
    headers: ureq::http::HeaderMap,
    bytes: Vec<u8>,
}

impl BinaryResponse {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap()
    }

    #[track_caller]
    fn expect(self, status: u16) -> BinaryResponse {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.bytes));
        self
    }
}

#[track_caller]
fn send(method: &str, url: &str, cookie: &str, body: Vec<u8>) -> BinaryResponse {
    let request = ureq::http::Request::builder().method(method).uri(url).header("cookie", cookie);
    let request = request.body(body).unwrap();
    let agent = agent();
    let config = agent.configure_request(request).allow_non_standard_methods(true);
    let mut response = agent.run(config.build()).unwrap();
    BinaryResponse {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        bytes: response.body_mut().read_to_vec().unwrap(),
    }
}

/// Sends a picture for the link, as the signed-in user.
#[track_caller]
fn upload(interface: &LinkClient<'_>, link: &Value, mode: &str, body: Vec<u8>) -> BinaryResponse {
    let url = format!("{}{}", interface.shop.url(), interface.path_below(link, "picture", mode));
    send("PUT", &url, &interface.cookie, body)
}

#[track_caller]
fn sample(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/golden/pictures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

/// Returns a PNG file of this size: the sample with a chunk that browsers ignore before its end.
fn png_of_size(bytes: usize) -> Vec<u8> {
    let png = sample("small.png");
    let end = png.len() - 12;
    let data = vec![0; bytes - png.len() - 12];
    let checked = [&b"zzZz"[..], &data].concat();
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    let chunk = [&length[..], &checked, &crc32fast::hash(&checked).to_be_bytes()].concat();
    [&png[..end], &chunk, &png[end..]].concat()
}

fn create_link(interface: &LinkClient<'_>) -> Value {
    interface.create_test_link(json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" }))
}

#[test]
fn picture_is_stored_and_served_for_ever() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = create_link(&interface);
    let page = format!("/l/{}", link["id"].as_str().unwrap());
    shop.get_page(&page).assert_lacks_texts(&["<img"]);
    let mut urls = Vec::new();
    for (name, media) in
        [("small.png", "image/png"), ("small.jpg", "image/jpeg"), ("alpha.webp", "image/webp")]
    {
        let changed = upload(&interface, &link, "test", sample(name)).expect(200).json();
        let url = changed["pictureUrl"].as_str().unwrap().to_owned();
        assert_eq!(interface.read(&link), changed);
        let served = send("GET", &url, "", Vec::new()).expect(200);
        assert_eq!(served.headers["content-type"], media);
        assert_eq!(served.headers["x-content-type-options"], "nosniff");
        assert_eq!(served.headers["cache-control"], "public, max-age=31536000, immutable");
        let policy = served.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        assert_eq!(served.headers.get_all("cache-control").iter().count(), 1);
        assert!(!served.bytes.is_empty());
        let shown = url.strip_prefix(shop.url()).unwrap().strip_prefix("/l/").unwrap();
        let shown =
            format!("<img class=\"picture\" src=\"{shown}\" alt=\"\" width=\"8\" height=\"6\">");
        shop.get_page(&page).assert_contains_texts(200, &[&shown]);
        urls.push(url);
    }
    // A replaced picture is gone. The same picture has the same URL again.
    send("GET", &urls[0], "", Vec::new()).expect(404);
    let again = upload(&interface, &link, "test", sample("small.png")).expect(200).json();
    assert_eq!(again["pictureUrl"], *urls[0]);
    // The merchant still sees the picture of a link that is off.
    interface.update(&link, json!({ "active": false })).expect(200);
    send("GET", &urls[0], "", Vec::new()).expect(200);
    let url = format!("{}{}", shop.url(), interface.path_below(&link, "picture", "test"));
    for _ in 0..2 {
        let removed = send("DELETE", &url, &interface.cookie, Vec::new()).expect(200).json();
        assert_eq!(removed["pictureUrl"], Value::Null);
    }
    send("GET", &urls[0], "", Vec::new()).expect(404);
    let actions =
        "select group_concat(action, ' ') from audit_log where action like 'payment_link.%picture'";
    let set = "payment_link.set_picture ".repeat(4);
    assert_eq!(shop.query_text(actions), format!("{set}payment_link.remove_picture"));
    shop.assert_audit_clean();
}

#[test]
fn only_still_pictures_are_taken() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = create_link(&interface);
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
    let mut truncated = sample("small.png");
    truncated.pop();
    for body in [&b""[..], svg, b"GIF89a", b"{}", &truncated] {
        let refused = upload(&interface, &link, "test", body.to_vec()).expect(400).json();
        assert_eq!(
            (&refused["error"], &refused["param"]),
            (&json!("invalid_request"), &json!("picture"))
        );
    }
    // A page behind the picture is not stored.
    let polyglot = [&sample("small.png")[..], b"<script>alert(1)</script>"].concat();
    let changed = upload(&interface, &link, "test", polyglot).expect(200).json();
    let served = send("GET", changed["pictureUrl"].as_str().unwrap(), "", Vec::new()).expect(200);
    assert_eq!(served.bytes, sample("small.png"));
    let url = changed["pictureUrl"].as_str().unwrap();
    for wrong in ["0".repeat(64), url[url.len() - 64..].to_uppercase(), "x".to_owned()] {
        let other = format!("{}/l/{}/picture/{wrong}", shop.url(), link["id"].as_str().unwrap());
        send("GET", &other, "", Vec::new()).expect(404);
    }
    // The file refuses what the operation refuses.
    let file = rusqlite::Connection::open(shop.file()).unwrap();
    for wrong in [
        "format = 'svg'",
        "width = 2049",
        "height = 0",
        "hash = 'x'",
        "bytes = x''",
        "bytes = zeroblob(102401)",
    ] {
        let changed = file.execute(&format!("update payment_link_pictures set {wrong}"), []);
        assert!(changed.unwrap_err().to_string().contains("CHECK"), "{wrong}");
    }
}

#[test]
fn only_this_route_takes_large_bodies_from_signed_in_users() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = create_link(&interface);
    upload(&interface, &link, "test", png_of_size(PICTURE_BYTES_MAX)).expect(200);
    let refused = upload(&interface, &link, "test", png_of_size(PICTURE_BYTES_MAX + 1)).expect(413);
    assert_eq!(refused.json()["message"], "the body must be at most 102400 bytes");
    let url = format!("{}{}", shop.url(), interface.path_below(&link, "picture", "test"));
    send("PUT", &url, "", png_of_size(70_000)).expect(401);
    send("PUT", &url, "coffer_session=0", png_of_size(70_000)).expect(401);
    let large = format!("{{\"name\":\"{}\"}}", "x".repeat(64 * 1024)).into_bytes();
    for (method, path) in [
        ("POST", format!("/dashboard/api/accounts/{}/payment-links", interface.account)),
        ("PATCH", interface.path_below(&link, "", "test").replace("/?", "?")),
        ("DELETE", interface.path_below(&link, "picture", "test")),
        ("POST", interface.path_below(&link, "picture", "test")),
    ] {
        let url = format!("{}{path}", shop.url());
        let refused = send(method, &url, &interface.cookie, large.clone());
        assert!([413, 405].contains(&refused.status), "{method} {path}: {}", refused.status);
    }
    let invoice = send("POST", &format!("{}/v1/invoices", shop.url()), &interface.cookie, large);
    assert_eq!(invoice.status, 401);
}

#[test]
fn large_uploads_at_the_same_time_are_limited() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = create_link(&interface);
    let picture = png_of_size(PICTURE_BYTES_MAX);
    let statuses: Vec<u16> = thread::scope(|scope| {
        let sent = || upload(&interface, &link, "test", picture.clone()).status;
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(sent)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&200));
    upload(&interface, &link, "test", picture).expect(200);
}

#[test]
fn picture_belongs_to_one_account_and_mode() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = create_link(&interface);
    let live = json!({ "name": "A coffee", "currency": "EUR" });
    let live = interface.create("live", &live).expect(201).json();
    upload(&interface, &live, "live", sample("small.png")).expect(200);
    for (link, mode) in [(&live, "test"), (&link, "live")] {
        upload(&interface, link, mode, sample("small.png")).expect(404);
        // A wrong picture does not tell that the link exists.
        upload(&interface, link, mode, Vec::new()).expect(404);
        let url = format!("{}{}", shop.url(), interface.path_below(link, "picture", mode));
        send("DELETE", &url, &interface.cookie, Vec::new()).expect(404);
    }
    let other = interface.for_account("01a1fd55-7a80-7af2-9132-9b2fc82e5efe");
    upload(&other, &link, "test", sample("small.png")).expect(404);
    assert_eq!(interface.read(&link)["pictureUrl"], Value::Null);
    let kept = interface.get("live", live["id"].as_str().unwrap()).expect(200).json();
    assert!(kept["pictureUrl"].is_string());
}
