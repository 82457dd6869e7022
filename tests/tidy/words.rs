//! Words that are refused: in code, in comments, in string literals, in file names.

use crate::names::names;
use crate::scan::{Kind, Token};
use crate::tree::{File, Tree};

const ROOTS: &[&str] = &["src/", "tests/", "examples/"];

/// Code that is refused everywhere, and what to do instead.
const CODE: &[(&str, &str)] = &[
    ("todo!", "write it, or leave it out"),
    ("unimplemented!", "write it, or leave it out"),
    ("dbg!", "take it out, or log it"),
    ("#[ignore", "mend the test, or delete it"),
    ("unsafe", "do it in safe Rust"),
    ("super::*", "name what is used: `use super::{a, b}`"),
    (
        "[allow(",
        "mend it, or write #[expect(…, reason = \"…\")], which says when it is no longer needed",
    ),
    (
        "static mut",
        "hand the state down from app: two servers run in one process",
    ),
    (
        "lazy_static!",
        "hand the state down from app: two servers run in one process",
    ),
    (
        "thread_local!",
        "hand the state down from app: two servers run in one process",
    ),
];
const SLEEPS: &[&str] = &["thread::sleep", "time::sleep", "thread::park_timeout"];
/// It alone pauses, between two looks.
const LOOKS: &str = "tests/it/support/polling.rs";
const COMMENTS: &[&str] = &["TODO", "FIXME", "XXX", "for now"];
const MARKUP: &[&str] = &["<html", "<div", "<p>", "<form", "<!doctype", "</"];
/// What a url of CI may begin with, after its scheme: the machine itself, or what a variable holds.
const HERE: &[&str] = &["127.0.0.1", "localhost", "$", "{"];
/// What was once called by a word of this house, and what it is called.
const OTHER_WORDS: &[(&[&str], &str)] = &[
    (
        &["desk", "desks", "dashboard", "dashboards"],
        "the operator interface",
    ),
    (&["bell", "bells"], "a waker"),
    (&["errand", "errands"], "a command's job"),
    (&["lane", "lanes"], "the queue of a receiver"),
    (&["aside"], "a blocking call, or a temporary file"),
    (&["standing"], "a state, or what exists, or what counts"),
];
/// What has such a word in its name for ever: paths and schemas that are published, a column, a term of Argon2.
const KEEP_THEIR_NAME: &[&str] = &[
    "dashboard/dashboard.js",
    "/dashboard",
    "DashboardPayout",
    "DashboardRefund",
    ":lane",
    ".lane",
    "lane,",
    "lane =",
    "lane >",
    "(lane)",
    "passes and lanes",
];
const FILE_NAMES: &[&str] = &["util", "utils", "helper", "helpers", "misc", "common"];

pub fn banned(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(ROOTS);
    for file in ROOTS.iter().flat_map(|root| tree.rust(root)) {
        for (code, mend) in CODE {
            found.extend(
                file.says(code)
                    .into_iter()
                    .map(|line| file.at(line, &format!("`{code}`: {mend}"))),
            );
        }
        found.extend(without_reason(file));
        for token in file.of_kind(Kind::Comment) {
            let words = COMMENTS
                .iter()
                .filter(|phrase| has_phrase(&token.text, phrase));
            found.extend(words.map(|phrase| {
                file.at(
                    token.line,
                    &format!("`{phrase}` in a comment: do it, or say what is and why it stays so"),
                )
            }));
        }
        if file.path.starts_with("tests/") && file.path != LOOKS {
            let names = names(file);
            let sleeps = names
                .iter()
                .filter(|name| SLEEPS.iter().any(|sleep| name.has(sleep)));
            found.extend(sleeps.map(|name| {
                file.at(name.line, "a test never sleeps: move the manual clock and settle(), wait on what is to happen, or look until it has")
            }));
        }
    }
    found
}

/// An `#[expect(…)]` says why.
fn without_reason(file: &File) -> Vec<String> {
    let code = file.code();
    let text = |at: usize| code.get(at).map_or("", |token| token.text.as_str());
    let mut found = Vec::new();
    for at in 0..code.len() {
        if (at..at + 3).map(text).eq(["[", "expect", "("])
            && !code[at..]
                .iter()
                .take_while(|token| token.text != "]")
                .any(|token| token.text == "reason")
        {
            found.push(file.at(
                code[at].line,
                "an #[expect(…)] without a reason: end it with `reason = \"…\"`",
            ));
        }
    }
    found
}

/// Whether the text has the phrase, not as a part of longer words.
pub fn has_phrase(text: &str, phrase: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(phrase).any(|(at, _)| {
        !joins(text[..at].chars().next_back()) && !joins(text[at + phrase.len()..].chars().next())
    })
}

pub fn markup(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["src/"]);
    let marked = |token: &&Token| {
        let text = token.text.to_lowercase();
        MARKUP.iter().any(|mark| text.contains(mark))
    };
    for file in tree.rust("src/") {
        found.extend(file.of_kind(Kind::Text).filter(marked).map(|token| {
            file.at(
                token.line,
                "markup in a .rs file: put it into a file under src/web/ and fill that in",
            )
        }));
    }
    found
}

pub fn file_names(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["src/"]);
    let mend = "a name that says nothing draws everything: name it after what is in it, or move that to where it is used";
    for file in tree.under("src/") {
        let mut parts = file
            .path
            .split('/')
            .map(|part| part.split('.').next().unwrap_or_default());
        if parts.any(|part| FILE_NAMES.contains(&part)) {
            found.push(file.at(1, mend));
        }
        let modules = FILE_NAMES
            .iter()
            .flat_map(|name| file.says(&format!("mod {name} {{")));
        found.extend(modules.map(|line| file.at(line, mend)));
    }
    found
}

/// One thing has one name: the one that the field has for it.
pub fn one_name(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["src/", "tests/it/", "README.md"]);
    let is_read = |file: &&File| {
        let is_prose = [".rs", ".json", ".html", ".md", ".sql"];
        let is_kept = ["tests/tidy/", "tests/golden/", "sql/migrations/"];
        is_prose.iter().any(|end| file.path.ends_with(end))
            && !is_kept.iter().any(|start| file.path.starts_with(start))
    };
    for file in tree.files.iter().filter(is_read) {
        for (line, said) in [(1, file.path.as_str())]
            .into_iter()
            .chain((1..).zip(file.text.lines()))
        {
            let mut said = said.to_owned();
            for kept in KEEP_THEIR_NAME {
                said = said.replace(kept, " ");
            }
            let words = parts(&said);
            for (others, name) in OTHER_WORDS {
                let other = others
                    .iter()
                    .find(|other| words.iter().any(|word| word == *other));
                found.extend(other.map(|other| {
                    file.at(
                        line,
                        &format!("`{other}`: call it what everybody calls it, {name}"),
                    )
                }));
            }
        }
    }
    found
}

/// The words of a line, in small letters; those in the names of code too.
fn parts(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_small = false;
    for c in line.chars() {
        if !c.is_alphabetic() || c.is_uppercase() && was_small {
            parts.push(String::new());
        }
        if c.is_alphabetic() {
            parts
                .last_mut()
                .unwrap_or(&mut String::new())
                .extend(c.to_lowercase());
        }
        was_small = c.is_lowercase();
    }
    parts
}

/// What CI installs comes from where the machine that it runs on has its packages from.
pub fn hosts(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&[".ci/"]);
    let is_here = |rest: &str| HERE.iter().any(|host| rest.starts_with(host));
    for file in tree.under(".ci/") {
        for (at, line) in file.text.lines().enumerate() {
            let mut urls = line.split("://").skip(1);
            if urls.any(|rest| !is_here(rest)) {
                found.push(file.at(
                    at + 1,
                    "a host by its name: ask the machine for it, which knows where its packages come from",
                ));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{banned, file_names, hosts, markup, one_name};
    use crate::tree::finds;

    #[track_caller]
    fn bans(source: &str, lines: &[usize]) {
        let files = [
            ("src/a.rs", source),
            ("tests/it/main.rs", ""),
            ("examples/shop.rs", ""),
        ];
        let places: Vec<String> = lines
            .iter()
            .map(|line| format!("src/a.rs:{line}"))
            .collect();
        finds(
            banned,
            &files,
            &places.iter().map(String::as_str).collect::<Vec<_>>(),
        );
    }

    #[test]
    fn banned_code_is_found_in_code_only() {
        bans(
            "fn f() { todo! () }\nunsafe fn g() {}\nuse super :: *;",
            &[1, 2, 3],
        );
        bans(
            "#![forbid(unsafe_code)]\n// todo!()\nconst A: &str = \"dbg!(1)\"; use super::b;",
            &[],
        );
        bans(
            "#[ignore = \"slow\"]\n#[test] fn f() {}\n#[ignore] fn g() {}",
            &[1, 3],
        );
        bans(
            "#![allow(dead_code)]\n#[expect(dead_code)]\n#[expect(dead_code, reason = \"a\")]\nfn f() { g(expect(1)) }",
            &[1, 2],
        );
        bans("static mut A: u8 = 1; static B: u8 = 1;", &[1]);
    }

    #[test]
    fn banned_comments_are_whole_words() {
        bans(
            "// TODO: x\n/* it\n FIXME */\n// it holds for now\n/// XXXX, for nowhere\nconst A: &str = \"XXX\";",
            &[1, 2, 4],
        );
    }

    #[test]
    fn tests_do_not_sleep() {
        let sleep =
            "use std::thread;\nfn f() { thread::sleep(a) }\nuse tokio::time::{self, sleep};";
        let files = [
            ("src/a.rs", sleep),
            ("tests/it/a.rs", sleep),
            ("tests/it/b.rs", "fn f() { std::thread::park_timeout(a) }"),
            (super::LOOKS, "fn f() { std::thread::park_timeout(a) }"),
            ("examples/shop.rs", sleep),
        ];
        let found = ["tests/it/a.rs:2", "tests/it/a.rs:3", "tests/it/b.rs:1"];
        finds(banned, &files, &found);
    }

    #[test]
    fn markup_is_in_files() {
        let source =
            "// <p>\nf(\"<!DOCTYPE html>\");\nf(r#\"a</b>\"#);\nf(\"a < b\", \"<parent>\");";
        finds(
            markup,
            &[("src/http/pages.rs", source), ("src/web/a.html", "<html>")],
            &["src/http/pages.rs:2", "src/http/pages.rs:3"],
        );
    }

    #[test]
    fn one_thing_has_one_name() {
        let files = [
            ("src/worker/bells.rs", "struct TestDesk;\nfn ring_bell() {}"),
            ("tests/it/a.rs", "get(\"/dashboard/api\"); // the dashboard"),
            ("README.md", "A bellow, a standingroom.\nA Standing."),
            ("src/web/guides/a.md", "A lane."),
        ];
        let places = [
            "src/worker/bells.rs:1",
            "src/worker/bells.rs:1",
            "src/worker/bells.rs:2",
            "tests/it/a.rs:1",
            "README.md:2",
            "src/web/guides/a.md:1",
        ];
        finds(one_name, &files, &places);
    }

    #[test]
    fn ci_names_no_host() {
        let script = "curl http://127.0.0.1:$port\necho deb https://packages.example main\ncurl $url http://$host/";
        finds(hosts, &[(".ci/run", script)], &[".ci/run:2"]);
    }

    #[test]
    fn names_that_say_nothing_are_refused() {
        let files = [
            ("src/utils.rs", ""),
            ("src/http/misc/a.rs", ""),
            ("src/a.rs", "mod helpers {}"),
            ("src/commons.rs", ""),
        ];
        finds(
            file_names,
            &files,
            &["src/utils.rs:1", "src/http/misc/a.rs:1", "src/a.rs:1"],
        );
    }
}
