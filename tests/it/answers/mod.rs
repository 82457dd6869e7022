//! Answers of every operation to valid and faulty requests, in every situation, as `tests/golden/answers` has them.
//!
//! A change that restructures leaves these files as they are. After a change that is meant,
//! `COFFER_BLESS=1 cargo test --test it answers::` writes them anew.

mod case;
mod document;
mod objects;
mod observed;
mod recorder;
mod world;

use crate::support::golden::assert_matches;
use recorder::Recorder;
use std::collections::BTreeSet;

#[test]
fn answers_to_shops_are_as_recorded() {
    check(|tag| !tag.starts_with("Operator") && !tag.starts_with("Sandbox"));
}

#[test]
fn answers_to_operators_are_as_recorded() {
    check(|tag| tag.starts_with("Operator"));
}

#[test]
fn answers_of_the_sandbox_are_as_recorded() {
    check(|tag| tag.starts_with("Sandbox"));
}

/// Compares the answers of all operations with such a tag.
#[track_caller]
fn check(is_wanted: fn(&str) -> bool) {
    let operations = document::operations();
    let tags: BTreeSet<&str> = operations
        .iter()
        .map(|operation| operation.tag.as_str())
        .collect();
    let recorder = Recorder::new();
    for tag in tags {
        // Other tests hold the answers of these: documents, counters and probes.
        if !is_wanted(tag) || tag == "Process" {
            continue;
        }
        let of_tag: Vec<_> = operations
            .iter()
            .filter(|operation| operation.tag == tag)
            .collect();
        assert_matches(&file_name(tag), &recorder.record(&of_tag));
    }
}

/// Returns the golden file of a tag.
fn file_name(tag: &str) -> String {
    let words = tag
        .to_lowercase()
        .replace(": ", " ")
        .replace(", ", " ")
        .replace(' ', "-");
    format!("answers/{words}.txt")
}
