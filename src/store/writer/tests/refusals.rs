//! Errors that end a transaction: the whole batch fails, nobody is told, and the next batch works.

use super::super::{Changes, Writer};
use super::{Folder, Held, names, put, raw, said, submit};
use crate::domain::apikey::KeyClass;
use crate::domain::asset::Mode;
use crate::domain::time::Time;
use crate::store::{Tx, keys};
use std::sync::Arc;
use std::sync::mpsc::channel;

/// Three jobs of one batch, the second of which does this; what each was answered.
fn batch_with(
    work: impl FnOnce(&Tx<'_>) -> Result<(), crate::store::StoreError> + Send + 'static,
) -> [String; 3] {
    let folder = Folder::new();
    let (store, told) = folder.open();
    let held = Held::run(&store, |_| Ok(()));
    let answers = [
        submit(&store, |tx| put(tx, "a")),
        submit(&store, work),
        submit(&store, |tx| put(tx, "c")),
    ];
    assert_eq!(held.release(), Ok(()));
    let answers = answers.map(|answered| said(answered).unwrap_err());
    assert_eq!(names(&store), [""; 0]);
    assert_eq!(
        told.try_iter().count(),
        1,
        "of a batch that failed nobody is told"
    );
    assert_eq!(said(submit(&store, |tx| put(tx, "d"))), Ok(()));
    assert_eq!(names(&store), ["d"]);
    answers
}

#[test]
fn an_error_that_ends_the_transaction_fails_the_whole_batch() {
    // As a full disk does; the job itself takes no notice.
    let answers = batch_with(|tx| tx.script("rollback"));
    for answer in answers {
        assert_eq!(answer, "an error ended the transaction");
    }
}

#[test]
fn a_commit_that_fails_fails_the_whole_batch() {
    let answers = batch_with(|tx| {
        tx.script("pragma defer_foreign_keys = on")?;
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
fn a_transaction_that_cannot_begin_is_answered_with_the_reason() {
    let folder = Folder::new();
    drop(folder.open());
    let other = raw(&folder.0);
    other.execute_batch("begin immediate").unwrap();
    let (tell, told) = channel();
    let on_commit = move |changes: &Changes| tell.send(changes.clone()).unwrap();
    let writer = Writer::start(folder.raw_file(), Arc::default(), Box::new(on_commit)).unwrap();
    let answer = said(writer.submit(|tx| put(tx, "a")).unwrap());
    assert!(
        answer.as_ref().is_err_and(|text| text.contains("locked")),
        "{answer:?}"
    );
    assert_eq!(told.try_iter().count(), 0);
    other.execute_batch("rollback").unwrap();
    while writer.health().refusing().is_some() {
        std::thread::yield_now();
    }
    assert_eq!(said(writer.submit(|tx| put(tx, "b")).unwrap()), Ok(()));
    drop(writer);
    assert_eq!(names(&folder.open().0), ["b"]);
}
