//! Transactions and addresses that a node does not give, although it gives everything else.

use super::chain::Chain;
use super::text_enum::text_enum;

text_enum! {
    /// What a node does not give.
    pub enum SetAsideKind {
        /// The history of a watched address.
        Address = "address",
        /// A transaction that concerns a watched address.
        Transaction = "transaction",
    }
}

/// A transaction or an address that is set aside: everything else is read, and the node is asked for it again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SetAside {
    /// What is set aside.
    pub kind: SetAsideKind,
    /// The address or the transaction id.
    pub id: String,
    /// Height of the transaction's block, if it is known.
    pub height: Option<u32>,
    /// Why it cannot be read: the end of a sentence that begins with "its node".
    pub reason: String,
}

/// Returns the problem of a chain with these parts set aside; `None` if nothing is set aside.
pub fn set_aside_problem(chain: Chain, parts: &[SetAside]) -> Option<String> {
    let SetAside { kind, id, height, reason } = parts.first()?;
    let more = match parts.len() {
        1 => String::new(),
        count => format!(", and {} more: see setAside", count.saturating_sub(1)),
    };
    // A transaction that is on no chain any more leaves the list by a rescan of its block.
    let rescan = height.map(|height| {
        format!(", or, where it is not on the chain, run `coffer rescan {chain} --from {height}`")
    });
    let rescan = rescan.unwrap_or_default();
    Some(format!(
        "{kind} {id} cannot be read: its node {reason}{more}. Everything else is read, and the node is asked for it again. \
         If this lasts, name the url of another node with --node{rescan}"
    ))
}
