//! Exchange rates of live mode: sources, their combination, and missing rates.
//!
//! The sources are local HTTP servers that respond in the documented formats.

use crate::support::command::coffer_output;
use crate::support::exchanges::{Exchanges, SOURCES, SourceReply};
use crate::support::installation::{Installation, RunningServer};
use SourceReply::{Bitcoin, Nothing, Status};
use serde_json::{Value, json};
use std::path::Path;

/// Query for all rate sources: name, 1 if the source has responded, and 1 if the source has a problem.
pub(super) const SOURCE_STATES_QUERY: &str = "select group_concat(source || ' ' || (told_at is not null) || ' ' || (problem is not null), ', ')
    from (select * from rate_sources order by source)";

/// Result of [`SOURCE_STATES_QUERY`] if all sources have responded and none has a problem.
pub(super) const ALL_SOURCES_RESPONDED: &str =
    "binance 1 0, coinbase 1 0, coingecko 1 0, kraken 1 0";

impl Installation {
    /// Starts the server with these rate sources, which `exchanges` simulates.
    #[track_caller]
    pub(super) fn start_with_sources(
        &self,
        exchanges: &Exchanges,
        sources: &[&str],
    ) -> RunningServer {
        self.start(&["--rates", &exchanges.rates_setting(sources)])
    }

    /// Makes all stored rates older by this many milliseconds.
    #[track_caller]
    pub(super) fn make_rates_older(&self, ms: i64) {
        self.open_file()
            .execute_batch(&format!(
                "begin immediate; update rate_figures set at = at - {ms};
                update rates_known set rate_at = rate_at - {ms}; commit"
            ))
            .unwrap();
    }
}

impl RunningServer {
    /// Returns the rate of bitcoin in EUR.
    #[track_caller]
    pub(super) fn bitcoin_rate(&self) -> Value {
        let rates = self.operator_get("/dashboard/api/rates");
        assert_eq!(rates["needed"], true);
        let is_it = |row: &&Value| row["coin"] == "BTC" && row["currency"] == "EUR";
        rates["data"].as_array().unwrap().iter().find(is_it).unwrap().clone()
    }

    /// Returns the problem of each source, as `source: problem`.
    #[track_caller]
    pub(super) fn source_problems(&self) -> Vec<String> {
        let rates = self.operator_get("/dashboard/api/rates");
        let each = rates["sources"].as_array().unwrap().iter();
        each.map(|source| format!("{}: {}", source["source"], source["problem"]).replace('"', ""))
            .collect()
    }

    #[track_caller]
    pub(super) fn readiness_details(&self) -> String {
        self.operator_request("GET", "/readyz?verbose", &Value::Null).expect(200).text
    }
}

impl RunningServer {
    /// Returns the number of missing rates in `/metrics`.
    #[track_caller]
    pub(super) fn missing_rate_count(&self) -> String {
        let metrics = self.operator_request("GET", "/metrics", &Value::Null).expect(200);
        let mut lines = metrics.text.lines();
        let line = lines.find_map(|line| line.strip_prefix("coffer_rates_missing "));
        line.unwrap().to_owned()
    }

    #[track_caller]
    fn set_coin_enabled(&self, asset: &str, enabled: bool) {
        let path = format!("/dashboard/api/coins/{asset}");
        let body = json!({ "enabled": enabled });
        self.operator_request("PUT", &path, &body).expect(200);
    }
}

/// Runs `coffer doctor` on a file with this `--rates` setting, and returns its output.
#[track_caller]
pub(super) fn run_doctor(file: &Path, rates: &str) -> String {
    coffer_output(file, &["doctor", "--rates", rates]).printed
}

#[test]
fn rate_is_the_median_despite_an_outlier() {
    for (tells, rate) in [
        ([60_000, 60_100, 60_200, 60_300], "60150"),
        ([60_000, 60_100, 90_000, 60_200], "60150"),
        ([30_000, 60_100, 60_000, 60_200], "60050"),
    ] {
        let exchanges = Exchanges::start(tells.map(Bitcoin));
        let served = Installation::new();
        let running = served.start_with_sources(&exchanges, &SOURCES);
        served.wait_for_query_result(SOURCE_STATES_QUERY, &[ALL_SOURCES_RESPONDED]);
        let bitcoin = running.bitcoin_rate();
        assert_eq!(bitcoin["rate"]["rate"], rate);
        assert_eq!(bitcoin["rate"]["source"], "median");
        assert_eq!(bitcoin["problem"], Value::Null);
        assert_eq!(bitcoin["newest"]["rate"], rate);
        let mut told: Vec<String> = bitcoin["figures"]
            .as_array()
            .unwrap()
            .iter()
            .map(|figure| {
                format!("{} {} {}", figure["source"], figure["rate"], figure["via"])
                    .replace('"', "")
            })
            .collect();
        told.sort();
        let mut expected: Vec<String> = SOURCES
            .iter()
            .zip(tells)
            .map(|(source, eur)| format!("{source} {eur} BTC/EUR"))
            .collect();
        expected.sort();
        assert_eq!(told, expected);
        assert_eq!(running.source_problems().len(), 4);
        // The other coins have no rate. The server reports each of them as missing and stays ready.
        assert!(
            running
                .readiness_details()
                .contains("rates: 14 missing; LTC in EUR: no source has reported a rate\n")
        );
        assert_eq!(running.missing_rate_count(), "14");
        let said = run_doctor(&served.file, &exchanges.rates_setting(&SOURCES));
        assert!(said.contains("ok: source of rates binance\n"), "{said}");
        assert!(
            said.contains(&format!(
                "ok: rate of BTC: {rate} EUR (0 s old, kraken, coinbase, binance, coingecko), "
            )),
            "{said}"
        );
        assert!(said.contains("wrong: rates: LTC has none in EUR, so it is not on offer: no source has reported a rate; mend: "), "{said}");
    }
}

#[test]
fn disabled_coin_needs_no_rate() {
    let exchanges = Exchanges::start([60_000; 4].map(Bitcoin));
    let served = Installation::new();
    let running = served.start_with_sources(&exchanges, &SOURCES);
    served.wait_for_query_result(SOURCE_STATES_QUERY, &[ALL_SOURCES_RESPONDED]);
    let now = || {
        let verbose = running.readiness_details();
        let line = verbose.lines().find_map(|line| line.split_once("rates: "));
        (running.missing_rate_count(), line.unwrap().1.to_owned())
    };
    let of = |count: usize, coin: &str| {
        let why = "no source has reported a rate";
        let line = format!("{count} missing; {coin} in EUR: {why}");
        (count.to_string(), line)
    };
    assert_eq!(now(), of(14, "LTC"));
    running.set_coin_enabled("LTC", false);
    assert_eq!(now(), of(12, "DOGE"));
    // A coin on several chains needs a rate until the coin is disabled on all of them.
    for asset in ["USDC-ERC20", "USDC-BASE", "USDC-POLYGON"] {
        running.set_coin_enabled(asset, false);
    }
    assert_eq!(now(), of(12, "DOGE"));
    for asset in ["USDC-SPL", "DOGE"] {
        running.set_coin_enabled(asset, false);
    }
    assert_eq!(now(), of(8, "ETH"));
    running.set_coin_enabled("DOGE", true);
    assert_eq!(now(), of(10, "DOGE"));
}

#[test]
fn disagreeing_or_single_sources_give_no_rate() {
    let exchanges = Exchanges::start([Bitcoin(60_000), Bitcoin(62_000), Status(503), Status(451)]);
    let served = Installation::new();
    let running = served.start_with_sources(&exchanges, &SOURCES);
    let tried = "binance 0 1, coinbase 1 0, coingecko 0 1, kraken 1 0";
    served.wait_for_query_result(SOURCE_STATES_QUERY, &[tried]);
    let apart = "the sources lie more than 3 % apart: kraken 60000, coinbase 62000";
    let bitcoin = running.bitcoin_rate();
    assert_eq!((&bitcoin["rate"], &bitcoin["newest"]), (&Value::Null, &Value::Null));
    assert_eq!(bitcoin["problem"], apart);
    assert_eq!(
        running.source_problems(),
        ["binance: answered 503", "coinbase: null", "coingecko: answered 451", "kraken: null"]
    );
    assert!(
        running.readiness_details().contains(&format!("rates: 16 missing; BTC in EUR: {apart}\n"))
    );
    let said = run_doctor(&served.file, &exchanges.rates_setting(&SOURCES));
    assert!(
        said.contains(&format!(
            "wrong: rates: BTC has none in EUR, so it is not on offer: {apart}; mend: "
        )),
        "{said}"
    );
    assert!(said.contains("wrong: rates: coingecko answered 451; mend: allow this machine to reach it, remove it from --rates"), "{said}");
    drop(running);
    // Two sources must agree, so a single source gives no rate, whatever the other sources return.
    exchanges.set_reply("coinbase", Status(500));
    let served = Installation::new();
    let running = served.start_with_sources(&exchanges, &SOURCES);
    served.wait_for_query_result(
        SOURCE_STATES_QUERY,
        &["binance 0 1, coinbase 0 1, coingecko 0 1, kraken 1 0"],
    );
    assert_eq!(
        running.bitcoin_rate()["problem"],
        "only kraken has reported a rate in the last 3 minutes, and 2 sources must agree"
    );
}

#[test]
fn stale_rate_is_unusable_but_kept_across_restart() {
    let exchanges = Exchanges::start([Bitcoin(60_000), Bitcoin(60_000), Status(500), Status(500)]);
    let served = Installation::new();
    let running = served.start_with_sources(&exchanges, &SOURCES);
    let tried = "binance 0 1, coinbase 1 0, coingecko 0 1, kraken 1 0";
    served.wait_for_query_result(SOURCE_STATES_QUERY, &[tried]);
    served.make_rates_older(100_000);
    assert_eq!(running.bitcoin_rate()["rate"]["rate"], "60000");
    served.make_rates_older(81_000);
    let bitcoin = running.bitcoin_rate();
    assert_eq!(bitcoin["rate"], Value::Null);
    assert_eq!(bitcoin["problem"], "rates of coinbase, kraken are older than 3 minutes");
    assert_eq!(bitcoin["newest"]["rate"], "60000");
    assert!(bitcoin["newest"]["ageSeconds"].as_i64().unwrap() >= 181);
    drop(running);
    // A source that is no longer configured is ignored, but the last rate is kept.
    for source in ["kraken", "coinbase"] {
        exchanges.set_reply(source, Nothing);
    }
    let running = served.start_with_sources(&exchanges, &["binance", "coinbase"]);
    served.wait_for_query_result(
        "select group_concat(source, ', ') from (select source from rate_sources order by source)",
        &["binance, coinbase"],
    );
    let bitcoin = running.bitcoin_rate();
    assert_eq!(bitcoin["rate"], Value::Null);
    assert_eq!(bitcoin["problem"], "rates of coinbase are older than 3 minutes");
    assert_eq!(bitcoin["newest"]["rate"], "60000");
}

/// The slow source would respond only after the end of the test.
#[test]
fn hanging_source_does_not_delay_others() {
    let exchanges = Exchanges::start([Nothing, Bitcoin(60_000), Bitcoin(60_100), Nothing]);
    let served = Installation::new();
    let mut running = served.start_with_sources(&exchanges, &SOURCES);
    served.wait_for_query_result(SOURCE_STATES_QUERY, &["binance 1 0, coinbase 1 0"]);
    assert_eq!(running.bitcoin_rate()["rate"]["rate"], "60050");
    assert_eq!((exchanges.request_count("kraken"), exchanges.request_count("coingecko")), (1, 1));
    assert!(running.process.close_input_and_wait());
}

#[test]
fn rate_sources_are_queried_once_live_invoices_can_be_created() {
    let link = json!({ "name": "Coffee", "amount": "1.00", "currency": "EUR" });
    assert_queried_once_created("keys", &json!({ "mode": "live", "class": "secret" }));
    assert_queried_once_created("payment-links?mode=live", &link);
}

/// Asserts that no source is queried before the account has this object, and that all are queried afterwards.
#[track_caller]
fn assert_queried_once_created(object: &str, body: &Value) {
    let exchanges = Exchanges::start([60_000; 4].map(Bitcoin));
    let served = Installation::new();
    let keys = "update keys set revoked_at = {} where mode = 'live'";
    served.open_file().execute_batch(&keys.replace("{}", "1")).unwrap();
    let running = served.start_with_sources(&exchanges, &SOURCES);
    assert!(
        running
            .readiness_details()
            .contains("rates: not asked for: no active account has a live key or payment link\n")
    );
    let rates = running.operator_get("/dashboard/api/rates");
    assert_eq!(rates["needed"], false);
    let said = run_doctor(&served.file, &exchanges.rates_setting(&SOURCES));
    assert!(said.contains("ok: rates (no active account has a live key"), "{said}");
    assert_eq!(SOURCES.map(|source| exchanges.request_count(source)), [0; 4]);
    let path = format!("/dashboard/api/accounts/{}/{object}", served.account);
    running.operator_request("POST", &path, body).expect(201);
    served.wait_for_query_result(SOURCE_STATES_QUERY, &[ALL_SOURCES_RESPONDED]);
}
