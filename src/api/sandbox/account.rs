//! Changes settings of the sandbox's account: `/sandbox/account`.

use super::state::{STATE, state_after};
use crate::api::operation::{Body, Context, Controls, Job, Operation, OperationFn};
use crate::domain::account::sandbox::SandboxAccount;
use crate::service::Error;
use std::sync::Arc;

pub const OPERATIONS: [&Operation; 1] = [&CHANGE];

const CHANGE: Operation = Operation {
    id: "sandboxAccount",
    method: "PATCH",
    path: "/sandbox/account",
    summary: "Changes switches of the account, all of them or none.",
    body: Body::required(&SandboxAccount::COMPONENT),
    run: OperationFn::Controls(change_account),
    ..STATE
};

fn change_account(context: &Context<'_>, controls: &Controls) -> Result<Job, Error> {
    let input = SandboxAccount::read(&context.body_fields()?)?;
    let (service, now) = (Arc::clone(context.service), context.now);
    let change = async move { service.change_sandbox_account(now, input).await };
    state_after(controls, Box::pin(change))
}
