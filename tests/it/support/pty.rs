//! Runs a command on a real pseudo-terminal, which `pty.py` opens.

use super::tools;
use std::process::Command;

/// Settings of a terminal.
pub struct Terminal<'a> {
    /// Width, in characters.
    pub columns: u16,
    /// Environment variables of the command. `TERM` is `xterm` by default.
    pub environment: &'a [(&'a str, &'a str)],
    /// Text in the output of the command at which the test presses Ctrl-C. If empty, Ctrl-C is never pressed.
    pub interrupted_at: &'a str,
}

/// Result of a command on a terminal.
#[derive(Debug)]
pub struct TerminalOutput {
    /// All bytes sent to the terminal, as text.
    pub sent: String,
    /// Exit code, or the negative number of the signal that ended the command.
    pub code: i32,
}

impl Terminal<'_> {
    /// Returns a terminal of 80 columns with colors.
    pub fn standard() -> Terminal<'static> {
        Terminal { columns: 80, environment: &[], interrupted_at: "" }
    }

    /// Runs a command. Returns `None` if Python is not installed. Asserts that the terminal settings are restored.
    #[track_caller]
    pub fn run(&self, command: &[&str]) -> Option<TerminalOutput> {
        let mut python = Command::new("python3");
        python.args(["-c", include_str!("pty.py"), &self.columns.to_string()]);
        python.arg(self.interrupted_at).args(command);
        python.env_remove("NO_COLOR").env("TERM", "xterm");
        for (name, value) in self.environment {
            python.env(name, value);
        }
        let output = tools::run_tool(&mut python, "what a terminal shows")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{errors}");
        let (sent, ended) = text.rsplit_once("\nended ").unwrap();
        let (code, kept) = ended.split_once(" kept ").unwrap();
        assert_eq!(kept, "True", "{sent}");
        for code in ["\x1b[?25l", "\x1b[?1049h"] {
            assert!(!sent.contains(code), "the cursor is hidden: {sent:?}");
        }
        Some(TerminalOutput { sent: sent.to_owned(), code: code.parse().unwrap() })
    }
}

impl TerminalOutput {
    /// Returns the lines that are visible at the end, without colors. Cleared and overwritten text is left out.
    pub fn visible_lines(&self) -> Vec<String> {
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
