//! Tracks how long a node has reported no new block, and changes to another URL if the node stops or lags.

use super::{ChainProgress, FollowerState, StepError};
use crate::chain::follow::NodeLag;
use crate::chain::{Head, NodeError};
use crate::domain::stale_head::{
    REMEDY, age_without_skew_ms, should_query_other_urls, stale_head_warning,
};
use crate::domain::time::MINUTE_MS;
use crate::domain::{ChainPosition, Time};
use std::cmp::Ordering;

/// Minimum time between two requests to the other URLs while the newest block does not change, in milliseconds.
pub(super) const OTHER_URLS_EVERY_MS: i64 = MINUTE_MS;
/// The next URL is used after this many consecutive polls at which the node had lost a block that was read.
const LOST_POLLS_MAX: u32 = 3;

/// Base-2 logarithm of the largest factor by which the number of doubtful polls before a change of the URL grows.
const DOUBTS_LOG2_MAX: u32 = 6;

/// Counts consecutive polls at which a node answered, but not in full. Another URL may answer in full. If none does,
/// the changes become rarer, because each costs many requests.
#[derive(Default)]
pub(super) struct DoubtfulPolls {
    polls: u32,
    changes: u32,
}

impl DoubtfulPolls {
    /// Records a poll. Returns `true` if another URL should be used.
    fn record_poll(&mut self, is_doubtful: bool) -> bool {
        if !is_doubtful {
            *self = DoubtfulPolls::default();
            return false;
        }
        self.polls = self.polls.saturating_add(1);
        let most = LOST_POLLS_MAX.saturating_mul(1_u32.checked_shl(self.changes).unwrap_or(1));
        if self.polls < most {
            return false;
        }
        self.polls = 0;
        self.changes = self.changes.saturating_add(1).min(DOUBTS_LOG2_MAX);
        true
    }
}

/// What the other URLs tell of their newest blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OtherHeads {
    /// One of them is ahead, and later steps use it.
    Ahead,
    /// None of them is ahead, and at least one is as far.
    Level,
    /// There is no other URL, or those that answered are behind.
    Unknown,
}

/// The age of the newest block of a node. All times are uptimes.
#[derive(Default)]
pub(super) struct HeadAge {
    /// The newest block at the last poll, and the time of the first poll that reported this block.
    head: Option<(ChainPosition, Time)>,
    /// Time of the first poll at which the node lacked a block that was read. `None` if the node lacks no such block.
    lags_since: Option<Time>,
    /// Number of consecutive polls at which the node had lost a block that was read.
    lost_polls: u32,
    /// `true` if a payment is in a block that the node should have had for three usual block times, and no other URL has
    /// the same newest block.
    is_stalled: bool,
    /// `true` if another URL was last found to have the same newest block.
    is_shared: bool,
    /// Time of the last request to other URLs.
    others_asked_at: Option<Time>,
    /// Consecutive polls at which the node did not answer in full.
    doubts: DoubtfulPolls,
    /// Message about a newest block that has not changed for too long.
    pub(super) warning: Option<String>,
}

impl HeadAge {
    /// Records the newest block of a poll. Returns how long this block has been the newest one, in milliseconds.
    fn record_head(&mut self, head: &ChainPosition, lags: bool, uptime: Time, now: Time) -> i64 {
        let known = self.head.take();
        let known = known.filter(|(known, _)| known.block == head.block);
        let since = known.map_or(uptime, |(_, since)| since);
        self.head = Some((head.clone(), since));
        self.lags_since = lags.then(|| self.lags_since.unwrap_or(uptime));
        let lags_ms = self.lags_since.map_or(0, |since| uptime.since_ms(since));
        let seen_ms = uptime.since_ms(since);
        seen_ms.max(lags_ms).max(age_without_skew_ms(now.since_ms(head.time)))
    }
}

/// Returns the message for a node that lacks a block that was read already.
pub(super) fn lag_problem(lag: &NodeLag) -> String {
    let (lacks, newest) = (lag.lacks, lag.head.block.height);
    if lag.has_lost_block() {
        format!(
            "its node has lost block {lacks}, which was read already, and has block {newest}. Restart or repair that node, or \
             name the url of another one with --node: the chain goes on by itself"
        )
    } else {
        format!(
            "its node does not have block {lacks}, which was read already; its newest is {newest}. Wait until it has caught up, \
             or name the url of another one with --node: the chain goes on by itself"
        )
    }
}

impl FollowerState {
    /// Reacts to the state of the node after a step. Returns `true` if later steps use another URL.
    pub(super) fn handle_progress(&mut self, stands: &ChainProgress) -> bool {
        match stands {
            ChainProgress::AtHead(head) => {
                let is_partial =
                    !self.watch.set_aside.is_empty() || self.watch.final_problem.is_some();
                // On a chain with outputs, an Electrum client asks the other URLs itself. What another node sets aside is
                // in the mempool only, which a change of the URL would read again as a whole.
                let is_doubtful = is_partial && !self.watch.chain.has_outputs();
                let turns = self.check_finality_age(head)
                    || self.check_head_age(head, false)
                    || self.leave_doubtful_node(is_doubtful);
                self.report_good_step();
                turns
            }
            ChainProgress::NodeLags(lag) => self.handle_lagging_node(lag),
            ChainProgress::Behind(_) => {
                self.head_age.is_stalled = false;
                self.report_good_step();
                false
            }
            // The node at another URL may have the block that was read.
            ChainProgress::Stopped(_) => {
                self.leave_doubtful_node(true);
                false
            }
        }
    }

    /// Records whether the node answered in full. Returns `true` if later steps use another URL.
    fn leave_doubtful_node(&mut self, is_doubtful: bool) -> bool {
        if !self.head_age.doubts.record_poll(is_doubtful) {
            return false;
        }
        let other = self.connect.switch_node(1);
        let has_turned = other.is_some();
        self.connected = other.or_else(|| self.connected.take());
        has_turned
    }

    /// Returns a new node at the current URL if the node was the wrong one. A node remembers its network, so one wrong
    /// answer would otherwise count until the server stops.
    pub(super) fn renew_wrong_node(
        &mut self,
        failed: &StepError,
    ) -> Option<Box<dyn crate::chain::Node>> {
        let is_wrong = matches!(failed, StepError::Node(NodeError::Wrong(_)));
        (is_wrong && !self.watch.was_rescan).then(|| self.connect.renew_node()).flatten()
    }

    /// Reports to the service which of several URLs is in use.
    pub(super) fn report_url_in_use(&self) {
        if let Ok(service) = self.watch.service() {
            service.record_url_in_use(self.watch.chain, self.connect.current_url());
        }
    }

    /// Reports a step that read blocks.
    fn report_good_step(&mut self) {
        self.note_good_step();
        self.head_age.lost_polls = 0;
        self.report_unread(self.head_age.is_stalled);
    }

    /// Reports to the service whether the chain cannot be read: its node lacks a block that it should have, or no step
    /// has succeeded for too long.
    pub(super) fn report_unread(&self, lacks_block: bool) {
        let is_unread = lacks_block || self.is_unread_for_long();
        if let Ok(service) = self.watch.service() {
            service.record_unread(self.watch.chain, is_unread);
        }
    }

    /// Handles a node that lacks a block that was read. Returns `true` if later steps use another URL.
    fn handle_lagging_node(&mut self, lag: &NodeLag) -> bool {
        if self.check_head_age(&lag.head, true) {
            return true;
        }
        if !lag.has_lost_block() {
            let uptime = self.clock.uptime();
            let lags_ms = self.head_age.lags_since;
            let lags_ms = lags_ms.map_or(0, |since| uptime.since_ms(since));
            self.head_age.lost_polls = 0;
            self.report_unread(should_query_other_urls(self.watch.chain, lags_ms));
            return false;
        }
        self.report_unread(true);
        self.head_age.lost_polls = self.head_age.lost_polls.saturating_add(1);
        if self.head_age.lost_polls < LOST_POLLS_MAX {
            return false;
        }
        self.head_age.lost_polls = 0;
        let other = self.connect.switch_node(1);
        let has_turned = other.is_some();
        self.connected = other.or_else(|| self.connected.take());
        has_turned
    }

    /// Checks the age of the newest block of a poll. Returns `true` if another URL has a newer block. Later steps
    /// then use that URL.
    fn check_head_age(&mut self, head: &ChainPosition, lags: bool) -> bool {
        let (uptime, now, chain) = (self.clock.uptime(), self.clock.now(), self.watch.chain);
        let unmoved_ms = self.head_age.record_head(head, lags, uptime, now);
        let asked_at = self.head_age.others_asked_at;
        let is_due = asked_at.is_none_or(|at| uptime.since_ms(at) >= OTHER_URLS_EVERY_MS);
        let is_long = should_query_other_urls(chain, unmoved_ms);
        let lacks_block = self.connected.as_ref().is_some_and(|node| node.lacks_named_block());
        if is_due && (is_long || lacks_block) {
            self.head_age.others_asked_at = Some(uptime);
            let height = head.block.height;
            let compare = |other: &Head| other.block.height.cmp(&height);
            let others = self.switch_to_url_ahead(now, "no new block", compare);
            self.head_age.is_shared = others == OtherHeads::Level;
            if others == OtherHeads::Ahead {
                self.head_age.is_stalled = false;
                return true;
            }
        }
        self.head_age.is_stalled = is_long && lacks_block && !self.head_age.is_shared;
        let network = self.watch.network.as_deref().unwrap_or_default();
        let warning = stale_head_warning(chain, network, head, unmoved_ms);
        match (&self.head_age.warning, &warning) {
            (None, Some(warning)) => {
                log::warn!("chain head is old: chain={chain} reason={warning}; {REMEDY}")
            }
            (Some(_), None) => log::info!("new block: chain={chain} height={}", head.block.height),
            (Some(_), Some(_)) | (None, None) => {}
        }
        self.head_age.warning = warning;
        false
    }

    /// Requests the newest blocks of the other URLs, and changes to the first URL that is ahead. `compare` compares another
    /// URL with the one in use. `event` is for the log.
    pub(super) fn switch_to_url_ahead(
        &mut self,
        now: Time,
        event: &str,
        compare: impl Fn(&Head) -> Ordering,
    ) -> OtherHeads {
        let chain = self.watch.chain;
        let mut told = OtherHeads::Unknown;
        let mut distance = 1;
        while let Some(mut other) = self.connect.node_at_distance(distance) {
            match self.watch.request_head_of_other_url(other.as_mut(), now) {
                Ok(other) => match compare(&other) {
                    Ordering::Greater => {
                        let (height, finalized) = (other.block.height, other.finalized);
                        log::warn!(
                            "{event}, using another url: chain={chain} other={height} final={finalized:?}"
                        );
                        self.connected = self.connect.switch_node(distance);
                        return OtherHeads::Ahead;
                    }
                    Ordering::Equal => told = OtherHeads::Level,
                    Ordering::Less => {}
                },
                Err(StepError::Node(error)) => {
                    log::debug!("other url failed: chain={chain} error={error}")
                }
                Err(StepError::File(_) | StepError::Closed) => return told,
            }
            distance = distance.saturating_add(1);
        }
        told
    }
}

impl super::ChainWatch {
    /// Requests the newest block of a node at another URL.
    fn request_head_of_other_url(
        &self,
        node: &mut dyn crate::chain::Node,
        now: Time,
    ) -> Result<Head, StepError> {
        let asked = node.network().and_then(|network| {
            let is_same = self.network.as_ref().is_none_or(|own| *own == network);
            match is_same {
                true => node.head(),
                false => Err(NodeError::Wrong(format!("it is of the network {network}"))),
            }
        });
        let service = self.service()?;
        service.add_to_request_count(now, self.chain, node.request_count());
        asked.map_err(StepError::Node)
    }
}

#[cfg(test)]
mod tests {
    use super::DoubtfulPolls;

    #[test]
    fn doubtful_polls_change_the_url_ever_less_often() {
        let mut doubts = DoubtfulPolls::default();
        let mut polls_until_change = || (1..).find(|_| doubts.record_poll(true));
        let polls: Vec<_> = (0..8).filter_map(|_| polls_until_change()).collect();
        assert_eq!(polls, [3, 6, 12, 24, 48, 96, 192, 192]);
        assert!(!doubts.record_poll(false));
        assert!(!doubts.record_poll(true) && !doubts.record_poll(true) && doubts.record_poll(true));
    }
}
