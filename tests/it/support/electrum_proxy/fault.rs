//! Faults in the responses of an Electrum server.

use serde_json::{Value, json};
use std::sync::Arc;

/// Change of the result of a response.
pub type ResultChange = Arc<dyn Fn(&mut Value) + Send + Sync>;

/// A bad answer to one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadAnswer {
    /// An error of the method.
    Error,
    Null,
    EmptyList,
    /// A page of a web server instead of a line of JSON.
    Html,
    /// An object with fields of another version.
    OtherShape,
    /// A line of 100 MB.
    TooLong,
    /// No answer at all.
    Hang,
    /// The same answer twice.
    Twice,
}

impl BadAnswer {
    pub const ALL: [BadAnswer; 8] = [
        BadAnswer::Error,
        BadAnswer::Null,
        BadAnswer::EmptyList,
        BadAnswer::Html,
        BadAnswer::OtherShape,
        BadAnswer::TooLong,
        BadAnswer::Hang,
        BadAnswer::Twice,
    ];

    /// Returns the bytes that are sent instead of a response.
    fn bytes(self, answer: &mut Value) -> Vec<u8> {
        let with_result = |answer: &mut Value, result: Value| {
            answer["result"] = result;
            format!("{answer}\n").into_bytes()
        };
        match self {
            BadAnswer::Error => {
                answer["error"] = json!({"code": 2, "message": "internal error"});
                with_result(answer, Value::Null)
            }
            BadAnswer::Null => with_result(answer, Value::Null),
            BadAnswer::EmptyList => with_result(answer, json!([])),
            BadAnswer::Html => b"<html><body>502 Bad Gateway</body></html>\n".to_vec(),
            BadAnswer::OtherShape => with_result(answer, json!({"version": 9, "data": [[]]})),
            BadAnswer::TooLong => vec![b' '; 100_000_000],
            BadAnswer::Hang => Vec::new(),
            BadAnswer::Twice => format!("{answer}\n{answer}\n").into_bytes(),
        }
    }
}

/// Fault in the responses of the server.
#[derive(Clone)]
pub enum ElectrumFault {
    /// Gives a bad answer to a method, this many times.
    Answers(&'static str, BadAnswer, u64),
    /// Refuses subscriptions to this script hash, and its history.
    RefusesScript(String),
    /// Changes the results of a method.
    Changes(&'static str, ResultChange),
    /// Reports this invented transaction instead of a real unconfirmed one, and gives its bytes.
    Replaces { real: String, by: String, raw: String },
    /// Sends each byte of a response half a second after the one before.
    Drips,
    /// Passes all responses unchanged.
    None,
    /// Reports an empty history for every script.
    Hides,
    /// Changes a hash in each Merkle branch.
    FalseProof,
    /// Changes the Merkle root in headers.
    FalseHeader,
    /// Changes the amount in transactions.
    FalseBytes,
    /// Adds a transaction that does not exist, at this height, to each history.
    Invents(u64),
    /// Sends a notification for a script without a subscription.
    UnknownScripts,
    /// Sends a line of 100 MB instead of a response.
    LongLine,
    /// Reports excessive resource usage and closes the connection.
    Excessive,
    /// Limits the number of subscriptions of a connection to this number.
    WatchesAtMost(usize),
    /// Reports that each history is too large.
    RefusesHistories,
}

impl ElectrumFault {
    /// Returns `true` if the fault was applied as often as it may be.
    pub(super) fn is_over(&self, applied: u64) -> bool {
        matches!(self, ElectrumFault::Answers(_, _, times) if applied >= *times)
    }
}

impl std::fmt::Debug for ElectrumFault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ElectrumFault::Answers(method, bad, times) => {
                write!(out, "{method}: {bad:?}, {times} times")
            }
            ElectrumFault::RefusesScript(script) => write!(out, "refuses {script}"),
            ElectrumFault::Changes(method, _) => write!(out, "changes {method}"),
            ElectrumFault::Replaces { real, by, .. } => write!(out, "replaces {real} by {by}"),
            ElectrumFault::Drips => out.write_str("drips"),
            ElectrumFault::None => out.write_str("none"),
            ElectrumFault::Hides => out.write_str("hides"),
            ElectrumFault::FalseProof => out.write_str("false proof"),
            ElectrumFault::FalseHeader => out.write_str("false header"),
            ElectrumFault::FalseBytes => out.write_str("false bytes"),
            ElectrumFault::Invents(height) => write!(out, "invents one at {height}"),
            ElectrumFault::UnknownScripts => out.write_str("unknown scripts"),
            ElectrumFault::LongLine => out.write_str("long line"),
            ElectrumFault::Excessive => out.write_str("excessive"),
            ElectrumFault::WatchesAtMost(most) => write!(out, "watches at most {most}"),
            ElectrumFault::RefusesHistories => out.write_str("refuses histories"),
        }
    }
}

/// Returns the changed bytes, or `None` if the fault does not apply. `watched` is the number of subscriptions of the
/// connection.
pub(super) fn alter_responses(
    fault: &ElectrumFault,
    method: Option<&str>,
    script: &str,
    watched: usize,
    answer: &mut Value,
) -> Option<Vec<u8>> {
    let is_notice = method.is_none();
    let is_of = |name: &str| method == Some(name);
    match fault {
        ElectrumFault::Answers(name, bad, _) if is_of(name) => return Some(bad.bytes(answer)),
        ElectrumFault::Hides if is_notice => return Some(Vec::new()),
        ElectrumFault::UnknownScripts if !is_notice => {
            let hash = "ef".repeat(32);
            let notice =
                json!({"method": "blockchain.scripthash.subscribe", "params": [hash, hash]});
            return Some(format!("{notice}\n{answer}\n").into_bytes());
        }
        ElectrumFault::LongLine if !is_notice && !is_of("server.version") => {
            return Some(vec![b' '; 100_000_000]);
        }
        _ => change_answer(fault, method, script, watched, answer)?,
    }
    Some(format!("{answer}\n").into_bytes())
}

/// Changes an answer; `None` if the fault does not apply.
fn change_answer(
    fault: &ElectrumFault,
    method: Option<&str>,
    script: &str,
    watched: usize,
    answer: &mut Value,
) -> Option<()> {
    let is_notice = method.is_none();
    let is_of = |name: &str| method == Some(name);
    match fault {
        ElectrumFault::RefusesScript(refused)
            if refused == script
                && (is_of("blockchain.scripthash.subscribe")
                    || is_of("blockchain.scripthash.get_history")) =>
        {
            answer["result"] = Value::Null;
            answer["error"] = json!({"code": 1, "message": "history too large"});
        }
        ElectrumFault::Changes(name, change) if is_of(name) => change(&mut answer["result"]),
        ElectrumFault::Replaces { real, by, .. } if is_of("blockchain.scripthash.get_history") => {
            let entries = answer["result"].as_array_mut()?;
            let is_real = |entry: &&mut Value| {
                entry["tx_hash"] == *real && entry["height"].as_i64() <= Some(0)
            };
            entries.iter_mut().find(is_real)?["tx_hash"] = json!(by);
        }
        ElectrumFault::Replaces { by, raw, .. }
            if is_of("blockchain.transaction.get") && by == script =>
        {
            answer.as_object_mut()?.remove("error");
            answer["result"] = json!(raw);
        }
        ElectrumFault::Drips => {}
        ElectrumFault::Hides if is_of("blockchain.scripthash.subscribe") => {
            answer["result"] = Value::Null;
        }
        ElectrumFault::Hides if is_of("blockchain.scripthash.get_history") => {
            answer["result"] = json!([]);
        }
        ElectrumFault::FalseProof if is_of("blockchain.transaction.get_merkle") => {
            answer["result"]["merkle"][0] = json!("ab".repeat(32));
        }
        ElectrumFault::FalseHeader if is_of("blockchain.headers.subscribe") => {
            flip_digit(&mut answer["result"]["hex"], 80);
        }
        ElectrumFault::FalseBytes if is_of("blockchain.transaction.get") => {
            flip_digit(&mut answer["result"], 100);
        }
        ElectrumFault::Invents(height) if is_of("blockchain.scripthash.get_history") => {
            let invented = json!({"height": height, "tx_hash": "cd".repeat(32)});
            answer["result"].as_array_mut()?.push(invented);
        }
        ElectrumFault::Excessive if !is_notice && !is_of("server.version") => {
            answer["result"] = Value::Null;
            answer["error"] = json!({"code": -101, "message": "excessive resource usage"});
        }
        ElectrumFault::RefusesHistories if is_of("blockchain.scripthash.get_history") => {
            answer["result"] = Value::Null;
            answer["error"] = json!({"code": 1, "message": "history too large"});
        }
        ElectrumFault::WatchesAtMost(most)
            if is_of("blockchain.scripthash.subscribe") && watched > *most =>
        {
            answer["result"] = Value::Null;
            answer["error"] = json!({"code": 1, "message": "subscription limit reached"});
        }
        _ => return None,
    }
    Some(())
}

/// Changes the hexadecimal digit at this position.
fn flip_digit(text: &mut Value, at: usize) {
    if let Some(old) = text.as_str() {
        let new = if old.get(at..=at) == Some("0") { "1" } else { "0" };
        let mut changed = old.to_owned();
        changed.replace_range(at..=at, new);
        *text = json!(changed);
    }
}
