//! A pool of read-only connections.
//!
//! Invariant: no read waits for a connection. A read that finds no idle connection opens its own.

use super::connection::{READ_ONLY, prepare};
use super::health::Health;
use super::lock::{FilePlace, FoundPlace};
use super::{Reader, Refusing, StoreError};
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
/// Minimum number of idle connections. Below it, the pool adds one in the background.
const IDLE_MIN: u32 = 1;

/// A pool of read-only connections to one file.
pub(super) struct Readers {
    // Dropped before the thread, which may still use the pool.
    pool: Pool<Opener>,
    _thread: PoolThread,
    opener: Opener,
    health: Arc<Health>,
}

impl Readers {
    /// Creates the pool for a file, without waiting for its first connection.
    pub(super) fn new(path: &Path, place: Arc<FilePlace>, health: Arc<Health>) -> Readers {
        let opener = Opener::new(path, place);
        let thread = PoolThread::start();
        let pool = Pool::builder()
            .max_size(IDLE_MAX as u32)
            .min_idle(Some(IDLE_MIN))
            .idle_timeout(None)
            .max_lifetime(None)
            .test_on_check_out(false)
            .error_handler(Box::new(NopErrorHandler))
            .thread_pool(Arc::clone(&thread.0))
            .build_unchecked(opener.clone());
        Readers {
            pool,
            _thread: thread,
            opener,
            health,
        }
    }

    /// Runs `work` on the calling thread, on an idle or a new connection.
    pub(super) fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        match self.idle() {
            Some(mut pooled) => self.run(&mut pooled, work),
            None => self.run(&mut self.opener.connect()?, work),
        }
    }

    /// Takes an idle connection out of the pool.
    fn idle(&self) -> Option<PooledConnection<Opener>> {
        // With a timeout of zero, the call does not wait, but makes the pool add a connection for later reads.
        let ask_for_more = || self.pool.get_timeout(Duration::ZERO).ok();
        let newest = self.pool.try_get().or_else(ask_for_more)?;
        if newest.sqlite.is_none() {
            // This connection has not been opened yet. The next one in the pool may be open.
            return Some(self.pool.try_get().unwrap_or(newest));
        }
        Some(newest)
    }

    fn run<T, E: From<StoreError>>(
        &self,
        conn: &mut ReadConnection,
        work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let conn = match &mut conn.sqlite {
            Some(open) => open,
            unopened => unopened.insert(self.open()?),
        };
        work(&Reader::new(conn))
    }

    fn open(&self) -> Result<Connection, StoreError> {
        self.opener.open().inspect_err(|error| {
            // The writer finds this error later. Until then it would accept writes that are lost.
            if matches!(error, StoreError::Refusing(Refusing::FileMoved)) {
                self.health.refuse_moved();
            }
        })
    }
}

/// A connection that its first read opens.
///
/// The pool may add more connections than are needed in a burst of short reads, because it adds one at each checkout
/// below its minimum. As no read uses these connections, they are never opened.
#[derive(Default)]
struct ReadConnection {
    sqlite: Option<Connection>,
}

/// Opens connections to a file that is in its place.
#[derive(Clone)]
struct Opener {
    sqlite: Arc<SqliteConnectionManager>,
    place: Arc<FilePlace>,
}

impl Opener {
    fn new(path: &Path, place: Arc<FilePlace>) -> Opener {
        let sqlite = SqliteConnectionManager::file(path)
            .with_flags(READ_ONLY)
            .with_init(|conn| {
                prepare(conn)?;
                // At the first read SQLite opens the log and its index.
                conn.pragma_query_value(None, "schema_version", |_| Ok(()))
            });
        Opener {
            sqlite: Arc::new(sqlite),
            place,
        }
    }

    fn open(&self) -> Result<Connection, StoreError> {
        self.check_place()?;
        let opened = self.sqlite.connect();
        // The file may have been moved while it was opened. That explains an error, and after a success the
        // connection is to another file.
        self.check_place()?;
        Ok(opened?)
    }

    /// Fails if another file or another log is now at the path.
    fn check_place(&self) -> Result<(), StoreError> {
        match self.place.look() {
            FoundPlace::InPlace => Ok(()),
            FoundPlace::Moved | FoundPlace::Torn => Err(StoreError::Refusing(Refusing::FileMoved)),
        }
    }
}

impl ManageConnection for Opener {
    type Connection = ReadConnection;
    type Error = StoreError;

    /// Returns a connection that is not open yet.
    fn connect(&self) -> Result<ReadConnection, StoreError> {
        Ok(ReadConnection::default())
    }

    /// Never called by the pool. The place of the file is checked when a connection is opened.
    fn is_valid(&self, _: &mut ReadConnection) -> Result<(), StoreError> {
        self.check_place()
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
struct PoolThread(Arc<ScheduledThreadPool>);

impl PoolThread {
    fn start() -> PoolThread {
        let thread = ScheduledThreadPool::builder()
            .num_threads(1)
            .thread_name_pattern("coffer-readers")
            .on_drop_behavior(OnPoolDropBehavior::DiscardPendingScheduled)
            .build();
        PoolThread(Arc::new(thread))
    }

    /// Waits until the thread has run all its tasks.
    fn finish(&self) {
        let (finish, finished) = channel::<()>();
        self.0.execute(move || drop(finish));
        // Nothing is sent. The wait ends when the sender is dropped.
        let _ = finished.recv();
    }
}

impl Drop for PoolThread {
    fn drop(&mut self) {
        // While the thread adds a connection, it holds the pool. If it were the last to hold the pool, connections
        // would outlive the lock.
        self.finish();
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{
        Arc, Connection, FilePlace, IDLE_MAX, IDLE_MIN, Opener, Path, PooledConnection, Readers,
        Refusing, StoreError, channel,
    };
    use crate::domain::time::Time;
    use crate::store::connection::open_reader;
    use crate::store::file;
    use crate::store::paths::with_suffix;
    use rusqlite::named_params;
    use std::sync::Barrier;

    impl Readers {
        /// Waits until the pool has added the requested connections, and takes all of them.
        fn lock(&self) -> Vec<PooledConnection<Opener>> {
            self._thread.finish();
            std::iter::from_fn(|| self.pool.try_get()).collect()
        }
    }

    /// Runs `work` with the readers of a new file.
    fn with_readers(name: &str, work: impl FnOnce(&Path, &Readers)) {
        let name = format!("coffer-{name}-{}", crate::domain::id::new(Time(0)));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, crate::store::migrate::template()).unwrap();
        let place = FilePlace::locate(&path, &open_reader(&path).unwrap()).unwrap();
        let readers = Readers::new(&path, Arc::new(place), Arc::default());
        work(&path, &readers);
        drop(readers);
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(with_suffix(&path, suffix));
        }
    }

    #[test]
    fn read_of_a_moved_file_is_refused_and_refuses_writes() {
        let go = |path: &Path| std::fs::remove_file(path).unwrap();
        let replace = |path: &Path| {
            let other = with_suffix(path, "-other");
            std::fs::copy(path, &other).unwrap();
            std::fs::rename(other, path).unwrap();
        };
        let without_log = |path: &Path| std::fs::remove_file(with_suffix(path, "-wal")).unwrap();
        let harms: [&dyn Fn(&Path); 3] = [&go, &replace, &without_log];
        for harm in harms {
            with_readers("gone", |path, readers| {
                let read = |db: &crate::store::Reader<'_>| file::load(db).map(drop);
                let outcome = readers.read(|db| {
                    read(db)?;
                    harm(path);
                    // The only idle connection is in use, so this read opens another one.
                    let refused = readers.read(read);
                    assert!(
                        matches!(refused, Err(StoreError::Refusing(Refusing::FileMoved))),
                        "{refused:?}"
                    );
                    let refusing = readers.health.refusing();
                    assert_eq!(refusing, Some(Refusing::FileMoved), "no write is taken in");
                    // The connection that was open before continues to read.
                    read(db)
                });
                outcome.unwrap();
            });
        }
    }

    #[test]
    fn read_transaction_sees_one_snapshot() {
        with_readers("moment", |path, readers| {
            let writer = Connection::open(path).unwrap();
            let mut coins = ["BTC", "ETH"].into_iter();
            let mut write = || {
                let row = named_params! { ":asset": coins.next(), ":since": 0 };
                crate::store::coins_off::INSERT
                    .execute(&writer, row)
                    .unwrap();
            };
            let switched_off = |db: &crate::store::Reader<'_>| {
                let off = crate::store::coins_off::all(db)?;
                Ok::<_, StoreError>(off.len())
            };
            for at_one_moment in [true, false] {
                let mut twice = |db: &crate::store::Reader<'_>| {
                    let before = switched_off(db)?;
                    write();
                    Ok::<_, StoreError>(switched_off(db)? == before)
                };
                let same = if at_one_moment {
                    readers.read(|db| db.at_one_moment(twice))
                } else {
                    readers.read(|db| twice(db))
                };
                assert_eq!(same.unwrap(), at_one_moment);
            }
            assert_eq!(readers.read(switched_off).unwrap(), 2);
        });
    }

    #[test]
    fn forty_concurrent_reads_keep_sixteen_connections() {
        with_readers("readers", |_, readers| forty_reads(readers));
    }

    fn forty_reads(readers: &Readers) {
        // Each read waits until all reads have begun.
        let all_inside = Barrier::new(40);
        let read = || {
            readers.read(|db| {
                all_inside.wait();
                file::load(db).map(|row| row.is_none())
            })
        };
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..40).map(|_| scope.spawn(read)).collect();
            for one in all {
                let outcome: Result<bool, StoreError> = one.join().unwrap();
                assert!(outcome.unwrap());
            }
        });
        assert_eq!(readers.lock().len(), IDLE_MAX);
    }

    #[test]
    fn pool_has_an_idle_connection_before_the_first_read() {
        with_readers("idle", |_, readers| {
            readers._thread.finish();
            assert_eq!(readers.pool.state().idle_connections, IDLE_MIN);
        });
    }

    #[test]
    fn one_connection_serves_reads_one_after_the_other() {
        with_readers("one", |_, readers| {
            for _ in 0..3 * IDLE_MAX {
                // The next read also finds the connections that the pool has added.
                readers._thread.finish();
                readers.read(file::load).map(drop).unwrap();
            }
            let idle = readers.lock();
            let open = idle.iter().filter(|conn| conn.sqlite.is_some()).count();
            assert!(idle.len() > open);
            assert_eq!(open, 1);
        });
    }

    #[test]
    fn reads_nest_deeper_than_the_pool_is_large() {
        fn nested(readers: &Readers, depth: usize) -> Result<usize, StoreError> {
            readers.read(|db| {
                file::load(db)?;
                match depth {
                    0 => Ok(0),
                    _ => nested(readers, depth - 1).map(|below| below + 1),
                }
            })
        }
        with_readers("nested", |_, readers| {
            assert_eq!(nested(readers, 3 * IDLE_MAX).unwrap(), 3 * IDLE_MAX);
            assert_eq!(readers.lock().len(), IDLE_MAX);
        });
    }

    #[test]
    fn connection_left_in_a_transaction_is_not_used_again() {
        with_readers("left", |_, readers| {
            readers._thread.finish();
            let begin = |db: &crate::store::Reader<'_>| {
                db.conn.execute_batch("begin").map_err(StoreError::from)
            };
            // A second `begin` on the same connection would fail.
            for _ in 0..2 * IDLE_MAX {
                readers.read(begin).unwrap();
            }
        });
    }

    #[test]
    fn readers_are_dropped_only_after_their_thread_has_released_them() {
        with_readers("dropped", |path, readers| {
            let place = Arc::clone(&readers.opener.place);
            let dropped = Readers::new(path, place, Arc::default());
            let pool = dropped.pool.clone();
            let (go, gone) = channel::<()>();
            dropped._thread.0.execute(move || {
                let _ = gone.recv();
                drop(pool);
            });
            let dropping = std::thread::spawn(|| drop(dropped));
            for _ in 0..1000 {
                assert!(!dropping.is_finished());
                std::thread::yield_now();
            }
            drop(go);
            dropping.join().unwrap();
        });
    }
}
