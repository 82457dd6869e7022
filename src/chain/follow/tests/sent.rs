//! Tests sent transactions on UTXO chains: lookups by id, and conflicts with other transactions.

use super::{NOW, Scene, create_open_observation};
use crate::chain::NodeError;
use crate::chain::memory::MemoryTransaction;
use crate::domain::time::MINUTE_MS;
use crate::domain::{
    Block, InputSource, SentTransaction, SpendConflict, TransactionAnswer, TransactionLookup,
    Units, UnsettledTransaction,
};

/// Returns a sent transaction of which only the id is known.
pub(super) fn tx_with_id_only(txid: &str) -> UnsettledTransaction {
    UnsettledTransaction { txid: txid.to_owned(), ..UnsettledTransaction::default() }
}

/// Returns a sent transaction whose inputs a node has reported.
pub(super) fn tx_with_inputs(txid: &str, spends: &[InputSource]) -> UnsettledTransaction {
    UnsettledTransaction { spends: spends.to_vec(), ..tx_with_id_only(txid) }
}

/// Returns the only lookup result of a step.
#[track_caller]
pub(super) fn single_lookup_result(reads: &[TransactionLookup]) -> &TransactionAnswer {
    let [read] = reads else { unreachable!("one was asked for: {reads:?}") };
    &read.found
}

#[track_caller]
pub(super) fn single_found_transaction(reads: &[TransactionLookup]) -> &SentTransaction {
    match single_lookup_result(reads) {
        TransactionAnswer::Present(found) => found,
        other => unreachable!("{other:?}"),
    }
}

fn first_output(txid: &str) -> InputSource {
    InputSource::Output(txid.to_owned(), 0)
}

fn tip_block(scene: &Scene) -> Block {
    scene.memory.lock().unwrap().tip().block.clone()
}

#[test]
fn sent_transaction_is_found_and_is_final_after_200_blocks() {
    let mut scene = Scene::new("LTC", 20);
    let txid = scene.send("a", 500);
    scene.known.sent = vec![tx_with_id_only(&txid)];
    let forward = scene.step_forward();
    let found = single_found_transaction(&forward.sent);
    assert_eq!((&found.block, found.time), (&None, Some(NOW)));
    assert!(found.is_done && !found.is_final);
    assert_eq!((found.spends.as_slice(), found.nonce), (&[first_output("a")][..], None));
    let received = &found.received[0];
    assert_eq!((&received.txid, received.amount, &received.block), (&txid, Units(500), &None));
    // The observation equals the one from the mempool, so it is stored once.
    assert_eq!(forward.found, found.received);

    let later = NOW.plus_ms(MINUTE_MS);
    scene.memory.lock().unwrap().mine_block(later, |_| true);
    let block = tip_block(&scene);
    let forward = scene.step_forward();
    let found = single_found_transaction(&forward.sent);
    assert_eq!((found.block.as_ref(), found.time), (Some(&block), Some(later)));
    assert_eq!(forward.found, found.received);
    // With 199 further blocks the transaction is not yet final. With one more, 200, it is final.
    for (blocks, is_final) in [(199, false), (1, true)] {
        scene.mine(blocks);
        while scene.known.cursor.as_ref().unwrap().block != tip_block(&scene) {
            let sent = scene.step_forward().sent;
            let is_read = scene.known.cursor.as_ref().unwrap().block == tip_block(&scene);
            assert_eq!(sent.is_empty(), !is_read, "only at the head it is asked");
        }
        assert_eq!(single_found_transaction(&scene.step_forward().sent).is_final, is_final);
    }
}

#[test]
fn only_node_with_index_reports_absence() {
    let mut scene = Scene::new("LTC", 20);
    let txid = scene.send("a", 500);
    scene.mine(1);
    scene.step_forward();
    for (has_index, nowhere) in
        [(true, TransactionAnswer::Absent), (false, TransactionAnswer::CannotTell)]
    {
        scene.node.has_index = has_index;
        scene.known.sent = vec![tx_with_id_only(&"f".repeat(64))];
        assert_eq!(single_lookup_result(&scene.step_forward().sent), &nowhere);
        scene.known.sent = vec![tx_with_id_only(&txid)];
        let is_told = matches!(
            single_lookup_result(&scene.step_forward().sent),
            TransactionAnswer::Present(_)
        );
        assert_eq!(is_told, has_index);
    }
    // A reorg removes the transaction, the nodes drop it, and it is sent again. A lookup in the mempool needs no
    // index.
    scene.memory.lock().unwrap().remove_blocks(1, |_| false);
    scene.mine(2);
    let step = scene.step();
    scene.apply_step(&step);
    assert_eq!(single_lookup_result(&scene.step_forward().sent), &TransactionAnswer::CannotTell);
    scene.node.has_index = true;
    assert_eq!(single_lookup_result(&scene.step_forward().sent), &TransactionAnswer::Absent);
    scene.node.has_index = false;
    let mut memory = scene.memory.lock().unwrap();
    let again = MemoryTransaction {
        txid: txid.clone(),
        spends: vec![first_output("a")],
        pays: vec![(0, scene.ours.clone(), Units(500))],
        at: NOW,
        nonce: None,
        reverts: false,
    };
    assert!(memory.can_include_transaction(&again));
    memory.send_transaction(again);
    drop(memory);
    assert_eq!(single_found_transaction(&scene.step_forward().sent).block, None);
}

#[test]
fn conflict_is_found_in_mempool_and_in_blocks() {
    let mut scene = Scene::new("LTC", 20);
    let first = scene.send("a", 500);
    scene.known.sent = vec![tx_with_inputs(&first, &[first_output("a")])];
    let forward = scene.step_forward();
    assert_eq!(forward.conflicts, [], "its own input is no conflict");
    // The other transaction pays no watched address, so it is found only by the watched output that it spends.
    let mut other = scene.memory.lock().unwrap().mempool[0].clone();
    other.txid = scene.memory.lock().unwrap().new_id();
    other.pays.clear();
    scene.memory.lock().unwrap().send_transaction(other.clone());
    let conflict =
        |block: Option<Block>| SpendConflict { txid: first.clone(), by: other.txid.clone(), block };
    for _ in 0..2 {
        let forward = scene.step_forward();
        assert_eq!(forward.conflicts, [conflict(None)]);
        assert_eq!(single_lookup_result(&forward.sent), &TransactionAnswer::Absent);
        assert!(forward.found.is_empty());
    }
    scene.mine(1);
    let block = tip_block(&scene);
    let forward = scene.step_forward();
    assert_eq!(forward.conflicts, [conflict(Some(block.clone()))]);
    assert!(
        !scene
            .memory
            .lock()
            .unwrap()
            .can_include_transaction(&MemoryTransaction { txid: first.clone(), ..other.clone() })
    );
    assert_eq!(scene.step_forward().conflicts, [], "a block is read once");
    // A rescan reports the same conflict again.
    scene.known.rescan = Some(crate::domain::Rescan {
        from: block.height,
        next: block.height,
        last_hash: None,
        known: Vec::new(),
    });
    let crate::domain::ChainStepOutcome::Rescanned(read) = scene.step().outcome else {
        unreachable!("a rescan is under way")
    };
    assert_eq!(read.conflicts, [conflict(Some(block))]);
}

#[test]
fn descendant_of_replaced_transaction_conflicts() {
    let mut scene = Scene::new("LTC", 20);
    let mut txids = vec!["a".to_owned()];
    for _ in 0..3 {
        txids.push(scene.send(txids.last().unwrap(), 500));
    }
    // The list is in reverse order, because lookups accept children before their parents.
    let spends = |at: usize| {
        tx_with_inputs(&txids[at], &[first_output("other"), first_output(&txids[at - 1])])
    };
    scene.known.sent = vec![spends(3), spends(2), spends(1)];
    assert_eq!(scene.step_forward().conflicts, []);
    let other = scene.send("a", 400);
    scene.mine(1);
    let block = tip_block(&scene);
    let forward = scene.step_forward();
    let mut expected: Vec<SpendConflict> = txids[1..]
        .iter()
        .map(|txid| SpendConflict {
            txid: txid.clone(),
            by: other.clone(),
            block: Some(block.clone()),
        })
        .collect();
    expected.sort_by(|one, two| one.txid.cmp(&two.txid));
    assert_eq!(forward.conflicts, expected);
    // The database has no unconfirmed payment, so no payment is gone. Next, a payment is added that spends the same
    // output as `other`, so this payment is gone.
    assert!(forward.gone.is_empty());
    scene.known.open = vec![create_open_observation(&txids[1], "a")];
    scene.memory.lock().unwrap().remove_blocks(1, |_| true);
    scene.mine(2);
    let step = scene.step();
    scene.apply_step(&step);
    assert_eq!(scene.step_forward().gone[0].by, other);
}

#[test]
fn step_looks_up_first_twenty_transactions() {
    let mut scene = Scene::new("LTC", 20);
    let sent = |number: u32| tx_with_id_only(&format!("{number:064x}"));
    scene.known.sent = (0..50).rev().map(sent).collect();
    let forward = scene.step_forward();
    let asked: Vec<String> = forward.sent.into_iter().map(|read| read.txid).collect();
    let first = scene.known.sent.iter().take(20);
    let first: Vec<String> = first.map(|sent| sent.txid.clone()).collect();
    assert_eq!(asked, first);
    assert_eq!(scene.node.lookups, 20);
}

#[test]
fn failed_lookup_does_not_stop_the_chain() {
    let mut scene = Scene::new("LTC", 20);
    scene.known.sent = (0..3).map(|number| tx_with_id_only(&number.to_string())).collect();
    for (error, asked) in [
        (NodeError::Unreachable("no answer in time".to_owned()), 1),
        (NodeError::Limited("429".to_owned()), 1),
        (NodeError::Wrong("401".to_owned()), 1),
        (NodeError::Lied("another one".to_owned()), 3),
        (NodeError::Behind, 3),
    ] {
        let paid = scene.send("a", 500);
        scene.mine(1);
        scene.node.lookups = 0;
        scene.node.lookup_error = Some(error.clone());
        let forward = scene.step_forward();
        assert_eq!(forward.found[0].txid, paid);
        assert_eq!((forward.to.block.clone(), scene.node.lookups), (tip_block(&scene), asked));
        assert_eq!(forward.sent.len(), usize::try_from(asked).unwrap());
        let unanswered = TransactionAnswer::Unanswered(error.to_string());
        assert!(forward.sent.iter().all(|read| read.found == unanswered));
    }
}

#[test]
fn absence_is_retracted_if_head_moved_during_lookups() {
    let mut scene = Scene::new("LTC", 20);
    let txid = scene.send("a", 500);
    scene.known.sent = vec![tx_with_id_only(&"f".repeat(64)), tx_with_id_only(&txid)];
    scene.node.after_lookup = Some(Box::new(|memory| memory.mine_block(NOW, |_| true)));
    let forward = scene.step_forward();
    let behind = TransactionAnswer::Unanswered(NodeError::Behind.to_string());
    let found: Vec<_> = forward.sent.into_iter().map(|read| read.found).collect();
    // The second transaction is in a block that was not read.
    assert_eq!(found, [behind.clone(), behind]);
    scene.node.after_lookup = None;
    let found = scene.step_forward().sent;
    assert_eq!(found[0].found, TransactionAnswer::Absent);
    assert!(matches!(found[1].found, TransactionAnswer::Present(_)));
}
