//! Payouts and refunds of a sandbox: funds, requests and ledger entries.

use super::{LIVE, Response, Shop};
use serde_json::{Value, json};

impl Shop {
    /// Funds a balance with a paid invoice. No fee is taken. Returns the invoice id.
    #[track_caller]
    pub fn fund_balance(&self, key: &str, amount: &str, currency: &str) -> String {
        self.update_account(json!({ "feeBps": 0 }));
        let body = json!({ "amount": amount, "currency": currency, "asset": "LTC" });
        let invoice = self.post("/v1/invoices", Some(key), body).expect(201);
        let id = invoice.id();
        let payment = self.pay(json!({ "invoice": id }));
        self.set_payment_state(&payment, "confirmed");
        id
    }

    /// Requests a payout with the live key, and returns the response.
    #[track_caller]
    pub fn request_payout(&self, amount: &str) -> Response {
        self.post("/v1/payouts", Some(LIVE), json!({ "amount": amount }))
    }

    /// Creates a payout and returns its id.
    #[track_caller]
    pub fn create_payout(&self, amount: &str) -> String {
        self.request_payout(amount).expect(201).id()
    }

    /// Requests a refund of an invoice, and returns the response.
    #[track_caller]
    pub fn request_refund(&self, invoice: &str, amount: Option<&str>) -> Response {
        let body = json!({ "invoice": invoice, "amount": amount });
        self.post("/sandbox/refunds", None, body)
    }

    /// Creates a refund and returns its id.
    #[track_caller]
    pub fn create_refund(&self, invoice: &str, amount: Option<&str>) -> String {
        self.request_refund(invoice, amount).expect(201).id()
    }

    /// Applies actions to a transfer, in order. `kind` is `payouts` or `refunds`. Returns the final state of the
    /// transfer.
    #[track_caller]
    pub fn apply_actions(&self, kind: &str, id: &str, actions: &[&str]) -> Value {
        let path = format!("/sandbox/{kind}/{id}");
        let mut last = Value::Null;
        for action in actions {
            let answer = self.post(&path, None, json!({ "action": action }));
            last = answer.expect(200).json();
        }
        last
    }

    /// Returns the fields available, reserved, payouts and refunds of a balance.
    #[track_caller]
    pub fn balance_fields(&self, key: &str, currency: &str) -> [String; 4] {
        let balances = self.get("/v1/balances", Some(key)).expect(200).json();
        let balances = balances["data"].as_array().unwrap().clone();
        let balance = balances.into_iter().find(|balance| balance["currency"] == currency).unwrap();
        ["available", "reserved", "payouts", "refunds"]
            .map(|field| balance[field].as_str().unwrap().to_owned())
    }

    /// Returns the ledger entries of a payout or refund, oldest first, for example `payout -20.00, payout_reversal
    /// 20.00`.
    #[track_caller]
    pub fn transfer_ledger(&self, id: &str, key: &str) -> String {
        let page = self.get("/v1/ledger?limit=200", Some(key)).expect(200);
        let page = page.json();
        let entries = page["data"].as_array().unwrap().iter().rev();
        let text = |entry: &Value| {
            let (kind, amount) = (entry["kind"].as_str().unwrap(), entry["amount"].as_str());
            assert!(kind.starts_with(entry["refType"].as_str().unwrap()), "{entry}");
            format!("{kind} {}", amount.unwrap())
        };
        let of_object = entries.filter(|entry| entry["refId"] == id);
        of_object.map(text).collect::<Vec<_>>().join(", ")
    }
}
