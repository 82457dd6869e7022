//! Reads the mempool and finds payments that have left the mempool.
//!
//! Invariant: a transaction counts as gone only if mempool and blocks were read at the same head.

use super::conflicts::{Spenders, spenders_in};
use super::watched::is_unconfirmed;
use super::{BlockRead, ForwardStep, Head, NodeError, ReceivedOutput, StepBuilder};
use crate::domain::{InputSource, OpenObservation, ReplacedTransaction};
use std::collections::{HashMap, HashSet};

impl StepBuilder<'_> {
    /// Reads the mempool if all blocks up to the head have been read, and finds unconfirmed payments that another
    /// transaction replaced.
    pub(super) fn read_unconfirmed_payments(
        &mut self,
        head: &Head,
        blocks: &[BlockRead],
        is_at_head: bool,
        forward: &mut ForwardStep,
    ) -> Result<(), NodeError> {
        let mut in_blocks: HashSet<String> = HashSet::new();
        for read in blocks {
            in_blocks.extend(read.received.iter().map(|one| one.txid.clone()));
        }
        let mined = spenders_in(blocks);
        let mut waiting = Spenders::default();
        if is_at_head && head.is_complete {
            self.read_mempool(head, &in_blocks, &mut waiting, forward)?;
        } else {
            forward.scanned_to = Some(forward.to.time.min(self.manner.now));
        }
        let known = self.known;
        let mut seen = HashSet::new();
        for open in known.open.iter().filter(|open| is_unconfirmed(open)) {
            if in_blocks.contains(&open.txid) || !seen.insert(&open.txid) {
                continue;
            }
            let other = |spenders: &Spenders| spenders.find_other_spender(&open.txid, &open.spends);
            if let Some(other) = other(&mined).or_else(|| other(&waiting)) {
                forward.present.retain(|txid| *txid != open.txid);
                let txid = open.txid.clone();
                forward.gone.push(ReplacedTransaction { txid, by: other.by });
            }
        }
        self.mark_descendants_gone(&in_blocks, forward);
        forward.conflicts = self.find_conflicts(&[&mined, &waiting]);
        Ok(())
    }

    /// Marks unconfirmed transactions as gone if they spend an output of a transaction that is gone.
    fn mark_descendants_gone(&self, in_blocks: &HashSet<String>, forward: &mut ForwardStep) {
        let gone = forward.gone.iter();
        let gone = gone.map(|gone| (gone.txid.clone(), gone.by.clone()));
        let mut gone_by: HashMap<String, String> = gone.collect();
        let open = self.known.open.iter();
        let can_go =
            |open: &&OpenObservation| is_unconfirmed(open) && !in_blocks.contains(&open.txid);
        let mut rest: Vec<&OpenObservation> = open.filter(can_go).collect();
        let mut before = 0;
        // Repeats until a round finds no further transaction.
        while before < gone_by.len() {
            before = gone_by.len();
            rest.retain(|open| {
                let mut parents_by = open.spends.iter().filter_map(|spent| match spent {
                    InputSource::Output(parent, _) => gone_by.get(parent),
                    InputSource::Address(_) | InputSource::Coinbase => None,
                });
                let by = parents_by.next().cloned();
                let (Some(by), false) = (by, gone_by.contains_key(&open.txid)) else {
                    return !gone_by.contains_key(&open.txid);
                };
                let txid = open.txid.clone();
                forward.present.retain(|present| *present != txid);
                gone_by.insert(txid.clone(), by.clone());
                forward.gone.push(ReplacedTransaction { txid, by });
                false
            });
        }
    }

    fn read_mempool(
        &mut self,
        head: &Head,
        in_blocks: &HashSet<String>,
        waiting: &mut Spenders,
        forward: &mut ForwardStep,
    ) -> Result<(), NodeError> {
        let now = self.manner.now;
        let known = self.known;
        let is_asked =
            |open: &&OpenObservation| open.block.is_none() && !in_blocks.contains(&open.txid);
        let mut asked: Vec<String> =
            known.open.iter().filter(is_asked).map(|open| open.txid.clone()).collect();
        asked.sort_unstable();
        asked.dedup();
        let read = self.node.mempool(&asked, self.watched)?;
        let new: Vec<_> =
            read.received.into_iter().filter(|one| !in_blocks.contains(&one.txid)).collect();
        for one in sort_parents_first(&new) {
            waiting.add(&one.spends, &one.txid, None);
            let seen_at = one.first_seen.unwrap_or(now);
            forward.found.push(self.to_observation(one, seen_at, None));
        }
        waiting.add_each(&read.spent, None);
        // A new block may have taken transactions out of the mempool, and this step did not read that block.
        if read.is_partial || self.node.head()?.block != head.block {
            return Ok(());
        }
        let vanished: HashSet<&String> = read.vanished.iter().collect();
        for open in known.open.iter().filter(is_asked) {
            let is_there = !vanished.contains(&open.txid);
            let was_there = is_unconfirmed(open) && !open.has_vanished;
            if is_there {
                waiting.add(&open.spends, &open.txid, None);
            }
            match (was_there, is_there) {
                (true, false) => forward.vanished.push(open.txid.clone()),
                (false, true) => forward.present.push(open.txid.clone()),
                (true, true) | (false, false) => {}
            }
        }
        for txids in [&mut forward.present, &mut forward.vanished] {
            txids.sort_unstable();
            txids.dedup();
        }
        forward.dropped_before = Some(self.vanished_time_limit());
        forward.scanned_to = Some(self.scanned_to_time(head));
        Ok(())
    }
}

/// Sorts outputs so that each transaction comes after the transactions whose outputs it spends.
pub(super) fn sort_parents_first(received: &[ReceivedOutput]) -> Vec<&ReceivedOutput> {
    let mut of: HashMap<&str, Vec<&ReceivedOutput>> = HashMap::new();
    for one in received {
        of.entry(&one.txid).or_default().push(one);
    }
    let (mut ordered, mut placed) = (Vec::with_capacity(received.len()), HashSet::new());
    // A loop is used instead of recursion, because a sender may make any number of transactions that spend each
    // other's outputs.
    for one in received {
        let mut waiting = vec![(one.txid.as_str(), false)];
        while let Some((txid, parents_are_placed)) = waiting.pop() {
            if parents_are_placed {
                ordered.extend(of.remove(txid).into_iter().flatten());
                continue;
            }
            if !placed.insert(txid) {
                continue;
            }
            waiting.push((txid, true));
            let spends = of.get(txid).into_iter().flatten();
            for spent in spends.flat_map(|one| &one.spends) {
                if let InputSource::Output(parent, _) = spent
                    && of.contains_key(parent.as_str())
                {
                    waiting.push((parent, false));
                }
            }
        }
    }
    ordered
}
