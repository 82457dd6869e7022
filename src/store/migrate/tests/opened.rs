//! Upgrades of files that servers and commands open.

use super::{ADD, FIRST, LONGER, Migrations, ROWS, SCHEMA, customers, user_version};
use crate::domain::progress::ignore_progress;
use crate::domain::{Progress, Time, id};
use crate::store::paths::with_suffix;
use crate::store::source::SourceFile;
use crate::store::{Durability, FileKind, Store, StoreError, StoreOptions};
use rusqlite::Connection;
use std::path::PathBuf;

/// A temporary database file of the first version, with some rows. Dropping it removes the file.
pub(super) struct FirstVersionFile(pub(super) PathBuf);

impl FirstVersionFile {
    pub(super) fn new() -> FirstVersionFile {
        let name = format!("coffer-upgrade-{}.db", id::new(Time(0)));
        let file = FirstVersionFile(std::env::temp_dir().join(name));
        drop(file.open(FIRST, true).unwrap());
        let conn = Connection::open(&file.0).unwrap();
        let kind = "pragma foreign_keys = on; \
            insert into file (id, kind, checkout_secret) values (1, 'production', zeroblob(32))";
        conn.execute_batch(kind).unwrap();
        conn.execute_batch(ROWS).unwrap();
        file
    }

    /// Opens the file as a server or as a command, with these migrations.
    pub(super) fn open(
        &self,
        migrations: Migrations,
        exclusive: bool,
    ) -> Result<Store, StoreError> {
        self.open_as(FileKind::Production, migrations, exclusive)
    }

    fn open_as(
        &self,
        kind: FileKind,
        migrations: Migrations,
        exclusive: bool,
    ) -> Result<Store, StoreError> {
        let options = StoreOptions {
            path: self.0.clone(),
            kind: Some(kind),
            durability: Durability::Process,
            create: true,
            exclusive,
            tell: ignore_progress,
        };
        Store::open_with(&options, migrations, Box::new(|_| {}))
    }

    /// Returns the version of the file, and its customers.
    pub(super) fn content(&self) -> (usize, Vec<String>) {
        let conn = Connection::open(&self.0).unwrap();
        (user_version(&conn).unwrap(), customers(&conn).unwrap())
    }
}

impl Drop for FirstVersionFile {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm", "-lock"] {
            // The file may not exist.
            let _ = std::fs::remove_file(with_suffix(&self.0, suffix));
        }
    }
}

#[test]
fn server_and_command_upgrade_the_file_that_they_open() {
    for exclusive in [true, false] {
        let file = FirstVersionFile::new();
        drop(file.open(LONGER, exclusive).unwrap());
        assert_eq!(file.content(), (4, vec!["3 ada,7 bob".to_owned()]));
    }
}

#[test]
fn file_of_a_running_server_is_not_upgraded() {
    let file = FirstVersionFile::new();
    let server = file.open(FIRST, true).unwrap();
    for exclusive in [true, false] {
        let refused = file.open(LONGER, exclusive).err().unwrap().to_string();
        assert!(refused.contains("is in use by another coffer"), "{refused}");
    }
    drop(server);
    assert_eq!(file.content().0, 1);
    drop(file.open(LONGER, false).unwrap());
    assert_eq!(file.content().0, 4);
}

#[test]
fn server_of_the_wrong_kind_upgrades_no_file() {
    let file = FirstVersionFile::new();
    for exclusive in [true, false] {
        let refused = file.open_as(FileKind::Sandbox, LONGER, exclusive).err().unwrap();
        assert!(refused.to_string().contains("was made by a production server"), "{refused}");
    }
    assert_eq!(file.content().0, 1);
}

#[test]
fn file_of_a_newer_version_is_left_as_it_is() {
    let file = FirstVersionFile::new();
    drop(file.open(LONGER, true).unwrap());
    let before = std::fs::read(&file.0).unwrap();
    for exclusive in [true, false] {
        let refused = file.open(FIRST, exclusive).err().unwrap().to_string();
        assert!(refused.contains("is of version 4, this program knows only 1"), "{refused}");
    }
    let refused = SourceFile::open_with(&file.0, FIRST, &mut ignore_progress).err().unwrap();
    assert!(refused.to_string().contains("use a newer coffer"), "{refused}");
    assert!(std::fs::read(&file.0).unwrap() == before);
}

#[test]
fn older_file_is_read_through_an_upgraded_copy() {
    let file = FirstVersionFile::new();
    let before = std::fs::read(&file.0).unwrap();
    let mut notes = String::new();
    let mut tell = |said: Progress<'_>| {
        if let Progress::Note(note) = said {
            notes.push_str(note);
        }
    };
    let source = SourceFile::open_with(&file.0, LONGER, &mut tell).unwrap();
    assert_eq!(source.version, 1);
    let source = source.into_upgraded(&file.0, &mut tell).unwrap();
    assert_eq!(source.version, 4);
    assert_eq!(customers(&source.conn).unwrap(), ["3 ada,7 bob"]);
    let copy = PathBuf::from(source.conn.path().unwrap());
    assert!(notes.contains("is of version 1: a copy in "), "{notes}");
    drop(source);
    assert!(!copy.exists());
    assert!(std::fs::read(&file.0).unwrap() == before);
}

#[test]
fn upgrade_without_room_names_the_disk() {
    let file = FirstVersionFile::new();
    // The size of the file is limited to its present size.
    const FULL: Migrations = Migrations(&[
        SCHEMA,
        ADD,
        "-- needs room\npragma max_page_count = 1; create table more (text text); create table most (text text);",
    ]);
    for exclusive in [true, false] {
        let refused = file.open(FULL, exclusive).err().unwrap().to_string();
        assert!(refused.contains("the disk is full: up to "), "{refused}");
        assert!(refused.contains(".db: ") && refused.contains("Make room"), "{refused}");
    }
    assert_eq!(file.content(), (1, vec!["3 ada,7 bob".to_owned()]));
}
