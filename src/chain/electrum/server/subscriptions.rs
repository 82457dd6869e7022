//! What a server is asked to watch, and what it tells of that.

use super::super::connection::unexpected;
use super::super::hex::Hash;
use super::{Entry, History, Server, ToldEntry};
use crate::chain::NodeError;
use crate::chain::rpc::MethodError;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The most connections to one server.
const CONNECTIONS_MAX: usize = 8;
/// Scripts that are subscribed to before histories are asked for.
const SUBSCRIBE_GROUP: usize = 500;
/// How often what has changed meanwhile is asked for again in one step.
const ROUNDS_MAX: usize = 3;

impl Server {
    /// Returns what it says of a script that is watched.
    pub(in super::super) fn watched(&self, script: &str) -> &[Entry] {
        let history = self.histories.get(script);
        history.map_or(&[], |history| history.entries.as_slice())
    }

    /// Asks for the histories with this transaction again.
    pub(in super::super) fn doubt(&mut self, id: &Hash) {
        for history in self.histories.values_mut() {
            if history.entries.iter().any(|entry| entry.id == *id) {
                history.read = None;
            }
        }
    }

    /// Watches exactly these scripts from now on, and brings their histories up to date.
    pub(in super::super) fn watch(&mut self, wanted: &HashSet<&str>) -> Result<(), NodeError> {
        self.connected()?;
        self.hear()?;
        self.forget(wanted)?;
        for script in wanted {
            self.histories.entry((*script).to_owned()).or_default();
        }
        self.subscribe()?;
        for _ in 0..ROUNDS_MAX {
            if !self.read_changed()? {
                break;
            }
            self.hear()?;
        }
        self.failures = 0;
        Ok(())
    }

    /// Returns `true` if it has told of a block, or of a script that is watched, since the last step.
    pub(in super::super) fn has_news(&mut self) -> bool {
        let histories = &self.histories;
        let (mut has_news, mut is_open) = (false, true);
        for connection in &mut self.connections {
            is_open &= connection.glance().is_ok();
            let mut changed = connection.changed().iter();
            has_news |= connection.has_new_block
                || changed.any(|(script, status)| {
                    let history = histories.get(script);
                    history.is_some_and(|history| history.told != *status)
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

    /// Notes the scripts whose histories have changed. Those that are not watched are passed over.
    fn hear(&mut self) -> Result<(), NodeError> {
        let mut heard = Ok(());
        for connection in &mut self.connections {
            heard = heard.and_then(|()| connection.glance());
            for (script, status) in connection.take_changed() {
                if let Some(history) = self.histories.get_mut(&script) {
                    history.told = status;
                }
            }
        }
        if heard.is_err() {
            self.close();
        }
        heard
    }

    /// Ends the subscriptions to all other scripts.
    fn forget(&mut self, wanted: &HashSet<&str>) -> Result<(), NodeError> {
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
            // Servers of protocol 1.4.0 know no such method, and go on telling.
            let method = "blockchain.scripthash.unsubscribe";
            self.call_all::<serde::de::IgnoredAny>(place, method, params)?;
        }
        Ok(())
    }

    fn subscribe(&mut self) -> Result<(), NodeError> {
        let is_new = |(script, history): (&String, &History)| {
            history.connection.is_none().then(|| script.clone())
        };
        let mut new: Vec<String> = self.histories.iter().filter_map(is_new).collect();
        new.sort_unstable();
        let mut rest = new.as_slice();
        while !rest.is_empty() {
            let (place, room) = self.connection_with_room()?;
            let (now, later) = rest.split_at(rest.len().min(room).min(SUBSCRIBE_GROUP));
            let params = now.iter().map(|script| json!([script])).collect();
            let method = "blockchain.scripthash.subscribe";
            let told = self.call_all::<Option<String>>(place, method, params)?;
            let mut refused = None;
            for (script, told) in now.iter().zip(told) {
                match (told, self.histories.get_mut(script)) {
                    (Ok(status), Some(history)) => {
                        history.told = status;
                        history.connection = Some(place);
                    }
                    (Err(error), _) => refused = Some(error),
                    (Ok(_), None) => {}
                }
            }
            match refused {
                None => rest = later,
                Some(error) => {
                    self.limit(place, &error)?;
                    return self.subscribe();
                }
            }
        }
        Ok(())
    }

    /// Returns the place of a connection, and how many scripts more it may be asked to watch.
    fn connection_with_room(&mut self) -> Result<(usize, usize), NodeError> {
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

    /// Notes how many subscriptions a connection has, after it refused another one.
    fn limit(&mut self, place: usize, error: &MethodError) -> Result<(), NodeError> {
        let mut histories = self.histories.values();
        let taken = histories
            .by_ref()
            .filter(|history| history.connection == Some(place));
        let taken = taken.count();
        let is_known = self.subscriptions_max.is_some_and(|most| most <= taken);
        if taken == 0 || is_known {
            return Err(unexpected("blockchain.scripthash.subscribe", error));
        }
        self.subscriptions_max = Some(taken);
        Ok(())
    }

    /// Asks for the histories that have changed; `false` where none has.
    fn read_changed(&mut self) -> Result<bool, NodeError> {
        let mut changed = Vec::new();
        for (script, history) in &mut self.histories {
            if history.read.as_ref() == Some(&history.told) {
                continue;
            }
            if history.told.is_none() {
                // There is nothing to ask for.
                history.entries.clear();
                history.read = Some(None);
                continue;
            }
            changed.push((script.clone(), history.told.clone()));
        }
        let params = changed.iter().map(|(script, _)| json!([script])).collect();
        let method = "blockchain.scripthash.get_history";
        let told = self.call_all::<Vec<ToldEntry>>(0, method, params)?;
        for ((script, status), told) in changed.iter().zip(told) {
            let entries = match told {
                Ok(told) => Some(self.entries(told)?),
                Err(error) => {
                    log::warn!("{}: no history: {}", self.url.shown(), error.message);
                    None
                }
            };
            if let Some(history) = self.histories.get_mut(script) {
                history.read = Some(status.clone());
                // One that became too long for the server stays as it was.
                history.entries = entries.unwrap_or_else(|| std::mem::take(&mut history.entries));
            }
        }
        Ok(!changed.is_empty())
    }
}
