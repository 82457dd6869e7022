//! Switches the simulated lag of a chain on or off: `/sandbox/chains`.

use crate::api::operation::{Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::tag::Tag;
use crate::domain::asset::Chain;
use crate::domain::fields::input;
use crate::domain::fields::rule::FlagRule;
use crate::domain::{Mode, Refusal, RefusalCode};
use crate::render::sandbox::SandboxChainView;
use crate::service::Error;
use crate::service::sandbox::chains::set_chain_lag;
use crate::store::chains;

input! {
    /// Changes of a live chain. Absent and null fields stay as they are.
    pub SandboxChainPatch, checked lagging; unknown refused {
        /// Whether the chain stops at the present moment or follows the clock.
        optional lagging: bool = FlagRule, true;
    }
}

pub const OPERATIONS: [&Operation; 1] = [&CHANGE];

const CHANGE: Operation = Operation {
    id: "sandboxChain",
    method: "PATCH",
    path: "/sandbox/chains/{chain}",
    tag: Tag::SandboxState,
    summary: "Lets a live chain lag behind the clock, or catch up.",
    body: Body::required(&SandboxChainPatch::COMPONENT),
    answers: &[Answer::ok("The chain's progress.", &SandboxChainView::COMPONENT)],
    refusals: &[RefusalCode::NotFound],
    run: OperationFn::Sandbox(switch_lag),
    ..PLAIN
};

fn switch_lag(context: &Context<'_>) -> Result<Job, Error> {
    let body = context.body_fields()?;
    let chain: Chain = context.first_param().parse().map_err(|_| Refusal::not_found("chain"))?;
    let SandboxChainPatch { lagging } = SandboxChainPatch::read(&body)?;
    let now = context.now;
    Job::write(move |step| {
        if let Some(lagging) = lagging {
            set_chain_lag(step, chain, lagging)?;
        }
        let to = chains::lagging_chains(step.tx)?.scanned_to(chain);
        Outcome::ok(&SandboxChainView {
            chain,
            mode: Mode::Live,
            lagging: to.is_some(),
            scanned_to: to.unwrap_or(now),
        })
    })
}
