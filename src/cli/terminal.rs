//! Coloured output for terminals.
//!
//! Invariant: a pipe or a file receives plain text, whatever the environment says.

use crate::config::terminal_features;
use clap::builder::styling::{AnsiColor, Style};
use std::fs::File;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;

/// A standard stream.
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
    /// Returns `true` if the stream is a terminal.
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

    /// Replaces control characters if the stream is a terminal.
    pub(super) fn sanitize(self, text: &str) -> String {
        match self.is_terminal() {
            true => text.replace(char::is_control, "\u{fffd}"),
            false => text.to_owned(),
        }
    }

    /// Returns `true` if the stream shows colours.
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
