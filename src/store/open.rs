//! Opens a file: creates, locks and upgrades it.
//!
//! Invariant: no two servers use the same file. A new file is complete or does not exist.

use super::connection::{WRITER_BUSY, configure, open_reader, open_writer};
use super::damage::{damage_error, explain_damage};
use super::foreign_log::require_own_log;
use super::health::{Health, WriteRefusal};
use super::identity::{FileIdentity, identify, refuse_unreleased_file, require_coffer_file};
use super::lock::{FilePlace, Lock};
use super::migrate::{MIGRATIONS, Migrations, template};
use super::mount::{require_mounted_folder, warn_of_served_disk};
use super::paths::{create_private, require_existing, sync_folder, with_suffix};
use super::private_copy::remove_leftovers;
use super::readers::Readers;
use super::row::enum_as_text;
use super::writer::{LOG_BYTES_MAX, OpenFile, Writer};
use super::{OnCommit, Reader, Store, StoreError, StoreState, lock_holder, room};
use crate::domain::Progress;
use crate::domain::progress::{ignore_progress, to_count};
use crate::domain::text_enum::text_enum;
use rusqlite::Connection;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// First SQLite version with a fix for a bug of the write-ahead log that can corrupt a file.
const SQLITE_MIN: i32 = 3_051_003;
/// Maximum number of temporary files for one new file. Several processes may create the file at the same time, and a
/// crashed process may leave its temporary file.
const BESIDE_MAX: u32 = 100;

text_enum! {
    /// Kind of server that created a file. A server of the other kind does not open it.
    pub enum FileKind {
        /// Created by `coffer sandbox`.
        Sandbox = "sandbox",
        /// Created by `coffer serve`.
        Production = "production",
    }
}

enum_as_text!(FileKind);

/// Size of a new `-shm` file, in bytes. SQLite cannot open a database without this file.
const BESIDE_BYTES: u64 = 32 * 1024;

/// Failures that a commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A commit survives a power failure.
    Full,
    /// A commit survives a crash of the process only. For temporary files.
    Process,
}

/// Options for opening a file.
pub struct StoreOptions {
    /// Path of the file.
    pub path: PathBuf,
    /// Required kind; `None` accepts any.
    pub kind: Option<FileKind>,
    /// Failures that a commit must survive.
    pub durability: Durability,
    /// Whether to create the file if it does not exist.
    pub create: bool,
    /// Whether to lock the file against other servers. Commands that may run while a server runs do not lock it.
    pub exclusive: bool,
    /// Function that gets the progress of an upgrade.
    pub tell: fn(Progress<'_>),
}

impl Store {
    /// Opens a file and upgrades it. Creates the file first if `opening` allows this.
    ///
    /// # Errors
    /// [`StoreError`] with a message for the operator: the file does not exist, is in use by another server, or is
    /// newer than this program.
    pub fn open(opening: &StoreOptions, on_commit: OnCommit) -> Result<Store, StoreError> {
        Store::open_with(opening, MIGRATIONS, on_commit)
    }

    /// Opens a file like [`Store::open`], and upgrades it with these migrations.
    pub(super) fn open_with(
        opening: &StoreOptions,
        migrations: Migrations,
        on_commit: OnCommit,
    ) -> Result<Store, StoreError> {
        if rusqlite::version_number() < SQLITE_MIN {
            return Err(StoreError::Failed(format!("SQLite {} is too old", rusqlite::version())));
        }
        let path = &opening.path;
        refuse_unreleased_file(path)?;
        if opening.durability == Durability::Full {
            require_mounted_folder(path)?;
        }
        let held = opening.exclusive.then(|| Lock::exclusive(path));
        let held = held.transpose()?;
        if !opening.create {
            require_existing(path)?;
        } else if !path.exists() {
            create_file(opening)?;
        }
        // Declared before the connection, so that the lock is dropped after the connection, even on an error.
        let lock = match held {
            Some(mut lock) => {
                lock.lock_file()?;
                lock
            }
            None => Lock::shared(path)?,
        };
        require_own_log(&lock)?;
        if opening.exclusive && opening.durability == Durability::Full {
            warn_of_served_disk(path);
            remove_leftovers(path);
        }
        let mut conn = open_writer(path)?;
        let upgraded = bring_up_to_date(&mut conn, opening, migrations);
        upgraded.map_err(|error| explain_damage(error, path))?;
        // The writer checkpoints by itself, because SQLite hides errors of automatic checkpoints. A command that runs
        // while a server runs leaves checkpoints to the server, which knows whether its disk has failed.
        conn.pragma_update(None, "wal_autocheckpoint", 0)?;
        // SQLite truncates the log to this size when the log restarts.
        conn.pragma_update(None, "journal_size_limit", LOG_BYTES_MAX)?;
        // The memory map was only needed to read the schema. The writer keeps changed pages in its own memory.
        conn.pragma_update(None, "mmap_size", 0)?;
        if opening.exclusive {
            conn.busy_timeout(WRITER_BUSY)?;
        }
        let log = with_suffix(conn.path().map_or(path, Path::new), "-wal");
        let place = Arc::new(FilePlace::locate(path, &conn)?);
        let health = Arc::new(Health::default());
        let file = OpenFile { conn, place: Arc::clone(&place), alone: opening.exclusive, lock };
        let writer = Writer::start(file, Arc::clone(&health), on_commit)?;
        // Created last: nothing can fail after this, so the lock outlives every connection.
        let readers = Readers::new(path, place, health);
        Ok(Store { shared: Arc::new(StoreState { readers, writer, log }) })
    }
}

/// Checks a file and upgrades it. A server first waits until no other program has locked the file.
fn bring_up_to_date(
    conn: &mut Connection,
    opening: &StoreOptions,
    migrations: Migrations,
) -> Result<(), StoreError> {
    let version = check_may_open(conn, opening, migrations)?;
    if opening.exclusive {
        lock_holder::wait_until_unlocked(conn, &opening.path, opening.tell)?;
    }
    let synchronous = match opening.durability {
        // In rollback mode, with "full" a power failure may take back the last commit.
        Durability::Full => "extra",
        Durability::Process => "off",
    };
    conn.pragma_update(None, "synchronous", synchronous)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    if opening.exclusive {
        let switched = lock_holder::switch_to_wal(conn, &opening.path, opening.tell);
        switched.map_err(|error| explain_disk_full(error, opening))?;
    }
    if !opening.exclusive && version != migrations.newest() {
        // While a server runs, its tables must not change.
        let mut alone = Lock::exclusive(&opening.path)?;
        alone.lock_file()?;
        upgrade(conn, opening, migrations)
    } else {
        upgrade(conn, opening, migrations)
    }
}

/// Runs the missing migrations. The error of a full disk names the disk.
fn upgrade(
    conn: &mut Connection,
    opening: &StoreOptions,
    migrations: Migrations,
) -> Result<(), StoreError> {
    let migrated = migrations.run(conn, &mut { opening.tell });
    migrated.map_err(|error| explain_disk_full(error, opening))
}

/// Returns an error that names the disk if the disk is full, otherwise `error`.
fn explain_disk_full(error: StoreError, opening: &StoreOptions) -> StoreError {
    let path = &opening.path;
    room::explain_disk_full(error, path, path, &with_suffix(path, "-wal"))
}

/// Checks that a file may be opened, before anything is written. Returns the version of the file, 0 for an empty one.
fn check_may_open(
    conn: &Connection,
    opening: &StoreOptions,
    migrations: Migrations,
) -> Result<usize, StoreError> {
    let path = &opening.path;
    let identity = identify(conn);
    let identity = identity.map_err(|error| {
        // On a full disk, growing the `-shm` file may fail first. SQLite reports this as a disk error.
        match WriteRefusal::from_error(&error) {
            Some(WriteRefusal::DiskFull) => room::disk_full_error(path, BESIDE_BYTES, 0),
            Some(WriteRefusal::FileDamaged) => damage_error(path, &error),
            Some(WriteRefusal::DiskFailed | WriteRefusal::FileMoved | WriteRefusal::Locked)
            | None => StoreError::Failed(format!("{}: {error}", path.display())),
        }
    })?;
    if identity == FileIdentity::Empty
        && opening.exclusive
        && opening.kind == Some(FileKind::Sandbox)
    {
        return Ok(0);
    }
    let (version, made_by) = require_coffer_file(identity, path, migrations)?;
    let (Some(made_by), Some(kind)) = (made_by, opening.kind) else {
        return Ok(version);
    };
    let why = match (made_by, kind) {
        (FileKind::Sandbox, FileKind::Sandbox) | (FileKind::Production, FileKind::Production) => {
            return Ok(version);
        }
        _ if opening.exclusive => {
            format!("was made by a {made_by} server; a {kind} server does not open it")
        }
        (FileKind::Sandbox, FileKind::Production) => {
            "was made by a sandbox server: it is changed with --sandbox only".to_owned()
        }
        (FileKind::Production, FileKind::Sandbox) => {
            "was made by a production server: leave --sandbox out".to_owned()
        }
    };
    Err(StoreError::Failed(format!("{} {why}", path.display())))
}

/// Runs `work` on a snapshot of a file, read-only. A server may be using the file.
///
/// # Errors
/// The error of `work`, or [`StoreError`] with a message for the operator: the file does not exist, or is of another
/// version.
pub fn read_only<T, E: From<StoreError>>(
    path: &Path,
    work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let (_lock, conn) = open_to_read(path)?;
    work(&Reader::new(&conn))
}

/// Opens a read-only connection and begins a transaction. The returned lock must outlive the connection.
fn open_to_read(path: &Path) -> Result<(Lock, Connection), StoreError> {
    require_existing(path)?;
    refuse_unreleased_file(path)?;
    let lock = Lock::shared(path)?;
    require_own_log(&lock)?;
    let conn = open_reader(path)?;
    MIGRATIONS.require_newest(&conn)?;
    conn.execute_batch("begin")?;
    Ok((lock, conn))
}

/// Fails if the log of a removed file exists, because SQLite would apply this log to the new file.
fn check_no_leftover_log(path: &Path) -> Result<(), StoreError> {
    let logs = ["-wal", "-journal"].map(|suffix| with_suffix(path, suffix));
    let is_there = |log: &&PathBuf| std::fs::metadata(log).is_ok_and(|found| found.len() > 0);
    match logs.iter().find(is_there) {
        // If the file exists, another process has just created it, and the log belongs to this new file.
        Some(log) if !path.exists() => {
            let (path, log) = (path.display(), log.display());
            Err(StoreError::Failed(format!(
                "{path} does not exist, but {log} does, the log of a file that was moved or removed: put that file back, \
                 or remove what is left of it"
            )))
        }
        _ => Ok(()),
    }
}

/// Creates the file. A command also prints the path, because the user may have meant another file. A server prints
/// the path anyway.
fn create_file(opening: &StoreOptions) -> Result<(), StoreError> {
    let path = &opening.path;
    check_no_leftover_log(path)?;
    if create_from_template(path, opening.durability)? && !opening.exclusive {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        (opening.tell)(Progress::Note(&format!("made a new file {}", whole.display())));
    }
    Ok(())
}

/// Creates a file from the template. Returns `false` if another process has created it first.
fn create_from_template(path: &Path, durability: Durability) -> Result<bool, StoreError> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::StorageFull => room::disk_full_error(path, to_count(template().len()), 0),
        _ => StoreError::Failed(format!("{}: {error}", path.display())),
    };
    let (file, temporary) = create_temporary(path).map_err(failed)?;
    let made = write_and_link(file, &temporary, path, durability);
    // The created file has its final name now.
    let _ = std::fs::remove_file(&temporary);
    made.map_err(failed)
}

fn create_temporary(path: &Path) -> std::io::Result<(File, PathBuf)> {
    let names = (0..BESIDE_MAX).map(|number| with_suffix(path, &format!("-new{number}")));
    for name in names {
        match create_private(&name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (file, name)),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Writes the template to `file`, and gives it the name `path` by a hard link or a rename.
fn write_and_link(
    mut file: File,
    temporary: &Path,
    path: &Path,
    durability: Durability,
) -> std::io::Result<bool> {
    file.write_all(&template())?;
    if durability == Durability::Full {
        file.sync_all()?;
    }
    drop(file);
    match std::fs::hard_link(temporary, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        // A file system without hard links may still support renames.
        Err(_) => std::fs::rename(temporary, path)?,
        Ok(()) => {}
    }
    if durability == Durability::Full {
        sync_folder(path)?;
    }
    Ok(true)
}

/// Opens a read-write connection to a file that nobody else uses, and upgrades the file.
pub(super) fn open_unshared(path: &Path) -> Result<Connection, StoreError> {
    let mut conn = Connection::open(path)?;
    configure(&conn)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    MIGRATIONS.run(&mut conn, &mut ignore_progress)?;
    Ok(conn)
}
