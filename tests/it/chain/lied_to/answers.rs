//! Bad answers that a node of any kind may give, for every call.

use crate::support::rpc_proxy::{RpcFault, RpcProxy};
use crate::support::tron;
use serde_json::{Value, json};

/// Number of blocks, and of seconds, by which an answer is in the future.
const FUTURE: u64 = 100_000;
/// Number of bytes of an answer that is too long for the limit of the test.
const LONG_BYTES: usize = 2 << 20;
/// Names of fields with a height or a time.
const NUMBER_FIELDS: [&str; 11] = [
    "blocks",
    "headers",
    "height",
    "number",
    "blockNumber",
    "timestamp",
    "time",
    "mediantime",
    "blockTimeStamp",
    "slot",
    "parentSlot",
];
/// Names of fields with a block id of Tron, which begins with the height.
const ID_FIELDS: [&str; 2] = ["blockID", "parentHash"];

/// A bad answer.
#[derive(Clone, Copy)]
pub(super) enum BadAnswer {
    /// An HTTP status with an empty body.
    Status(u16),
    /// This body.
    Body(&'static str),
    /// `null`.
    Null,
    /// An error of the protocol.
    Error,
    /// No answer.
    Hang,
    /// An answer above the maximum size.
    Long,
    /// A changed answer.
    Change(fn(&mut Value)),
}

/// All bad answers, with their names.
pub(super) const BAD_ANSWERS: [(&str, BadAnswer); 16] = [
    ("HTML", BadAnswer::Body("<html><title>Sign in</title></html>")),
    ("status 401", BadAnswer::Status(401)),
    ("status 403", BadAnswer::Status(403)),
    ("status 429", BadAnswer::Status(429)),
    ("status 503", BadAnswer::Status(503)),
    ("no body", BadAnswer::Body("")),
    ("other JSON", BadAnswer::Body(r#"{"hello":"world"}"#)),
    ("null", BadAnswer::Null),
    ("empty object", BadAnswer::Change(|answer| *answer = json!({}))),
    ("empty list", BadAnswer::Change(|answer| *answer = json!([]))),
    ("error", BadAnswer::Error),
    ("hang", BadAnswer::Hang),
    ("too long", BadAnswer::Long),
    ("future", BadAnswer::Change(move_to_future)),
    ("reversed", BadAnswer::Change(reverse_lists)),
    ("twice", BadAnswer::Change(repeat_lists)),
];

/// A node whose answers a test replaces.
pub(super) trait LyingNode {
    /// Returns the url of the node.
    fn url(&self) -> String;
    /// Replaces the next answer to a call, or every further answer.
    fn inject_answer(&self, call: &str, answer: BadAnswer, once: bool);
    /// Answers an error to every request to a call that names one of these texts.
    fn refuse(&self, call: &str, named: Vec<String>);
    /// Lets the node answer correctly again.
    fn clear_answers(&self);
    /// Returns the calls that were made.
    fn calls(&self) -> Vec<String>;
}

impl LyingNode for RpcProxy {
    fn url(&self) -> String {
        RpcProxy::url(self)
    }

    fn inject_answer(&self, call: &str, answer: BadAnswer, once: bool) {
        let fault = match answer {
            BadAnswer::Status(status) => RpcFault::Status(status),
            BadAnswer::Body(body) => RpcFault::Body(body.to_owned()),
            BadAnswer::Null => RpcFault::result(Value::Null),
            BadAnswer::Error => RpcFault::error(-32603, "internal error"),
            BadAnswer::Hang => RpcFault::Hang,
            BadAnswer::Long => RpcFault::huge_result(LONG_BYTES),
            BadAnswer::Change(change) => {
                RpcFault::from_change(move |_, answer| change(&mut answer["result"]))
            }
        };
        match once {
            true => self.inject_once(call, fault),
            false => self.inject(call, fault),
        }
    }

    fn refuse(&self, call: &str, named: Vec<String>) {
        let error = json!({ "code": -5, "message": "not found" });
        let fault = RpcFault::from_change(move |params, answer| {
            if names_any(params, &named) {
                answer["result"] = Value::Null;
                answer["error"] = error.clone();
            }
        });
        self.inject(call, fault);
    }

    fn clear_answers(&self) {
        self.clear_faults();
    }

    fn calls(&self) -> Vec<String> {
        self.called_methods()
    }
}

impl LyingNode for tron::Node {
    fn url(&self) -> String {
        tron::Node::url(self)
    }

    fn inject_answer(&self, call: &str, answer: BadAnswer, once: bool) {
        let body = |body: &str| tron::Fault::Status(200, body.to_owned());
        let fault = match answer {
            BadAnswer::Status(status) => tron::Fault::Status(status, String::new()),
            BadAnswer::Body(text) => body(text),
            BadAnswer::Null => body("null"),
            BadAnswer::Error => body(r#"{"Error":"class java.lang.NullPointerException : null"}"#),
            BadAnswer::Hang => tron::Fault::Hang,
            BadAnswer::Long => body(&format!("{{\"x\":\"{}\"}}", "a".repeat(LONG_BYTES))),
            BadAnswer::Change(change) => tron::Fault::from_change(move |_, answer| change(answer)),
        };
        match once {
            true => self.inject_once(call, fault),
            false => self.inject(call, fault),
        }
    }

    fn refuse(&self, call: &str, named: Vec<String>) {
        let error = json!({ "Error": "class java.lang.IllegalStateException : no such block" });
        let fault = tron::Fault::from_change(move |asked, answer| {
            if names_any(asked, &named) {
                *answer = error.clone();
            }
        });
        self.inject(call, fault);
    }

    fn clear_answers(&self) {
        self.clear_faults();
    }

    fn calls(&self) -> Vec<String> {
        self.requested_paths()
    }
}

/// Returns `true` if a value of a request equals one of these texts.
fn names_any(asked: &Value, named: &[String]) -> bool {
    match asked {
        Value::Array(list) => list.iter().any(|one| names_any(one, named)),
        Value::Object(fields) => fields.values().any(|one| names_any(one, named)),
        Value::String(text) => named.contains(text),
        Value::Number(number) => named.contains(&number.to_string()),
        Value::Bool(_) | Value::Null => false,
    }
}

/// Moves all heights and times of an answer to the future. The ids of Tron stay consistent with the heights.
fn move_to_future(answer: &mut Value) {
    match answer {
        Value::Number(_) => move_field(answer),
        Value::String(text) if text.starts_with("0x") && text.len() <= 18 => move_field(answer),
        Value::Array(list) => list.iter_mut().for_each(move_fields),
        _ => move_fields(answer),
    }
}

fn move_fields(answer: &mut Value) {
    match answer {
        Value::Array(list) => list.iter_mut().for_each(move_fields),
        Value::Object(fields) => {
            for (name, value) in fields {
                if NUMBER_FIELDS.contains(&name.as_str()) {
                    move_field(value);
                } else if ID_FIELDS.contains(&name.as_str()) {
                    move_id(value);
                } else {
                    move_fields(value);
                }
            }
        }
        _ => {}
    }
}

/// Adds [`FUTURE`] to a number, which may be hexadecimal.
fn move_field(value: &mut Value) {
    if let Some(number) = value.as_u64() {
        *value = (number + FUTURE).into();
    } else if let Some(digits) = value.as_str().and_then(|text| text.strip_prefix("0x"))
        && let Ok(number) = u64::from_str_radix(digits, 16)
    {
        *value = format!("{:#x}", number + FUTURE).into();
    }
}

/// Adds [`FUTURE`] to the height at the beginning of an id. Ids of EVM chains do not change.
fn move_id(value: &mut Value) {
    let moved = value.as_str().filter(|text| !text.starts_with("0x")).and_then(|text| {
        let (height, rest) = text.split_at_checked(16)?;
        let height = u64::from_str_radix(height, 16).ok()?;
        Some(format!("{:016x}{rest}", height + FUTURE))
    });
    if let Some(moved) = moved {
        *value = moved.into();
    }
}

/// Changes the list of an answer, or the lists that are its fields.
fn change_lists(answer: &mut Value, change: fn(&mut Vec<Value>)) {
    match answer {
        Value::Array(list) => change(list),
        Value::Object(fields) => {
            fields.values_mut().filter_map(Value::as_array_mut).for_each(change);
        }
        _ => {}
    }
}

fn reverse_lists(answer: &mut Value) {
    change_lists(answer, |list| list.reverse());
}

fn repeat_lists(answer: &mut Value) {
    change_lists(answer, |list| list.extend(list.clone()));
}
