//! The `sh` blocks of the guides are run against sandboxes, one sandbox and one shell for each guide. A block `json` or
//! `output` that follows is what they print.
//!
//! Ids, times, addresses and the like differ in each run: words of 20 or more characters, and numbers of 10 or more
//! digits, are not compared. `COFFER_BLESS=1 cargo test --test it guides` rewrites the blocks that differ.

use super::{CodeBlock, code_blocks, guide_names, guide_path};
use crate::support::process::{Process, start_sandbox};
use crate::support::scratch::Scratch;
use crate::support::tools;
use coffer::http::DocumentKind;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Address of a sandbox in the guides.
const GUIDE_URL: &str = "http://127.0.0.1:8080";
/// Labels of `sh` blocks that other tests run: `chain::electrum`, `base` and `signatures`.
const OTHER_TESTS: &[&str] = &["sh electrum", "sh base", "sh openssl"];

/// Runs all `sh` blocks of a guide. Returns the guide with the printed answers, and the lines that differ.
#[track_caller]
fn run_guide(name: &str, text: &str) -> (String, Vec<String>) {
    let (_sandbox, url) = start_sandbox("127.0.0.1:0", &[]);
    let scratch = Scratch::new();
    let programs = Path::new(env!("CARGO_BIN_EXE_coffer")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.arg("-eu").current_dir(scratch.path(""));
    shell.env("PATH", format!("{}:{path}", programs.display()));
    let mut shell = Process::start(&mut shell);
    shell.write_input("trap 'echo; echo FAILED; echo DONE' EXIT\n");
    let blocks = code_blocks(text);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut different = Vec::new();
    let mut written = Vec::new();
    for (at, block) in blocks.iter().enumerate().filter(|(_, block)| block.info == "sh") {
        let commands = block.text.replace(GUIDE_URL, &url);
        shell.write_input(&format!("{commands}\necho; echo DONE\n"));
        let printed = std::iter::repeat_with(|| shell.read_line());
        let printed: Vec<String> = printed.take_while(|line| line != "DONE").collect();
        let is_done = !printed.iter().any(|line| line == "FAILED");
        assert!(is_done, "{name}:{} fails:\n{}", block.start + 1, block.text);
        let printed = printed.join("\n").trim_end().replace(&url, GUIDE_URL);
        let answer = blocks.get(at + 1).filter(|next| is_answer(next, block, &lines));
        if let Some(answer) = answer {
            let found = first_difference(&answer.text, &printed);
            different.extend(found.map(|(line, (told, is))| {
                format!("{name}:{}: {told:?} is {is:?}", answer.start + line + 1)
            }));
            written.push((answer.start..answer.end, printed));
        }
    }
    for (range, printed) in written.into_iter().rev() {
        if first_difference(&lines[range.clone()].join("\n"), &printed).is_some() {
            lines.splice(range, printed.lines().map(str::to_owned));
        }
    }
    (lines.join("\n") + "\n", different)
}

/// Returns `true` if the block `next` is what `block` prints: only blank lines are between them.
fn is_answer(next: &CodeBlock, block: &CodeBlock, lines: &[String]) -> bool {
    let between = &lines[block.end + 1..next.start - 1];
    ["json", "output"].contains(&&*next.info) && between.iter().all(String::is_empty)
}

/// Returns the number of the first line that differs, with both lines.
fn first_difference(told: &str, printed: &str) -> Option<(usize, (String, String))> {
    let count = told.lines().count().max(printed.lines().count());
    let line = |text: &str, at: usize| text.lines().nth(at).unwrap_or("nothing").to_owned();
    let pairs = (0..count).map(|at| (at, (line(told, at), line(printed, at))));
    let mut pairs = pairs.filter(|(_, (told, printed))| mask(told) != mask(printed));
    pairs.next()
}

/// Replaces the words that differ in each run.
fn mask(line: &str) -> String {
    let mut masked = String::new();
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || "_:.-".contains(letter);
    for part in line.split_inclusive(|letter| !is_of_word(letter)) {
        let word = part.trim_end_matches(|letter| !is_of_word(letter));
        let has_digits = word.contains(|letter: char| letter.is_ascii_digit());
        let is_number = word.len() >= 10 && word.chars().all(|letter| letter.is_ascii_digit());
        match is_number || (has_digits && word.len() >= 20) {
            true => masked.push_str(&part.replace(word, "*")),
            false => masked.push_str(part),
        }
    }
    masked
}

#[test]
fn requests_of_the_guides_get_their_answers() {
    let untested = "the requests of the guides";
    if tools::tool_output("jq", &["--version"], untested).is_none()
        || tools::tool_output("curl", &["--version"], untested).is_none()
    {
        return;
    }
    let mut different = Vec::new();
    for name in guide_names() {
        let text = std::fs::read_to_string(guide_path(&name)).unwrap();
        if code_blocks(&text).iter().any(|block| block.info == "sh") {
            let (answered, found) = run_guide(&name, &text);
            if std::env::var_os("COFFER_BLESS").is_some() {
                std::fs::write(guide_path(&name), answered).unwrap();
            } else {
                different.extend(found);
            }
        }
    }
    assert!(different.is_empty(), "COFFER_BLESS=1 rewrites them:\n{}", different.join("\n"));
}

#[test]
fn guides_show_a_request_for_each_operation_of_a_shop() {
    let mut requests = Vec::new();
    for name in guide_names() {
        let text = std::fs::read_to_string(guide_path(&name)).unwrap();
        for block in code_blocks(&text).iter().filter(|block| block.info == "sh") {
            for command in block.text.replace("\\\n", "").split("curl ").skip(1) {
                let Some((_, path)) = command.split_once("$COFFER/") else { continue };
                let path = path.split([' ', '"', '?']).next().unwrap().to_owned();
                let is_post = command.contains("-X POST") || command.contains(" -d ");
                requests.push((if is_post { "post" } else { "get" }, format!("/{path}")));
            }
        }
    }
    let document = coffer::http::document("http://x", DocumentKind::Merchant);
    let document: Value = serde_json::from_str(&document).unwrap();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let (start, end) = path.split_once('{').unwrap_or((path, ""));
        let end = end.split_once('}').map_or("", |(_, end)| end);
        for method in methods.as_object().unwrap().keys() {
            let is_it = |(sent, to): &(&str, String)| {
                let rest = to.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
                let is_one = rest.is_some_and(|rest| !rest.contains('/'));
                sent == method && is_one && (path == to || start != path)
            };
            assert!(requests.iter().any(is_it), "no guide shows {method} {path}");
        }
    }
}

#[test]
fn every_shell_block_of_the_guides_is_run() {
    for name in guide_names() {
        let text = std::fs::read_to_string(guide_path(&name)).unwrap();
        let blocks = code_blocks(&text);
        for block in blocks.iter().filter(|block| block.info.starts_with("sh ")) {
            assert!(OTHER_TESTS.contains(&&*block.info), "{name}: no test runs {:?}", block.info);
        }
        let elsewhere = blocks.iter().filter(|block| block.info == "text").count();
        assert!(elsewhere <= 1, "{name}: {elsewhere} blocks need another host; at most one may");
    }
}

#[test]
fn ids_and_times_are_not_compared() {
    let told = r#"{"id": "01a2191c-2457-7c9c-a0f9-9b21b0681251", "at": "2026-11-26T18:26:44.439Z", "n": 1}"#;
    let same = r#"{"id": "01a21923-8d4c-7be2-aad0-f6788c0f3cad", "at": "2027-11-26T18:26:44.439Z", "n": 1}"#;
    assert_eq!(first_difference(told, same), None);
    for other in [told.replace("1}", "2}"), told.replace("id", "ids"), format!("{told}\n}}")] {
        assert!(first_difference(told, &other).is_some(), "{other}");
    }
}
