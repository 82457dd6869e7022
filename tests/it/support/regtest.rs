//! A real litecoind or bitcoind in regtest, without a wallet.
//!
//! Invariant: dropping the handle kills the process and removes its folder. The module `tools` describes what happens
//! without the program.

use super::ports::free_port;
use super::process::Process;
use super::scratch::Scratch;
use super::{agent, tools};
use coffer::domain::asset::Chain;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::process::{Command, Stdio};

/// A regtest node and its folder.
pub struct Regtest {
    pub chain: Chain,
    program: OsString,
    options: Vec<String>,
    process: RefCell<Option<Process>>,
    scratch: Scratch,
    port: u16,
    agent: ureq::Agent,
    /// Mocked time of the node in Unix seconds. `None` means the machine's time.
    time: Cell<Option<i64>>,
}

impl Regtest {
    /// Starts a litecoind with these extra options. Returns `None` if litecoind is not installed.
    #[track_caller]
    pub fn start_litecoind(options: &[&str], untested: &str) -> Option<Regtest> {
        tools::tool_output("litecoind", &["-version"], untested)?;
        // Litecoin nodes reject replacements by default. A new wallet would make 1 000 keys, which takes a second.
        let ours = ["-fallbackfee=0.0001", "-mempoolreplacement=1", "-keypool=10"];
        let options = [&ours[..], options].concat();
        Some(Regtest::start(Chain::Litecoin, "litecoind".into(), &options))
    }

    /// Starts a bitcoind with these extra options. Returns `None` if bitcoind is not installed.
    #[track_caller]
    pub fn start_bitcoind(options: &[&str], untested: &str) -> Option<Regtest> {
        let program = tools::find_program("COFFER_BITCOIND", "bitcoind", untested)?;
        Some(Regtest::start(Chain::Bitcoin, program, options))
    }

    #[track_caller]
    fn start(chain: Chain, program: OsString, options: &[&str]) -> Regtest {
        let scratch = Scratch::new();
        std::fs::create_dir(scratch.path("data")).unwrap();
        let node = Regtest {
            chain,
            program,
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            process: RefCell::new(None),
            scratch,
            port: free_port(),
            agent: agent(),
            time: Cell::new(None),
        };
        node.start_process();
        node
    }

    /// Starts the process with the existing folder.
    #[track_caller]
    pub fn start_process(&self) {
        let mut command = Command::new(&self.program);
        command
            .arg(format!("-datadir={}", self.scratch.path("data").display()))
            .arg(format!("-rpcport={}", self.port))
            .args(["-regtest", "-server", "-listen=0", "-dnsseed=0", "-printtoconsole=1"])
            .args(["-rpcbind=127.0.0.1", "-rpcallowip=127.0.0.1"])
            .args(["-rpcuser=coffer", "-rpcpassword=regtest"])
            .args(&self.options);
        if let Some(time) = self.time.get() {
            command.arg(format!("-mocktime={time}"));
        }
        let process = Process::start_with_stderr(&mut command, Stdio::null());
        while !process.read_line().contains("Done loading") {}
        self.process.replace(Some(process));
    }

    /// Sets the time of the node, in Unix seconds. A stopped node uses the time at its next start.
    #[track_caller]
    pub fn set_time(&self, time: i64) {
        self.time.set(Some(time));
        if self.process.borrow().is_some() {
            self.call("setmocktime", json!([time]));
        }
    }

    /// Stops the process and keeps its folder.
    pub fn stop(&self) {
        self.call("stop", json!([]));
        if let Some(mut process) = self.process.take() {
            process.close_input_and_wait();
        }
    }

    /// Returns the RPC URL, including the login.
    pub fn url(&self) -> String {
        format!("http://coffer:regtest@127.0.0.1:{}", self.port)
    }

    /// Calls an RPC method and returns its result or its error.
    #[track_caller]
    pub fn try_call(&self, method: &str, params: Value) -> Result<Value, Value> {
        let (_, mut answer) =
            self.post_json(json!({ "id": 1, "method": method, "params": params }));
        match answer["error"].take() {
            Value::Null => Ok(answer["result"].take()),
            error => Err(error),
        }
    }

    /// Posts a JSON body and returns the HTTP status and the response body.
    #[track_caller]
    pub fn post_json(&self, body: Value) -> (u16, Value) {
        let url = format!("http://127.0.0.1:{}/", self.port);
        let request = self.agent.post(&url);
        // The header contains `coffer:regtest` in Base64.
        let request = request.header("authorization", "Basic Y29mZmVyOnJlZ3Rlc3Q=");
        let mut response = request.send(body.to_string()).unwrap();
        let text = response.body_mut().with_config().limit(1 << 28);
        let answer = serde_json::from_str(&text.read_to_string().unwrap()).unwrap();
        (response.status().as_u16(), answer)
    }

    /// Calls an RPC method and returns its result.
    #[track_caller]
    pub fn call(&self, method: &str, params: Value) -> Value {
        let answer = self.try_call(method, params);
        answer.unwrap_or_else(|error| unreachable!("{method}: {error}"))
    }

    /// Calls an RPC method whose result is a text.
    #[track_caller]
    pub fn call_text(&self, method: &str, params: Value) -> String {
        self.call(method, params).as_str().unwrap().to_owned()
    }

    /// Returns the script of an address in hexadecimal, as the node decodes it.
    #[track_caller]
    pub fn script_of_address(&self, address: &str) -> String {
        let read = self.call("validateaddress", json!([address]));
        assert_eq!(read["isvalid"], true, "{address}: {read}");
        read["scriptPubKey"].as_str().unwrap().to_owned()
    }
}
