//! Follows one chain: polls a node, computes the next step and stores it.
//!
//! Invariant: a step that was not stored completely is computed again. No part of it is kept in memory.

mod progress;
#[cfg(test)]
mod tests;
mod thread;
mod waker;

use progress::progress_after;
pub use progress::{ChainProgress, StepError};
pub use thread::{Follower, PollIntervals};
pub use waker::{ChainWaker, ChainWakers};

use crate::chain::follow::{
    FollowOutcome, StepOptions, StepTargets, WatchedAddresses, compute_step,
};
use crate::chain::{Node, NodeError};
use crate::clock::Stopwatch;
use crate::domain::asset::Chain;
use crate::domain::{ChainStep, ChainStepOutcome, FeeEstimate, ForwardStep, SetAside, Time};
use crate::service::Service;
use crate::service::chains::apply::{BatchLimit, BatchStart};
use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock, Weak};

/// Maximum number of outputs stored in one transaction, so that other writers are not delayed.
const OUTPUTS_MAX: usize = 200;
/// Maximum duration of a transaction that stores outputs, in milliseconds.
const BATCH_MS_MAX: i64 = 50;
/// Number of consecutive steps without final blocks after which that is a problem.
const FINAL_LAGS_MAX: u32 = 3;

/// The state and the options of following one chain.
pub struct ChainWatch {
    /// Service that stores the steps. The reference is weak: if the node never answers, the thread must not keep the
    /// file open.
    pub service: Weak<Service>,
    /// The chain to follow.
    pub chain: Chain,
    /// Addresses watched on the chain.
    pub addresses: Arc<RwLock<WatchedAddresses>>,
    /// Largest number of blocks that one step reads.
    pub blocks_max: u32,
    /// Largest number of payments that one database transaction writes.
    pub outputs_max: usize,
    /// Time limit for the payments of one database transaction, in milliseconds. At least one payment is always
    /// written.
    pub part_ms_max: i64,
    /// `true` if a test network is allowed.
    pub test_networks: bool,
    /// `true` if the last step belonged to a rescan. During a rescan, every second step belongs to the rescan.
    pub was_rescan: bool,
    /// `true` if a rescan was under way at the last step.
    pub has_rescan: bool,
    /// Reason why the current rescan cannot continue, for example blocks that the node has pruned. Set only if the
    /// node can never provide the missing data.
    pub rescan_problem: Option<String>,
    /// Problem with final blocks: the node does not give them, or they differ from those that were read.
    pub final_problem: Option<String>,
    /// Number of consecutive steps at which the node did not have its final blocks.
    pub final_lags: u32,
    /// Transactions and addresses that the node does not give, although it gives everything else.
    pub set_aside: Vec<SetAside>,
    /// Height of the block up to which the chain was read completely before the last step. On account chains, this is
    /// the newest final block that was read.
    pub final_height: Option<u32>,
    /// `true` if a node has answered since the last failure.
    pub is_connected: bool,
    /// The network of the node at the last step. `None` before the first step.
    pub network: Option<String>,
    /// Height of the next block to read, and of the node's newest block, at the last step. `None` if the node did not
    /// report its newest block.
    pub unread: Option<(u32, u32)>,
}

impl ChainWatch {
    /// Creates the state before the first step. Test networks are not allowed.
    pub fn new(
        service: Weak<Service>,
        chain: Chain,
        addresses: Arc<RwLock<WatchedAddresses>>,
    ) -> ChainWatch {
        ChainWatch {
            service,
            chain,
            addresses,
            blocks_max: chain.row().step_blocks_max,
            outputs_max: OUTPUTS_MAX,
            part_ms_max: BATCH_MS_MAX,
            test_networks: false,
            was_rescan: false,
            has_rescan: false,
            rescan_problem: None,
            final_problem: None,
            final_lags: 0,
            set_aside: Vec::new(),
            final_height: None,
            is_connected: false,
            network: None,
            unread: None,
        }
    }

    /// Returns the service, unless the server has stopped.
    fn service(&self) -> Result<Arc<Service>, StepError> {
        self.service.upgrade().ok_or(StepError::Closed)
    }

    /// Returns `true` if the watched addresses are not loaded from the file yet.
    fn must_load_addresses(&self) -> bool {
        let watched = self.addresses.read();
        let watched = watched.unwrap_or_else(PoisonError::into_inner);
        watched.pending_reload().is_some()
    }

    /// Returns the number of watched addresses.
    fn watched_address_count(&self) -> usize {
        let watched = self.addresses.read();
        let watched = watched.unwrap_or_else(PoisonError::into_inner);
        watched.filter.len()
    }

    /// Loads all watched addresses from the file. Addresses that are assigned later are added after their commit.
    ///
    /// # Errors
    ///
    /// [`StepError`].
    pub fn load_addresses(&self) -> Result<(), StepError> {
        let watched = || self.addresses.write().unwrap_or_else(PoisonError::into_inner);
        let wanted = watched().pending_reload();
        let insert = |address: &str| watched().insert(self.chain, address);
        let loaded = self.service()?.for_each_watched_address(self.chain, insert);
        loaded.map_err(StepError::File)?;
        if let Some(change) = wanted {
            watched().mark_reload_done(change);
        }
        Ok(())
    }

    /// Derives some of the addresses that are watched before they are assigned. Returns `true` once all of them are
    /// derived.
    ///
    /// # Errors
    ///
    /// [`StepError`].
    pub fn derive_more_addresses(&self) -> Result<bool, StepError> {
        let (chain, addresses) = (self.chain, &self.addresses);
        let look_for = |address: &str, distance: u32| {
            let mut watched = addresses.write().unwrap_or_else(PoisonError::into_inner);
            watched.insert_unassigned(chain, address, distance);
        };
        let looked = self.service()?.derive_unowned_addresses(chain, look_for);
        looked.map_err(StepError::File)
    }

    /// Computes the next step from the file and the node. Does not write.
    ///
    /// # Errors
    ///
    /// [`StepError`].
    pub fn compute_step(
        &mut self,
        node: &mut dyn Node,
        now: Time,
    ) -> Result<FollowOutcome, StepError> {
        let known = self
            .service()?
            .chain_state(now, self.chain, self.blocks_max, node.is_queried_by_address())
            .map_err(StepError::File)?;
        self.has_rescan = known.rescan.is_some();
        self.final_height = known.complete.as_ref().map(|block| block.height);
        self.was_rescan = !self.was_rescan && self.has_rescan;
        let manner = StepOptions {
            now,
            blocks_max: self.blocks_max,
            test_networks: self.test_networks,
            rescans: self.was_rescan,
        };
        let looking = StepTargets::new(&self.addresses, &known);
        let next = known.cursor.as_ref().map(|cursor| cursor.block.height);
        let next = next.map(|height| height.saturating_add(1));
        self.service()?.record_head_request_start(self.chain, now);
        // During the request, only a weak reference to the service is held, so that a node that hangs does not keep
        // the service alive.
        let (service, chain, unread) = (Weak::clone(&self.service), self.chain, &mut self.unread);
        *unread = None;
        let came = compute_step(node, &known, &looking, manner, &mut |head| {
            let newest = head.block.height;
            *unread = next.zip(Some(newest));
            if let Some(service) = service.upgrade() {
                service.record_head(chain, newest, head.time);
            }
        });
        self.service()?.record_head_request_end(self.chain);
        if self.was_rescan || !self.has_rescan {
            self.rescan_problem = match &came {
                Err(error @ NodeError::Wrong(_)) if self.was_rescan => Some(error.to_string()),
                Ok(_) | Err(_) => None,
            };
        }
        came.map_err(StepError::Node)
    }

    /// Returns the problem of a failed step for the operator: the error, and the blocks that the step had to read. So a
    /// block that the node cannot give is named.
    pub fn failure_problem(&self, failed: &StepError) -> String {
        match (self.unread, failed) {
            (Some((from, newest)), StepError::Node(_)) if from > newest => {
                format!("{failed}; the last block that was read is {}", from.saturating_sub(1))
            }
            (Some((from, newest)), StepError::Node(NodeError::Behind)) => format!(
                "its node says that its newest block is {newest}, and does not have all blocks from {from} on. Restart or \
                 repair that node, or name the url of another one with --node: the chain goes on by itself"
            ),
            (Some((from, newest)), StepError::Node(_)) if from == newest => {
                format!("{failed}; block {newest} is not read yet")
            }
            (Some((from, newest)), StepError::Node(_)) => {
                format!("{failed}; the blocks from {from} to {newest} are not read yet")
            }
            (Some(_) | None, _) => failed.to_string(),
        }
    }

    /// Makes one step. After a failure, the next step requests all data again that was not stored.
    ///
    /// # Errors
    ///
    /// [`StepError`].
    pub fn make_step(
        &mut self,
        node: &mut dyn Node,
        now: Time,
    ) -> Result<ChainProgress, StepError> {
        let before = node.request_count();
        let came = self.compute_step(node, now);
        // Requests are counted even if the step fails.
        let more = node.request_count().saturating_sub(before);
        self.service()?.add_to_request_count(now, self.chain, more);
        let step = match came? {
            FollowOutcome::Step(step) => Arc::new(*step),
            FollowOutcome::Lagging(lag) => return Ok(ChainProgress::NodeLags(lag)),
            FollowOutcome::Stopped(why) => return Ok(ChainProgress::Stopped(why)),
        };
        if let ChainStepOutcome::Forward(forward) = &step.outcome {
            self.note_final_problem(forward);
            self.log_set_aside(&forward.set_aside);
            self.set_aside.clone_from(&forward.set_aside);
        }
        let touched = match &step.outcome {
            ChainStepOutcome::RolledBackTo(fork) => {
                self.count_payments_above_height(fork.height)?
            }
            _ => 0,
        };
        let mut lines = Vec::new();
        let taken = self.store_step(&step, now, &mut lines);
        if taken.is_ok() {
            node.mark_answers_stored();
            self.log_step(&step, touched);
        }
        for line in lines {
            log::info!("{line}");
        }
        taken.map(|()| progress_after(&step))
    }

    /// Stores a step in batches, and collects the log lines of committed batches.
    fn store_step(
        &self,
        step: &Arc<ChainStep>,
        now: Time,
        lines: &mut Vec<String>,
    ) -> Result<(), StepError> {
        let mut part = BatchStart::FIRST;
        while part != BatchStart::Done {
            let service = self.service()?;
            let taken = service.apply_chain_step(now, step, part, self.batch_limit());
            part = taken.map_err(StepError::File)?;
            lines.extend(service.take_log_lines(self.chain));
        }
        Ok(())
    }

    /// Requests only the newest block of a node, and reports its height to the service.
    ///
    /// # Errors
    ///
    /// [`StepError`].
    pub fn poll_head(&self, node: &mut dyn Node, now: Time) -> Result<(), StepError> {
        let before = node.request_count();
        self.service()?.record_head_request_start(self.chain, now);
        let head = node.network().and_then(|_| node.head());
        let service = self.service()?;
        service.record_head_request_end(self.chain);
        let more = node.request_count().saturating_sub(before);
        service.add_to_request_count(now, self.chain, more);
        let head = head.map_err(StepError::Node)?;
        service.record_head(self.chain, head.block.height, head.time);
        Ok(())
    }

    /// Requests the fee estimate of the chain, and keeps the estimate for the approval of transfers.
    ///
    /// # Errors
    ///
    /// [`StepError`].
    pub fn request_fees(&self, node: &mut dyn Node, now: Time) -> Result<(), StepError> {
        let before = node.request_count();
        let fees = node.fee_estimate();
        let more = node.request_count().saturating_sub(before);
        let service = self.service()?;
        service.add_to_request_count(now, self.chain, more);
        if let Some(fees) = fees.map_err(StepError::Node)? {
            service.record_fee_estimate(self.chain, FeeEstimate { fees, at: now });
        }
        Ok(())
    }

    /// Returns the limits of one batch: its number of payments and its duration.
    fn batch_limit(&self) -> BatchLimit {
        let (ms_max, mut begun) = (self.part_ms_max, None);
        BatchLimit::new(self.outputs_max, move || {
            begun.get_or_insert_with(Stopwatch::start).elapsed_ms() < ms_max
        })
    }

    /// Returns the number of payments in blocks above this height.
    fn count_payments_above_height(&self, height: u32) -> Result<i64, StepError> {
        let touched = self.service()?.count_observations_above(self.chain, height);
        touched.map_err(StepError::File)
    }

    /// Records the problem with final blocks after a step. A lag becomes a problem if it lasts.
    fn note_final_problem(&mut self, forward: &ForwardStep) {
        let lag = forward.final_lag.as_ref();
        self.final_lags = lag.map_or(0, |_| self.final_lags.saturating_add(1));
        let lag = lag.filter(|_| self.final_lags >= FINAL_LAGS_MAX);
        self.final_problem = forward.disputed.as_ref().or(lag).cloned();
    }

    /// Returns `true` if the last step did not read the final blocks that it should have read.
    pub fn lacks_final_blocks(&self) -> bool {
        self.final_problem.is_some() || self.final_lags > 0
    }

    /// Logs what is set aside now and was not before, and what is not any more.
    fn log_set_aside(&self, now: &[SetAside]) {
        let chain = self.chain;
        let key = |part: &SetAside| (part.kind, part.id.clone());
        let before: HashSet<_> = self.set_aside.iter().map(key).collect();
        let after: HashSet<_> = now.iter().map(key).collect();
        for part in now.iter().filter(|part| !before.contains(&key(part))) {
            let SetAside { kind, id, reason, .. } = part;
            log::warn!("set aside: chain={chain} {kind}={id} reason={reason}");
        }
        for (kind, id) in before.difference(&after) {
            log::info!("no longer set aside: chain={chain} {kind}={id}");
        }
    }

    /// Logs the changes of a step that an operator should know.
    fn log_step(&mut self, step: &ChainStep, touched: i64) {
        let chain = self.chain;
        self.network = Some(step.network.clone());
        if !std::mem::replace(&mut self.is_connected, true) {
            let (network, height) = (&step.network, step.head.block.height);
            log::info!("connected: chain={chain} network={network} height={height}");
        }
        match &step.outcome {
            ChainStepOutcome::Started { to, .. } => {
                log::info!("following started: chain={chain} height={}", to.block.height);
            }
            ChainStepOutcome::RolledBackTo(fork) => {
                let from = step.from.as_ref().map_or(0, |from| from.height);
                let depth = from.saturating_sub(fork.height);
                if depth == 0 {
                    log::info!("resumed: chain={chain} height={from}");
                    return;
                }
                log::warn!(
                    "reorg: chain={chain} fork={} depth={depth} payments={touched}",
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
