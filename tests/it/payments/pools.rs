//! Pools of imported addresses. Each imported address is assigned once.

use crate::invoices::idempotency::concurrent_responses;
use crate::payments::live_addresses::set_watched;
use crate::process::serve::{ProductionFile, call, start_server};
use crate::support::audit::assert_audit_clean;
use crate::support::audit_log::record_direct_writes;
use crate::support::sessions::sign_in;
use crate::support::surfpool::address_without_key;
use crate::support::{Response, Shop, agent, send};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Path for importing addresses of solana.
const IMPORT: &str = "/dashboard/api/pools/solana/addresses";

/// Returns `count` solana addresses whose private keys are unknown.
fn solana_addresses(from: u8, count: u8) -> Vec<String> {
    (from..from + count).map(|number| address_without_key(number.into())).collect()
}

impl Shop {
    /// Returns the session cookie of a merchant user of the first account.
    #[track_caller]
    pub fn merchant_cookie(&self) -> String {
        let sql = "insert into users (id, email, password_hash, role, account, created_at)
            select '01a1fd71-e3f0-740f-bd59-25d40e11c67b', 'ada@sandbox.test', password_hash, 'merchant', 1, 0
            from users where role = 'operator'";
        self.execute_sql(sql);
        record_direct_writes(self.file());
        self.sign_in("ada@sandbox.test")
    }

    /// Returns actor, target and detail of the audit entries of an action, oldest first.
    #[track_caller]
    pub fn audit_entries(&self, action: &str) -> Vec<(String, Option<String>, Value)> {
        let file = Connection::open(self.file()).unwrap();
        let sql = "select actor, object_id, detail from audit_log where action = ?1 order by seq";
        let mut rows = file.prepare(sql).unwrap();
        let rows = rows
            .query_map([action], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?)));
        rows.unwrap()
            .map(Result::unwrap)
            .map(|(actor, object, detail)| (actor, object, serde_json::from_str(&detail).unwrap()))
            .collect()
    }
}

/// Returns the expected list of pools. The only pool is the solana pool.
fn expected_pool_list(free: u32, assigned: u32) -> Value {
    json!({ "data": [{ "object": "pool", "pool": "solana", "free": free, "assigned": assigned, "retired": 0 }] })
}

#[test]
fn operator_imports_addresses_and_reads_the_pool() {
    let shop = Shop::open();
    let cookie = shop.sign_in_operator();
    let list = || {
        let list = shop.session_request(&cookie, "GET", "/dashboard/api/pools", &Value::Null);
        list.expect(200).json()
    };
    assert_eq!(list(), expected_pool_list(0, 0));
    let import = |addresses: &[String]| {
        let body = json!({ "addresses": addresses });
        shop.session_request(&cookie, "POST", IMPORT, &body)
    };
    let answer = |added: u32, duplicates: u32, free: u32| json!({ "object": "pool_import", "pool": "solana", "added": added, "duplicates": duplicates, "free": free });
    assert_eq!(import(&solana_addresses(1, 3)).expect(200).json(), answer(3, 0, 3));
    let again = [solana_addresses(2, 4), solana_addresses(5, 1)].concat();
    assert_eq!(import(&again).expect(200).json(), answer(2, 3, 5));
    assert_eq!(list(), expected_pool_list(5, 0));
    let noted: Vec<_> = shop.audit_entries("pool.import");
    let by =
        |detail: Value| ("operator@sandbox.test".to_owned(), Some("solana".to_owned()), detail);
    assert_eq!(
        noted,
        [by(json!({ "added": 3, "duplicates": 0 })), by(json!({ "added": 2, "duplicates": 3 }))]
    );
    // The import is atomic: one invalid address rejects the whole list.
    let wrong = [solana_addresses(9, 1), vec!["1111111111".to_owned()]].concat();
    let refused = import(&wrong);
    refused.assert_error(400, "invalid_request", Some("addresses"));
    assert!(refused.text.contains("addresses[1]"), "{}", refused.text);
    assert_eq!(list(), expected_pool_list(5, 0));
    assert_eq!(shop.audit_entries("pool.import").len(), 2);
}

#[test]
fn invalid_address_list_is_rejected() {
    let shop = Shop::open();
    let cookie = shop.sign_in_operator();
    let post = |path: &str, body: &Value| shop.session_request(&cookie, "POST", path, body);
    for (body, param) in [
        (json!({}), "addresses"),
        (json!({ "addresses": [] }), "addresses"),
        (json!({ "addresses": "x" }), "addresses"),
        (json!({ "addresses": [1] }), "addresses"),
        (json!({ "addresses": vec!["x"; 1001] }), "addresses"),
        (json!({ "addresses": ["11111111111111111111111111111111"] }), "addresses"),
        (json!({ "addresses": solana_addresses(1, 1), "more": 1 }), "more"),
    ] {
        post(IMPORT, &body).assert_error(400, "invalid_request", Some(param));
    }
    let body = json!({ "addresses": solana_addresses(1, 1) });
    for unknown in ["bitcoin", "evm", "tron", "utxo", "x"] {
        let path = format!("/dashboard/api/pools/{unknown}/addresses");
        post(&path, &body).assert_error(404, "not_found", None);
    }
    let merchant = shop.merchant_cookie();
    shop.session_request(&merchant, "POST", IMPORT, &body).assert_error(403, "forbidden", None);
    shop.session_request(&merchant, "GET", "/dashboard/api/pools", &Value::Null).assert_error(
        403,
        "forbidden",
        None,
    );
    shop.post(IMPORT, None, body).assert_error(401, "unauthorized", None);
    assert!(shop.audit_entries("pool.import").is_empty());
}

/// A shop with customer addresses, served from a file, and the session cookie of its operator.
struct ServedShop {
    shop: ProductionFile,
    url: String,
    cookie: String,
    _server: crate::support::process::Process,
}

impl ServedShop {
    fn new() -> ServedShop {
        let shop = ProductionFile::new();
        let sandbox = Shop::open();
        let hash = sandbox.query_text("select password_hash from users");
        let file = Connection::open(shop.file()).unwrap();
        let sql = "insert into users (id, email, password_hash, role, created_at) values
            ('01a1fd71-e3f0-740f-bd59-25d40e11c67b', 'operator@shop.test', ?1, 'operator', 0)";
        file.execute(sql, [&hash]).unwrap();
        let sql = "update accounts set customers_enabled = 1, status = 'active'";
        file.execute(sql, []).unwrap();
        drop(file);
        set_watched(&shop, "solana");
        let (server, url) = start_server(&shop.file(), &[]);
        let cookie = sign_in(&url, "operator@shop.test", "sandbox").expect(201).session_cookie();
        ServedShop { shop, url, cookie, _server: server }
    }

    #[track_caller]
    fn import_addresses(&self, addresses: &[String]) {
        let body = json!({ "addresses": addresses }).to_string();
        let url = format!("{}{IMPORT}", self.url);
        send(&agent(), "POST", &url, &[("cookie", &self.cookie)], &body).expect(200);
    }

    #[track_caller]
    fn pools(&self) -> Value {
        let url = format!("{}/dashboard/api/pools", self.url);
        let list = send(&agent(), "GET", &url, &[("cookie", &self.cookie)], "");
        list.expect(200).json()
    }

    fn create_addresses(&self, key: &str, reference: &str) -> Response {
        let path = format!("/v1/customers/{reference}/addresses");
        call(&self.url, key, "POST", &path, json!({}))
    }
}

#[test]
fn server_hands_out_each_imported_address_once() {
    let served = ServedShop::new();
    let live = &served.shop.live;
    // In live mode, pools without addresses are omitted. In test mode, the customer has an address of every family.
    let none = served.create_addresses(live, "early").expect(201).json();
    assert_eq!(none["addresses"], json!([]));
    let test = served.create_addresses(&served.shop.test, "early").expect(201);
    assert_eq!(test.json()["addresses"].as_array().unwrap().len(), 4);
    served.import_addresses(&solana_addresses(1, 2));
    let address = |reference: &str| {
        let made = served.create_addresses(live, reference).expect(201).json();
        let entries = made["addresses"].as_array().unwrap().clone();
        assert_eq!((entries.len(), &entries[0]["family"]), (1, &json!("solana")));
        entries[0]["address"].as_str().unwrap().to_owned()
    };
    let (early, ada) = (address("early"), address("ada"));
    assert_eq!([early.clone(), ada.clone()], solana_addresses(1, 2)[..]);
    assert_eq!((address("early"), address("ada")), (early, ada.clone()));
    assert_eq!(served.pools(), expected_pool_list(0, 2));
    // With an empty pool, a request for a new customer is rejected and stores nothing. Existing customers keep their
    // addresses.
    let refused = served.create_addresses(live, "late");
    refused.assert_error(503, "pool_refilling", None);
    assert!(refused.headers["retry-after"].parse::<u32>().unwrap() >= 1);
    let path = "/v1/customers/late/addresses";
    call(&served.url, live, "GET", path, json!({})).assert_error(404, "not_found", None);
    assert_eq!(address("ada"), ada);
    // Assigned addresses are not imported again.
    served.import_addresses(&solana_addresses(1, 3));
    assert_eq!(served.pools(), expected_pool_list(1, 2));
    assert_eq!(address("late"), solana_addresses(3, 1)[0]);
    assert_eq!(served.pools(), expected_pool_list(0, 3));
}

impl ServedShop {
    /// Sets the times of all assignments and of all imports back by one minute.
    #[track_caller]
    fn backdate_one_minute(&self) {
        let file = Connection::open(self.shop.file()).unwrap();
        file.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
        let sql = "update pool_addresses set assigned_at = assigned_at - 60000, imported_at = imported_at - 60000";
        file.execute(sql, []).unwrap();
    }

    /// Requests addresses for new customers of an account, and returns the number of customers that got one. Asserts
    /// that each other request fails with the documented error.
    #[track_caller]
    fn request_addresses(&self, key: &str, begin: &str, count: u32) -> u32 {
        let mut made = 0;
        for number in 0..count {
            let answer = self.create_addresses(key, &format!("{begin}-{number}"));
            if answer.status == 201 {
                made += 1;
            } else {
                answer.assert_error(503, "pool_refilling", None);
                assert!(answer.headers["retry-after"].parse::<u32>().unwrap() >= 1);
            }
        }
        made
    }
}

#[test]
fn fifty_concurrent_requests_share_a_pool_of_thirty() {
    let served = ServedShop::new();
    served.import_addresses(&solana_addresses(1, 30));
    let (url, live) = (&served.url, &served.shop.live);
    let number = std::sync::atomic::AtomicU32::new(0);
    let mut handed_out = BTreeSet::new();
    for expected in [10, 10, 10, 0] {
        let answers = concurrent_responses(|| {
            let number = number.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let path = format!("/v1/customers/{number}/addresses");
            call(url, live, "POST", &path, json!({}))
        });
        let (made, refused): (Vec<_>, Vec<_>) =
            answers.iter().partition(|answer| answer.status == 201);
        assert_eq!((made.len(), refused.len()), (expected, 50 - expected));
        handed_out
            .extend(made.iter().map(|answer| answer.json()["addresses"][0]["address"].to_string()));
        for answer in refused {
            answer.assert_error(503, "pool_refilling", None);
        }
        served.backdate_one_minute();
    }
    assert_eq!(handed_out.len(), 30);
    assert_eq!(served.pools(), expected_pool_list(0, 30));
    record_direct_writes(&served.shop.file());
    assert_audit_clean(&served.shop.file());
}

#[test]
fn account_cannot_empty_a_shared_pool() {
    let served = ServedShop::new();
    let other = served.shop.create_account("Other Shop");
    let file = Connection::open(served.shop.file()).unwrap();
    let enable = "update accounts set customers_enabled = 1, status = 'active'";
    file.execute(enable, []).unwrap();
    let live = &served.shop.live;
    served.import_addresses(&solana_addresses(1, 12));
    assert_eq!(served.request_addresses(live, "a", 20), 6, "half of the remaining addresses");
    assert_eq!(served.request_addresses(&other, "b", 20), 3, "half of the remaining addresses");
    assert_eq!(served.request_addresses(live, "a-more", 20), 0);
    assert_eq!(served.pools(), expected_pool_list(3, 9));
    // An existing customer keeps the address. The account gets no more addresses of the pool, although a minute has
    // passed.
    served.create_addresses(live, "a-0").expect(201);
    served.backdate_one_minute();
    assert_eq!(served.request_addresses(live, "a-later", 5), 0);
    // Newly imported addresses are shared among the accounts again.
    served.import_addresses(&solana_addresses(20, 9));
    assert_eq!(served.request_addresses(live, "a-refilled", 20), 6);
    assert_eq!(served.request_addresses(&other, "b-refilled", 20), 3);
    // A single active account may use the whole pool.
    served.backdate_one_minute();
    let suspend = "update accounts set status = 'suspended' where name = 'Other Shop'";
    file.execute(suspend, []).unwrap();
    assert_eq!(served.request_addresses(live, "a-alone", 5), 3);
    assert_eq!(served.pools(), expected_pool_list(0, 21));
    // In test mode, no address of the pool is used.
    assert_eq!(served.request_addresses(&served.shop.test, "test", 20), 20);
    record_direct_writes(&served.shop.file());
    assert_audit_clean(&served.shop.file());
}
