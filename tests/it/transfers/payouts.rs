//! Payout requests: all checks and their order, the amount `all`, the rolling limit, the cooling period, and
//! concurrency.

use crate::support::object_ids;
use crate::support::{LIVE, Response, Shop, TEST};
use serde_json::{Value, json};

/// A litecoin address and an ethereum address, both with a valid checksum.
const LITECOIN: &str = "tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl";
const ETHEREUM: &str = "0x52908400098527886E0F7030069857D2E4169EE7";

/// Requests a payout with this body.
#[track_caller]
fn post_payout(shop: &Shop, key: &str, body: Value) -> Response {
    shop.post("/v1/payouts", Some(key), body)
}

#[test]
fn payout_response_is_as_documented_and_debits_the_balance() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "500.00", "EUR");
    let payout = shop.request_payout("150.00").expect(201).json();
    let id = payout["id"].as_str().unwrap();
    let state = shop.get("/sandbox", None).expect(200).json();
    let expected = json!({
        "id": id, "status": "requested", "currency": "EUR", "amount": "150.00", "asset": "SOL", "assetSymbol": "SOL",
        "chain": "solana", "toAddress": state["account"]["payoutAddress"], "amountCrypto": null,
        "networkFeeCrypto": null, "rate": null, "txid": null, "failureReason": null, "requestedAt": shop.now(),
        "approvedAt": null, "finalizedAt": null,
    });
    assert_eq!(payout, expected);
    assert_eq!(payout.to_string(), expected.to_string(), "the order of the fields");
    let read = shop.get(&format!("/v1/payouts/{id}"), Some(LIVE));
    assert_eq!(read.expect(200).json(), payout);
    let purse = ["350.00", "150.00", "-150.00", "0.00"];
    assert_eq!(shop.balance_fields(LIVE, "EUR"), purse);
    assert_eq!(shop.transfer_ledger(id, LIVE), "payout -150.00");
}

const INVALID_AMOUNTS: [&str; 10] =
    ["x", "", "0", "0.00", "-1", "1.234", "1e3", " 1", "ALL", "99999999999999999999"];

/// After each change, the request passes one more check. The error always comes from the first check that fails.
#[test]
fn checks_run_in_the_documented_order() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "50000.00", "EUR");
    shop.update_account(json!({ "payoutDailyLimit": "5000.00" }));
    let open = shop.create_payout("4990.00");
    shop.update_account(
        json!({ "status": "suspended", "maintenance": true, "payoutAddress": null }),
    );
    let wrong = json!({ "amount": 5, "currency": "GBP" });
    post_payout(&shop, TEST, wrong.clone()).assert_error(400, "test_mode", None);
    post_payout(&shop, LIVE, wrong.clone()).assert_error(403, "account_not_active", None);
    for status in ["pending", "rejected"] {
        shop.update_account(json!({ "status": status }));
        post_payout(&shop, LIVE, wrong.clone()).assert_error(403, "account_not_active", None);
    }
    shop.update_account(json!({ "status": "active" }));
    let paused = post_payout(&shop, LIVE, wrong.clone());
    paused.assert_error(503, "maintenance", None);
    assert!(paused.headers.contains_key("retry-after"));
    shop.update_account(json!({ "maintenance": false }));
    post_payout(&shop, LIVE, wrong).assert_error(400, "invalid_request", Some("amount"));
    post_payout(&shop, LIVE, json!({})).assert_error(400, "invalid_request", Some("amount"));
    let currency = json!({ "amount": "x", "currency": "GBP" });
    post_payout(&shop, LIVE, currency).assert_error(400, "invalid_request", Some("currency"));
    let unknown = json!({ "amount": "x", "asset": "BTC" });
    post_payout(&shop, LIVE, unknown).assert_error(400, "invalid_request", Some("asset"));
    for text in INVALID_AMOUNTS {
        let answer = post_payout(&shop, LIVE, json!({ "amount": text }));
        answer.assert_error(400, "invalid_amount", Some("amount"));
    }
    // One open payout of the account blocks new payouts in both currencies.
    for currency in ["EUR", "USD"] {
        let body = json!({ "amount": "0.01", "currency": currency });
        post_payout(&shop, LIVE, body).assert_error(409, "payout_open", None);
    }
    let paid = ["approve", "process", "pay"];
    shop.apply_actions("payouts", &open, &paid);
    shop.request_payout("0.01").assert_error(400, "no_address", None);
    // The address must be on the chain of the payout coin.
    shop.update_account(json!({ "payoutAsset": "ETH", "payoutAddress": ETHEREUM }));
    shop.update_account(json!({ "payoutAsset": "LTC" }));
    shop.request_payout("0.01").assert_error(400, "no_address", None);
    shop.update_account(json!({ "payoutAddress": LITECOIN }));
    shop.request_payout("0.01").assert_error(400, "no_address", None);
    // After one day, the cooling period is over and the first payout no longer counts towards the limit. The second
    // payout uses most of the limit.
    shop.advance("1d");
    let other = shop.create_payout("4990.00");
    shop.apply_actions("payouts", &other, &paid);
    shop.request_payout("19.99").assert_error(400, "below_minimum", Some("amount"));
    shop.request_payout("40020.01").assert_error(400, "insufficient_balance", Some("amount"));
    shop.request_payout("20.00").assert_error(400, "daily_limit", Some("amount"));
    shop.update_account(json!({ "payoutDailyLimit": "5010.00" }));
    let payout = shop.request_payout("20.00").expect(201).json();
    assert_eq!((&payout["asset"], &payout["toAddress"]), (&json!("LTC"), &json!(LITECOIN)));
}

#[test]
fn invalid_body_and_wrong_key_are_rejected_first() {
    let shop = Shop::open();
    let bare = |body: &str| shop.send("POST", "/v1/payouts", &[("X-API-Key", TEST)], body);
    bare("[]").assert_error(400, "invalid_request", None);
    bare("").assert_error(400, "invalid_request", None);
    let public = shop.post("/v1/payouts", Some("pk_live_sandbox"), json!({}));
    public.assert_error(403, "wrong_key_type", None);
    post_payout(&shop, "sandbox.sandbox", json!({ "amount": "20.00" })).assert_error(
        400,
        "insufficient_balance",
        Some("amount"),
    );
}

#[test]
fn amount_all_is_the_available_balance() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "123.45", "USD");
    let body = json!({ "amount": "all", "currency": "USD" });
    let payout = post_payout(&shop, LIVE, body.clone()).expect(201).json();
    assert_eq!((&payout["amount"], &payout["currency"]), (&json!("123.45"), &json!("USD")));
    assert_eq!(shop.balance_fields(LIVE, "USD"), ["0.00", "123.45", "-123.45", "0.00"]);
    shop.apply_actions("payouts", payout["id"].as_str().unwrap(), &["cancel"]);
    assert_eq!(shop.balance_fields(LIVE, "USD"), ["123.45", "0.00", "0.00", "0.00"]);
    // A zero or negative balance is below the minimum payout.
    post_payout(&shop, LIVE, json!({ "amount": "all" })).assert_error(
        400,
        "below_minimum",
        Some("amount"),
    );
    // A request above the daily limit is rejected, not reduced.
    shop.update_account(json!({ "payoutDailyLimit": "100.00" }));
    post_payout(&shop, LIVE, body).assert_error(400, "daily_limit", Some("amount"));
}

#[test]
fn daily_limit_is_rolling_and_per_currency() {
    let shop = Shop::open();
    shop.update_account(json!({ "payoutDailyLimit": "100.00" }));
    shop.fund_balance(LIVE, "1000.00", "EUR");
    shop.fund_balance(LIVE, "1000.00", "USD");
    let paid = ["approve", "process", "pay"];
    shop.apply_actions("payouts", &shop.create_payout("60.00"), &paid);
    shop.advance("12h");
    // A payout whose amount was returned to the balance does not count towards the limit, whatever its final status.
    for way in [&["reject"][..], &["cancel"], &["approve", "fail"]] {
        shop.apply_actions("payouts", &shop.create_payout("40.00"), way);
    }
    shop.apply_actions("payouts", &shop.create_payout("40.00"), &paid);
    let refused = shop.request_payout("20.00");
    refused.assert_error(400, "daily_limit", Some("amount"));
    assert!(refused.text.contains("100.00 EUR"), "{}", refused.text);
    let dollars = json!({ "amount": "100.00", "currency": "USD" });
    let dollars = post_payout(&shop, LIVE, dollars).expect(201).json();
    shop.apply_actions("payouts", dollars["id"].as_str().unwrap(), &paid);
    shop.advance("11h59m59s");
    shop.request_payout("60.00").assert_error(400, "daily_limit", Some("amount"));
    shop.advance("1s");
    shop.request_payout("60.01").assert_error(400, "daily_limit", Some("amount"));
    shop.apply_actions("payouts", &shop.create_payout("60.00"), &paid);
}

#[test]
fn new_payout_address_has_a_cooling_period_of_one_day() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "100.00", "EUR");
    let at = json!({ "set": "2030-01-01T12:00:00.000Z" });
    shop.post("/sandbox/clock", None, at).expect(200);
    shop.update_account(json!({ "payoutAsset": "LTC", "payoutAddress": LITECOIN }));
    shop.advance("23h59m59s");
    let cooling = shop.request_payout("20.00");
    cooling.assert_error(400, "no_address", None);
    assert!(cooling.text.contains("2030-01-02T12:00:00.000Z"), "{}", cooling.text);
    // A change of the payout address starts a new cooling period.
    let another = "LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9";
    shop.update_account(json!({ "payoutAddress": another }));
    shop.advance("1s");
    shop.request_payout("20.00").assert_error(400, "no_address", None);
    shop.advance("23h59m59s");
    let payout = shop.request_payout("20.00").expect(201).json();
    assert_eq!(payout["toAddress"], another);
}

#[test]
fn concurrent_payout_requests_create_one() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "1000.00", "EUR");
    let answers: Vec<Response> = std::thread::scope(|scope| {
        let asking: Vec<_> =
            (0..50).map(|_| scope.spawn(|| shop.request_payout("900.00"))).collect();
        asking.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    let made = answers.iter().filter(|answer| answer.status == 201);
    assert_eq!(made.count(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.assert_error(409, "payout_open", None);
    }
    assert_eq!(shop.balance_fields(LIVE, "EUR"), ["100.00", "900.00", "-900.00", "0.00"]);
    let list = shop.get("/v1/payouts", Some(LIVE)).expect(200).json();
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
}

#[test]
fn retry_reuses_idempotency_response() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "100.00", "EUR");
    let ask = |key: &str, body: Value| {
        let headers = [("X-API-Key", LIVE), ("Idempotency-Key", key)];
        shop.send("POST", "/v1/payouts", &headers, &body.to_string())
    };
    // A rejected request is not stored.
    ask("a", json!({ "amount": "200.00" })).assert_error(
        400,
        "insufficient_balance",
        Some("amount"),
    );
    let first = ask("a", json!({ "amount": "50.00" })).expect(201);
    let again = ask("a", json!({ "amount": "50.00" })).expect(201);
    assert_eq!(first.text, again.text);
    ask("a", json!({ "amount": "50" })).assert_error(409, "idempotency_conflict", Some("amount"));
    ask("b", json!({ "amount": "50.00" })).assert_error(409, "payout_open", None);
    let id = first.id();
    shop.apply_actions("payouts", &id, &["approve", "process", "pay"]);
    // The retry returns the original response, not the present state of the payout.
    assert_eq!(ask("a", json!({ "amount": "50.00" })).expect(201).text, first.text);
    // A stored response is replayed before any check.
    shop.update_account(json!({ "maintenance": true }));
    assert_eq!(ask("a", json!({ "amount": "50.00" })).expect(201).text, first.text);
    assert_eq!(shop.balance_fields(LIVE, "EUR")[0], "50.00");
}

#[test]
fn payouts_are_listed_newest_first_within_limits() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "1000.00", "EUR");
    let ids: Vec<String> = (0..3)
        .map(|_| {
            let id = shop.create_payout("20.00");
            shop.apply_actions("payouts", &id, &["reject"]);
            id
        })
        .collect();
    let list = |query: &str, key: &str| shop.get(&format!("/v1/payouts{query}"), Some(key));
    let listed = |query: &str| object_ids(&list(query, LIVE).expect(200).json());
    assert_eq!(listed(""), [&*ids[2], &ids[1], &ids[0]]);
    assert_eq!(listed("?limit=2"), [&*ids[2], &ids[1]]);
    for wrong in ["0", "101", "x", ""] {
        let answer = list(&format!("?limit={wrong}"), LIVE);
        answer.assert_error(400, "invalid_request", Some("limit"));
    }
    assert_eq!(list("", TEST).expect(200).json(), json!({ "data": [] }));
    for (id, key) in [(ids[0].as_str(), TEST), ("x", LIVE), (&"0".repeat(36), LIVE)] {
        let answer = shop.get(&format!("/v1/payouts/{id}"), Some(key));
        answer.assert_error(404, "not_found", None);
    }
}

#[test]
fn payout_uses_the_requested_coin() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "100.00", "EUR");
    let requested = shop.request_payout("20.00").expect(201).json();
    shop.update_account(json!({ "payoutAsset": "LTC", "payoutAddress": LITECOIN }));
    let id = requested["id"].as_str().unwrap();
    let approved = shop.apply_actions("payouts", id, &["approve"]);
    for field in ["asset", "assetSymbol", "chain", "toAddress", "currency"] {
        assert_eq!(approved[field], requested[field], "{field}");
    }
    assert_eq!((&approved["asset"], &approved["rate"]), (&json!("SOL"), &json!("150")));
}

#[test]
fn amount_has_at_most_two_decimals() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "100.00", "EUR");
    for (amount, printed) in [("20", "20.00"), ("20.5", "20.50"), ("20.55", "20.55")] {
        let payout = shop.request_payout(amount).expect(201).json();
        assert_eq!((&payout["amount"], &payout["currency"]), (&json!(printed), &json!("EUR")));
        shop.apply_actions("payouts", payout["id"].as_str().unwrap(), &["reject"]);
    }
    shop.request_payout("20.555").assert_error(400, "invalid_amount", Some("amount"));
}
