//! Latest state of a followed chain, as its follower reported it.

use crate::domain::chain::Chain;
use crate::domain::requests::RequestCounter;
use crate::domain::stale_head::unread_ms_max;
use crate::domain::time::{SECOND_MS, duration_text};
use crate::domain::{FeeEstimate, Time};

/// Maximum time for which a node may leave a request unanswered, in milliseconds.
const ANSWER_MS_MAX: i64 = 5 * SECOND_MS;

/// Latest state of a chain, as its follower reported it.
#[derive(Clone, Debug, Default)]
pub struct ReportedChainState {
    /// Message about a problem of the chain. `None` if there is no problem.
    pub problem: Option<String>,
    /// Number of watched addresses.
    pub watched: usize,
    /// Counter of requests to the chain's nodes.
    pub requests: RequestCounter,
    /// Newest fee estimate of the chain's node.
    pub fee_estimate: Option<FeeEstimate>,
    /// Height of the newest block of the chain's node.
    pub head_height: Option<u32>,
    /// Time in the header of that block.
    pub head_time: Option<Time>,
    /// Scheme, host, port and number of the URL in use. `None` with one URL, and before the first request.
    pub url_in_use: Option<String>,
    /// Time of the unanswered request for the newest block. `None` if no request waits.
    pub asked_since: Option<Time>,
    /// Time of the request, of any kind, that has no complete answer yet.
    pub request_since: Option<Time>,
    /// `true` if the chain could not be read for longer than [`unread_ms_max`], or its node has lost a block.
    pub is_unread: bool,
    /// Log lines of the current step.
    pub lines: Vec<String>,
}

impl ReportedChainState {
    /// Returns `true` if the chain cannot be read: its steps fail, or its node has not answered for too long.
    pub(in crate::service) fn is_unread(&self, chain: Chain, now: Time) -> bool {
        self.is_unread || self.hang_ms(chain, now).is_some()
    }

    /// Returns the time in milliseconds for which the node has not answered, if this is too long.
    fn hang_ms(&self, chain: Chain, now: Time) -> Option<i64> {
        let open = self.asked_since.max(self.request_since);
        let waits_ms = open.map(|since| now.since_ms(since));
        waits_ms.filter(|ms| *ms > unread_ms_max(chain))
    }

    /// Returns a message if the node has not answered in time. Only the request for the newest block has a small answer
    /// on every chain, so other requests get more time.
    pub(in crate::service) fn timeout_message(&self, chain: Chain, now: Time) -> Option<String> {
        let head_ms = self.asked_since.map(|since| now.since_ms(since));
        let head_ms = head_ms.filter(|ms| *ms >= ANSWER_MS_MAX);
        let hang_ms = head_ms.or_else(|| self.hang_ms(chain, now))?;
        Some(format!("its node has not answered for {}", duration_text(hang_ms)))
    }
}
