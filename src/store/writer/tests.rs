//! Tests the writer on real files: rollbacks of failed jobs, the order of commits and answers, and writes of other
//! processes.
//!
//! A blocking job keeps the writer busy. So all jobs that are submitted meanwhile run in one batch. No test sleeps.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod copied;
mod refusals;
mod repeatable;

use super::{BATCH_MAX, Changes, OpenFile, Tx, WAITING_MAX, Writer};
use crate::domain::progress::ignore_progress;
use crate::domain::{Account, Time, id};
use crate::store::lock::{FilePlace, Lock};
use crate::store::paths::with_suffix;
use crate::store::{Durability, Store, StoreError, StoreOptions, accounts};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use tokio::sync::oneshot;

/// Timeout of all waits. A working writer never reaches it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A temporary database file. Dropping it removes the file.
struct TempFile(PathBuf);

impl TempFile {
    fn new() -> TempFile {
        let name = format!("coffer-writer-{}.db", id::new(Time(0)));
        TempFile(std::env::temp_dir().join(name))
    }

    /// Opens the file. The returned channel receives the changes of every commit.
    fn open(&self) -> (Store, Receiver<Changes>) {
        let (tell, told) = channel();
        let opening = StoreOptions {
            path: self.0.clone(),
            durability: Durability::Process,
            create: true,
            kind: None,
            exclusive: false,
            tell: ignore_progress,
        };
        let on_commit = move |changes: &Changes| {
            // The test may have dropped the receiver.
            let _ = tell.send(changes.clone());
        };
        (Store::open(&opening, Box::new(on_commit)).unwrap(), told)
    }
}

impl TempFile {
    /// Opens the file with a connection for a writer, without readers.
    fn open_raw_file(&self) -> OpenFile {
        let lock = Lock::shared(&self.0).unwrap();
        let conn = open_raw(&self.0);
        OpenFile {
            place: Arc::new(FilePlace::locate(&self.0, &conn).unwrap()),
            conn,
            alone: true,
            lock,
        }
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm"] {
            // The file may not exist.
            let _ = std::fs::remove_file(with_suffix(&self.0, suffix));
        }
    }
}

/// Inserts an account with this name.
fn insert_account(tx: &Tx<'_>, name: &str) -> Result<(), StoreError> {
    let (id, secret) = (name.to_owned(), "secret".to_owned());
    accounts::insert(tx, &Account::new(id, name.to_owned(), secret, Time(0))).map(drop)
}

/// Returns the names of all committed accounts.
fn account_names(store: &Store) -> Vec<String> {
    let all = store.read(accounts::all).unwrap();
    all.into_iter().map(|account| account.name).collect()
}

type AnswerReceiver = oneshot::Receiver<Result<(), StoreError>>;

/// Submits a job that is not repeatable.
fn submit(
    store: &Store,
    work: impl FnOnce(&Tx<'_>) -> Result<(), StoreError> + Send + 'static,
) -> AnswerReceiver {
    store.submit_unrepeatable(work).unwrap()
}

/// Waits for the answer of a job. An error is returned as text.
fn wait_for_answer(answered: AnswerReceiver) -> Result<(), String> {
    let answer = answered.blocking_recv().map_err(|_| "no answer".to_owned())?;
    answer.map_err(|error| error.to_string())
}

/// A job that keeps the writer busy until it is released.
struct BlockingJob {
    go: Sender<()>,
    answered: AnswerReceiver,
}

impl BlockingJob {
    /// Submits a job that runs `before` and then blocks. Returns when the job blocks.
    fn submit_and_wait(
        store: &Store,
        before: impl FnOnce(&Tx<'_>) -> Result<(), StoreError> + Send + 'static,
    ) -> BlockingJob {
        let (held, running) = BlockingJob::submit(store, before);
        running.recv_timeout(PATIENCE).unwrap();
        held
    }

    /// Submits a job that runs `before` and then blocks. The returned channel receives a message when the job blocks.
    fn submit(
        store: &Store,
        before: impl FnOnce(&Tx<'_>) -> Result<(), StoreError> + Send + 'static,
    ) -> (BlockingJob, Receiver<()>) {
        let ((go, went), (runs, running)) = (channel(), channel());
        let answered = submit(store, move |tx| {
            before(tx)?;
            runs.send(()).unwrap();
            went.recv_timeout(PATIENCE).unwrap();
            Ok(())
        });
        (BlockingJob { go, answered }, running)
    }

    /// Releases the job and returns its answer.
    fn release(self) -> Result<(), String> {
        self.go.send(()).unwrap();
        wait_for_answer(self.answered)
    }
}

/// Panics without printing a message.
fn panic_quietly() -> ! {
    std::panic::resume_unwind(Box::new("on purpose"))
}

fn fail() -> Result<(), StoreError> {
    Err(StoreError::Failed("refused".to_owned()))
}

#[test]
fn failed_job_rolls_back_its_own_rows_only() {
    let folder = TempFile::new();
    let (store, told) = folder.open();
    let held = BlockingJob::submit_and_wait(&store, |_| Ok(()));
    let answers = [
        submit(&store, |tx| insert_account(tx, "a")),
        submit(&store, |tx| insert_account(tx, "b").and_then(|()| fail())),
        submit(&store, |tx| {
            insert_account(tx, "c")?;
            panic_quietly()
        }),
        submit(&store, |tx| insert_account(tx, "d").and_then(|()| insert_account(tx, "a"))),
        submit(&store, |tx| {
            // A job that ignores the error of a statement keeps its other rows.
            assert!(insert_account(tx, "a").is_err());
            insert_account(tx, "e")
        }),
    ];
    assert_eq!(held.release(), Ok(()));
    let [a, b, c, d, e] = answers.map(wait_for_answer);
    assert_eq!((a, e), (Ok(()), Ok(())));
    assert_eq!(b, Err("refused".to_owned()));
    assert_eq!(c, Err("a write panicked".to_owned()));
    assert!(d.is_err_and(|text| text.contains("UNIQUE")));
    assert_eq!(account_names(&store), ["a", "e"]);
    assert_eq!(told.try_iter().count(), 2, "one commit for the first, one for the five");
}

#[test]
fn failed_job_alone_in_its_batch_rolls_back() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    assert!(
        wait_for_answer(submit(&store, |tx| insert_account(tx, "a").and_then(|()| fail())))
            .is_err()
    );
    let panics = submit(&store, |tx| {
        insert_account(tx, "b")?;
        panic_quietly()
    });
    assert!(wait_for_answer(panics).is_err());
    assert_eq!(wait_for_answer(submit(&store, |tx| insert_account(tx, "c"))), Ok(()));
    assert_eq!(account_names(&store), ["c"]);
}

#[test]
fn answer_comes_after_the_commit() {
    let folder = TempFile::new();
    let (store, told) = folder.open();
    let (beside, _told) = folder.open();
    let held = BlockingJob::submit_and_wait(&store, |_| Ok(()));
    let mut first = submit(&store, |tx| insert_account(tx, "a"));
    let (second, running) = BlockingJob::submit(&store, |tx| insert_account(tx, "b"));
    assert_eq!(held.release(), Ok(()));
    running.recv_timeout(PATIENCE).unwrap();
    assert!(first.try_recv().is_err(), "its batch still runs");
    assert_eq!(account_names(&beside), [""; 0]);
    assert_eq!(told.try_iter().count(), 1, "nobody is told of what may not come");
    assert_eq!(second.release(), Ok(()));
    assert_eq!(account_names(&beside), ["a", "b"]);
    assert_eq!(wait_for_answer(first), Ok(()));
}

#[test]
fn changes_are_passed_after_the_commit_and_before_the_answer() {
    let folder = TempFile::new();
    let (beside, _told) = folder.open();
    let (tell, told) = channel();
    let (go, went) = channel();
    let went = std::sync::Mutex::new(went);
    let on_commit = move |_: &Changes| {
        tell.send(account_names(&beside)).unwrap();
        went.lock().unwrap().recv_timeout(PATIENCE).unwrap();
    };
    let writer =
        Writer::start(folder.open_raw_file(), Arc::default(), Box::new(on_commit)).unwrap();
    let mut answered = writer.submit(false, |tx| insert_account(tx, "a")).unwrap();
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), ["a"]);
    assert!(answered.try_recv().is_err());
    go.send(()).unwrap();
    assert_eq!(wait_for_answer(answered), Ok(()));
}

#[test]
fn full_queue_refuses_a_job() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::submit_and_wait(&store, |_| Ok(()));
    let waiting: Vec<AnswerReceiver> =
        (0..WAITING_MAX).map(|_| submit(&store, |_| Ok(()))).collect();
    assert_eq!(store.waiting_count(), WAITING_MAX);
    let refused = store.submit_unrepeatable(|_| Ok::<(), StoreError>(()));
    assert!(matches!(refused, Err(StoreError::Overloaded)));
    assert_eq!(store.waiting_count(), WAITING_MAX);
    assert_eq!(held.release(), Ok(()));
    for answered in waiting {
        assert_eq!(wait_for_answer(answered), Ok(()));
    }
    assert_eq!(store.waiting_count(), 0);
    assert_eq!(wait_for_answer(submit(&store, |tx| insert_account(tx, "a"))), Ok(()));
}

#[test]
fn waiting_jobs_run_before_the_file_is_closed() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::submit_and_wait(&store, |_| Ok(()));
    let count = BATCH_MAX + 10;
    let job = |number: usize| submit(&store, move |tx| insert_account(tx, &number.to_string()));
    let waiting: Vec<AnswerReceiver> = (0..count).map(job).collect();
    let closing = std::thread::spawn(move || drop(store));
    assert_eq!(held.release(), Ok(()));
    closing.join().unwrap();
    for answered in waiting {
        assert_eq!(wait_for_answer(answered), Ok(()));
    }
    assert_eq!(account_names(&folder.open().0).len(), count);
}

#[test]
fn job_may_own_the_last_clone_of_the_store() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::submit_and_wait(&store, |_| Ok(()));
    let own = store.clone();
    let answered = submit(&store, move |tx| {
        let _own = own;
        insert_account(tx, "a")
    });
    drop(store);
    assert_eq!(held.release(), Ok(()));
    assert_eq!(wait_for_answer(answered), Ok(()));
    assert_eq!(account_names(&folder.open().0), ["a"]);
}

/// Checks that the next message reports a write of another process.
#[track_caller]
fn assert_foreign_write_next(told: &Receiver<Changes>) {
    let changes = told.recv_timeout(PATIENCE).unwrap();
    assert!(changes.everything, "{changes:?}");
}

#[test]
fn write_of_another_process_invalidates_caches() {
    let folder = TempFile::new();
    let (store, told) = folder.open();
    let (beside, told_beside) = folder.open();
    assert_eq!(wait_for_answer(submit(&beside, |tx| insert_account(tx, "a"))), Ok(()));
    assert_foreign_write_next(&told);
    let own = told_beside.recv_timeout(PATIENCE).unwrap();
    assert!(!own.everything, "one's own write is not another's");
    assert_eq!(wait_for_answer(submit(&beside, |tx| insert_account(tx, "b"))), Ok(()));
    assert_eq!(wait_for_answer(submit(&store, |tx| insert_account(tx, "c"))), Ok(()));
    assert_foreign_write_next(&told);
}

/// Opens another connection to the file of a store, for writing.
fn open_raw(path: &Path) -> Connection {
    let conn = Connection::open(path).unwrap();
    conn.busy_timeout(Duration::ZERO).unwrap();
    conn
}
