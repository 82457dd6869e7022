//! Coloured output for terminals, and questions on a terminal.
//!
//! Invariant: a pipe or a file receives plain text, whatever the environment says.

use crate::config::terminal_features;
use clap::builder::styling::{AnsiColor, Style};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{BufRead, ErrorKind, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;

const LINE_BYTES_MAX: u64 = 1 << 13;

#[derive(Clone, Copy)]
pub(super) enum Stream {
    Out,
    Err,
}

/// Meaning of a word in the output, shown by its colour.
#[derive(Clone, Copy)]
pub(super) enum Tone {
    Good,
    Bad,
    /// A highlighted word that is neither good nor bad.
    Marked,
}

impl Stream {
    pub(super) fn is_terminal(self) -> bool {
        match self {
            Stream::Out => std::io::stdout().is_terminal(),
            Stream::Err => std::io::stderr().is_terminal(),
        }
    }

    /// Returns `true` if the stream is a pipe or a socket. The program that reads the stream, such as a pager, may
    /// also write to the terminal.
    pub(super) fn is_piped(self) -> bool {
        let file = match self {
            Stream::Out => std::io::stdout().as_fd().try_clone_to_owned(),
            Stream::Err => std::io::stderr().as_fd().try_clone_to_owned(),
        };
        let kind = file.and_then(|file| File::from(file).metadata());
        kind.is_ok_and(|found| found.file_type().is_fifo() || found.file_type().is_socket())
    }

    pub(super) fn sanitize(self, text: &str) -> String {
        match self.is_terminal() {
            true => text.replace(char::is_control, "\u{fffd}"),
            false => text.to_owned(),
        }
    }

    pub(super) fn has_colours(self) -> bool {
        self.is_terminal() && terminal_features().colours
    }

    /// Returns the text in the colour of the tone, if the stream shows colours.
    pub(super) fn paint(self, tone: Tone, text: &str) -> String {
        if !self.has_colours() {
            return text.to_owned();
        }
        let style = Style::new().bold();
        let style = match tone {
            Tone::Good => style.fg_color(Some(AnsiColor::Green.into())),
            Tone::Bad => style.fg_color(Some(AnsiColor::Red.into())),
            Tone::Marked => style.fg_color(Some(AnsiColor::Cyan.into())),
        };
        format!("{style}{text}{style:#}")
    }

    /// Paints the text from the start of the line to the first colon. Replaces control characters.
    pub(super) fn paint_until_colon(self, tone: Tone, line: &str) -> String {
        let line = &self.sanitize(line);
        match line.split_once(": ") {
            Some((start, rest)) => format!("{} {rest}", self.paint(tone, &format!("{start}:"))),
            None => line.to_owned(),
        }
    }
}

/// Prints a message for the user to standard error.
pub(super) fn print_message(text: &str) {
    // A failed write is ignored, because the result of the command does not depend on its messages.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Asks for one line on the terminal, which shows the input.
///
/// # Errors
/// The standard input cannot be read or has ended.
pub(super) fn read_line(prompt: &str) -> std::io::Result<String> {
    print_prompt(prompt);
    let mut line = String::new();
    match std::io::stdin().lock().take(LINE_BYTES_MAX).read_line(&mut line)? {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        _ => Ok(line),
    }
}

/// Asks for one line on the terminal, which does not show the input. Ctrl-C and Ctrl-D end the input with an error.
///
/// The terminal sends no signal meanwhile, because a process that a signal ends could not restore the terminal.
///
/// # Errors
/// The standard input is not a terminal, cannot be read, is not UTF-8, or has ended.
pub(super) fn read_hidden_line(prompt: &str) -> std::io::Result<String> {
    let stdin = std::io::stdin();
    let before = tcgetattr(&stdin)?;
    let mut hidden = before.clone();
    hidden.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
    tcsetattr(&stdin, OptionalActions::Flush, &hidden)?;
    print_prompt(prompt);
    let line = read_raw_line(&mut stdin.lock());
    tcsetattr(&stdin, OptionalActions::Flush, &before)?;
    print_message("");
    line
}

/// Reads bytes to the end of the line. Backspace removes a character.
fn read_raw_line(input: &mut impl BufRead) -> std::io::Result<String> {
    let mut line = String::new();
    let mut bytes = Vec::new();
    for byte in input.bytes() {
        match byte? {
            b'\r' | b'\n' => return Ok(line),
            3 => return Err(ErrorKind::Interrupted.into()),
            4 => return Err(ErrorKind::UnexpectedEof.into()),
            8 | 127 => drop(line.pop()),
            byte => bytes.push(byte),
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) => {
                line.push_str(text);
                bytes.clear();
            }
            Err(error) if error.error_len().is_none() => {}
            Err(_) => return Err(ErrorKind::InvalidData.into()),
        }
    }
    Err(ErrorKind::UnexpectedEof.into())
}

fn print_prompt(prompt: &str) {
    // A failed write is ignored: a user who does not see the question does not answer it.
    let _ = write!(std::io::stderr(), "{prompt}");
}
