//! Tests repeatable jobs, which share a savepoint: the number of runs of each job, and what happens if one of them
//! fails.

use super::{
    AnswerReceiver, BlockingJob, TempFile, Tx, account_names, fail, insert_account, panic_quietly,
    submit, wait_for_answer,
};
use crate::store::{Store, StoreError, accounts};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Submits a repeatable job, and returns a counter of its runs.
fn submit_counted(
    store: &Store,
    work: impl Fn(&Tx<'_>) -> Result<(), StoreError> + Send + 'static,
) -> (AnswerReceiver, Arc<AtomicUsize>) {
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
fn answers_and_runs<const N: usize>(
    jobs: [(AnswerReceiver, Arc<AtomicUsize>); N],
) -> [(Result<(), String>, usize); N] {
    jobs.map(|(answered, count)| (wait_for_answer(answered), count.load(Ordering::Relaxed)))
}

#[test]
fn job_that_fails_after_writing_rolls_back_its_own_rows_only() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::submit_and_wait(&store, |_| Ok(()));
    let jobs = [
        submit_counted(&store, |tx| insert_account(tx, "a")),
        submit_counted(&store, |tx| insert_account(tx, "b").and_then(|()| fail())),
        submit_counted(&store, |tx| {
            insert_account(tx, "c")?;
            panic_quietly()
        }),
        submit_counted(&store, |tx| insert_account(tx, "d").and_then(|()| insert_account(tx, "a"))),
        submit_counted(&store, |tx| insert_account(tx, "e")),
    ];
    assert_eq!(held.release(), Ok(()));
    let [a, b, c, d, e] = answers_and_runs(jobs);
    assert_eq!((a, e), ((Ok(()), 2), (Ok(()), 1)), "the first stood before the second failed");
    assert_eq!(b, (Err("refused".to_owned()), 2));
    assert_eq!(c, (Err("a write panicked".to_owned()), 1));
    assert!(d.0.is_err_and(|text| text.contains("UNIQUE")));
    assert_eq!(account_names(&store), ["a", "e"]);
}

#[test]
fn failure_without_writes_repeats_no_job() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::submit_and_wait(&store, |_| Ok(()));
    let jobs = [
        submit_counted(&store, |tx| insert_account(tx, "a")),
        submit_counted(&store, |_| fail()),
        submit_counted(&store, |tx| insert_account(tx, "a")),
        submit_counted(&store, |_| panic_quietly()),
        submit_counted(&store, |tx| insert_account(tx, "b")),
    ];
    assert_eq!(held.release(), Ok(()));
    let ends = answers_and_runs(jobs);
    let well = [true, false, false, false, true];
    assert_eq!(ends.each_ref().map(|(answer, _)| answer.is_ok()), well);
    assert_eq!(ends.map(|(_, count)| count), [1; 5]);
    assert_eq!(account_names(&store), ["a", "b"]);
}

#[test]
fn job_that_runs_once_ends_the_shared_savepoint() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::submit_and_wait(&store, |_| Ok(()));
    let (first, first_count) = submit_counted(&store, |tx| insert_account(tx, "a"));
    let once = submit(&store, |tx| insert_account(tx, "b"));
    let fails = submit(&store, |tx| insert_account(tx, "c").and_then(|()| fail()));
    let jobs = [
        submit_counted(&store, |tx| insert_account(tx, "d")),
        submit_counted(&store, |tx| insert_account(tx, "e").and_then(|()| fail())),
    ];
    assert_eq!(held.release(), Ok(()));
    assert_eq!((wait_for_answer(first), wait_for_answer(once)), (Ok(()), Ok(())));
    assert!(wait_for_answer(fails).is_err());
    assert_eq!(first_count.load(Ordering::Relaxed), 1);
    assert_eq!(answers_and_runs(jobs).map(|(_, count)| count), [2, 2]);
    assert_eq!(account_names(&store), ["a", "b", "d"]);
}

#[test]
fn rollback_clears_the_cache() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    assert_eq!(wait_for_answer(submit(&store, |tx| insert_account(tx, "a"))), Ok(()));
    let rename = |tx: &Tx<'_>, name: &str| {
        let mut account = accounts::by_seq(tx, 1)?;
        account.name = name.to_owned();
        accounts::update(tx, &account)?;
        accounts::by_seq(tx, 1).map(|account| assert_eq!(account.name, name))
    };
    let is_called = |name: &'static str| {
        move |tx: &Tx<'_>| accounts::by_seq(tx, 1).map(|account| assert_eq!(account.name, name))
    };
    let held = BlockingJob::submit_and_wait(&store, |_| Ok(()));
    let jobs = [
        submit_counted(&store, is_called("a")),
        submit_counted(&store, move |tx| rename(tx, "b").and_then(|()| fail())),
        submit_counted(&store, is_called("a")),
    ];
    let attempts = submit(&store, move |tx| {
        let outcome = tx.attempt(|| rename(tx, "c").and_then(|()| fail()))?;
        assert!(outcome.is_err());
        accounts::by_seq(tx, 1).map(|account| assert_eq!(account.name, "a"))
    });
    assert_eq!(held.release(), Ok(()));
    let [before, renames, after] = answers_and_runs(jobs).map(|(answer, _)| answer.is_ok());
    assert_eq!((before, renames, after), (true, false, true));
    assert_eq!(wait_for_answer(attempts), Ok(()));
    // This job is the only job of its batch.
    assert!(
        wait_for_answer(submit(&store, move |tx| rename(tx, "d").and_then(|()| fail()))).is_err()
    );
    assert_eq!(wait_for_answer(submit(&store, is_called("a"))), Ok(()));
    // A second store simulates another process that changes the account.
    let (beside, _told) = folder.open();
    assert_eq!(wait_for_answer(submit(&beside, move |tx| rename(tx, "e"))), Ok(()));
    assert_eq!(wait_for_answer(submit(&store, is_called("e"))), Ok(()));
}

/// Inserts a first row, a second one in an attempt that fails, and a third one.
fn insert_around_failed_attempt(tx: &Tx<'_>, names: [&str; 3]) -> Result<(), StoreError> {
    insert_account(tx, names[0])?;
    let tried = tx.attempt(|| insert_account(tx, names[1]).and_then(|()| fail()))?;
    assert!(tried.is_err());
    insert_account(tx, names[2])
}

#[test]
fn failed_attempt_rolls_back_its_own_rows_only() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::submit_and_wait(&store, |_| Ok(()));
    let jobs = [
        submit_counted(&store, |tx| insert_account(tx, "a")),
        submit_counted(&store, |tx| insert_around_failed_attempt(tx, ["b", "c", "d"])),
        submit_counted(&store, |tx| insert_account(tx, "e")),
    ];
    assert_eq!(held.release(), Ok(()));
    assert_eq!(
        answers_and_runs(jobs),
        [(Ok(()), 2), (Ok(()), 2), (Ok(()), 1)],
        "the second was done again in a savepoint of its own"
    );
    assert_eq!(account_names(&store), ["a", "b", "d", "e"]);
    // The same work runs as the only job of a batch, and then in jobs that are not repeatable.
    let alone = submit_counted(&store, |tx| insert_around_failed_attempt(tx, ["f", "g", "h"]));
    assert_eq!(answers_and_runs([alone]), [(Ok(()), 1)]);
    let held = BlockingJob::submit_and_wait(&store, |_| Ok(()));
    let once = [["i", "j", "k"], ["l", "m", "n"]]
        .map(|names| submit(&store, move |tx| insert_around_failed_attempt(tx, names)));
    assert_eq!(held.release(), Ok(()));
    assert_eq!(once.map(wait_for_answer), [Ok(()), Ok(())]);
    assert_eq!(account_names(&store), ["a", "b", "d", "e", "f", "h", "i", "k", "l", "n"]);
}

#[test]
fn ignored_failure_of_an_attempt_repeats_the_job() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::submit_and_wait(&store, |_| Ok(()));
    let jobs = [
        submit_counted(&store, |tx| insert_account(tx, "a")),
        submit_counted(&store, |tx| {
            // The job ignores the error of the attempt. A savepoint that the job shares with others cannot roll back
            // the attempt alone, so the job runs again in its own savepoint.
            let _ = tx.attempt(|| insert_account(tx, "b").and_then(|()| fail()));
            insert_account(tx, "c")
        }),
        submit_counted(&store, |tx| {
            tx.attempt(|| {
                insert_account(tx, "d")?;
                panic_quietly()
            })?
        }),
        submit_counted(&store, |tx| tx.attempt(fail)?.or_else(|_| insert_account(tx, "e"))),
        submit_counted(&store, |tx| tx.attempt(|| insert_account(tx, "f"))?),
    ];
    assert_eq!(held.release(), Ok(()));
    let ends = answers_and_runs(jobs);
    let well = [true, true, false, true, true];
    assert_eq!(ends.each_ref().map(|(answer, _)| answer.is_ok()), well);
    assert_eq!(ends.map(|(_, count)| count), [2, 2, 1, 1, 1]);
    assert_eq!(account_names(&store), ["a", "c", "e", "f"]);
}

#[test]
fn failed_inner_attempt_rolls_back_alone() {
    let folder = TempFile::new();
    let (store, _told) = folder.open();
    let held = BlockingJob::submit_and_wait(&store, |_| Ok(()));
    let jobs = [
        submit_counted(&store, |tx| insert_account(tx, "a")),
        submit_counted(&store, |tx| {
            tx.attempt(|| insert_around_failed_attempt(tx, ["b", "c", "d"]))??;
            insert_account(tx, "e")
        }),
    ];
    assert_eq!(held.release(), Ok(()));
    assert_eq!(answers_and_runs(jobs), [(Ok(()), 2), (Ok(()), 2)]);
    assert_eq!(account_names(&store), ["a", "b", "d", "e"]);
}
