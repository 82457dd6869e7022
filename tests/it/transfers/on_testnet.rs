//! Payouts and refunds of a shop on a test network, as the operator interface shows them.

use crate::chain::till::TestnetShop;
use crate::support::installation::RunningServer;
use crate::support::polling;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

impl TestnetShop {
    /// Requests a refund of an invoice to this address, and returns the refund's id.
    #[track_caller]
    pub fn request_refund(
        &self,
        running: &RunningServer,
        invoice: &str,
        amount: &str,
        to: &str,
    ) -> String {
        let path = format!("/dashboard/api/accounts/{}/refunds", self.served.account);
        let body = json!({ "invoice": invoice, "amount": amount, "toAddress": to });
        running.operator_request("POST", &path, &body).expect(201).id()
    }

    /// Returns a payout or refund. `path` is the path of its actions.
    #[track_caller]
    pub fn read_transfer(&self, running: &RunningServer, path: &str) -> Value {
        let path = path.replace("/api/", &format!("/api/accounts/{}/", self.served.account));
        running.operator_get(&path)
    }

    /// Waits until a payout or refund has this status and chain state and its problem contains `problem`. Returns the
    /// payout or refund.
    #[track_caller]
    pub fn wait_for_transfer(
        &self,
        running: &RunningServer,
        path: &str,
        expected: [&str; 2],
        problem: &str,
    ) -> Value {
        let mut now = Value::Null;
        let is_so = polling::wait_until(|| {
            now = self.read_transfer(running, path);
            let found = now["onChain"]["problem"].as_str().unwrap_or_default();
            [&now["status"], &now["onChain"]["state"]] == [&json!(expected[0]), &json!(expected[1])]
                && found.contains(problem)
        });
        assert!(is_so, "never {expected:?} {problem:?}: {now:#}");
        now
    }

    /// Sets the latest time in the file, before which the clock of a server does not start. `ahead_ms` is its distance
    /// from the wall clock. Returns the time, in Unix milliseconds.
    #[track_caller]
    pub fn set_latest_time(&self, ahead_ms: i64) -> i64 {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let time = i64::try_from(wall.as_millis()).unwrap() + ahead_ms;
        let file = self.served.open_file();
        file.execute("update file set last_tick_at = ?1", [time]).unwrap();
        time
    }
}

/// Returns the available balance in EUR.
#[track_caller]
pub fn available_eur_balance(running: &RunningServer) -> String {
    let balances = running.api_request("GET", "/v1/balances", &Value::Null).expect(200).json();
    let all = balances["data"].as_array().unwrap();
    let euros = all.iter().find(|one| one["currency"] == "EUR").unwrap();
    euros["available"].as_str().unwrap().to_owned()
}
