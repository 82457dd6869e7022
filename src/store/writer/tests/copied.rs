//! A file that Litestream copies: the log is left to that, but not without end.

use super::{Folder, said, submit};
use crate::domain::progress::ignore_progress;
use crate::store::open::with_suffix;
use crate::store::{Durability, Opening, Store, StoreError, Tx};
use rusqlite::Connection;

/// A server's store, and another connection to its file.
fn opened(folder: &Folder) -> (Store, Connection) {
    let opening = Opening {
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

/// As Litestream does when it starts.
fn starts(beside: &Connection) {
    let tables = "begin; create table _litestream_lock (id integer); commit";
    beside.execute_batch(tables).unwrap();
}

/// Puts more into the log than it may have before it is moved, and waits until the writer has looked at it.
fn grow(store: &Store) {
    let write = |tx: &Tx<'_>| -> Result<(), StoreError> {
        tx.script(
            "savepoint own; insert into _litestream_rows values (randomblob(5000000)); release own",
        )
    };
    said(submit(store, write)).unwrap();
    said(submit(store, |_| Ok(()))).unwrap();
}

/// How many pages the log has, and how many of them are in the file.
fn log(beside: &Connection) -> (i64, i64) {
    let mut statement = beside.prepare("pragma wal_checkpoint(noop)").unwrap();
    let pages = |row: &rusqlite::Row<'_>| Ok((row.get("log")?, row.get("checkpointed")?));
    statement.query_row([], pages).unwrap()
}

#[test]
fn the_log_is_left_to_litestream_from_its_start_on() {
    let folder = Folder::new();
    let (store, beside) = opened(&folder);
    grow(&store);
    let (pages, moved) = log(&beside);
    assert!(pages > 1000 && moved == pages, "{pages} {moved}");
    starts(&beside);
    grow(&store);
    let (pages, moved) = log(&beside);
    assert!(pages > 1000 && moved == 0, "{pages} {moved}");
    // Nor is it moved at the end, while it has the file open.
    drop(store);
    assert_eq!(log(&beside), (pages, 0));
    let file = with_suffix(&folder.0, "-wal");
    assert!(std::fs::metadata(file).unwrap().len() > 4_000_000);
}

#[test]
fn a_log_that_litestream_leaves_is_cut_off_as_a_whole() {
    let folder = Folder::new();
    let (store, beside) = opened(&folder);
    starts(&beside);
    let file = with_suffix(&folder.0, "-wal");
    let bytes = || std::fs::metadata(&file).unwrap().len();
    for _ in 0..3 {
        grow(&store);
    }
    let (pages, moved) = log(&beside);
    assert!(pages > 3000 && moved == 0, "{pages} {moved}");
    grow(&store);
    assert_eq!((log(&beside), bytes()), ((0, 0), 0));
    // It holds the log by reading, so it runs: what it has not read stays.
    grow(&store);
    beside
        .execute_batch("begin; select * from _litestream_lock")
        .unwrap();
    for _ in 0..4 {
        grow(&store);
    }
    assert!(bytes() > 20_000_000);
}
