//! A local Ethereum node (anvil) on a private chain.

use super::process::Process;
use super::tron::to_hex;
use super::{agent, polling, send, tools};
use serde_json::{Value, json};
use sha3::{Digest, Keccak256};
use std::cell::Cell;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Address and private key of anvil's first default account, which holds 10 000 ETH.
pub const ADDRESS: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
pub const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
/// Bytecode of the contracts in `contracts.sol`.
const TOKEN: &str = include_str!("anvil/token.bin");
const SENDER: &str = include_str!("anvil/sender.bin");
/// Gas limit of every transaction. A fixed limit skips the gas estimate, so a transaction that reverts is still sent.
const GAS: &str = "0x200000";

/// A running anvil process, which is killed on drop.
pub struct Node {
    _process: Process,
    pub url: String,
    /// `true` if transactions wait until a block is mined explicitly.
    is_held: Cell<bool>,
}

impl Node {
    /// Starts a node with this chain id, where a block is final once eight newer blocks exist. Returns `None` if anvil
    /// is not installed.
    #[track_caller]
    pub fn start(chain_id: u64, untested: &str) -> Option<Node> {
        tools::tool_output("anvil", &["--version"], untested)?;
        let mut command = Command::new("anvil");
        command.args(["--host", "127.0.0.1", "--port", "0"]);
        command.args(["--slots-in-an-epoch", "4"]);
        let process = Process::start(command.args(["--chain-id", &chain_id.to_string()]));
        let address = std::iter::repeat_with(|| process.read_line())
            .find_map(|line| line.strip_prefix("Listening on ").map(str::to_owned));
        let node = Node {
            _process: process,
            url: format!("http://{}", address.unwrap()),
            is_held: Cell::new(false),
        };
        node.synchronize_clock();
        Some(node)
    }

    /// Sets the clock of the chain to the machine's clock. After a slow start, anvil's clock can be a second behind.
    #[track_caller]
    fn synchronize_clock(&self) {
        let seconds = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let mut set_times = std::iter::repeat_with(|| {
            let now = seconds();
            self.call_rpc("anvil_setTime", json!([now * 1000]));
            now
        });
        // Anvil compares the time with its own in full seconds, so both have to be read within one second.
        assert!(set_times.any(|now| now == seconds()));
    }

    /// Calls a JSON-RPC method and returns its result.
    #[track_caller]
    pub fn call_rpc(&self, method: &str, params: Value) -> Value {
        let answer = self.try_call_rpc(method, params);
        answer.unwrap_or_else(|error| unreachable!("{method}: {error}"))
    }

    /// Calls a JSON-RPC method and returns its result or its error.
    #[track_caller]
    pub fn try_call_rpc(&self, method: &str, params: Value) -> Result<Value, Value> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let headers = [("content-type", "application/json")];
        let answer = send(&agent(), "POST", &self.url, &headers, &body.to_string());
        let mut answer = answer.expect(200).json();
        match answer["error"].take() {
            Value::Null => Ok(answer["result"].take()),
            error => Err(error),
        }
    }

    /// Calls a JSON-RPC method that returns a hexadecimal number.
    #[track_caller]
    pub fn call_rpc_number(&self, method: &str, params: Value) -> u128 {
        let text = self.call_rpc(method, params);
        let digits = text.as_str().unwrap().trim_start_matches("0x");
        u128::from_str_radix(digits, 16).unwrap()
    }

    /// Waits for the receipt of a transaction.
    #[track_caller]
    pub fn wait_for_receipt(&self, txid: &Value) -> Value {
        let mut receipt = Value::Null;
        let is_there = polling::wait_until(|| {
            receipt = self.call_rpc("eth_getTransactionReceipt", json!([txid]));
            !receipt.is_null()
        });
        assert!(is_there, "{txid} was not mined");
        receipt
    }

    /// Waits for the receipt of a transaction and asserts that the transaction succeeded.
    #[track_caller]
    pub fn wait_for_success(&self, txid: &Value) -> Value {
        let receipt = self.wait_for_receipt(txid);
        assert_eq!(receipt["status"], "0x1", "{receipt}");
        receipt
    }

    /// Returns the number of transactions of the account that have been mined.
    #[track_caller]
    pub fn transaction_count(&self) -> u128 {
        self.call_rpc_number("eth_getTransactionCount", json!([ADDRESS, "latest"]))
    }

    /// Returns the height of the newest block.
    #[track_caller]
    pub fn height(&self) -> u32 {
        u32::try_from(self.call_rpc_number("eth_blockNumber", json!([]))).unwrap()
    }

    /// Mines this many blocks. The first one contains the pending transactions.
    #[track_caller]
    pub fn mine(&self, blocks: u32) {
        self.call_rpc("anvil_mine", json!([format!("{blocks:#x}")]));
    }

    /// Calls `sends`, then mines one block with all transactions that were sent during the call.
    #[track_caller]
    pub fn mine_in_one_block<T>(&self, sends: impl FnOnce() -> T) -> T {
        self.set_mining_paused(true);
        let sent = sends();
        self.mine(1);
        self.set_mining_paused(false);
        sent
    }

    /// Turns automatic mining off (`true`) or on (`false`).
    #[track_caller]
    pub fn set_mining_paused(&self, is_held: bool) {
        self.call_rpc("evm_setAutomine", json!([!is_held]));
        self.is_held.set(is_held);
    }

    /// Removes the newest blocks. Returns the id and the signed bytes of each transaction in these blocks.
    #[track_caller]
    pub fn reorg(&self, blocks: u32) -> Vec<(Value, Value)> {
        let height = self.height();
        let mut given_up = Vec::new();
        for height in height + 1 - blocks..=height {
            let number = json!([format!("{height:#x}"), false]);
            let block = self.call_rpc("eth_getBlockByNumber", number);
            for txid in block["transactions"].as_array().unwrap() {
                let raw = self.call_rpc("eth_getRawTransactionByHash", json!([txid]));
                given_up.push((txid.clone(), raw));
            }
        }
        self.call_rpc("anvil_reorg", json!([blocks, []]));
        given_up
    }

    /// Returns the balance of an address, in wei.
    #[track_caller]
    pub fn balance(&self, address: &str) -> u128 {
        self.call_rpc_number("eth_getBalance", json!([address, "latest"]))
    }

    /// Sends wei from the default account and returns the transaction id.
    #[track_caller]
    pub fn pay(&self, to: &str, wei: u128) -> Value {
        self.send_transaction(json!({ "to": to, "value": format!("{wei:#x}") }))
    }

    /// Calls a contract function from the default account and returns the transaction id. `wei` is the value sent
    /// with the call.
    #[track_caller]
    pub fn call_contract(
        &self,
        contract: &str,
        function: &str,
        words: &[String],
        wei: u128,
    ) -> Value {
        let data = calldata(function, words);
        self.send_transaction(json!({ "to": contract, "data": data, "value": format!("{wei:#x}") }))
    }

    /// Sends a transaction with these fields from the default account and returns its id.
    #[track_caller]
    pub fn send_transaction(&self, mut transaction: Value) -> Value {
        transaction["from"] = ADDRESS.into();
        transaction["gas"] = GAS.into();
        let txid = self.call_rpc("eth_sendTransaction", json!([transaction]));
        if !self.is_held.get() {
            self.wait_for_receipt(&txid);
        }
        txid
    }

    /// Deploys a token with six decimals and returns its contract address. The default account owns 1 000 tokens.
    #[track_caller]
    pub fn deploy_token(&self) -> String {
        self.deploy(TOKEN)
    }

    /// Installs the token contract at this address. The default account owns 1 000 of its tokens.
    #[track_caller]
    pub fn deploy_token_at(&self, address: &str) {
        let code = self.call_rpc("eth_getCode", json!([self.deploy_token(), "latest"]));
        self.call_rpc("anvil_setCode", json!([address, code]));
        // Storage slot of the account's balance. The mapping `balanceOf` is the second variable of the contract, so
        // its slot number is 1.
        let place = format!("{}{:064x}", address_word(ADDRESS), 1);
        let bytes = |at: usize| u8::from_str_radix(&place[at..at + 2], 16).unwrap();
        let place: Vec<u8> = (0..place.len()).step_by(2).map(bytes).collect();
        let place = format!("0x{}", to_hex(&Keccak256::digest(place)));
        let thousand = format!("0x{:064x}", 1_000_000_000);
        self.call_rpc("anvil_setStorageAt", json!([address, place, thousand]));
    }

    /// Deploys a contract that forwards all ether that it receives. Returns its address.
    #[track_caller]
    pub fn deploy_forwarder(&self) -> String {
        self.deploy(SENDER)
    }

    #[track_caller]
    fn deploy(&self, bytecode: &str) -> String {
        let txid = self.send_transaction(json!({ "data": format!("0x{}", bytecode.trim()) }));
        let receipt = self.wait_for_success(&txid);
        receipt["contractAddress"].as_str().unwrap().to_owned()
    }

    /// Sends a token from the default account and returns the transaction id.
    #[track_caller]
    pub fn pay_token(&self, token: &str, to: &str, units: u128) -> Value {
        let data = transfer_calldata(to, units);
        self.send_transaction(json!({ "to": token, "data": data }))
    }

    /// Replaces a pending transaction with one of the same nonce and higher fees. Returns the id of the new
    /// transaction.
    #[track_caller]
    pub fn replace_transaction(&self, txid: &str, mut transaction: Value) -> Value {
        let old = self.call_rpc("eth_getTransactionByHash", json!([txid]));
        transaction["nonce"] = old["nonce"].clone();
        transaction["maxFeePerGas"] = "0x2e90edd000".into();
        transaction["maxPriorityFeePerGas"] = "0x174876e800".into();
        self.send_transaction(transaction)
    }

    /// Returns the token balance of an address, in base units.
    #[track_caller]
    pub fn token_balance(&self, token: &str, address: &str) -> u128 {
        let data = calldata("balanceOf(address)", &[address_word(address)]);
        self.call_rpc_number("eth_call", json!([{ "to": token, "data": data }, "latest"]))
    }
}

/// Encodes a call of the token's `transfer` function.
pub fn transfer_calldata(to: &str, units: u128) -> String {
    let words = [address_word(to), format!("{units:064x}")];
    calldata("transfer(address,uint256)", &words)
}

/// Encodes an address as a 32-byte parameter of a contract function.
pub fn address_word(address: &str) -> String {
    let digits = address.trim_start_matches("0x").to_lowercase();
    format!("{digits:0>64}")
}

/// Encodes a contract call: the first four bytes of the hash of the function signature, then the parameters.
pub fn calldata(function: &str, words: &[String]) -> String {
    let hash = Keccak256::digest(function);
    format!("0x{}{}", to_hex(&hash[..4]), words.concat())
}
