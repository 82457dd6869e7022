//! Subscribes to script hashes, and reads the histories of these scripts.
//!
//! Invariant: a status counts as read only after the history was read. A script that the server refuses is set aside,
//! and all others are read.

use super::super::hex::{Hash256, format_hash};
use super::{BACKOFF_LOG2_MAX, HistoryEntry, HistoryItemJson, ScriptHistory, Server};
use crate::chain::NodeError;
use base16ct::lower::encode_string;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// Largest number of connections to one server.
const CONNECTIONS_MAX: usize = 8;
/// Number of scripts that are subscribed to in one batch, before their histories are read.
const SUBSCRIBE_GROUP: usize = 500;
/// Largest number of rounds in one step. Each round reads the histories that changed during the previous round.
const ROUNDS_MAX: usize = 3;
const SUBSCRIBE: &str = "blockchain.scripthash.subscribe";
// Servers of protocol 1.4.0 do not have this method, and continue to send notifications.
const UNSUBSCRIBE: &str = "blockchain.scripthash.unsubscribe";

impl Server {
    pub(in super::super) fn watched_history(&self, script: &str) -> &[HistoryEntry] {
        let history = self.histories.get(script);
        history.map_or(&[], |history| history.entries.as_slice())
    }

    /// Returns `true` if the newest history of a watched script was read.
    pub(in super::super) fn has_read(&self, script: &str) -> bool {
        self.histories.get(script).is_some_and(|history| {
            history.refusal.is_none()
                && history.entries_status.as_ref() == Some(&history.last_status)
        })
    }

    /// Returns the watched scripts that the server refuses, each with the reason.
    pub(in super::super) fn refused_scripts(&self) -> impl Iterator<Item = (&str, &str)> {
        let each = self.histories.iter();
        each.filter_map(|(script, history)| Some((script.as_str(), history.refusal.as_deref()?)))
    }

    /// Marks the histories that contain this transaction for a reload.
    pub(in super::super) fn reload_histories_containing(&mut self, id: &Hash256) {
        for history in self.histories.values_mut() {
            if history.entries.iter().any(|entry| entry.id == *id) {
                history.entries_status = None;
            }
        }
    }

    /// Subscribes to exactly these scripts, and updates their histories. Unsubscribes from all other scripts. A step
    /// that takes too long ends early, and the next step continues.
    pub(in super::super) fn watch_scripts(
        &mut self,
        wanted: &HashSet<&str>,
    ) -> Result<(), NodeError> {
        self.ensure_connected()?;
        self.take_notifications()?;
        self.unsubscribe_others(wanted)?;
        for script in wanted {
            self.histories.entry((*script).to_owned()).or_default();
        }
        for history in self.histories.values_mut() {
            history.backoff.take_step();
        }
        self.subscribe()?;
        for _ in 0..ROUNDS_MAX {
            if self.is_out_of_time() || !self.read_changed_histories()? {
                break;
            }
            self.take_notifications()?;
        }
        self.backoff.reset();
        Ok(())
    }

    /// Returns `true` if the server reported a block or a changed script since the last step.
    pub(in super::super) fn has_notification(&mut self) -> bool {
        let histories = &self.histories;
        let (mut has_news, mut is_open) = (false, true);
        for connection in &mut self.connections {
            is_open &= connection.poll_notifications().is_ok();
            let mut changed = connection.changed_scripts().iter();
            has_news |= connection.has_new_block
                || changed.any(|(script, status)| {
                    let history = histories.get(script);
                    history.is_some_and(|history| history.last_status != *status)
                });
        }
        if !is_open {
            self.close();
        }
        for connection in &mut self.connections {
            connection.is_urgent = has_news;
        }
        has_news
    }

    /// Stores the status of changed scripts. Ignores scripts that are not watched.
    fn take_notifications(&mut self) -> Result<(), NodeError> {
        let mut outcome = Ok(());
        for connection in &mut self.connections {
            outcome = outcome.and_then(|()| connection.poll_notifications());
            for (script, status) in connection.take_changed_scripts() {
                let Some(history) = self.histories.get_mut(&script) else {
                    continue;
                };
                if status.is_none() {
                    // ElectrumX sends this status and ends the subscription when a history has become too long.
                    history.connection = None;
                    history.entries_status = None;
                }
                history.last_status = status;
            }
        }
        if outcome.is_err() {
            self.close();
        }
        outcome
    }

    fn unsubscribe_others(&mut self, wanted: &HashSet<&str>) -> Result<(), NodeError> {
        let mut ended: Vec<Vec<Value>> = vec![Vec::new(); self.connections.len()];
        self.histories.retain(|script, history| {
            let is_wanted = wanted.contains(script.as_str());
            let place = history.connection.and_then(|place| ended.get_mut(place));
            if let (Some(ended), false) = (place, is_wanted) {
                ended.push(json!([script]));
            }
            is_wanted
        });
        for (place, params) in ended.into_iter().enumerate() {
            self.call_all::<serde::de::IgnoredAny>(place, UNSUBSCRIBE, params)?;
        }
        Ok(())
    }

    fn subscribe(&mut self) -> Result<(), NodeError> {
        let is_due = |(script, history): (&String, &ScriptHistory)| {
            let is_new = history.connection.is_none() && !history.backoff.is_waiting();
            is_new.then(|| script.clone())
        };
        let mut rest: Vec<String> = self.histories.iter().filter_map(is_due).collect();
        rest.sort_unstable();
        let mut is_limit_checked = false;
        while !rest.is_empty() && !self.is_out_of_time() {
            let Some((place, room)) = self.connection_below_limit()? else {
                if !std::mem::replace(&mut is_limit_checked, true) && self.accepts_another(0)? {
                    // What was taken for the limit were other errors.
                    self.subscriptions_max = None;
                    continue;
                }
                let most = self.subscriptions_max.unwrap_or(0);
                let reason = format!(
                    "watches {most} addresses for a connection, and {} are to be watched: name another server",
                    self.histories.len()
                );
                rest.iter().for_each(|script| self.set_aside(script, reason.clone()));
                return Ok(());
            };
            let later = rest.split_off(rest.len().min(room).min(SUBSCRIBE_GROUP));
            let params = rest.iter().map(|script| json!([script])).collect();
            let response = self.call_all::<Option<String>>(place, SUBSCRIBE, params)?;
            let mut refused = Vec::new();
            let mut last_refusal = None;
            for (script, response) in rest.into_iter().zip(response) {
                last_refusal = response.as_ref().err().cloned();
                match (response, self.histories.get_mut(&script)) {
                    (Ok(status), Some(history)) => {
                        history.last_status = status;
                        history.connection = Some(place);
                    }
                    (Err(error), Some(_)) => refused.push((script, error)),
                    (_, None) => {}
                }
            }
            rest = later;
            if let Some(error) = last_refusal
                && !self.accepts_another(place)?
            {
                if self.learn_subscription_limit(place) {
                    rest.extend(refused.into_iter().map(|(script, _)| script));
                    continue;
                }
                if self.subscription_counts().iter().all(|count| *count == 0) {
                    return Err(error.into_node_error(SUBSCRIBE));
                }
            }
            for (script, error) in refused {
                self.set_aside(&script, error.describe(SUBSCRIBE));
            }
        }
        Ok(())
    }

    /// Sets a script aside, and begins a backoff. Its known history stays.
    fn set_aside(&mut self, script: &str, reason: String) {
        if let Some(history) = self.histories.get_mut(script) {
            if history.refusal.is_none() {
                log::warn!(
                    "history not read: server={} script={script} reason={reason}",
                    self.url.label()
                );
            }
            history.refusal = Some(reason);
            history.backoff.record_failure(BACKOFF_LOG2_MAX);
            history.connection = None;
            history.entries_status = None;
        }
    }

    /// Returns `true` if a connection accepts a subscription to a script that nobody has used. Then it refuses single
    /// scripts, and has not reached its limit.
    fn accepts_another(&mut self, place: usize) -> Result<bool, NodeError> {
        let unused = Sha256::digest(format!("unused script {}", self.call_count()));
        let params = json!([format_hash(&unused.into())]);
        let response = self.call_all::<Option<String>>(place, SUBSCRIBE, vec![params.clone()])?;
        let is_accepted = response.iter().all(Result::is_ok);
        if is_accepted {
            self.call_all::<serde::de::IgnoredAny>(place, UNSUBSCRIBE, vec![params])?;
        }
        Ok(is_accepted)
    }

    /// Returns the index of a connection that accepts more subscriptions, and the number of subscriptions that it
    /// accepts. `None` if the largest number of connections accepts no more.
    fn connection_below_limit(&mut self) -> Result<Option<(usize, usize)>, NodeError> {
        let Some(most) = self.subscriptions_max else {
            return Ok(Some((0, usize::MAX)));
        };
        let taken = self.subscription_counts();
        let mut places = taken.iter().enumerate();
        if let Some((place, taken)) = places.find(|(_, taken)| **taken < most) {
            return Ok(Some((place, most.saturating_sub(*taken))));
        }
        if self.connections.len() >= CONNECTIONS_MAX {
            return Ok(None);
        }
        self.connect()?;
        Ok(Some((self.connections.len().saturating_sub(1), most)))
    }

    /// Returns the number of subscriptions of each connection.
    fn subscription_counts(&self) -> Vec<usize> {
        let mut taken = vec![0_usize; self.connections.len()];
        for history in self.histories.values() {
            if let Some(taken) = history.connection.and_then(|place| taken.get_mut(place)) {
                *taken = taken.saturating_add(1);
            }
        }
        taken
    }

    /// Stores the current number of subscriptions as the limit of a connection, after the server refused another
    /// subscription. Returns `false` if that number is no limit: another connection has more, or this one has none.
    fn learn_subscription_limit(&mut self, place: usize) -> bool {
        let counts = self.subscription_counts();
        let taken = counts.get(place).copied().unwrap_or(0);
        let is_known = self.subscriptions_max.is_some_and(|most| most <= taken);
        let is_exceeded = counts.iter().any(|count| *count > taken);
        let is_limit = taken > 0 && !is_known && !is_exceeded;
        if is_limit {
            self.subscriptions_max = Some(taken);
        }
        is_limit
    }

    /// Reads the histories that changed. Returns `false` if no history changed.
    fn read_changed_histories(&mut self) -> Result<bool, NodeError> {
        let is_changed = |(script, history): (&String, &ScriptHistory)| {
            let is_due = history.connection.is_some() && !history.backoff.is_waiting();
            let is_read = history.entries_status.as_ref() == Some(&history.last_status);
            (is_due && !is_read).then(|| (script.clone(), history.last_status.clone()))
        };
        let changed: Vec<_> = self.histories.iter().filter_map(is_changed).collect();
        let params = changed.iter().map(|(script, _)| json!([script])).collect();
        let method = "blockchain.scripthash.get_history";
        let response = self.call_all::<Vec<HistoryItemJson>>(0, method, params)?;
        for ((script, status), response) in changed.iter().zip(response) {
            let response = match response {
                Ok(response) => response,
                Err(error) => {
                    self.set_aside(script, error.describe(method));
                    continue;
                }
            };
            let is_whole = status_of_history(&response) == *status;
            // A status covers the transactions in the mempool in any order.
            let has_one_order = response.iter().filter(|item| item.height <= 0).count() < 2;
            if response.is_empty() && status.is_some() {
                self.set_aside(
                    script,
                    "gives an empty history, and says that it has one".to_owned(),
                );
                continue;
            }
            let Some(entries) = super::parse_history(response) else {
                self.set_aside(
                    script,
                    "gives a history with ids or heights that are none".to_owned(),
                );
                continue;
            };
            if let Some(history) = self.histories.get_mut(script) {
                if status.is_none() && !entries.is_empty() {
                    // The status was of another moment, or the server has ended the subscription.
                    history.connection = None;
                }
                history.entries = entries;
                history.refusal = None;
                if is_whole {
                    history.entries_status = Some(status.clone());
                    history.backoff.reset();
                } else {
                    // It may have changed meanwhile, so that only the second failure is reported.
                    history.entries_status = None;
                    history.backoff.record_failure(BACKOFF_LOG2_MAX);
                    if has_one_order && history.backoff.has_failed_again() {
                        history.refusal = Some(
                            "gives a history that is not the one of its status, and leaves something out"
                                .to_owned(),
                        );
                    }
                }
            }
        }
        Ok(!changed.is_empty())
    }
}

/// Returns the status of a script with this history, as the Electrum protocol defines it. `None` if the history is
/// empty.
fn status_of_history(history: &[HistoryItemJson]) -> Option<String> {
    let text: String =
        history.iter().map(|item| format!("{}:{}:", item.tx_hash, item.height)).collect();
    let hash = Sha256::digest(&text);
    (!text.is_empty()).then(|| encode_string(&hash))
}
