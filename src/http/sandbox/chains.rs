//! Making simulated chains lag, and letting them catch up.

use crate::domain::refusal::Code;
use crate::http::front::sandbox::Sandbox;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Answer, Body, Handler, PLAIN, Resource, Route, Tag};
use crate::service::Error;
use std::sync::Arc;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "sandboxChain",
        tag: Some(Tag::SandboxState),
        method: "PATCH",
        path: "/sandbox/chains/{chain}",
        summary: "Lets a live chain lag behind the clock, or catch up.",
        body: Some(Body::required("SandboxChainPatch")),
        answers: &[Answer::json(
            200,
            "Up to when it has been looked at.",
            "SandboxChain",
        )],
        refusals: &[Code::NotFound],
        handler: Handler::Sandbox(|call, sandbox| Box::pin(chain(call, sandbox))),
        ..PLAIN
    }],
};

/// PATCH /sandbox/chains/{chain}
async fn chain(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    call.front
        .service
        .patch_sandbox_chain(call.now, call.id(), call.object()?)
        .await
        .map(Reply::ok)
}
