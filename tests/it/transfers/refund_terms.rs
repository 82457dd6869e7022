//! Rates of refunds, and what the signer may send, on a real litecoind: a refund fits the payment that it refunds.

use super::litecoin_shop::{LitecoinMerchant, LitecoinTransfer, SentBy, start_node};
use crate::support::{Response, polling};
use serde_json::{Value, json};

impl LitecoinMerchant<'_> {
    /// Sets the market rate of litecoin in EUR.
    #[track_caller]
    fn set_market_rate(&self, euros: &str) {
        self.till.change_rates(&json!({ "LTC": { "EUR": euros } }).to_string(), "LTC", euros);
    }

    /// Approves a transfer with these fields and a network fee of 0.001 LTC.
    #[track_caller]
    fn approve_with(&self, of: &LitecoinTransfer, fields: &Value) -> Response {
        let mut body = json!({ "action": "approve", "networkFee": "0.001" });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.apply_action(of, &body)
    }

    /// Returns the terms that an approval without fields would set.
    #[track_caller]
    fn proposed_terms(&self, of: &LitecoinTransfer) -> Value {
        let account = &self.till.served.account;
        let path = format!("/dashboard/api/accounts/{account}/{}/{}", of.kind, of.id);
        self.running.operator_get(&path)["approval"].clone()
    }

    #[track_caller]
    fn change_account(&self, change: &Value) {
        let path = format!("/dashboard/api/accounts/{}", self.till.served.account);
        self.running.operator_request("PATCH", &path, change).expect(200);
    }

    #[track_caller]
    fn assert_approved(&self, of: &LitecoinTransfer, fields: &Value, expected: [&str; 4]) {
        let approved = self.approve_with(of, fields).expect(200).json();
        let found = ["rateBasis", "rate", "amountCrypto", "sentBy"];
        assert_eq!(found.map(|field| approved[field].as_str().unwrap()), expected, "{fields}");
    }
}

#[test]
fn refund_sends_the_share_of_what_came_in_whatever_the_market_is() {
    let Some(node) = start_node(&[]) else { return };
    let merchant = LitecoinMerchant::open(&node);
    // 0.2 LTC came in for 20.00 EUR. Now a coin is worth half of that.
    merchant.set_market_rate("50");
    let first = merchant.request_transfer("refunds", SentBy::Signer, None, Some("10.00"));
    let proposed = merchant.proposed_terms(&first);
    let received = json!({ "amount": "0.2", "value": "20.00", "rate": "100", "share": "0.1" });
    assert_eq!(proposed["received"], received);
    let found = ["basis", "rate", "sentBy"].map(|field| proposed[field].as_str().unwrap());
    assert_eq!(found, ["received", "50", "signer"]);
    merchant.assert_approved(&first, &json!({}), ["received", "100", "0.099", "signer"]);

    let second = merchant.request_transfer("refunds", SentBy::Signer, None, Some("5.00"));
    for (fields, message) in [
        (
            json!({ "basis": "market" }),
            "rate 50 sends 0.1 LTC for 5.00 EUR. 0.2 LTC came in for 20.00 EUR, at 100",
        ),
        (json!({ "rate": "50" }), "rate 50 is 50 % below the rate of what came in, 100"),
        (
            json!({ "basis": "market", "rate": "49.5" }),
            "rate 49.5 sends 0.1010101 LTC for 5.00 EUR",
        ),
    ] {
        let refused = merchant.approve_with(&second, &fields);
        refused.assert_error(400, "invalid_request", Some("rate"));
        let said = refused.json()["message"].as_str().unwrap().to_owned();
        assert!(said.starts_with(message), "{said}");
    }
    // A person who accepts more coins sends them by hand.
    let accepted = json!({ "basis": "market", "acceptRate": true, "sentBy": "signer" });
    let refused = merchant.approve_with(&second, &accepted);
    refused.assert_error(400, "invalid_request", Some("sentBy"));
    let accepted = json!({ "basis": "market", "acceptRate": true });
    merchant.assert_approved(&second, &accepted, ["market", "50", "0.099", "hand"]);
    let reassigned = json!({ "action": "reassign", "sentBy": "signer" });
    let refused = merchant.apply_action(&second, &reassigned);
    refused.assert_error(400, "invalid_request", Some("sentBy"));

    // Where the coin has gained, the market sends fewer coins than the share.
    merchant.set_market_rate("200");
    let third = merchant.request_transfer("refunds", SentBy::Signer, None, Some("4.00"));
    let market = json!({ "basis": "market" });
    merchant.assert_approved(&third, &market, ["market", "200", "0.019", "signer"]);

    let payout = merchant.request_transfer("payouts", SentBy::Hand, None, None);
    assert_eq!(merchant.proposed_terms(&payout)["received"], Value::Null);
    let refused = merchant.approve_with(&payout, &json!({ "basis": "market" }));
    refused.assert_error(400, "invalid_request", Some("basis"));
    merchant.assert_approved(&payout, &json!({}), ["market", "200", "0.099", "signer"]);
}

#[test]
fn signer_limit_counts_what_the_coins_are_worth() {
    let Some(node) = start_node(&[]) else { return };
    let merchant = LitecoinMerchant::open(&node);
    merchant.change_account(&json!({ "signerLimit": "100.00" }));
    // 1.00 EUR came in as 0.01 LTC, which is now worth 40.00 EUR.
    merchant.set_market_rate("4000");
    let refunds =
        [(); 3].map(|()| merchant.request_transfer("refunds", SentBy::Signer, None, Some("1.00")));
    for (at, sender) in [(0, "signer"), (1, "signer"), (2, "hand")] {
        merchant.assert_approved(&refunds[at], &json!({}), ["received", "100", "0.009", sender]);
    }
    let reassigned = json!({ "action": "reassign", "sentBy": "signer" });
    let refused = merchant.apply_action(&refunds[2], &reassigned);
    refused.assert_error(400, "invalid_request", Some("sentBy"));
    let given = "was given 80.00 EUR of this account in the last 24 hours, and 40.00 more would pass signerLimit, 100.00";
    assert!(refused.text.contains(given), "{}", refused.text);
    // Without a fresh rate, nothing tells what the coins are worth.
    merchant.till.set_rates(r#"{"BTC": {"EUR": "100"}}"#);
    let gone = "select count(*) || '' from rate_figures where coin = 'LTC'";
    merchant.till.served.wait_for_query_result(gone, &["0"]);
    let last = merchant.request_transfer("refunds", SentBy::Signer, None, Some("1.00"));
    let problem = merchant.proposed_terms(&last)["signerProblem"].clone();
    assert!(problem.as_str().unwrap().contains("no fresh market rate"), "{problem}");
    merchant.assert_approved(&last, &json!({}), ["received", "100", "0.009", "hand"]);
}

#[test]
fn signer_waits_while_the_account_is_suspended_or_maintenance_is_on() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let settings = "/dashboard/api/settings";
    let set_maintenance = |merchant: &LitecoinMerchant<'_>, is_on: bool| {
        let body = json!({ "maintenance": is_on });
        merchant.running.operator_request("PUT", settings, &body).expect(200);
    };
    let account = format!("/dashboard/api/accounts/{}/status", merchant.till.served.account);
    let set_status = |merchant: &LitecoinMerchant<'_>, status: &str| {
        let body = json!({ "status": status });
        merchant.running.operator_request("POST", &account, &body).expect(200);
    };
    for (hold, problem) in [
        ("maintenance", "maintenance is on: the signer sends nothing until it ends"),
        ("suspended", "the account is suspended: the signer sends nothing until it is active"),
    ] {
        let sent = merchant.request_transfer("refunds", SentBy::Signer, None, Some("1.00"));
        match hold {
            "maintenance" => set_maintenance(&merchant, true),
            status => set_status(&merchant, status),
        }
        merchant.approve(&sent);
        let is_told =
            polling::wait_until(|| merchant.read_transfer(&sent)["onChain"]["problem"] == problem);
        assert!(is_told, "{}", merchant.read_transfer(&sent));
        // The worker that starts signers runs at each start of the server.
        merchant.restart_and_sync();
        assert_eq!(merchant.signer_start_count(&sent), 0, "{hold}");
        match hold {
            "maintenance" => set_maintenance(&merchant, false),
            _ => set_status(&merchant, "active"),
        }
        assert!(polling::wait_until(|| merchant.signer_start_count(&sent) == 1), "{hold}");
        merchant.write_signer_response(&sent, r#"{"sent": false, "reason": "a test"}"#);
        merchant.till.served.wait_for_query_result(
            &format!("select ifnull(sending, '') from transfers where id = '{}'", sent.id),
            &["declined"],
        );
    }
}
