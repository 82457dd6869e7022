//! Writes log lines to standard error from a separate thread.
//!
//! Invariant: a thread that logs never waits. While nothing reads standard error, lines are dropped and counted. The
//! count is logged when reading resumes.

use super::progress;
use crate::clock::Clock;
use env_logger::fmt::Formatter;
use env_logger::{Builder, Target};
use log::{LevelFilter, Log, Metadata, Record};
use std::backtrace::{Backtrace, BacktraceStatus};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

/// Maximum bytes that wait to be written. Further lines are dropped.
const WAITING_BYTES_MAX: usize = 1 << 20;
/// Maximum wait for pending log lines at the end of the process.
const FLUSH_MAX: Duration = Duration::from_secs(1);

/// Writes log records that pass the filter, and panic messages, to standard error.
pub(super) fn log_to_stderr(filter: &str) {
    let Some(lines) = LogQueue::start() else {
        return;
    };
    let target = Target::Pipe(Box::new(lines.clone()));
    let mut builder = Builder::new();
    builder.parse_filters(filter).target(target).format(write_entry);
    for client in ["ureq", "ureq_proto"] {
        // These modules log whole requests, which contain logins and keys.
        builder.filter_module(client, LevelFilter::Off);
    }
    let inner = builder.build();
    let level = inner.filter();
    let logger = Logger { inner, lines: lines.clone() };
    // A second call in one process is not an error: the first logger stays.
    if log::set_boxed_logger(Box::new(logger)).is_err() {
        return;
    }
    log::set_max_level(level);
    std::panic::set_hook(Box::new(move |panic| {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("unnamed").to_owned();
        let backtrace = Backtrace::capture();
        let line = match backtrace.status() {
            BacktraceStatus::Captured => format!("thread {name} {panic}\n{backtrace}\n"),
            _ => format!("thread {name} {panic}\n"),
        };
        lines.push(line.as_bytes());
    }));
}

/// Writes a record as one entry: UTC time to the second, level, target, message. Indents further lines of the
/// message.
fn write_entry(out: &mut Formatter, record: &Record<'_>) -> std::io::Result<()> {
    let time = Clock::new(0, None).real_now().to_string();
    let seconds = time.split('.').next().unwrap_or_default();
    let (level, target) = (record.level(), record.target());
    let message = record.args().to_string().replace('\n', "\n    ");
    writeln!(out, "[{seconds}Z {level:<5} {target}] {message}")
}

/// Waits a limited time for pending log lines, then prints `line` to standard error.
pub(super) fn flush_and_print(line: Option<String>) {
    log::logger().flush();
    let Some(line) = line else {
        return;
    };
    let (written, hears) = sync_channel(1);
    std::thread::spawn(move || {
        // A failed write to standard error is ignored, because the problem cannot be reported anywhere else.
        let _ = writeln!(std::io::stderr(), "{line}");
        let _ = written.send(());
    });
    let _ = hears.recv_timeout(FLUSH_MAX);
}

enum Message {
    Line(Vec<u8>),
    /// Asks for a reply once all earlier lines are written.
    Flush(SyncSender<()>),
}

#[derive(Default)]
struct QueueCounts {
    waiting_bytes: AtomicUsize,
    dropped: AtomicU64,
}

/// The sending side of the log thread's queue.
#[derive(Clone)]
struct LogQueue {
    messages: Sender<Message>,
    counts: Arc<QueueCounts>,
}

impl LogQueue {
    /// Starts the log thread. The thread writes to a duplicate of the descriptor, because a blocked write must not
    /// hold the lock of `std::io::stderr()`.
    fn start() -> Option<LogQueue> {
        let stderr = File::from(std::io::stderr().as_fd().try_clone_to_owned().ok()?);
        let (messages, queue) = channel();
        let counts = Arc::new(QueueCounts::default());
        let shared = Arc::clone(&counts);
        std::thread::Builder::new()
            .name("coffer-log".to_owned())
            .spawn(move || write_lines(stderr, &queue, &shared))
            .ok()?;
        Some(LogQueue { messages, counts })
    }

    /// Adds a line to the queue. If the queue is full, drops the line and counts it.
    fn push(&self, line: &[u8]) {
        let counts = &self.counts;
        let waiting = counts.waiting_bytes.fetch_add(line.len(), Ordering::Relaxed);
        let has_room = waiting.saturating_add(line.len()) <= WAITING_BYTES_MAX;
        if !has_room || self.messages.send(Message::Line(line.to_vec())).is_err() {
            counts.waiting_bytes.fetch_sub(line.len(), Ordering::Relaxed);
            counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Write for LogQueue {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Writes lines in order. Each write may block.
fn write_lines(mut stderr: File, queue: &Receiver<Message>, counts: &QueueCounts) {
    for message in queue {
        let line = match message {
            Message::Line(line) => line,
            Message::Flush(done) => {
                // The caller may have stopped waiting.
                let _ = done.send(());
                continue;
            }
        };
        if progress::with_progress_line_hidden(|| stderr.write_all(&line)).is_err() {
            counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
        let waiting = counts.waiting_bytes.fetch_sub(line.len(), Ordering::Relaxed);
        // The line with the count of dropped lines needs space too, so it is logged when the queue is less than half
        // full.
        if waiting < WAITING_BYTES_MAX / 2 {
            let dropped = counts.dropped.swap(0, Ordering::Relaxed);
            if dropped > 0 {
                log::error!("log lines dropped, standard error was not read: count={dropped}");
            }
        }
    }
}

/// Formats records with `env_logger` and queues the lines.
struct Logger {
    inner: env_logger::Logger,
    lines: LogQueue,
}

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.inner.enabled(metadata)
    }

    fn log(&self, record: &Record<'_>) {
        self.inner.log(record);
    }

    fn flush(&self) {
        let (done, hears) = sync_channel(1);
        if self.lines.messages.send(Message::Flush(done)).is_ok() {
            // The timeout lets the process end if nothing reads standard error.
            let _ = hears.recv_timeout(FLUSH_MAX);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::write_entry;
    use env_logger::{Builder, Target};
    use log::{Level, LevelFilter, Log, Record};
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct CapturedLog(Arc<Mutex<Vec<u8>>>);

    impl Write for CapturedLog {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn message_of_two_lines_stays_one_entry() {
        let written = CapturedLog::default();
        let logger = Builder::new()
            .filter_level(LevelFilter::Info)
            .target(Target::Pipe(Box::new(written.clone())))
            .format(write_entry)
            .build();
        let message = "a\n[2026-11-24T00:00:00Z ERROR coffer] b";
        let mut record = Record::builder();
        let record = record.level(Level::Info).target("coffer::cli");
        logger.log(&record.args(format_args!("{message}")).build());
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let (time, rest) = text.split_at("[2026-11-24T00:00:00Z".len());
        assert!(time.starts_with('[') && time.ends_with('Z'), "{text}");
        assert_eq!(rest, " INFO  coffer::cli] a\n    [2026-11-24T00:00:00Z ERROR coffer] b\n");
    }
}
