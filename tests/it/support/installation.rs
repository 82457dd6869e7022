//! A production installation: the real binary, a file with an operator and an active account, and helper programs.

use super::database::open_database;
use super::scratch::Scratch;
use super::sessions::sign_in;
use super::{Response, agent, body_text, polling, send};
use crate::support::audit_log::record_direct_writes;
use crate::support::command::{coffer_output_with_input, run_coffer, run_coffer_json};
use crate::support::process::Process;
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Token of the reseller.
pub const TOKEN: &str = "rt_ForATestOnly0000000000000000000Rco1f";
/// Fixed rates of 100 EUR for every coin of a main network.
pub const RATES_OF_100: &str = r#"{"BTC": {"EUR": "100"}, "LTC": {"EUR": "100"}, "DOGE": {"EUR": "100"}, "ETH": {"EUR": "100"},
    "USDC": {"EUR": "100"}, "USDT": {"EUR": "100"}, "TRX": {"EUR": "100"}, "SOL": {"EUR": "100"}}"#;
/// Sources of rates that never respond.
pub const NO_RATES: &str = "kraken=http://127.0.0.1:1,coinbase=http://127.0.0.1:1";
/// Email of the operator.
pub const EMAIL: &str = "operator@shop.test";
const PASSWORD: &str = "operator's password";
/// Payee for tests that run on any chain: asset, chain and address.
pub const SOLANA: [&str; 3] = ["SOL", "solana", "So11111111111111111111111111111111111111112"];

/// Payee on a chain that can have a node: asset, chain and address.
pub const ETHEREUM: [&str; 3] = ["ETH", "ethereum", "0x1111111111111111111111111111111111111111"];

/// A database set up for production, in a folder of its own.
pub struct Installation {
    scratch: Scratch,
    pub file: PathBuf,
    /// Id of the account.
    pub account: String,
    /// Live secret key of the account.
    pub key: String,
}

/// A running server and the operator's session.
pub struct RunningServer {
    pub process: Process,
    pub url: String,
    /// Live secret key of the account.
    key: String,
    cookie: String,
}

impl Installation {
    /// Sets up a database with the command line.
    #[track_caller]
    pub fn new() -> Installation {
        let scratch = Scratch::new();
        let file = scratch.path("shop.db");
        let account = run_coffer_json(&file, &["account", "create", "Shop"]);
        let account = account["id"].as_str().unwrap().to_owned();
        run_coffer(&file, &["account", "approve", &account]);
        run_coffer(&file, &["account", "servers", &account, "10"]);
        let key = run_coffer_json(&file, &["key", "create", &account, "--mode", "live"]);
        let user = ["user", "create", EMAIL, "--role", "operator"];
        coffer_output_with_input(&file, &user, PASSWORD).json_lines();
        let served = Installation {
            file: file.clone(),
            account,
            key: key["key"].as_str().unwrap().to_owned(),
            scratch,
        };
        std::fs::write(served.path("rates.json"), RATES_OF_100).unwrap();
        let hash = coffer::domain::apikey::hash_key(TOKEN);
        served
            .open_file()
            .execute(
                "insert into reseller_tokens (id, account, hash, last4, created_at) values ('t', 1, ?1, 'only', 0)",
                [&hash[..]],
            )
            .unwrap();
        served
    }

    /// Sets up a database, and starts a server on it with these settings.
    #[track_caller]
    pub fn start_new(settings: &[&str]) -> (Installation, RunningServer) {
        let served = Installation::new();
        let running = served.start(settings);
        (served, running)
    }

    /// Opens a separate connection to the database.
    pub fn open_file(&self) -> Connection {
        open_database(&self.file)
    }

    /// Returns a path in the folder of the database.
    pub fn path(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }

    /// Writes an executable shell script. Returns its path, for use in a setting.
    #[track_caller]
    pub fn write_program(&self, name: &str, script: &str) -> String {
        let path = self.scratch.path(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Starts the server with these settings.
    #[track_caller]
    pub fn start(&self, settings: &[&str]) -> RunningServer {
        self.start_server("off", Stdio::inherit(), settings)
    }

    /// Starts the server with this log filter and writes the log to a file.
    #[track_caller]
    pub fn start_with_log(&self, filter: &str, to: &Path) -> RunningServer {
        self.start_with_log_and_settings(filter, to, &[])
    }

    /// Starts the server with this log filter and these settings. Writes the log to a file.
    #[track_caller]
    pub fn start_with_log_and_settings(
        &self,
        filter: &str,
        to: &Path,
        settings: &[&str],
    ) -> RunningServer {
        let file = std::fs::File::create(to).unwrap();
        self.start_server(filter, file.into(), settings)
    }

    /// Restarts the server with these settings and keeps the operator's session.
    #[track_caller]
    pub fn restart(&self, before: &RunningServer, settings: &[&str]) -> RunningServer {
        let (process, url) = self.start_process("off", Stdio::inherit(), settings);
        let cookie = before.cookie.clone();
        RunningServer { process, url, key: self.key.clone(), cookie }
    }

    #[track_caller]
    fn start_process(&self, log: &str, errors: Stdio, settings: &[&str]) -> (Process, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", log]);
        // The tests fetch no rates from the internet.
        command.env("COFFER_RATES", format!("fixed:{}", self.path("rates.json").display()));
        command.args(["--exit-with-parent", "--file"]).arg(&self.file);
        let process = Process::start_with_stderr(command.args(settings), errors);
        let url = process.wait_for_url();
        (process, url)
    }

    #[track_caller]
    fn start_server(&self, log: &str, errors: Stdio, settings: &[&str]) -> RunningServer {
        let (process, url) = self.start_process(log, errors, settings);
        let cookie = sign_in(&url, EMAIL, PASSWORD).expect(201).session_cookie();
        RunningServer { process, url, key: self.key.clone(), cookie }
    }

    /// Creates an approved payout of 20 EUR (0.199 SOL) and returns its id. An adjustment by the operator funds the
    /// balance.
    #[track_caller]
    pub fn create_approved_payout(&self, running: &RunningServer) -> String {
        self.create_approved_payout_to(running, SOLANA)
    }

    /// Creates an approved payout of 0.199 coins to this payee, and returns its id. An adjustment by the operator
    /// funds the balance.
    #[track_caller]
    pub fn create_approved_payout_to(&self, running: &RunningServer, payee: [&str; 3]) -> String {
        let id = self.request_payout_to(running, payee);
        self.wait_for_rates();
        let path = format!("/dashboard/api/payouts/{id}");
        running.operator_request("POST", &path, &approval_body()).expect(200);
        id
    }

    /// Requests a payout of 0.199 coins to this payee, without approving it. A test can approve it with
    /// [`approval_body`].
    #[track_caller]
    pub fn request_payout_to(&self, running: &RunningServer, payee: [&str; 3]) -> String {
        let path = format!("/dashboard/api/accounts/{}/adjustments", self.account);
        let body = json!({ "currency": "EUR", "amount": "500.00", "memo": "for a test" });
        running.operator_request("POST", &path, &body).expect(201);
        let [asset, chain, to] = payee;
        let address =
            "insert or replace into payout_addresses (account, chain, address, changed_at)
            values (1, ?1, ?2, 0)";
        let file = self.open_file();
        file.execute(address, [chain, to]).unwrap();
        file.execute("update accounts set payout_asset = ?1", [asset]).unwrap();
        record_direct_writes(&self.file);
        let body = json!({ "amount": "20.00" });
        running.api_request("POST", "/v1/payouts", &body).expect(201).id()
    }

    /// Waits until the server has read its fixed rates.
    #[track_caller]
    pub fn wait_for_rates(&self) {
        let known = "select '' || exists (select 1 from rate_figures)";
        self.wait_for_query_result(known, &["1"]);
    }

    /// Assigns an approved payout to the signer, whatever the settings were when the payout was approved.
    #[track_caller]
    pub fn assign_to_signer(&self, id: &str) {
        let given = "update transfers set sent_by = 'signer', signer_at = approved_at, signer_amount = amount, \
                has_accepted_terms = 0 where id = ?1";
        assert_eq!(self.open_file().execute(given, [id]).unwrap(), 1);
    }

    /// Repeats an SQL query until its result is one of these texts. Returns that text. No row is an empty text.
    #[track_caller]
    pub fn wait_for_query_result(&self, query: &str, ends: &[&str]) -> String {
        let conn = self.open_file();
        let mut now = String::new();
        let ended = polling::wait_until(|| {
            let said: Option<Option<String>> =
                conn.query_row(query, [], |row| row.get(0)).optional().unwrap();
            now = said.flatten().unwrap_or_default();
            ends.contains(&now.as_str())
        });
        assert!(ended, "{query} never became one of {ends:?}: {now}");
        now
    }
}

impl RunningServer {
    /// Stops the server normally and returns its log.
    #[track_caller]
    pub fn stop_and_read_log(mut self, log: &Path) -> String {
        // The server must stop normally: a killed process would lose log lines that are not written yet.
        assert!(self.process.close_input_and_wait());
        std::fs::read_to_string(log).unwrap()
    }

    /// Returns the operator's session cookie.
    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    /// Sends a request to the merchant API with the live key.
    #[track_caller]
    pub fn api_request(&self, method: &str, path: &str, body: &Value) -> Response {
        self.send(method, path, "X-API-Key", &self.key, body)
    }

    /// Sends a request to the operator interface.
    #[track_caller]
    pub fn operator_request(&self, method: &str, path: &str, body: &Value) -> Response {
        self.send(method, path, "cookie", &self.cookie, body)
    }

    /// Reads from the operator interface, and returns the JSON body.
    #[track_caller]
    pub fn operator_get(&self, path: &str) -> Value {
        self.operator_request("GET", path, &Value::Null).expect(200).json()
    }

    /// Returns the first chain that the operator interface lists.
    #[track_caller]
    pub fn first_chain(&self) -> Value {
        self.operator_get("/dashboard/api/chains")["data"][0].clone()
    }

    /// Sends a request to the reseller interface.
    #[track_caller]
    pub fn reseller_request(&self, method: &str, path: &str, body: &Value) -> Response {
        self.send(method, path, "Authorization", &format!("Bearer {TOKEN}"), body)
    }
}

impl RunningServer {
    #[track_caller]
    fn send(&self, method: &str, path: &str, name: &str, value: &str, body: &Value) -> Response {
        let url = format!("{}{path}", self.url);
        send(&agent(), method, &url, &[(name, value)], &body_text(body))
    }
}

/// Returns the body that approves a payout.
pub fn approval_body() -> Value {
    json!({ "action": "approve", "rate": "100", "acceptRate": true, "networkFee": "0.001" })
}

/// Returns settings with a signer for ethereum and a node that does not respond.
pub fn signer_settings(program: &str) -> [&str; 4] {
    ["--signer", program, "--node", "ethereum=http://127.0.0.1:1"]
}

/// Returns how often a program was started. The program writes one line into the file `noted` at each start.
pub fn program_start_count(noted: &Path) -> usize {
    std::fs::read_to_string(noted).map_or(0, |text| text.lines().count())
}
