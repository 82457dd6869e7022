//! Rate settings: the operator's rate file, the spread of an account, and the rate of payouts.

use crate::coins::live_rates::{ALL_SOURCES_RESPONDED, SOURCE_STATES_QUERY, run_doctor};
use crate::support::command::coffer_output;
use crate::support::exchanges::{Exchanges, SOURCES, SourceReply::Bitcoin};
use crate::support::installation::{Installation, RunningServer};
use crate::support::{agent, send};
use serde_json::{Value, json};

#[test]
fn changed_rate_file_is_reloaded_and_broken_one_ignored() {
    let served = Installation::new();
    let path = served.path("rates.json");
    let write = |text: &str| {
        // The test writes the file under a temporary name and renames it, so that the server never reads a part of
        // it.
        let temporary = served.path("rates.new");
        std::fs::write(&temporary, text).unwrap();
        std::fs::rename(temporary, &path).unwrap();
    };
    let setting = format!("fixed:{}", path.display());
    std::fs::remove_file(&path).unwrap();
    let running = served.start(&["--rates", &setting]);
    let problem =
        "select ifnull(problem, 'none') from rate_sources union all select 'untried' limit 1";
    let missing = format!("{}: No such file or directory (os error 2)", path.display());
    served.wait_for_query_result(problem, &[&missing]);
    assert_eq!(running.bitcoin_rate()["problem"], "no source has reported a rate");
    write(r#"{"BTC": {"EUR": "60000", "USD": 65000}}"#);
    let rate = "select group_concat(rate || ' ' || source) from rate_figures where coin = 'BTC' and currency = 'EUR'";
    served.wait_for_query_result(rate, &["60000 file"]);
    let bitcoin = running.bitcoin_rate();
    assert_eq!(
        (&bitcoin["rate"]["rate"], &bitcoin["rate"]["source"]),
        (&json!("60000"), &json!("file"))
    );
    write(r#"{"BTC": {"EUR": "61000"}}"#);
    served.wait_for_query_result(rate, &["61000 file"]);
    write(r#"{"BTC": {"EUR": "#);
    served.wait_for_query_result(
        &format!("select iif(({problem}) like '%is not a JSON object%', 'yes', 'no')"),
        &["yes"],
    );
    assert_eq!(running.bitcoin_rate()["rate"]["rate"], "61000");
    assert!(
        running.source_problems()[0].contains("is not a JSON object"),
        "{:?}",
        running.source_problems()
    );
    let said = run_doctor(&served.file, &setting);
    assert!(said.contains("wrong: rates: ") && said.contains("is not a JSON object"), "{said}");
    assert!(!said.contains("check the sources"), "{said}");
    write(r#"{"BTC": {"EUR": "62000"}}"#);
    served.wait_for_query_result(rate, &["62000 file"]);
    served.wait_for_query_result(problem, &["none"]);
}

/// A coin without a rate in the file cannot be selected, and its rate is not reported as missing.
#[test]
fn coin_not_in_the_rate_file_needs_no_rate() {
    let served = Installation::new();
    let path = served.path("rates.json");
    std::fs::write(&path, r#"{"BTC": {"EUR": "62000"}}"#).unwrap();
    let setting = format!("fixed:{}", path.display());
    let running = served.start(&["--rates", &setting]);
    served.wait_for_query_result("select count(*) || '' from rate_figures", &["1"]);
    assert_eq!(running.missing_rate_count(), "0");
    assert!(running.readiness_details().contains("rates: ok\n"), "{}", running.readiness_details());
    let said = run_doctor(&served.file, &setting);
    assert!(!said.contains("wrong: rates"), "{said}");
    assert!(said.contains("ok: rate of BTC: 62000 EUR (0 s old, file)\n"), "{said}");
    assert!(said.contains("ok: rate of LTC: none, "), "{said}");
}

#[test]
fn unusable_rate_setting_is_rejected_at_start() {
    let served = Installation::new();
    for (rates, problem) in [
        (
            "kraken",
            "--rates kraken: must name at least 2 of kraken, coinbase, binance, coingecko, as two must agree, or fixed:FILE",
        ),
        ("kraken,bitstamp", "--rates kraken,bitstamp: \"bitstamp\" is not a source"),
        ("", "must name at least 2"),
    ] {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--rates", rates];
        let output = coffer_output(&served.file, &serve);
        assert_eq!(output.code, Some(1), "{rates}");
        assert!(output.errors.contains(problem), "{}", output.errors);
    }
}

#[test]
fn payout_uses_the_current_rate_without_spread() {
    let served = Installation::new();
    let exchanges = Exchanges::start([60_000; 4].map(Bitcoin));
    let running = served.start_with_sources(&exchanges, &SOURCES);
    served.wait_for_query_result(SOURCE_STATES_QUERY, &[ALL_SOURCES_RESPONDED]);
    let path = format!("/dashboard/api/accounts/{}", served.account);
    let spread = json!({ "rateSpreadBps": 250 });
    running.operator_request("PATCH", &path, &spread).expect(200);
    let payee = ["BTC", "bitcoin", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"];
    let payout = served.request_payout_to(&running, payee);
    let path = format!("/dashboard/api/payouts/{payout}");
    let approve = || {
        let body = json!({ "action": "approve", "networkFee": "0.00001" });
        running.operator_request("POST", &path, &body)
    };
    served.make_rates_older(181_000);
    let refused = approve();
    refused.assert_error(400, "invalid_request", Some("rate"));
    let message = refused.json()["message"].as_str().unwrap().to_owned();
    for said in ["no fresh market rate of BTC in EUR", "the newest known is 60000", "3 min old"] {
        assert!(message.contains(said), "{message}");
    }
    let exchanges = Exchanges::start([61_000; 4].map(Bitcoin));
    drop(running);
    let running = served.start_with_sources(&exchanges, &SOURCES);
    served.wait_for_query_result(
        "select group_concat(distinct rate) from rate_figures where coin = 'BTC' and currency = 'EUR'",
        &["61000"],
    );
    let body = json!({ "action": "approve", "networkFee": "0.00001" });
    let approved = running.operator_request("POST", &path, &body).expect(200).json();
    assert_eq!(approved["rate"], "61000");
}

#[test]
fn spread_of_the_account_lowers_the_rate() {
    let served = Installation::new();
    let exchanges = Exchanges::start([60_000; 4].map(Bitcoin));
    let running = served.start_with_sources(&exchanges, &SOURCES);
    let path = format!("/dashboard/api/accounts/{}", served.account);
    let account = running.operator_get(&path);
    assert_eq!(account["rateSpreadBps"], 0);
    let patch =
        |value: Value| running.operator_request("PATCH", &path, &json!({ "rateSpreadBps": value }));
    for wrong in [json!(-1), json!(2_001), json!("50"), json!(1.5)] {
        patch(wrong).assert_error(400, "invalid_request", Some("rateSpreadBps"));
    }
    assert_eq!(patch(json!(250)).expect(200).json()["rateSpreadBps"], 250);
    let (test, key) = served.create_test_invoice(&running);
    // The rate is 60000 EUR less a spread of 2.5 %: 58500 EUR. 100.00 / 58500 is 0.00170941 BTC, rounded up.
    let url = format!("{}/v1/invoices/{test}/select", running.url);
    let body = json!({ "asset": "BTC" }).to_string();
    let quoted = send(&agent(), "POST", &url, &[("X-API-Key", &key)], &body);
    let quoted = quoted.expect(200).json();
    assert_eq!(
        (&quoted["rate"], &quoted["amountExpected"]),
        (&json!("58500"), &json!("0.00170941"))
    );
    let detail = running.operator_get(&format!(
        "/dashboard/api/accounts/{}/invoices/{test}?mode=test",
        served.account
    ));
    assert_eq!(detail["quotes"][0]["pricedBy"]["spreadBps"], 250);
    assert_eq!(detail["quotes"][0]["pricedBy"]["source"], "fixed");
}

impl Installation {
    /// Creates a test key and an invoice of 100.00 EUR. Returns the invoice's id and the key.
    #[track_caller]
    fn create_test_invoice(&self, running: &RunningServer) -> (String, String) {
        let path = format!("/dashboard/api/accounts/{}/keys", self.account);
        let body = json!({ "mode": "test", "class": "secret" });
        let key = running.operator_request("POST", &path, &body).expect(201).json();
        let key = key["key"].as_str().unwrap().to_owned();
        let body = json!({ "amount": "100.00", "currency": "EUR" }).to_string();
        let url = format!("{}/v1/invoices", running.url);
        let made = send(&agent(), "POST", &url, &[("X-API-Key", &key)], &body);
        let made = made.expect(201).json();
        (made["id"].as_str().unwrap().to_owned(), key)
    }
}
