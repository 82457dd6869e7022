//! Reads the answers of `coffer setup` from a terminal, a file or standard input.
//!
//! Invariant: no message contains an answer to a secret question.

use crate::cli::installed::read_whole;
use crate::cli::terminal::{print_message, read_hidden_line, read_line};
use crate::domain::WalletSecret;
use crate::domain::chain::Chain;
use crate::domain::wallet::secret_problem;
use crate::service::Error;
use std::fs::File;
use std::io::IsTerminal;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const ANSWERS_BYTES_MAX: u64 = 1 << 16;

/// Permission bits of other users.
const OTHERS: u32 = 0o077;

/// Names of the questions, besides the chains, with their help.
const NAMES: [(&str, &str); 5] = [
    ("domain", "Domain of the checkout pages, for example pay.example.com"),
    ("https", "`coffer` for HTTPS by Coffer itself, `proxy` for a proxy in front of it"),
    ("agree", "`yes` to agree to the terms of the certificate authority; with https=coffer"),
    ("test-networks", "`yes` to accept nodes of test networks, whose coins have no value"),
    ("email", "Email address of the first operator"),
];

pub(super) fn help() -> String {
    let mut lines = vec!["Answers:".to_owned()];
    lines.extend(NAMES.map(|(name, about)| format!("  {name:<14} {about}")));
    let about =
        "URL of an Electrum server, a node or a provider of the chain; `none` to stop following it";
    lines.push(format!("  {:<14} {about}", "CHAIN"));
    lines.push(format!("  CHAIN is one of {}.", Chain::TEXTS.join(", ")));
    lines.join("\n")
}

pub(super) struct Question<'a> {
    pub name: &'a str,
    pub text: String,
    /// Current value to show, which an empty answer keeps.
    pub current: Option<String>,
    /// `true` if the answer may contain a password, so the terminal does not show it.
    pub is_secret: bool,
}

pub(super) enum Answers {
    Terminal,
    /// Names and answers of a text.
    Text(Vec<(String, String)>),
}

impl Answers {
    /// Opens a file, or standard input if there is no file.
    ///
    /// # Errors
    /// A message if other users can read the file, or a line is no answer.
    pub(super) fn open(file: Option<&Path>) -> Result<Answers, Error> {
        let failed = |error: std::io::Error| {
            let name = file.map_or("standard input".to_owned(), |path| path.display().to_string());
            Error::Failed(format!("answers: {name}: {error}"))
        };
        let text = match file {
            Some(path) => {
                let file = File::open(path).map_err(failed)?;
                if file.metadata().map_err(failed)?.mode() & OTHERS != 0 {
                    let path = path.display();
                    return Err(Error::Failed(format!(
                        "answers: other users can read {path}. Run: chmod 600 {path}"
                    )));
                }
                read_whole(file, ANSWERS_BYTES_MAX).map_err(failed)?
            }
            None if std::io::stdin().is_terminal() => return Ok(Answers::Terminal),
            None => read_whole(std::io::stdin().lock(), ANSWERS_BYTES_MAX).map_err(failed)?,
        };
        parse_answers(&text).map(Answers::Text).map_err(Error::Failed)
    }

    /// Returns `true` if questions can be asked again.
    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Answers::Terminal)
    }

    /// Asks a question until `check` accepts the answer. Returns `None` if the current value is kept, or an optional
    /// question has no answer.
    ///
    /// # Errors
    /// A message with the name of the question if the answer from a text is wrong, or the terminal is closed.
    pub(super) fn ask<T>(
        &mut self,
        question: &Question<'_>,
        is_optional: bool,
        mut check: impl FnMut(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Error> {
        loop {
            let given = match self {
                Answers::Terminal => prompt(question)?,
                Answers::Text(all) => {
                    all.iter().find(|(name, _)| name == question.name).map(|(_, text)| text.clone())
                }
            };
            let outcome = match given {
                Some(text) => check_text(&text).and_then(|()| check(&text)).map(Some),
                None if is_optional || question.current.is_some() => Ok(None),
                None => Err(format!("is missing. {}", question.text)),
            };
            match outcome {
                Ok(answer) => return Ok(answer),
                Err(problem) if self.is_terminal() => print_message(&format!("{problem}.")),
                Err(problem) => return Err(Error::Failed(format!("{}: {problem}", question.name))),
            }
        }
    }
}

/// Asks a question on the terminal; `None` for an empty answer.
fn prompt(question: &Question<'_>) -> Result<Option<String>, Error> {
    let current = question.current.as_ref().map_or(String::new(), |shown| format!(" [{shown}]"));
    let hidden = if question.is_secret { " (your input is not shown)" } else { "" };
    let text = format!("{}{hidden}{current}: ", question.text);
    let line = match question.is_secret {
        true => read_hidden_line(&text),
        false => read_line(&text),
    };
    let line = line.map_err(|error| Error::Failed(format!("{}: {error}", question.name)))?;
    let line = line.trim();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}

/// Refuses a control character, which could begin another setting, and private keys and seed phrases.
fn check_text(text: &str) -> Result<(), String> {
    if text.contains(char::is_control) {
        return Err("must not contain control characters, such as a tab".to_owned());
    }
    match WalletSecret::find_in_argument(text) {
        Some(secret) => Err(secret_problem(secret).to_owned()),
        None => Ok(()),
    }
}

/// Parses one answer on each line. Ignores empty lines and comments.
fn parse_answers(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut found: Vec<(String, String)> = Vec::new();
    for (line, number) in text.lines().zip(1_u32..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, answer) = line
            .split_once('=')
            .ok_or_else(|| format!("answers: line {number} must be NAME=ANSWER"))?;
        let (name, answer) = (name.trim(), answer.trim());
        let known = NAMES.iter().map(|(name, _)| *name).chain(Chain::TEXTS.iter().copied());
        if !known.clone().any(|known| known == name) {
            let known: Vec<&str> = known.collect();
            let known = known.join(", ");
            return Err(format!("answers: line {number} has no known name. Known are {known}"));
        }
        if found.iter().any(|(other, _)| other == name) {
            return Err(format!("{name}: must be answered once; line {number} is another answer"));
        }
        if !answer.is_empty() {
            found.push((name.to_owned(), answer.to_owned()));
        }
    }
    Ok(found)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{check_text, parse_answers};

    #[test]
    fn answers_are_one_on_each_line() {
        let text =
            "# all\n\ndomain = pay.example.com\nbitcoin=electrums://a:1?b=c#sha256=d\nemail=\n";
        let read = parse_answers(text).unwrap();
        let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let nodes = pair("bitcoin", "electrums://a:1?b=c#sha256=d");
        assert_eq!(read, [pair("domain", "pay.example.com"), nodes]);
    }

    #[test]
    fn wrong_line_is_named_without_its_text() {
        for (text, expected) in [
            ("domain=a\nsecret", "answers: line 2 must be NAME=ANSWER"),
            ("secret=a", "answers: line 1 has no known name. Known are domain, https, "),
            ("domain=a\ndomain=secret", "domain: must be answered once; line 2 is another answer"),
        ] {
            let problem = parse_answers(text).unwrap_err();
            assert!(problem.starts_with(expected) && !problem.contains("secret"), "{problem}");
        }
    }

    #[test]
    fn control_characters_and_private_keys_are_refused() {
        let phrase = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
        for text in ["a\tb", "a\u{1b}[2J", "a\rCOFFER_SIGNER=/bin/sh", phrase, &"e3".repeat(32)] {
            assert!(check_text(text).is_err(), "{text:?}");
        }
        check_text("http://coffer:e3e3e3e3e3e3e3e3@127.0.0.1:9332").unwrap();
    }
}
