//! Follows one chain: asks a node, works out a step, has it taken.
//!
//! What lives here: the order of that, and what is forgotten where it fails. What does not: what a step comes to (`chain`),
//! what it means (`service`). What always holds: a step is taken whole or begun again; nothing of it is kept here.

#[cfg(test)]
mod tests;
mod thread;
mod waker;

pub use thread::{Follower, Pace};
pub use waker::{ChainWaker, ChainWakers};

use crate::chain::follow::{
    FollowOutcome, NodeLag, StepOptions, StepTargets, WatchedAddresses, step,
};
use crate::chain::{Node, NodeError};
use crate::clock::Stopwatch;
use crate::domain::asset::Chain;
use crate::domain::following::{ChainPosition, ChainStep, ChainStepOutcome};
use crate::domain::network_fee::FeeEstimate;
use crate::domain::time::Time;
use crate::service::chains::apply::{BatchLimit, BatchStart};
use crate::service::{Error, Service};
use std::sync::{Arc, PoisonError, RwLock, Weak};

/// How a chain is followed.
pub struct Watch {
    /// What it works on; not held, so that a node that never answers keeps no file open.
    pub service: Weak<Service>,
    /// Which chain.
    pub chain: Chain,
    /// What is watched on it.
    pub addresses: Arc<RwLock<WatchedAddresses>>,
    /// The most blocks that one step reads.
    pub blocks_max: u32,
    /// The most of what was seen that is written in one transaction.
    pub outputs_max: usize,
    /// How long one transaction goes on taking in what was seen, in milliseconds; one thing it always takes.
    pub part_ms_max: i64,
    /// May the network be one for tests?
    pub test_networks: bool,
    /// Was the last step a part of a rescan? Every other one is.
    pub was_rescan: bool,
    /// Was a rescan under way at the last step?
    pub has_rescan: bool,
    /// Why the rescan that is under way cannot go on, where the node will never be able to tell more.
    pub rescan_problem: Option<String>,
    /// Why what is final is not read again, where the node tells of other blocks than those that were read.
    pub final_problem: Option<String>,
    /// Has a node answered since it last failed?
    pub is_connected: bool,
    /// The network of the node at the last step; `None` before the first one.
    pub network: Option<String>,
    /// The blocks that the last step was to read, from the first to the newest of the node.
    pub unread: Option<(u32, u32)>,
}

/// Why a step was not taken.
#[derive(Debug)]
pub enum StepError {
    /// The node could not be asked, or not be believed.
    Node(NodeError),
    /// The file failed, or takes no writes.
    File(Error),
    /// The server has stopped.
    Closed,
}

impl std::fmt::Display for StepError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StepError::Node(error) => write!(out, "its node {error}"),
            StepError::File(error) => write!(out, "{error}"),
            StepError::Closed => out.write_str("the server has stopped"),
        }
    }
}

/// How a chain stands after a step.
#[derive(Clone, Debug)]
pub enum ChainProgress {
    /// There is more to do at once; so many blocks are to be read.
    Behind(u32),
    /// The node's newest block has been read, and its mempool.
    AtHead(ChainPosition),
    /// The node does not have what has been read already.
    NodeLags(NodeLag),
    /// It is not followed, for this reason: a person has to look.
    Stopped(String),
}

impl Watch {
    /// What it works on, while that is there.
    fn service(&self) -> Result<Arc<Service>, StepError> {
        self.service.upgrade().ok_or(StepError::Closed)
    }

    /// Has the file to be read, before anything is looked for?
    fn is_stale(&self) -> bool {
        let watched = self.addresses.read();
        let watched = watched.unwrap_or_else(PoisonError::into_inner);
        watched.wanted().is_some()
    }

    /// How many addresses are watched.
    fn watched(&self) -> usize {
        let watched = self.addresses.read();
        let watched = watched.unwrap_or_else(PoisonError::into_inner);
        watched.filter.len()
    }

    /// Watches every address that the file has; those that are handed out later are told by each commit.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn load(&self) -> Result<(), StepError> {
        let watched = || {
            self.addresses
                .write()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let wanted = watched().wanted();
        let insert = |address: &str| watched().insert(self.chain, address);
        let loaded = self.service()?.each_watched_address(self.chain, insert);
        loaded.map_err(StepError::File)?;
        if let Some(change) = wanted {
            watched().loaded(change);
        }
        Ok(())
    }

    /// Looks for some more of the addresses that nobody has yet; true once it does for all of them.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn look_ahead(&self) -> Result<bool, StepError> {
        let (chain, addresses) = (self.chain, &self.addresses);
        let look_for = |address: &str, distance: u32| {
            let mut watched = addresses.write().unwrap_or_else(PoisonError::into_inner);
            watched.insert_spare(chain, address, distance);
        };
        let looked = self.service()?.look_ahead(chain, look_for);
        looked.map_err(StepError::File)
    }

    /// What the next step comes to, as far as the node and the file say; nothing is written.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn next_step(
        &mut self,
        node: &mut dyn Node,
        now: Time,
    ) -> Result<FollowOutcome, StepError> {
        let known = self
            .service()?
            .chain_state(now, self.chain, self.blocks_max, node.asks_by_name())
            .map_err(StepError::File)?;
        self.has_rescan = known.rescan.is_some();
        self.was_rescan = !self.was_rescan && self.has_rescan;
        let manner = StepOptions {
            now,
            blocks_max: self.blocks_max,
            test_networks: self.test_networks,
            rescans: self.was_rescan,
        };
        let looking = StepTargets::of(&self.addresses, &known);
        let next = known.cursor.as_ref().map(|cursor| cursor.block.height);
        let next = next.map(|height| height.saturating_add(1));
        self.service()?.hear_of_asking(self.chain, now);
        // It is not held while the node is asked.
        let (service, chain, unread) = (Weak::clone(&self.service), self.chain, &mut self.unread);
        *unread = None;
        let came = step(node, &known, &looking, manner, &mut |head| {
            let newest = head.block.height;
            *unread = next.filter(|next| *next <= newest).zip(Some(newest));
            if let Some(service) = service.upgrade() {
                service.hear_of_head(chain, newest);
            }
        });
        self.service()?.hear_of_answer(self.chain);
        if self.was_rescan || !self.has_rescan {
            self.rescan_problem = match &came {
                Err(error @ NodeError::Wrong(_)) if self.was_rescan => Some(error.to_string()),
                Ok(_) | Err(_) => None,
            };
        }
        came.map_err(StepError::Node)
    }

    /// One step. Where it fails, the node may be asked again, and tells again what did not reach the file.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn step(&mut self, node: &mut dyn Node, now: Time) -> Result<ChainProgress, StepError> {
        let before = node.requests();
        let came = self.next_step(node, now);
        // They are counted before anybody hears of what they were for.
        let more = node.requests().saturating_sub(before);
        self.service()?.hear_of_requests(now, self.chain, more);
        let step = match came? {
            FollowOutcome::Step(step) => Arc::new(*step),
            FollowOutcome::Lagging(lag) => return Ok(ChainProgress::NodeLags(lag)),
            FollowOutcome::Stopped(why) => return Ok(ChainProgress::Stopped(why)),
        };
        if let ChainStepOutcome::Forward(forward) = &step.outcome {
            self.final_problem.clone_from(&forward.disputed);
        }
        let touched = match &step.outcome {
            ChainStepOutcome::RolledBackTo(fork) => self.touched(fork.height)?,
            _ => 0,
        };
        let mut lines = Vec::new();
        let taken = self.take(&step, now, &mut lines);
        if taken.is_ok() {
            node.taken();
            self.say(&step, touched);
        }
        for line in lines {
            log::info!("{}: {line}", self.chain);
        }
        taken.map(|()| stands(&step))
    }

    /// Takes a step part by part; the log lines are of those that are committed.
    fn take(
        &self,
        step: &Arc<ChainStep>,
        now: Time,
        lines: &mut Vec<String>,
    ) -> Result<(), StepError> {
        let mut part = BatchStart::FIRST;
        while part != BatchStart::Done {
            let service = self.service()?;
            let taken = service.apply_chain_step(now, step, part, self.bound());
            part = taken.map_err(StepError::File)?;
            lines.extend(service.take_lines(self.chain));
        }
        Ok(())
    }

    /// Asks a node for its newest block alone, and tells it.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn greet(&self, node: &mut dyn Node, now: Time) -> Result<(), StepError> {
        let before = node.requests();
        self.service()?.hear_of_asking(self.chain, now);
        let head = node.network().and_then(|_| node.head());
        let service = self.service()?;
        service.hear_of_answer(self.chain);
        let more = node.requests().saturating_sub(before);
        service.hear_of_requests(now, self.chain, more);
        let head = head.map_err(StepError::Node)?;
        service.hear_of_head(self.chain, head.block.height);
        Ok(())
    }

    /// Asks what sending on the chain costs, and keeps the answer for approvals.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn ask_for_fees(&self, node: &mut dyn Node, now: Time) -> Result<(), StepError> {
        let before = node.requests();
        let fees = node.fees();
        let more = node.requests().saturating_sub(before);
        let service = self.service()?;
        service.hear_of_requests(now, self.chain, more);
        if let Some(fees) = fees.map_err(StepError::Node)? {
            service.hear_of_fees(self.chain, FeeEstimate { fees, at: now });
        }
        Ok(())
    }

    /// How much one transaction takes.
    fn bound(&self) -> BatchLimit {
        let (ms_max, mut begun) = (self.part_ms_max, None);
        BatchLimit::new(self.outputs_max, move || {
            begun.get_or_insert_with(Stopwatch::start).ms() < ms_max
        })
    }

    /// How many payments and the like are in blocks above this height.
    fn touched(&self, height: u32) -> Result<i64, StepError> {
        let touched = self.service()?.seen_above(self.chain, height);
        touched.map_err(StepError::File)
    }

    /// What the operator should hear of.
    fn say(&mut self, step: &ChainStep, touched: i64) {
        let chain = self.chain;
        self.network = Some(step.network.clone());
        if !std::mem::replace(&mut self.is_connected, true) {
            let (network, height) = (&step.network, step.head.block.height);
            log::info!("{chain}: connected to {network}, whose newest block is {height}");
        }
        match &step.outcome {
            ChainStepOutcome::Started { to, .. } => {
                log::info!("{chain}: followed from block {} on", to.block.height);
            }
            ChainStepOutcome::RolledBackTo(fork) => {
                let from = step.from.as_ref().map_or(0, |from| from.height);
                let depth = from.saturating_sub(fork.height);
                log::warn!(
                    "{chain}: reorganised behind block {}: depth {depth}, payments touched {touched}",
                    fork.height
                );
            }
            ChainStepOutcome::Stopped(_)
            | ChainStepOutcome::Forward(_)
            | ChainStepOutcome::Rescanned(_)
            | ChainStepOutcome::ClaimChecked(_)
            | ChainStepOutcome::BalancesChecked(_)
            | ChainStepOutcome::HeightFound { .. } => {}
        }
    }
}

fn stands(step: &ChainStep) -> ChainProgress {
    match &step.outcome {
        ChainStepOutcome::Forward(forward) if forward.to.block == step.head.block => {
            let is_read = forward.scanned_to.is_some();
            let complete = forward.complete.is_none() || step.chain.has_outputs();
            if is_read && complete {
                ChainProgress::AtHead(step.head.clone())
            } else {
                ChainProgress::Behind(0)
            }
        }
        ChainStepOutcome::Forward(forward) => {
            let (head, to) = (step.head.block.height, forward.to.block.height);
            ChainProgress::Behind(head.saturating_sub(to))
        }
        ChainStepOutcome::Stopped(why) => ChainProgress::Stopped(why.clone()),
        ChainStepOutcome::Started { .. }
        | ChainStepOutcome::RolledBackTo(_)
        | ChainStepOutcome::Rescanned(_)
        | ChainStepOutcome::ClaimChecked(_)
        | ChainStepOutcome::BalancesChecked(_)
        | ChainStepOutcome::HeightFound { .. } => ChainProgress::Behind(0),
    }
}
