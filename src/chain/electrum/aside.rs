//! Transactions and histories that no server gives or proves. They are set aside, and asked for again.

use super::Electrum;
use super::hex::{Hash256, format_hash};
use super::reports::LocationClaim;
use super::server::{BACKOFF_LOG2_MAX, Server};
use crate::chain::NodeError;
use crate::chain::backoff::StepBackoff;
use crate::domain::{SetAside, SetAsideKind};
use std::collections::HashMap;

/// A transaction that servers report, and do not give or prove.
#[derive(Clone, Debug, Default)]
pub(super) struct UnreadTransaction {
    /// End of a sentence that begins with "its node".
    pub reason: String,
    pub backoff: StepBackoff,
    /// What servers reported at the last failure. Another report ends the backoff.
    reported: Vec<LocationClaim>,
}

impl Electrum {
    /// Sets the transactions aside that servers report only in blocks above the newest one.
    pub(super) fn set_aside_blocks_above_tip(&mut self) -> Result<(), NodeError> {
        let Some((tip, _)) = self.server_tip else {
            return Ok(());
        };
        let above = self.lowest_blocks_above_tip();
        let above: Vec<_> = above.filter(|(id, _)| !self.is_backing_off_for(id)).collect();
        for (id, height) in above {
            self.set_transaction_aside(
                id,
                format!("names block {height} for it, and has no block above {tip}"),
            );
            for server in &mut self.servers {
                server.reload_histories_containing(&id);
            }
        }
        Ok(())
    }

    /// Returns the payments that servers report only in blocks above the newest one, with the lowest of these blocks.
    pub(super) fn lowest_blocks_above_tip(&self) -> impl Iterator<Item = (Hash256, u32)> {
        let tip = self.server_tip.map_or(u32::MAX, |(height, _)| height);
        let payments = self.reports.iter().filter(|(_, report)| report.since.is_some());
        payments.filter_map(move |(id, report)| {
            let heights = report.claims.iter().map(|claim| claim.height.unwrap_or(0));
            heights.min().filter(|lowest| *lowest > tip).map(|lowest| (*id, lowest))
        })
    }

    pub(super) fn set_transaction_aside(&mut self, id: Hash256, reason: String) {
        let report = self.reports.get(&id);
        let unread = self.unread.entry(id).or_default();
        unread.reason = reason;
        unread.backoff.record_failure(BACKOFF_LOG2_MAX);
        unread.reported = report.map(|report| report.claims.clone()).unwrap_or_default();
    }

    /// Returns `true` during the backoff of a transaction, while servers report it as before.
    pub(super) fn is_backing_off_for(&self, id: &Hash256) -> bool {
        let report = self.reports.get(id);
        self.unread.get(id).is_some_and(|unread| {
            let is_same = report.is_some_and(|report| report.claims == unread.reported);
            is_same && unread.backoff.is_waiting()
        })
    }

    /// Returns what no server gives: the histories of watched addresses, and transactions.
    pub(super) fn list_set_aside(&self) -> Vec<SetAside> {
        let mut parts = Vec::new();
        let first = self.servers.first();
        let refused: HashMap<&str, &str> =
            first.into_iter().flat_map(Server::refused_scripts).collect();
        for (address, script) in self.scripts.iter().filter(|_| !refused.is_empty()) {
            let reason = refused.get(script.as_str());
            let is_read = self.servers.iter().any(|server| server.has_read(script));
            if let (Some(reason), false) = (reason, is_read) {
                parts.push(SetAside {
                    kind: SetAsideKind::Address,
                    id: address.clone(),
                    height: None,
                    reason: (*reason).to_owned(),
                });
            }
        }
        for (id, unread) in self.unread.iter().filter(|(_, one)| one.backoff.has_failed_again()) {
            parts.push(SetAside {
                kind: SetAsideKind::Transaction,
                id: format_hash(id),
                height: None,
                reason: unread.reason.clone(),
            });
        }
        parts.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        parts
    }
}
