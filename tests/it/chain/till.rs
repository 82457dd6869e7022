//! A shop on test networks, with a receiver of its webhooks. Each test starts the nodes itself.
//!
//! Invariant: rates are fixed, and wallets have public keys only.

use crate::operator::wallets::{EVM_XPUB, run_wallet_command};
use crate::support::command::{CommandOutput, coffer_output_with_input};
use crate::support::installation::{Installation, RunningServer};
use crate::support::object_ids;
use crate::support::receiver::{ReceivedRequest, Receiver, Reply};
use crate::support::surfpool::{Surfpool, USDC, USDT};
use crate::support::{agent, send};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;

/// Extended public key of an account in regtest.
pub const TPUB: &str = "tpubDC8msFGeGuwnKG9Upg7DM2b4DaRqg3CUZa5g8v2SRQ6K4NSkxUgd7HsL2XVWbVm39yBA4LAxysQAm397zwQSQoQgewGiYZqrA9DsP4zbQ1M";

const RATES: &str = r#"{"BTC": {"EUR": "50000", "USD": "55000"}, "LTC": {"EUR": "80", "USD": "90"},
    "DOGE": {"EUR": "4", "USD": "5"}, "ETH": {"EUR": "2000", "USD": "2200"}, "USDC": {"EUR": "1", "USD": "1"},
    "USDT": {"EUR": "1", "USD": "1"}, "TRX": {"EUR": "0.1", "USD": "0.11"}, "SOL": {"EUR": "100", "USD": "110"}}"#;

/// A shop on test networks, with a receiver of webhooks.
pub struct TestnetShop {
    pub served: Installation,
    settings: Vec<String>,
    pub receiver: Receiver,
}

/// Returns the address to which an invoice is paid.
#[track_caller]
pub fn deposit_address(invoice: &Value) -> String {
    invoice["depositAddress"].as_str().unwrap().to_owned()
}

impl TestnetShop {
    /// Opens a shop with these additional settings.
    pub fn new(settings: &[&str]) -> TestnetShop {
        let served = Installation::new();
        let rates = served.path("rates.json");
        std::fs::write(&rates, RATES).unwrap();
        let rates = format!("fixed:{}", rates.display());
        let common = ["--rates", &rates, "--test-networks", "--webhook-allow", "127.0.0.0/8"];
        let settings = settings.iter().chain(&common);
        TestnetShop {
            settings: settings.map(|text| (*text).to_owned()).collect(),
            receiver: Receiver::start_with_reply(Reply::Status(200)),
            served,
        }
    }

    /// Sets the fixed rates, before the shop starts.
    pub fn set_rates(&self, rates: &str) {
        std::fs::write(self.served.path("rates.json"), rates).unwrap();
    }

    /// Changes the fixed rates, and waits until the shop has read this rate of a coin in EUR.
    #[track_caller]
    pub fn change_rates(&self, rates: &str, coin: &str, euros: &str) {
        self.set_rates(rates);
        let rate =
            format!("select rate from rate_figures where coin = '{coin}' and currency = 'EUR'");
        self.served.wait_for_query_result(&rate, &[euros]);
    }

    /// Opens a shop that accepts the coin of a UTXO chain through the node at this URL. Its wallet has the key
    /// [`TPUB`].
    #[track_caller]
    pub fn with_utxo_chain(chain: &str, url: &str) -> TestnetShop {
        let till = TestnetShop::new(&["--node", &format!("{chain}={url}")]);
        till.add_wallet(chain, TPUB, &[]).json_lines();
        till
    }

    /// Opens a shop that accepts the coins of an account-based chain, and the token with this contract, through the
    /// node at this URL.
    #[track_caller]
    pub fn with_account_chain(chain: &str, url: &str, asset: &str, contract: &str) -> TestnetShop {
        let (url, contract) = (format!("{chain}={url}"), format!("{asset}={contract}"));
        let till = TestnetShop::new(&["--node", &url, "--token", &contract]);
        let family = if chain == "tron" { chain } else { "evm" };
        run_wallet_command(&till.served.file, &["add", family, "--yes"], EVM_XPUB).json_lines();
        till
    }

    /// Opens a shop that accepts the coins of a local Solana chain through the node at this URL. Its pool has forty
    /// addresses.
    #[track_caller]
    pub fn with_solana(node: &Surfpool, url: &str) -> TestnetShop {
        let token = |asset: &str| format!("{asset}={}", node.mint_address(asset));
        let (url, usdc, usdt) = (format!("solana={url}"), token(USDC), token(USDT));
        let till = TestnetShop::new(&["--node", &url, "--token", &usdc, "--token", &usdt]);
        let pool = node.pool_addresses(0, 40).join("\n");
        coffer_output_with_input(&till.served.file, &["pool", "import", "solana", "-"], &pool)
            .json_lines();
        till
    }

    /// Adds a regtest wallet. The shop may already have this wallet. Returns the output of the command.
    #[track_caller]
    pub fn add_wallet(&self, chain: &str, key: &str, besides: &[&str]) -> CommandOutput {
        let script = if chain == "dogecoin" { "pkh" } else { "wpkh" };
        let script = ["--script", script, "--network", "regtest"];
        let add = [&["add", chain, "--yes"][..], &script, besides].concat();
        run_wallet_command(&self.served.file, &add, key)
    }

    /// Adds settings for the next start.
    pub fn add_settings(&mut self, more: Vec<String>) {
        self.settings.extend(more);
    }

    /// Replaces the node for the next start.
    #[track_caller]
    pub fn replace_node(&mut self, node: &str) {
        let at = self.settings.iter().position(|setting| setting == "--node").unwrap();
        self.settings[at + 1] = node.to_owned();
    }

    pub fn settings(&self) -> Vec<&str> {
        self.settings.iter().map(String::as_str).collect()
    }

    #[track_caller]
    pub fn start(&self) -> RunningServer {
        self.served.start(&self.settings())
    }

    /// Starts the server with debug logs.
    #[track_caller]
    pub fn start_with_debug_log(&self) -> RunningServer {
        let settings = self.settings();
        self.served.start_with_log_and_settings("trace", &self.log_path(), &settings)
    }

    pub fn log_path(&self) -> PathBuf {
        self.served.path("log")
    }

    /// Waits until the server follows the chain and has a rate for the coin.
    #[track_caller]
    pub fn wait_for_rate(&self, chain: &str, symbol: &str) {
        let known = format!(
            "select exists (select 1 from chain_cursors where chain = '{chain}') || \
                exists (select 1 from rate_figures where coin = '{symbol}')"
        );
        self.served.wait_for_query_result(&known, &["11"]);
    }

    /// Creates an invoice of 20 EUR in this coin.
    #[track_caller]
    pub fn create_invoice(&self, running: &RunningServer, asset: &str) -> Value {
        // An account gets only a few imported addresses each minute, so this SQL moves the earlier assignments into
        // the past.
        let minute = "update pool_addresses set assigned_at = 0 where assigned_at is not null";
        self.served.open_file().execute_batch(minute).unwrap();
        let body = json!({
            "amount": "20.00", "currency": "EUR", "asset": asset, "webhookUrl": self.receiver.url(),
        });
        let made = self.call_api(running, "POST", "/v1/invoices", &body.to_string());
        assert_eq!(made["warnings"], Value::Null, "{made}");
        made
    }

    /// Runs a server until it has a rate for `symbol`, and returns an invoice of 20 EUR in this coin.
    #[track_caller]
    pub fn create_invoice_and_kill(&self, chain: &str, symbol: &str, asset: &str) -> Value {
        let mut running = self.start();
        self.wait_for_rate(chain, symbol);
        let invoice = self.create_invoice(&running, asset);
        running.process.kill();
        invoice
    }

    /// Runs a server until an event of an invoice is delivered.
    #[track_caller]
    pub fn run_until_event(&self, kind: &str, invoice: &Value) {
        let running = self.start();
        self.wait_for_event(kind, invoice);
        drop(running);
    }

    #[track_caller]
    pub fn call_api(&self, running: &RunningServer, method: &str, path: &str, body: &str) -> Value {
        let url = format!("{}{path}", running.url);
        let answer = send(&agent(), method, &url, &[("X-API-Key", self.served.key.as_str())], body);
        assert!(answer.status < 300, "{path}: {}", answer.text);
        answer.json()
    }

    /// Waits for an event of an invoice.
    #[track_caller]
    pub fn wait_for_event(&self, kind: &str, invoice: &Value) -> ReceivedRequest {
        let is_it = |message: &&ReceivedRequest| {
            let told = message.json();
            told["type"] == kind && told["data"]["object"]["id"] == invoice["id"]
        };
        (1..)
            .find_map(|count| self.receiver.wait_for_requests(count).iter().find(is_it).cloned())
            .unwrap()
    }

    /// Runs a command on the shop's file and returns its output.
    #[track_caller]
    pub fn run_coffer(&self, args: &[&str]) -> String {
        self.run_coffer_with_env(args, &[])
    }

    /// Like [`TestnetShop::run_coffer`], with these environment variables.
    #[track_caller]
    pub fn run_coffer_with_env(&self, args: &[&str], variables: &[(&str, &str)]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
        let output = command
            .args(args)
            .envs(variables.iter().copied())
            .arg("--file")
            .arg(&self.served.file)
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    }

    #[track_caller]
    pub fn offered_assets(&self, running: &RunningServer) -> Vec<String> {
        object_ids(&self.call_api(running, "GET", "/v1/currencies", ""))
    }
}
