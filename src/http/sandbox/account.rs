//! `/sandbox/account`: changes settings of the sandbox's account.

use super::state::{STATE, state_reply};
use crate::domain::account::sandbox::SandboxAccount;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Body, Handler, PLAIN, Resource, Route, Tag};
use crate::http::state::sandbox::Sandbox;
use crate::service::Error;
use std::sync::Arc;

pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "sandboxAccount",
        tag: Some(Tag::SandboxState),
        method: "PATCH",
        path: "/sandbox/account",
        summary: "Changes switches of the account, all of them or none.",
        body: Body::required(&SandboxAccount::COMPONENT),
        answers: STATE,
        handler: Handler::Sandbox(|call, sandbox| Box::pin(change_account(call, sandbox))),
        ..PLAIN
    }],
};

async fn change_account(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    let input = SandboxAccount::read(&call.body_fields()?)?;
    let service = &call.http.service;
    service.change_sandbox_account(call.now, input).await?;
    state_reply(&call, &sandbox)
}
