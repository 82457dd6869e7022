//! Tests sent transactions on UTXO chains: lookups by id, and conflicts with other transactions.

use super::{NOW, Scene, open};
use crate::chain::NodeError;
use crate::chain::memory::Sent;
use crate::domain::following::{Conflict, SentFound, SentOpen, SentRead, SentTransaction};
use crate::domain::money::coin::Units;
use crate::domain::observation::{Block, InputSource};
use crate::domain::time::MINUTE_MS;

/// Returns a sent transaction of which only the id is known.
pub(super) fn unknown(txid: &str) -> SentOpen {
    SentOpen {
        txid: txid.to_owned(),
        ..SentOpen::default()
    }
}

/// Returns a sent transaction whose inputs a node has reported.
pub(super) fn told(txid: &str, spends: &[InputSource]) -> SentOpen {
    SentOpen {
        spends: spends.to_vec(),
        ..unknown(txid)
    }
}

/// Returns the only lookup result of a step.
#[track_caller]
pub(super) fn only(reads: &[SentRead]) -> &SentFound {
    let [read] = reads else {
        unreachable!("one was asked for: {reads:?}")
    };
    &read.found
}

#[track_caller]
pub(super) fn present(reads: &[SentRead]) -> &SentTransaction {
    match only(reads) {
        SentFound::Present(found) => found,
        other => unreachable!("{other:?}"),
    }
}

fn output(txid: &str) -> InputSource {
    InputSource::Output(txid.to_owned(), 0)
}

fn tip(scene: &Scene) -> Block {
    scene.memory.lock().unwrap().tip().block.clone()
}

#[test]
fn sent_transaction_is_found_in_the_mempool_in_its_block_and_beyond_the_horizon() {
    let mut scene = Scene::new("LTC", 20);
    let txid = scene.send("a", 500);
    scene.known.sent = vec![unknown(&txid)];
    let forward = scene.forward();
    let found = present(&forward.sent);
    assert_eq!((&found.block, found.time), (&None, Some(NOW)));
    assert!(found.is_done && !found.is_final);
    assert_eq!(
        (found.spends.as_slice(), found.nonce),
        (&[output("a")][..], None)
    );
    let received = &found.received[0];
    assert_eq!(
        (&received.txid, received.amount, &received.block),
        (&txid, Units(500), &None)
    );
    // The observation equals the one from the mempool, so it is stored once.
    assert_eq!(forward.found, found.received);

    let later = NOW.plus_ms(MINUTE_MS);
    scene.memory.lock().unwrap().mine(later, |_| true);
    let block = tip(&scene);
    let forward = scene.forward();
    let found = present(&forward.sent);
    assert_eq!(
        (found.block.as_ref(), found.time),
        (Some(&block), Some(later))
    );
    assert_eq!(forward.found, found.received);
    // Beyond the horizon of 200 blocks the transaction is final.
    for (blocks, is_final) in [(199, false), (1, true)] {
        scene.mine(blocks);
        while scene.known.cursor.as_ref().unwrap().block != tip(&scene) {
            let sent = scene.forward().sent;
            let is_read = scene.known.cursor.as_ref().unwrap().block == tip(&scene);
            assert_eq!(sent.is_empty(), !is_read, "only at the head it is asked");
        }
        assert_eq!(present(&scene.forward().sent).is_final, is_final);
    }
}

#[test]
fn absent_is_told_by_an_index_only() {
    let mut scene = Scene::new("LTC", 20);
    let txid = scene.send("a", 500);
    scene.mine(1);
    scene.forward();
    for (has_index, nowhere) in [(true, SentFound::Absent), (false, SentFound::CannotTell)] {
        scene.node.has_index = has_index;
        scene.known.sent = vec![unknown(&"f".repeat(64))];
        assert_eq!(only(&scene.forward().sent), &nowhere);
        scene.known.sent = vec![unknown(&txid)];
        let is_told = matches!(only(&scene.forward().sent), SentFound::Present(_));
        assert_eq!(is_told, has_index);
    }
    // A reorg removes the transaction, the nodes drop it, and it is sent again. A lookup in the mempool needs no
    // index.
    scene.memory.lock().unwrap().give_up(1, |_| false);
    scene.mine(2);
    let step = scene.step();
    scene.apply_step(&step);
    assert_eq!(only(&scene.forward().sent), &SentFound::CannotTell);
    scene.node.has_index = true;
    assert_eq!(only(&scene.forward().sent), &SentFound::Absent);
    scene.node.has_index = false;
    let mut memory = scene.memory.lock().unwrap();
    let again = Sent {
        txid: txid.clone(),
        spends: vec![output("a")],
        pays: vec![(0, scene.ours.clone(), Units(500))],
        at: NOW,
        nonce: None,
        reverts: false,
    };
    assert!(memory.takes(&again));
    memory.send(again);
    drop(memory);
    assert_eq!(present(&scene.forward().sent).block, None);
}

#[test]
fn conflict_is_told_from_the_mempool_and_from_the_block_of_the_other() {
    let mut scene = Scene::new("LTC", 20);
    let first = scene.send("a", 500);
    scene.known.sent = vec![told(&first, &[output("a")])];
    let forward = scene.forward();
    assert_eq!(forward.conflicts, [], "its own input is no conflict");
    // The other transaction pays no watched address, so only the watched input reveals it.
    let mut other = scene.memory.lock().unwrap().mempool[0].clone();
    other.txid = scene.memory.lock().unwrap().id();
    other.pays.clear();
    scene.memory.lock().unwrap().send(other.clone());
    let conflict = |block: Option<Block>| Conflict {
        txid: first.clone(),
        by: other.txid.clone(),
        block,
    };
    for _ in 0..2 {
        let forward = scene.forward();
        assert_eq!(forward.conflicts, [conflict(None)]);
        assert_eq!(only(&forward.sent), &SentFound::Absent);
        assert!(forward.found.is_empty());
    }
    scene.mine(1);
    let block = tip(&scene);
    let forward = scene.forward();
    assert_eq!(forward.conflicts, [conflict(Some(block.clone()))]);
    assert!(!scene.memory.lock().unwrap().takes(&Sent {
        txid: first.clone(),
        ..other.clone()
    }));
    assert_eq!(scene.forward().conflicts, [], "a block is read once");
    // A rescan reports the conflict again.
    scene.known.rescan = Some(crate::domain::following::Rescan {
        from: block.height,
        next: block.height,
        last_hash: None,
        known: Vec::new(),
    });
    let crate::domain::following::ChainStepOutcome::Rescanned(read) = scene.step().outcome else {
        unreachable!("a rescan is under way")
    };
    assert_eq!(read.conflicts, [conflict(Some(block))]);
}

#[test]
fn what_spends_of_a_replaced_transaction_conflicts_with_it() {
    let mut scene = Scene::new("LTC", 20);
    let mut txids = vec!["a".to_owned()];
    for _ in 0..3 {
        txids.push(scene.send(txids.last().unwrap(), 500));
    }
    // The last transaction comes first, because lookups have their own order.
    let spends = |at: usize| told(&txids[at], &[output("other"), output(&txids[at - 1])]);
    scene.known.sent = vec![spends(3), spends(2), spends(1)];
    assert_eq!(scene.forward().conflicts, []);
    let other = scene.send("a", 400);
    scene.mine(1);
    let block = tip(&scene);
    let forward = scene.forward();
    let mut expected: Vec<Conflict> = txids[1..]
        .iter()
        .map(|txid| Conflict {
            txid: txid.clone(),
            by: other.clone(),
            block: Some(block.clone()),
        })
        .collect();
    expected.sort_by(|one, two| one.txid.cmp(&two.txid));
    assert_eq!(forward.conflicts, expected);
    // An unconfirmed payment with the same input is gone for the same reason.
    assert!(forward.gone.is_empty());
    scene.known.open = vec![open(&txids[1], "a")];
    scene.memory.lock().unwrap().give_up(1, |_| true);
    scene.mine(2);
    let step = scene.step();
    scene.apply_step(&step);
    assert_eq!(scene.forward().gone[0].by, other);
}

#[test]
fn twenty_are_asked_a_step_in_the_given_order() {
    let mut scene = Scene::new("LTC", 20);
    let sent = |number: u32| unknown(&format!("{number:064x}"));
    scene.known.sent = (0..50).rev().map(sent).collect();
    let forward = scene.forward();
    let asked: Vec<String> = forward.sent.into_iter().map(|read| read.txid).collect();
    let first = scene.known.sent.iter().take(20);
    let first: Vec<String> = first.map(|sent| sent.txid.clone()).collect();
    assert_eq!(asked, first);
    assert_eq!(scene.node.lookups, 20);
}

#[test]
fn node_that_fails_a_lookup_is_followed_all_the_same() {
    let mut scene = Scene::new("LTC", 20);
    scene.known.sent = (0..3).map(|number| unknown(&number.to_string())).collect();
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
        let forward = scene.forward();
        assert_eq!(forward.found[0].txid, paid);
        assert_eq!(
            (forward.to.block.clone(), scene.node.lookups),
            (tip(&scene), asked)
        );
        assert_eq!(forward.sent.len(), usize::try_from(asked).unwrap());
        let unanswered = SentFound::Unanswered(error.to_string());
        assert!(forward.sent.iter().all(|read| read.found == unanswered));
    }
}

#[test]
fn nothing_is_absent_beside_a_head_that_moves() {
    let mut scene = Scene::new("LTC", 20);
    let txid = scene.send("a", 500);
    scene.known.sent = vec![unknown(&"f".repeat(64)), unknown(&txid)];
    scene.node.after_lookup = Some(Box::new(|memory| memory.mine(NOW, |_| true)));
    let forward = scene.forward();
    let behind = SentFound::Unanswered(NodeError::Behind.to_string());
    let found: Vec<_> = forward.sent.into_iter().map(|read| read.found).collect();
    // The second transaction is in a block that was not read.
    assert_eq!(found, [behind.clone(), behind]);
    scene.node.after_lookup = None;
    let found = scene.forward().sent;
    assert_eq!(found[0].found, SentFound::Absent);
    assert!(matches!(found[1].found, SentFound::Present(_)));
}
