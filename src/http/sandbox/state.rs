//! `/sandbox`: shows, resets, saves and restores the whole state of a sandbox.

use crate::domain::Refusal;
use crate::domain::render::activity::RunCause;
use crate::domain::render::sandbox::SandboxStateView;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Content, Handler, PLAIN, Resource, Route, RouteAnswer, Tag};
use crate::http::state::sandbox::Sandbox;
use crate::service::Error;
use hyper::StatusCode;
use std::sync::Arc;

/// Pattern of a snapshot's name.
pub(in crate::http) const SNAPSHOT_PATTERN: &str = "^[A-Za-z0-9._-]{1,64}$";

pub(super) const STATE: &[RouteAnswer] =
    &[RouteAnswer::json(200, "The state.", &SandboxStateView::COMPONENT)];

pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "getSandboxOpenApi",
            tag: Some(Tag::SandboxState),
            path: "/sandbox/openapi.json",
            summary: "This document: the sandbox's controls.",
            answers: &[RouteAnswer {
                status: 200,
                about: "The OpenAPI 3.1 document.",
                content: Content::AnyJson,
            }],
            handler: Handler::Sandbox(|call, sandbox| Box::pin(controls_document(call, sandbox))),
            ..PLAIN
        },
        Route {
            operation: "sandboxState",
            tag: Some(Tag::SandboxState),
            path: "/sandbox",
            summary: "Returns the time, the account's switches and counts.",
            answers: STATE,
            handler: Handler::Sandbox(|call, sandbox| Box::pin(show_state(call, sandbox))),
            ..PLAIN
        },
        Route {
            operation: "sandboxReset",
            tag: Some(Tag::SandboxState),
            method: "POST",
            path: "/sandbox/reset",
            summary: "Resets the state to the seed, and the clock to real time.",
            answers: STATE,
            handler: Handler::Sandbox(|call, sandbox| Box::pin(reset_sandbox(call, sandbox))),
            ..PLAIN
        },
        Route {
            operation: "sandboxSnapshot",
            tag: Some(Tag::SandboxState),
            method: "POST",
            path: "/sandbox/snapshots/{name}",
            summary: "Saves the whole state and the clock under a name.",
            answers: STATE,
            handler: Handler::Sandbox(|call, sandbox| Box::pin(save_snapshot(call, sandbox))),
            ..PLAIN
        },
        Route {
            operation: "sandboxRestore",
            tag: Some(Tag::SandboxState),
            method: "POST",
            path: "/sandbox/snapshots/{name}/restore",
            summary: "Restores the state that was saved under a name.",
            answers: STATE,
            handler: Handler::Sandbox(|call, sandbox| Box::pin(restore_snapshot(call, sandbox))),
            ..PLAIN
        },
    ],
};

async fn show_state(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    state_reply(&call, &sandbox)
}

/// Returns an answer with the current state of the sandbox, like `GET /sandbox`.
pub(super) fn state_reply(call: &Call, sandbox: &Sandbox) -> Result<Reply, Error> {
    let (clock, service) = (&call.http.clock, &call.http.service);
    let faults = sandbox.faults.view(service.faults());
    service.sandbox_state(clock.now(), clock.frozen_at().is_some(), faults).map(Reply::ok)
}

async fn reset_sandbox(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    sandbox.control.reset().await?;
    sandbox.faults.clear();
    call.http.throttle.clear();
    begin_run(&call, RunCause::Reset);
    state_reply(&call, &sandbox)
}

async fn save_snapshot(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    sandbox.control.snapshot(snapshot_name(&call)?).await?;
    state_reply(&call, &sandbox)
}

async fn restore_snapshot(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    sandbox.control.restore(snapshot_name(&call)?).await?;
    begin_run(&call, RunCause::Restore);
    state_reply(&call, &sandbox)
}

/// Tells the listeners of the activity that the state is another one.
fn begin_run(call: &Call, cause: RunCause) {
    if let Some(activity) = call.http.service.activity() {
        activity.begin_run(cause);
    }
}

/// Returns the snapshot's name from the path. Checks the name, because the server uses it in a file name.
fn snapshot_name(call: &Call) -> Result<String, Refusal> {
    let name = call.first_param();
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if plain && (1..=64).contains(&name.len()) {
        Ok(name.to_owned())
    } else {
        Err(Refusal::field("name", "must have 1 to 64 letters, digits, '.', '_' or '-'"))
    }
}

async fn controls_document(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    let document = call.http.controls_document();
    Ok(Reply::json(StatusCode::OK, document))
}
