//! One object of each kind in a sandbox.

use crate::support::operator_interface::OperatorInterface;
use crate::support::{LIVE, Response, TEST};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Address of bitcoin's test network that does not belong to any account of the sandbox.
const UNASSIGNED_ADDRESS: &str = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";
/// Extended public key of a bitcoin wallet.
const WALLET_KEY: &str = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
/// Collections whose objects are identified by a name in the path, each with the name of one object.
const NAMED_COLLECTIONS: [(&str, &str); 9] = [
    ("customers", "ada"),
    ("pools", "solana"),
    ("exports", "invoices.csv"),
    ("payout-addresses", "solana"),
    ("coins", "LTC"),
    ("chains", "litecoin"),
    ("chain-nodes", "litecoin"),
    ("snapshots", "one"),
    ("inbox", "other"),
];

/// Ids of the created objects.
pub struct SeededObjects {
    /// Id or name of one object of each collection except invoices, by the name of the collection in paths.
    pub ids: BTreeMap<&'static str, String>,
    pub invoice_open: String,
    pub invoice_paid: String,
}

/// Asserts that the request succeeded, and returns the id of the created object.
#[track_caller]
fn id_of_created(answer: &Response) -> String {
    assert!(answer.status < 300, "{}", answer.text);
    answer.id()
}

/// Returns the id of the first item of a list.
#[track_caller]
fn first_id(list: &Value) -> String {
    list["data"][0]["id"].as_str().unwrap().to_owned()
}

impl SeededObjects {
    #[track_caller]
    pub fn create(interface: &OperatorInterface) -> SeededObjects {
        let shop = &interface.shop;
        let endpoint = json!({ "url": format!("{}/sandbox/inbox/shop", shop.url()) });
        let endpoint = id_of_created(&interface.request("POST", "endpoints", &endpoint));
        let order = json!({ "amount": "2000.00", "currency": "EUR", "asset": "LTC" });
        let invoice =
            |key: &str| id_of_created(&shop.post("/v1/invoices", Some(key), order.clone()));
        let [invoice_open, invoice_paid, invoice_live] = [TEST, TEST, LIVE].map(invoice);
        for id in [&invoice_paid, &invoice_live] {
            let payment = shop.pay(json!({ "invoice": id }));
            shop.set_payment_state(&payment, "confirmed");
        }
        let payment = shop.pay(json!({ "invoice": invoice(TEST) }));
        let mut objects = SeededObjects {
            ids: BTreeMap::from([("endpoints", endpoint), ("payments", payment)]),
            invoice_open,
            invoice_paid,
        };
        objects.create_money_objects(interface);
        objects.create_account_objects(interface);
        // One second is enough to complete all deliveries.
        let advance = json!({ "advance": "1s" });
        shop.post("/sandbox/clock", None, advance).expect(200);
        let lists = [
            ("events", shop.get("/v1/events", Some(TEST)).json()),
            ("deposits", shop.get("/v1/deposits", Some(TEST)).json()),
            ("deliveries", interface.get("deliveries")),
        ];
        objects.ids.extend(lists.map(|(name, list)| (name, first_id(&list))));
        objects.ids.extend(NAMED_COLLECTIONS.map(|(name, id)| (name, id.to_owned())));
        objects
    }

    /// Creates a refund, a deposit, an unmatched payment and a payout.
    #[track_caller]
    fn create_money_objects(&mut self, interface: &OperatorInterface) {
        let shop = &interface.shop;
        let refund = json!({ "invoice": self.invoice_paid, "amount": "5.00" });
        let refund = id_of_created(&shop.post("/sandbox/refunds", None, refund));
        let customer = |rest: &str, body: Value| {
            shop.post(&format!("/v1/customers/ada/{rest}"), Some(TEST), body).expect(201)
        };
        customer("addresses", json!({}));
        customer("simulate", json!({ "asset": "BTC", "amount": "0.001" }));
        let unmatched = json!({ "address": UNASSIGNED_ADDRESS, "asset": "BTC", "amount": "0.001" });
        let payout = json!({ "amount": "50.00", "currency": "EUR" });
        let payout = id_of_created(&shop.post("/v1/payouts", Some(LIVE), payout));
        self.ids.extend([
            ("refunds", refund),
            ("unmatched-payments", shop.pay(unmatched)),
            ("payouts", payout),
        ]);
    }

    /// Creates a key, a token, a link, a user, a server and a wallet.
    #[track_caller]
    fn create_account_objects(&mut self, interface: &OperatorInterface) {
        let of_account =
            |rest: &str, body: Value| id_of_created(&interface.request("POST", rest, &body));
        let key = json!({ "class": "secret", "mode": "test" });
        let link = json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" });
        let of_operator = |rest: &str, body: Value| {
            let path = format!("/dashboard/api/{rest}");
            id_of_created(&interface.send_as_operator("POST", &path, &body))
        };
        let user =
            json!({ "email": "ada@shop.test", "password": "a long password", "role": "operator" });
        let wallet = json!({ "chain": "bitcoin", "key": WALLET_KEY });
        let token = [("authorization", "Bearer rt_sandbox")];
        let server = r#"{"type":"kvm","hostname":"a.test","cpu":1,"ramMb":512,"diskGb":5}"#;
        let server = interface.shop.send("POST", "/reseller/servers", &token, server);
        self.ids.extend([
            ("keys", of_account("keys", key)),
            ("reseller-tokens", of_account("reseller-tokens", Value::Null)),
            ("payment-links", of_account("payment-links", link)),
            ("users", of_operator("users", user)),
            ("wallets", of_operator("wallets", wallet)),
            ("servers", id_of_created(&server)),
        ]);
    }
}
