//! Tests sent transactions on account chains: nonces, reverts and transfers by contracts.

use super::sent::{single_found_transaction, single_lookup_result, tx_with_id_only};
use super::{NOW, Scene};
use crate::chain::memory::MemoryTransaction;
use crate::domain::observation::CONTRACTS_FROM;
use crate::domain::{
    BalanceChange, Block, InputSource, TransactionAnswer, Units, UnsettledTransaction,
};

const SENDER: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

impl Scene {
    /// Sends a transaction with this nonce. Each payment has a position, an address and an amount. Returns the
    /// transaction id.
    fn send_with_nonce(&self, nonce: u64, pays: &[(u32, &str, u128)]) -> String {
        let mut memory = self.memory.lock().unwrap();
        let pays = pays.iter();
        let pays = pays.map(|(at, to, units)| (*at, (*to).to_owned(), Units(*units)));
        let sent = MemoryTransaction {
            txid: memory.new_id(),
            spends: vec![InputSource::Address(SENDER.to_owned())],
            pays: pays.collect(),
            at: NOW,
            nonce: Some(nonce),
            reverts: false,
        };
        assert!(memory.can_include_transaction(&sent), "{sent:?}");
        memory.send_transaction(sent.clone());
        sent.txid
    }

    fn block_at(&self, height: usize) -> Block {
        self.memory.lock().unwrap().active[height].block.clone()
    }

    /// Makes steps until the newest block is read.
    #[track_caller]
    fn step_to_head(&mut self) -> TransactionAnswer {
        loop {
            let sent = self.step_forward().sent;
            if !sent.is_empty() {
                return single_lookup_result(&sent).clone();
            }
        }
    }
}

/// Returns a sent transaction whose sender and nonce a node has reported.
fn tx_with_nonce(txid: &str, nonce: u64) -> UnsettledTransaction {
    UnsettledTransaction {
        spends: vec![InputSource::Address(SENDER.to_owned())],
        nonce: Some(nonce),
        ..tx_with_id_only(txid)
    }
}

#[test]
fn pending_transaction_has_sender_and_nonce() {
    let mut scene = Scene::new("ETH", 20);
    let ours = scene.ours.clone();
    let txid = scene.send_with_nonce(0, &[(0, &ours, 500)]);
    scene.known.sent = vec![tx_with_id_only(&txid)];
    let forward = scene.step_forward();
    let found = single_found_transaction(&forward.sent);
    assert_eq!((&found.block, &found.received[..]), (&None, &[][..]));
    assert_eq!(found.spends, [InputSource::Address(SENDER.to_owned())]);
    assert_eq!(found.nonce, Some(0));
    scene.mine(1);
    for behind in 0..=8 {
        let forward = scene.step_forward();
        let found = single_found_transaction(&forward.sent);
        assert_eq!(found.block, Some(scene.block_at(21)));
        assert_eq!(found.received[0].amount, Units(500));
        assert_eq!(found.is_final, behind == 8, "{behind}");
        scene.mine(1);
    }
}

#[test]
fn reverted_transaction_has_no_payments() {
    let mut scene = Scene::new("ETH", 20);
    let ours = scene.ours.clone();
    let txid = scene.send_with_nonce(0, &[(0, &ours, 500)]);
    scene.memory.lock().unwrap().mempool[0].reverts = true;
    scene.known.sent = vec![tx_with_nonce(&txid, 0)];
    assert!(single_found_transaction(&scene.step_forward().sent).is_done);
    scene.mine(1);
    let forward = scene.step_forward();
    let found = single_found_transaction(&forward.sent);
    assert!(!found.is_done && !found.is_final);
    assert_eq!((found.received.as_slice(), forward.found.len()), (&[][..], 0));
    // The transaction may succeed if a later block includes it.
    scene.remove_blocks(1);
    scene.memory.lock().unwrap().mempool[0].reverts = false;
    scene.mine(2);
    let step = scene.step();
    scene.apply_step(&step);
    let forward = scene.step_forward();
    assert!(single_found_transaction(&forward.sent).is_done);
    assert_eq!(forward.found.len(), 1);
}

#[test]
fn transaction_is_gone_once_its_nonce_was_used_in_a_final_block() {
    let mut scene = Scene::new("ETH", 20);
    let txid = scene.send_with_nonce(0, &[]);
    scene.known.sent = vec![tx_with_nonce(&txid, 0), tx_with_id_only(&"f".repeat(64))];
    scene.step_forward();
    // Another transaction has the same nonce and pays no watched address.
    let other = scene.send_with_nonce(0, &[]);
    assert_ne!(other, txid);
    scene.mine(1);
    for behind in 0..=8 {
        let found = scene.step_forward().sent;
        let expected = if behind < 8 {
            TransactionAnswer::Absent
        } else {
            let block = scene.block_at(21);
            TransactionAnswer::Gone { by: None, block }
        };
        assert_eq!(found[0].found, expected, "{behind}");
        // Nothing can be proved about a transaction that was never seen.
        assert_eq!(found[1].found, TransactionAnswer::Absent);
        scene.mine(1);
    }
}

#[test]
fn replacement_is_found_by_sender_and_nonce() {
    let mut scene = Scene::new("ETH", 20);
    let ours = scene.ours.clone();
    let txid = scene.send_with_nonce(0, &[(0, &ours, 500)]);
    scene.step_forward();
    let next = scene.send_with_nonce(1, &[(0, &ours, 500)]);
    let other = scene.send_with_nonce(0, &[(0, &ours, 500)]);
    let mut open = tx_with_nonce(&txid, 0);
    open.candidates = vec![next.clone(), "0xff".to_owned(), other.clone()];
    scene.known.sent = vec![open.clone()];
    assert_eq!(scene.step_to_head(), TransactionAnswer::Absent, "it waits as well");
    scene.mine(1);
    let (by, block) = (other.clone(), scene.block_at(21));
    assert_eq!(scene.step_to_head(), TransactionAnswer::ReplacedBy { by, block });
    // After a reorg, a block includes the first transaction, so the other transaction is no longer valid.
    let mut memory = scene.memory.lock().unwrap();
    memory.remove_blocks(1, |_| true);
    memory.evict_transactions(|sent| sent.txid == other);
    drop(memory);
    let again = scene.send_with_nonce(0, &[(0, &ours, 500)]);
    scene.known.sent[0].txid = again;
    scene.mine(2);
    let step = scene.step();
    scene.apply_step(&step);
    assert!(
        matches!(scene.step_to_head(), TransactionAnswer::Present(found) if found.block.is_some())
    );
    // Candidates count towards the limit of twenty lookups.
    open.candidates = (0..30).map(|number| format!("0x{number:064x}")).collect();
    open.txid = "f".repeat(64);
    scene.known.sent = vec![open, tx_with_id_only("rest")];
    scene.node.lookups = 0;
    assert_eq!(scene.step_forward().sent.len(), 1);
    assert_eq!(scene.node.lookups, 20);
}

#[test]
fn node_without_traces_reports_balance_changes() {
    let mut scene = Scene::new("ETH", 20);
    let ours = scene.ours.clone();
    scene.send_with_nonce(0, &[(0, &ours, 70)]);
    scene.mine(1);
    scene.step_forward();
    let txid = scene.send_with_nonce(1, &[(CONTRACTS_FROM, &ours, 500)]);
    scene.mine(1);
    scene.known.sent = vec![tx_with_id_only(&txid)];
    scene.known.sent[0].native_to = vec![ours.clone()];
    scene.node.has_traces = false;
    let forward = scene.step_forward();
    let found = single_found_transaction(&forward.sent);
    assert_eq!((found.is_done, found.received.len()), (true, 0));
    let change = BalanceChange { address: ours.clone(), before: Units(70), after: Units(570) };
    assert_eq!(found.balances, [change]);
    assert!(forward.found.is_empty());
    // On a node with traces, the contract transfer is an ordinary payment.
    scene.node.has_traces = true;
    let forward = scene.step_forward();
    let found = single_found_transaction(&forward.sent);
    assert_eq!(found.received[0].position, CONTRACTS_FROM);
    assert_eq!(found.balances, []);
}
