//! Tests a file that Litestream copies: the log is left to Litestream up to a limit.

use super::{TempFile, submit, wait_for_answer};
use crate::domain::progress::ignore_progress;
use crate::store::paths::with_suffix;
use crate::store::{Durability, Store, StoreError, StoreOptions, Tx};
use rusqlite::Connection;

/// Opens a server's store, and another connection to its file.
fn open_with_other_connection(folder: &TempFile) -> (Store, Connection) {
    let opening = StoreOptions {
        path: folder.0.clone(),
        durability: Durability::Process,
        create: true,
        kind: None,
        exclusive: true,
        tell: ignore_progress,
    };
    let store = Store::open(&opening, Box::new(|_| {})).unwrap();
    let beside = Connection::open(&folder.0).unwrap();
    let table = "begin; create table _litestream_rows (bytes blob); commit";
    beside.execute_batch(table).unwrap();
    (store, beside)
}

/// Creates the table that Litestream creates at its first start.
fn create_litestream_table(beside: &Connection) {
    let tables = "begin; create table _litestream_lock (id integer); commit";
    beside.execute_batch(tables).unwrap();
}

/// Makes the log exceed the limit for a checkpoint, and waits until the writer has checked the log.
fn grow_log(store: &Store) {
    let write = |tx: &Tx<'_>| -> Result<(), StoreError> {
        tx.run_script(
            "savepoint own; insert into _litestream_rows values (randomblob(5000000)); release own",
        )
    };
    wait_for_answer(submit(store, write)).unwrap();
    wait_for_answer(submit(store, |_| Ok(()))).unwrap();
}

/// Returns the number of pages in the log, and how many of them are in the file.
fn log_pages(beside: &Connection) -> (i64, i64) {
    let mut statement = beside.prepare("pragma wal_checkpoint(noop)").unwrap();
    let pages = |row: &rusqlite::Row<'_>| Ok((row.get("log")?, row.get("checkpointed")?));
    statement.query_row([], pages).unwrap()
}

#[test]
fn log_is_not_checkpointed_once_litestream_runs() {
    let folder = TempFile::new();
    let (store, beside) = open_with_other_connection(&folder);
    grow_log(&store);
    let (pages, moved) = log_pages(&beside);
    assert!(pages > 1000 && moved == pages, "{pages} {moved}");
    create_litestream_table(&beside);
    grow_log(&store);
    let (pages, moved) = log_pages(&beside);
    assert!(pages > 1000 && moved == 0, "{pages} {moved}");
    // While Litestream has the file open, closing the store does not checkpoint the log.
    drop(store);
    assert_eq!(log_pages(&beside), (pages, 0));
    let file = with_suffix(&folder.0, "-wal");
    assert!(std::fs::metadata(file).unwrap().len() > 4_000_000);
}

#[test]
fn log_is_truncated_if_litestream_does_not_run() {
    let folder = TempFile::new();
    let (store, beside) = open_with_other_connection(&folder);
    create_litestream_table(&beside);
    let file = with_suffix(&folder.0, "-wal");
    let bytes = || std::fs::metadata(&file).unwrap().len();
    for _ in 0..3 {
        grow_log(&store);
    }
    let (pages, moved) = log_pages(&beside);
    assert!(pages > 3000 && moved == 0, "{pages} {moved}");
    grow_log(&store);
    assert_eq!((log_pages(&beside), bytes()), ((0, 0), 0));
    // The open transaction simulates that Litestream is reading the log, so the log is not truncated.
    grow_log(&store);
    beside.execute_batch("begin; select * from _litestream_lock").unwrap();
    for _ in 0..4 {
        grow_log(&store);
    }
    assert!(bytes() > 20_000_000);
}
