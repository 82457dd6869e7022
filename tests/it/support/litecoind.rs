//! A real litecoind in regtest, with a wallet, which a test mines and pays with.
//!
//! What always holds: it is gone, with its folder, when its handle is dropped. Where the machine has none, the test is told
//! so and says so, unless `COFFER_NEED_TOOLS` is set, as CI does: then it fails.

use super::process::Process;
use super::scratch::Scratch;
use super::{agent, tools};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::process::{Command, Stdio};

/// A running node.
pub struct Litecoind {
    process: Option<Process>,
    scratch: Scratch,
    options: Vec<String>,
    port: u16,
    agent: ureq::Agent,
}

impl Litecoind {
    /// Starts a node with these options besides; nothing where the machine has none.
    #[track_caller]
    pub fn start(options: &[&str], untested: &str) -> Option<Litecoind> {
        tools::says("litecoind", &["-version"], untested)?;
        let scratch = Scratch::new();
        std::fs::create_dir(scratch.path("data")).unwrap();
        // Nobody else takes it meanwhile: the system gives each free port in turn.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let mut node = Litecoind {
            process: None,
            scratch,
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            port,
            agent: agent(),
        };
        node.begin();
        node.call("createwallet", json!(["test"]));
        Some(node)
    }

    /// Starts it, on the folder as it stands.
    #[track_caller]
    pub fn begin(&mut self) {
        let mut command = Command::new("litecoind");
        command
            .arg(format!("-datadir={}", self.scratch.path("data").display()))
            .arg(format!("-rpcport={}", self.port))
            .args([
                "-regtest",
                "-server",
                "-listen=0",
                "-dnsseed=0",
                "-printtoconsole=1",
            ])
            .args(["-rpcbind=127.0.0.1", "-rpcallowip=127.0.0.1"])
            .args([
                "-rpcuser=coffer",
                "-rpcpassword=regtest",
                "-fallbackfee=0.0001",
                // Litecoin's nodes let nothing be replaced by default.
                "-mempoolreplacement=1",
            ])
            .args(&self.options);
        let process = Process::start_with(&mut command, Stdio::null());
        while !process.line().contains("Done loading") {}
        self.process = Some(process);
    }

    /// Ends it; its folder stays.
    pub fn end(&mut self) {
        self.call("stop", json!([]));
        if let Some(mut process) = self.process.take() {
            process.close();
        }
    }

    /// Its url, with its login.
    pub fn url(&self) -> String {
        format!("http://coffer:regtest@127.0.0.1:{}", self.port)
    }

    /// What it answers: a result, or an error.
    #[track_caller]
    pub fn try_call(&self, method: &str, params: Value) -> Result<Value, Value> {
        let body = json!({ "id": 1, "method": method, "params": params });
        let url = format!("http://127.0.0.1:{}/", self.port);
        let request = self.agent.post(&url);
        // coffer:regtest
        let request = request.header("authorization", "Basic Y29mZmVyOnJlZ3Rlc3Q=");
        let mut response = request.send(body.to_string()).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        let mut answer: Value = serde_json::from_str(&text).unwrap();
        match answer["error"].take() {
            Value::Null => Ok(answer["result"].take()),
            error => Err(error),
        }
    }

    /// The result of a call.
    #[track_caller]
    pub fn call(&self, method: &str, params: Value) -> Value {
        let answer = self.try_call(method, params);
        answer.unwrap_or_else(|error| unreachable!("{method}: {error}"))
    }

    /// A result that is a text.
    #[track_caller]
    pub fn text(&self, method: &str, params: Value) -> String {
        self.call(method, params).as_str().unwrap().to_owned()
    }

    /// A new address of its wallet: `legacy`, `p2sh-segwit` or `bech32`.
    #[track_caller]
    pub fn address(&self, kind: &str) -> String {
        self.text("getnewaddress", json!(["", kind]))
    }

    /// Mines blocks that pay its wallet; their hashes.
    #[track_caller]
    pub fn mine(&self, blocks: u32) -> Vec<String> {
        let address = self.address("bech32");
        let mined = self.call("generatetoaddress", json!([blocks, address]));
        let mined = mined.as_array().unwrap().iter();
        mined
            .map(|hash| hash.as_str().unwrap().to_owned())
            .collect()
    }

    /// Pays an address; the transaction, which may be replaced.
    #[track_caller]
    pub fn pay(&self, address: &str, amount: &str) -> String {
        let replaceable = json!([address, amount, "", "", false, true]);
        self.text("sendtoaddress", replaceable)
    }
}
