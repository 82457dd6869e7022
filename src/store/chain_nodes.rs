//! The table `chain_nodes`: nodes that operators entered.
//!
//! Invariant: a url may hold a login, so it leaves this file only for requests to the node.

use super::statement::statements;
use crate::domain::Time;
use crate::domain::chain::Chain;
use std::fmt;

/// The node of a chain that an operator entered.
#[derive(Clone, PartialEq, Eq)]
pub struct ChainNodeRow {
    /// Chain of the node.
    pub chain: Chain,
    /// Url with its login, which is a secret; `None` after a removal.
    pub url: Option<String>,
    /// Scheme, host and port of the url.
    pub node: String,
    /// Time of the last change.
    pub changed_at: Time,
    /// Actor of the last change.
    pub changed_by: String,
    /// `true` if a restore removed the url.
    pub is_missing: bool,
}

impl fmt::Debug for ChainNodeRow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ChainNodeRow({} {})", self.chain, self.node)
    }
}

statements! {
    row read(chain, url, node, changed_at, changed_by, is_missing) -> ChainNodeRow {
        Ok(ChainNodeRow { chain, url, node, changed_at, changed_by, is_missing })
    }

    /// Returns every row, including those without a url.
    pub fn all(db) -> Vec<ChainNodeRow> = select "from chain_nodes order by chain";

    /// Returns the row of a chain.
    pub fn of_chain(db, chain: Chain) -> Option<ChainNodeRow> = select "from chain_nodes where chain = :chain";

    /// Returns the rows that were entered under another public url, before the last restore.
    pub fn of_other_url(db, public_url: &str) -> Vec<ChainNodeRow> = select
        "from chain_nodes where url is not null and public_url <> :public_url \
            and restored < (select restored from file) order by chain";

    /// Returns the chains whose url is in the file.
    pub fn chains_with_url(db) -> Vec<(chain: Chain)> =
        "select chain from chain_nodes where url is not null order by chain";

    /// Returns the chains of a copy whose nodes were entered under another public url.
    pub(super) fn chains_of_other_url(conn, public_url: &str) -> Vec<(chain: Chain)> =
        "select chain from chain_nodes where url is not null and public_url <> :public_url order by chain";

    /// Removes urls that were entered under another public url, so that they must be entered again.
    pub(super) fn remove_of_other_url(conn, public_url: &str, now: Time) =
        "update chain_nodes set url = null, is_missing = 1, changed_at = :now, changed_by = 'restore' \
            where url is not null and public_url <> :public_url";

    /// Stores the node of a chain.
    pub fn put(tx, chain: Chain, url: &str, node: &str, public_url: &str, now: Time, actor: &str) = file
        "sql/chain_nodes/put.sql";

    /// Removes the url of a chain's node. The row stays.
    pub fn remove(tx, chain: Chain, now: Time, actor: &str, is_missing: bool) -> bool =
        "update chain_nodes set url = null, is_missing = :is_missing, changed_at = :now, changed_by = :actor \
            where chain = :chain and url is not null";
}
