//! A local Solana node (surfpool) with the standard programs of Solana, a payer and tokens, hosted by
//! `surfpool/host.js`.
//!
//! A block is made only for a transaction. Unlike other nodes, surfpool divides block times by 1 000 and ignores the
//! requested commitment. `host.js` corrects two more faults. With `minContextSlot`, surfpool returns a shortened
//! history. After a block with transactions, surfpool names a wrong parent of the next block.

use super::process::Process;
use super::received::ReceivedAmounts;
use super::{agent, send, tools};
use coffer::domain::address::can_sign;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Ids of the listed assets: SOL, USDC and USDT.
pub const SOL: &str = "SOL";
pub const USDC: &str = "USDC-SPL";
pub const USDT: &str = "USDT-SPL";
/// Number of newer slots after which a slot is final.
pub const SLOTS_UNTIL_FINAL: u32 = 31;
/// npm package of surfpool.
const PACKAGE: &str = "@solana/surfpool-linux-x64-gnu";

/// A running node and its control port.
pub struct Surfpool {
    pub url: String,
    pub payer: String,
    control: String,
    mints: Value,
    _process: Process,
}

impl Surfpool {
    /// Starts a node. Returns `None` if surfpool is not installed.
    #[track_caller]
    pub fn start(untested: &str) -> Option<Surfpool> {
        let modules = std::env::var_os("COFFER_NODE_MODULES").unwrap_or_default();
        let modules = std::path::PathBuf::from(modules);
        tools::tool_output("node", &["--version"], untested)?;
        if !modules.join(PACKAGE).is_dir() {
            tools::report_missing(PACKAGE, untested);
            return None;
        }
        // Lock that is held while a node starts. Two nodes that start at the same time could choose the same port.
        static START_LOCK: Mutex<()> = Mutex::new(());
        let _starting = START_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let host = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/surfpool/host.js");
        let process = Process::start(Command::new("node").arg(host).arg(modules));
        let told: Value = serde_json::from_str(&process.read_line()).unwrap();
        let text = |name: &str| told[name].as_str().unwrap().to_owned();
        Some(Surfpool {
            url: text("url"),
            payer: text("payer"),
            control: text("control"),
            mints: told["mints"].clone(),
            _process: process,
        })
    }

    #[track_caller]
    fn send_control(&self, act: &str, mut with: Value) -> Value {
        with["act"] = act.into();
        let answer = send(&agent(), "POST", &self.control, &[], &with.to_string());
        answer.expect(200).json()["done"].take()
    }

    /// Returns the mint address of a token. `token` is a listed asset, `other` or `token2022`.
    pub fn mint_address(&self, token: &str) -> &str {
        self.mints[token].as_str().unwrap()
    }

    /// Sends a transaction that performs these steps. The sender is the payer, or the pool owner with index `from`.
    /// Returns the signature of the transaction.
    #[track_caller]
    pub fn send(&self, from: Option<u32>, steps: &Value) -> String {
        let sent = self.send_control("send", json!({ "steps": steps, "from": from }));
        sent.as_str().unwrap().to_owned()
    }

    /// Pays an amount of a listed asset, in base units. Creates the token account if it is missing.
    #[track_caller]
    pub fn pay(&self, asset: &str, to: &str, units: u64) -> String {
        self.send(None, &payment_steps(asset, to, units))
    }

    /// Waits until this many slots have passed.
    #[track_caller]
    pub fn wait_for_slots(&self, slots: u32) {
        self.send_control("mine", json!({ "slots": slots }));
    }

    /// Returns the newest confirmed slot.
    #[track_caller]
    pub fn newest_slot(&self) -> u32 {
        u32::try_from(self.send_control("slot", json!({})).as_u64().unwrap()).unwrap()
    }

    /// Returns `count` addresses of pool owners, from index `from`.
    #[track_caller]
    pub fn pool_addresses(&self, from: u32, count: u32) -> Vec<String> {
        let pool = self.send_control("pool", json!({ "from": from, "count": count }));
        serde_json::from_value(pool).unwrap()
    }

    /// Returns the address of an owner's token account.
    #[track_caller]
    pub fn token_account(&self, token: &str, owner: &str) -> String {
        let account = self.send_control("account", json!({ "token": token, "owner": owner }));
        account.as_str().unwrap().to_owned()
    }

    /// Returns the payments to these addresses. `host.js` parses the answers of the node independently of Coffer.
    #[track_caller]
    pub fn received_amounts(&self, addresses: &BTreeSet<String>) -> ReceivedAmounts {
        let came = self.send_control("came", json!({ "addresses": addresses }));
        let each = came.as_array().unwrap().iter().map(|one| {
            let text = |name: &str| one[name].as_str().unwrap().to_owned();
            let position = u32::try_from(one["position"].as_u64().unwrap()).unwrap();
            let value = (text("asset"), text("amount").parse().unwrap());
            ((text("signature"), position), value)
        });
        each.collect()
    }
}

/// Returns a valid address whose private key nobody knows. Each number has a different address.
pub fn address_without_key(number: u32) -> String {
    let mut bytes: [u8; 32] = Sha256::digest(number.to_be_bytes()).into();
    loop {
        let address = bs58::encode(bytes).into_string();
        if can_sign(&address) {
            return address;
        }
        bytes = Sha256::digest(bytes).into();
    }
}

/// Returns the steps from which the signer script builds a payment of this amount.
pub fn payment_steps(asset: &str, to: &str, units: u64) -> Value {
    if asset == SOL {
        json!([["sol", to, units]])
    } else {
        json!([["make", asset, to], ["token", asset, to, units]])
    }
}
