//! Moves, stops or restarts the sandbox's clock: `/sandbox/clock`.

use super::state::{STATE, state_after};
use crate::api::operation::{Body, Context, Controls, Job, Operation, OperationFn};
use crate::domain::fields::rule::{FlagRule, OrNull, described};
use crate::domain::fields::text_rule::{parsed, text};
use crate::domain::fields::{Schema, input, schema};
use crate::domain::time::parse_duration_ms;
use crate::domain::{Refusal, RefusalCode, Time};
use crate::service::Error;
use crate::service::sandbox::controls::ClockChange;

input! {
    /// A change of the clock: exactly one of the fields. Null means absent.
    pub SandboxClock, checked advance, set, frozen; unknown refused, besides {
        "oneOf": [
            { "required": ["advance"], "properties": { "advance": { "type": "string" } } },
            { "required": ["set"], "properties": { "set": { "type": "string" } } },
            { "required": ["frozen"], "properties": { "frozen": { "type": "boolean" } } }
        ]
    } {
        /// Duration to move forward by, as `[Nd][Nh][Nm][Ns]`, at most 3650d.
        optional advance: i64 = OrNull(parsed(text(1..=40).with_pattern(2, SPAN), parse_duration_ms)), "20m";
        /// Time to move forward to, not in the past and not after the year 8999.
        optional set: Time = described(parsed(text(1..=40), str::parse), MOMENT_OR_NULL);
        /// Whether the clock stands still.
        optional frozen: bool = OrNull(FlagRule);
    }
}

/// Pattern of a duration, for example `1h30m`. A duration has at least one part.
const SPAN: &str = "^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$";

const MOMENT_OR_NULL: Schema =
    schema!({ "type": ["string", "null"], "format": "date-time", "maxLength": 40 });

pub const OPERATIONS: [&Operation; 1] = [&MOVE];

const MOVE: Operation = Operation {
    id: "sandboxClock",
    method: "POST",
    path: "/sandbox/clock",
    summary: "Moves the clock forward and does all that falls due; or stops or restarts the clock.",
    body: Body::required(&SandboxClock::COMPONENT),
    run: OperationFn::Controls(change_clock),
    ..STATE
};

fn change_clock(context: &Context<'_>, controls: &Controls) -> Result<Job, Error> {
    let SandboxClock { advance, set, frozen } = SandboxClock::read(&context.body_fields()?)?;
    let step = match (advance, set, frozen) {
        (Some(span_ms), None, None) => ClockChange::Advance(span_ms),
        (None, Some(at), None) => ClockChange::Set(at),
        (None, None, Some(frozen)) => ClockChange::Freeze(frozen),
        _ => {
            let message = "give one of advance, set and frozen";
            return Err(Refusal::new(RefusalCode::InvalidRequest, message).into());
        }
    };
    state_after(controls, controls.move_clock(step))
}
