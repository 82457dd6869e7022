//! Tracks how long a node has reported no new block, and changes to another URL if the node stops or lags.

use super::{ChainProgress, FollowerState, StepError};
use crate::chain::NodeError;
use crate::chain::follow::NodeLag;
use crate::domain::following::ChainPosition;
use crate::domain::stale_head::{
    REMEDY, age_without_skew_ms, should_query_other_urls, stale_head_warning,
};
use crate::domain::time::{MINUTE_MS, Time};

/// Minimum time between two requests to the other URLs while the newest block does not change, in milliseconds.
const OTHER_URLS_EVERY_MS: i64 = MINUTE_MS;
/// The next URL is used after this many consecutive polls at which the node had lost a block that was read.
const LOST_POLLS_MAX: u32 = 3;

/// The age of the newest block of a node. All times are uptimes.
#[derive(Default)]
pub(super) struct HeadAge {
    /// The newest block at the last poll, and the time of the first poll that reported this block.
    head: Option<(ChainPosition, Time)>,
    /// Time of the first poll at which the node lacked a block that was read. `None` if the node lacks no such block.
    lags_since: Option<Time>,
    /// Number of consecutive polls at which the node had lost a block that was read.
    lost_polls: u32,
    /// Time of the last request to other URLs.
    others_asked_at: Option<Time>,
    /// Message about a newest block that has not changed for too long.
    pub(super) warning: Option<String>,
}

impl HeadAge {
    /// Records the newest block of a poll. Returns how long this block has been the newest one, in milliseconds.
    fn record_head(
        &mut self,
        head: &ChainPosition,
        lags: bool,
        (uptime, now): (Time, Time),
    ) -> i64 {
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

/// Returns the message for a node that lacks blocks below its own newest block.
pub(super) fn unread_blocks_problem((from, newest): (u32, u32)) -> String {
    format!(
        "its node says that its newest block is {newest}, and does not have all blocks from {from} on. Restart or repair that \
         node, or name the url of another one with --node: the chain goes on by itself"
    )
}

impl FollowerState {
    /// Reacts to the state of the node after a step. Returns `true` if later steps use another URL.
    pub(super) fn handle_progress(&mut self, stands: &ChainProgress) -> bool {
        match stands {
            ChainProgress::AtHead(head) => {
                self.report_missing_block(false);
                self.check_head_age(head, false)
            }
            ChainProgress::NodeLags(lag) => self.handle_lagging_node(lag),
            ChainProgress::Behind(_) => {
                self.report_missing_block(false);
                false
            }
            ChainProgress::Stopped(_) => false,
        }
    }

    /// Reports to the service which of several URLs is in use.
    pub(super) fn report_url_in_use(&self) {
        if let Ok(service) = self.watch.service() {
            service.record_url_in_use(self.watch.chain, self.connect.current_url());
        }
    }

    /// Reports to the service whether the node lacks a block that it should have.
    pub(super) fn report_missing_block(&mut self, lacks_block: bool) {
        if !lacks_block {
            self.head_age.lost_polls = 0;
        }
        if let Ok(service) = self.watch.service() {
            service.record_missing_block(self.watch.chain, lacks_block);
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
            self.report_missing_block(should_query_other_urls(self.watch.chain, lags_ms));
            return false;
        }
        self.report_missing_block(true);
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
        let unmoved_ms = self.head_age.record_head(head, lags, (uptime, now));
        let asked_at = self.head_age.others_asked_at;
        let is_due = asked_at.is_none_or(|at| uptime.since_ms(at) >= OTHER_URLS_EVERY_MS);
        if is_due && should_query_other_urls(chain, unmoved_ms) {
            self.head_age.others_asked_at = Some(uptime);
            if self.switch_to_url_ahead(head, now) {
                return true;
            }
        }
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

    /// Requests the newest blocks of the other URLs, and changes to the first URL with a newer block. Returns `true`
    /// after a change.
    fn switch_to_url_ahead(&mut self, head: &ChainPosition, now: Time) -> bool {
        let chain = self.watch.chain;
        let mut distance = 1;
        while let Some(mut other) = self.connect.node_at_distance(distance) {
            match self.watch.request_head_of_other_url(other.as_mut(), now) {
                Ok(other) if other.block.height > head.block.height => {
                    let (height, ahead) = (head.block.height, other.block.height);
                    log::warn!(
                        "no new block, using another url: chain={chain} height={height} other={ahead}"
                    );
                    self.connected = self.connect.switch_node(distance);
                    return true;
                }
                Ok(_) => {}
                Err(StepError::Node(error)) => {
                    log::debug!("other url failed: chain={chain} error={error}")
                }
                Err(StepError::File(_) | StepError::Closed) => return false,
            }
            distance = distance.saturating_add(1);
        }
        false
    }
}

impl super::ChainWatch {
    /// Requests the newest block of a node at another URL.
    fn request_head_of_other_url(
        &self,
        node: &mut dyn crate::chain::Node,
        now: Time,
    ) -> Result<ChainPosition, StepError> {
        let asked = node.network().and_then(|network| {
            let is_same = self.network.as_ref().is_none_or(|own| *own == network);
            match is_same {
                true => node.head(),
                false => Err(NodeError::Wrong(format!("it is of the network {network}"))),
            }
        });
        let service = self.service()?;
        service.add_to_request_count(now, self.chain, node.request_count());
        let head = asked.map_err(StepError::Node)?;
        Ok(ChainPosition { block: head.block, time: head.time })
    }
}
