//! Subscribes to script hashes, and reads the histories of these scripts.

use super::super::connection::unexpected_error;
use super::super::hex::Hash256;
use super::{HistoryEntry, HistoryItemJson, ScriptHistory, Server};
use crate::chain::NodeError;
use crate::chain::rpc::MethodError;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Largest number of connections to one server.
const CONNECTIONS_MAX: usize = 8;
/// Number of scripts that are subscribed to in one batch, before their histories are read.
const SUBSCRIBE_GROUP: usize = 500;
/// Largest number of rounds in one step. Each round reads the histories that changed during the previous round.
const ROUNDS_MAX: usize = 3;

impl Server {
    /// Returns the history of a watched script.
    pub(in super::super) fn watched_history(&self, script: &str) -> &[HistoryEntry] {
        let history = self.histories.get(script);
        history.map_or(&[], |history| history.entries.as_slice())
    }

    /// Marks the histories that contain this transaction for a reload.
    pub(in super::super) fn reload_histories_containing(&mut self, id: &Hash256) {
        for history in self.histories.values_mut() {
            if history.entries.iter().any(|entry| entry.id == *id) {
                history.entries_status = None;
            }
        }
    }

    /// Subscribes to exactly these scripts, and updates their histories. Unsubscribes from all other scripts.
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
        self.subscribe()?;
        for _ in 0..ROUNDS_MAX {
            if !self.read_changed_histories()? {
                break;
            }
            self.take_notifications()?;
        }
        self.failures = 0;
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
                if let Some(history) = self.histories.get_mut(&script) {
                    history.last_status = status;
                }
            }
        }
        if outcome.is_err() {
            self.close();
        }
        outcome
    }

    /// Unsubscribes from all scripts other than `wanted`.
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
            // Servers of protocol 1.4.0 do not have this method, and continue to send notifications.
            let method = "blockchain.scripthash.unsubscribe";
            self.call_all::<serde::de::IgnoredAny>(place, method, params)?;
        }
        Ok(())
    }

    fn subscribe(&mut self) -> Result<(), NodeError> {
        let is_new = |(script, history): (&String, &ScriptHistory)| {
            history.connection.is_none().then(|| script.clone())
        };
        let mut new: Vec<String> = self.histories.iter().filter_map(is_new).collect();
        new.sort_unstable();
        let mut rest = new.as_slice();
        while !rest.is_empty() {
            let (place, room) = self.connection_below_limit()?;
            let (now, later) = rest.split_at(rest.len().min(room).min(SUBSCRIBE_GROUP));
            let params = now.iter().map(|script| json!([script])).collect();
            let method = "blockchain.scripthash.subscribe";
            let response = self.call_all::<Option<String>>(place, method, params)?;
            let mut refused = None;
            for (script, response) in now.iter().zip(response) {
                match (response, self.histories.get_mut(script)) {
                    (Ok(status), Some(history)) => {
                        history.last_status = status;
                        history.connection = Some(place);
                    }
                    (Err(error), _) => refused = Some(error),
                    (Ok(_), None) => {}
                }
            }
            match refused {
                None => rest = later,
                Some(error) => {
                    self.set_subscription_limit(place, &error)?;
                    return self.subscribe();
                }
            }
        }
        Ok(())
    }

    /// Returns the index of a connection that accepts more subscriptions, and the number of subscriptions that it
    /// accepts.
    fn connection_below_limit(&mut self) -> Result<(usize, usize), NodeError> {
        let Some(most) = self.subscriptions_max else {
            return Ok((0, usize::MAX));
        };
        let mut taken = vec![0_usize; self.connections.len()];
        for history in self.histories.values() {
            if let Some(taken) = history.connection.and_then(|place| taken.get_mut(place)) {
                *taken = taken.saturating_add(1);
            }
        }
        let mut places = taken.iter().enumerate();
        if let Some((place, taken)) = places.find(|(_, taken)| **taken < most) {
            return Ok((place, most.saturating_sub(*taken)));
        }
        if self.connections.len() >= CONNECTIONS_MAX {
            let all = self.histories.len();
            return Err(NodeError::Limited(format!(
                "it watches {most} addresses for a connection, and {all} are to be watched: name another server"
            )));
        }
        self.connect()?;
        Ok((self.connections.len().saturating_sub(1), most))
    }

    /// Stores the current number of subscriptions as the limit of a connection, after the server refused another
    /// subscription.
    fn set_subscription_limit(
        &mut self,
        place: usize,
        error: &MethodError,
    ) -> Result<(), NodeError> {
        let mut histories = self.histories.values();
        let taken = histories.by_ref().filter(|history| history.connection == Some(place));
        let taken = taken.count();
        let is_known = self.subscriptions_max.is_some_and(|most| most <= taken);
        if taken == 0 || is_known {
            return Err(unexpected_error("blockchain.scripthash.subscribe", error));
        }
        self.subscriptions_max = Some(taken);
        Ok(())
    }

    /// Reads the histories that changed. Returns `false` if no history changed.
    fn read_changed_histories(&mut self) -> Result<bool, NodeError> {
        let mut changed = Vec::new();
        for (script, history) in &mut self.histories {
            if history.entries_status.as_ref() == Some(&history.last_status) {
                continue;
            }
            if history.last_status.is_none() {
                // The script has no history.
                history.entries.clear();
                history.entries_status = Some(None);
                continue;
            }
            changed.push((script.clone(), history.last_status.clone()));
        }
        let params = changed.iter().map(|(script, _)| json!([script])).collect();
        let method = "blockchain.scripthash.get_history";
        let response = self.call_all::<Vec<HistoryItemJson>>(0, method, params)?;
        for ((script, status), response) in changed.iter().zip(response) {
            let entries = match response {
                Ok(response) => Some(self.parse_history(response)?),
                Err(error) => {
                    log::warn!(
                        "history not read: server={} error={}",
                        self.url.label(),
                        error.message
                    );
                    None
                }
            };
            if let Some(history) = self.histories.get_mut(script) {
                history.entries_status = Some(status.clone());
                // If a history has become too long for the server, the entries of the earlier read stay.
                history.entries = entries.unwrap_or_else(|| std::mem::take(&mut history.entries));
            }
        }
        Ok(!changed.is_empty())
    }
}
