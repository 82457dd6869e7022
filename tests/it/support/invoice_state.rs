//! Assertions about an invoice: its status, events, ledger entries and balance.

use super::{Shop, TEST};
use serde_json::Value;

impl Shop {
    /// Asserts the state of a test invoice: status, event types without `invoice.`, ledger entries, and the available
    /// and pending balance in EUR. Events and ledger entries are listed oldest first.
    #[track_caller]
    pub fn assert_invoice(
        &self,
        id: &str,
        status: &str,
        told: &str,
        booked: &str,
        balance: [&str; 2],
    ) {
        self.assert_invoice_for_key(TEST, id, status, told, booked, balance);
    }

    /// Asserts the state of an invoice like [`Shop::assert_invoice`]. The key selects the account and the mode.
    #[track_caller]
    pub fn assert_invoice_for_key(
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
                self.invoice_ledger(id, key).as_str(),
                [eur("available").as_str(), eur("pending").as_str()],
            ),
            (status, told, booked, balance)
        );
        let paid = ["confirmed", "overpaid"].contains(&status);
        assert_eq!(invoice["paid"], paid, "{status}");
        assert_eq!(invoice["confirmedAt"].is_string(), paid, "{status}");
        self.assert_balance_adds_up(&balances["data"][0], key);
    }

    /// Returns the ledger entries of an invoice, oldest first, for example `sale 20.00, fee -0.20`.
    #[track_caller]
    pub fn invoice_ledger(&self, object: &str, key: &str) -> String {
        let entries = self.ledger(key).into_iter().rev();
        let of_object = entries.filter(|entry| entry["refId"] == object);
        let text = |entry: Value| {
            assert_eq!(entry["refType"], "invoice");
            format!("{} {}", entry["kind"].as_str().unwrap(), entry["amount"].as_str().unwrap())
        };
        of_object.map(text).collect::<Vec<_>>().join(", ")
    }

    /// Returns the ledger of the account of this key, newest entry first.
    #[track_caller]
    fn ledger(&self, key: &str) -> Vec<Value> {
        let page = self.get("/v1/ledger?limit=200", Some(key)).expect(200);
        let page = page.json();
        assert_eq!(page["hasMore"], false);
        page["data"].as_array().unwrap().clone()
    }

    /// Asserts that a balance equals the sums of its ledger entries.
    #[track_caller]
    fn assert_balance_adds_up(&self, balance: &Value, key: &str) {
        let sum = |kind: &str| -> i64 {
            let entries = self.ledger(key).into_iter();
            let of_kind = entries.filter(|entry| {
                entry["currency"] == balance["currency"]
                    && (kind.is_empty() || entry["kind"] == kind)
            });
            of_kind.map(|entry| parse_cents(&entry["amount"])).sum()
        };
        let of = |field: &str| parse_cents(&balance[field]);
        assert_eq!((of("available"), of("sales"), of("fees")), (sum(""), sum("sale"), sum("fee")));
    }
}

/// Parses an amount of money as a number of cents.
#[track_caller]
fn parse_cents(amount: &Value) -> i64 {
    amount.as_str().unwrap().replace('.', "").parse().unwrap()
}
