//! The writer on real files: which rows a failing job takes back, when the writer answers, and what it notices.
//!
//! A job that waits keeps the writer busy, so that whatever is submitted meanwhile goes into one batch; nothing
//! sleeps.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod copied;
mod refusals;
mod repeatable;

use super::{BATCH_MAX, Changes, OpenFile, Tx, WAITING_MAX, WriteError, Writer};
use crate::domain::account::Account;
use crate::domain::id;
use crate::domain::progress::ignore_progress;
use crate::domain::time::Time;
use crate::store::lock::{Lock, Place};
use crate::store::open::with_suffix;
use crate::store::{Durability, Opening, Store, StoreError, accounts};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use tokio::sync::oneshot;

/// Long enough for anything, and never waited out where the writer does its work.
const PATIENCE: Duration = Duration::from_secs(20);

/// A file that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let name = format!("coffer-writer-{}.db", id::new(Time(0)));
        Folder(std::env::temp_dir().join(name))
    }

    /// Opens it; every commit is told on the channel.
    fn open(&self) -> (Store, Receiver<Changes>) {
        let (tell, told) = channel();
        let opening = Opening {
            path: self.0.clone(),
            durability: Durability::Process,
            create: true,
            kind: None,
            exclusive: false,
            tell: ignore_progress,
        };
        let on_commit = move |changes: &Changes| {
            // The test may have heard enough.
            let _ = tell.send(changes.clone());
        };
        (Store::open(&opening, Box::new(on_commit)).unwrap(), told)
    }
}

impl Folder {
    /// It, open for a writer and nothing else.
    fn raw_file(&self) -> OpenFile {
        let lock = Lock::beside(&self.0).unwrap();
        let conn = raw(&self.0);
        OpenFile {
            place: Arc::new(Place::of(&self.0, &conn).unwrap()),
            conn,
            alone: true,
            _lock: lock,
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm"] {
            // What is not there needs no removing.
            let _ = std::fs::remove_file(with_suffix(&self.0, suffix));
        }
    }
}

/// Adds a row.
fn put(tx: &Tx<'_>, name: &str) -> Result<(), StoreError> {
    let (id, secret) = (name.to_owned(), "secret".to_owned());
    accounts::insert(tx, &Account::new(id, name.to_owned(), secret, Time(0))).map(drop)
}

/// The rows that anybody sees.
fn names(store: &Store) -> Vec<String> {
    let all = store.read(accounts::all).unwrap();
    all.into_iter().map(|account| account.name).collect()
}

type Answered = oneshot::Receiver<super::Answer<(), StoreError>>;

/// Submits a job.
fn submit(
    store: &Store,
    work: impl FnOnce(&Tx<'_>) -> Result<(), StoreError> + Send + 'static,
) -> Answered {
    store.shared.writer.submit(work).unwrap()
}

/// Waits for the answer; an error as its text.
fn said(answered: Answered) -> Result<(), String> {
    let answer = answered
        .blocking_recv()
        .map_err(|_| "no answer".to_owned())?;
    answer.map_err(|error| WriteError::flatten(error).to_string())
}

/// A job that waits in the writer until it is let go.
struct Held {
    go: Sender<()>,
    answered: Answered,
}

impl Held {
    /// Submits it and returns once it runs, after `before`.
    fn run(
        store: &Store,
        before: impl FnOnce(&Tx<'_>) -> Result<(), StoreError> + Send + 'static,
    ) -> Held {
        let (held, running) = Held::submit(store, before);
        running.recv_timeout(PATIENCE).unwrap();
        held
    }

    /// Submits it; the channel tells when it runs.
    fn submit(
        store: &Store,
        before: impl FnOnce(&Tx<'_>) -> Result<(), StoreError> + Send + 'static,
    ) -> (Held, Receiver<()>) {
        let ((go, went), (runs, running)) = (channel(), channel());
        let answered = submit(store, move |tx| {
            before(tx)?;
            runs.send(()).unwrap();
            went.recv_timeout(PATIENCE).unwrap();
            Ok(())
        });
        (Held { go, answered }, running)
    }

    /// Lets it go on; its answer.
    fn release(self) -> Result<(), String> {
        self.go.send(()).unwrap();
        said(self.answered)
    }
}

/// A panic that the test's own output does not show.
fn panic_quietly() -> ! {
    std::panic::resume_unwind(Box::new("on purpose"))
}

fn refuse() -> Result<(), StoreError> {
    Err(StoreError::Failed("refused".to_owned()))
}

#[test]
fn a_job_that_fails_takes_back_its_own_rows_and_no_others() {
    let folder = Folder::new();
    let (store, told) = folder.open();
    let held = Held::run(&store, |_| Ok(()));
    let answers = [
        submit(&store, |tx| put(tx, "a")),
        submit(&store, |tx| put(tx, "b").and_then(|()| refuse())),
        submit(&store, |tx| {
            put(tx, "c")?;
            panic_quietly()
        }),
        submit(&store, |tx| put(tx, "d").and_then(|()| put(tx, "a"))),
        submit(&store, |tx| {
            // Who meets an error and goes on keeps the rest.
            assert!(put(tx, "a").is_err());
            put(tx, "e")
        }),
    ];
    assert_eq!(held.release(), Ok(()));
    let [a, b, c, d, e] = answers.map(said);
    assert_eq!((a, e), (Ok(()), Ok(())));
    assert_eq!(b, Err("refused".to_owned()));
    assert_eq!(c, Err("a write panicked".to_owned()));
    assert!(d.is_err_and(|text| text.contains("UNIQUE")));
    assert_eq!(names(&store), ["a", "e"]);
    assert_eq!(
        told.try_iter().count(),
        2,
        "one commit for the first, one for the five"
    );
}

#[test]
fn a_job_alone_in_its_batch_takes_back_its_rows_too() {
    let folder = Folder::new();
    let (store, _told) = folder.open();
    assert!(said(submit(&store, |tx| put(tx, "a").and_then(|()| refuse()))).is_err());
    let panics = submit(&store, |tx| {
        put(tx, "b")?;
        panic_quietly()
    });
    assert!(said(panics).is_err());
    assert_eq!(said(submit(&store, |tx| put(tx, "c"))), Ok(()));
    assert_eq!(names(&store), ["c"]);
}

#[test]
fn an_answer_comes_after_the_commit_and_never_before() {
    let folder = Folder::new();
    let (store, told) = folder.open();
    let (beside, _told) = folder.open();
    let held = Held::run(&store, |_| Ok(()));
    let mut first = submit(&store, |tx| put(tx, "a"));
    let (second, running) = Held::submit(&store, |tx| put(tx, "b"));
    assert_eq!(held.release(), Ok(()));
    running.recv_timeout(PATIENCE).unwrap();
    assert!(first.try_recv().is_err(), "its batch still runs");
    assert_eq!(names(&beside), [""; 0]);
    assert_eq!(
        told.try_iter().count(),
        1,
        "nobody is told of what may not come"
    );
    assert_eq!(second.release(), Ok(()));
    assert_eq!(names(&beside), ["a", "b"]);
    assert_eq!(said(first), Ok(()));
}

#[test]
fn who_keeps_copies_is_told_after_the_commit_and_before_the_answer() {
    let folder = Folder::new();
    let (beside, _told) = folder.open();
    let (tell, told) = channel();
    let (go, went) = channel();
    let went = std::sync::Mutex::new(went);
    let on_commit = move |_: &Changes| {
        tell.send(names(&beside)).unwrap();
        went.lock().unwrap().recv_timeout(PATIENCE).unwrap();
    };
    let writer = Writer::start(folder.raw_file(), Arc::default(), Box::new(on_commit)).unwrap();
    let mut answered = writer.submit(|tx| put(tx, "a")).unwrap();
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), ["a"]);
    assert!(answered.try_recv().is_err());
    go.send(()).unwrap();
    assert_eq!(said(answered), Ok(()));
}

#[test]
fn past_the_most_that_may_wait_a_job_is_refused() {
    let folder = Folder::new();
    let (store, _told) = folder.open();
    let held = Held::run(&store, |_| Ok(()));
    let waiting: Vec<Answered> = (0..WAITING_MAX)
        .map(|_| submit(&store, |_| Ok(())))
        .collect();
    assert_eq!(store.waiting(), WAITING_MAX);
    let refused = store.shared.writer.submit(|_| Ok::<(), StoreError>(()));
    assert!(matches!(refused, Err(StoreError::Overloaded)));
    assert_eq!(store.waiting(), WAITING_MAX);
    assert_eq!(held.release(), Ok(()));
    for answered in waiting {
        assert_eq!(said(answered), Ok(()));
    }
    assert_eq!(store.waiting(), 0);
    assert_eq!(said(submit(&store, |tx| put(tx, "a"))), Ok(()));
}

#[test]
fn what_waits_is_finished_before_the_file_is_closed() {
    let folder = Folder::new();
    let (store, _told) = folder.open();
    let held = Held::run(&store, |_| Ok(()));
    let count = BATCH_MAX + 10;
    let job = |number: usize| submit(&store, move |tx| put(tx, &number.to_string()));
    let waiting: Vec<Answered> = (0..count).map(job).collect();
    let closing = std::thread::spawn(move || drop(store));
    assert_eq!(held.release(), Ok(()));
    closing.join().unwrap();
    for answered in waiting {
        assert_eq!(said(answered), Ok(()));
    }
    assert_eq!(names(&folder.open().0).len(), count);
}

#[test]
fn a_job_may_be_the_last_to_hold_the_store() {
    let folder = Folder::new();
    let (store, _told) = folder.open();
    let held = Held::run(&store, |_| Ok(()));
    let own = store.clone();
    let answered = submit(&store, move |tx| {
        let _own = own;
        put(tx, "a")
    });
    drop(store);
    assert_eq!(held.release(), Ok(()));
    assert_eq!(said(answered), Ok(()));
    assert_eq!(names(&folder.open().0), ["a"]);
}

/// The first commit that another makes from here on is told.
#[track_caller]
fn is_told_of_others(told: &Receiver<Changes>) {
    let changes = told.recv_timeout(PATIENCE).unwrap();
    assert!(changes.everything, "{changes:?}");
}

#[test]
fn a_write_of_another_process_makes_every_copy_stale() {
    let folder = Folder::new();
    let (store, told) = folder.open();
    let (beside, told_beside) = folder.open();
    assert_eq!(said(submit(&beside, |tx| put(tx, "a"))), Ok(()));
    is_told_of_others(&told);
    let own = told_beside.recv_timeout(PATIENCE).unwrap();
    assert!(!own.everything, "one's own write is not another's");
    assert_eq!(said(submit(&beside, |tx| put(tx, "b"))), Ok(()));
    assert_eq!(said(submit(&store, |tx| put(tx, "c"))), Ok(()));
    is_told_of_others(&told);
}

/// A connection of its own, to write with beside a store.
fn raw(path: &Path) -> Connection {
    let conn = Connection::open(path).unwrap();
    conn.busy_timeout(Duration::ZERO).unwrap();
    conn
}
