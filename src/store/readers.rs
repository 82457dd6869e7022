//! A pool of read-only connections.
//!
//! Invariant: no read waits for a connection. A read that finds no idle connection opens its own.

use super::connection::{READ_ONLY, configure, create_views};
use super::health::Health;
use super::lock::{FilePlace, PlaceState};
use super::{Reader, StoreError, WriteRefusal};
use r2d2::{ManageConnection, NopErrorHandler, Pool, PooledConnection};
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::Connection;
use scheduled_thread_pool::{OnPoolDropBehavior, ScheduledThreadPool};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Maximum number of connections in the pool. Further connections are closed after their read.
const IDLE_MAX: usize = 16;
/// Minimum number of idle connections. If there are fewer, the pool adds a connection in the background.
const IDLE_MIN: u32 = 1;

pub(super) struct Readers {
    // Declared before `_thread`, and so dropped first: the thread may still use the pool.
    pool: Pool<ConnectionOpener>,
    _thread: PoolMaintenance,
    opener: ConnectionOpener,
    health: Arc<Health>,
}

impl Readers {
    /// Creates the pool for a file, without waiting for its first connection.
    pub(super) fn new(path: &Path, place: Arc<FilePlace>, health: Arc<Health>) -> Readers {
        let opener = ConnectionOpener::new(path, place);
        let thread = PoolMaintenance::start();
        let pool = Pool::builder()
            .max_size(IDLE_MAX as u32)
            .min_idle(Some(IDLE_MIN))
            .idle_timeout(None)
            .max_lifetime(None)
            .test_on_check_out(false)
            .error_handler(Box::new(NopErrorHandler))
            .thread_pool(Arc::clone(&thread.0))
            .build_unchecked(opener.clone());
        Readers { pool, _thread: thread, opener, health }
    }

    /// Runs `work` on the calling thread, on an idle or a new connection.
    pub(super) fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        match self.take_idle() {
            Some(mut pooled) => self.read_on_conn(&mut pooled, work),
            None => self.read_on_conn(&mut self.opener.connect()?, work),
        }
    }

    fn take_idle(&self) -> Option<PooledConnection<ConnectionOpener>> {
        // With a timeout of zero, the call does not wait. It makes the pool add a connection for later reads.
        let ask_for_more = || self.pool.get_timeout(Duration::ZERO).ok();
        let newest = self.pool.try_get().or_else(ask_for_more)?;
        if newest.sqlite.is_none() {
            // This connection has not been opened yet. The next connection in the pool may be open.
            return Some(self.pool.try_get().unwrap_or(newest));
        }
        Some(newest)
    }

    fn read_on_conn<T, E: From<StoreError>>(
        &self,
        conn: &mut ReadConnection,
        work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let conn = match &mut conn.sqlite {
            Some(open) => open,
            unopened => unopened.insert(self.opener.open(&self.health)?),
        };
        work(&Reader::pooled(conn, &self.health))
    }
}

/// A connection that is opened by its first read.
///
/// In a burst of short reads, the pool may add more connections than are needed. A connection that no read uses is
/// never opened.
#[derive(Default)]
struct ReadConnection {
    sqlite: Option<Connection>,
}

/// Opens connections to a file that is in its place.
#[derive(Clone)]
struct ConnectionOpener {
    sqlite: Arc<SqliteConnectionManager>,
    place: Arc<FilePlace>,
}

impl ConnectionOpener {
    fn new(path: &Path, place: Arc<FilePlace>) -> ConnectionOpener {
        let sqlite = SqliteConnectionManager::file(path).with_flags(READ_ONLY).with_init(|conn| {
            configure(conn)?;
            // At the first read SQLite opens the log and its index.
            conn.pragma_query_value(None, "schema_version", |_| Ok(()))?;
            create_views(conn)
        });
        ConnectionOpener { sqlite: Arc::new(sqlite), place }
    }

    /// Opens a connection. If the file was moved or is damaged, writes are refused from now on, because the writer
    /// notices this only later.
    fn open(&self, health: &Health) -> Result<Connection, StoreError> {
        let check_place = || self.check_file_place().inspect_err(|_| health.refuse_moved_file());
        check_place()?;
        let opened = self.sqlite.connect();
        // The file may have been moved meanwhile. Then the connection may be to another file, and an error may be due
        // to the move.
        check_place()?;
        opened.map_err(|error| health.refuse_after_damage(error))
    }

    /// Fails if another file or another log is now at the path.
    fn check_file_place(&self) -> Result<(), StoreError> {
        match self.place.current_state() {
            PlaceState::InPlace => Ok(()),
            PlaceState::Moved | PlaceState::Torn => {
                Err(StoreError::Refusing(WriteRefusal::FileMoved))
            }
        }
    }
}

impl ManageConnection for ConnectionOpener {
    type Connection = ReadConnection;
    type Error = StoreError;

    /// Returns a connection that is not open yet.
    fn connect(&self) -> Result<ReadConnection, StoreError> {
        Ok(ReadConnection::default())
    }

    /// Never called by the pool. The place of the file is checked when a connection is opened.
    fn is_valid(&self, _: &mut ReadConnection) -> Result<(), StoreError> {
        self.check_file_place()
    }

    /// Returns `true` for a connection with an open transaction, because its next read would see old rows.
    fn has_broken(&self, conn: &mut ReadConnection) -> bool {
        let open = conn.sqlite.as_ref();
        open.is_some_and(|open| !open.is_autocommit())
    }
}

/// The thread on which the pool adds connections.
///
/// Invariant: after the thread is dropped, no connection of the pool is open. The lock on the file relies on this.
struct PoolMaintenance(Arc<ScheduledThreadPool>);

impl PoolMaintenance {
    fn start() -> PoolMaintenance {
        let thread = ScheduledThreadPool::builder()
            .num_threads(1)
            .thread_name_pattern("coffer-readers")
            .on_drop_behavior(OnPoolDropBehavior::DiscardPendingScheduled)
            .build();
        PoolMaintenance(Arc::new(thread))
    }

    fn wait_until_idle(&self) {
        let (finish, finished) = channel::<()>();
        self.0.execute(move || drop(finish));
        // Nothing is sent. The wait ends when the sender is dropped.
        let _ = finished.recv();
    }
}

impl Drop for PoolMaintenance {
    fn drop(&mut self) {
        // While the thread adds a connection, it keeps the pool alive. Without this wait, connections could outlive
        // the lock on the file.
        self.wait_until_idle();
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
