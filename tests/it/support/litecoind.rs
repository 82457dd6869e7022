//! A real litecoind in regtest, with a wallet, which a test mines and pays with.
//!
//! What does not live here: starting it (`regtest`).

use super::regtest::Regtest;
use coffer::domain::address::script;
use coffer::domain::chain::Chain;
use serde_json::json;
use std::ops::Deref;

/// A running node.
pub struct Litecoind(Regtest);

impl Deref for Litecoind {
    type Target = Regtest;

    fn deref(&self) -> &Regtest {
        &self.0
    }
}

impl Litecoind {
    /// Starts a node with these options besides; nothing where the machine has none. MWEB never begins, after which no block
    /// without a peg-in could be mined from height 432 on.
    #[track_caller]
    pub fn start(options: &[&str], untested: &str) -> Option<Litecoind> {
        let never = "-vbparams=mweb:9999999990:9999999999";
        let node = Regtest::litecoind(&[&[never], options].concat(), untested)?;
        node.call("createwallet", json!(["test"]));
        Some(Litecoind(node))
    }

    /// A new address of its wallet: `legacy`, `p2sh-segwit` or `bech32`.
    #[track_caller]
    pub fn address(&self, kind: &str) -> String {
        self.text("getnewaddress", json!(["", kind]))
    }

    /// Its own text of an address of the chain that it is taken for: that of the same script.
    #[track_caller]
    pub fn own(&self, chain: &str, address: &str) -> String {
        if chain == "litecoin" {
            return address.to_owned();
        }
        let script = script(chain.parse::<Chain>().unwrap(), address).unwrap();
        let hex: String = script.iter().map(|byte| format!("{byte:02x}")).collect();
        let read = self.call("decodescript", json!([hex]));
        read["addresses"][0].as_str().unwrap().to_owned()
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

    /// Gives its wallet a hundred and sixty coinbases that can be spent, and none that a reorganisation makes unripe again.
    #[track_caller]
    pub fn fund(&self) {
        self.mine(160);
        self.call("generatetodescriptor", json!([101, "raw(51)"]));
    }

    /// Pays an address; the transaction, which may be replaced.
    #[track_caller]
    pub fn pay(&self, address: &str, amount: &str) -> String {
        let replaceable = json!([address, amount, "", "", false, true]);
        self.text("sendtoaddress", replaceable)
    }
}
