//! Every standing with every step, and what is stored with what it means.

use super::{CommandState, Errand, OperatorStep, ServerStatus, Standing, Step};
use crate::domain::refusal::Code;

use CommandState::{Running, Unknown};
use Standing::{Active, Creating, Deleted, Deleting, Failed, Queued, Unwanted};

const ALL: [Standing; 9] = [
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

const STEPS: [Step; 9] = [
    Step::Discard,
    Step::Start,
    Step::Done,
    Step::Declined,
    Step::Lost,
    Step::Operator(OperatorStep::Activate),
    Step::Operator(OperatorStep::Fail),
    Step::Operator(OperatorStep::Delete),
    Step::Operator(OperatorStep::Release),
];

/// Where each of [`STEPS`] leads from each of [`ALL`], as the documentation tells it.
#[rustfmt::skip]
const TABLE: [[Option<Standing>; 9]; 9] = [
    // discard, start, done, declined, lost, activate, fail, delete, release
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
fn every_step_from_everywhere_leads_where_it_should() {
    for (standing, row) in ALL.iter().zip(&TABLE) {
        for (step, expected) in STEPS.iter().zip(row) {
            let found = standing.after(*step);
            assert_eq!(
                found.as_ref().ok(),
                expected.as_ref(),
                "{standing:?} {step:?}"
            );
            if let Err(refusal) = found {
                assert_eq!(refusal.code, Code::InvalidTransition);
                let status = standing.status().as_str();
                assert!(refusal.message.contains(status), "{}", refusal.message);
            }
        }
    }
}

#[test]
fn an_unknown_outcome_is_ended_by_a_person_only() {
    for standing in [Creating(Unknown), Deleting(Unknown)] {
        for step in STEPS {
            let moved = standing.after(step).is_ok_and(|next| next != standing);
            assert!(!moved || matches!(step, Step::Operator(_)), "{step:?}");
        }
    }
}

#[test]
fn a_command_starts_only_where_none_was_started() {
    for standing in ALL {
        let starts = standing.after(Step::Start).is_ok();
        assert_eq!(starts, matches!(standing, Queued | Unwanted));
        if starts {
            assert!(standing.command().is_none());
            let begun = standing.after(Step::Start).map(Standing::command);
            assert_eq!(begun, Ok(Some(Running)));
        }
    }
}

#[test]
fn what_is_stored_reads_back_and_nothing_else_does() {
    let mut read = Vec::new();
    for status in ServerStatus::ALL {
        for wanted in [false, true] {
            for command in [None, Some(Running), Some(Unknown)] {
                if let Some(standing) = Standing::of(*status, wanted, command) {
                    assert_eq!((standing.status(), standing.command()), (*status, command));
                    read.push(standing);
                }
            }
        }
    }
    // One that was wanted gone and one that was discarded at once are both gone.
    assert_eq!(read.len(), ALL.len() + 1);
    assert!(ALL.iter().all(|standing| read.contains(standing)));
}

#[test]
fn the_errand_follows_from_the_standing() {
    for (standing, errand) in ALL.into_iter().zip([
        Some(Errand::Create),
        Some(Errand::Create),
        Some(Errand::Create),
        None,
        Some(Errand::Delete),
        Some(Errand::Delete),
        Some(Errand::Delete),
        None,
        None,
    ]) {
        assert_eq!(standing.errand(), errand, "{standing:?}");
    }
}
