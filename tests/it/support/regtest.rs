//! A real node in regtest, of the kind that bitcoin's are; it needs no wallet.
//!
//! What always holds: it is gone, with its folder, when its handle is dropped. Where the machine has none, the test is told
//! so and says so, unless `COFFER_NEED_TOOLS` is set, as CI does: then it fails. Only bitcoind may be missing there, too, as
//! no package has it: `.ci/bitcoind` builds it.

use super::process::Process;
use super::scratch::Scratch;
use super::{agent, tools};
use coffer::domain::asset::Chain;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::net::TcpListener;
use std::process::{Command, Stdio};

/// A running node.
pub struct Regtest {
    pub chain: Chain,
    program: OsString,
    options: Vec<String>,
    process: RefCell<Option<Process>>,
    scratch: Scratch,
    port: u16,
    agent: ureq::Agent,
    /// Time of the node in Unix seconds, once it is not that of the machine.
    time: Cell<Option<i64>>,
}

impl Regtest {
    /// Starts a litecoind with these options besides; nothing where the machine has none.
    #[track_caller]
    pub fn litecoind(options: &[&str], untested: &str) -> Option<Regtest> {
        tools::says("litecoind", &["-version"], untested)?;
        // Litecoin's nodes let nothing be replaced by default.
        let options = [
            &["-fallbackfee=0.0001", "-mempoolreplacement=1"][..],
            options,
        ]
        .concat();
        Some(Regtest::start(
            Chain::Litecoin,
            "litecoind".into(),
            &options,
        ))
    }

    /// Starts a bitcoind with these options besides; nothing where the machine has none.
    #[track_caller]
    pub fn bitcoind(options: &[&str], untested: &str) -> Option<Regtest> {
        let program = tools::named("COFFER_BITCOIND", "bitcoind", untested)?;
        Some(Regtest::start(Chain::Bitcoin, program, options))
    }

    #[track_caller]
    fn start(chain: Chain, program: OsString, options: &[&str]) -> Regtest {
        let scratch = Scratch::new();
        std::fs::create_dir(scratch.path("data")).unwrap();
        // Nobody else takes it meanwhile: the system gives each free port in turn.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let node = Regtest {
            chain,
            program,
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            process: RefCell::new(None),
            scratch,
            port,
            agent: agent(),
            time: Cell::new(None),
        };
        node.begin();
        node
    }

    /// Starts it, on the folder as it stands.
    #[track_caller]
    pub fn begin(&self) {
        let mut command = Command::new(&self.program);
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
            .args(["-rpcuser=coffer", "-rpcpassword=regtest"])
            .args(&self.options);
        if let Some(time) = self.time.get() {
            command.arg(format!("-mocktime={time}"));
        }
        let process = Process::start_with(&mut command, Stdio::null());
        while !process.line().contains("Done loading") {}
        self.process.replace(Some(process));
    }

    /// Sets the time of the node, in Unix seconds; one that is down takes it when it starts.
    #[track_caller]
    pub fn set_time(&self, time: i64) {
        self.time.set(Some(time));
        if self.process.borrow().is_some() {
            self.call("setmocktime", json!([time]));
        }
    }

    /// Ends it; its folder stays.
    pub fn end(&self) {
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
        let (_, mut answer) = self.answer(json!({ "id": 1, "method": method, "params": params }));
        match answer["error"].take() {
            Value::Null => Ok(answer["result"].take()),
            error => Err(error),
        }
    }

    /// What it answers a body: the status, and the body.
    #[track_caller]
    pub fn answer(&self, body: Value) -> (u16, Value) {
        let url = format!("http://127.0.0.1:{}/", self.port);
        let request = self.agent.post(&url);
        // coffer:regtest
        let request = request.header("authorization", "Basic Y29mZmVyOnJlZ3Rlc3Q=");
        let mut response = request.send(body.to_string()).unwrap();
        let text = response.body_mut().with_config().limit(1 << 28);
        let answer = serde_json::from_str(&text.read_to_string().unwrap()).unwrap();
        (response.status().as_u16(), answer)
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

    /// The script of an address, in hexadecimal, as the node itself reads the address.
    #[track_caller]
    pub fn script(&self, address: &str) -> String {
        let read = self.call("validateaddress", json!([address]));
        assert_eq!(read["isvalid"], true, "{address}: {read}");
        read["scriptPubKey"].as_str().unwrap().to_owned()
    }
}
