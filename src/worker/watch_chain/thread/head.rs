//! The newest block of the node that is asked: how long it has not moved, and which other url is asked then.

use super::{Failed, Following};
use crate::chain::NodeError;
use crate::domain::following::Reached;
use crate::domain::stale_head::{MEND, age_ms, asks_others, warning};
use crate::domain::time::{MINUTE_MS, Time};

/// How often other urls are asked while the head does not move, in milliseconds.
const OTHERS_EVERY_MS: i64 = MINUTE_MS;

/// The age of the head. Its times count from the start of the system.
#[derive(Default)]
pub(super) struct HeadAge {
    /// The head of the last poll, and the time of the first poll that had it.
    head: Option<(Reached, Time)>,
    /// Time since which the node lacks what was read.
    lags_since: Option<Time>,
    /// Time at which other urls were asked last.
    others_asked_at: Option<Time>,
    /// Message for a head that has not moved for too long.
    pub(super) warning: Option<String>,
}

impl HeadAge {
    /// Takes the head of a poll, and returns how long it has not moved, in milliseconds.
    fn hear(&mut self, head: &Reached, lags: bool, (uptime, now): (Time, Time)) -> i64 {
        let known = self.head.take();
        let known = known.filter(|(known, _)| known.block == head.block);
        let since = known.map_or(uptime, |(_, since)| since);
        self.head = Some((head.clone(), since));
        self.lags_since = lags.then(|| self.lags_since.unwrap_or(uptime));
        let lags_ms = self.lags_since.map_or(0, |since| uptime.since_ms(since));
        let seen_ms = uptime.since_ms(since);
        seen_ms.max(lags_ms).max(age_ms(now.since_ms(head.time)))
    }
}

impl Following {
    /// Looks how old the head of a poll is; `true` where another url is ahead and is asked from now on.
    pub(super) fn turns_to_another(&mut self, head: &Reached, lags: bool) -> bool {
        let (uptime, now, chain) = (self.clock.uptime(), self.clock.now(), self.watch.chain);
        let unmoved_ms = self.head_age.hear(head, lags, (uptime, now));
        let asked_at = self.head_age.others_asked_at;
        let is_due = asked_at.is_none_or(|at| uptime.since_ms(at) >= OTHERS_EVERY_MS);
        if is_due && asks_others(chain, unmoved_ms) {
            self.head_age.others_asked_at = Some(uptime);
            if self.ask_others(head, now) {
                return true;
            }
        }
        let network = self.watch.network.as_deref().unwrap_or_default();
        let warning = warning(chain, network, head, unmoved_ms);
        match (&self.head_age.warning, &warning) {
            (None, Some(warning)) => log::warn!("{chain}: {warning}; {MEND}"),
            (Some(_), None) => log::info!("{chain}: new block {}", head.block.height),
            (Some(_), Some(_)) | (None, None) => {}
        }
        self.head_age.warning = warning;
        false
    }

    /// Asks the other urls for their heads, and turns to the first one that is ahead.
    fn ask_others(&mut self, head: &Reached, now: Time) -> bool {
        let chain = self.watch.chain;
        let mut distance = 1;
        while let Some(mut other) = self.connect.other(distance) {
            match self.watch.head_of_other(other.as_mut(), now) {
                Ok(other) if other.block.height > head.block.height => {
                    let (height, ahead) = (head.block.height, other.block.height);
                    log::warn!("{chain}: no new block after {height}; another url has {ahead}");
                    self.connected = self.connect.turn(distance);
                    return true;
                }
                Ok(_) => {}
                Err(Failed::Node(error)) => log::debug!("{chain}: another node {error}"),
                Err(Failed::File(_) | Failed::Closed) => return false,
            }
            distance = distance.saturating_add(1);
        }
        false
    }
}

impl super::Watch {
    /// Asks a node at another url for its head.
    fn head_of_other(
        &self,
        node: &mut dyn crate::chain::Node,
        now: Time,
    ) -> Result<Reached, Failed> {
        let asked = node.network().and_then(|network| {
            let is_same = self.network.as_ref().is_none_or(|own| *own == network);
            match is_same {
                true => node.head(),
                false => Err(NodeError::Wrong(format!("it is of the network {network}"))),
            }
        });
        let service = self.service()?;
        service.hear_of_requests(now, self.chain, node.requests());
        let head = asked.map_err(Failed::Node)?;
        Ok(Reached {
            block: head.block,
            time: head.time,
        })
    }
}
