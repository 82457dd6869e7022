//! A simulated chain for tests: blocks, forks, a mempool, and nodes that lag or hide data.
//!
//! Invariant: the active chain contains no double spend.

#![expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod node;
mod two_minds;

use super::{ReceivedOutput, WatchTargets};
use crate::domain::address::{account_bytes, output_script};
use crate::domain::asset::Chain;
use crate::domain::payment::simulated_txid;
use crate::domain::{Asset, Block, InputSource, Time, Units};
pub(crate) use node::MemoryNode;
pub(crate) use two_minds::SplitNode;

/// A simulated transaction with its inputs, and its payments by position.
#[derive(Clone, Debug)]
pub(crate) struct MemoryTransaction {
    pub(crate) txid: String,
    pub(crate) spends: Vec<InputSource>,
    pub(crate) pays: Vec<(u32, String, Units)>,
    pub(crate) at: Time,
    /// Nonce of the sender, on account chains. Blocks include the transactions of a sender in nonce order.
    pub(crate) nonce: Option<u64>,
    /// `true` if the transaction reverts when a block includes it.
    pub(crate) reverts: bool,
}

impl MemoryTransaction {
    /// Returns the payments of the transaction; empty if the transaction reverts.
    pub(crate) fn payments(&self) -> &[(u32, String, Units)] {
        if self.reverts { &[] } else { &self.pays }
    }

    /// Returns the sender; `None` on UTXO chains.
    fn sender(&self) -> Option<&str> {
        match self.spends.as_slice() {
            [InputSource::Address(sender)] => Some(sender),
            _ => None,
        }
    }

    /// Returns `true` if the chain can include at most one of the two transactions.
    fn conflicts_with(&self, other: &MemoryTransaction) -> bool {
        let is_shared = |spent: &InputSource| match spent {
            InputSource::Address(_) => other.nonce == self.nonce && other.spends.contains(spent),
            InputSource::Output(..) | InputSource::Coinbase => other.spends.contains(spent),
        };
        other.txid != self.txid && self.spends.iter().any(is_shared)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct MemoryBlock {
    pub(crate) block: Block,
    pub(crate) parent: String,
    pub(crate) time: Time,
    pub(crate) sent: Vec<MemoryTransaction>,
}

/// A simulated chain with its active branch and its mempool.
pub(crate) struct MemoryChain {
    chain: Chain,
    asset: &'static Asset,
    pub(crate) network: String,
    /// Blocks of the active branch, beginning with the genesis block.
    pub(crate) active: Vec<MemoryBlock>,
    pub(crate) mempool: Vec<MemoryTransaction>,
    /// Counter from which unique hashes and ids are made.
    made: u64,
    /// Number of newest blocks that are not final.
    pub(crate) final_behind: u32,
}

impl MemoryChain {
    pub(crate) fn new(asset: &'static Asset, network: &str, at: Time) -> MemoryChain {
        let mut memory = MemoryChain {
            chain: asset.chain,
            asset,
            network: network.to_owned(),
            active: Vec::new(),
            mempool: Vec::new(),
            made: 0,
            final_behind: 8,
        };
        memory.mine_block(at, |_| false);
        memory
    }

    pub(crate) fn new_id(&mut self) -> String {
        self.made += 1;
        if self.chain == Chain::Solana {
            return simulated_txid(self.chain, &self.made.to_string());
        }
        self.chain.canonical_txid(&format!("{:064x}", self.made))
    }

    pub(crate) fn tip(&self) -> &MemoryBlock {
        self.active.last().unwrap()
    }

    /// Adds a transaction to the mempool. Removes conflicting transactions and their descendants from the mempool.
    pub(crate) fn send_transaction(&mut self, sent: MemoryTransaction) {
        self.evict_transactions(|other| other.txid == sent.txid || other.conflicts_with(&sent));
        self.mempool.push(sent);
    }

    pub(crate) fn can_include_transaction(&self, sent: &MemoryTransaction) -> bool {
        let mut mined = self.active.iter().flat_map(|mined| &mined.sent);
        let is_late = sent.nonce.zip(sent.sender());
        let is_late = is_late.is_some_and(|(nonce, sender)| nonce < self.next_nonce(sender));
        !is_late && mined.all(|other| other.txid != sent.txid && !other.conflicts_with(sent))
    }

    /// Removes the transactions for which `is_evicted` returns `true`, and their descendants, from the mempool.
    pub(crate) fn evict_transactions(
        &mut self,
        mut is_evicted: impl FnMut(&MemoryTransaction) -> bool,
    ) {
        let mut gone: Vec<String> = Vec::new();
        self.mempool.retain(|other| {
            let goes =
                is_evicted(other) || other.spends.iter().any(|spent| is_output_of(spent, &gone));
            gone.extend(goes.then(|| other.txid.clone()));
            !goes
        });
    }

    pub(crate) fn next_nonce(&self, sender: &str) -> u64 {
        next_nonce(&self.active, sender)
    }

    /// Mines a block with the mempool transactions that `picks` chooses and whose inputs exist.
    pub(crate) fn mine_block(
        &mut self,
        time: Time,
        mut picks: impl FnMut(&MemoryTransaction) -> bool,
    ) {
        let hash = self.new_id();
        let mut sent: Vec<MemoryTransaction> = Vec::new();
        let mut left: Vec<MemoryTransaction> = Vec::new();
        for one in std::mem::take(&mut self.mempool) {
            let left_ids: Vec<String> = left.iter().map(|one| one.txid.clone()).collect();
            let next = one.sender().map_or(0, |sender| {
                let mut of_sender = sent.iter().filter(|sent| sent.sender() == Some(sender));
                let here = of_sender.next_back().and_then(|sent| sent.nonce);
                here.map_or_else(|| self.next_nonce(sender), |nonce| nonce + 1)
            });
            let is_next = one.nonce.is_none_or(|nonce| nonce == next);
            if one.nonce.is_some_and(|nonce| nonce < next) {
                // A mined transaction already has this nonce, so this transaction leaves the mempool.
            } else if is_next
                && !one.spends.iter().any(|spent| is_output_of(spent, &left_ids))
                && picks(&one)
            {
                sent.push(one);
            } else {
                left.push(one);
            }
        }
        self.mempool = left;
        // On a chain with gaps, up to two slots before the new block stay empty.
        let gap = if self.chain.row().has_gaps { u32::try_from(self.made % 3).unwrap() } else { 0 };
        let (height, parent) = match self.active.last() {
            Some(tip) => (tip.block.height + 1 + gap, tip.block.hash.clone()),
            None => (0, String::new()),
        };
        self.active.push(MemoryBlock { block: Block { height, hash }, parent, time, sent });
    }

    /// Removes the newest `depth` blocks. Transactions for which `keeps` returns `true` return to the mempool.
    pub(crate) fn remove_blocks(
        &mut self,
        depth: usize,
        mut keeps: impl FnMut(&MemoryTransaction) -> bool,
    ) {
        let at = self.active.len() - depth.min(self.active.len() - 1);
        let mut back: Vec<MemoryTransaction> = Vec::new();
        let mut lost: Vec<String> = Vec::new();
        for sent in self.active.split_off(at).into_iter().flat_map(|mined| mined.sent) {
            if !sent.spends.iter().any(|spent| is_output_of(spent, &lost)) && keeps(&sent) {
                back.push(sent);
            } else {
                lost.push(sent.txid.clone());
            }
        }
        for sent in std::mem::take(&mut self.mempool) {
            if sent.spends.iter().any(|spent| is_output_of(spent, &lost)) {
                lost.push(sent.txid.clone());
            } else {
                back.push(sent);
            }
        }
        self.mempool = back;
    }

    /// Returns every output on the active branch: transaction id, position, address, amount and block.
    pub(crate) fn active_outputs(&self) -> Vec<(String, u32, String, Units, Block)> {
        let of = |mined: &MemoryBlock| {
            let block = mined.block.clone();
            let outputs = mined.sent.iter().flat_map(|sent| {
                let pays = sent.payments().iter();
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

    fn is_watched(&self, watched: &dyn WatchTargets, address: &str) -> bool {
        match output_script(self.chain, address) {
            Some(script) => watched.has_script(&script),
            None => match account_bytes(self.chain, address) {
                Some(account) => watched.has_account(&account),
                None => watched.polled_addresses().iter().any(|named| named.address == address),
            },
        }
    }

    fn received_outputs(
        &self,
        sent: &MemoryTransaction,
        watched: &dyn WatchTargets,
    ) -> Vec<ReceivedOutput> {
        let ours = sent
            .payments()
            .iter()
            .filter(|(_, to, units)| *units != Units::ZERO && self.is_watched(watched, to));
        let received = ours.map(|(position, to, units)| ReceivedOutput {
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

fn next_nonce(blocks: &[MemoryBlock], sender: &str) -> u64 {
    let mined = blocks.iter().flat_map(|mined| &mined.sent);
    let of_sender = mined.filter(|sent| sent.sender() == Some(sender));
    let nonces = of_sender.filter_map(|sent| sent.nonce);
    nonces.max().map_or(0, |nonce| nonce + 1)
}

fn is_output_of(spent: &InputSource, txids: &[String]) -> bool {
    matches!(spent, InputSource::Output(txid, _) if txids.contains(txid))
}
