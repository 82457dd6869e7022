//! The thread that follows one chain: nodes hang, and nobody else waits for them.
//!
//! What lives here: when the next step is, and how it ends. What does not: a step. What always holds: whoever stops it waits
//! no longer than a moment, whatever its node does.

mod head;
#[cfg(test)]
mod tests;

use super::waker::{ChainWaker, Pause};
use super::{ChainProgress, StepError, Watch};
use crate::chain::cost::{Cost, FEES_EVERY_MS};
use crate::chain::urls::Connector;
use crate::chain::{Node, NodeError};
use crate::clock::Clock;
use crate::domain::asset::Chain;
use crate::domain::time::{MINUTE_MS, Time};
use crate::service::random;
use head::{HeadAge, lag_problem, unread_problem};
use log::Level;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The longest pause after failures.
const BACK_OFF_MAX: Duration = Duration::from_secs(120);
/// After the first failure; twice as long after each further one.
const BACK_OFF: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long the first step waits for rates, where they are asked for and no answer comes.
const FOR_RATES: Duration = Duration::from_secs(10);
/// So long money is expected after somebody was shown where to pay, whoever that was.
const EXPECTED_MS: i64 = 15 * MINUTE_MS;

/// How often a node is asked.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// While money is expected.
    pub expected: Duration,
    /// Otherwise.
    pub otherwise: Duration,
    /// How long the first step waits, at most, until the first rates are there: what it takes in is booked at those.
    pub for_rates: Duration,
}

impl Pace {
    /// How often the nodes of a chain are asked.
    pub const fn of(chain: Chain) -> Pace {
        let (expected, otherwise) = match chain {
            Chain::Bitcoin | Chain::Litecoin | Chain::Dogecoin => (10, 30),
            Chain::Ethereum | Chain::Base | Chain::Polygon | Chain::Tron => (15, 60),
            Chain::Solana => (10, 60),
        };
        Pace {
            expected: Duration::from_secs(expected),
            otherwise: Duration::from_secs(otherwise),
            for_rates: FOR_RATES,
        }
    }

    /// How many requests a day it makes to follow a chain: while no money is expected, and while some is.
    pub fn requests_a_day(chain: Chain, cost: &Cost) -> (u64, u64) {
        let pace = Pace::of(chain);
        let polls = |every: Duration| DAY.as_secs().checked_div(every.as_secs()).unwrap_or(0);
        let (otherwise, expected) = (polls(pace.otherwise), polls(pace.expected));
        (cost.a_day(otherwise), cost.a_day(expected))
    }
}

/// A chain that is followed, until this is dropped.
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
    /// Starts to follow a chain.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub fn start(
        watch: Watch,
        connect: Box<dyn Connector>,
        clock: Arc<Clock>,
        pace: Pace,
        waker: Arc<ChainWaker>,
    ) -> std::io::Result<Follower> {
        let (end, ended) = channel();
        let own = Arc::clone(&waker);
        let thread = std::thread::Builder::new().name(format!("chain {}", watch.chain));
        thread.spawn(move || {
            Following::new(watch, connect, clock, pace, own).run();
            // Nobody waits any more where this fails.
            let _ = end.send(());
        })?;
        let ended = Mutex::new(ended);
        Ok(Follower { waker, ended })
    }

    /// Asks it to end, without waiting.
    pub fn ask_to_stop(&self) {
        self.waker.ask_to_stop();
    }

    /// Waits until it has ended, so long at most; false where it has not: its node does not answer.
    pub fn has_ended(&self, within: Duration) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        !matches!(ended.recv_timeout(within), Err(RecvTimeoutError::Timeout))
    }
}

/// What the thread knows.
struct Following {
    watch: Watch,
    connect: Box<dyn Connector>,
    clock: Arc<Clock>,
    pace: Pace,
    waker: Arc<ChainWaker>,
    /// The node that is asked.
    connected: Option<Box<dyn Node>>,
    /// When somebody was last shown where to pay, by the time since the system was started.
    asked_at: Option<Time>,
    /// Time of the last question for fees, since the system was started.
    fees_asked_at: Option<Time>,
    /// Failures in a row.
    failures: u32,
    /// Did the last part of a rescan fail?
    rescan_fails: bool,
    /// What was said last of what is wrong; nothing while all is well.
    said: Option<String>,
    /// What was said last of a rescan, or of what is final, that cannot go on.
    said_besides: Option<String>,
    head_age: HeadAge,
}

impl Following {
    fn new(
        watch: Watch,
        connect: Box<dyn Connector>,
        clock: Arc<Clock>,
        pace: Pace,
        waker: Arc<ChainWaker>,
    ) -> Following {
        Following {
            watch,
            connect,
            clock,
            pace,
            waker,
            connected: None,
            asked_at: None,
            fees_asked_at: None,
            failures: 0,
            rescan_fails: false,
            said: None,
            said_besides: None,
            head_age: HeadAge::default(),
        }
    }

    fn run(&mut self) {
        let (clock, waker) = (Arc::clone(&self.clock), Arc::clone(&self.waker));
        while let Some(pause) = self.turn() {
            let node = self
                .connected
                .as_mut()
                .filter(|node| pause.expected.is_some() && node.tells_news());
            let news = node.map(|node| || node.has_news());
            if !waker.rest(&clock, pause, news) {
                return;
            }
        }
    }

    /// One step, and how long to rest after it; nothing where the server has stopped.
    fn turn(&mut self) -> Option<Pause> {
        if self.waker.take_money() {
            self.asked_at = Some(self.clock.uptime());
        }
        let stepped = match self.prepared() {
            // Nothing was asked: the node is as it was.
            Ok(false) => return Some(Pause::of(Duration::ZERO)),
            Ok(true) => self.stepped(),
            Err(failed) => Err(failed),
        };
        match stepped {
            Ok(stands) => Some(self.after(&stands)),
            Err(StepError::Closed) => None,
            Err(failed) => {
                let pause = self.after_failure(&failed);
                if let Some(other) = self.connect.after_failures(self.failures) {
                    self.connected = Some(other);
                }
                Some(Pause::of(pause))
            }
        }
    }

    fn stepped(&mut self) -> Result<ChainProgress, StepError> {
        if self.connected.is_none() {
            self.connected = self.connect.after_failures(0);
        }
        let node = self.connected.as_mut().ok_or(StepError::Closed)?;
        if !self.waker.has_rates() {
            // One that hangs is told of at once.
            self.watch.greet(node.as_mut(), self.clock.now())?;
        }
        let begins = || log::debug!("{}: waits for the first rates", self.watch.chain);
        if !self
            .waker
            .wait_for_rates(&self.clock, self.pace.for_rates, begins)
        {
            return Err(StepError::Closed);
        }
        let stands = self.watch.step(node.as_mut(), self.clock.now())?;
        if matches!(stands, ChainProgress::AtHead(_)) {
            self.ask_for_fees();
        }
        Ok(stands)
    }

    /// Asks what sending costs, now and then. A node that does not tell is asked again later, and the chain is followed on.
    fn ask_for_fees(&mut self) {
        let uptime = self.clock.uptime();
        let is_due = |at: Time| uptime.since_ms(at) >= FEES_EVERY_MS;
        let Some(node) = self.connected.as_mut() else {
            return;
        };
        if !self.fees_asked_at.is_none_or(is_due) {
            return;
        }
        self.fees_asked_at = Some(uptime);
        let asked = self.watch.ask_for_fees(node.as_mut(), self.clock.now());
        if let Err(failed @ (StepError::Node(_) | StepError::File(_))) = asked {
            log::debug!("{}: no estimate of fees: {failed}", self.watch.chain);
        }
    }

    /// Is everything looked for that is to be? If not, some more is now.
    fn prepared(&self) -> Result<bool, StepError> {
        if self.watch.is_stale() {
            self.watch.load().map(|()| false)
        } else {
            self.watch.look_ahead()
        }
    }

    /// How long until the next step, after one that was taken.
    fn after(&mut self, stands: &ChainProgress) -> Pause {
        let chain = self.watch.chain;
        if self.watch.was_rescan {
            self.rescan_fails = false;
        } else {
            self.failures = 0;
        }
        if self.turns_after(stands) {
            return Pause::of(Duration::ZERO);
        }
        self.tell(match stands {
            ChainProgress::NodeLags(lag) => Some(lag_problem(lag)),
            ChainProgress::Behind(_) | ChainProgress::AtHead(_) | ChainProgress::Stopped(_) => None,
        });
        match stands {
            ChainProgress::Behind(left) => {
                if *left > 0 {
                    let more = format!(", {left} blocks are to be read");
                    self.say(Level::Warn, "lagging".to_owned(), &more);
                }
                Pause::of(Duration::ZERO)
            }
            ChainProgress::AtHead(head) => {
                if self.said.take().is_some() {
                    log::info!("{chain}: caught up, block {}", head.block.height);
                }
                if self.watch.has_rescan && !self.rescan_fails {
                    // Its next part does not wait for the next poll.
                    return Pause::of(Duration::ZERO);
                }
                let most = if self.is_expected() {
                    self.pace.expected
                } else {
                    self.pace.otherwise
                };
                Pause {
                    most,
                    expected: Some(self.pace.expected),
                }
            }
            ChainProgress::NodeLags(lag) => {
                let what = format!("lagging: its node does not have block {}", lag.lacks);
                let more = format!("; its newest is {}", lag.head.block.height);
                self.say(Level::Warn, what, &more);
                Pause::of(self.pace.expected)
            }
            ChainProgress::Stopped(why) => {
                let more = format!(
                    ". Look at what has happened, then `coffer rescan {chain} --from HEIGHT`"
                );
                self.say(Level::Error, format!("stopped: {why}"), &more);
                Pause::of(self.pace.expected)
            }
        }
    }

    /// Is money expected: may something be paid in time, is something seen and not confirmed, or was somebody shown a moment
    /// ago where to pay?
    fn is_expected(&self) -> bool {
        let uptime = self.clock.uptime();
        if self
            .asked_at
            .is_some_and(|at| uptime.since_ms(at) < EXPECTED_MS)
        {
            return true;
        }
        let service = self.watch.service().ok();
        let chain = self.watch.chain;
        service.is_none_or(|service| service.is_money_expected(chain).unwrap_or(true))
    }

    /// How long until the next step, after one that failed.
    fn after_failure(&mut self, failed: &StepError) -> Duration {
        self.rescan_fails |= self.watch.was_rescan;
        if let (true, Some(_)) = (self.watch.was_rescan, &self.watch.rescan_problem) {
            // The chain is followed on all the same.
            self.tell(None);
            return jittered(BACK_OFF);
        }
        let is_behind = matches!(failed, StepError::Node(NodeError::Behind));
        if !is_behind || self.failures > 2 {
            let problem = match self.watch.unread {
                Some(unread) if is_behind => unread_problem(unread),
                Some(_) | None => failed.to_string(),
            };
            self.lacks_block(is_behind);
            self.tell(Some(problem));
            self.say(Level::Warn, failed.to_string(), "");
            self.watch.is_connected = false;
        }
        let doubled = BACK_OFF.saturating_mul(1_u32.checked_shl(self.failures).unwrap_or(u32::MAX));
        self.failures = self.failures.saturating_add(1);
        jittered(doubled.min(BACK_OFF_MAX))
    }

    /// Tells the operator how the chain is, and what cannot go on while it is followed.
    fn tell(&mut self, problem: Option<String>) {
        let rescan = self.watch.rescan_problem.as_ref();
        let rescan = rescan.map(|why| format!("the rescan: its node {why}"));
        let besides = rescan.or_else(|| self.watch.final_problem.clone());
        if besides != self.said_besides {
            match &besides {
                Some(text) => log::warn!("{}: {text}", self.watch.chain),
                None => log::info!("{}: goes on with what it could not read", self.watch.chain),
            }
            self.said_besides.clone_from(&besides);
        }
        let warning = || self.head_age.warning.clone();
        let problem = problem.or(besides).or_else(warning);
        if let Ok(service) = self.watch.service() {
            service.hear_of_chain(self.watch.chain, problem, self.watch.watched());
        }
    }

    /// Says what is wrong, once while it stays the same, whatever there is to say besides.
    fn say(&mut self, level: Level, what: String, more: &str) {
        if self.said.as_ref() != Some(&what) {
            log::log!(level, "{}: {what}{more}", self.watch.chain);
            self.said = Some(what);
        }
    }
}

/// Up to a quarter shorter, so that not all ask at once.
fn jittered(pause: Duration) -> Duration {
    let [dice] = random::<1>().unwrap_or([0]);
    let share = pause.checked_div(1024).unwrap_or_default();
    pause.saturating_sub(share.saturating_mul(u32::from(dice)))
}
