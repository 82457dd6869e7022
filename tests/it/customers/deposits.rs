//! Deposits of customers: booking, events and lists.

use crate::customers::addresses::create_second_account;
use crate::support::{LIVE, Response, Shop, TEST};
use serde_json::{Value, json};

impl Shop {
    /// Simulates a deposit of the customer `ada`.
    #[track_caller]
    fn simulate_deposit(&self, body: Value) -> Response {
        self.post("/v1/customers/ada/simulate", Some(TEST), body)
    }

    /// Returns the current state of a deposit.
    #[track_caller]
    pub fn get_deposit(&self, key: &str, id: &str) -> Value {
        let answer = self.get(&format!("/v1/deposits/{id}"), Some(key));
        answer.expect(200).json()
    }

    /// Asserts the state of a deposit: status, events and ledger entries, oldest first, and the available balance.
    #[track_caller]
    pub fn assert_deposit(
        &self,
        key: &str,
        id: &str,
        status: &str,
        told: usize,
        booked: &str,
        available: &str,
    ) {
        let page = self.get("/v1/ledger?limit=200", Some(key)).expect(200).json();
        let entries = page["data"].as_array().unwrap().iter().rev();
        let entries: Vec<_> = entries
            .filter(|entry| entry["refId"] == id)
            .map(|entry| {
                assert_eq!(
                    (&entry["refType"], &entry["currency"]),
                    (&json!("deposit"), &json!("EUR"))
                );
                let text = |field: &str| entry[field].as_str().unwrap();
                format!("{} {}", text("kind"), text("amount"))
            })
            .collect();
        let events = self.event_types(id, key);
        assert!(events.iter().all(|kind| kind == "deposit.confirmed"));
        let deposit = self.get_deposit(key, id);
        let balances = self.get("/v1/balances", Some(key)).expect(200).json();
        assert_eq!(
            (
                deposit["status"].as_str().unwrap(),
                events.len(),
                entries.join(", ").as_str(),
                balances["data"][0]["available"].as_str().unwrap()
            ),
            (status, told, booked, available)
        );
        assert_eq!(deposit["confirmedAt"].is_string(), status == "confirmed");
    }
}

#[test]
fn simulated_deposit_is_confirmed_booked_and_reported() {
    let shop = Shop::with_customer();
    let address = shop.customer_address(TEST, "ada", "utxo");
    let made = shop.simulate_deposit(json!({ "asset": "BTC", "amount": "0.001" }));
    let made = made.expect(201);
    let deposit = made.json();
    let (id, now) = (deposit["id"].as_str().unwrap(), shop.now());
    let txid = deposit["txid"].as_str().unwrap();
    let expected = format!(
        "{{\"object\":\"deposit\",\"id\":\"{id}\",\"customer\":\"ada\",\"livemode\":false,\"status\":\"confirmed\",\
         \"family\":\"utxo\",\"chain\":\"bitcoin\",\"asset\":\"BTC\",\"assetSymbol\":\"BTC\",\"address\":\"{address}\",\
         \"txid\":\"{txid}\",\"amountCrypto\":\"0.001\",\"rate\":\"60000\",\"currency\":\"EUR\",\"grossEur\":\"60.00\",\
         \"feeEur\":\"0.60\",\"netEur\":\"59.40\",\"createdAt\":\"{now}\",\"confirmedAt\":\"{now}\",\
         \"confirmations\":null,\"confirmationsNeeded\":null,\"explorerUrl\":null}}"
    );
    assert_eq!(made.text, expected);
    let read = shop.get(&format!("/v1/deposits/{id}"), Some(TEST));
    assert_eq!(read.expect(200).text, expected);
    let events = shop.get(&format!("/v1/events?object={id}"), Some(TEST));
    let events = events.expect(200);
    assert!(
        events.text.contains(&format!("\"data\":{{\"object\":{expected}}}")),
        "the event has it byte for byte: {}",
        events.text
    );
    let booked = "sale 60.00, fee -0.60";
    shop.assert_deposit(TEST, id, "confirmed", 1, booked, "59.40");
    // Each call creates another deposit. The amount is a text or a number, and the coins are on chains of every
    // family.
    for (asset, amount, gross) in [
        ("BTC", json!("0.001"), "60.00"),
        ("USDC-BASE", json!(10), "9.20"),
        ("USDT-SPL", json!("1.5"), "1.38"),
        ("TRX", json!("100"), "12.00"),
        ("ETH", json!("0.000000000000000001"), "0.00"),
    ] {
        let answer = shop.simulate_deposit(json!({ "asset": asset, "amount": amount }));
        assert_eq!(answer.expect(201).json()["grossEur"], gross, "{asset}");
    }
}

#[test]
fn invalid_simulation_is_rejected_and_changes_nothing() {
    let shop = Shop::with_customer();
    for asset in ["XMR", "LTC", "DOGE"] {
        shop.simulate_deposit(json!({ "asset": asset, "amount": "1" })).assert_error(
            400,
            "coin_unavailable",
            Some("asset"),
        );
    }
    let (long, too_long) = ("9".repeat(30), "9".repeat(300));
    for amount in ["", "0", "0.0", "-1", "1e3", "0.000000001", &long, &too_long] {
        shop.simulate_deposit(json!({ "asset": "BTC", "amount": amount })).assert_error(
            400,
            "invalid_request",
            Some("amount"),
        );
    }
    for (body, param) in [
        (json!({ "amount": "1" }), "asset"),
        (json!({ "asset": 1, "amount": "1" }), "asset"),
        (json!({ "asset": "BTC" }), "amount"),
        (json!({ "asset": "BTC", "amount": true }), "amount"),
        (json!({ "asset": "BTC", "amount": 1e-30 }), "amount"),
        (json!({ "asset": "BTC", "amount": "1", "more": 1 }), "more"),
    ] {
        shop.simulate_deposit(body).assert_error(400, "invalid_request", Some(param));
    }
    let body = json!({ "asset": "BTC", "amount": "1" });
    let path = "/v1/customers/ada/simulate";
    shop.post(path, Some(LIVE), body.clone()).assert_error(403, "forbidden", None);
    shop.post("/v1/customers/bob/simulate", Some(TEST), body).assert_error(404, "not_found", None);
    for key in [TEST, LIVE] {
        let list = shop.get("/v1/deposits", Some(key)).expect(200).json();
        assert_eq!(list, json!({ "data": [] }));
    }
}

#[test]
fn deposits_are_listed_newest_first_and_filtered_by_customer() {
    let shop = Shop::with_customer();
    shop.create_addresses(TEST, "bob").expect(201);
    let mut made = Vec::new();
    for (number, reference) in ["ada", "bob", "ada"].iter().cycle().take(30).enumerate() {
        let path = format!("/v1/customers/{reference}/simulate");
        let body = json!({ "asset": "TRX", "amount": format!("{}", number + 1) });
        made.insert(0, shop.post(&path, Some(TEST), body).expect(201).json());
    }
    let list = |query: &str| {
        let list = shop.get(&format!("/v1/deposits{query}"), Some(TEST));
        list.expect(200).json()["data"].as_array().unwrap().clone()
    };
    assert_eq!(list(""), made[..25]);
    assert_eq!(list("?limit=100"), made);
    assert_eq!(list("?limit=1"), made[..1]);
    let of = |name: &str| -> Vec<Value> {
        let all = made.iter().filter(|deposit| deposit["customer"] == name);
        all.cloned().collect()
    };
    assert_eq!(list("?limit=100&customer=bob"), of("bob"));
    assert_eq!(list("?limit=3&customer=ada"), of("ada")[..3]);
    assert!(list("?customer=nobody").is_empty());
    for limit in ["0", "101", "x"] {
        shop.get(&format!("/v1/deposits?limit={limit}"), Some(TEST)).assert_error(
            400,
            "invalid_request",
            Some("limit"),
        );
    }
}

#[test]
fn deposits_belong_to_one_account_and_mode() {
    let shop = Shop::with_customer();
    let made = shop.simulate_deposit(json!({ "asset": "BTC", "amount": "1" }));
    let id = made.expect(201).id();
    let foreign = create_second_account(shop.file(), "test");
    for key in [LIVE, &foreign] {
        shop.get(&format!("/v1/deposits/{id}"), Some(key)).assert_error(404, "not_found", None);
        let list = shop.get("/v1/deposits", Some(key)).expect(200).json();
        assert_eq!(list["data"], json!([]));
        assert!(shop.event_types(&id, key).is_empty());
    }
    for unknown in ["x", "01a1fd71-e3f0-740f-bd59-25d40e11c67b"] {
        shop.get(&format!("/v1/deposits/{unknown}"), Some(TEST)).assert_error(
            404,
            "not_found",
            None,
        );
    }
}

#[test]
fn deposits_stay_readable_while_customers_are_disabled() {
    let shop = Shop::with_customer();
    let made = shop.simulate_deposit(json!({ "asset": "BTC", "amount": "1" }));
    let made = made.expect(201).json();
    shop.update_account(json!({ "customersEnabled": false }));
    assert_eq!(shop.get_deposit(TEST, made["id"].as_str().unwrap()), made);
    let list = shop.get("/v1/deposits", Some(TEST)).expect(200).json();
    assert_eq!(list["data"], json!([made]));
}
