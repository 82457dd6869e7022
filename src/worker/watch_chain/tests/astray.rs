//! Tests of payments to unassigned indexes of a wallet, on a chain in memory. Such a payment stops the wallet.
//!
//! Invariant: each payment is in exactly one observation, whatever happens to the wallet.

use super::{XPUB, ZPUB};
use crate::chain::follow::WatchedAddresses;
use crate::chain::memory::{Memory, MemoryNode, Sent};
use crate::domain::asset::{Asset, Chain};
use crate::domain::money::coin::Units;
use crate::domain::observation::InputSource;
use crate::domain::time::Time;
use crate::domain::wallet::{ScriptType, Wallet, WalletHints, read};
use crate::service::Service;
use crate::service::operator::wallets;
use crate::service::operator::wallets::{Wanted, add, retire};
use crate::service::tests::{
    File, NOW, found_by_audit, noted, on_chain, seeded, tried, with_nodes, write,
};
use crate::worker::watch_chain::Watch;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, RwLock};

/// A chain and its follower.
struct Followed {
    memory: Arc<Mutex<Memory>>,
    node: MemoryNode,
    watch: Watch,
}

/// A file with a wallet, and the chains of the wallet's coins.
struct Till {
    file: File,
    service: Arc<Service>,
    addresses: Arc<RwLock<WatchedAddresses>>,
    chains: Vec<Followed>,
    pool: &'static str,
    key: &'static str,
    wallet: Wallet,
    now: Time,
}

impl Till {
    /// Creates a file with a wallet of this pool. `besides` has further fields of the wallet.
    fn new(pool: &'static str, key: &'static str, coins: &[&str], besides: Value) -> Till {
        let coins: Vec<_> = coins.iter().map(|id| Asset::find(id).unwrap()).collect();
        let file = seeded().1;
        let chains: Vec<Chain> = coins.iter().map(|asset| asset.chain).collect();
        let service = with_nodes(&file, &chains);
        let addresses = Arc::default();
        let followed = |asset: &&'static Asset| {
            let network = asset.chain.row().networks.0;
            let memory = Arc::new(Mutex::new(Memory::new(asset, network, NOW)));
            Followed {
                node: MemoryNode::new(&memory),
                memory,
                watch: watch(&service, asset.chain, &addresses),
            }
        };
        let chain = coins[0].chain;
        let mut till = Till {
            chains: coins.iter().map(followed).collect(),
            file,
            addresses,
            pool,
            key,
            wallet: wallet_of(chain, key, &besides),
            service,
            now: NOW,
        };
        till.add(&besides).unwrap();
        till.follow();
        till
    }

    /// Requests the addition of the wallet with these further fields. Returns the message if the request is refused.
    fn add(&self, besides: &Value) -> Result<Value, String> {
        let mut body = json!({ "chain": self.pool, "key": self.key });
        let more = besides.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(more);
        let wanted = Wanted::of(body.as_object().unwrap()).unwrap();
        let now = self.now;
        let added = tried(&self.service, move |_, tx| add(tx, "test", &wanted, now));
        let added = added.map_err(|refusal| refusal.to_string())?;
        Ok(serde_json::from_str(added.get()).unwrap())
    }

    /// Ends the process and starts it again.
    fn restart(&mut self) {
        let chains: Vec<Chain> = self.chains.iter().map(|of| of.watch.chain).collect();
        self.service = with_nodes(&self.file, &chains);
        self.addresses = Arc::default();
        for of in &mut self.chains {
            of.watch = watch(&self.service, of.watch.chain, &self.addresses);
            of.node = MemoryNode::new(&of.memory);
        }
    }

    /// Makes steps until all chains are read to their head.
    fn follow(&mut self) {
        for of in &mut self.chains {
            of.watch.load().unwrap();
            while !of.watch.look_ahead().unwrap() {}
            for _ in 0..12 {
                of.watch.step(&mut of.node, self.now).unwrap();
            }
        }
    }

    fn rescan(&mut self) {
        for of in &self.chains {
            let service = &self.service;
            service.order_rescan(self.now, of.watch.chain, 0).unwrap();
        }
        self.follow();
    }

    fn address(&self, index: u32) -> String {
        let branch = self.wallet.receiving().unwrap();
        branch.derive(index).unwrap().address
    }

    /// Pays the address with this index on chain number `at`. With `mines`, the payment is in a block.
    fn pays(&self, at: usize, index: u32, mines: bool) {
        let address = self.address(index);
        let mut memory = self.chains[at].memory.lock().unwrap();
        let txid = memory.id();
        let spends = if self.chains[at].watch.chain.has_outputs() {
            InputSource::Output(txid.replace('0', "f"), 0)
        } else {
            InputSource::Address(format!("0x{index:040x}"))
        };
        memory.send(Sent {
            txid,
            spends: vec![spends],
            pays: vec![(0, address, Units(1_000_000))],
            at: self.now,
            nonce: None,
            reverts: false,
        });
        if mines {
            memory.mine(self.now, |_| true);
        }
    }

    /// Returns the wallet as the operator's list shows it.
    fn listed(&self) -> Value {
        let listed = self.service.read(wallets::list).unwrap();
        serde_json::from_str(listed[0].get()).unwrap()
    }

    /// Returns the problem of each chain.
    fn problems(&self) -> Vec<Option<String>> {
        let chains = self.service.chains(self.now).unwrap();
        chains.into_iter().map(|of| of.problem).collect()
    }

    /// Returns the addresses of the observed payments on this chain, sorted.
    fn seen(&self, at: usize) -> Vec<String> {
        let observed = on_chain(&self.service, self.chains[at].watch.chain);
        let mut seen: Vec<_> = observed.into_iter().map(|of| of.seen.address).collect();
        seen.sort_unstable();
        seen
    }

    /// Asserts that exactly these indexes have payments.
    #[track_caller]
    fn has(&self, at: usize, indexes: &[u32]) {
        let mut wanted: Vec<_> = indexes.iter().map(|index| self.address(*index)).collect();
        wanted.sort_unstable();
        assert_eq!(self.seen(at), wanted);
        let findings = found_by_audit(&self.service);
        assert!(findings.is_empty(), "{findings:#?}");
    }

    /// Asserts that a payment to this index has stopped the wallet, and that the list and all chains report this.
    #[track_caller]
    fn is_stopped(&self, index: u32) {
        let listed = self.listed();
        assert_eq!(listed["handsOut"], false, "{listed}");
        assert_eq!(listed["stoppedIndex"], index);
        assert!(listed["stoppedAt"].is_string());
        let why =
            format!("something came to its index {index}, which this file has not handed out");
        assert!(
            listed["problem"].as_str().unwrap().contains(&why),
            "{listed}"
        );
        for problem in self.problems() {
            let problem = problem.unwrap();
            assert!(problem.contains(&why), "{problem}");
            assert!(problem.ends_with("no address is handed out"), "{problem}");
        }
    }

    #[track_caller]
    fn hands_out(&self) {
        let listed = self.listed();
        assert_eq!(listed["handsOut"], true, "{listed}");
        let nothing = [
            &listed["stoppedIndex"],
            &listed["stoppedAt"],
            &listed["problem"],
        ];
        assert_eq!(nothing, [&Value::Null; 3]);
        assert_eq!(self.problems(), vec![None; self.chains.len()]);
    }
}

/// Returns a wallet with this key and these further fields.
fn wallet_of(chain: Chain, key: &str, besides: &Value) -> Wallet {
    let script = besides["script"].as_str().map(|script| match script {
        "pkh" => ScriptType::Pkh,
        "wpkh" => ScriptType::Wpkh,
        other => panic!("no script is {other}"),
    });
    let said = WalletHints {
        script,
        ..WalletHints::default()
    };
    read(chain, key, &said).unwrap()
}

fn watch(service: &Arc<Service>, chain: Chain, addresses: &Arc<RwLock<WatchedAddresses>>) -> Watch {
    Watch {
        addresses: Arc::clone(addresses),
        ..super::watch(service, chain, &[])
    }
}

#[test]
fn money_above_the_next_index_is_kept_and_stops_the_wallet_until_it_goes_on_behind() {
    for mines in [false, true] {
        let mut till = Till::new("bitcoin", ZPUB, &["BTC"], json!({}));
        till.hands_out();
        // The follower watches a thousand indexes ahead, and no more.
        till.pays(0, 1000, mines);
        till.follow();
        till.hands_out();
        till.has(0, &[]);
        till.pays(0, 7, mines);
        till.follow();
        till.is_stopped(7);
        let stops = noted(&till.service, "wallet.stop");
        let [(wallet, detail)] = stops.as_slice() else {
            panic!("{stops:?}");
        };
        assert_eq!(json!(wallet), till.listed()["id"]);
        assert_eq!([&detail["index"], &detail["nextIndex"]], [7, 0]);
        assert_eq!(detail["address"], till.address(7));
        // Further payments, a restart and a rescan do not end the stop.
        for index in [7, 999, 12] {
            till.pays(0, index, mines);
        }
        till.follow();
        till.is_stopped(999);
        till.has(0, &[7, 7, 12, 999]);
        till.restart();
        till.is_stopped(999);
        till.follow();
        till.rescan();
        till.is_stopped(999);
        till.has(0, &[7, 7, 12, 999]);
        assert_eq!(noted(&till.service, "wallet.stop").len(), 1);
        let id = till.listed()["id"].as_str().unwrap().to_owned();
        write(&till.service, move |_, tx| retire(tx, "test", &id, NOW));
        // The wallet continues above the stopping index only.
        for next in [json!({}), json!({ "next": 8 }), json!({ "next": 999 })] {
            let problem = till.add(&next).unwrap_err();
            assert!(problem.contains("must be at least 1000"), "{problem}");
            assert_eq!(till.listed()["stoppedIndex"], 999);
        }
        let added = till.add(&json!({ "next": 1005 })).unwrap();
        assert_eq!(added["nextIndex"], 1005);
        till.hands_out();
        // Payments below the new index are kept and stop nothing. Earlier payments are unchanged. The payment to
        // index 1000 is seen now.
        till.pays(0, 1003, mines);
        till.pays(0, 500, mines);
        till.follow();
        till.hands_out();
        till.rescan();
        till.restart();
        till.pays(0, 501, mines);
        till.follow();
        till.hands_out();
        till.has(0, &[7, 7, 12, 500, 501, 999, 1000, 1003]);
        till.pays(0, 2004, mines);
        till.follow();
        till.is_stopped(2004);
        assert_eq!(noted(&till.service, "wallet.stop").len(), 2);
    }
}

#[test]
fn what_was_given_elsewhere_before_a_wallet_began_is_looked_for() {
    let mut till = Till::new("bitcoin", ZPUB, &["BTC"], json!({ "next": 4000 }));
    for (index, mines) in [(0, true), (1500, false), (3999, true)] {
        till.pays(0, index, mines);
    }
    till.follow();
    till.hands_out();
    till.has(0, &[0, 1500, 3999]);
    // The wallet never continues at an assigned index.
    let problem = till.add(&json!({ "next": 3999 })).unwrap_err();
    assert!(problem.contains("must be at least 4000"), "{problem}");
    till.pays(0, 4000, true);
    till.follow();
    till.is_stopped(4000);
    till.has(0, &[0, 1500, 3999, 4000]);
}

#[test]
fn a_wallet_that_is_added_again_with_another_script_is_looked_ahead_of_anew() {
    let mut till = Till::new("bitcoin", XPUB, &["BTC"], json!({ "script": "pkh" }));
    till.add(&json!({ "script": "wpkh" })).unwrap();
    till.wallet = wallet_of(Chain::Bitcoin, XPUB, &json!({ "script": "wpkh" }));
    till.follow();
    till.pays(0, 20, true);
    till.follow();
    till.is_stopped(20);
    till.has(0, &[20]);
}

#[test]
fn a_wallet_of_several_chains_is_stopped_once() {
    let mut till = Till::new("evm", XPUB, &["ETH", "USDC-BASE"], json!({}));
    till.hands_out();
    till.pays(0, 3, true);
    till.pays(1, 3, true);
    till.follow();
    till.is_stopped(3);
    for at in 0..2 {
        till.has(at, &[3]);
    }
    assert_eq!(noted(&till.service, "wallet.stop").len(), 1);
    till.restart();
    till.follow();
    till.is_stopped(3);
    till.add(&json!({ "next": 4 })).unwrap();
    // The payment is final, and its block is read completely.
    for of in &till.chains {
        for _ in 0..20 {
            of.memory.lock().unwrap().mine(NOW, |_| true);
        }
    }
    till.follow();
    till.rescan();
    till.hands_out();
    for at in 0..2 {
        till.has(at, &[3]);
    }
    assert_eq!(noted(&till.service, "wallet.stop").len(), 1);
}
