//! JSON of the nodes of chains, and of changes of nodes.
//!
//! Invariant: responses show only scheme, host and port of a node's url.

use crate::domain::Time;
use crate::domain::chain::Chain;
use crate::domain::fields::{Schema, view};
use crate::domain::text_enum::text_enum;

text_enum! {
    /// Source of a chain's node.
    pub enum NodeSource {
        /// The settings name the nodes, and those alone count.
        Settings = "settings",
        /// An operator entered the node.
        File = "file",
        /// The chain has no node.
        None = "none",
    }
}

view! {
    /// The node of a chain.
    pub ChainNodeView as "ChainNode", object "chain_node" {
        /// The chain.
        chain: Chain [Schema::CHAIN] = "litecoin";
        /// Source of the node. Where the settings name nodes, an operator cannot enter one.
        source: NodeSource = "file";
        /// URL of the node with scheme, host and port; null without a node.
        node: Option<String> [Schema::OrNull(&Schema::STRING)] = "electrums://electrum.example:50002";
        /// Whether a restore removed the node, so that it must be entered again.
        missing: bool = false;
        /// Time of the last change by an operator or a restore, in UTC; null if there was none.
        changed_at: Option<Time> [Schema::OrNull(&Schema::MOMENT)] = "2026-11-21T09:30:00.000Z";
        /// Email of the operator who made the last change, or the component that made it.
        changed_by: Option<String> [Schema::OrNull(&Schema::STRING)] = "anna@shop.example";
    }
}

view! {
    /// A node that was tried and stored.
    pub TriedNodeView as "TriedNode" {
        node: ChainNodeView = {
            "object": "chain_node", "chain": "litecoin", "source": "file", "node": "electrums://electrum.example:50002",
            "missing": false, "changedAt": "2026-11-21T09:30:00.000Z", "changedBy": "anna@shop.example"
        };
        /// Network by the nodes' name.
        network: String = "main";
        /// Height of the node's newest block.
        height: u32 = 2900001;
    }
}

view! {
    /// A change of a chain's node in the last seven days.
    pub NodeChangeView as "NodeChange" {
        /// The chain.
        chain: Chain [Schema::CHAIN] = "litecoin";
        /// URL of the node with scheme, host and port.
        node: String = "electrums://electrum.example:50002";
        /// Whether the node was removed.
        removed: bool = false;
        /// Time of the change, in UTC.
        changed_at: Time = "2026-11-21T09:30:00.000Z";
        /// Email of the operator who made the change, or the component that made it.
        changed_by: String = "anna@shop.example";
    }
}
