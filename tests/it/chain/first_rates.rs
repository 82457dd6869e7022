//! Payments that arrive before the server knows any rate. They wait, and are booked when the first rates arrive.

use crate::operator::wallets::{EVM_XPUB, run_wallet_command};
use crate::support::anvil::Node;
use crate::support::exchanges::{Exchanges, SourceReply};
use crate::support::installation::{Installation, RunningServer};
use crate::support::polling;
use serde_json::{Value, json};
use std::path::Path;

/// A shop whose customers pay in ether.
struct EtherShop {
    served: Installation,
    settings: Vec<String>,
}

impl EtherShop {
    #[track_caller]
    fn open(node: &Node, exchanges: &Exchanges) -> EtherShop {
        let served = Installation::new();
        let customers = "update accounts set customers_enabled = 1";
        served.open_file().execute(customers, []).unwrap();
        run_wallet_command(&served.file, &["add", "evm", "--yes"], EVM_XPUB).json_lines();
        let node = format!("ethereum={}", node.url);
        let rates = exchanges.rates_setting(&["binance", "coingecko"]);
        let settings = ["--test-networks", "--node", &node, "--rates", &rates];
        EtherShop { served, settings: settings.map(str::to_owned).to_vec() }
    }

    #[track_caller]
    fn start(&self) -> RunningServer {
        let settings: Vec<&str> = self.settings.iter().map(String::as_str).collect();
        self.served.start(&settings)
    }

    #[track_caller]
    fn start_with_log_file(&self, log: &Path) -> RunningServer {
        let settings: Vec<&str> = self.settings.iter().map(String::as_str).collect();
        self.served.start_with_log_and_settings("debug", log, &settings)
    }

    /// Returns the deposit address of a customer.
    #[track_caller]
    fn customer_address(&self, running: &RunningServer) -> String {
        let given = running.api_request("POST", "/v1/customers/ada/addresses", &json!({}));
        let given = given.expect(201).json();
        let addresses = given["addresses"].as_array().unwrap();
        let ours = addresses.iter().find(|entry| entry["family"] == "evm");
        ours.unwrap()["address"].as_str().unwrap().to_owned()
    }
}

#[test]
fn first_payments_wait_for_the_first_rates() {
    let Some(node) = Node::start(11_155_111, "rates of the first payments") else {
        return;
    };
    let exchanges = Exchanges::start([1_500; 4].map(SourceReply::Ether));
    let shop = EtherShop::open(&node, &exchanges);
    let mut running = shop.start();
    let on_offer =
        "select exists (select 1 from chain_cursors) || exists (select 1 from rate_figures)";
    shop.served.wait_for_query_result(on_offer, &["11"]);
    let address = shop.customer_address(&running);
    running.process.kill();
    drop(running);
    let forgets = "delete from rate_figures; delete from rate_sources; delete from rates_known";
    shop.served.open_file().execute_batch(forgets).unwrap();
    node.pay(&address, 10_u128.pow(17));
    exchanges.set_reply("binance", SourceReply::Held);
    exchanges.set_reply("coingecko", SourceReply::Held);
    let log = shop.served.path("log");
    let running = std::thread::scope(|scope| {
        scope.spawn(|| serve_rates_once_waiting(&shop, &log, &exchanges));
        shop.start_with_log_file(&log)
    });
    shop.served.wait_for_query_result("select count(*) || '' from deposits", &["1"]);
    let unmatched = running.operator_get("/dashboard/api/unmatched-payments");
    assert_eq!(unmatched["data"], json!([]));
    let listed = running.api_request("GET", "/v1/deposits", &Value::Null).expect(200).json();
    assert_eq!(listed["data"][0]["grossEur"], "200.00", "{listed}");
}

/// Makes the rate sources respond once the first payments wait for rates. Asserts that no payment was booked before.
#[track_caller]
fn serve_rates_once_waiting(shop: &EtherShop, log: &Path, exchanges: &Exchanges) {
    let waits = || {
        let logged = std::fs::read_to_string(log).unwrap_or_default();
        logged.contains("waiting for the first rates: chain=ethereum")
    };
    assert!(polling::wait_until(waits));
    let seen = "select count(*) from observations";
    let seen = shop.served.open_file().query_row(seen, [], |row| row.get(0));
    assert_eq!(seen, Ok(0), "no payment is booked before the first rates");
    for source in ["binance", "coingecko"] {
        exchanges.set_reply(source, SourceReply::Ether(2_000));
    }
}
