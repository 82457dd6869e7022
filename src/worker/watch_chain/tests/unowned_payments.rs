//! Tests of payments to unassigned indexes of a wallet, on a chain in memory. Such a payment stops the wallet.
//!
//! Invariant: each payment is stored exactly once, whatever the state of the wallet.

use super::{XPUB, ZPUB};
use crate::chain::follow::WatchedAddresses;
use crate::chain::memory::{MemoryChain, MemoryNode, MemoryTransaction};
use crate::domain::asset::Chain;
use crate::domain::wallet::read;
use crate::domain::{Asset, InputSource, ScriptType, Time, Units, Wallet, WalletHints};
use crate::service::Service;
use crate::service::tests::{
    NOW, TempFile, audit_findings, audit_log_entries, live_observations, seeded_service,
    service_with_nodes, try_write, write,
};
use crate::service::wallets::{self, WalletToAdd, add, retire};
use crate::worker::watch_chain::ChainWatch;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, RwLock};

/// A chain and its follower.
struct FollowedChain {
    memory: Arc<Mutex<MemoryChain>>,
    node: MemoryNode,
    watch: ChainWatch,
}

/// A file with a wallet, and a chain for each coin of the wallet.
struct WalletScene {
    file: TempFile,
    service: Arc<Service>,
    addresses: Arc<RwLock<WatchedAddresses>>,
    chains: Vec<FollowedChain>,
    pool: &'static str,
    key: &'static str,
    wallet: Wallet,
    now: Time,
}

impl WalletScene {
    /// Creates a file with a wallet of this pool. `besides` has further fields of the wallet.
    fn new(pool: &'static str, key: &'static str, coins: &[&str], besides: Value) -> WalletScene {
        let coins: Vec<_> = coins.iter().map(|id| Asset::find(id).unwrap()).collect();
        let file = seeded_service().1;
        let chains: Vec<Chain> = coins.iter().map(|asset| asset.chain).collect();
        let service = service_with_nodes(&file, &chains);
        let addresses = Arc::default();
        let followed = |asset: &&'static Asset| {
            let network = asset.chain.row().networks.0;
            let memory = Arc::new(Mutex::new(MemoryChain::new(asset, network, NOW)));
            FollowedChain {
                node: MemoryNode::new(&memory),
                memory,
                watch: start_watch_of_addresses(&service, asset.chain, &addresses),
            }
        };
        let chain = coins[0].chain;
        let mut till = WalletScene {
            chains: coins.iter().map(followed).collect(),
            file,
            addresses,
            pool,
            key,
            wallet: wallet_from_fields(chain, key, &besides),
            service,
            now: NOW,
        };
        till.add_wallet(&besides).unwrap();
        till.follow_to_heads();
        till
    }

    /// Adds the wallet with these further fields. Returns the error message if the request is refused.
    fn add_wallet(&self, besides: &Value) -> Result<Value, String> {
        let mut body = json!({ "chain": self.pool, "key": self.key });
        let more = besides.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(more);
        let wanted = WalletToAdd::from_body(body.as_object().unwrap()).unwrap();
        let now = self.now;
        let added = try_write(&self.service, NOW, move |step| add(step.tx, "test", &wanted, now));
        let added = added.map_err(|refusal| refusal.to_string())?;
        Ok(serde_json::from_str(added.get()).unwrap())
    }

    /// Ends the process and starts it again.
    fn restart(&mut self) {
        let chains: Vec<Chain> = self.chains.iter().map(|of| of.watch.chain).collect();
        self.service = service_with_nodes(&self.file, &chains);
        self.addresses = Arc::default();
        for of in &mut self.chains {
            of.watch = start_watch_of_addresses(&self.service, of.watch.chain, &self.addresses);
            of.node = MemoryNode::new(&of.memory);
        }
    }

    /// Makes steps until all chains are read to their head.
    fn follow_to_heads(&mut self) {
        for of in &mut self.chains {
            of.watch.load_addresses().unwrap();
            while !of.watch.derive_more_addresses().unwrap() {}
            for _ in 0..12 {
                of.watch.make_step(&mut of.node, self.now).unwrap();
            }
        }
    }

    fn rescan(&mut self) {
        for of in &self.chains {
            let service = &self.service;
            service.order_rescan(self.now, of.watch.chain, 0).unwrap();
        }
        self.follow_to_heads();
    }

    fn derive_address(&self, index: u32) -> String {
        let branch = self.wallet.receiving_branch().unwrap();
        branch.derive_address(index).unwrap().address
    }

    /// Pays the address with this index. `at` is the position of the chain in `chains`. If `mines` is `true`, a block
    /// with the payment is mined.
    fn pay_address(&self, at: usize, index: u32, mines: bool) {
        let address = self.derive_address(index);
        let mut memory = self.chains[at].memory.lock().unwrap();
        let txid = memory.new_id();
        let spends = if self.chains[at].watch.chain.has_outputs() {
            InputSource::Output(txid.replace('0', "f"), 0)
        } else {
            InputSource::Address(format!("0x{index:040x}"))
        };
        memory.send_transaction(MemoryTransaction {
            txid,
            spends: vec![spends],
            pays: vec![(0, address, Units(1_000_000))],
            at: self.now,
            nonce: None,
            reverts: false,
        });
        if mines {
            memory.mine_block(self.now, |_| true);
        }
    }

    /// Returns the wallet as the operator's list shows it.
    fn wallet_view(&self) -> Value {
        let listed = self.service.read(wallets::list).unwrap();
        serde_json::from_str(listed[0].get()).unwrap()
    }

    /// Returns the problem of each chain.
    fn chain_problems(&self) -> Vec<Option<String>> {
        let chains = self.service.chain_views(self.now).unwrap();
        chains.into_iter().map(|of| of.problem).collect()
    }

    /// Returns the addresses of the observed payments on this chain, sorted.
    fn paid_addresses(&self, at: usize) -> Vec<String> {
        let observed = live_observations(&self.service, self.chains[at].watch.chain);
        let mut seen: Vec<_> = observed.into_iter().map(|of| of.seen.address).collect();
        seen.sort_unstable();
        seen
    }

    /// Asserts that exactly these indexes have payments.
    #[track_caller]
    fn assert_paid_indexes(&self, at: usize, indexes: &[u32]) {
        let mut wanted: Vec<_> = indexes.iter().map(|index| self.derive_address(*index)).collect();
        wanted.sort_unstable();
        assert_eq!(self.paid_addresses(at), wanted);
        let findings = audit_findings(&self.service);
        assert!(findings.is_empty(), "{findings:#?}");
    }

    /// Asserts that a payment to this index has stopped the wallet. The operator's list and the state of each chain
    /// must show this.
    #[track_caller]
    fn assert_stopped_at(&self, index: u32) {
        let listed = self.wallet_view();
        assert_eq!(listed["handsOut"], false, "{listed}");
        assert_eq!(listed["stoppedIndex"], index);
        assert!(listed["stoppedAt"].is_string());
        let why =
            format!("something came to its index {index}, which this file has not handed out");
        assert!(listed["problem"].as_str().unwrap().contains(&why), "{listed}");
        for problem in self.chain_problems() {
            let problem = problem.unwrap();
            assert!(problem.contains(&why), "{problem}");
            assert!(problem.ends_with("no address is handed out"), "{problem}");
        }
    }

    #[track_caller]
    fn assert_not_stopped(&self) {
        let listed = self.wallet_view();
        assert_eq!(listed["handsOut"], true, "{listed}");
        let nothing = [&listed["stoppedIndex"], &listed["stoppedAt"], &listed["problem"]];
        assert_eq!(nothing, [&Value::Null; 3]);
        assert_eq!(self.chain_problems(), vec![None; self.chains.len()]);
    }
}

/// Returns a wallet with this key and these further fields.
fn wallet_from_fields(chain: Chain, key: &str, besides: &Value) -> Wallet {
    let script = besides["script"].as_str().map(|script| match script {
        "pkh" => ScriptType::Pkh,
        "wpkh" => ScriptType::Wpkh,
        other => panic!("no script is {other}"),
    });
    let said = WalletHints { script, ..WalletHints::default() };
    read(chain, key, &said).unwrap()
}

fn start_watch_of_addresses(
    service: &Arc<Service>,
    chain: Chain,
    addresses: &Arc<RwLock<WatchedAddresses>>,
) -> ChainWatch {
    ChainWatch { addresses: Arc::clone(addresses), ..super::start_watch(service, chain, &[]) }
}

#[test]
fn payment_above_the_next_index_stops_the_wallet() {
    for mines in [false, true] {
        let mut till = WalletScene::new("bitcoin", ZPUB, &["BTC"], json!({}));
        till.assert_not_stopped();
        // The follower watches the indexes 0 to 999. A payment to index 1000 is not seen.
        till.pay_address(0, 1000, mines);
        till.follow_to_heads();
        till.assert_not_stopped();
        till.assert_paid_indexes(0, &[]);
        till.pay_address(0, 7, mines);
        till.follow_to_heads();
        till.assert_stopped_at(7);
        let stops = audit_log_entries(&till.service, "wallet.stop");
        let [(wallet, detail)] = stops.as_slice() else {
            panic!("{stops:?}");
        };
        assert_eq!(json!(wallet), till.wallet_view()["id"]);
        assert_eq!([&detail["index"], &detail["nextIndex"]], [7, 0]);
        assert_eq!(detail["address"], till.derive_address(7));
        // The wallet stays stopped after further payments, a restart and a rescan.
        for index in [7, 999, 12] {
            till.pay_address(0, index, mines);
        }
        till.follow_to_heads();
        till.assert_stopped_at(999);
        till.assert_paid_indexes(0, &[7, 7, 12, 999]);
        till.restart();
        till.assert_stopped_at(999);
        till.follow_to_heads();
        till.rescan();
        till.assert_stopped_at(999);
        till.assert_paid_indexes(0, &[7, 7, 12, 999]);
        assert_eq!(audit_log_entries(&till.service, "wallet.stop").len(), 1);
        let id = till.wallet_view()["id"].as_str().unwrap().to_owned();
        write(&till.service, NOW, move |step| retire(step.tx, "test", &id, NOW));
        // The wallet is stopped by a payment to index 999. A new next index must therefore be above 999.
        for next in [json!({}), json!({ "next": 8 }), json!({ "next": 999 })] {
            let problem = till.add_wallet(&next).unwrap_err();
            assert!(problem.contains("must be at least 1000"), "{problem}");
            assert_eq!(till.wallet_view()["stoppedIndex"], 999);
        }
        let added = till.add_wallet(&json!({ "next": 1005 })).unwrap();
        assert_eq!(added["nextIndex"], 1005);
        till.assert_not_stopped();
        // Payments to indexes below 1005 do not stop the wallet. All earlier payments are kept, and the payment to
        // index 1000 is now seen.
        till.pay_address(0, 1003, mines);
        till.pay_address(0, 500, mines);
        till.follow_to_heads();
        till.assert_not_stopped();
        till.rescan();
        till.restart();
        till.pay_address(0, 501, mines);
        till.follow_to_heads();
        till.assert_not_stopped();
        till.assert_paid_indexes(0, &[7, 7, 12, 500, 501, 999, 1000, 1003]);
        till.pay_address(0, 2004, mines);
        till.follow_to_heads();
        till.assert_stopped_at(2004);
        assert_eq!(audit_log_entries(&till.service, "wallet.stop").len(), 2);
    }
}

#[test]
fn addresses_below_the_first_index_are_watched() {
    let mut till = WalletScene::new("bitcoin", ZPUB, &["BTC"], json!({ "next": 4000 }));
    for (index, mines) in [(0, true), (1500, false), (3999, true)] {
        till.pay_address(0, index, mines);
    }
    till.follow_to_heads();
    till.assert_not_stopped();
    till.assert_paid_indexes(0, &[0, 1500, 3999]);
    // A wallet that is added again cannot get a lower next index.
    let problem = till.add_wallet(&json!({ "next": 3999 })).unwrap_err();
    assert!(problem.contains("must be at least 4000"), "{problem}");
    till.pay_address(0, 4000, true);
    till.follow_to_heads();
    till.assert_stopped_at(4000);
    till.assert_paid_indexes(0, &[0, 1500, 3999, 4000]);
}

#[test]
fn wallet_added_again_with_another_script_watches_new_addresses() {
    let mut till = WalletScene::new("bitcoin", XPUB, &["BTC"], json!({ "script": "pkh" }));
    till.add_wallet(&json!({ "script": "wpkh" })).unwrap();
    till.wallet = wallet_from_fields(Chain::Bitcoin, XPUB, &json!({ "script": "wpkh" }));
    till.follow_to_heads();
    till.pay_address(0, 20, true);
    till.follow_to_heads();
    till.assert_stopped_at(20);
    till.assert_paid_indexes(0, &[20]);
}

#[test]
fn payments_on_two_chains_stop_a_wallet_once() {
    let mut till = WalletScene::new("evm", XPUB, &["ETH", "USDC-BASE"], json!({}));
    till.assert_not_stopped();
    till.pay_address(0, 3, true);
    till.pay_address(1, 3, true);
    till.follow_to_heads();
    till.assert_stopped_at(3);
    for at in 0..2 {
        till.assert_paid_indexes(at, &[3]);
    }
    assert_eq!(audit_log_entries(&till.service, "wallet.stop").len(), 1);
    till.restart();
    till.follow_to_heads();
    till.assert_stopped_at(3);
    till.add_wallet(&json!({ "next": 4 })).unwrap();
    // Twenty more blocks make the payment final.
    for of in &till.chains {
        for _ in 0..20 {
            of.memory.lock().unwrap().mine_block(NOW, |_| true);
        }
    }
    till.follow_to_heads();
    till.rescan();
    till.assert_not_stopped();
    for at in 0..2 {
        till.assert_paid_indexes(at, &[3]);
    }
    assert_eq!(audit_log_entries(&till.service, "wallet.stop").len(), 1);
}
