//! The activity stream of a sandbox and its page.

use crate::support::installation::Installation;
use crate::support::stream::{EventStream, StreamEvent};
use crate::support::{Shop, TEST, agent, send};
use coffer::Config;
use coffer::http::ConnectionLimits;
use serde_json::{Value, json};

const STREAM_PATH: &str = "/sandbox/stream";

/// Opens a stream, which begins with the run. Returns the stream and the id of the run.
#[track_caller]
fn open_stream_and_run(shop: &Shop, path: &str, headers: &str) -> (EventStream, String) {
    let mut stream = EventStream::open(shop, path, headers);
    assert!(stream.head.starts_with("HTTP/1.0 200 "), "{}", stream.head);
    assert!(stream.head.contains("content-type: text/event-stream"));
    let first = stream.next().unwrap();
    assert_eq!((first.name.as_str(), first.id.as_str()), ("run", ""));
    let run = first.data["run"].as_str().unwrap().to_owned();
    (stream, run)
}

/// Opens a stream that starts at the oldest stored entry, and reads the run.
#[track_caller]
fn open_stream(shop: &Shop, headers: &str) -> EventStream {
    open_stream_and_run(shop, STREAM_PATH, headers).0
}

fn is_call_to(told: &StreamEvent, target: &str) -> bool {
    told.name == "call" && told.data["target"] == target
}

#[test]
fn stream_contains_calls_events_and_deliveries() {
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    shop.update_account(json!({ "endpoints": [{ "url": inbox }] }));
    let mut stream = open_stream(&shop, "");
    let markup = "<script>alert(1)</script>\n\u{2028}data: x";
    let invoice = shop.create_invoice("20.00", json!({ "description": markup }));
    let mut told = Vec::new();
    while told.len() < 3 {
        let next = stream.next().unwrap();
        let is_it = match next.name.as_str() {
            "call" => next.data["target"] == "/v1/invoices",
            "event" => next.data["event"]["data"]["object"]["id"] == invoice["id"],
            "delivery" => next.data["url"] == inbox,
            other => unreachable!("{other}"),
        };
        told.extend(is_it.then_some(next));
    }
    let of = |name: &str| &told.iter().find(|told| told.name == name).unwrap().data;
    let call = of("call");
    assert_eq!((&call["method"], &call["status"]), (&json!("POST"), &json!(201)));
    assert_eq!((&call["operation"], &call["key"]), (&json!("createInvoice"), &json!(TEST)));
    for part in ["sent", "answered"] {
        let body: Value = serde_json::from_str(call[part]["text"].as_str().unwrap()).unwrap();
        assert_eq!((&body["description"], &call[part]["cut"]), (&json!(markup), &json!(false)));
    }
    let messages = shop.get("/sandbox/inbox/shop?wait=10s", None).json();
    let (received, delivery) = (&messages["data"][0], of("delivery"));
    assert_eq!(delivery["sent"]["text"], received["body"]);
    assert_eq!(
        delivery["headers"]["X-Service-Signature"],
        received["headers"]["x-service-signature"]
    );
    assert_eq!((&delivery["status"], &delivery["number"]), (&json!(200), &json!(1)));
    assert_eq!(of("event")["event"]["id"], delivery["event"]);
}

#[test]
fn stream_omits_secrets() {
    let shop = Shop::open();
    let mut stream = open_stream(&shop, "");
    let known = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    shop.post(
        "/dashboard/api/session",
        None,
        json!({ "email": "a@b.test", "password": "hidden words" }),
    );
    shop.post("/dashboard/api/wallets/check", None, json!({ "chain": "evm", "key": known }));
    shop.get(&format!("/v1/invoices/{known}"), Some("sk_live_0123456789secret"));
    shop.send("GET", "/v1/ledger", &[("X-Coffer-Untold", "1"), ("X-API-Key", TEST)], "");
    shop.get("/v1/merchant", Some("sk_live_0123456789secret"));
    let mut said = String::new();
    loop {
        let told = stream.next().unwrap();
        said.push_str(&told.data.to_string());
        if is_call_to(&told, "/v1/merchant") {
            break;
        }
    }
    for secret in ["hidden words", known, "0123456789secret", "/v1/ledger"] {
        assert!(!said.contains(secret), "{secret} in {said}");
    }
    assert!(said.contains("…cret") && said.contains("(hidden)"), "{said}");
}

#[test]
fn stream_omits_new_credentials_and_private_keys() {
    let shop = Shop::open();
    let mut stream = open_stream(&shop, "");
    let cookie = shop.sign_in_operator();
    let act = |path: &str, body: &Value| {
        shop.session_request(&cookie, "POST", path, body).expect(201).json()
    };
    let headers = [("cookie", cookie.as_str())];
    let accounts = shop.send("GET", "/dashboard/api/accounts", &headers, "");
    let account = accounts.json()["data"][0]["id"].clone();
    let account = format!("/dashboard/api/accounts/{}", account.as_str().unwrap());
    let key = act(&format!("{account}/keys"), &json!({ "class": "secret", "mode": "test" }));
    let begun = act("/dashboard/api/session/second-factor", &json!({}));
    let text = |of: &Value, name: &str| of[name].as_str().unwrap().to_owned();
    let mut secrets = vec![
        text(&key, "key"),
        text(&begun, "secret"),
        text(&begun, "uri"),
        text(&begun["qr"], "path"),
    ];
    // A client sends a private key by mistake in fields that appear in a response, an event and a delivery.
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    shop.update_account(
        json!({ "endpoints": [{ "url": inbox, "secret": "my own signing secret" }] }),
    );
    let phrase = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
    let wif = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ";
    let hex = "c0de".repeat(16);
    let more = json!({ "description": phrase, "metadata": { "note": wif, "of": [&hex] } });
    shop.create_invoice("20.00", more);
    shop.get(&format!("/v1/invoices?limit=5&status={wif}"), Some(TEST));
    shop.get("/v1/invoices?limit=5&password=hunter%32", Some(TEST));
    shop.send("POST", "/v1/invoices", &[("X-API-Key", TEST)], &format!("{{\"amount\": {wif}"));
    secrets.extend([phrase, wif, &hex, "my own signing secret", "hunter"].map(str::to_owned));
    shop.get("/sandbox/inbox/shop?wait=10s", None);
    shop.get("/v1/merchant", Some(TEST));
    let (mut said, mut left) = (String::new(), vec!["call", "delivery", "event"]);
    while !left.is_empty() {
        let told = stream.next().unwrap();
        said.push_str(&told.data.to_string());
        left.retain(|name| {
            *name != told.name || told.name == "call" && !is_call_to(&told, "/v1/merchant")
        });
    }
    for secret in &secrets {
        assert!(!said.contains(secret.as_str()), "{secret} in {said}");
    }
    assert!(said.contains(TEST) && said.contains("limit=5&status=(hidden)"), "{said}");
}

#[test]
fn reconnecting_client_resumes_or_gets_count_of_missed_entries() {
    let shop = Shop::open();
    let mut first = open_stream(&shop, "");
    shop.get("/v1/balances", Some(TEST));
    let seen = first.next_matching(|told| is_call_to(told, "/v1/balances"));
    shop.get("/v1/ledger", Some(TEST));
    let next = open_stream(&shop, &format!("Last-Event-ID: {}\r\n", seen.id)).next();
    let next = next.unwrap();
    assert!(is_call_to(&next, "/v1/ledger"), "{next:?}");
    let number = |told: &StreamEvent| told.id.parse::<u64>().unwrap();
    assert_eq!(number(&next), number(&seen) + 1);
    let since = format!("{STREAM_PATH}?since={}", seen.id);
    let (mut by_query, _) = open_stream_and_run(&shop, &since, "");
    assert!(is_call_to(&by_query.next().unwrap(), "/v1/ledger"));
    // A client reconnects after more entries than the stream stores. It receives the number of missed entries.
    for _ in 0..600 {
        shop.get("/v1/merchant", Some(TEST)).expect(200);
    }
    let mut late = open_stream(&shop, &format!("Last-Event-ID: {}\r\n", seen.id));
    let missed = late.next().unwrap();
    assert_eq!(missed.name, "missed");
    assert_eq!(missed.data["count"], json!(601 - 512));
    assert!(is_call_to(&late.next().unwrap(), "/v1/merchant"));
    // If the client sends an invalid id or an id of another process, the stream starts at the oldest stored entry.
    for strange in ["99999999999999999999", "x", "-1", "18446744073709551615"] {
        let mut stream = open_stream(&shop, &format!("Last-Event-ID: {strange}\r\n"));
        assert!(is_call_to(&stream.next().unwrap(), "/v1/merchant"), "{strange}");
    }
}

#[test]
fn another_run_begins_without_the_activity_before() {
    let shop = Shop::open();
    let (mut stream, first) = open_stream_and_run(&shop, STREAM_PATH, "");
    let (_, same) = open_stream_and_run(&shop, STREAM_PATH, "");
    assert_eq!(same, first);
    shop.get("/v1/balances", Some(TEST)).expect(200);
    shop.post("/sandbox/snapshots/a", None, json!({})).expect(200);
    for (path, cause) in [("/sandbox/reset", "reset"), ("/sandbox/snapshots/a/restore", "restore")]
    {
        shop.post(path, None, json!({})).expect(200);
        let next = stream.next_matching(|told| told.name == "run");
        assert_eq!(next.data["cause"], cause);
        assert!(is_call_to(&stream.next().unwrap(), path));
        let (mut later, run) = open_stream_and_run(&shop, STREAM_PATH, "");
        assert_eq!(next.data["run"], run);
        assert_ne!(run, first);
        assert!(is_call_to(&later.next().unwrap(), path));
    }
    let (_, other) = open_stream_and_run(&Shop::open(), STREAM_PATH, "");
    assert_ne!(other, first);
}

#[test]
fn calls_have_the_headers_of_a_command() {
    let shop = Shop::open();
    let mut stream = open_stream(&shop, "");
    let phrase = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
    for (sent, shown) in [
        (vec![("x-api-key", TEST)], json!({ "X-API-Key": TEST })),
        (
            vec![("authorization", "Bearer sk_test_sandbox"), ("idempotency-key", "a 'b'")],
            json!({ "Authorization": "Bearer sk_test_sandbox", "Idempotency-Key": "a 'b'" }),
        ),
        (vec![("x-api-key", "sk_live_0123456789secret")], json!({ "X-API-Key": "…cret" })),
        (vec![("cookie", "coffer_session=x1x")], json!({ "Cookie": "(hidden)" })),
        (vec![("idempotency-key", phrase)], json!({ "Idempotency-Key": "(hidden)" })),
        (vec![("content-type", "application/json")], json!({ "Content-Type": "application/json" })),
    ] {
        shop.send("GET", "/v1/merchant", &sent, "");
        let call = stream.next_matching(|told| is_call_to(told, "/v1/merchant"));
        assert_eq!(call.data["headers"], shown);
    }
}

#[test]
fn stream_starts_with_bounded_history() {
    let shop = Shop::open();
    for _ in 0..100 {
        shop.get("/v1/merchant", Some(TEST)).expect(200);
    }
    shop.get("/v1/balances", Some(TEST)).expect(200);
    let mut stream = open_stream(&shop, "");
    let mut count = 1;
    while !is_call_to(&stream.next().unwrap(), "/v1/balances") {
        count += 1;
    }
    assert_eq!(count, 64);
}

#[test]
fn thousand_listeners_receive_events_and_end_with_the_server() {
    let limits = ConnectionLimits { connections_max: 1100, ..ConnectionLimits::default() };
    let shop = Shop::with_config(Config { limits, ..Config::sandbox() });
    let mut streams: Vec<EventStream> = (0..1000).map(|_| open_stream(&shop, "")).collect();
    shop.get("/v1/balances", Some(TEST)).expect(200);
    for stream in &mut streams {
        stream.next_matching(|told| is_call_to(told, "/v1/balances"));
    }
    drop(shop);
    for stream in &mut streams {
        assert_eq!(stream.next(), None);
    }
}

#[test]
fn slow_listener_does_not_block_others() {
    let shop = Shop::open();
    // This client never reads, so its entries fill only the system's socket buffers.
    let _slow = open_stream(&shop, "");
    let mut quick = open_stream(&shop, "");
    let long = "x".repeat(400);
    for number in 0..2000 {
        shop.get(&format!("/v1/nothing/{long}/{number}"), Some(TEST)).expect(404);
        quick.next_matching(|told| {
            told.data["target"]
                .as_str()
                .is_some_and(|target| target.ends_with(&format!("/{number}")))
        });
    }
}

#[test]
fn production_server_has_no_stream() {
    let (_served, running) = Installation::start_new(&[]);
    let ask = |path: &str| send(&agent(), "GET", &format!("{}{path}", running.url), &[], "");
    assert_eq!(ask(STREAM_PATH).status, 404);
    let config = ureq::Agent::config_builder().http_status_as_error(false).proxy(None);
    let agent: ureq::Agent = config.max_redirects(0).build().into();
    let front = send(&agent, "GET", &format!("{}/", running.url), &[], "");
    assert_eq!((front.status, front.headers["location"].as_str()), (302, "./dashboard"));
}

#[test]
fn stream_page_is_local_only() {
    let shop = Shop::open();
    let page = shop.get("/", None).expect(200);
    for text in [shop.url(), TEST, "pk_live_sandbox", "whsec_", "$ID/simulate", "rt_sandbox"] {
        assert!(page.text.contains(text), "{text}");
    }
    let policy = &page.headers["content-security-policy"];
    assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
    for path in ["/", STREAM_PATH] {
        for header in [
            ("Origin", "https://evil.example"),
            ("Sec-Fetch-Site", "cross-site"),
            ("Host", "evil.example"),
        ] {
            let answer = shop.send("GET", path, &[header], "");
            assert_eq!(answer.status, 403, "{path} {header:?}: {}", answer.text);
            assert!(!answer.text.contains(TEST), "{path}");
        }
    }
}
