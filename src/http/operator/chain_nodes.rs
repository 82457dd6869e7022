//! Nodes of chains, which operators enter: `/dashboard/api/chain-nodes`.
//!
//! Invariant: a node is tried before it is stored. No response contains its url.

use crate::domain::chain::Chain;
use crate::domain::fields::text_rule::text;
use crate::domain::fields::{Component, input};
use crate::domain::{Refusal, RefusalCode};
use crate::http::auth::Operator;
use crate::http::node_trials::NodeTrials;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{
    Body, Handler, PRIVATE, RecentPassword, Resource, Route, RouteAnswer, Tag,
};
use crate::render::chain_nodes::{ChainNodeView, TriedNodeView};
use crate::service::{Error, Json};

/// Largest number of characters of a url.
const URL_CHARS_MAX: usize = 2000;

input! {
    /// Node of a chain.
    pub SetChainNode, checked url; unknown refused {
        /// URL of the node, with its login. No response returns it.
        required url: String = text(1..=URL_CHARS_MAX), "electrums://electrum.example:50002";
    }
}

const NODE_LIST: Component = Component::List {
    name: "ChainNodeList",
    item: &ChainNodeView::COMPONENT,
    about: "Nodes of all chains.",
    about_data: "One item for each chain, also for those without a node.",
};

/// Routes of the nodes.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listChainNodes",
            tag: Some(Tag::OperatorService),
            path: "/dashboard/api/chain-nodes",
            summary: "Lists the node of each chain by host, never with its url.",
            answers: &[RouteAnswer::json(200, "The nodes.", &NODE_LIST)],
            handler: Handler::Operator(|call, operator| Box::pin(list(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "setChainNode",
            tag: Some(Tag::OperatorService),
            method: "PUT",
            path: "/dashboard/api/chain-nodes/{chain}",
            summary: "Tries a node, stores it, and follows its chain at once. Every operator is told for 7 days.",
            body: Body::required(&SetChainNode::COMPONENT),
            answers: &[RouteAnswer::json(
                200,
                "The node, with the network and height that it answered.",
                &TriedNodeView::COMPONENT,
            )],
            refusals: &[RefusalCode::InvalidTransition, RefusalCode::TooManyAttempts],
            recent_password: RecentPassword::Always,
            handler: Handler::Operator(|call, operator| Box::pin(set(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "removeChainNode",
            tag: Some(Tag::OperatorService),
            method: "DELETE",
            path: "/dashboard/api/chain-nodes/{chain}",
            summary: "Removes a stored node. Its chain is no longer followed.",
            answers: &[RouteAnswer::empty(204, "Removed.")],
            refusals: &[RefusalCode::InvalidTransition],
            recent_password: RecentPassword::Always,
            handler: Handler::Operator(|call, operator| Box::pin(remove(call, operator))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/chain-nodes
async fn list(call: Call, _: Operator) -> Result<Reply, Error> {
    match &call.http.nodes {
        Some(nodes) => Reply::list(&call.http.service.chain_nodes(nodes.control.as_ref())?),
        None => Reply::list(&Vec::<Json>::new()),
    }
}

/// PUT /dashboard/api/chain-nodes/{chain}
async fn set(call: Call, operator: Operator) -> Result<Reply, Error> {
    let SetChainNode { url } = SetChainNode::read(&call.body_fields()?)?;
    let (chain, nodes) = (chain_in_path(&call)?, nodes(&call)?);
    nodes.check_not_configured(chain)?;
    let label = nodes.control.check_url(chain, &url);
    let label = label.map_err(|problem| Refusal::field("url", problem))?;
    let answer = nodes.try_node(&call.http.clock, chain, &url).await?;
    let (service, actor) = (&call.http.service, operator.actor());
    let stored = service.store_chain_node(call.now, actor, chain, url, label, answer).await?;
    nodes.control.follow_stored(chain)?;
    Ok(Reply::ok(stored))
}

/// DELETE /dashboard/api/chain-nodes/{chain}
async fn remove(call: Call, operator: Operator) -> Result<Reply, Error> {
    let (chain, nodes) = (chain_in_path(&call)?, nodes(&call)?);
    nodes.check_not_configured(chain)?;
    call.http.service.remove_chain_node(call.now, operator.actor(), chain).await?;
    nodes.control.follow_stored(chain)?;
    Ok(Reply::no_content())
}

/// Returns the nodes. Refuses the request in a sandbox, which simulates its chains.
fn nodes(call: &Call) -> Result<&NodeTrials, Refusal> {
    let message = "a sandbox simulates its chains, so it has no nodes; use `coffer serve`";
    let refusal = || Refusal::new(RefusalCode::InvalidTransition, message);
    call.http.nodes.as_ref().ok_or_else(refusal)
}

/// Returns the chain in the path. Refuses an unknown chain with `not_found`.
fn chain_in_path(call: &Call) -> Result<Chain, Refusal> {
    let chain = call.first_param().parse();
    chain.map_err(|_| Refusal::not_found("chain"))
}
