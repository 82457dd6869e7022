//! A command on a terminal: what a person would see of it.
//!
//! What always holds: the terminal is real (`pty.py` opens one), and so is the Ctrl-C that is pressed in it.

use super::tools;
use std::process::Command;

/// A terminal that is to be.
pub struct Terminal<'a> {
    /// How wide it is.
    pub columns: u16,
    /// What of the environment is set, beside `TERM`, which is `xterm` otherwise.
    pub environment: &'a [(&'a str, &'a str)],
    /// Ctrl-C is pressed as soon as this is shown.
    pub interrupted_at: &'a str,
}

/// What became of it.
#[derive(Debug)]
pub struct Shown {
    /// All that the terminal was sent.
    pub sent: String,
    /// The exit code, or the number of the signal that ended it, below zero.
    pub code: i32,
}

impl Terminal<'_> {
    /// One of 80 columns that shows colours.
    pub fn usual() -> Terminal<'static> {
        Terminal {
            columns: 80,
            environment: &[],
            interrupted_at: "",
        }
    }

    /// Runs a command on it; nothing where the machine has no Python. The terminal is left as it was found.
    #[track_caller]
    pub fn run(&self, command: &[&str]) -> Option<Shown> {
        let mut python = Command::new("python3");
        python.args(["-c", include_str!("pty.py"), &self.columns.to_string()]);
        python.arg(self.interrupted_at).args(command);
        python.env_remove("NO_COLOR").env("TERM", "xterm");
        for (name, value) in self.environment {
            python.env(name, value);
        }
        let output = tools::output(&mut python, "what a terminal shows")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{errors}");
        let (sent, ended) = text.rsplit_once("\nended ").unwrap();
        let (code, kept) = ended.split_once(" kept ").unwrap();
        assert_eq!(kept, "True", "{sent}");
        for code in ["\x1b[?25l", "\x1b[?1049h"] {
            assert!(!sent.contains(code), "the cursor is hidden: {sent:?}");
        }
        Some(Shown {
            sent: sent.to_owned(),
            code: code.parse().unwrap(),
        })
    }
}

impl Shown {
    /// What is left on the terminal's lines once everything is sent, without colours. A line that is cleared or written
    /// over is gone.
    pub fn left(&self) -> Vec<String> {
        let lines = self.sent.split('\n');
        let left = |line: &str| {
            let line = line.trim_end_matches('\r');
            let last = line.rsplit("\r\x1b[2K").next().unwrap_or_default();
            let mut shown = String::new();
            let mut rest = last;
            while let Some((before, after)) = rest.split_once('\x1b') {
                shown.push_str(before);
                rest = after.split_once('m').map_or("", |(_, after)| after);
            }
            shown + rest
        };
        let lines: Vec<String> = lines.map(left).collect();
        lines
    }
}
