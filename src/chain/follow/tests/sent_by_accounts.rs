//! Tests sent transactions on account chains: nonces, reverts and transfers by contracts.

use super::sent::{only, present, unknown};
use super::{NOW, Scene};
use crate::chain::memory::Sent;
use crate::domain::following::{BalanceChange, SentFound, SentOpen};
use crate::domain::money::coin::Units;
use crate::domain::observation::{Block, CONTRACTS_FROM, InputSource};

const SENDER: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

impl Scene {
    /// Sends a transaction with this nonce. Each payment has a position, an address and an amount. Returns the
    /// transaction id.
    fn sends(&self, nonce: u64, pays: &[(u32, &str, u128)]) -> String {
        let mut memory = self.memory.lock().unwrap();
        let pays = pays.iter();
        let pays = pays.map(|(at, to, units)| (*at, (*to).to_owned(), Units(*units)));
        let sent = Sent {
            txid: memory.id(),
            spends: vec![InputSource::Address(SENDER.to_owned())],
            pays: pays.collect(),
            at: NOW,
            nonce: Some(nonce),
            reverts: false,
        };
        assert!(memory.takes(&sent), "{sent:?}");
        memory.send(sent.clone());
        sent.txid
    }

    fn block_at(&self, height: usize) -> Block {
        self.memory.lock().unwrap().active[height].block.clone()
    }

    /// Makes steps until the newest block is read.
    #[track_caller]
    fn found(&mut self) -> SentFound {
        loop {
            let sent = self.forward().sent;
            if !sent.is_empty() {
                return only(&sent).clone();
            }
        }
    }
}

/// Returns a sent transaction whose sender and nonce a node has reported.
fn told(txid: &str, nonce: u64) -> SentOpen {
    SentOpen {
        spends: vec![InputSource::Address(SENDER.to_owned())],
        nonce: Some(nonce),
        ..unknown(txid)
    }
}

#[test]
fn pending_transaction_tells_its_sender_and_nonce_and_is_final_with_its_block() {
    let mut scene = Scene::new("ETH", 20);
    let ours = scene.ours.clone();
    let txid = scene.sends(0, &[(0, &ours, 500)]);
    scene.known.sent = vec![unknown(&txid)];
    let forward = scene.forward();
    let found = present(&forward.sent);
    assert_eq!((&found.block, &found.received[..]), (&None, &[][..]));
    assert_eq!(found.spends, [InputSource::Address(SENDER.to_owned())]);
    assert_eq!(found.nonce, Some(0));
    scene.mine(1);
    for behind in 0..=8 {
        let forward = scene.forward();
        let found = present(&forward.sent);
        assert_eq!(found.block, Some(scene.block_at(21)));
        assert_eq!(found.received[0].amount, Units(500));
        assert_eq!(found.is_final, behind == 8, "{behind}");
        scene.mine(1);
    }
}

#[test]
fn reverted_transaction_moved_nothing() {
    let mut scene = Scene::new("ETH", 20);
    let ours = scene.ours.clone();
    let txid = scene.sends(0, &[(0, &ours, 500)]);
    scene.memory.lock().unwrap().mempool[0].reverts = true;
    scene.known.sent = vec![told(&txid, 0)];
    assert!(present(&scene.forward().sent).is_done);
    scene.mine(1);
    let forward = scene.forward();
    let found = present(&forward.sent);
    assert!(!found.is_done && !found.is_final);
    assert_eq!(
        (found.received.as_slice(), forward.found.len()),
        (&[][..], 0)
    );
    // The transaction may succeed in another block.
    scene.give_up(1);
    scene.memory.lock().unwrap().mempool[0].reverts = false;
    scene.mine(2);
    let step = scene.step();
    scene.apply_step(&step);
    let forward = scene.forward();
    assert!(present(&forward.sent).is_done);
    assert_eq!(forward.found.len(), 1);
}

#[test]
fn transaction_is_gone_once_its_nonce_was_used_in_a_final_block() {
    let mut scene = Scene::new("ETH", 20);
    let txid = scene.sends(0, &[]);
    scene.known.sent = vec![told(&txid, 0), unknown(&"f".repeat(64))];
    scene.forward();
    // Another transaction has the same nonce and pays no watched address.
    let other = scene.sends(0, &[]);
    assert_ne!(other, txid);
    scene.mine(1);
    for behind in 0..=8 {
        let found = scene.forward().sent;
        let expected = if behind < 8 {
            SentFound::Absent
        } else {
            let block = scene.block_at(21);
            SentFound::Gone { by: None, block }
        };
        assert_eq!(found[0].found, expected, "{behind}");
        // Nothing can be proved about a transaction that was never seen.
        assert_eq!(found[1].found, SentFound::Absent);
        scene.mine(1);
    }
}

#[test]
fn replacement_is_told_among_candidates_by_sender_and_nonce() {
    let mut scene = Scene::new("ETH", 20);
    let ours = scene.ours.clone();
    let txid = scene.sends(0, &[(0, &ours, 500)]);
    scene.forward();
    let next = scene.sends(1, &[(0, &ours, 500)]);
    let other = scene.sends(0, &[(0, &ours, 500)]);
    let mut open = told(&txid, 0);
    open.candidates = vec![next.clone(), "0xff".to_owned(), other.clone()];
    scene.known.sent = vec![open.clone()];
    assert_eq!(scene.found(), SentFound::Absent, "it waits as well");
    scene.mine(1);
    let (by, block) = (other.clone(), scene.block_at(21));
    assert_eq!(scene.found(), SentFound::ReplacedBy { by, block });
    // After a reorg, a block includes the first transaction, which is then the valid one.
    let mut memory = scene.memory.lock().unwrap();
    memory.give_up(1, |_| true);
    memory.evict(|sent| sent.txid == other);
    drop(memory);
    let again = scene.sends(0, &[(0, &ours, 500)]);
    scene.known.sent[0].txid = again;
    scene.mine(2);
    let step = scene.step();
    scene.apply_step(&step);
    assert!(matches!(scene.found(), SentFound::Present(found) if found.block.is_some()));
    // Candidates count towards the limit of twenty lookups.
    open.candidates = (0..30).map(|number| format!("0x{number:064x}")).collect();
    open.txid = "f".repeat(64);
    scene.known.sent = vec![open, unknown("rest")];
    scene.node.lookups = 0;
    assert_eq!(scene.forward().sent.len(), 1);
    assert_eq!(scene.node.lookups, 20);
}

#[test]
fn node_without_traces_tells_the_balance_before_and_after() {
    let mut scene = Scene::new("ETH", 20);
    let ours = scene.ours.clone();
    scene.sends(0, &[(0, &ours, 70)]);
    scene.mine(1);
    scene.forward();
    let txid = scene.sends(1, &[(CONTRACTS_FROM, &ours, 500)]);
    scene.mine(1);
    scene.known.sent = vec![unknown(&txid)];
    scene.known.sent[0].native_to = vec![ours.clone()];
    scene.node.has_traces = false;
    let forward = scene.forward();
    let found = present(&forward.sent);
    assert_eq!((found.is_done, found.received.len()), (true, 0));
    let change = BalanceChange {
        address: ours.clone(),
        before: Units(70),
        after: Units(570),
    };
    assert_eq!(found.balances, [change]);
    assert!(forward.found.is_empty());
    // On a node with traces, the contract transfer is an ordinary payment.
    scene.node.has_traces = true;
    let forward = scene.forward();
    let found = present(&forward.sent);
    assert_eq!(found.received[0].position, CONTRACTS_FROM);
    assert_eq!(found.balances, []);
}
