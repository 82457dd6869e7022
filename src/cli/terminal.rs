//! Colours, where output goes to a terminal that knows them and whose user wants them.
//!
//! What always holds: a pipe or a file gets the same text without a code in it, whatever the environment says.

use crate::config::wishes;
use clap::builder::styling::{AnsiColor, Style};
use std::io::IsTerminal;

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

    /// The line with its first word, up to and with the colon, in this tone.
    pub(super) fn paint_start(self, tone: Tone, line: &str) -> String {
        match line.split_once(": ") {
            Some((start, rest)) => format!("{} {rest}", self.paint(tone, &format!("{start}:"))),
            None => line.to_owned(),
        }
    }
}
