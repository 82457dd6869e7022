//! A shop with an operator who reviews unmatched payments.

use crate::support::{Response, Shop};
use serde_json::{Value, json};

/// A bitcoin address that does not belong to the shop.
pub const FOREIGN: &str = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";

/// A shop, and the session cookie of its operator.
pub struct OperatorSession {
    pub shop: Shop,
    pub cookie: String,
}

impl OperatorSession {
    pub fn open() -> OperatorSession {
        let shop = Shop::open();
        let cookie = shop.sign_in_operator();
        OperatorSession { shop, cookie }
    }

    /// Sends a payment to a foreign address and returns the payment's id.
    #[track_caller]
    pub fn pay_foreign_address(&self, amount: &str) -> String {
        let body = json!({ "address": FOREIGN, "asset": "BTC", "amount": amount });
        self.shop.pay(body)
    }

    pub fn assign_unmatched(&self, id: &str, body: &Value) -> Response {
        let path = format!("/dashboard/api/unmatched-payments/{id}/assign");
        self.shop.session_request(&self.cookie, "POST", &path, body)
    }

    /// Assigns an unmatched payment, and returns the id of the payment or deposit.
    #[track_caller]
    pub fn assign_and_get_id(&self, id: &str, body: &Value) -> String {
        let given = self.assign_unmatched(id, body).expect(200).json();
        assert_eq!(given["unmatchedPayment"], json!(id));
        let owner = ["payment", "deposit"].map(|kind| given[kind].as_str());
        assert!(owner[0].is_some() != owner[1].is_some(), "{given}");
        owner[0].or(owner[1]).unwrap().to_owned()
    }

    /// Returns an unmatched payment as the operator interface shows it.
    #[track_caller]
    pub fn read_unmatched(&self, id: &str) -> Value {
        let path = "/dashboard/api/unmatched-payments?limit=200";
        let page = self.shop.session_request(&self.cookie, "GET", path, &Value::Null);
        let page = page.expect(200).json();
        let mut entries = page["data"].as_array().unwrap().iter();
        entries.find(|entry| entry["id"] == id).unwrap().clone()
    }

    /// Marks an unmatched payment as returned or dismissed.
    pub fn resolve_unmatched(&self, id: &str, body: &Value) -> Response {
        let path = format!("/dashboard/api/unmatched-payments/{id}");
        self.shop.session_request(&self.cookie, "POST", &path, body)
    }

    pub fn undo_outcome(&self, id: &str) -> Response {
        let path = format!("/dashboard/api/unmatched-payments/{id}/undo");
        self.shop.session_request(&self.cookie, "POST", &path, &Value::Null)
    }

    /// Returns the number of unmatched payments.
    pub fn unmatched_count(&self) -> String {
        let sql =
            "select cast(count(*) as text) from unmatched_payments where outcome is not 'assigned'";
        self.shop.query_text(sql)
    }
}

pub fn invoice_id(invoice: &Value) -> &str {
    invoice["id"].as_str().unwrap()
}
