//! Shows the progress of a long command in the last line of the terminal.
//!
//! Invariant: the progress line is written only if standard error is a terminal and no other program reads standard
//! output. Other output never breaks the line, and the line is removed before the process ends.

use super::terminal::{Stream, Tone};
use crate::config::terminal_features;
use crate::domain::Progress;
use crate::domain::progress::to_count;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::termios::tcgetwinsize;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Minimum width of a terminal that shows the progress line, in columns.
const COLUMNS_MIN: u16 = 40;
/// Interval at which the elapsed time is redrawn.
const TICK: Duration = Duration::from_millis(100);
/// Format of the progress line: name, bar, position, total and elapsed time.
const TEMPLATE: &str = "{msg} [{wide_bar}] {pos}/{len} {elapsed}";

/// The progress line. A process has only one.
struct ProgressLine {
    is_off: bool,
    /// Name of the counted items, and their progress bar.
    shown: Option<(&'static str, ProgressBar)>,
}

static PROGRESS_LINE: Mutex<ProgressLine> = Mutex::new(ProgressLine { is_off: false, shown: None });

fn lock_line() -> MutexGuard<'static, ProgressLine> {
    PROGRESS_LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Switches the progress line off, because a program reads the output.
pub(super) fn disable_progress() {
    lock_line().is_off = true;
}

/// Shows the progress of the work, or prints a note.
pub(super) fn show_progress(said: Progress<'_>) {
    match said {
        Progress::Note(note) => {
            let mark = Stream::Err.paint(Tone::Marked, "coffer:");
            // A failed write is ignored, because the work continues even if nothing reads the note.
            let _ = with_progress_line_hidden(|| writeln!(std::io::stderr(), "{mark} {note}"));
        }
        Progress::Done { part, done, of } => update_progress_line(part, done, of),
    }
}

fn update_progress_line(part: &'static str, done: u64, of: u64) {
    let mut line = lock_line();
    if line.is_off || of == 0 {
        return;
    }
    if let Some((shown, bar)) = &line.shown {
        if *shown == part {
            bar.set_position(done);
            if done == of {
                // The bar is drawn when it is full, even if the redraw interval is not over.
                bar.force_draw();
            }
            return;
        }
        bar.finish_and_clear();
    } else if !can_show_progress_line() {
        line.is_off = true;
        return;
    }
    let bar = ProgressBar::with_draw_target(Some(of), ProgressDrawTarget::stderr())
        .with_message(part)
        .with_position(done);
    // If the template is invalid, the default style is used.
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.tick();
    bar.enable_steady_tick(TICK);
    line.shown = Some((part, bar));
}

/// Returns `true` if the progress line can be shown: the terminal is wide enough or its width is unknown, and no
/// other program uses the terminal.
fn can_show_progress_line() -> bool {
    let columns = tcgetwinsize(std::io::stderr()).map_or(0, |size| size.ws_col);
    let is_wide = columns == 0 || columns >= COLUMNS_MIN;
    Stream::Err.is_terminal() && !Stream::Out.is_piped() && terminal_features().is_able && is_wide
}

/// Hides the progress line while `write` writes to the terminal.
pub(super) fn with_progress_line_hidden<T>(write: impl FnOnce() -> T) -> T {
    // The lock of the progress line is released before `write`, which may block forever if nothing reads the stream.
    let shown = lock_line().shown.as_ref().map(|(_, bar)| bar.clone());
    match shown {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

pub(super) fn remove_progress_line() {
    if let Some((_, bar)) = lock_line().shown.take() {
        bar.finish_and_clear();
    }
}

/// A progress counter shared by several threads.
pub(super) struct SharedProgress {
    part: &'static str,
    of: u64,
    done: AtomicU64,
}

impl SharedProgress {
    /// Creates a counter of `of` items that starts at zero.
    pub(super) fn new(part: &'static str, of: usize) -> SharedProgress {
        let several = SharedProgress { part, of: to_count(of), done: AtomicU64::new(0) };
        update_progress_line(part, 0, several.of);
        several
    }

    /// Counts one more finished item.
    pub(super) fn increment(&self) {
        let before = self.done.fetch_add(1, Ordering::Relaxed);
        update_progress_line(self.part, before.saturating_add(1), self.of);
    }
}
