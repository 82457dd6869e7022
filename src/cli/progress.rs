//! How far a command is that takes long: one line at the bottom of the terminal, gone when the command ends.
//!
//! What lives here: showing it. What does not: counting (whoever does the work counts). What always holds: only a terminal
//! on standard error is written to, and none that another program may use, to which standard output goes; no line is written into the middle of this one; and whenever the process ends, the
//! terminal is as it was but for that line.

use super::terminal::{Stream, Tone};
use crate::config::wishes;
use crate::domain::progress::{Said, count};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::termios::tcgetwinsize;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A terminal that is narrower has no room for it.
const COLUMNS_MIN: u16 = 40;
/// How often the time that it took is written anew while nothing else changes.
const TICK: Duration = Duration::from_millis(100);
/// What, how far, how much of how much, and how long that has taken.
const TEMPLATE: &str = "{msg} [{wide_bar}] {pos}/{len} {elapsed}";

/// What stands at the bottom of the terminal, of which a process has one.
struct Line {
    /// Nothing is shown, whatever is said.
    is_off: bool,
    /// What is counted, and its bar.
    shown: Option<(&'static str, ProgressBar)>,
}

static LINE: Mutex<Line> = Mutex::new(Line {
    is_off: false,
    shown: None,
});

fn line() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows nothing from now on: a program reads the output.
pub(super) fn off() {
    line().is_off = true;
}

/// Hears how far something is, or a note, and shows it.
pub(super) fn hear(said: Said<'_>) {
    match said {
        Said::Note(note) => {
            let mark = Stream::Err.paint(Tone::Marked, "coffer:");
            // Where nobody reads it, it is done all the same.
            let _ = beside(|| writeln!(std::io::stderr(), "{mark} {note}"));
        }
        Said::Done { part, done, of } => show(part, done, of),
    }
}

fn show(part: &'static str, done: u64, of: u64) {
    let mut line = line();
    if line.is_off || of == 0 {
        return;
    }
    if let Some((shown, bar)) = &line.shown {
        if *shown == part {
            bar.set_position(done);
            if done == of {
                // Its end is seen, also of what takes no time.
                bar.force_draw();
            }
            return;
        }
        bar.finish_and_clear();
    } else if !has_room() {
        line.is_off = true;
        return;
    }
    let bar = ProgressBar::with_draw_target(Some(of), ProgressDrawTarget::stderr())
        .with_message(part)
        .with_position(done);
    // The default, where this template were wrong.
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.tick();
    bar.enable_steady_tick(TICK);
    line.shown = Some((part, bar));
}

/// Is there a terminal that can show it, and nobody else's? One that does not tell its width is taken to be wide.
fn has_room() -> bool {
    let columns = tcgetwinsize(std::io::stderr()).map_or(0, |size| size.ws_col);
    let is_wide = columns == 0 || columns >= COLUMNS_MIN;
    Stream::Err.is_terminal() && !Stream::Out.is_piped() && wishes().is_able && is_wide
}

/// Does what writes to the terminal while the line is out of the way.
pub(super) fn beside<T>(write: impl FnOnce() -> T) -> T {
    // The lock is let go of first: whoever reads the one stream or the other may let this wait for ever.
    let shown = line().shown.as_ref().map(|(_, bar)| bar.clone());
    match shown {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Takes the line away.
pub(super) fn end() {
    if let Some((_, bar)) = line().shown.take() {
        bar.finish_and_clear();
    }
}

/// How many of some things are done that several threads do.
pub(super) struct Several {
    part: &'static str,
    of: u64,
    done: AtomicU64,
}

impl Several {
    /// None is done yet.
    pub(super) fn of(part: &'static str, of: usize) -> Several {
        let several = Several {
            part,
            of: count(of),
            done: AtomicU64::new(0),
        };
        show(part, 0, several.of);
        several
    }

    /// One more is done.
    pub(super) fn one_more(&self) {
        let before = self.done.fetch_add(1, Ordering::Relaxed);
        show(self.part, before.saturating_add(1), self.of);
    }
}
