//! The thread that follows one chain: nodes hang, and nobody else waits for them.
//!
//! What lives here: when the next step is, and how it ends. What does not: a step. What always holds: whoever stops it waits
//! no longer than a moment, whatever its node does.

use super::{Failed, Stands, Watch};
use crate::chain::{Node, NodeError};
use crate::clock::Clock;
use crate::domain::asset::Chain;
use crate::service::random;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The longest pause after failures.
const BACK_OFF_MAX: Duration = Duration::from_secs(120);
/// After the first failure; twice as long after each further one.
const BACK_OFF: Duration = Duration::from_secs(1);

/// Connects to a chain's node, anew, after so many failures in a row: nothing is remembered of what it was told before.
pub type Connect = Box<dyn FnMut(u32) -> Box<dyn Node> + Send>;

/// How often a node is asked.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// While money is expected.
    pub expected: Duration,
    /// Otherwise.
    pub otherwise: Duration,
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
        }
    }
}

/// A chain that is followed.
pub struct Follower {
    stop: Sender<()>,
    ended: Mutex<Receiver<()>>,
}

impl Follower {
    /// Starts to follow a chain.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub fn start(
        watch: Watch,
        connect: Connect,
        clock: Arc<Clock>,
        pace: Pace,
    ) -> std::io::Result<Follower> {
        let ((stop, stopped), (end, ended)) = (channel(), channel());
        let thread = std::thread::Builder::new().name(format!("chain {}", watch.chain));
        thread.spawn(move || {
            let mut following = Following {
                watch,
                connect,
                clock,
                pace,
                failures: 0,
                said: None,
                said_of_rescan: None,
            };
            following.run(&stopped);
            // Nobody waits any more where this fails.
            let _ = end.send(());
        })?;
        let ended = Mutex::new(ended);
        Ok(Follower { stop, ended })
    }

    /// Asks it to end, without waiting.
    pub fn ask_to_stop(&self) {
        // It has ended where this fails.
        let _ = self.stop.send(());
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
    connect: Connect,
    clock: Arc<Clock>,
    pace: Pace,
    /// Failures in a row.
    failures: u32,
    /// What was said last of what is wrong; nothing while all is well.
    said: Option<String>,
    /// What was said last of a rescan that cannot go on.
    said_of_rescan: Option<String>,
}

impl Following {
    fn run(&mut self, stopped: &Receiver<()>) {
        let mut connected: Option<Box<dyn Node>> = None;
        loop {
            let stepped = self.prepared().and_then(|is_prepared| {
                if !is_prepared {
                    return Ok(Stands::Behind);
                }
                let node = connected.get_or_insert_with(|| (self.connect)(self.failures));
                self.watch.step(node.as_mut(), self.clock.now())
            });
            let pause = match stepped {
                Ok(stands) => self.after(&stands),
                Err(Failed::Closed) => return,
                Err(failed) => {
                    connected = None;
                    self.after_failure(&failed)
                }
            };
            match stopped.recv_timeout(pause) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Is everything looked for that is to be? If not, some more is now.
    fn prepared(&self) -> Result<bool, Failed> {
        if self.watch.is_stale() {
            self.watch.load().map(|()| false)
        } else {
            self.watch.look_ahead()
        }
    }

    /// How long until the next step, after one that was taken.
    fn after(&mut self, stands: &Stands) -> Duration {
        let chain = self.watch.chain;
        self.failures = 0;
        self.tell(match stands {
            Stands::NodeLags(_) => Some("its node does not have what was read already".to_owned()),
            Stands::Behind | Stands::AtHead(_) | Stands::Stopped => None,
        });
        let is_expected = || {
            let service = self.watch.service().ok();
            service.is_none_or(|service| service.is_money_expected(chain).unwrap_or(true))
        };
        match stands {
            Stands::Behind => Duration::ZERO,
            Stands::AtHead(head) => {
                let pause = if is_expected() {
                    self.pace.expected
                } else {
                    self.pace.otherwise
                };
                if self.said.take().is_some() {
                    log::info!("{chain}: caught up, block {}", head.block.height);
                }
                pause
            }
            Stands::NodeLags(head) => {
                let text = "its node lags: it does not have what was read already".to_owned();
                self.say(text, Some(head.block.height));
                self.pace.expected
            }
            Stands::Stopped => self.pace.expected,
        }
    }

    /// How long until the next step, after one that failed.
    fn after_failure(&mut self, failed: &Failed) -> Duration {
        if let (true, Some(_)) = (self.watch.was_rescan, &self.watch.rescan_problem) {
            // The chain is followed on all the same.
            self.tell(None);
            return jittered(BACK_OFF);
        }
        if !matches!(failed, Failed::Node(NodeError::Behind)) || self.failures > 2 {
            self.tell(Some(failed.to_string()));
            self.say(failed.to_string(), None);
        }
        let doubled = BACK_OFF.saturating_mul(1_u32.checked_shl(self.failures).unwrap_or(u32::MAX));
        self.failures = self.failures.saturating_add(1).min(16);
        jittered(doubled.min(BACK_OFF_MAX))
    }

    /// Tells the operator how the chain is, and of a rescan that cannot go on.
    fn tell(&mut self, problem: Option<String>) {
        let rescan = self.watch.rescan_problem.as_ref();
        let rescan = rescan.map(|why| format!("the rescan: its node {why}"));
        if rescan != self.said_of_rescan {
            if let Some(text) = &rescan {
                log::warn!("{}: {text}", self.watch.chain);
            }
            self.said_of_rescan.clone_from(&rescan);
        }
        let problem = problem.or(rescan);
        if let Ok(service) = self.watch.service() {
            service.hear_of_chain(self.watch.chain, problem, self.watch.watched());
        }
    }

    /// Says what is wrong, once while it stays the same.
    fn say(&mut self, text: String, head: Option<u32>) {
        let chain = self.watch.chain;
        if self.said.as_ref() != Some(&text) {
            match head {
                Some(head) => log::warn!("{chain}: {text}; its newest block is {head}"),
                None => log::warn!("{chain}: {text}"),
            }
            self.said = Some(text);
        }
    }
}

/// Up to a quarter shorter, so that not all ask at once.
fn jittered(pause: Duration) -> Duration {
    let [dice] = random::<1>().unwrap_or([0]);
    let share = pause.checked_div(1024).unwrap_or_default();
    pause.saturating_sub(share.saturating_mul(u32::from(dice)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{BACK_OFF_MAX, Follower, Pace, jittered};
    use crate::chain::follow::Pools;
    use crate::chain::{BlockRead, Head, MempoolRead, Node, NodeError, Watched};
    use crate::clock::Clock;
    use crate::domain::asset::Chain;
    use crate::domain::observation::Block;
    use crate::service::tests::seeded;
    use crate::worker::watch_chain::Watch;
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    /// A node that says that it was asked, and answers when it is told to: never.
    struct Hangs(Sender<()>, Receiver<()>);

    impl Node for Hangs {
        fn network(&mut self) -> Result<String, NodeError> {
            self.0.send(()).unwrap();
            // Nobody answers: the other end is dropped at last.
            let _ = self.1.recv();
            Err(NodeError::Behind)
        }

        fn head(&mut self) -> Result<Head, NodeError> {
            Err(NodeError::Behind)
        }

        fn hash_at(&mut self, _: u32) -> Result<Option<String>, NodeError> {
            Err(NodeError::Behind)
        }

        fn blocks(&mut self, _: u32, _: u32, _: &dyn Watched) -> Result<Vec<BlockRead>, NodeError> {
            Err(NodeError::Behind)
        }

        fn mempool(&mut self, _: &[String], _: &dyn Watched) -> Result<MempoolRead, NodeError> {
            Err(NodeError::Behind)
        }

        fn block_of(&mut self, _: &str) -> Result<Option<Block>, NodeError> {
            Err(NodeError::Behind)
        }
    }

    #[test]
    fn nobody_waits_for_a_node_that_hangs_and_it_holds_no_file() {
        let (service, _file) = seeded();
        let chain = Chain::Bitcoin;
        let watch = Watch {
            service: Arc::downgrade(&service),
            chain,
            addresses: Pools::default().of(chain),
            blocks_max: 1,
            outputs_max: 1,
            test_networks: false,
            was_rescan: false,
            rescan_problem: None,
        };
        let (asked, is_asked) = channel();
        let (answer, answered) = channel();
        let mut ends = Some((asked, answered));
        let connect = Box::new(move |_| {
            let (asked, answered) = ends.take().unwrap();
            Box::new(Hangs(asked, answered)) as Box<dyn Node>
        });
        let clock = Arc::new(Clock::new(0, None));
        let follower = Follower::start(watch, connect, clock, Pace::of(chain)).unwrap();
        is_asked.recv().unwrap();
        follower.ask_to_stop();
        assert!(!follower.has_ended(Duration::ZERO));
        assert_eq!(Arc::strong_count(&service), 1);
        // Once it is told anything, it ends.
        drop(answer);
        assert!(follower.has_ended(Duration::MAX));
    }

    #[test]
    fn a_pause_is_up_to_a_quarter_shorter() {
        for _ in 0..100 {
            let pause = jittered(BACK_OFF_MAX);
            assert!(
                pause <= BACK_OFF_MAX && pause >= BACK_OFF_MAX * 3 / 4,
                "{pause:?}"
            );
        }
    }
}
