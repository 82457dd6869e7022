//! Tests of thousands of outputs to one invoice, which must not block other writers.
//!
//! Invariant: the tests count work and do not measure time. Each output is stored once, whatever the size of a batch.

use super::shop::Shop;
use crate::chain::memory::{MemoryChain, MemoryNode, MemoryTransaction};
use crate::domain::time::MINUTE_MS;
use crate::domain::{EventType, InputSource, PaymentState, StoredObservation, Time, Units};
use crate::service::chains::apply::{BatchLimit, BatchStart};
use crate::service::events::EventListQuery;
use crate::service::tests::{
    NOW, audit_findings, block_on, is_unmatched_or_own_transfer, live_observations,
    request_without_key,
};
use crate::service::{Requester, Service};
use crate::worker::watch_chain::{ChainWatch, FollowOutcome};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

/// Highest number of outputs in a batch.
const BATCH_OUTPUTS_MAX: usize = 200;

/// A shop, its chain and the follower.
struct BatchScene {
    now: Time,
    shop: Shop,
    memory: Arc<Mutex<MemoryChain>>,
    watch: ChainWatch,
    node: MemoryNode,
    made: u32,
}

impl BatchScene {
    /// Creates a shop for a coin. `rate` is the price of one coin, in EUR.
    fn new(asset: &str, rate: &'static str) -> BatchScene {
        let mut shop = Shop::new(asset);
        shop.rate = rate;
        let network = shop.asset.chain.row().networks.0;
        let memory = Arc::new(Mutex::new(MemoryChain::new(shop.asset, network, NOW)));
        for _ in 0..12 {
            memory.lock().unwrap().mine_block(NOW, |_| false);
        }
        let mut scene = BatchScene {
            now: NOW,
            watch: super::start_watch(&shop.service, shop.asset.chain, &[]),
            node: MemoryNode::new(&memory),
            memory,
            shop,
            made: 0,
        };
        scene.follow_to_head(|_| batch_limit_without_time_limit());
        scene
    }

    fn service(&self) -> &Arc<Service> {
        &self.shop.service
    }

    /// Creates an invoice and returns its address.
    #[track_caller]
    fn create_invoice(&mut self) -> String {
        let address = self.shop.create_invoice(self.now).unwrap();
        let mut watched = self.watch.addresses.write().unwrap();
        watched.insert(self.watch.chain, &address);
        address
    }

    /// Returns a transaction with these payments.
    fn new_transaction(&mut self, pays: &[(&String, u128)]) -> MemoryTransaction {
        self.made += 1;
        let spent = InputSource::Output(format!("{:064x}", u64::from(self.made) << 32), 0);
        let is_output = self.watch.chain.has_outputs();
        let from = format!("0x{:040x}", self.made);
        let pays = pays.iter().enumerate();
        let pays = pays
            .map(|(at, (to, units))| (u32::try_from(at).unwrap(), (*to).clone(), Units(*units)));
        MemoryTransaction {
            txid: self.memory.lock().unwrap().new_id(),
            spends: vec![if is_output { spent } else { InputSource::Address(from) }],
            pays: pays.collect(),
            at: self.now,
            nonce: None,
            reverts: false,
        }
    }

    fn send_payments(&mut self, pays: &[(&String, u128)]) -> MemoryTransaction {
        let sent = self.new_transaction(pays);
        self.memory.lock().unwrap().send_transaction(sent.clone());
        sent
    }

    fn mine(&self, blocks: usize) {
        for _ in 0..blocks {
            self.memory.lock().unwrap().mine_block(self.now, |_| true);
        }
    }

    /// Reads the chain to its head in limited batches. Returns the number of batches.
    fn follow_to_head(&mut self, mut bound: impl FnMut(usize) -> BatchLimit) -> usize {
        let (mut parts, mut rest) = (0, 0);
        while rest < 3 {
            let came = self.watch.compute_step(&mut self.node, self.now).unwrap();
            let FollowOutcome::Step(step) = came else { unreachable!("{came:?}") };
            let step = Arc::new(*step);
            let before = self.seen_confirmed_and_dropped_counts();
            let mut part = BatchStart::FIRST;
            while part != BatchStart::Done {
                part = self
                    .shop
                    .service
                    .apply_chain_step(self.now, &step, part, bound(parts))
                    .unwrap();
                parts += 1;
            }
            rest = if self.seen_confirmed_and_dropped_counts() == before { rest + 1 } else { 0 };
        }
        parts
    }

    fn observations(&self) -> Vec<StoredObservation> {
        live_observations(self.service(), self.watch.chain)
    }

    fn seen_confirmed_and_dropped_counts(&self) -> (usize, usize, usize) {
        let seen = self.observations();
        let of = |state| seen.iter().filter(|one| one.state == state).count();
        let states = [PaymentState::Seen, PaymentState::Confirmed, PaymentState::Dropped];
        let [waiting, confirmed, dropped] = states.map(of);
        (waiting, confirmed, dropped)
    }

    fn recomputation_count(&self) -> usize {
        self.service().recomputed.load(Ordering::Relaxed)
    }

    /// Returns type and received amount of each invoice event, oldest first. The creation event is left out.
    fn invoice_events(&self) -> Vec<(String, Value)> {
        let merchant = &self.shop.merchant;
        let wanted = EventListQuery { before: None, kind: None, object: None, limit: 10_000 };
        let events = self.service().events(merchant, &wanted).unwrap();
        let of = |json: &crate::service::Json| {
            let event: Value = serde_json::from_str(json.get()).unwrap();
            let received = event["data"]["object"]["amountReceived"].clone();
            (event["type"].as_str().unwrap().to_owned(), received)
        };
        let told = events.data.iter().rev().map(of);
        told.filter(|(kind, _)| kind != "invoice.created").collect()
    }

    /// Asserts that each output is in the file exactly once and confirmed, and that the audit finds nothing.
    #[track_caller]
    fn assert_confirmed(&self, sent: &[&MemoryTransaction]) {
        let mut places = HashSet::new();
        for one in self.observations() {
            if one.state == PaymentState::Confirmed {
                assert!(places.insert((one.seen.txid, one.seen.position)));
            }
        }
        let outputs = |sent: &&MemoryTransaction| {
            sent.pays.iter().map(|(at, ..)| (sent.txid.clone(), *at)).collect::<Vec<_>>()
        };
        let wanted: HashSet<_> = sent.iter().flat_map(outputs).collect();
        assert!(places == wanted, "{} of {}", places.len(), wanted.len());
        let findings = audit_findings(self.service());
        assert!(findings.is_empty(), "{findings:#?}");
    }
}

/// Returns a batch limit without a time limit.
fn batch_limit_without_time_limit() -> BatchLimit {
    BatchLimit::new(BATCH_OUTPUTS_MAX, || true)
}

#[test]
fn invoice_is_recomputed_once_per_batch() {
    let recomputed = [200, 2000].map(|outputs| {
        let mut scene = BatchScene::new("BTC", "60000");
        let address = scene.create_invoice();
        let before = scene.recomputation_count();
        // At 60 000 EUR for a bitcoin, each output of 100 sats pays six cents. 1 000 outputs pay the invoice of 60
        // EUR.
        let sent = scene.send_payments(&vec![(&address, 100); outputs]);
        scene.mine(8);
        scene.follow_to_head(|_| batch_limit_without_time_limit());
        scene.assert_confirmed(&[&sent]);
        scene.recomputation_count() - before
    });
    // Each batch of at most 200 outputs recomputes the invoice once. Every output is stored twice, as seen and as
    // confirmed: 2 * 200 / 200 and 2 * 2000 / 200.
    assert_eq!(recomputed, [2, 20]);
}

#[test]
fn batch_without_time_left_stores_one_output() {
    let mut scene = BatchScene::new("BTC", "60000");
    let address = scene.create_invoice();
    let sent = scene.send_payments(&vec![(&address, 100); 30]);
    scene.mine(8);
    let mut bounds = super::start_watch(scene.service(), scene.watch.chain, &[]);
    (bounds.outputs_max, bounds.part_ms_max) = (BATCH_OUTPUTS_MAX, 0);
    let before = scene.recomputation_count();
    assert!(scene.follow_to_head(|_| bounds.batch_limit()) > 60);
    assert_eq!(scene.recomputation_count() - before, 60);
    scene.assert_confirmed(&[&sent]);
}

#[test]
fn payments_of_one_batch_share_one_event() {
    let sixty = 100_000;
    let mut told = Vec::new();
    for at_once in [1, BATCH_OUTPUTS_MAX] {
        let mut scene = BatchScene::new("BTC", "60000");
        let address = scene.create_invoice();
        let other = scene.create_invoice();
        let pays =
            [(&address, sixty / 2), (&other, sixty), (&address, sixty / 2), (&address, sixty)];
        let sent = scene.send_payments(&pays);
        scene.mine(8);
        scene.follow_to_head(|_| BatchLimit::new(at_once, || true));
        scene.assert_confirmed(&[&sent]);
        told.push(scene.invoice_events());
    }
    let of = |events: &[(&str, &str)]| -> Vec<(String, Value)> {
        let owned = |(kind, units): &(&str, &str)| (format!("invoice.{kind}"), json!(units));
        events.iter().map(owned).collect()
    };
    let one_by_one = of(&[
        ("detected", "0.0005"),
        ("detected", "0.001"),
        ("detected", "0.002"),
        ("confirmed", "0.001"),
        ("confirmed", "0.002"),
        ("overpaid", "0.002"),
    ]);
    let together = of(&[
        ("detected", "0.002"),
        ("detected", "0.001"),
        ("overpaid", "0.002"),
        ("confirmed", "0.001"),
    ]);
    assert_eq!(told, [one_by_one, together]);
}

#[test]
fn waiting_writer_job_runs_between_batches() {
    let mut scene = BatchScene::new("BTC", "60000");
    let address = scene.create_invoice();
    let sent = scene.send_payments(&vec![(&address, 100); 2900]);
    scene.mine(8);
    let service = Arc::clone(scene.service());
    let (own, caller) = (Arc::clone(&service), Arc::clone(&scene.shop.merchant));
    let (begins, begun) = channel::<()>();
    let (answer, answered) = channel();
    let tenant = std::thread::spawn(move || {
        while begun.recv().is_ok() {
            let body = json!({ "amount": "60.00", "currency": "EUR" });
            let (requester, request) =
                (Requester::Key(caller.key_id()), request_without_key(&body));
            let made = block_on(own.create_invoice(NOW, &caller, requester, request));
            answer.send(made.is_ok()).unwrap();
        }
    });
    let asked = Arc::new(AtomicUsize::new(0));
    let mut answers = 0;
    scene.follow_to_head(|_| {
        // A job that waited during a batch is done before the next batch begins.
        while answers < asked.load(Ordering::SeqCst) {
            assert!(answered.recv().unwrap());
            answers += 1;
        }
        let (begins, service) = (begins.clone(), Arc::clone(&service));
        let (asked, mut looks) = (Arc::clone(&asked), 0);
        // The batch ends after fifty outputs, as soon as a job waits for the writer.
        BatchLimit::new(BATCH_OUTPUTS_MAX, move || {
            looks += 1;
            if looks < 51 {
                return true;
            }
            begins.send(()).unwrap();
            while service.waiting_write_count() == 0 {
                std::thread::yield_now();
            }
            asked.fetch_add(1, Ordering::SeqCst);
            false
        })
    });
    // All 2900 outputs are stored twice, as seen and as confirmed, in batches of fifty. A job waits during every
    // batch except the last of each pass.
    assert_eq!(answers, 2 * (2900 / 50 - 1));
    drop(begins);
    tenant.join().unwrap();
    scene.assert_confirmed(&[&sent]);
}

#[test]
fn unbookable_payment_does_not_affect_others() {
    // Amount of a coin with a very low value. Four times this amount overflows `u128`.
    const HUGE_AMOUNT: u128 = 90_000_000_000_000_000_000_000_000_000_000_000_000;
    let mut scene = BatchScene::new("ETH", "0.0000000001");
    let [much, little] = [scene.create_invoice(), scene.create_invoice()];
    let small = 6_000_000_000_000_000_000_000_000_000;
    let mut sent = Vec::new();
    for _ in 0..6 {
        sent.push(scene.send_payments(&[(&much, HUGE_AMOUNT)]));
        sent.push(scene.send_payments(&[(&little, small)]));
    }
    scene.mine(60);
    scene.follow_to_head(|_| batch_limit_without_time_limit());
    scene.assert_confirmed(&sent.iter().collect::<Vec<_>>());
    let nobodys = |one: &StoredObservation| is_unmatched_or_own_transfer(scene.service(), one.seq);
    let seen = scene.observations();
    let (of_much, of_little): (Vec<_>, Vec<_>) =
        seen.iter().partition(|one| one.seen.address == much);
    assert_eq!(of_much.iter().filter(|one| nobodys(one)).count(), 3);
    assert_eq!(of_little.iter().filter(|one| nobodys(one)).count(), 0);
    let told = scene.invoice_events();
    let overpaid = |(kind, _): &&(String, Value)| kind == EventType::InvoiceOverpaid.as_str();
    assert!(told.iter().any(|one| overpaid(&one)), "{told:?}");
}

#[test]
fn large_replaced_transaction_is_dropped_in_batches() {
    for same in [true, false] {
        let mut scene = BatchScene::new("BTC", "60000");
        let address = scene.create_invoice();
        let old = scene.send_payments(&vec![(&address, 100); 500]);
        scene.follow_to_head(|_| batch_limit_without_time_limit());
        assert_eq!(scene.seen_confirmed_and_dropped_counts(), (500, 0, 0));
        let other = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa".to_owned();
        let to = if same { &address } else { &other };
        let mut new = scene.new_transaction(&vec![(to, 100); 500]);
        new.spends = old.spends;
        scene.memory.lock().unwrap().send_transaction(new.clone());
        let before = scene.recomputation_count();
        let mut most = 0;
        scene.follow_to_head(|_| {
            // Each batch has at most twenty of the 500 outputs, so there are at least 500 / 20 = 25 batches.
            most += 1;
            BatchLimit::new(20, || true)
        });
        let expected = if same { (500, 0, 500) } else { (0, 0, 500) };
        assert_eq!(scene.seen_confirmed_and_dropped_counts(), expected, "{same}");
        assert_eq!(scene.recomputation_count() - before, 25, "{same}");
        assert!(most >= 25);
        scene.mine(8);
        scene.follow_to_head(|_| batch_limit_without_time_limit());
        let ours = if same { vec![&new] } else { Vec::new() };
        scene.assert_confirmed(&ours);
    }
}

#[test]
fn payments_removed_by_a_reorg_on_ethereum_are_dropped_in_steps() {
    let mut scene = BatchScene::new("ETH", "2000");
    let address = scene.create_invoice();
    for _ in 0..450 {
        scene.send_payments(&[(&address, 10_000_000_000_000_000)]);
    }
    scene.mine(1);
    scene.follow_to_head(|_| batch_limit_without_time_limit());
    assert_eq!(scene.seen_confirmed_and_dropped_counts(), (450, 0, 0));
    scene.memory.lock().unwrap().remove_blocks(1, |_| false);
    scene.mine(2);
    scene.follow_to_head(|_| batch_limit_without_time_limit());
    assert_eq!(scene.seen_confirmed_and_dropped_counts(), (450, 0, 0));
    let mut dropped = Vec::new();
    for _ in 0..16 {
        scene.now = scene.now.plus_ms(MINUTE_MS);
        scene.mine(1);
        scene.follow_to_head(|_| batch_limit_without_time_limit());
        dropped.push(scene.seen_confirmed_and_dropped_counts().2);
    }
    dropped.dedup();
    assert_eq!(dropped, [0, 200, 400, 450]);
    scene.assert_confirmed(&[]);
}
