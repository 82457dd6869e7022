//! A real litecoind in regtest with a wallet, for tests that mine and pay.

use super::regtest::Regtest;
use coffer::domain::address::output_script;
use coffer::domain::chain::Chain;
use serde_json::json;
use std::ops::Deref;

/// A running litecoind.
pub struct Litecoind(Regtest);

impl Deref for Litecoind {
    type Target = Regtest;

    fn deref(&self) -> &Regtest {
        &self.0
    }
}

impl Litecoind {
    /// Starts a node with these extra options. Returns `None` if litecoind is not installed. MWEB stays inactive,
    /// because with MWEB every block from height 432 needs a peg-in.
    #[track_caller]
    pub fn start(options: &[&str], untested: &str) -> Option<Litecoind> {
        let never = "-vbparams=mweb:9999999990:9999999999";
        Litecoind::start_with_mweb(&[&[never], options].concat(), untested)
    }

    /// Starts a node on which MWEB becomes active at height 432: that block needs a peg-in.
    #[track_caller]
    pub fn start_with_mweb(options: &[&str], untested: &str) -> Option<Litecoind> {
        let node = Regtest::start_litecoind(options, untested)?;
        node.call("createwallet", json!(["test"]));
        Some(Litecoind(node))
    }

    /// Returns a new wallet address of type `legacy`, `p2sh-segwit` or `bech32`.
    #[track_caller]
    pub fn new_address(&self, kind: &str) -> String {
        self.call_text("getnewaddress", json!(["", kind]))
    }

    /// Returns the litecoin address with the same script as `address`, which is an address of `chain`.
    #[track_caller]
    pub fn to_litecoin_address(&self, chain: &str, address: &str) -> String {
        if chain == "litecoin" {
            return address.to_owned();
        }
        let script = output_script(chain.parse::<Chain>().unwrap(), address).unwrap();
        let hex: String = script.iter().map(|byte| format!("{byte:02x}")).collect();
        let read = self.call("decodescript", json!([hex]));
        read["addresses"][0].as_str().unwrap().to_owned()
    }

    /// Mines blocks whose rewards go to the wallet. Returns their hashes.
    #[track_caller]
    pub fn mine(&self, blocks: u32) -> Vec<String> {
        let address = self.new_address("bech32");
        let mined = self.call("generatetoaddress", json!([blocks, address]));
        let mined = mined.as_array().unwrap().iter();
        mined.map(|hash| hash.as_str().unwrap().to_owned()).collect()
    }

    /// Mines blocks whose rewards nobody gets. That is cheaper, as each output makes the wallet slower.
    #[track_caller]
    pub fn mine_for_nobody(&self, blocks: u32) {
        self.call("generatetodescriptor", json!([blocks, "raw(51)"]));
    }

    /// Gives the wallet 160 spendable coinbase outputs. The outputs stay mature during every reorg of a test.
    #[track_caller]
    pub fn fund_wallet(&self) {
        self.mine(160);
        self.mine_for_nobody(101);
    }

    /// Pays an address with a replaceable transaction and returns its id.
    #[track_caller]
    pub fn pay(&self, address: &str, amount: &str) -> String {
        let replaceable = json!([address, amount, "", "", false, true]);
        self.call_text("sendtoaddress", replaceable)
    }
}
