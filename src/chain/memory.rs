//! A chain in memory, and nodes of it: what the tests of following drive.
//!
//! What lives here: blocks, forks, a mempool, transactions that replace others, and nodes that lag, forget or hide. What
//! does not: any rule of ours. What always holds: what is on the active chain spends nothing twice.

#![expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod two_minds;

use super::{BlockRead, Head, MempoolRead, Node, NodeError, Received, Watched};
use crate::domain::address::{account, script};
use crate::domain::asset::{Asset, Chain};
use crate::domain::money::coin::Units;
use crate::domain::observation::{Block, Spent};
use crate::domain::time::Time;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
pub(crate) use two_minds::TwoMinds;

/// A transaction: what it spends, and what it pays by position.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) txid: String,
    pub(crate) spends: Vec<Spent>,
    pub(crate) pays: Vec<(u32, String, Units)>,
    pub(crate) at: Time,
}

/// A block and what is in it.
#[derive(Clone, Debug)]
pub(crate) struct Mined {
    pub(crate) block: Block,
    pub(crate) parent: String,
    pub(crate) time: Time,
    pub(crate) sent: Vec<Sent>,
}

/// The chain.
pub(crate) struct Memory {
    chain: Chain,
    asset: &'static Asset,
    pub(crate) network: String,
    /// The active chain, from the first block on.
    pub(crate) active: Vec<Mined>,
    pub(crate) mempool: Vec<Sent>,
    /// Makes hashes and ids that were not there before.
    made: u64,
    /// Blocks behind the head that are final.
    pub(crate) final_behind: u32,
}

impl Memory {
    pub(crate) fn new(asset: &'static Asset, network: &str, at: Time) -> Memory {
        let mut memory = Memory {
            chain: asset.chain,
            asset,
            network: network.to_owned(),
            active: Vec::new(),
            mempool: Vec::new(),
            made: 0,
            final_behind: 8,
        };
        memory.mine(at, |_| false);
        memory
    }

    /// An id that was not there before.
    pub(crate) fn id(&mut self) -> String {
        self.made += 1;
        let prefix = if self.chain.has_outputs() { "" } else { "0x" };
        format!("{prefix}{:064x}", self.made)
    }

    pub(crate) fn tip(&self) -> &Mined {
        self.active.last().unwrap()
    }

    /// Puts a transaction into the mempool; what spends the same there, and what spends of that, is gone.
    pub(crate) fn send(&mut self, sent: Sent) {
        self.evict(&sent);
        self.mempool.push(sent);
    }

    fn evict(&mut self, sent: &Sent) {
        let mut gone: Vec<String> = Vec::new();
        let conflicts = |other: &Sent| {
            other.txid != sent.txid && other.spends.iter().any(|spent| sent.spends.contains(spent))
        };
        for other in &self.mempool {
            if conflicts(other) || other.spends.iter().any(|spent| is_of(spent, &gone)) {
                gone.push(other.txid.clone());
            }
        }
        self.mempool
            .retain(|other| !gone.contains(&other.txid) && other.txid != sent.txid);
    }

    /// A block of what is picked from the mempool, as far as what it spends is there.
    pub(crate) fn mine(&mut self, time: Time, mut picks: impl FnMut(&Sent) -> bool) {
        let hash = self.id();
        let mut sent: Vec<Sent> = Vec::new();
        let mut left: Vec<Sent> = Vec::new();
        for one in std::mem::take(&mut self.mempool) {
            let left_ids: Vec<String> = left.iter().map(|one| one.txid.clone()).collect();
            if !one.spends.iter().any(|spent| is_of(spent, &left_ids)) && picks(&one) {
                sent.push(one);
            } else {
                left.push(one);
            }
        }
        self.mempool = left;
        let (height, parent) = match self.active.last() {
            Some(tip) => (tip.block.height + 1, tip.block.hash.clone()),
            None => (0, String::new()),
        };
        self.active.push(Mined {
            block: Block { height, hash },
            parent,
            time,
            sent,
        });
    }

    /// Gives up the newest blocks; what was in them waits again, as far as it is kept.
    pub(crate) fn give_up(&mut self, depth: usize, mut keeps: impl FnMut(&Sent) -> bool) {
        let at = self.active.len() - depth.min(self.active.len() - 1);
        let mut back: Vec<Sent> = Vec::new();
        let mut lost: Vec<String> = Vec::new();
        for sent in self
            .active
            .split_off(at)
            .into_iter()
            .flat_map(|mined| mined.sent)
        {
            if !sent.spends.iter().any(|spent| is_of(spent, &lost)) && keeps(&sent) {
                back.push(sent);
            } else {
                lost.push(sent.txid.clone());
            }
        }
        for sent in std::mem::take(&mut self.mempool) {
            if sent.spends.iter().any(|spent| is_of(spent, &lost)) {
                lost.push(sent.txid.clone());
            } else {
                back.push(sent);
            }
        }
        self.mempool = back;
    }

    /// Every output on the active chain: id, position, address, amount, block.
    pub(crate) fn outputs(&self) -> Vec<(String, u32, String, Units, Block)> {
        let of = |mined: &Mined| {
            let block = mined.block.clone();
            let outputs = mined.sent.iter().flat_map(|sent| {
                let pays = sent.pays.iter();
                pays.map(|(at, to, units)| (sent.txid.clone(), *at, to.clone(), *units))
            });
            let outputs: Vec<_> = outputs.collect();
            let with_block = outputs
                .into_iter()
                .map(move |(txid, at, to, units)| (txid, at, to, units, block.clone()));
            with_block.collect::<Vec<_>>()
        };
        self.active.iter().flat_map(of).collect()
    }

    fn watches(&self, watched: &dyn Watched, address: &str) -> bool {
        match script(self.chain, address) {
            Some(script) => watched.has_script(&script),
            None => {
                account(self.chain, address).is_some_and(|account| watched.has_account(&account))
            }
        }
    }

    fn received(&self, sent: &Sent, watched: &dyn Watched) -> Vec<Received> {
        let ours = sent
            .pays
            .iter()
            .filter(|(_, to, units)| *units != Units::ZERO && self.watches(watched, to));
        let received = ours.map(|(position, to, units)| Received {
            asset: self.asset,
            txid: sent.txid.clone(),
            position: *position,
            address: to.clone(),
            amount: *units,
            first_seen: None,
            spends: sent.spends.clone(),
        });
        received.collect()
    }
}

/// Is this an output of one of these?
fn is_of(spent: &Spent, txids: &[String]) -> bool {
    matches!(spent, Spent::Output(txid, _) if txids.contains(txid))
}

/// A node of the chain.
pub(crate) struct MemoryNode {
    pub(crate) of: Arc<Mutex<Memory>>,
    /// How many blocks it is behind.
    pub(crate) behind: usize,
    /// Does it answer with empty lists for what is not final?
    pub(crate) hides: bool,
    /// The blocks and the mempool that it has stopped at, while others go on.
    stuck: Option<(Vec<Mined>, Vec<Sent>)>,
}

/// What a node has.
struct View<'a> {
    memory: &'a Memory,
    has: &'a [Mined],
    /// Blocks that others have already.
    later: &'a [Mined],
    pool: &'a [Sent],
}

impl MemoryNode {
    pub(crate) fn new(of: &Arc<Mutex<Memory>>) -> MemoryNode {
        MemoryNode {
            of: Arc::clone(of),
            behind: 0,
            hides: false,
            stuck: None,
        }
    }

    /// From now on it stays where it is, or no longer.
    pub(crate) fn stick(&mut self, is_stuck: bool) {
        let memory = self.of.lock().unwrap();
        self.stuck = is_stuck.then(|| (memory.active.clone(), memory.mempool.clone()));
    }

    fn with<T>(&self, ask: impl FnOnce(View<'_>) -> T) -> T {
        let memory = self.of.lock().unwrap();
        let (active, pool) = match &self.stuck {
            Some((active, pool)) => (active, pool),
            None => (&memory.active, &memory.mempool),
        };
        let (has, later) = active.split_at(active.len().saturating_sub(self.behind).max(1));
        ask(View {
            memory: &memory,
            has,
            later,
            pool,
        })
    }
}

impl Node for MemoryNode {
    fn network(&mut self) -> Result<String, NodeError> {
        Ok(self.with(|view| view.memory.network.clone()))
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        Ok(self.with(|View { memory, has, .. }| {
            let tip = has.last().unwrap();
            Head {
                block: tip.block.clone(),
                time: tip.time,
                is_complete: true,
                finalized: (!memory.chain.has_outputs())
                    .then(|| tip.block.height.saturating_sub(memory.final_behind)),
            }
        }))
    }

    fn hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        let at = usize::try_from(height).unwrap();
        Ok(self.with(|view| view.has.get(at).map(|mined| mined.block.hash.clone())))
    }

    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn Watched,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let hides = self.hides;
        Ok(self.with(|View { memory, has, .. }| {
            let finalized = u32::try_from(has.len()).unwrap() - 1;
            let finalized = finalized.saturating_sub(memory.final_behind);
            let read = has
                .iter()
                .filter(|mined| (from..=to).contains(&mined.block.height));
            let hides = hides && !memory.chain.has_outputs();
            let read = read.map(|mined| {
                let is_hidden = hides && mined.block.height > finalized;
                let sent = mined.sent.iter().filter(|_| !is_hidden);
                BlockRead {
                    block: mined.block.clone(),
                    parent: mined.parent.clone(),
                    time: mined.time,
                    received: sent
                        .clone()
                        .flat_map(|sent| memory.received(sent, watched))
                        .collect(),
                    spent: sent.flat_map(|sent| spent(sent, watched)).collect(),
                }
            });
            let mut read: Vec<BlockRead> = read.collect();
            if !memory.chain.has_outputs() {
                let ends = [read.first(), read.last()].map(|end| end.map(|read| read.block.height));
                read.retain(|one| {
                    !one.received.is_empty() || ends.contains(&Some(one.block.height))
                });
            }
            read
        }))
    }

    fn mempool(
        &mut self,
        unconfirmed: &[String],
        watched: &dyn Watched,
    ) -> Result<MempoolRead, NodeError> {
        let read = self.with(|view| {
            let memory = view.memory;
            // What others have in blocks already waits for this one.
            let later = view.later.iter().flat_map(|mined| &mined.sent);
            let pool: HashMap<&str, &Sent> = later
                .chain(view.pool)
                .map(|sent| (sent.txid.as_str(), sent))
                .collect();
            let mut read = MempoolRead::default();
            for sent in pool.values() {
                let mut received = memory.received(sent, watched);
                for one in &mut received {
                    one.first_seen = Some(sent.at);
                }
                if !unconfirmed.contains(&sent.txid) {
                    read.received.extend(received);
                }
                read.spent.extend(spent(sent, watched));
            }
            let gone = unconfirmed
                .iter()
                .filter(|txid| !pool.contains_key(txid.as_str()));
            read.vanished = gone.cloned().collect();
            read
        });
        Ok(read)
    }

    fn block_of(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        Ok(self.with(|view| {
            let mut blocks = view.has.iter();
            let found = blocks.find(|mined| mined.sent.iter().any(|sent| sent.txid == txid));
            found.map(|mined| mined.block.clone())
        }))
    }
}

/// Watched outputs that a transaction spends.
fn spent(sent: &Sent, watched: &dyn Watched) -> Vec<(Spent, String)> {
    let watched = sent.spends.iter().filter(|spent| {
        matches!(spent, Spent::Output(txid, position) if watched.has_output(txid, *position))
    });
    watched
        .map(|spent| (spent.clone(), sent.txid.clone()))
        .collect()
}
