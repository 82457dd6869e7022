//! Assertions about state, events and balances of transfers on Litecoin.

use super::litecoin_shop::{LitecoinMerchant, LitecoinTransfer};
use super::on_testnet::available_eur_balance;
use super::signer::signer_start_count;
use crate::support::payer::format_units;
use serde_json::Value;

impl LitecoinMerchant<'_> {
    /// Counts the starts of the signer for a transfer.
    pub fn signer_start_count(&self, of: &LitecoinTransfer) -> usize {
        signer_start_count(&self.till.served, &of.id)
    }

    /// Returns the transfer as the operator interface shows it.
    #[track_caller]
    pub fn read_transfer(&self, of: &LitecoinTransfer) -> Value {
        self.till.read_transfer(&self.running, &of.path())
    }

    #[track_caller]
    pub fn status(&self, of: &LitecoinTransfer) -> String {
        self.read_transfer(of)["status"].as_str().unwrap().to_owned()
    }

    /// Waits until the transfer has this status and chain state, and returns the transfer.
    #[track_caller]
    pub fn wait_for_state(&self, of: &LitecoinTransfer, expected: [&str; 2]) -> Value {
        self.till.wait_for_transfer(&self.running, &of.path(), expected, "")
    }

    /// Waits until the transfer has a review with this problem, and returns the transfer.
    #[track_caller]
    pub fn wait_for_review(&self, of: &LitecoinTransfer, status: &str, problem: &str) -> Value {
        let expected = [status, "needs_review"];
        self.till.wait_for_transfer(&self.running, &of.path(), expected, problem)
    }

    /// Asserts that this transaction settled the transfer, that one event reports it, and that the signer ran at most
    /// once.
    #[track_caller]
    pub fn assert_paid(&self, of: &LitecoinTransfer, txid: &str) {
        let paid = self.wait_for_state(of, ["paid", "settled"]);
        assert_eq!(paid["txid"], txid);
        self.assert_one_final_event(of, "paid");
        assert!(self.signer_start_count(of) <= 1);
    }

    /// Asserts that exactly one event reports the final status of a transfer.
    #[track_caller]
    pub fn assert_one_final_event(&self, of: &LitecoinTransfer, end: &str) {
        let kind = of.kind.trim_end_matches('s');
        let told = format!("select group_concat(type) from events where object_id = '{}'", of.id);
        self.till.served.wait_for_query_result(&told, &[&format!("{kind}.{end}")]);
    }

    /// Returns the available balance of the merchant, in EUR cents.
    #[track_caller]
    pub fn available_cents(&self) -> i64 {
        available_eur_balance(&self.running).replace('.', "").parse().unwrap()
    }
}

/// Formats the amount of a transfer as a decimal number of coins.
pub fn format_amount(of: &LitecoinTransfer) -> String {
    format_units(of.units)
}
