//! Every route with an id returns 404 for an object of another account or of the other mode.

use crate::support::body_text;
use crate::support::command::run_coffer_json;
use crate::support::object_id;
use crate::support::{LIVE, Shop, TEST, agent, send};
use coffer::http::{Auth, Route, routes};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const OTHER_ACCOUNT_TOKEN: &str = "rt_of_another_account";

/// Id of one object per collection, in one mode.
type ObjectIds = BTreeMap<&'static str, String>;

/// Another account, with its secret and public keys by mode.
struct OtherAccount {
    account: String,
    secret: BTreeMap<&'static str, String>,
    public: BTreeMap<&'static str, String>,
}

/// Creates a second account with keys of both classes and modes, customer addresses and a reseller token.
fn create_other_account(shop: &Shop) -> OtherAccount {
    let run = |args: &[&str]| run_coffer_json(shop.file(), &[args, &["--sandbox"]].concat());
    let account = run(&["account", "create", "Other"])["id"].as_str().unwrap().to_owned();
    run(&["account", "approve", &account]);
    let keys = |class: &str| {
        let key = |mode: &'static str| {
            let made = run(&["key", "create", &account, "--mode", mode, "--class", class]);
            (mode, made["key"].as_str().unwrap().to_owned())
        };
        ["test", "live"].map(key).into()
    };
    let (secret, public) = (keys("secret"), keys("public"));
    let conn = rusqlite::Connection::open(shop.file()).unwrap();
    conn.execute("update accounts set customers_enabled = 1", []).unwrap();
    let hash = coffer::domain::apikey::hash_key(OTHER_ACCOUNT_TOKEN);
    conn.execute(
        "insert into reseller_tokens (id, account, hash, last4, created_at)
            values ('t', (select seq from accounts where id = ?1), ?2, 'last', 0)",
        rusqlite::params![account, &hash[..]],
    )
    .unwrap();
    OtherAccount { account, secret, public }
}

/// Creates one object of every collection in a mode.
fn create_objects(shop: &Shop, operator: &str, account: &str, mode: &str, key: &str) -> ObjectIds {
    let invoice = shop.fund_balance(key, "900.00", "EUR");
    let events = shop.get("/v1/events?limit=1", Some(key)).expect(200).json();
    let refund = shop.create_refund(&invoice, Some("1.00"));
    let customer = format!("customer-{mode}");
    let path = format!("/v1/customers/{customer}/addresses");
    let addresses = shop.post(&path, Some(key), json!({})).expect(201).json();
    let solana = addresses["addresses"].as_array().unwrap().iter();
    let address = solana.clone().find(|entry| entry["family"] == "solana").unwrap();
    let body = json!({ "address": address["address"], "asset": "SOL", "amount": "1" });
    let deposit = shop.post("/sandbox/payments", None, body).expect(201).json();
    let path = format!("/dashboard/api/accounts/{account}/payment-links?mode={mode}");
    let body = json!({ "name": "Tip", "currency": "EUR", "amount": "5.00" });
    let link = shop.session_request(operator, "POST", &path, &body).expect(201).json();
    let path = format!("/dashboard/api/accounts/{account}/deliveries?mode={mode}");
    let deliveries = shop.session_request(operator, "GET", &path, &Value::Null).expect(200).json();
    BTreeMap::from([
        ("invoices", invoice),
        ("events", object_id(&events["data"][0])),
        ("refunds", refund),
        ("customers", customer),
        ("deposits", object_id(&deposit)),
        ("payment-links", object_id(&link)),
        ("deliveries", object_id(&deliveries["data"][0])),
    ])
}

/// Creates the objects that exist in live mode only.
fn create_live_objects(shop: &Shop, operator: &str, account: &str, of_live: &mut ObjectIds) {
    of_live.insert("payouts", shop.create_payout("20.00"));
    let order = json!({ "type": "kvm", "hostname": "web", "cpu": 1, "ramMb": 512, "diskGb": 5 });
    let token = [("Authorization", "Bearer rt_sandbox")];
    let server = shop.send("POST", "/reseller/servers", &token, &order.to_string());
    of_live.insert("servers", object_id(&server.expect(201).json()));
    for (collection, body) in [
        ("keys", json!({ "class": "secret", "mode": "live" })),
        ("endpoints", json!({ "url": "http://127.0.0.1:9/" })),
        ("reseller-tokens", json!({})),
    ] {
        let path = format!("/dashboard/api/accounts/{account}/{collection}");
        let made = shop.session_request(operator, "POST", &path, &body);
        of_live.insert(collection, object_id(&made.expect(201).json()));
    }
}

/// Returns the path segment before the last `{id}` or `{ref}`, which names the collection of the object. `None` if
/// the path has no such parameter.
fn path_collection(route: &Route) -> Option<&'static str> {
    let segments: Vec<&str> = route.path.split('/').collect();
    let named =
        |pair: &[&'static str]| (pair[1] == "{id}" || pair[1] == "{ref}").then_some(pair[0]);
    segments.windows(2).filter_map(named).next_back()
}

/// Returns the path of the route with this account and object id.
fn path_with_id(route: &Route, account: &str, thing: &str) -> String {
    let path = route.path.replace("{account}", account);
    path.replace("{id}", thing).replace("{ref}", thing)
}

/// Returns a valid body for the route, so that the request fails only because of the object id.
fn valid_body(route: &Route) -> Value {
    match route.operation {
        "selectCoin" => json!({ "asset": "BTC" }),
        "simulateDeposit" => json!({ "asset": "SOL", "amount": "1" }),
        "changePaymentLink" => json!({ "active": true }),
        "changeEndpoint" => json!({ "enabled": true }),
        _ if route.method == "GET" => Value::Null,
        _ => json!({}),
    }
}

struct TwoAccounts {
    shop: Shop,
    operator: String,
    account: String,
    other: OtherAccount,
    test: ObjectIds,
    live: ObjectIds,
}

impl TwoAccounts {
    fn open() -> TwoAccounts {
        let shop = Shop::open();
        shop.update_account(json!({ "endpoints": [{ "url": "http://127.0.0.1:9/" }] }));
        let operator = shop.sign_in_operator();
        let account = object_id(&shop.get("/v1/merchant", Some(TEST)).expect(200).json());
        let test = create_objects(&shop, &operator, &account, "test", TEST);
        let mut live = create_objects(&shop, &operator, &account, "live", LIVE);
        create_live_objects(&shop, &operator, &account, &mut live);
        let other = create_other_account(&shop);
        TwoAccounts { shop, operator, account, other, test, live }
    }

    /// Sends a request with a key and returns the status.
    fn request_status(&self, route: &Route, header: &str, key: &str, thing: &str) -> u16 {
        let path = path_with_id(route, &self.account, thing);
        let body = valid_body(route);
        let body = body_text(&body);
        self.shop.send(route.method, &path, &[(header, key)], &body).status
    }
}

#[test]
fn key_cannot_reach_foreign_objects() {
    let scene = TwoAccounts::open();
    let mut walked = 0;
    for route in routes(false).filter(|route| matches!(route.auth(), Auth::Secret)) {
        // The route for customer addresses is skipped, because it creates missing addresses.
        let Some(kind) =
            path_collection(route).filter(|_| route.operation != "makeCustomerAddresses")
        else {
            continue;
        };
        let name = route.operation;
        for (mode, things, own, foreign) in
            [("test", &scene.test, TEST, LIVE), ("live", &scene.live, LIVE, TEST)]
        {
            let Some(thing) = things.get(kind) else {
                assert!(
                    kind == "payouts" && mode == "test",
                    "{name}: make one of {kind} in `things`"
                );
                continue;
            };
            walked += 1;
            for key in [foreign, &scene.other.secret["test"], &scene.other.secret["live"]] {
                let status = scene.request_status(route, "X-API-Key", key, thing);
                // The simulation routes return 403 for a live key.
                let is_hidden = status == 404 || (status == 403 && name.starts_with("simulate"));
                assert!(is_hidden, "{name} of a {mode} thing with another key: {status}");
            }
            let status = scene.request_status(route, "X-API-Key", own, thing);
            assert_ne!(status, 404, "{name} of its own in {mode} mode");
        }
    }
    assert!(walked >= 12, "{walked}");
}

#[test]
fn public_key_cannot_reach_foreign_invoices() {
    let scene = TwoAccounts::open();
    let ask = |key: &str, invoice: &str| {
        let body = json!({ "invoiceId": invoice });
        let path = "/v1/public/checkout-sessions";
        scene.shop.post(path, Some(key), body).status
    };
    for (things, own, foreign) in [
        (&scene.test, "pk_test_sandbox", "pk_live_sandbox"),
        (&scene.live, "pk_live_sandbox", "pk_test_sandbox"),
    ] {
        let invoice = &things["invoices"];
        assert_eq!(ask(own, invoice), 200);
        for key in [foreign, &scene.other.public["test"], &scene.other.public["live"]] {
            assert_eq!(ask(key, invoice), 404);
        }
    }
}

#[test]
fn reseller_cannot_reach_foreign_servers() {
    let scene = TwoAccounts::open();
    let server = &scene.live["servers"];
    let others = format!("Bearer {OTHER_ACCOUNT_TOKEN}");
    for route in routes(false).filter(|route| matches!(route.auth(), Auth::Reseller)) {
        if path_collection(route).is_none() {
            continue;
        }
        let name = route.operation;
        assert_eq!(scene.request_status(route, "Authorization", &others, server), 404, "{name}");
        assert_eq!(
            scene.request_status(route, "Authorization", "Bearer rt_sandbox", server),
            200,
            "{name}"
        );
    }
    let path = format!("{}/reseller/servers", scene.shop.url());
    let listed = send(&agent(), "GET", &path, &[("Authorization", &others)], "");
    assert_eq!(listed.expect(200).json()["data"], json!([]));
}

#[test]
fn account_path_cannot_reach_foreign_objects() {
    let scene = TwoAccounts::open();
    let of_accounts = routes(false).filter(|route| {
        matches!(route.auth(), Auth::Session(_)) && route.path.contains("/{account}/")
    });
    let mut of_accounts: Vec<&Route> = of_accounts.collect();
    // Routes that delete an object come last, because other routes need the object.
    of_accounts.sort_by_key(|route| route.method == "DELETE");
    let mut walked = 0;
    for route in of_accounts {
        let Some(kind) = path_collection(route) else {
            continue;
        };
        let name = route.operation;
        let has_mode = scene.test.contains_key(kind);
        let ask = |account: &str, mode: &str, thing: &str| {
            let path = path_with_id(route, account, thing);
            let path = if has_mode { format!("{path}?mode={mode}") } else { path };
            let answer = scene.shop.session_request(
                &scene.operator,
                route.method,
                &path,
                &valid_body(route),
            );
            answer.status
        };
        let thing =
            scene.live.get(kind).unwrap_or_else(|| unreachable!("{name}: make one of {kind}"));
        assert_eq!(ask(&scene.other.account, "live", thing), 404, "{name} of another account");
        if has_mode {
            assert_eq!(ask(&scene.account, "test", thing), 404, "{name} of the other mode");
            assert_eq!(
                ask(&scene.account, "live", &scene.test[kind]),
                404,
                "{name} of the other mode"
            );
        }
        assert_ne!(ask(&scene.account, "live", thing), 404, "{name} of its own");
        walked += 1;
    }
    assert!(walked >= 10, "{walked}");
}
