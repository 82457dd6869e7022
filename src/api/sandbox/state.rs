//! Shows, resets, saves and restores the whole state of a sandbox: `/sandbox`.

use crate::api::operation::{
    Answer, Context, Controls, Job, Operation, OperationFn, Outcome, PLAIN,
};
use crate::api::tag::Tag;
use crate::domain::Refusal;
use crate::render::sandbox::SandboxStateView;
use crate::service::Error;
use crate::service::sandbox::controls::ControlChange;
use std::sync::Arc;

/// Pattern of a snapshot's name.
pub const SNAPSHOT_PATTERN: &str = "^[A-Za-z0-9._-]{1,64}$";

pub const OPERATIONS: [&Operation; 4] = [&SHOW, &RESET, &SNAPSHOT, &RESTORE];

/// Defaults of operations that answer with the state.
pub(super) const STATE: Operation = Operation {
    tag: Tag::SandboxState,
    answers: &[Answer::ok("The state.", &SandboxStateView::COMPONENT)],
    ..PLAIN
};

const SHOW: Operation = Operation {
    id: "sandboxState",
    path: "/sandbox",
    summary: "Returns the time, the account's switches and counts.",
    run: OperationFn::Controls(|_, controls| {
        controls.state().map(Outcome::resource).map(Job::Done)
    }),
    ..STATE
};

const RESET: Operation = Operation {
    id: "sandboxReset",
    method: "POST",
    path: "/sandbox/reset",
    summary: "Resets the state to the seed, and the clock to real time.",
    run: OperationFn::Controls(|_, controls| state_after(controls, controls.reset())),
    ..STATE
};

const SNAPSHOT: Operation = Operation {
    id: "sandboxSnapshot",
    method: "POST",
    path: "/sandbox/snapshots/{name}",
    summary: "Saves the whole state and the clock under a name.",
    run: OperationFn::Controls(|context, controls| {
        state_after(controls, controls.snapshot(snapshot_name(context)?))
    }),
    ..STATE
};

const RESTORE: Operation = Operation {
    id: "sandboxRestore",
    method: "POST",
    path: "/sandbox/snapshots/{name}/restore",
    summary: "Restores the state that was saved under a name.",
    run: OperationFn::Controls(|context, controls| {
        state_after(controls, controls.restore(snapshot_name(context)?))
    }),
    ..STATE
};

/// Returns a job that awaits a change of the sandbox, and then returns the state.
pub(super) fn state_after(controls: &Controls, change: ControlChange) -> Result<Job, Error> {
    let controls = Arc::clone(controls);
    Job::wait(async move {
        change.await?;
        controls.state().map(Outcome::resource)
    })
}

/// Returns the snapshot's name from the path. Checks the name, because the server uses it in a file name.
fn snapshot_name(context: &Context<'_>) -> Result<String, Refusal> {
    let name = context.first_param();
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if plain && (1..=64).contains(&name.len()) {
        Ok(name.to_owned())
    } else {
        Err(Refusal::field("name", "must have 1 to 64 letters, digits, '.', '_' or '-'"))
    }
}
