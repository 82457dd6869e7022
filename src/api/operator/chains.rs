//! Followed chains, and operators' claims that a payment exists on a chain: `/dashboard/api/chains`.

use crate::api::operation::{
    Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN, RecentPassword,
};
use crate::api::query::Param;
use crate::api::tag::Tag;
use crate::domain::asset::Chain;
use crate::domain::claim::ClaimPayment;
use crate::domain::fields::{Component, view};
use crate::domain::{Refusal, RefusalCode};
use crate::render::chains::ChainView;
use crate::render::claims::ClaimView;
use crate::service::chains::claims;
use crate::service::{Error, Member, Step};
use crate::store;

/// Default of the parameter `limit`.
const LIMIT_DEFAULT: u32 = 50;

const CHAIN_LIST: Component = Component::List {
    name: "ChainList",
    item: &Component::Inline(&ChainView::OBJECT),
    about: "Chains that have a node.",
    about_data: "One item for each chain.",
};

view! {
    /// Claims of payments on a chain.
    pub ClaimListView<'a> as "ClaimList" {
        /// The claims, newest first.
        data: Vec<ClaimView<'a>> = [];
    }
}

pub const OPERATIONS: [&Operation; 3] = [&LIST, &LIST_CLAIMS, &CLAIM];

const LIST: Operation = Operation {
    id: "listChains",
    path: "/dashboard/api/chains",
    tag: Tag::OperatorService,
    summary: "Lists the chains that have a node, each with its progress and its problem.",
    answers: &[Answer::ok("The chains.", &CHAIN_LIST)],
    run: OperationFn::Operator(list),
    ..PLAIN
};

const LIST_CLAIMS: Operation = Operation {
    id: "listClaims",
    path: "/dashboard/api/chains/{chain}/claims",
    tag: Tag::OperatorService,
    summary: "Lists the claims on a chain, newest first, each with its outcome.",
    query: &[Param::limit(200, LIMIT_DEFAULT)],
    answers: &[Answer::ok("The claims.", &ClaimListView::COMPONENT)],
    run: OperationFn::Operator(list_claims),
    ..PLAIN
};

const CLAIM: Operation = Operation {
    id: "claimPayment",
    method: "POST",
    path: "/dashboard/api/chains/{chain}/claims",
    tag: Tag::OperatorService,
    summary: "Claims a payment that a contract sent and that the chain's node does not report. The next step of the chain asks the node for the transaction.",
    body: Body::required(&ClaimPayment::COMPONENT),
    answers: &[Answer::created("The claim.", &ClaimView::COMPONENT)],
    refusals: &[RefusalCode::InvalidTransition],
    recent_password: RecentPassword::Always,
    run: OperationFn::Operator(claim_payment),
    ..PLAIN
};

fn list(context: &Context<'_>, _: &Member) -> Result<Job, Error> {
    Job::list(&context.service.chain_views(context.now)?)
}

fn list_claims(context: &Context<'_>, _: &Member) -> Result<Job, Error> {
    let (service, chain) = (context.service, chain_in_path(context)?);
    let limit = context.query.limit(LIMIT_DEFAULT);
    service.read_snapshot(|db| {
        let newest = store::claims::newest_claims(db, chain, limit)?;
        let data = newest.iter().map(|claim| service.render_claim(db, claim));
        let data = data.collect::<Result<_, Error>>()?;
        Outcome::ok(&ClaimListView { data }).map(Job::Done)
    })
}

fn claim_payment(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let (body, chain) = (context.body_fields()?, chain_in_path(context)?);
    let actor = operator.actor();
    Job::write(move |step| {
        let Step { service, tx, .. } = *step;
        let claim = claims::claim_payment(step, actor, chain, &body)?;
        Outcome::created(&service.render_claim(tx, &claim)?)
    })
}

/// Returns the chain in the path. Refuses an unknown chain with `not_found`.
fn chain_in_path(context: &Context<'_>) -> Result<Chain, Refusal> {
    let chain = context.first_param().parse();
    chain.map_err(|_| Refusal::not_found("chain"))
}
