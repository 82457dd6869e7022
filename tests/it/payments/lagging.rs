//! Lagging chains: live invoices that can be paid on a lagging chain stay open after their deadline, and all other
//! invoices expire.

use crate::support::{LIVE, Response, Shop, TEST};
use serde_json::{Value, json};

impl Shop {
    /// Creates an invoice over 100.00 EUR and returns its id.
    #[track_caller]
    fn create_100_eur_invoice(&self, key: &str, asset: Option<&str>) -> String {
        let body = json!({ "amount": "100.00", "currency": "EUR", "asset": asset });
        self.post("/v1/invoices", Some(key), body).expect(201).id()
    }

    #[track_caller]
    fn invoice_status(&self, key: &str, id: &str) -> String {
        let invoice = self.get(&format!("/v1/invoices/{id}"), Some(key));
        invoice.expect(200).json()["status"].as_str().unwrap().to_owned()
    }

    fn set_lagging(&self, chain: &str, body: Value) -> Response {
        let path = format!("/sandbox/chains/{chain}");
        self.send("PATCH", &path, &[], &body.to_string())
    }

    /// Returns the ids of the coins that the shop offers in live mode.
    #[track_caller]
    fn offered_coins(&self) -> Vec<String> {
        self.list_ids("/v1/currencies", LIVE)
    }
}

/// Opens a shop with a stopped clock, in which the bitcoin chain lags.
fn open_lagging_shop() -> Shop {
    let shop = Shop::open();
    let held = shop.set_lagging("bitcoin", json!({ "lagging": true })).expect(200).json();
    let expected =
        json!({ "chain": "bitcoin", "mode": "live", "lagging": true, "scannedTo": shop.now() });
    assert_eq!(held, expected);
    shop
}

#[test]
fn only_live_invoices_of_a_lagging_chain_stay_open() {
    let shop = open_lagging_shop();
    let waits = shop.create_100_eur_invoice(LIVE, Some("BTC"));
    let also = shop.create_100_eur_invoice(LIVE, Some("LTC"));
    shop.post(&format!("/v1/invoices/{also}/select"), Some(LIVE), json!({ "asset": "BTC" }))
        .expect(200);
    let others = [(LIVE, Some("LTC")), (LIVE, None), (TEST, Some("BTC"))]
        .map(|(key, asset)| (key, shop.create_100_eur_invoice(key, asset)));
    shop.advance("19m59s");
    shop.assert_audit_clean();
    shop.advance("1s");
    for (key, id) in &others {
        assert_eq!(shop.invoice_status(key, id), "expired");
    }
    for id in [&waits, &also] {
        assert_eq!(shop.invoice_status(LIVE, id), "awaiting_payment");
    }
    shop.assert_audit_clean();
    shop.advance("5h");
    // A coin cannot be selected after the deadline, although the invoice stays open.
    shop.post(&format!("/v1/invoices/{waits}/select"), Some(LIVE), json!({ "asset": "SOL" }))
        .assert_error(400, "invoice_closed", None);
    assert_eq!(shop.invoice_status(LIVE, &waits), "awaiting_payment");
    shop.assert_audit_clean();
    // An invoice without a seen payment may be cancelled.
    let cancelled = shop.cancel_invoice(&also).expect(200).json();
    assert_eq!(cancelled["status"], "cancelled");
    // The invoice stays open for at most six hours.
    shop.advance("59m59s");
    assert_eq!(shop.invoice_status(LIVE, &waits), "awaiting_payment");
    shop.assert_audit_clean();
    shop.advance("1s");
    assert_eq!(shop.invoice_status(LIVE, &waits), "expired");
    shop.assert_audit_clean();
    shop.advance("10d");
    shop.assert_audit_clean();
}

#[test]
fn invoice_created_with_a_coin_waits_for_its_chain() {
    let shop = Shop::open();
    // No request reads these invoices between their creation and their deadline.
    let [waits, other, in_test] = [(LIVE, "BTC"), (LIVE, "LTC"), (TEST, "BTC")]
        .map(|(key, asset)| shop.create_100_eur_invoice(key, Some(asset)));
    let kept = "select group_concat(mode || ':' || waits_for, ' ') from (select * from invoices order by seq)";
    assert_eq!(shop.query_text(kept), "live:bitcoin live:litecoin test:");
    shop.advance("10m");
    shop.set_lagging("bitcoin", json!({ "lagging": true })).expect(200);
    shop.assert_audit_clean();
    shop.advance("10m");
    assert_eq!(shop.invoice_status(LIVE, &waits), "awaiting_payment");
    assert_eq!(shop.invoice_status(LIVE, &other), "expired");
    assert_eq!(shop.invoice_status(TEST, &in_test), "expired");
    shop.assert_audit_clean();
    // The invoice stayed open while its chain lagged. It expires when the chain has caught up without a payment.
    shop.advance("5h59m");
    assert_eq!(shop.event_types(&waits, LIVE), ["invoice.created"]);
    shop.set_lagging("bitcoin", json!({ "lagging": false })).expect(200);
    assert_eq!(shop.invoice_status(LIVE, &waits), "expired");
    shop.assert_audit_clean();
}

#[test]
fn payment_in_time_counts_however_late_it_is_seen() {
    let shop = open_lagging_shop();
    let [paid, late, unpaid] = [(); 3].map(|()| shop.create_100_eur_invoice(LIVE, Some("BTC")));
    let held_at = shop.now();
    shop.advance("19m");
    let in_time = shop.now();
    shop.advance("2h");
    shop.assert_audit_clean();
    let pay = |id: &str, seen_at: &str| {
        let seen = shop.pay(json!({ "invoice": id, "seenAt": seen_at }));
        shop.assert_audit_clean();
        shop.set_payment_state(&seen, "confirmed");
        shop.invoice_status(LIVE, id)
    };
    assert_eq!(pay(&paid, &in_time), "confirmed");
    assert_eq!(pay(&late, &shop.now()), "paid_late");
    shop.assert_audit_clean();
    for (body, at) in [
        (json!({ "invoice": unpaid }), "1970-01-01T00:00:00.000Z"),
        (json!({ "invoice": unpaid }), "2100-01-01T00:00:00.000Z"),
        (json!({ "invoice": unpaid }), "yesterday"),
        (json!({ "outputs": [{ "invoice": unpaid }] }), "2100-01-01T00:00:00.000Z"),
        (json!({ "invoice": shop.create_100_eur_invoice(LIVE, Some("LTC")) }), &held_at),
        (json!({ "invoice": shop.create_100_eur_invoice(TEST, Some("BTC")) }), &held_at),
    ] {
        let mut body = body;
        body["seenAt"] = json!(at);
        shop.post("/sandbox/payments", None, body).assert_error(
            400,
            "invalid_request",
            Some("seenAt"),
        );
    }
    // A second request does not change the time to which the chain was read. When the chain has caught up, the unpaid
    // invoice expires.
    let again = shop.set_lagging("bitcoin", json!({ "lagging": true })).expect(200).json();
    assert_eq!(again["scannedTo"], held_at);
    assert_eq!(shop.invoice_status(LIVE, &unpaid), "awaiting_payment");
    let caught_up = shop.set_lagging("bitcoin", json!({ "lagging": false })).expect(200).json();
    assert_eq!(
        (&caught_up["lagging"], &caught_up["scannedTo"]),
        (&json!(false), &json!(shop.now()))
    );
    shop.assert_audit_clean();
    assert_eq!(shop.invoice_status(LIVE, &unpaid), "expired");
    assert_eq!(shop.event_types(&unpaid, LIVE), ["invoice.created", "invoice.expired"]);
}

#[test]
fn coin_of_a_long_lagging_chain_is_not_offered() {
    let shop = open_lagging_shop();
    let all = shop.offered_coins();
    shop.advance("15m");
    assert_eq!(shop.offered_coins(), all);
    let open = shop.create_100_eur_invoice(LIVE, None);
    shop.advance("1s");
    let rest: Vec<_> = all.iter().filter(|id| *id != "BTC").cloned().collect();
    assert_eq!(shop.offered_coins(), rest);
    let path = format!("/v1/invoices/{open}/select");
    shop.post(&path, Some(LIVE), json!({ "asset": "BTC" })).assert_error(
        400,
        "coin_unavailable",
        Some("asset"),
    );
    shop.post(&path, Some(LIVE), json!({ "asset": "LTC" })).expect(200);
    let in_test = shop.get("/v1/currencies", Some(TEST)).expect(200).json();
    assert_eq!(in_test["data"].as_array().unwrap().len(), all.len());
    shop.set_lagging("bitcoin", json!({ "lagging": false })).expect(200);
    assert_eq!(shop.offered_coins(), all);
    for (chain, body, status, code, param) in [
        ("monero", json!({ "lagging": true }), 404, "not_found", None),
        ("bitcoin", json!({ "lagging": 1 }), 400, "invalid_request", Some("lagging")),
        ("bitcoin", json!({ "more": 1 }), 400, "invalid_request", Some("more")),
    ] {
        shop.set_lagging(chain, body).assert_error(status, code, param);
    }
    let stays = shop.set_lagging("bitcoin", json!({})).expect(200).json();
    assert_eq!(stays["lagging"], false);
    // After a reset of the sandbox, no chain lags.
    shop.set_lagging("tron", json!({ "lagging": true })).expect(200);
    shop.send("POST", "/sandbox/reset", &[], "").expect(200);
    let stays = shop.set_lagging("tron", json!({})).expect(200).json();
    assert_eq!(stays["lagging"], false);
}

#[test]
fn quote_for_a_late_payment_does_not_reopen_the_invoice() {
    let shop = open_lagging_shop();
    let id = shop.create_100_eur_invoice(LIVE, None);
    // The chain starts to lag before the deadline of the invoice. It lags for so short a time that its coin is still
    // offered.
    shop.set_lagging("bitcoin", json!({ "lagging": false })).expect(200);
    shop.advance("19m");
    shop.set_lagging("bitcoin", json!({ "lagging": true })).expect(200);
    shop.advance("2m");
    assert_eq!(shop.invoice_status(LIVE, &id), "expired");
    let late = shop.pay(json!({ "invoice": id, "asset": "BTC" }));
    shop.set_payment_state(&late, "confirmed");
    assert_eq!(shop.invoice_status(LIVE, &id), "paid_late");
    shop.set_payment_state(&late, "orphaned");
    assert_eq!(shop.invoice_status(LIVE, &id), "expired");
    shop.assert_audit_clean();
    assert_eq!(
        shop.event_types(&id, LIVE),
        ["invoice.created", "invoice.expired", "invoice.paid_late", "invoice.expired"]
    );
}

#[test]
fn earlier_seen_time_makes_a_late_payment_timely() {
    let shop = open_lagging_shop();
    let [told, confirmed, gone] = [(); 3].map(|()| shop.create_100_eur_invoice(LIVE, Some("BTC")));
    let by_invoice = shop.create_100_eur_invoice(LIVE, Some("BTC"));
    shop.advance("19m");
    let in_time = shop.now();
    shop.advance("1m");
    let late = shop.now();
    shop.advance("2h");
    let see = |id: &str, txid: &str, seen_at: Option<&str>, status: u16| {
        let body = json!({ "invoice": id, "asset": "BTC", "txid": txid, "seenAt": seen_at });
        let seen = shop.post("/sandbox/payments", None, body).expect(status);
        shop.assert_audit_clean();
        seen.id()
    };
    // The first request has no seen time, so the payment counts as late. The second reports a time after the
    // deadline, and the third a time before it.
    let payment = see(&told, "told", None, 201);
    assert_eq!(shop.invoice_status(LIVE, &told), "awaiting_payment");
    assert_eq!(see(&told, "told", Some(&late), 200), payment);
    assert_eq!(shop.invoice_status(LIVE, &told), "awaiting_payment");
    assert_eq!(see(&told, "told", Some(&in_time), 200), payment);
    assert_eq!(shop.invoice_status(LIVE, &told), "detected");
    // A reported time that is later than the stored time changes nothing.
    assert_eq!(see(&told, "told", Some(&late), 200), payment);
    assert_eq!(see(&told, "told", None, 200), payment);
    let seen_at = "select cast(seen_at as text) from payments where on_time = 1";
    let first = shop.query_text(seen_at);
    let of_observation = "select cast(seen_at as text) from observations where txid = 'told'";
    assert_eq!(shop.query_text(of_observation), first);
    shop.set_payment_state(&payment, "confirmed");
    shop.assert_audit_clean();
    assert_eq!(shop.invoice_status(LIVE, &told), "confirmed");
    // A payment that was booked as late stays late.
    let payment = see(&confirmed, "confirmed", None, 201);
    shop.set_payment_state(&payment, "confirmed");
    assert_eq!(shop.invoice_status(LIVE, &confirmed), "paid_late");
    see(&confirmed, "confirmed", Some(&in_time), 200);
    assert_eq!(shop.invoice_status(LIVE, &confirmed), "paid_late");
    // The shop reports an earlier seen time while the payment is dropped. When the payment is seen again, the earlier
    // time counts.
    let payment = see(&gone, "gone", None, 201);
    shop.set_payment_state(&payment, "dropped");
    see(&gone, "gone", Some(&in_time), 200);
    shop.set_payment_state(&payment, "seen");
    assert_eq!(shop.invoice_status(LIVE, &gone), "detected");
    shop.assert_audit_clean();
    // Two requests report the same payment, but only one event is sent. Both requests name the invoice instead of the
    // payment's address.
    for (seen_at, status) in [(None, 201), (Some(&in_time), 200)] {
        let body = json!({ "invoice": by_invoice, "txid": "by-invoice", "seenAt": seen_at });
        shop.post("/sandbox/payments", None, body).expect(status);
    }
    assert_eq!(shop.invoice_status(LIVE, &by_invoice), "detected");
    let told = format!(
        "select group_concat(type, ' ') from (select type from events where object_id = '{by_invoice}' order by seq)"
    );
    assert_eq!(shop.query_text(&told), "invoice.created invoice.detected");
}

#[test]
fn assigned_payment_does_not_change_the_deposit_address() {
    const ELSEWHERE: &str = "LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9";
    let shop = open_lagging_shop();
    let cookie = shop.sign_in_operator();
    let id = shop.create_100_eur_invoice(LIVE, Some("BTC"));
    let read = || shop.get(&format!("/v1/invoices/{id}"), Some(LIVE)).json();
    let asked = read();
    shop.advance("21m");
    let lost = shop.pay(json!({ "address": ELSEWHERE, "asset": "LTC", "amount": "1.25" }));
    let path = format!("/dashboard/api/unmatched-payments/{lost}/assign");
    let given = shop.session_request(&cookie, "POST", &path, &json!({ "invoice": id }));
    let given = given.expect(200).json()["payment"].clone();
    shop.assert_audit_clean();
    let now = read();
    for name in ["status", "asset", "depositAddress", "amountExpected", "amountReceived"] {
        assert_eq!(now[name], asked[name], "{name}");
    }
    assert_eq!(now["status"], "awaiting_payment");
    let url = asked["checkoutUrl"].as_str().unwrap();
    let path = url.strip_prefix(shop.url()).unwrap();
    let page = shop.get(path, None).expect(200).text;
    assert!(!page.contains(ELSEWHERE), "{page}");
    // When the assigned payment is confirmed, it counts towards the invoice.
    shop.set_payment_state(given.as_str().unwrap(), "confirmed");
    shop.assert_audit_clean();
    let paid = read();
    assert_eq!([&paid["status"], &paid["asset"]], ["paid_late", "LTC"]);
}
