//! Runs the thread that follows one chain, so that a node that hangs blocks nothing else.
//!
//! Invariant: a node that hangs does not delay the stop of the server.

mod finality;
mod head;
mod outage;
mod pace;
mod problem;
#[cfg(test)]
mod tests;

use super::waker::{ChainWaker, Pause};
use super::{ChainProgress, ChainWatch, StepError};
use crate::chain::cost::FEES_EVERY_MS;
use crate::chain::urls::Connector;
use crate::chain::{Node, NodeError};
use crate::clock::Clock;
use crate::domain::Time;
use crate::domain::set_aside::set_aside_problem;
use crate::domain::time::MINUTE_MS;
use finality::FinalityAge;
use head::{HeadAge, lag_problem};
use log::Level;
use outage::Outage;
pub use pace::PollIntervals;
use pace::{BACK_OFF, doubled_back_off, with_jitter};
use problem::{FollowProblem, PartialProblem};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Interval at which a new thread checks whether it must end while it waits for the previous thread.
const PREVIOUS_CHECK_EVERY: Duration = Duration::from_millis(100);
/// Time for which money is expected after a payment address was shown, in milliseconds.
const EXPECTED_MS: i64 = 15 * MINUTE_MS;

/// A thread that follows a chain until this handle is dropped.
pub struct Follower {
    waker: Arc<ChainWaker>,
    ended: Mutex<Receiver<()>>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.ask_to_stop();
    }
}

impl Follower {
    /// Starts a thread that follows a chain, after the `previous` thread of the chain has ended.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread.
    pub fn start(
        watch: ChainWatch,
        connect: Box<dyn Connector>,
        clock: Arc<Clock>,
        pace: PollIntervals,
        waker: Arc<ChainWaker>,
        previous: Option<Follower>,
    ) -> std::io::Result<Follower> {
        let (end, ended) = channel();
        let own = Arc::clone(&waker);
        let thread = std::thread::Builder::new().name(format!("chain {}", watch.chain));
        thread.spawn(move || {
            if wait_for_previous(previous, &own) {
                FollowerState::new(watch, connect, clock, pace, own).run_until_stopped();
            }
            // The send fails if nothing waits for the end of the thread.
            let _ = end.send(());
        })?;
        let ended = Mutex::new(ended);
        Ok(Follower { waker, ended })
    }

    /// Asks the thread to end, without waiting.
    pub fn ask_to_stop(&self) {
        self.waker.ask_to_stop();
    }

    /// Waits up to `within` for the end of the thread. Returns `false` if the thread still runs because its node does
    /// not answer.
    pub fn wait_for_end(&self, within: Duration) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        !matches!(ended.recv_timeout(within), Err(RecvTimeoutError::Timeout))
    }
}

/// Waits for the end of the previous thread of the chain. Returns `false` if the new thread must end as well.
fn wait_for_previous(previous: Option<Follower>, waker: &ChainWaker) -> bool {
    if let Some(previous) = previous {
        previous.ask_to_stop();
        while !waker.is_stopped() && !previous.wait_for_end(PREVIOUS_CHECK_EVERY) {}
    }
    !waker.is_stopped()
}

/// The state of a thread that follows a chain.
struct FollowerState {
    watch: ChainWatch,
    connect: Box<dyn Connector>,
    clock: Arc<Clock>,
    pace: PollIntervals,
    waker: Arc<ChainWaker>,
    /// Connection to the node in use.
    connected: Option<Box<dyn Node>>,
    /// Uptime at which a payment address was last shown.
    asked_at: Option<Time>,
    /// Uptime at which fees were last requested.
    fees_asked_at: Option<Time>,
    /// Number of consecutive failures.
    failures: u32,
    /// Number of consecutive steps after which the node is asked again for a part.
    asks_again: u32,
    /// `true` if the last step of a rescan failed.
    rescan_fails: bool,
    /// Problem that was logged last. `None` if the chain has no problem.
    said: Option<FollowProblem>,
    /// Problem that was logged last with which the chain is still followed.
    said_besides: Option<PartialProblem>,
    head_age: HeadAge,
    finality_age: FinalityAge,
    outage: Outage,
}

impl FollowerState {
    fn new(
        watch: ChainWatch,
        connect: Box<dyn Connector>,
        clock: Arc<Clock>,
        pace: PollIntervals,
        waker: Arc<ChainWaker>,
    ) -> FollowerState {
        FollowerState {
            watch,
            connect,
            clock,
            pace,
            waker,
            connected: None,
            asked_at: None,
            fees_asked_at: None,
            failures: 0,
            asks_again: 0,
            rescan_fails: false,
            said: None,
            said_besides: None,
            head_age: HeadAge::default(),
            finality_age: FinalityAge::default(),
            outage: Outage::default(),
        }
    }

    fn run_until_stopped(&mut self) {
        let (clock, waker) = (Arc::clone(&self.clock), Arc::clone(&self.waker));
        while let Some(pause) = self.run_step() {
            let node = self
                .connected
                .as_mut()
                .filter(|node| pause.expected.is_some() && node.sends_notifications());
            let news = node.map(|node| || node.has_notification());
            if !waker.wait_pause(&clock, pause, news) {
                return;
            }
        }
    }

    /// Makes one step, and returns the pause after it. `None` if the server has stopped.
    fn run_step(&mut self) -> Option<Pause> {
        self.note_step_begin();
        if self.waker.take_expected_payment_signal() {
            self.asked_at = Some(self.clock.uptime());
        }
        let stepped = match self.prepare_addresses() {
            // This step only derived addresses and did not ask the node, so the reported problem stays.
            Ok(false) => return Some(Pause::fixed(Duration::ZERO)),
            Ok(true) => self.make_step_with_node(),
            Err(failed) => Err(failed),
        };
        match stepped {
            Ok(stands) => Some(self.pause_after_step(&stands)),
            Err(StepError::Closed) => None,
            Err(failed) => {
                let pause = self.pause_after_failure(&failed);
                let other = self.connect.node_after_failures(self.failures);
                let other = other.or_else(|| self.renew_wrong_node(&failed));
                self.connected = other.or_else(|| self.connected.take());
                Some(Pause::fixed(pause))
            }
        }
    }

    fn make_step_with_node(&mut self) -> Result<ChainProgress, StepError> {
        if self.connected.is_none() {
            self.connected = self.connect.node_after_failures(0);
        }
        self.report_url_in_use();
        let node = self.connected.as_mut().ok_or(StepError::Closed)?;
        if !self.waker.is_rates_wait_over() {
            // The newest block is requested before the wait for rates, so that a node that hangs is noticed at once.
            self.watch.poll_head(node.as_mut(), self.clock.now())?;
        }
        let begins = || log::debug!("waiting for the first rates: chain={}", self.watch.chain);
        if !self.waker.wait_for_rates(&self.clock, self.pace.for_rates, begins) {
            return Err(StepError::Closed);
        }
        self.note_step_begin();
        let node = self.connected.as_mut().ok_or(StepError::Closed)?;
        let stands = self.watch.make_step(node.as_mut(), self.clock.now())?;
        if matches!(stands, ChainProgress::AtHead(_)) {
            self.request_due_fees();
        }
        Ok(stands)
    }

    /// Requests the fees of the chain if the last request is old enough. If the node fails, the chain is still
    /// followed, and the fees are requested again later.
    fn request_due_fees(&mut self) {
        let uptime = self.clock.uptime();
        let is_due = |at: Time| uptime.since_ms(at) >= FEES_EVERY_MS;
        let Some(node) = self.connected.as_mut() else {
            return;
        };
        if !self.fees_asked_at.is_none_or(is_due) {
            return;
        }
        self.fees_asked_at = Some(uptime);
        let asked = self.watch.request_fees(node.as_mut(), self.clock.now());
        if let Err(failed @ (StepError::Node(_) | StepError::File(_))) = asked {
            log::debug!("no fee estimate: chain={} error={failed}", self.watch.chain);
        }
    }

    /// Returns `true` if all addresses are watched. Otherwise adds some of the missing addresses, and returns
    /// `false`.
    fn prepare_addresses(&self) -> Result<bool, StepError> {
        if self.watch.must_load_addresses() {
            self.watch.load_addresses().map(|()| false)
        } else {
            self.watch.derive_more_addresses()
        }
    }

    /// Reports a successful step, and returns the pause after it.
    fn pause_after_step(&mut self, stands: &ChainProgress) -> Pause {
        let chain = self.watch.chain;
        if self.watch.was_rescan {
            self.rescan_fails = false;
        } else {
            self.failures = 0;
        }
        if self.handle_progress(stands) {
            return Pause::fixed(Duration::ZERO);
        }
        self.report_state(match stands {
            ChainProgress::NodeLags(lag) => Some(lag_problem(lag)),
            ChainProgress::Behind(_) | ChainProgress::AtHead(_) | ChainProgress::Stopped(_) => None,
        });
        match stands {
            ChainProgress::Behind(left) => {
                if *left > 0 {
                    let text = format!("blocks={left}");
                    self.log_problem(Level::Warn, "lagging", FollowProblem::Lagging, &text);
                }
                Pause::fixed(Duration::ZERO)
            }
            ChainProgress::AtHead(head) => {
                if self.said.take().is_some() {
                    log::info!("caught up: chain={chain} height={}", head.block.height);
                }
                if self.watch.has_rescan && !self.rescan_fails {
                    // During a rescan, the next step is due at once.
                    return Pause::fixed(Duration::ZERO);
                }
                let usual =
                    if self.is_money_expected() { self.pace.expected } else { self.pace.otherwise };
                let asks_again = self.watch.lacks_final_blocks()
                    || self.connected.as_ref().is_some_and(|node| node.asks_again());
                self.asks_again = if asks_again { self.asks_again.saturating_add(1) } else { 0 };
                let most = match self.asks_again.checked_sub(1) {
                    Some(before) => usual.min(doubled_back_off(before)),
                    None => usual,
                };
                Pause { most, expected: Some(self.pace.expected) }
            }
            ChainProgress::NodeLags(lag) => {
                let text = format!("missing={} newest={}", lag.lacks, lag.head.block.height);
                let problem = FollowProblem::MissingBlock(lag.lacks);
                self.log_problem(Level::Warn, "node lagging", problem, &text);
                Pause::fixed(self.pace.expected)
            }
            ChainProgress::Stopped(why) => {
                let text =
                    format!("reason={why}; to go on, run `coffer rescan {chain} --from HEIGHT`");
                self.log_problem(Level::Error, "stopped", FollowProblem::Stopped, &text);
                Pause::fixed(self.pace.expected)
            }
        }
    }

    /// Returns `true` if money is expected: an invoice can be paid in time, a payment is unconfirmed, or an address
    /// was shown recently.
    fn is_money_expected(&self) -> bool {
        let uptime = self.clock.uptime();
        if self.asked_at.is_some_and(|at| uptime.since_ms(at) < EXPECTED_MS) {
            return true;
        }
        let service = self.watch.service().ok();
        let chain = self.watch.chain;
        service.is_none_or(|service| service.is_money_expected(chain).unwrap_or(true))
    }

    /// Reports a failed step, and returns the pause after it.
    fn pause_after_failure(&mut self, failed: &StepError) -> Duration {
        self.rescan_fails |= self.watch.was_rescan;
        let is_named = self.watch.rescan_problem.is_some() || self.watch.final_problem.is_some();
        if self.watch.was_rescan && is_named {
            // Only the rescan has failed. New blocks are still read, so only the problem of the rescan is reported, or
            // that with final blocks.
            self.report_state(None);
            return with_jitter(BACK_OFF);
        }
        let is_behind = matches!(failed, StepError::Node(NodeError::Behind));
        let is_unread = self.note_failed_step();
        if !is_behind || is_unread || self.failures > 2 {
            let problem = self.watch.failure_problem(failed);
            self.report_unread(is_behind);
            self.report_state(Some(problem));
            let text = format!("error={failed}");
            self.log_problem(Level::Warn, "step failed", FollowProblem::of_step(failed), &text);
            self.watch.is_connected = false;
        }
        let doubled = doubled_back_off(self.failures);
        self.failures = self.failures.saturating_add(1);
        self.pause_until_unread(with_jitter(doubled))
    }

    /// Reports the state of the chain to the operator. `problem` says why the chain cannot be followed. If it is
    /// `None`, reports a problem of a rescan or of final blocks, what is set aside, or that the newest block is too
    /// old.
    fn report_state(&mut self, problem: Option<String>) {
        let rescan = self.watch.rescan_problem.as_ref();
        let rescan =
            rescan.map(|why| (PartialProblem::Rescan, format!("the rescan: its node {why}")));
        let finals = self.watch.final_problem.clone();
        let aside = set_aside_problem(self.watch.chain, &self.watch.set_aside);
        let besides = rescan
            .or(finals.map(|why| (PartialProblem::FinalBlocks, why)))
            .or(aside.map(|why| (PartialProblem::SetAside, why)));
        let (kind, text) = besides.unzip();
        if kind != self.said_besides {
            match &text {
                Some(text) => log::warn!("partly read: chain={} reason={text}", self.watch.chain),
                None => log::info!("fully read again: chain={}", self.watch.chain),
            }
            self.said_besides = kind;
        }
        let finality = self.finality_age.warning.as_ref();
        let warning = || self.head_age.warning.as_ref().or(finality).cloned();
        let problem = problem.or(text).or_else(warning);
        if let Ok(service) = self.watch.service() {
            service.record_follower_state(
                self.watch.chain,
                problem,
                self.watch.watched_address_count(),
            );
        }
    }

    /// Logs a problem when it is new. While the same problem lasts, its texts are logged at the level `debug` only.
    fn log_problem(&mut self, level: Level, event: &str, problem: FollowProblem, text: &str) {
        let is_new = self.said.replace(problem) != Some(problem);
        let level = if is_new { level } else { Level::Debug };
        log::log!(level, "{event}: chain={} {text}", self.watch.chain);
    }
}
