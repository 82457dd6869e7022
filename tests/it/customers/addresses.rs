//! Customer addresses: one for each chain family, stable, unique, and bound to one account and mode.

use crate::invoices::idempotency::concurrent_responses;
use crate::support::command::{run_coffer, run_coffer_json};
use crate::support::{LIVE, Response, Shop, TEST};
use serde_json::json;
use std::path::Path;

impl Shop {
    /// Starts a sandbox with the customer `ada` in both modes.
    #[track_caller]
    pub fn with_customer() -> Shop {
        let shop = Shop::open();
        shop.create_addresses(TEST, "ada").expect(201);
        shop.create_addresses(LIVE, "ada").expect(201);
        shop
    }

    /// Requests the addresses of a customer. The request creates missing addresses.
    #[track_caller]
    pub fn create_addresses(&self, key: &str, reference: &str) -> Response {
        let path = format!("/v1/customers/{reference}/addresses");
        self.send("POST", &path, &[("X-API-Key", key)], "")
    }

    /// Returns a customer's address in a family of chains.
    #[track_caller]
    pub fn customer_address(&self, key: &str, reference: &str, family: &str) -> String {
        let made = self.create_addresses(key, reference).expect(201).json();
        let entries = made["addresses"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["family"] == family);
        entry.unwrap()["address"].as_str().unwrap().to_owned()
    }
}

/// Creates a second account with customers enabled. Returns its secret key.
#[track_caller]
pub fn create_second_account(file: &Path, mode: &str) -> String {
    let create = ["account", "create", "Another Shop", "--sandbox"];
    let account = run_coffer_json(file, &create);
    let id = account["id"].as_str().unwrap();
    run_coffer(file, &["account", "approve", id, "--sandbox"]);
    rusqlite::Connection::open(file)
        .unwrap()
        .execute("update accounts set customers_enabled = 1 where id = ?1", [id])
        .unwrap();
    let key = run_coffer_json(file, &["key", "create", id, "--mode", mode, "--sandbox"]);
    key["key"].as_str().unwrap().to_owned()
}

#[test]
fn customer_has_one_address_per_family() {
    let shop = Shop::open();
    let made = shop.create_addresses(TEST, "user:7_b.c-d").expect(201);
    let body = made.json();
    let families = body["addresses"].as_array().unwrap().iter();
    let shown: Vec<_> = families
        .map(|entry| {
            let assets = entry["assets"].as_array().unwrap().iter();
            let ids: Vec<_> = assets.map(|asset| asset["id"].as_str().unwrap()).collect();
            (entry["family"].clone(), entry["chainIds"].clone(), ids.join(" "))
        })
        .collect();
    assert_eq!(
        shown,
        [
            (json!("solana"), json!(["solana"]), "SOL USDC-SPL USDT-SPL".to_owned()),
            (
                json!("evm"),
                json!(["ethereum", "base", "polygon"]),
                "ETH USDT-ERC20 USDC-ERC20 USDC-BASE USDC-POLYGON".to_owned()
            ),
            (json!("tron"), json!(["tron"]), "TRX USDT-TRC20".to_owned()),
            (json!("utxo"), json!(["bitcoin"]), "BTC".to_owned()),
        ]
    );
    let address = body["addresses"][3]["address"].as_str().unwrap();
    assert!(address.starts_with("tb1q"), "a test address: {address}");
    let head = "{\"customer\":\"user:7_b.c-d\",\"conversion\":{\"provider\":\"none\",\"target\":\"EUR\",\"feesPaidBy\":\"merchant\"},\
        \"addresses\":[{\"family\":\"solana\",\"chainIds\":[\"solana\"],\"address\":\"";
    assert!(made.text.starts_with(head), "{}", made.text);
    let tail = format!(
        "{{\"family\":\"utxo\",\"chainIds\":[\"bitcoin\"],\"address\":\"{address}\",\"assets\":[{{\"id\":\"BTC\",\
         \"symbol\":\"BTC\",\"chainId\":\"bitcoin\",\"kind\":\"native\"}}]}}]}}"
    );
    assert!(made.text.ends_with(&tail), "{}", made.text);
}

#[test]
fn addresses_are_stable_and_unique() {
    let shop = Shop::open();
    let first = shop.create_addresses(TEST, "ada").expect(201);
    shop.advance("400d");
    assert_eq!(shop.create_addresses(TEST, "ada").expect(201).text, first.text);
    let read = shop.get("/v1/customers/ada/addresses", Some(TEST));
    assert_eq!(read.expect(200).text, first.text);
    let invoice = shop.create_invoice("100.00", json!({ "asset": "BTC" }));
    let mut seen = vec![invoice["depositAddress"].as_str().unwrap().to_owned()];
    for (key, reference) in [(TEST, "ada"), (TEST, "Ada"), (TEST, "bob"), (LIVE, "ada")] {
        for family in ["solana", "evm", "tron", "utxo"] {
            let address = shop.customer_address(key, reference, family);
            assert!(!seen.contains(&address), "{address} twice");
            seen.push(address);
        }
    }
    let other = shop.create_invoice("100.00", json!({ "asset": "BTC" }));
    assert!(!seen.contains(&other["depositAddress"].as_str().unwrap().to_owned()));
}

#[test]
fn concurrent_requests_create_one_customer() {
    let shop = Shop::open();
    let answers = concurrent_responses(|| shop.create_addresses(TEST, "one"));
    for answer in &answers {
        assert_eq!((answer.status, &answer.text), (201, &answers[0].text));
    }
    let file = rusqlite::Connection::open(shop.file()).unwrap();
    let count = |sql: &str| file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("select count(*) from customers"), 1);
    assert_eq!(count("select count(*) from addresses"), 4);
}

#[test]
fn invalid_reference_is_rejected() {
    let shop = Shop::open();
    let longest = "x".repeat(120);
    for reference in ["a", "A-Za-z0-9._:-", &longest, "%41"] {
        shop.create_addresses(TEST, reference).expect(201);
    }
    let longer = "x".repeat(121);
    for reference in ["a%20b", "a%2Fb", "%C3%A4", "a%0A", "a@b", "a+b", &longer] {
        shop.create_addresses(TEST, reference).assert_error(400, "invalid_request", Some("ref"));
        let path = format!("/v1/customers/{reference}");
        shop.get(&format!("{path}/addresses"), Some(TEST)).assert_error(
            400,
            "invalid_request",
            Some("ref"),
        );
        let body = json!({ "asset": "BTC", "amount": "1" });
        shop.post(&format!("{path}/simulate"), Some(TEST), body).assert_error(
            400,
            "invalid_request",
            Some("ref"),
        );
    }
}

#[test]
fn disabled_customers_reject_requests_and_keep_addresses() {
    let shop = Shop::open();
    let made = shop.create_addresses(TEST, "ada").expect(201).text;
    shop.update_account(json!({ "customersEnabled": false }));
    let path = "/v1/customers/ada";
    for reference in ["ada", "bob"] {
        shop.create_addresses(TEST, reference).assert_error(403, "customers_disabled", None);
    }
    shop.get(&format!("{path}/addresses"), Some(TEST)).assert_error(
        403,
        "customers_disabled",
        None,
    );
    let body = json!({ "asset": "BTC", "amount": "1" });
    shop.post(&format!("{path}/simulate"), Some(TEST), body).assert_error(
        403,
        "customers_disabled",
        None,
    );
    shop.update_account(json!({ "customersEnabled": true }));
    assert_eq!(shop.create_addresses(TEST, "ada").expect(201).text, made);
    shop.get("/v1/customers/bob/addresses", Some(TEST)).assert_error(404, "not_found", None);
}

#[test]
fn customers_belong_to_one_account_and_mode() {
    let shop = Shop::open();
    let foreign = create_second_account(shop.file(), "test");
    let own = shop.customer_address(TEST, "ada", "utxo");
    for key in [LIVE, &foreign] {
        shop.get("/v1/customers/ada/addresses", Some(key)).assert_error(404, "not_found", None);
    }
    assert_ne!(shop.customer_address(&foreign, "ada", "utxo"), own);
    let unknown = shop.get("/v1/customers/nobody/addresses", Some(TEST));
    unknown.assert_error(404, "not_found", None);
    shop.get("/v1/customers/ada/addresses", Some("pk_test_sandbox")).assert_error(
        403,
        "wrong_key_type",
        None,
    );
}
