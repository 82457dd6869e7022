//! Responses of every operation to valid and invalid requests in every situation, compared with `tests/golden/answers`.
//!
//! A refactoring does not change these files. After an intended change, `COFFER_BLESS=1 cargo test --test it answers::`
//! rewrites them.

mod case;
mod document;
mod objects;
mod observed;
mod recorder;
mod world;

use crate::support::golden::assert_matches;
use recorder::ResponseRecorder;
use std::collections::BTreeSet;

#[test]
fn merchant_responses_match_golden_files() {
    assert_responses_match(|tag| !tag.starts_with("Operator") && !tag.starts_with("Sandbox"));
}

#[test]
fn operator_responses_match_golden_files() {
    assert_responses_match(|tag| tag.starts_with("Operator"));
}

#[test]
fn sandbox_responses_match_golden_files() {
    assert_responses_match(|tag| tag.starts_with("Sandbox"));
}

/// Asserts that the responses of all operations whose tag `is_wanted` accepts match their golden files.
#[track_caller]
fn assert_responses_match(is_wanted: fn(&str) -> bool) {
    let operations = document::operations();
    let tags: BTreeSet<&str> = operations.iter().map(|operation| operation.tag.as_str()).collect();
    let recorder = ResponseRecorder::new();
    for tag in tags {
        // Other tests cover the operations with the tag `Process`: documents, counters and probes.
        if !is_wanted(tag) || tag == "Process" {
            continue;
        }
        let of_tag: Vec<_> = operations.iter().filter(|operation| operation.tag == tag).collect();
        assert_matches(&golden_file_name(tag), &recorder.golden_text(&of_tag));
    }
}

fn golden_file_name(tag: &str) -> String {
    let words = tag.to_lowercase().replace(": ", " ").replace(", ", " ").replace(' ', "-");
    format!("answers/{words}.txt")
}
