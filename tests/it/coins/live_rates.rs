//! Rates of live mode: who is asked, what follows from what they tell, and what is said where it does not do.
//!
//! The sources are small HTTP servers on this machine, which answer as those documented.

use crate::support::exchanges::{Exchanges, SOURCES, SourceReply};
use crate::support::installation::{Installation, RunningServer};
use SourceReply::{Bitcoin, Nothing, Status};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// How many sources have answered or failed so far.
pub(super) const TRIED: &str = "select group_concat(source || ' ' || (told_at is not null) || ' ' || (problem is not null), ', ')
    from (select * from rate_sources order by source)";

/// All of them have answered.
pub(super) const ALL_TOLD: &str = "binance 1 0, coinbase 1 0, coingecko 1 0, kraken 1 0";

impl Installation {
    /// Starts it on these sources of the exchanges.
    #[track_caller]
    pub(super) fn on(&self, exchanges: &Exchanges, sources: &[&str]) -> RunningServer {
        self.start(&["--rates", &exchanges.setting(sources)])
    }

    /// As if so many milliseconds had passed since each source was asked.
    #[track_caller]
    pub(super) fn age(&self, ms: i64) {
        self.open_file()
            .execute_batch(&format!(
                "begin immediate; update rate_figures set at = at - {ms};
                update rates_known set rate_at = rate_at - {ms}; commit"
            ))
            .unwrap();
    }
}

impl RunningServer {
    /// What is known of bitcoin in EUR.
    #[track_caller]
    pub(super) fn bitcoin(&self) -> Value {
        let rates = self.operator_request("GET", "/dashboard/api/rates", &Value::Null);
        let rates = rates.expect(200).json();
        assert_eq!(rates["needed"], true);
        let is_it = |row: &&Value| row["coin"] == "BTC" && row["currency"] == "EUR";
        rates["data"]
            .as_array()
            .unwrap()
            .iter()
            .find(is_it)
            .unwrap()
            .clone()
    }

    /// What each source's problem is.
    #[track_caller]
    pub(super) fn problems(&self) -> Vec<String> {
        let rates = self.operator_request("GET", "/dashboard/api/rates", &Value::Null);
        let rates = rates.expect(200).json();
        let each = rates["sources"].as_array().unwrap().iter();
        each.map(|source| format!("{}: {}", source["source"], source["problem"]).replace('"', ""))
            .collect()
    }

    #[track_caller]
    pub(super) fn verbose(&self) -> String {
        self.operator_request("GET", "/readyz?verbose", &Value::Null)
            .expect(200)
            .text
    }
}

impl RunningServer {
    /// What `/metrics` counts as missing.
    #[track_caller]
    pub(super) fn missing(&self) -> String {
        let metrics = self
            .operator_request("GET", "/metrics", &Value::Null)
            .expect(200);
        let mut lines = metrics.text.lines();
        let line = lines.find_map(|line| line.strip_prefix("coffer_rates_missing "));
        line.unwrap().to_owned()
    }

    #[track_caller]
    fn switch(&self, asset: &str, enabled: bool) {
        let path = format!("/dashboard/api/coins/{asset}");
        let body = json!({ "enabled": enabled });
        self.operator_request("PUT", &path, &body).expect(200);
    }
}

/// The doctor on a file, with these rates; what it says.
#[track_caller]
pub(super) fn doctor(file: &Path, rates: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command
        .args(["doctor", "--rates", rates, "--file"])
        .arg(file);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn the_median_of_the_sources_is_the_rate_though_one_lies_by_half() {
    for (tells, rate) in [
        ([60_000, 60_100, 60_200, 60_300], "60150"),
        ([60_000, 60_100, 90_000, 60_200], "60150"),
        ([30_000, 60_100, 60_000, 60_200], "60050"),
    ] {
        let exchanges = Exchanges::open(tells.map(Bitcoin));
        let served = Installation::new();
        let running = served.on(&exchanges, &SOURCES);
        served.poll(TRIED, &[ALL_TOLD]);
        let bitcoin = running.bitcoin();
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
        assert_eq!(running.problems().len(), 4);
        // The other coins have none, which is said, and makes nothing unready.
        assert!(
            running
                .verbose()
                .contains("rates: 14 missing; LTC in EUR: no source has told a figure\n")
        );
        assert_eq!(running.missing(), "14");
        let said = doctor(&served.file, &exchanges.setting(&SOURCES));
        assert!(said.contains("ok: source of rates binance\n"), "{said}");
        assert!(
            said.contains(&format!(
                "ok: rate of BTC: {rate} EUR (0 s old, kraken, coinbase, binance, coingecko), "
            )),
            "{said}"
        );
        assert!(said.contains("wrong: rates: LTC has none in EUR, so it is not on offer: no source has told a figure; mend: "), "{said}");
    }
}

#[test]
fn a_coin_that_is_switched_off_misses_no_rate() {
    let exchanges = Exchanges::open([60_000; 4].map(Bitcoin));
    let served = Installation::new();
    let running = served.on(&exchanges, &SOURCES);
    served.poll(TRIED, &[ALL_TOLD]);
    let now = || {
        let verbose = running.verbose();
        let line = verbose.lines().find_map(|line| line.split_once("rates: "));
        (running.missing(), line.unwrap().1.to_owned())
    };
    let of = |count: usize, coin: &str| {
        let why = "no source has told a figure";
        let line = format!("{count} missing; {coin} in EUR: {why}");
        (count.to_string(), line)
    };
    assert_eq!(now(), of(14, "LTC"));
    running.switch("LTC", false);
    assert_eq!(now(), of(12, "DOGE"));
    // One that is on several chains is off once it is so on all.
    for asset in ["USDC-ERC20", "USDC-BASE", "USDC-POLYGON"] {
        running.switch(asset, false);
    }
    assert_eq!(now(), of(12, "DOGE"));
    for asset in ["USDC-SPL", "DOGE"] {
        running.switch(asset, false);
    }
    assert_eq!(now(), of(8, "ETH"));
    running.switch("DOGE", true);
    assert_eq!(now(), of(10, "DOGE"));
}

#[test]
fn two_that_disagree_make_none_and_one_alone_makes_none() {
    let exchanges = Exchanges::open([Bitcoin(60_000), Bitcoin(62_000), Status(503), Status(451)]);
    let served = Installation::new();
    let running = served.on(&exchanges, &SOURCES);
    let tried = "binance 0 1, coinbase 1 0, coingecko 0 1, kraken 1 0";
    served.poll(TRIED, &[tried]);
    let apart = "the sources lie more than 3 % apart: kraken 60000, coinbase 62000";
    let bitcoin = running.bitcoin();
    assert_eq!(
        (&bitcoin["rate"], &bitcoin["newest"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(bitcoin["problem"], apart);
    assert_eq!(
        running.problems(),
        [
            "binance: answered 503",
            "coinbase: null",
            "coingecko: answered 451",
            "kraken: null"
        ]
    );
    assert!(
        running
            .verbose()
            .contains(&format!("rates: 16 missing; BTC in EUR: {apart}\n"))
    );
    let said = doctor(&served.file, &exchanges.setting(&SOURCES));
    assert!(
        said.contains(&format!(
            "wrong: rates: BTC has none in EUR, so it is not on offer: {apart}; mend: "
        )),
        "{said}"
    );
    assert!(said.contains("wrong: rates: coingecko answered 451; mend: let this machine reach it, or leave it out of --rates"), "{said}");
    drop(running);
    // One alone is not believed, whatever the other was asked.
    exchanges.set_reply("coinbase", Status(500));
    let served = Installation::new();
    let running = served.on(&exchanges, &SOURCES);
    served.poll(
        TRIED,
        &["binance 0 1, coinbase 0 1, coingecko 0 1, kraken 1 0"],
    );
    assert_eq!(
        running.bitcoin()["problem"],
        "only kraken has told a figure in the last 3 minutes, and 2 sources must agree"
    );
}

#[test]
fn what_is_old_is_no_rate_and_stays_known_across_a_restart() {
    let exchanges = Exchanges::open([Bitcoin(60_000), Bitcoin(60_000), Status(500), Status(500)]);
    let served = Installation::new();
    let running = served.on(&exchanges, &SOURCES);
    let tried = "binance 0 1, coinbase 1 0, coingecko 0 1, kraken 1 0";
    served.poll(TRIED, &[tried]);
    served.age(100_000);
    assert_eq!(running.bitcoin()["rate"]["rate"], "60000");
    served.age(81_000);
    let bitcoin = running.bitcoin();
    assert_eq!(bitcoin["rate"], Value::Null);
    assert_eq!(
        bitcoin["problem"],
        "what coinbase, kraken told is older than 3 minutes"
    );
    assert_eq!(bitcoin["newest"]["rate"], "60000");
    assert!(bitcoin["newest"]["ageSeconds"].as_i64().unwrap() >= 181);
    drop(running);
    // Asked no more, a source says nothing any more; what was known stays so.
    for source in ["kraken", "coinbase"] {
        exchanges.set_reply(source, Nothing);
    }
    let running = served.on(&exchanges, &["binance", "coinbase"]);
    served.poll(
        "select group_concat(source, ', ') from (select source from rate_sources order by source)",
        &["binance, coinbase"],
    );
    let bitcoin = running.bitcoin();
    assert_eq!(bitcoin["rate"], Value::Null);
    assert_eq!(
        bitcoin["problem"],
        "what coinbase told is older than 3 minutes"
    );
    assert_eq!(bitcoin["newest"]["rate"], "60000");
}

/// Whoever is slow holds up neither the others nor the end, though it would go on for longer than the test.
#[test]
fn who_does_not_answer_holds_up_nobody() {
    let exchanges = Exchanges::open([Nothing, Bitcoin(60_000), Bitcoin(60_100), Nothing]);
    let served = Installation::new();
    let mut running = served.on(&exchanges, &SOURCES);
    served.poll(TRIED, &["binance 1 0, coinbase 1 0"]);
    assert_eq!(running.bitcoin()["rate"]["rate"], "60050");
    assert_eq!(
        (
            exchanges.request_count("kraken"),
            exchanges.request_count("coingecko")
        ),
        (1, 1)
    );
    assert!(running.process.close());
}

#[test]
fn nobody_is_asked_while_no_active_account_has_a_live_key() {
    let exchanges = Exchanges::open([60_000; 4].map(Bitcoin));
    let served = Installation::new();
    let keys = "update keys set revoked_at = {} where mode = 'live'";
    served
        .open_file()
        .execute_batch(&keys.replace("{}", "1"))
        .unwrap();
    let running = served.on(&exchanges, &SOURCES);
    assert!(
        running
            .verbose()
            .contains("rates: not asked for: no active account has a live key\n")
    );
    let rates = running.operator_request("GET", "/dashboard/api/rates", &Value::Null);
    assert_eq!(rates.expect(200).json()["needed"], false);
    let said = doctor(&served.file, &exchanges.setting(&SOURCES));
    assert!(
        said.contains("ok: rates (no active account has a live key"),
        "{said}"
    );
    assert_eq!(
        SOURCES.map(|source| exchanges.request_count(source)),
        [0; 4]
    );
    // They are as soon as one has.
    let path = format!("/dashboard/api/accounts/{}/keys", served.account);
    let body = json!({ "mode": "live", "class": "secret" });
    running.operator_request("POST", &path, &body).expect(201);
    served.poll(TRIED, &[ALL_TOLD]);
}
