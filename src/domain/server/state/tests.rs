//! Tests of every step from every state, and of the conversion from stored parts.

use super::{CommandState, OperatorStep, ProvisionerTask, ServerState, ServerStatus, ServerStep};
use crate::domain::refusal::RefusalCode;

use CommandState::{Running, Unknown};
use ServerState::{Active, Creating, Deleted, Deleting, Failed, Queued, Unwanted};

const ALL: [ServerState; 9] = [
    Queued,
    Creating(Running),
    Creating(Unknown),
    Active,
    Unwanted,
    Deleting(Running),
    Deleting(Unknown),
    Failed,
    Deleted,
];

const STEPS: [ServerStep; 9] = [
    ServerStep::Discard,
    ServerStep::Start,
    ServerStep::Done,
    ServerStep::Declined,
    ServerStep::Lost,
    ServerStep::Operator(OperatorStep::Activate),
    ServerStep::Operator(OperatorStep::Fail),
    ServerStep::Operator(OperatorStep::Delete),
    ServerStep::Operator(OperatorStep::Release),
];

/// States that the documentation requires. Each row is a state of [`ALL`], and each column is a step of [`STEPS`].
#[rustfmt::skip]
const TABLE: [[Option<ServerState>; 9]; 9] = [
    // Columns: discard, start, done, declined, lost, activate, fail, delete, release.
    [Some(Deleted), Some(Creating(Running)), None, None, None, Some(Active), Some(Failed), Some(Deleted), None],
    [None, None, Some(Active), Some(Failed), Some(Creating(Unknown)), None, None, None, None],
    [None, None, None, None, None, Some(Active), Some(Failed), Some(Deleted), Some(Queued)],
    [Some(Unwanted), None, None, None, None, None, None, Some(Deleted), None],
    [Some(Unwanted), Some(Deleting(Running)), None, None, None, Some(Active), None, Some(Deleted), None],
    [Some(Deleting(Running)), None, Some(Deleted), Some(Active), Some(Deleting(Unknown)), None, None, None, None],
    [Some(Deleting(Unknown)), None, None, None, None, Some(Active), None, Some(Deleted), Some(Unwanted)],
    [Some(Deleted), None, None, None, None, None, None, Some(Deleted), None],
    [Some(Deleted), None, None, None, None, None, None, None, None],
];

#[test]
fn every_step_from_every_state_follows_the_table() {
    for (state, row) in ALL.iter().zip(&TABLE) {
        for (step, expected) in STEPS.iter().zip(row) {
            let found = state.after_step(*step);
            assert_eq!(found.as_ref().ok(), expected.as_ref(), "{state:?} {step:?}");
            if let Err(refusal) = found {
                assert_eq!(refusal.code, RefusalCode::InvalidTransition);
                let status = state.status().as_str();
                assert!(refusal.message.contains(status), "{}", refusal.message);
            }
        }
    }
}

#[test]
fn only_an_operator_resolves_an_unknown_outcome() {
    for state in [Creating(Unknown), Deleting(Unknown)] {
        for step in STEPS {
            let moved = state.after_step(step).is_ok_and(|next| next != state);
            assert!(!moved || matches!(step, ServerStep::Operator(_)), "{step:?}");
        }
    }
}

#[test]
fn command_starts_only_once() {
    for state in ALL {
        let starts = state.after_step(ServerStep::Start).is_ok();
        assert_eq!(starts, matches!(state, Queued | Unwanted));
        if starts {
            assert!(state.command().is_none());
            let begun = state.after_step(ServerStep::Start).map(ServerState::command);
            assert_eq!(begun, Ok(Some(Running)));
        }
    }
}

#[test]
fn state_round_trips_and_impossible_parts_give_none() {
    let mut read = Vec::new();
    for status in ServerStatus::ALL {
        for wanted in [false, true] {
            for command in [None, Some(Running), Some(Unknown)] {
                if let Some(state) = ServerState::from_parts(*status, wanted, command) {
                    assert_eq!((state.status(), state.command()), (*status, command));
                    read.push(state);
                }
            }
        }
    }
    // Two stored forms give `Deleted`: a server that was removed, and an order that was discarded at once.
    assert_eq!(read.len(), ALL.len() + 1);
    assert!(ALL.iter().all(|state| read.contains(state)));
}

#[test]
fn each_state_has_its_provisioner_task() {
    for (state, task) in ALL.into_iter().zip([
        Some(ProvisionerTask::Create),
        Some(ProvisionerTask::Create),
        Some(ProvisionerTask::Create),
        None,
        Some(ProvisionerTask::Delete),
        Some(ProvisionerTask::Delete),
        Some(ProvisionerTask::Delete),
        None,
        None,
    ]) {
        assert_eq!(state.task(), task, "{state:?}");
    }
}
