//! The event stream of a checkout page.

use crate::support::Shop;
use crate::support::stream::EventStream;
use coffer::Config;
use coffer::http::ConnectionLimits;
use serde_json::{Value, json};

/// Opens the stream of a checkout, and asserts its status and headers.
#[track_caller]
fn open_stream(shop: &Shop, path: &str, headers: &str) -> EventStream {
    let stream = EventStream::open(shop, path, headers);
    for expected in [
        "HTTP/1.0 200 ",
        "content-type: text/event-stream",
        "cache-control: no-store",
        "access-control-allow-origin: *",
    ] {
        let head = &stream.head;
        assert!(head.contains(expected), "{expected} is not in {head}");
    }
    stream
}

/// Returns id and data of the next event, or `None` at the end of the stream.
#[track_caller]
fn next_event(stream: &mut EventStream) -> Option<(String, Value)> {
    let told = stream.next()?;
    assert_eq!(told.name, "invoice");
    Some((told.id, told.data))
}

fn invoice_id(invoice: &Value) -> &str {
    invoice["id"].as_str().unwrap()
}

/// Returns the path of an invoice's stream.
fn stream_path(invoice: &Value) -> String {
    let url = invoice["checkoutUrl"].as_str().unwrap();
    let (_, token) = url.split_once("?token=").unwrap();
    format!("/v1/public/checkouts/{}/events?token={token}", invoice_id(invoice))
}

#[test]
fn stream_sends_every_change_and_resumes() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("20.00", json!({}));
    let (other, path) = (shop.create_invoice("20.00", json!({})), stream_path(&invoice));
    let mut stream = open_stream(&shop, &path, "");
    let (first, data) = next_event(&mut stream).unwrap();
    let known = json!({
        "id": invoice["id"], "status": "created", "paid": false, "asset": null, "depositAddress": null,
        "amountExpected": null, "amountReceived": null, "expiresAt": invoice["expiresAt"],
    });
    assert_eq!(data, known);
    shop.select_asset(invoice_id(&other), "LTC");
    let selected = shop.select_asset(invoice_id(&invoice), "LTC");
    let (second, data) = next_event(&mut stream).unwrap();
    assert_ne!(first, second);
    for field in ["id", "status", "asset", "depositAddress", "amountExpected"] {
        assert_eq!(data[field], selected[field], "{field}");
    }
    // A client that knows the newest event gets only the next event. A client that knows an older event gets the
    // missed events first.
    let since = format!("{path}&since={second}");
    let mut resumed = open_stream(&shop, &since, "");
    let header = format!("Last-Event-ID: {second}\r\n");
    let mut again = open_stream(&shop, &format!("{path}&since=x"), &header);
    for (since, header) in
        [(format!("&since={first}"), ""), (String::new(), "Last-Event-ID: \u{e4}\r\n")]
    {
        let mut behind = open_stream(&shop, &format!("{path}{since}"), header);
        assert_eq!(next_event(&mut behind).unwrap(), (second.clone(), data.clone()));
    }
    shop.simulate(invoice_id(&invoice), "exact");
    for stream in [&mut stream, &mut resumed, &mut again] {
        let mut last = next_event(stream).unwrap().1;
        while last["status"] != "confirmed" {
            assert_eq!(last["status"], "detected");
            last = next_event(stream).unwrap().1;
        }
        assert_eq!((&last["paid"], &last["amountReceived"]), (&json!(true), &json!("0.25")));
    }
}

#[test]
fn stream_is_chunked_and_ignores_client_data() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("20.00", json!({}));
    let mut stream = EventStream::open_chunked(&shop, &stream_path(&invoice));
    assert!(stream.read_chunk().starts_with("event: invoice\nid: "));
    // The server ignores data that a client sends on the connection of a stream.
    let more = format!("GET /livez HTTP/1.1\r\n\r\n{}", "x".repeat(10_000));
    stream.write(&more);
    shop.select_asset(invoice_id(&invoice), "LTC");
    assert!(stream.read_chunk().contains("\"asset\":\"LTC\""));
    drop(shop);
    assert_eq!(stream.read_chunk(), "");
}

#[test]
fn stopping_server_ends_every_stream_cleanly() {
    // In this test, a stopping server waits at most 1 ms for each client.
    let limits = ConnectionLimits { drain_client_ms: 1, ..ConnectionLimits::default() };
    for _ in 0..4 {
        let shop = Shop::with_config(Config { limits, ..Config::sandbox() });
        let invoice = shop.create_invoice("20.00", json!({}));
        let mut streams: Vec<EventStream> =
            (0..200).map(|_| EventStream::open_chunked(&shop, &stream_path(&invoice))).collect();
        streams.iter_mut().for_each(|stream| {
            stream.read_chunk();
        });
        drop(shop);
        for (at, stream) in streams.iter_mut().enumerate() {
            assert_eq!(stream.read_chunk(), "", "{at}");
        }
    }
}

#[test]
fn stream_reports_expired_invoice() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("20.00", json!({}));
    let mut stream = open_stream(&shop, &stream_path(&invoice), "");
    next_event(&mut stream).unwrap();
    shop.advance("21m");
    assert_eq!(next_event(&mut stream).unwrap().1["status"], "expired");
}

#[test]
fn token_opens_only_the_stream_of_its_invoice() {
    let shop = Shop::open();
    let (one, other) =
        (shop.create_invoice("20.00", json!({})), shop.create_invoice("20.00", json!({})));
    let (path, strange) = (stream_path(&one), stream_path(&other));
    let (_, token) = strange.split_once("?token=").unwrap();
    let (bare, _) = path.split_once('?').unwrap();
    for wrong in [
        bare.to_owned(),
        format!("{bare}?token="),
        format!("{bare}?token={token}"),
        format!("/v1/public/checkouts/x/events?token={token}"),
    ] {
        shop.get(&wrong, None).assert_error(404, "not_found", None);
    }
}

#[test]
fn idle_stream_is_evicted_and_ends_with_the_server() {
    let limits = ConnectionLimits { connections_max: 4, ..ConnectionLimits::default() };
    let shop = Shop::with_config(Config { limits, ..Config::sandbox() });
    let invoice = shop.create_invoice("20.00", json!({}));
    let listen = || {
        let mut stream = open_stream(&shop, &stream_path(&invoice), "");
        next_event(&mut stream).unwrap();
        stream
    };
    // The server accepts four connections, and the client of `shop` already holds one of them. A new stream above
    // this limit evicts the longest idle stream.
    let mut streams: Vec<EventStream> = (0..12).map(|_| listen()).collect();
    let mut last = streams.pop().unwrap();
    assert!(next_event(&mut streams.remove(0)).is_none());
    shop.select_asset(invoice_id(&invoice), "LTC");
    assert_eq!(next_event(&mut last).unwrap().1["asset"], "LTC");
    drop(shop);
    assert!(next_event(&mut last).is_none());
}
