//! Nodes that operators entered: kept in the file, tried before they are kept, and followed at once.
//!
//! Invariant: the url of a node may hold a login. Responses, the log and the audit log show only scheme, host and port.

use crate::domain::chain::{CHAINS, Chain};
use crate::domain::time::DAY_MS;
use crate::domain::{Refusal, RefusalCode, Time};
use crate::render::chain_nodes::{ChainNodeView, NodeChangeView, NodeSource, TriedNodeView};
use crate::service::audit_log::record;
use crate::service::{Error, Json, Service, Step};
use crate::store::chain_nodes::{self, ChainNodeRow};
use crate::store::{Reader, Tx, chain_cursors};
use serde_json::json;
use serde_json::value::to_raw_value;
use std::sync::Arc;

/// Time for which the home page of every operator shows a change, in milliseconds.
const TOLD_MS: i64 = 7 * DAY_MS;
/// Actor in the audit log for nodes that a server removes after a restore.
const SERVER_ACTOR: &str = "server";

/// Network and newest block of a node that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeAnswer {
    /// Network by the nodes' name.
    pub network: String,
    /// Height of the newest block.
    pub height: u32,
}

/// Access to nodes, which `app` gives to the handlers.
pub trait NodeControl: Send + Sync {
    /// Returns the label of the nodes that the settings name for a chain.
    fn configured_label(&self, chain: Chain) -> Option<String>;

    /// Checks a url, and returns scheme, host and port.
    ///
    /// # Errors
    /// The end of a sentence that begins with the field's name. It repeats no part of the url.
    fn check_url(&self, chain: Chain, url: &str) -> Result<String, String>;

    /// Asks the node for its network and newest block. Blocks the thread for seconds.
    ///
    /// # Errors
    /// As `check_url`.
    fn try_node(&self, chain: Chain, url: &str) -> Result<NodeAnswer, String>;

    /// Follows a chain as the file says now: through another node, or no longer.
    fn follow_stored(&self, chain: Chain) -> Result<(), Error>;
}

impl Service {
    /// Returns the node of every chain, with its source.
    pub fn chain_nodes(&self, control: &dyn NodeControl) -> Result<Vec<Json>, Error> {
        let rows = self.read(|db| Ok(chain_nodes::all(db)?))?;
        let view = |chain: Chain| {
            let row = rows.iter().find(|row| row.chain == chain);
            Ok(to_raw_value(&chain_node_view(chain, control.configured_label(chain), row))?)
        };
        CHAINS.iter().map(|row| view(row.chain)).collect()
    }

    /// Stores the node of a chain, which was tried.
    ///
    /// # Errors
    /// `invalid_request` if the file has followed the chain on another network.
    pub async fn store_chain_node(
        self: &Arc<Self>,
        now: Time,
        actor: String,
        chain: Chain,
        url: String,
        label: String,
        answer: NodeAnswer,
    ) -> Result<Json, Error> {
        self.write(now, move |step| {
            let Step { service, tx, .. } = *step;
            check_node_network(tx, chain, &answer.network)?;
            let public_url = &service.links.public_url;
            chain_nodes::put(tx, chain, &url, &label, public_url, now, &actor)?;
            let detail = json!({ "chain": chain, "node": label });
            record(tx, now, &actor, "chain_node.set", None, None, &detail)?;
            let row = chain_nodes::of_chain(tx, chain)?;
            Ok(to_raw_value(&TriedNodeView {
                node: chain_node_view(chain, None, row.as_ref()),
                network: answer.network,
                height: answer.height,
            })?)
        })
        .await
    }

    /// Removes the node of a chain.
    ///
    /// # Errors
    /// `not_found` if no node is stored for the chain.
    pub async fn remove_chain_node(
        self: &Arc<Self>,
        now: Time,
        actor: String,
        chain: Chain,
    ) -> Result<(), Error> {
        self.write(now, move |step| remove_node(step.tx, now, &actor, chain, false)).await
    }

    /// Returns the stored node of a chain.
    pub fn stored_chain_node(&self, chain: Chain) -> Result<Option<ChainNodeRow>, Error> {
        self.read(|db| Ok(chain_nodes::of_chain(db, chain)?))
    }
}

/// Removes the node of a chain, with an entry in the audit log. `is_missing` marks a node that must be entered again.
fn remove_node(
    tx: &Tx<'_>,
    now: Time,
    actor: &str,
    chain: Chain,
    is_missing: bool,
) -> Result<(), Error> {
    let row = chain_nodes::of_chain(tx, chain)?.filter(|row| row.url.is_some());
    let row = row.ok_or_else(|| Refusal::not_found("node"))?;
    chain_nodes::remove(tx, chain, now, actor, is_missing)?;
    let detail = json!({ "chain": chain, "node": row.node });
    record(tx, now, actor, "chain_node.remove", None, None, &detail)
}

/// Removes the nodes that were entered under another public url, before the file was restored. An attacker with a copy
/// of the file must not reach the nodes by a server of their own.
pub fn remove_nodes_of_other_url(tx: &Tx<'_>, now: Time, public_url: &str) -> Result<(), Error> {
    for row in chain_nodes::of_other_url(tx, public_url)? {
        remove_node(tx, now, SERVER_ACTOR, row.chain, true)?;
    }
    Ok(())
}

/// Returns the changes of nodes that every operator is told.
pub(in crate::service) fn recent_node_changes(
    db: &Reader<'_>,
    now: Time,
) -> Result<Vec<NodeChangeView>, Error> {
    let rows = chain_nodes::all(db)?.into_iter();
    let recent = rows.filter(|row| now.since_ms(row.changed_at) < TOLD_MS);
    Ok(recent
        .map(|row| NodeChangeView {
            chain: row.chain,
            node: row.node,
            removed: row.url.is_none(),
            changed_at: row.changed_at,
            changed_by: row.changed_by,
        })
        .collect())
}

/// Returns the error for a chain whose nodes the settings name.
pub fn configured_node_refusal(chain: Chain) -> Refusal {
    let message = format!(
        "the nodes of {chain} are named by --node or COFFER_NODE, and those alone count; change them there, or remove \
         them from the settings and restart"
    );
    Refusal::new(RefusalCode::InvalidTransition, message)
}

/// Refuses a node on another network than the one on which the file has followed the chain.
fn check_node_network(db: &Reader<'_>, chain: Chain, network: &str) -> Result<(), Error> {
    let cursor = chain_cursors::of_chain(db, chain)?;
    let other = cursor.filter(|cursor| cursor.network != network);
    match other {
        None => Ok(()),
        Some(cursor) => {
            let problem = format!(
                "leads to a node on {network}, but this file follows {chain} on {}",
                cursor.network
            );
            Err(Refusal::field("url", problem).into())
        }
    }
}

fn chain_node_view(
    chain: Chain,
    configured: Option<String>,
    row: Option<&ChainNodeRow>,
) -> ChainNodeView {
    let stored = row.filter(|row| row.url.is_some());
    ChainNodeView {
        chain,
        source: match (&configured, stored) {
            (Some(_), _) => NodeSource::Settings,
            (None, Some(_)) => NodeSource::File,
            (None, None) => NodeSource::None,
        },
        node: configured.or_else(|| stored.map(|row| row.node.clone())),
        missing: row.is_some_and(|row| row.is_missing),
        changed_at: row.map(|row| row.changed_at),
        changed_by: row.map(|row| row.changed_by.clone()),
    }
}
