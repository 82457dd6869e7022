//! The switches of the sandbox's account.

use super::state::{STATE, answer_state};
use crate::http::front::sandbox::Sandbox;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Body, Handler, PLAIN, Resource, Route, Tag};
use crate::service::Error;
use std::sync::Arc;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "sandboxAccount",
        tag: Some(Tag::SandboxState),
        method: "PATCH",
        path: "/sandbox/account",
        summary: "Changes some of the account's switches; all of them or none.",
        body: Some(Body::required("SandboxAccount")),
        answers: STATE,
        handler: Handler::Sandbox(|call, sandbox| Box::pin(account(call, sandbox))),
        ..PLAIN
    }],
};

/// PATCH /sandbox/account
async fn account(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    call.front
        .service
        .patch_sandbox_account(call.now, call.object()?)
        .await?;
    answer_state(&call, &sandbox)
}
