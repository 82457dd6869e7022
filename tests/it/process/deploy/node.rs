//! An Ethereum node of a test's own: anvil, on a chain of its own.

use crate::support::process::Process;
use crate::support::{agent, send, tools};
use serde_json::{Value, json};
use std::process::Command;

/// The chain id that anvil takes by itself.
pub const CHAIN_ID: u64 = 31337;
/// The first account of every anvil, which has 10 000 ETH, and its key, which everybody knows.
pub const ADDRESS: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
pub const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
/// What `token.sol` compiles to.
const TOKEN: &str = include_str!("token.hex");

/// It runs until it is dropped.
pub struct Node {
    _process: Process,
    pub url: String,
}

impl Node {
    /// Starts one; nothing where the machine has none.
    #[track_caller]
    pub fn start(untested: &str) -> Option<Node> {
        tools::says("anvil", &["--version"], untested)?;
        let mut command = Command::new("anvil");
        let process = Process::start(command.args(["--host", "127.0.0.1", "--port", "0"]));
        let address = std::iter::repeat_with(|| process.line())
            .find_map(|line| line.strip_prefix("Listening on ").map(str::to_owned));
        Some(Node {
            _process: process,
            url: format!("http://{}", address.unwrap()),
        })
    }

    /// The result of a question.
    #[track_caller]
    pub fn ask(&self, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let headers = [("content-type", "application/json")];
        let answer = send(&agent(), "POST", &self.url, &headers, &body.to_string());
        let answer = answer.expect(200).json();
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The result of a question whose answer is a number.
    #[track_caller]
    pub fn number(&self, method: &str, params: Value) -> u128 {
        let text = self.ask(method, params);
        let digits = text.as_str().unwrap().trim_start_matches("0x");
        u128::from_str_radix(digits, 16).unwrap()
    }

    /// Waits until a transaction is on the chain, which is soon after the node has taken it; its receipt, which says
    /// that it did what it should.
    #[track_caller]
    pub fn mined(&self, txid: &Value) -> Value {
        let mut asked =
            std::iter::repeat_with(|| self.ask("eth_getTransactionReceipt", json!([txid])));
        let receipt = asked
            .by_ref()
            .take(10_000)
            .find(|receipt| !receipt.is_null());
        let receipt = receipt.unwrap();
        assert_eq!(receipt["status"], "0x1", "{receipt}");
        receipt
    }

    /// How many transactions of the account are on the chain.
    #[track_caller]
    pub fn sent(&self) -> u128 {
        self.number("eth_getTransactionCount", json!([ADDRESS, "latest"]))
    }

    /// What an address has, in wei.
    #[track_caller]
    pub fn balance(&self, address: &str) -> u128 {
        self.number("eth_getBalance", json!([address, "latest"]))
    }

    /// Makes a token of six decimals, of which the account has a thousand; its contract.
    #[track_caller]
    pub fn token(&self) -> String {
        let creation = json!([{ "from": ADDRESS, "data": format!("0x{}", TOKEN.trim()) }]);
        let txid = self.ask("eth_sendTransaction", creation);
        self.mined(&txid)["contractAddress"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// What an address has of a token, in its base units.
    #[track_caller]
    pub fn token_balance(&self, token: &str, address: &str) -> u128 {
        let data = format!("0x70a08231{:0>64}", address.trim_start_matches("0x"));
        self.number("eth_call", json!([{ "to": token, "data": data }, "latest"]))
    }
}
