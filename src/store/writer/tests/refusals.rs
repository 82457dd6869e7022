//! Tests errors that end a transaction: the whole batch fails, no changes are reported, and the next batch succeeds.

use super::super::{Changes, Writer};
use super::{
    BlockingJob, TempFile, account_names, insert_account, open_raw, submit, wait_for_answer,
};
use crate::domain::{KeyClass, Mode, Time};
use crate::store::health::{Health, WriteRefusal};
use crate::store::{Tx, keys};
use std::sync::Arc;
use std::sync::mpsc::channel;

/// Runs three jobs in one batch and returns their errors. The second job runs `work`.
fn run_batch_with(
    work: impl FnOnce(&Tx<'_>) -> Result<(), crate::store::StoreError> + Send + 'static,
) -> [String; 3] {
    let folder = TempFile::new();
    let (store, told) = folder.open();
    let held = BlockingJob::submit_and_wait(&store, |_| Ok(()));
    let answers = [
        submit(&store, |tx| insert_account(tx, "a")),
        submit(&store, work),
        submit(&store, |tx| insert_account(tx, "c")),
    ];
    assert_eq!(held.release(), Ok(()));
    let answers = answers.map(|answered| wait_for_answer(answered).unwrap_err());
    assert_eq!(account_names(&store), [""; 0]);
    assert_eq!(told.try_iter().count(), 1, "of a batch that failed nobody is told");
    assert_eq!(wait_for_answer(submit(&store, |tx| insert_account(tx, "d"))), Ok(()));
    assert_eq!(account_names(&store), ["d"]);
    answers
}

#[test]
fn error_that_ends_the_transaction_fails_the_batch() {
    // The rollback simulates an error of a full disk, which ends the transaction. The job itself returns no error.
    let answers = run_batch_with(|tx| tx.run_script("rollback"));
    for answer in answers {
        assert_eq!(answer, "an error ended the transaction");
    }
}

#[test]
fn failed_commit_fails_the_batch() {
    let answers = run_batch_with(|tx| {
        tx.run_script("pragma defer_foreign_keys = on")?;
        let key = keys::NewKey {
            id: "of nobody",
            account: 999,
            class: KeyClass::Secret,
            mode: Mode::Test,
            hash: &[0; 32],
            last4: "last",
            created_at: Time(0),
        };
        keys::insert(tx, &key)
    });
    for answer in answers {
        assert!(answer.contains("FOREIGN KEY"), "{answer}");
    }
}

#[test]
fn damage_found_during_a_batch_fails_the_batch() {
    let folder = TempFile::new();
    drop(folder.open());
    let health = Arc::<Health>::default();
    let writer =
        Writer::start(folder.open_raw_file(), Arc::clone(&health), Box::new(|_| {})).unwrap();
    let answered = writer.submit(false, move |tx| {
        insert_account(tx, "a")?;
        // A read on another thread may find damage at any time.
        health.refuse_writes(WriteRefusal::FileDamaged, "a test");
        Ok(())
    });
    let answer = wait_for_answer(answered.unwrap());
    assert!(answer.as_ref().is_err_and(|text| text.contains("damaged")), "{answer:?}");
    assert!(writer.submit(false, |tx| insert_account(tx, "b")).is_err());
    drop(writer);
    assert_eq!(account_names(&folder.open().0), [""; 0]);
}

#[test]
fn locked_database_refuses_a_write() {
    let folder = TempFile::new();
    drop(folder.open());
    let other = open_raw(&folder.0);
    other.execute_batch("begin immediate").unwrap();
    let (tell, told) = channel();
    let on_commit = move |changes: &Changes| tell.send(changes.clone()).unwrap();
    let writer =
        Writer::start(folder.open_raw_file(), Arc::default(), Box::new(on_commit)).unwrap();
    let answer = wait_for_answer(writer.submit(false, |tx| insert_account(tx, "a")).unwrap());
    assert!(answer.as_ref().is_err_and(|text| text.contains("locked")), "{answer:?}");
    assert_eq!(told.try_iter().count(), 0);
    other.execute_batch("rollback").unwrap();
    while writer.health.refusal().is_some() {
        std::thread::yield_now();
    }
    assert_eq!(
        wait_for_answer(writer.submit(false, |tx| insert_account(tx, "b")).unwrap()),
        Ok(())
    );
    drop(writer);
    assert_eq!(account_names(&folder.open().0), ["b"]);
}
