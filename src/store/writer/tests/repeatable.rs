//! Tests repeatable jobs, which share a savepoint: the number of runs of each job, and what happens if one of them
//! fails.

use super::{
    Answered, BlockingJob, TempFile, Tx, names, panic_quietly, put, refuse, submit, wait_for,
};
use crate::store::{Store, StoreError, accounts};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Submits a repeatable job, and returns a counter of its runs.
fn submit_counted(
    store: &Store,
    work: impl Fn(&Tx<'_>) -> Result<(), StoreError> + Send + 'static,
) -> (Answered, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let counted = move |tx: &Tx<'_>| {
        counter.fetch_add(1, Ordering::Relaxed);
        work(tx)
    };
    let answered = store.shared.writer.submit(true, counted).unwrap();
    (answered, count)
}

/// Waits for all jobs. Returns the answer and the number of runs of each.
fn ends<const N: usize>(
    jobs: [(Answered, Arc<AtomicUsize>); N],
) -> [(Result<(), String>, usize); N] {
    jobs.map(|(answered, count)| (wait_for(answered), count.load(Ordering::Relaxed)))
}

#[test]
fn job_that_fails_after_writing_rolls_back_its_own_rows_only() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::run(&store, |_| Ok(()));
    let jobs = [
        submit_counted(&store, |tx| put(tx, "a")),
        submit_counted(&store, |tx| put(tx, "b").and_then(|()| refuse())),
        submit_counted(&store, |tx| {
            put(tx, "c")?;
            panic_quietly()
        }),
        submit_counted(&store, |tx| put(tx, "d").and_then(|()| put(tx, "a"))),
        submit_counted(&store, |tx| put(tx, "e")),
    ];
    assert_eq!(held.release(), Ok(()));
    let [a, b, c, d, e] = ends(jobs);
    assert_eq!(
        (a, e),
        ((Ok(()), 2), (Ok(()), 1)),
        "the first stood before the second failed"
    );
    assert_eq!(b, (Err("refused".to_owned()), 2));
    assert_eq!(c, (Err("a write panicked".to_owned()), 1));
    assert!(d.0.is_err_and(|text| text.contains("UNIQUE")));
    assert_eq!(names(&store), ["a", "e"]);
}

#[test]
fn failure_without_writes_repeats_no_job() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::run(&store, |_| Ok(()));
    let jobs = [
        submit_counted(&store, |tx| put(tx, "a")),
        submit_counted(&store, |_| refuse()),
        submit_counted(&store, |tx| put(tx, "a")),
        submit_counted(&store, |_| panic_quietly()),
        submit_counted(&store, |tx| put(tx, "b")),
    ];
    assert_eq!(held.release(), Ok(()));
    let ends = ends(jobs);
    let well = [true, false, false, false, true];
    assert_eq!(ends.each_ref().map(|(answer, _)| answer.is_ok()), well);
    assert_eq!(ends.map(|(_, count)| count), [1; 5]);
    assert_eq!(names(&store), ["a", "b"]);
}

#[test]
fn job_that_runs_once_splits_repeatable_jobs() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::run(&store, |_| Ok(()));
    let (first, first_count) = submit_counted(&store, |tx| put(tx, "a"));
    let once = submit(&store, |tx| put(tx, "b"));
    let fails = submit(&store, |tx| put(tx, "c").and_then(|()| refuse()));
    let jobs = [
        submit_counted(&store, |tx| put(tx, "d")),
        submit_counted(&store, |tx| put(tx, "e").and_then(|()| refuse())),
    ];
    assert_eq!(held.release(), Ok(()));
    assert_eq!((wait_for(first), wait_for(once)), (Ok(()), Ok(())));
    assert!(wait_for(fails).is_err());
    assert_eq!(first_count.load(Ordering::Relaxed), 1);
    assert_eq!(ends(jobs).map(|(_, count)| count), [2, 2]);
    assert_eq!(names(&store), ["a", "b", "d"]);
}

#[test]
fn rollback_clears_the_cache() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    assert_eq!(wait_for(submit(&store, |tx| put(tx, "a"))), Ok(()));
    let rename = |tx: &Tx<'_>, name: &str| {
        let mut account = accounts::by_seq(tx, 1)?;
        account.name = name.to_owned();
        accounts::update(tx, &account)?;
        accounts::by_seq(tx, 1).map(|account| assert_eq!(account.name, name))
    };
    let is_called = |name: &'static str| {
        move |tx: &Tx<'_>| accounts::by_seq(tx, 1).map(|account| assert_eq!(account.name, name))
    };
    let held = BlockingJob::run(&store, |_| Ok(()));
    let jobs = [
        submit_counted(&store, is_called("a")),
        submit_counted(&store, move |tx| rename(tx, "b").and_then(|()| refuse())),
        submit_counted(&store, is_called("a")),
    ];
    let attempts = submit(&store, move |tx| {
        let outcome = tx.attempt(|| rename(tx, "c").and_then(|()| refuse()))?;
        assert!(outcome.is_err());
        accounts::by_seq(tx, 1).map(|account| assert_eq!(account.name, "a"))
    });
    assert_eq!(held.release(), Ok(()));
    let [before, renames, after] = ends(jobs).map(|(answer, _)| answer.is_ok());
    assert_eq!((before, renames, after), (true, false, true));
    assert_eq!(wait_for(attempts), Ok(()));
    // This job is alone in its batch.
    assert!(wait_for(submit(&store, move |tx| rename(tx, "d").and_then(|()| refuse()))).is_err());
    assert_eq!(wait_for(submit(&store, is_called("a"))), Ok(()));
    // Another process changes the account.
    let (beside, _told) = folder.open();
    assert_eq!(wait_for(submit(&beside, move |tx| rename(tx, "e"))), Ok(()));
    assert_eq!(wait_for(submit(&store, is_called("e"))), Ok(()));
}

/// Inserts a first row, a second one in an attempt that fails, and a third one.
fn put_around(tx: &Tx<'_>, names: [&str; 3]) -> Result<(), StoreError> {
    put(tx, names[0])?;
    let tried = tx.attempt(|| put(tx, names[1]).and_then(|()| refuse()))?;
    assert!(tried.is_err());
    put(tx, names[2])
}

#[test]
fn failed_attempt_rolls_back_its_own_rows_only() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::run(&store, |_| Ok(()));
    let jobs = [
        submit_counted(&store, |tx| put(tx, "a")),
        submit_counted(&store, |tx| put_around(tx, ["b", "c", "d"])),
        submit_counted(&store, |tx| put(tx, "e")),
    ];
    assert_eq!(held.release(), Ok(()));
    assert_eq!(
        ends(jobs),
        [(Ok(()), 2), (Ok(()), 2), (Ok(()), 1)],
        "the second was done again in a savepoint of its own"
    );
    assert_eq!(names(&store), ["a", "b", "d", "e"]);
    // The same job runs alone in its batch, and then as a job that runs once.
    let alone = submit_counted(&store, |tx| put_around(tx, ["f", "g", "h"]));
    assert_eq!(ends([alone]), [(Ok(()), 1)]);
    let held = BlockingJob::run(&store, |_| Ok(()));
    let once = [["i", "j", "k"], ["l", "m", "n"]]
        .map(|names| submit(&store, move |tx| put_around(tx, names)));
    assert_eq!(held.release(), Ok(()));
    assert_eq!(once.map(wait_for), [Ok(()), Ok(())]);
    assert_eq!(
        names(&store),
        ["a", "b", "d", "e", "f", "h", "i", "k", "l", "n"]
    );
}

#[test]
fn ignored_failure_of_an_attempt_repeats_the_job() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::run(&store, |_| Ok(()));
    let jobs = [
        submit_counted(&store, |tx| put(tx, "a")),
        submit_counted(&store, |tx| {
            // The job ignores the error, although the attempt could not be rolled back alone.
            let _ = tx.attempt(|| put(tx, "b").and_then(|()| refuse()));
            put(tx, "c")
        }),
        submit_counted(&store, |tx| {
            tx.attempt(|| {
                put(tx, "d")?;
                panic_quietly()
            })?
        }),
        submit_counted(&store, |tx| tx.attempt(refuse)?.or_else(|_| put(tx, "e"))),
        submit_counted(&store, |tx| tx.attempt(|| put(tx, "f"))?),
    ];
    assert_eq!(held.release(), Ok(()));
    let ends = ends(jobs);
    let well = [true, true, false, true, true];
    assert_eq!(ends.each_ref().map(|(answer, _)| answer.is_ok()), well);
    assert_eq!(ends.map(|(_, count)| count), [2, 2, 1, 1, 1]);
    assert_eq!(names(&store), ["a", "c", "e", "f"]);
}

#[test]
fn failed_inner_attempt_rolls_back_alone() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::run(&store, |_| Ok(()));
    let jobs = [
        submit_counted(&store, |tx| put(tx, "a")),
        submit_counted(&store, |tx| {
            tx.attempt(|| put_around(tx, ["b", "c", "d"]))??;
            put(tx, "e")
        }),
    ];
    assert_eq!(held.release(), Ok(()));
    assert_eq!(ends(jobs), [(Ok(()), 2), (Ok(()), 2)]);
    assert_eq!(names(&store), ["a", "b", "d", "e"]);
}
