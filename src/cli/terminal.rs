//! Colours, where output goes to a terminal that knows them and whose user wants them.
//!
//! What always holds: a pipe or a file gets the same text without a code in it, whatever the environment says.

use crate::config::wishes;
use clap::builder::styling::{AnsiColor, Style};
use std::fs::File;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;

/// Where text is written.
#[derive(Clone, Copy)]
pub(super) enum Stream {
    Out,
    Err,
}

/// What a word tells.
#[derive(Clone, Copy)]
pub(super) enum Tone {
    Good,
    Bad,
    /// Neither: it is to be found among the rest.
    Marked,
}

impl Stream {
    /// Is it a terminal?
    pub(super) fn is_terminal(self) -> bool {
        match self {
            Stream::Out => std::io::stdout().is_terminal(),
            Stream::Err => std::io::stderr().is_terminal(),
        }
    }

    /// Does another program read it, which may use the terminal itself, as a pager does?
    pub(super) fn is_piped(self) -> bool {
        let file = match self {
            Stream::Out => std::io::stdout().as_fd().try_clone_to_owned(),
            Stream::Err => std::io::stderr().as_fd().try_clone_to_owned(),
        };
        let kind = file.and_then(|file| File::from(file).metadata());
        kind.is_ok_and(|found| found.file_type().is_fifo() || found.file_type().is_socket())
    }

    /// The text without what a terminal would take for a code: a name may hold anything.
    pub(super) fn harmless(self, text: &str) -> String {
        match self.is_terminal() {
            true => text.replace(char::is_control, "\u{fffd}"),
            false => text.to_owned(),
        }
    }

    /// Are colours written to it?
    pub(super) fn has_colours(self) -> bool {
        self.is_terminal() && wishes().colours
    }

    /// The text as it is written here.
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

    /// The line with its first word, up to and with the colon, in this tone; harmless.
    pub(super) fn paint_start(self, tone: Tone, line: &str) -> String {
        let line = &self.harmless(line);
        match line.split_once(": ") {
            Some((start, rest)) => format!("{} {rest}", self.paint(tone, &format!("{start}:"))),
            None => line.to_owned(),
        }
    }
}
