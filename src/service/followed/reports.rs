//! Reports of the followers: problems, heights, requests and fee estimates of the followed chains.
//!
//! Invariant: a report about a chain without a node is ignored.

use super::LiveChain;
use crate::domain::asset::Chain;
use crate::domain::{FeeEstimate, Observation, Time};
use crate::service::Service;

impl Service {
    /// Sets or removes the settings of a followed chain.
    pub fn set_live_chain(&self, chain: Chain, live: Option<LiveChain>) {
        self.live.set_chain(chain, live);
    }

    /// Records the problem and the number of watched addresses that a chain's follower reports.
    pub fn record_follower_state(&self, chain: Chain, problem: Option<String>, watched: usize) {
        self.live.update_state(chain, |said| {
            (said.problem, said.watched) = (problem, watched);
        });
    }

    /// Records whether a chain could not be read for too long.
    pub fn record_unread(&self, chain: Chain, is_unread: bool) {
        self.live.update_state(chain, |said| said.is_unread = is_unread);
    }

    /// Takes the log lines that were recorded for a chain since the last call.
    pub fn take_log_lines(&self, chain: Chain) -> Vec<String> {
        let mut lines = Vec::new();
        self.live.update_state(chain, |said| lines = std::mem::take(&mut said.lines));
        lines
    }

    /// Keeps a log line about an observation until the database transaction is committed.
    pub(in crate::service) fn log_when_committed(
        &self,
        noun: &str,
        what: &str,
        seen: &Observation,
    ) {
        let (asset, chain) = (seen.asset, seen.asset.chain);
        let (txid, position, id) = (&seen.txid, seen.position, asset.id);
        let amount = asset.format_units(seen.amount);
        let line = format!(
            "{noun} {what}: chain={chain} txid={txid} position={position} asset={id} amount={amount}"
        );
        self.live.update_state(chain, |said| said.lines.push(line));
    }

    /// Records the time of a request for the newest block of a chain.
    pub fn record_head_request_start(&self, chain: Chain, now: Time) {
        self.live.update_state(chain, |said| said.asked_since = Some(now));
    }

    /// Records the end of a request for the newest block, with or without success.
    pub fn record_head_request_end(&self, chain: Chain) {
        self.live.update_state(chain, |said| said.asked_since = None);
    }

    /// Records the time of the request that has no complete answer yet, or `None` at its end.
    pub fn record_request(&self, chain: Chain, since: Option<Time>) {
        self.live.update_state(chain, |said| said.request_since = since);
    }

    /// Records the newest block of a chain's node: its height, and the time in its header.
    pub fn record_head(&self, chain: Chain, height: u32, time: Time) {
        self.live.update_state(chain, |said| {
            (said.head_height, said.head_time, said.asked_since) = (Some(height), Some(time), None);
        });
    }

    /// Records the URL of a chain that is in use, as scheme, host, port and number. `None` with one URL.
    pub fn record_url_in_use(&self, chain: Chain, label: Option<&str>) {
        self.live.update_state(chain, |said| {
            if said.url_in_use.as_deref() != label {
                said.url_in_use = label.map(str::to_owned);
            }
        });
    }

    /// Records the current fee estimate of a chain's node.
    pub fn record_fee_estimate(&self, chain: Chain, estimate: FeeEstimate) {
        self.live.update_state(chain, |said| said.fee_estimate = Some(estimate));
    }

    /// Adds `more` to the number of requests to a chain's nodes.
    pub fn add_to_request_count(&self, now: Time, chain: Chain, more: u64) {
        self.live.update_state(chain, |said| said.requests.add(now, more));
    }
}
