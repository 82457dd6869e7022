//! Every operation that takes an Idempotency-Key, repeated with its key.
//!
//! Invariant: a repeated request has one effect and one answer. The key with another object or another body is refused,
//! and then nothing changes.

use super::shared_responses::resolve_responses;
use crate::reseller::servers::order_body;
use crate::support::database::query_value;
use crate::support::operator_interface::OperatorInterface;
use crate::support::{LIVE, Response, Shop, TEST, object_id};
use coffer::http::DocumentKind;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeSet;

/// Address of nobody on the test network.
const NOBODY: &str = "tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl";
/// Tables whose rows tell whether a request had an effect.
const EFFECTS: [&str; 10] = [
    "invoices",
    "payments",
    "deposits",
    "observations",
    "ledger",
    "transfers",
    "events",
    "payment_links",
    "servers",
    "audit_log",
];

type Headers = Vec<(&'static str, String)>;

/// A request that takes an Idempotency-Key.
struct Case {
    operation: &'static str,
    path: String,
    /// Path of the same operation on another object. `None` for an operation that creates an object.
    other_path: Option<String>,
    headers: Headers,
    body: Value,
}

impl Case {
    fn send(&self, shop: &OperatorInterface, path: &str, key: &str, body: &Value) -> Response {
        let own = self.headers.iter().map(|(name, value)| (*name, value.as_str()));
        let headers: Vec<_> = own.chain([("Idempotency-Key", key)]).collect();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        shop.shop.send("POST", path, &headers, &body)
    }
}

/// Returns the number of rows of each table in [`EFFECTS`].
fn effects(shop: &OperatorInterface) -> Vec<i64> {
    let count = |table| query_value(shop.shop.file(), &format!("select count(*) from {table}"));
    EFFECTS.into_iter().map(count).collect()
}

/// Collects the cases of one sandbox.
struct Cases<'a> {
    interface: &'a OperatorInterface,
    found: Vec<Case>,
}

impl Cases<'_> {
    fn shop(&self) -> &Shop {
        &self.interface.shop
    }

    fn cookie(&self) -> Headers {
        vec![("cookie", self.interface.operator.clone())]
    }

    /// Creates a test invoice, and returns its id.
    fn invoice(&self) -> String {
        object_id(&self.shop().create_invoice("20.00", json!({ "asset": "LTC" })))
    }

    /// Creates a paid test invoice, and returns its id.
    fn paid(&self) -> String {
        let id = self.invoice();
        let payment = self.shop().pay(json!({ "invoice": id }));
        self.shop().set_payment_state(&payment, "confirmed");
        id
    }

    /// Adds a request that creates an object.
    fn create(&mut self, operation: &'static str, headers: Headers, path: &str, body: Value) {
        let path = path.to_owned();
        self.found.push(Case { operation, path, other_path: None, headers, body });
    }

    /// Adds a request about the object that `make` returns. The path has its id at `{}`.
    fn change(
        &mut self,
        operation: &'static str,
        headers: Headers,
        path: &str,
        make: impl Fn(&Self) -> String,
        body: Value,
    ) {
        let on = |id: &str| path.replace("{}", id);
        let (path, other_path) = (on(&make(self)), Some(on(&make(self))));
        self.found.push(Case { operation, path, other_path, headers, body });
    }

    fn add_invoices(&mut self) {
        let (cookie, test) = (self.cookie(), vec![("X-API-Key", TEST.to_owned())]);
        let price = json!({ "amount": "20.00", "currency": "EUR" });
        self.create("createInvoice", test.clone(), "/v1/invoices", price.clone());
        let path = self.interface.path("invoices");
        self.create("createAccountInvoice", cookie.clone(), &path, price);
        let none = Value::Null;
        let path = "/v1/invoices/{}/cancel";
        self.change("cancelInvoice", test.clone(), path, Self::invoice, none.clone());
        let path = self.interface.path("invoices/{}/cancel");
        self.change("cancelAccountInvoice", cookie.clone(), &path, Self::invoice, none.clone());
        let path = "/sandbox/invoices/{}/cancel";
        self.change("sandboxCancelInvoice", Vec::new(), path, Self::invoice, none);
        let link = json!({ "name": "Tea", "amount": "5.00", "currency": "EUR" });
        self.create("createPaymentLink", cookie, &self.interface.path("payment-links"), link);
        let path = "/v1/invoices/{}/simulate";
        let under = json!({ "case": "under" });
        self.change("simulatePayment", test.clone(), path, Self::invoice, under);
        for customer in ["ada", "bob"] {
            let path = format!("/v1/customers/{customer}/addresses");
            self.shop().post(&path, Some(TEST), json!({})).expect(201);
        }
        let names = Cell::new(["bob", "ada"].as_slice());
        let next = |_: &Self| {
            let (last, rest) = names.get().split_last().unwrap();
            names.set(rest);
            (*last).to_owned()
        };
        let deposit = json!({ "asset": "SOL", "amount": "1" });
        self.change("simulateDeposit", test, "/v1/customers/{}/simulate", next, deposit);
    }

    fn add_payments(&mut self) {
        let cookie = self.cookie();
        let pays = json!({ "invoice": self.invoice(), "amount": "0.01" });
        self.create("sandboxPutPayment", Vec::new(), "/sandbox/payments", pays);
        let seen = |cases: &Self| cases.shop().pay(json!({ "invoice": cases.invoice() }));
        let confirmed = json!({ "state": "confirmed" });
        self.change("sandboxMovePayment", Vec::new(), "/sandbox/payments/{}", seen, confirmed);
        let unmatched = |cases: &Self| {
            cases.shop().pay(json!({ "address": NOBODY, "asset": "LTC", "amount": "0.5" }))
        };
        let path = "/dashboard/api/unmatched-payments/{}/assign";
        let to = json!({ "invoice": self.invoice() });
        self.change("assignUnmatchedPayment", cookie.clone(), path, unmatched, to);
        let dismissed = |cases: &Self| {
            let id = unmatched(cases);
            let path = format!("/dashboard/api/unmatched-payments/{id}");
            cases.interface.send_as_operator("POST", &path, &json!({ "note": "mine" })).expect(200);
            id
        };
        let path = "/dashboard/api/unmatched-payments/{}/undo";
        self.change("undoUnmatchedPayment", cookie.clone(), path, dismissed, Value::Null);
        let adjustment = json!({ "currency": "EUR", "amount": "1.00", "memo": "a present" });
        let path = self.interface.path("adjustments");
        self.create("createAdjustment", cookie, &path, adjustment);
        let token = vec![("Authorization", "Bearer rt_sandbox".to_owned())];
        self.create("createServer", token, "/reseller/servers", order_body());
    }

    fn add_transfers(&mut self) {
        let cookie = self.cookie();
        let body = json!({ "invoice": self.paid(), "amount": "1.00" });
        self.create("sandboxPutRefund", Vec::new(), "/sandbox/refunds", body);
        let body = json!({ "invoice": self.paid(), "amount": "1.00", "toAddress": NOBODY });
        self.create("requestRefund", cookie.clone(), &self.interface.path("refunds"), body);
        let refund = |cases: &Self| cases.shop().create_refund(&cases.paid(), Some("1.00"));
        let approve = json!({ "action": "approve" });
        let path = "/sandbox/refunds/{}";
        self.change("sandboxMoveRefund", Vec::new(), path, refund, approve.clone());
        let path = "/dashboard/api/refunds/{}";
        self.change("moveRefund", cookie.clone(), path, refund, approve.clone());
        // An account has at most one open payout.
        self.shop().fund_balance(LIVE, "500.00", "EUR");
        let ended = self.shop().create_payout("20.00");
        self.shop().apply_actions("payouts", &ended, &["cancel"]);
        let open = self.shop().create_payout("20.00");
        let process = json!({ "action": "process" });
        for (operation, headers, path, body) in [
            ("movePayout", cookie, "/dashboard/api/payouts/{}", approve),
            ("sandboxMovePayout", Vec::new(), "/sandbox/payouts/{}", process),
        ] {
            let (path, other_path) = (path.replace("{}", &open), path.replace("{}", &ended));
            let other_path = Some(other_path);
            self.found.push(Case { operation, path, other_path, headers, body });
        }
    }
}

/// Sends each request twice, then with another object and another body.
fn assert_runs_once(interface: &OperatorInterface, case: &Case) {
    let about = case.operation;
    let key = format!("key of {about}");
    let before = effects(interface);
    let first = case.send(interface, &case.path, &key, &case.body);
    assert!((200..300).contains(&first.status), "{about}: {}", first.text);
    assert_eq!(first.headers.get("idempotent-replayed"), None, "{about}");
    let after = effects(interface);
    assert_ne!(before, after, "{about}");
    let again = case.send(interface, &case.path, &key, &case.body);
    assert_eq!((again.status, &again.text), (first.status, &first.text), "{about}");
    assert_eq!(
        again.headers.get("idempotent-replayed").map(String::as_str),
        Some("true"),
        "{about}"
    );
    if let Some(other) = &case.other_path {
        let refused = case.send(interface, other, &key, &case.body);
        refused.assert_error(409, "idempotency_conflict", Some("Idempotency-Key"));
    }
    if !case.body.is_null() {
        let mut other = case.body.clone();
        other["note"] = json!("another body");
        let refused = case.send(interface, &case.path, &key, &other);
        assert!([400, 409].contains(&refused.status), "{about}: {}", refused.text);
    }
    assert_eq!(effects(interface), after, "{about}");
}

#[test]
fn request_with_a_repeated_key_has_one_effect() {
    let mut tested = BTreeSet::new();
    let interface = OperatorInterface::open();
    let mut cases = Cases { interface: &interface, found: Vec::new() };
    cases.add_invoices();
    cases.add_payments();
    cases.add_transfers();
    for case in cases.found {
        assert_runs_once(&interface, &case);
        tested.insert(case.operation);
    }
    // An account has at most one open payout.
    for operation in ["createPayout", "createAccountPayout"] {
        let interface = OperatorInterface::open();
        interface.shop.fund_balance(LIVE, "500.00", "EUR");
        let (path, header) = match operation {
            "createPayout" => ("/v1/payouts".to_owned(), ("X-API-Key", LIVE.to_owned())),
            _ => (
                format!("/dashboard/api/accounts/{}/payouts", interface.account),
                ("cookie", interface.operator.clone()),
            ),
        };
        let body = json!({ "amount": "20.00" });
        let case = Case { operation, path, other_path: None, headers: vec![header], body };
        assert_runs_once(&interface, &case);
        tested.insert(operation);
    }
    assert_eq!(tested, documented_operations());
}

/// Returns the operations for which the documents name the header Idempotency-Key.
fn documented_operations() -> BTreeSet<&'static str> {
    let kinds = [DocumentKind::Interface, DocumentKind::Sandbox];
    let of_kind = |kind: DocumentKind| {
        let document = resolve_responses(kind);
        kind.routes().filter(move |route| {
            let operation = &document["paths"][route.path][&route.method.to_ascii_lowercase()];
            operation["parameters"].to_string().contains("Idempotency-Key")
        })
    };
    kinds.into_iter().flat_map(of_kind).map(|route| route.operation).collect()
}

#[test]
fn keys_of_two_modes_and_of_an_unknown_address_are_independent() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let live = json!({ "amount": "20.00", "currency": "EUR", "asset": "LTC" });
    let live = shop.post("/v1/invoices", Some(LIVE), live).expect(201).id();
    let test = object_id(&shop.create_invoice("20.00", json!({ "asset": "LTC" })));
    let pay = |body: Value| {
        let body = body.to_string();
        shop.send("POST", "/sandbox/payments", &[("Idempotency-Key", "k")], &body)
    };
    let mut ids = BTreeSet::new();
    for _ in 0..2 {
        ids.insert(pay(json!({ "invoice": live })).expect(201).id());
        ids.insert(pay(json!({ "outputs": [{ "invoice": test }] })).expect(201).text);
        let lost = json!({ "address": NOBODY, "asset": "LTC", "amount": "0.5" });
        ids.insert(pay(lost).expect(201).id());
    }
    assert_eq!(ids.len(), 3);
    let changed = json!({ "address": NOBODY, "asset": "LTC", "amount": "0.6" });
    pay(changed).assert_error(409, "idempotency_conflict", Some("amount"));
}

#[test]
fn invoice_with_its_id_in_capitals_has_the_same_keys() {
    let shop = Shop::open();
    let invoice = object_id(&shop.create_invoice("20.00", json!({ "asset": "LTC" })));
    let pay = |id: &str| {
        let body = json!({ "invoice": id, "amount": "0.01" }).to_string();
        shop.send("POST", "/sandbox/payments", &[("Idempotency-Key", "k")], &body)
    };
    pay(&invoice).expect(201);
    let upper = pay(&invoice.to_uppercase());
    upper.assert_error(409, "idempotency_conflict", Some("invoice"));
}

#[test]
fn customers_whose_references_differ_in_capitals_have_keys_of_their_own() {
    let shop = Shop::open();
    let lower = "0199a0c4-5f3e-7c11-8a52-3d1d2f6b7a90";
    let references = [lower.to_owned(), lower.to_uppercase()];
    let [first, second] = references.map(|reference| {
        let path = format!("/v1/customers/{reference}");
        shop.post(&format!("{path}/addresses"), Some(TEST), json!({})).expect(201);
        let body = json!({ "asset": "SOL", "amount": "1" }).to_string();
        let headers = [("X-API-Key", TEST), ("Idempotency-Key", "k")];
        shop.send("POST", &format!("{path}/simulate"), &headers, &body)
    });
    first.expect(201);
    second.assert_error(409, "idempotency_conflict", Some("Idempotency-Key"));
}
