//! Tracks for how long no block of an account chain has become final, although new blocks come.

use super::FollowerState;
use super::head::{OTHER_URLS_EVERY_MS, OtherHeads};
use crate::chain::Head;
use crate::domain::stale_head::stalled_finality_warning;
use crate::domain::{ChainPosition, Time};

/// The age of the newest final block that was read. All times are uptimes.
#[derive(Default)]
pub(super) struct FinalityAge {
    /// State at the first poll that found the present final block.
    since: Option<FinalityPoll>,
    /// Time of the last request to other URLs.
    others_asked_at: Option<Time>,
    /// Message about a final block that has not changed for too long.
    pub(super) warning: Option<String>,
}

struct FinalityPoll {
    /// Height of the newest final block that was read.
    finalized: Option<u32>,
    head_height: u32,
    uptime: Time,
}

impl FollowerState {
    /// Checks the age of the newest final block after a poll that read the newest block. Returns `true` if another URL
    /// has a newer final block. Later steps then use that URL.
    pub(super) fn check_finality_age(&mut self, head: &ChainPosition) -> bool {
        let (chain, uptime) = (self.watch.chain, self.clock.uptime());
        if chain.has_outputs() {
            return false;
        }
        let (finalized, height) = (self.watch.final_height, head.block.height);
        let begun = self.finality_age.since.take();
        let begun = begun.filter(|poll| poll.finalized == finalized);
        let begun = begun.unwrap_or(FinalityPoll { finalized, head_height: height, uptime });
        let stalled_ms = uptime.since_ms(begun.uptime);
        // Without new blocks, the age of the newest block is reported instead.
        let has_new_blocks = height > begun.head_height;
        let warning = stalled_finality_warning(chain, stalled_ms).filter(|_| has_new_blocks);
        match (&self.finality_age.warning, &warning) {
            (None, Some(warning)) => log::warn!("no final block: chain={chain} reason={warning}"),
            (Some(_), None) => log::info!("final block: chain={chain} height={height}"),
            (Some(_), Some(_)) | (None, None) => {}
        }
        let is_stalled = warning.is_some();
        self.finality_age.since = Some(begun);
        self.finality_age.warning = warning;
        let asked_at = self.finality_age.others_asked_at;
        let is_due = asked_at.is_none_or(|at| uptime.since_ms(at) >= OTHER_URLS_EVERY_MS);
        if !is_stalled || !is_due {
            return false;
        }
        self.finality_age.others_asked_at = Some(uptime);
        let now = self.clock.now();
        let compare = |other: &Head| other.finalized.cmp(&finalized);
        self.switch_to_url_ahead(now, "no final block", compare) == OtherHeads::Ahead
    }
}
