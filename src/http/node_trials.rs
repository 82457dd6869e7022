//! Tries nodes that operators enter.
//!
//! Invariant: few nodes are tried at once and in a minute, and each trial has a time limit, so that trials cannot scan
//! a network.

use super::limit::Limiter;
use crate::clock::Clock;
use crate::domain::chain::Chain;
use crate::domain::{Refusal, RefusalCode};
use crate::service::followed::nodes::{NodeAnswer, NodeControl, configured_node_refusal};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Largest number of nodes that are tried at once.
const TRIALS_MAX: usize = 2;
/// Number of trials that operators may make in a minute, together.
const TRIALS_PER_MINUTE: u32 = 6;
const TRIAL_BURST: u32 = 10;
/// Time limit of a trial. Each request of a trial has a shorter limit.
const TRIAL_WAIT_MAX: Duration = Duration::from_secs(10);

pub(super) struct NodeTrials {
    pub(super) control: Arc<dyn NodeControl>,
    places: Arc<Semaphore>,
    limiter: Limiter,
}

impl NodeTrials {
    pub(super) fn new(control: Arc<dyn NodeControl>) -> NodeTrials {
        let places = Arc::new(Semaphore::new(TRIALS_MAX));
        NodeTrials { control, places, limiter: Limiter::new(TRIALS_PER_MINUTE, TRIAL_BURST) }
    }

    /// Refuses a change if the settings name the nodes of the chain.
    pub(super) fn check_not_configured(&self, chain: Chain) -> Result<(), Refusal> {
        match self.control.configured_label(chain) {
            Some(_) => Err(configured_node_refusal(chain)),
            None => Ok(()),
        }
    }

    /// Takes a place for a trial. The place is free again when the permit is dropped.
    fn take_place(&self, clock: &Clock) -> Result<OwnedSemaphorePermit, Refusal> {
        let busy = |wait_seconds: i64| {
            let message = "too many nodes are being tried; wait, then try again";
            Refusal::new(RefusalCode::TooManyAttempts, message).with_retry_after(wait_seconds)
        };
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| busy(TRIAL_WAIT_MAX.as_secs().cast_signed()))?;
        // The uptime never goes back, unlike the time.
        let counted = self.limiter.count_creation("", clock.uptime());
        match counted.filter(|verdict| !verdict.allowed) {
            Some(verdict) => Err(busy(verdict.wait_seconds)),
            None => Ok(place),
        }
    }

    /// Tries a node on its own thread. A node that hangs keeps its place until its requests end.
    pub(super) async fn try_node(
        &self,
        clock: &Clock,
        chain: Chain,
        url: &str,
    ) -> Result<NodeAnswer, Refusal> {
        let place = self.take_place(clock)?;
        let (control, url) = (Arc::clone(&self.control), url.to_owned());
        let (answer, answered) = oneshot::channel();
        let started = std::thread::Builder::new().name("node trial".to_owned()).spawn(move || {
            // The send fails if the time limit is over.
            let _ = answer.send(control.try_node(chain, &url));
            drop(place);
        });
        started.map_err(|_| Refusal::new(RefusalCode::Overloaded, "no thread can be started"))?;
        let slow = || Refusal::field("url", "cannot be asked: no answer in time");
        match tokio::time::timeout(TRIAL_WAIT_MAX, answered).await {
            Ok(Ok(answer)) => answer.map_err(|problem| Refusal::field("url", problem)),
            Ok(Err(_)) | Err(_) => Err(slow()),
        }
    }
}
