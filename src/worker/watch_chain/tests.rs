//! Random histories of chains: payments, replacements, reorganisations, nodes that lag, and a process that is killed at any
//! commit. At the end the file knows exactly what is on the chain, and a rescan changes nothing.
//!
//! What always holds: a history depends on its seed alone, which a failure prints.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod astray;

use super::{Came, Failed, Watch};
use crate::chain::NodeError;
use crate::chain::follow::Addresses;
use crate::chain::memory::{Memory, MemoryNode, Sent};
use crate::domain::asset::{Asset, Chain};
use crate::domain::money::coin::Units;
use crate::domain::observation::{Block, Spent};
use crate::domain::payment::PaymentState;
use crate::domain::time::{DAY_MS, MINUTE_MS, Time};
use crate::service::Service;
use crate::service::chains::take::Part;
use crate::service::tests::{
    File, NOW, customer_address, found_by_audit, invoice_address, on_chain, real_books, seeded,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, RwLock};

/// Steps of one history.
const STEPS: usize = 60;
/// Histories of each kind, unless the environment says how many.
const HISTORIES: u64 = 100;

/// A generator that is the same everywhere (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(sides).unwrap()).unwrap()
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.roll(times) == 0
    }
}

/// A chain, whoever follows it, and what pays.
struct History {
    dice: Dice,
    now: Time,
    memory: Arc<Mutex<Memory>>,
    service: Arc<Service>,
    watch: Watch,
    nodes: Vec<MemoryNode>,
    ours: Vec<String>,
    /// Makes outputs to spend.
    made: u32,
    /// Transactions that were sent, to be spent and replaced.
    sent: Vec<Sent>,
    _file: File,
}

impl History {
    fn new(asset: &str, seed: u64) -> History {
        let asset = Asset::find(asset).unwrap();
        let (service, file) = seeded();
        let network = asset.chain.row().networks.0;
        let memory = Arc::new(Mutex::new(Memory::new(asset, network, NOW)));
        let mut ours = vec![customer_address(&service, asset.chain)];
        ours.extend((0..4).map(|_| invoice_address(&service, asset.id)));
        let watch = watch(&service, asset.chain, &ours);
        let mut history = History {
            dice: Dice(seed),
            now: NOW,
            nodes: Vec::new(),
            memory,
            service,
            watch,
            ours,
            made: 0,
            sent: Vec::new(),
            _file: file,
        };
        for _ in 0..12 {
            history.memory.lock().unwrap().mine(NOW, |_| false);
        }
        history.restart();
        history
    }

    /// The process is gone, and is started again: of all that it knew, the file is left.
    fn restart(&mut self) {
        let chain = self.watch.chain;
        self.watch = watch(&self.service, chain, &self.ours);
        self.nodes = (0..2).map(|_| MemoryNode::new(&self.memory)).collect();
    }

    fn chain(&self) -> Chain {
        self.watch.chain
    }

    /// Something happens on the chain.
    fn happens(&mut self) {
        self.now = self.now.plus_ms(MINUTE_MS);
        let now = self.now;
        match self.dice.roll(12) {
            0..=3 => self.pays(),
            4 => self.replaces(),
            5 => self.forks(),
            _ => {
                let dice = &mut self.dice;
                let mut memory = self.memory.lock().unwrap();
                memory.mine(now, |_| !dice.once_in(3));
            }
        }
    }

    /// An output that was not spent before.
    fn new_output(&mut self) -> Spent {
        self.made += 1;
        Spent::Output(format!("{:064x}", u64::from(self.made) << 32), 0)
    }

    /// Somebody pays us, and perhaps others, in one transaction; sometimes with money that came to us.
    fn pays(&mut self) {
        let mut spends = vec![self.new_output()];
        if self.dice.once_in(8) && !self.sent.is_empty() {
            let of = self.dice.roll(self.sent.len());
            spends.push(Spent::Output(self.sent[of].txid.clone(), 0));
        }
        if !self.chain().has_outputs() {
            spends = vec![Spent::Address(format!("0x{:040x}", self.made))];
        }
        let sent = self.transaction(spends);
        self.sent.push(sent.clone());
        self.memory.lock().unwrap().send(sent);
    }

    fn transaction(&mut self, spends: Vec<Spent>) -> Sent {
        let outputs = 1 + self.dice.roll(3);
        let pays = (0..outputs).map(|at| {
            let to = self.dice.roll(self.ours.len() + 1);
            let stranger = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa".to_owned();
            let to = self.ours.get(to).cloned().unwrap_or(stranger);
            let units = self.dice.roll(4) * 3_000_000;
            let units = Units(u128::try_from(units).unwrap());
            (u32::try_from(at).unwrap(), to, units)
        });
        let pays = pays.collect();
        Sent {
            txid: self.memory.lock().unwrap().id(),
            spends,
            pays,
            at: self.now,
        }
    }

    /// What waits is replaced by something else that spends the same.
    fn replaces(&mut self) {
        let waits: Vec<Sent> = self.memory.lock().unwrap().mempool.clone();
        if waits.is_empty() || !self.chain().has_outputs() {
            return;
        }
        let old = waits[self.dice.roll(waits.len())].clone();
        let mut new = self.transaction(old.spends.clone());
        if self.dice.once_in(2) {
            new.pays.clone_from(&old.pays);
        }
        self.sent.push(new.clone());
        self.memory.lock().unwrap().send(new);
    }

    /// Blocks are given up for others; what was in them comes again, or never does.
    fn forks(&mut self) {
        let depth = 1 + self.dice.roll(4);
        // What is final stays.
        let may_be_shorter = self.chain().has_outputs();
        let (now, dice) = (self.now, &mut self.dice);
        let mut memory = self.memory.lock().unwrap();
        memory.give_up(depth, |_| !dice.once_in(5));
        let fewer = usize::from(may_be_shorter && dice.once_in(6));
        for _ in 0..depth + 1 - 2 * fewer {
            memory.mine(now, |_| !dice.once_in(3));
        }
    }

    /// One step of whoever follows the chain, by one node or the other; the process is killed at any commit.
    fn follows(&mut self, kills: bool) {
        let at = self.dice.roll(self.nodes.len());
        let (behind, hides) = (self.dice.roll(6), self.dice.once_in(4));
        self.nodes[at].behind = if kills { behind.saturating_sub(3) } else { 0 };
        self.nodes[at].hides = kills && hides;
        let came = match self.watch.work_out(&mut self.nodes[at], self.now) {
            Ok(came) => came,
            Err(Failed::Node(NodeError::Behind | NodeError::Lied(_))) => return,
            Err(failed) => panic!("{failed:?}"),
        };
        let step = match came {
            Came::Step(step) => Arc::new(*step),
            Came::Lagging(_) => return,
            Came::Stopped(_) => panic!("it stopped"),
        };
        let mut part = Part::FIRST;
        while part != Part::Done {
            if kills && self.dice.once_in(6) {
                return self.restart();
            }
            part = self
                .service
                .take_chain_step(self.now, &step, part, self.watch.outputs_max)
                .unwrap();
        }
    }

    /// Everything comes to rest: what waits is in a block, that is deep, and it has been read.
    fn rests(&mut self) {
        for _ in 0..2 {
            for _ in 0..40 {
                self.memory.lock().unwrap().mine(self.now, |_| true);
            }
            for _ in 0..14 {
                self.follows(false);
            }
            // What is nowhere any more is dropped by then.
            self.now = self.now.plus_ms(DAY_MS + MINUTE_MS);
        }
        for _ in 0..6 {
            self.follows(false);
        }
    }

    /// What is on the chain is in the file, each with its block; what is in the file besides is gone.
    #[track_caller]
    fn compares(&self, seed: u64) {
        let memory = self.memory.lock().unwrap();
        let ours = |to: &String| self.ours.contains(to);
        let paid = memory
            .outputs()
            .into_iter()
            .filter(|(_, _, to, units, _)| ours(to) && *units != Units::ZERO);
        let right: BTreeMap<(String, u32), (String, u128, Block)> = paid
            .map(|(txid, at, to, units, block)| ((txid, at), (to, units.0, block)))
            .collect();
        let (mut stored, mut of_file) = (BTreeMap::new(), BTreeMap::new());
        for observed in on_chain(&self.service, self.chain()) {
            let seen = observed.seen;
            let place = (seen.txid.clone(), seen.position);
            of_file.insert(place.clone(), (observed.seq, observed.state));
            if observed.state == PaymentState::Dropped {
                continue;
            }
            let about = format!("{seen:?}");
            assert_eq!(
                observed.state,
                PaymentState::Confirmed,
                "seed {seed}: {about}"
            );
            let value = (seen.address, seen.amount.0, seen.block.unwrap());
            assert!(
                stored.insert(place, value).is_none(),
                "seed {seed}: {about}"
            );
        }
        for (place, value) in &right {
            let known = of_file.get(place);
            assert_eq!(
                stored.get(place),
                Some(value),
                "seed {seed}: {place:?} is {known:?}"
            );
        }
        for (place, value) in &stored {
            assert_eq!(Some(value), right.get(place), "seed {seed}: {place:?}");
        }
        let findings = found_by_audit(&self.service);
        assert!(findings.is_empty(), "seed {seed}: {findings:#?}");
    }
}

/// Whoever follows a chain, just started.
pub(super) fn watch(service: &Arc<Service>, chain: Chain, ours: &[String]) -> Watch {
    let mut addresses = Addresses::default();
    for address in ours {
        addresses.insert(chain, address);
    }
    Watch {
        service: Arc::downgrade(service),
        chain,
        addresses: Arc::new(RwLock::new(addresses)),
        blocks_max: 7,
        outputs_max: 2,
        test_networks: false,
        was_rescan: false,
        rescan_problem: None,
        is_connected: false,
    }
}

/// Histories, as many as the environment says.
fn histories(asset: &str) {
    let number = |text: Option<&str>| text.map(|text| text.parse::<u64>().unwrap());
    let many = number(option_env!("COFFER_HISTORIES")).map_or(HISTORIES, |many| many / 2);
    let first = number(option_env!("COFFER_SEED")).unwrap_or(1);
    for seed in first..first + many {
        let mut history = History::new(asset, seed);
        for _ in 0..STEPS {
            history.happens();
            history.follows(true);
        }
        history.rests();
        history.compares(seed);
        // Read again as a whole, killed meanwhile: the same, and the same books.
        let books = real_books(&history.service);
        history
            .service
            .order_rescan(history.now, history.chain(), 0)
            .unwrap();
        for _ in 0..10 {
            history.follows(true);
        }
        let is_read = |history: &History| {
            let service = &history.service;
            let known = service.known_of_chain(history.now, history.chain(), 1);
            known.unwrap().rescan.is_none()
        };
        for _ in 0..100 {
            if !is_read(&history) {
                history.follows(false);
            }
        }
        assert!(is_read(&history), "seed {seed}: it was not ended");
        history.compares(seed);
        assert_eq!(real_books(&history.service), books, "seed {seed}");
    }
}

#[test]
fn the_file_knows_what_is_on_a_chain_of_outputs_whatever_happened() {
    histories("BTC");
}

#[test]
fn the_file_knows_what_is_on_a_chain_of_accounts_whatever_happened() {
    histories("ETH");
}
