//! What an invoice has come to: its status, what was told of it, what was booked for it, and the balance.

use super::{Shop, TEST};
use serde_json::Value;

impl Shop {
    /// Asserts how a test invoice stands: its status; its events' types, oldest first, without `invoice.`; its
    /// ledger entries, oldest first; what is available and what is pending in EUR.
    #[track_caller]
    pub fn stands(&self, id: &str, status: &str, told: &str, booked: &str, balance: [&str; 2]) {
        self.stands_for(TEST, id, status, told, booked, balance);
    }

    /// [`Shop::stands`] with another key.
    #[track_caller]
    pub fn stands_for(
        &self,
        key: &str,
        id: &str,
        status: &str,
        told: &str,
        booked: &str,
        balance: [&str; 2],
    ) {
        let invoice = self.get(&format!("/v1/invoices/{id}"), Some(key));
        let invoice = invoice.expect(200).json();
        let types = self.event_types(id, key).join(" ").replace("invoice.", "");
        let balances = self.get("/v1/balances", Some(key)).expect(200).json();
        let eur = |field: &str| balances["data"][0][field].as_str().unwrap().to_owned();
        assert_eq!(
            (
                invoice["status"].as_str().unwrap(),
                types.as_str(),
                self.booked(id, key).as_str(),
                [eur("available").as_str(), eur("pending").as_str()],
            ),
            (status, told, booked, balance)
        );
        let paid = ["confirmed", "overpaid"].contains(&status);
        assert_eq!(invoice["paid"], paid, "{status}");
        assert_eq!(invoice["confirmedAt"].is_string(), paid, "{status}");
        self.adds_up(&balances["data"][0], key);
    }

    /// The ledger entries that refer to an object, oldest first, like `sale 20.00, fee -0.20`.
    #[track_caller]
    pub fn booked(&self, object: &str, key: &str) -> String {
        let entries = self.ledger(key).into_iter().rev();
        let of_object = entries.filter(|entry| entry["refId"] == object);
        let text = |entry: Value| {
            assert_eq!(entry["refType"], "invoice");
            format!(
                "{} {}",
                entry["kind"].as_str().unwrap(),
                entry["amount"].as_str().unwrap()
            )
        };
        of_object.map(text).collect::<Vec<_>>().join(", ")
    }

    /// The ledger, newest first.
    #[track_caller]
    fn ledger(&self, key: &str) -> Vec<Value> {
        let page = self.get("/v1/ledger?limit=200", Some(key)).expect(200);
        let page = page.json();
        assert_eq!(page["hasMore"], false);
        page["data"].as_array().unwrap().clone()
    }

    /// Asserts that a balance is what its ledger sums up to.
    #[track_caller]
    fn adds_up(&self, balance: &Value, key: &str) {
        let sum = |kind: &str| -> i64 {
            let entries = self.ledger(key).into_iter();
            let of_kind = entries.filter(|entry| {
                entry["currency"] == balance["currency"]
                    && (kind.is_empty() || entry["kind"] == kind)
            });
            of_kind.map(|entry| cents(&entry["amount"])).sum()
        };
        let of = |field: &str| cents(&balance[field]);
        assert_eq!(
            (of("available"), of("sales"), of("fees")),
            (sum(""), sum("sale"), sum("fee"))
        );
    }
}

/// An amount of money as whole cents.
#[track_caller]
fn cents(amount: &Value) -> i64 {
    amount.as_str().unwrap().replace('.', "").parse().unwrap()
}
