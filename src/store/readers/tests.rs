//! Tests the connections of the pool, and reads of a moved file.

use super::{
    Arc, Connection, ConnectionOpener, FilePlace, IDLE_MAX, IDLE_MIN, Path, PooledConnection,
    Readers, StoreError, WriteRefusal, channel,
};
use crate::domain::Time;
use crate::store::connection::open_reader;
use crate::store::file;
use crate::store::paths::with_suffix;
use crate::store::statement::statements;
use std::sync::Barrier;

statements! {
    fn insert_coin(conn, asset: Option<&str>) = "insert into coins_off (asset, since) values (:asset, 0)";
}

impl Readers {
    /// Waits until the pool has added the requested connections, and takes all of them.
    fn take_all_idle(&self) -> Vec<PooledConnection<ConnectionOpener>> {
        self._thread.wait_until_idle();
        std::iter::from_fn(|| self.pool.try_get()).collect()
    }
}

/// Runs `work` with the readers of a new file.
fn run_with_readers(name: &str, work: impl FnOnce(&Path, &Readers)) {
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
fn read_of_a_moved_file_fails_and_stops_writes() {
    let go = |path: &Path| std::fs::remove_file(path).unwrap();
    let replace = |path: &Path| {
        let other = with_suffix(path, "-other");
        std::fs::copy(path, &other).unwrap();
        std::fs::rename(other, path).unwrap();
    };
    let without_log = |path: &Path| std::fs::remove_file(with_suffix(path, "-wal")).unwrap();
    let harms: [&dyn Fn(&Path); 3] = [&go, &replace, &without_log];
    for harm in harms {
        run_with_readers("gone", |path, readers| {
            let read = |db: &crate::store::Reader<'_>| file::read_file_row(db).map(drop);
            let outcome = readers.read(|db| {
                read(db)?;
                harm(path);
                // The only idle connection is in use, so this read opens another one.
                let refused = readers.read(read);
                assert!(
                    matches!(refused, Err(StoreError::Refusing(WriteRefusal::FileMoved))),
                    "{refused:?}"
                );
                let refusing = readers.health.refusal();
                assert_eq!(refusing, Some(WriteRefusal::FileMoved), "no write is taken in");
                // The connection that was open before the move continues to read.
                read(db)
            });
            outcome.unwrap();
        });
    }
}

#[test]
fn read_transaction_sees_one_snapshot() {
    run_with_readers("moment", |path, readers| {
        let writer = Connection::open(path).unwrap();
        let mut coins = ["BTC", "ETH"].into_iter();
        let mut write = || {
            insert_coin(&writer, coins.next()).unwrap();
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
                readers.read(|db| db.run_on_snapshot(twice))
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
    run_with_readers("readers", |_, readers| run_forty_reads(readers));
}

fn run_forty_reads(readers: &Readers) {
    // Each read waits until all reads have begun.
    let all_inside = Barrier::new(40);
    let read = || {
        readers.read(|db| {
            all_inside.wait();
            file::read_file_row(db).map(|row| row.is_none())
        })
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..40).map(|_| scope.spawn(read)).collect();
        for one in all {
            let outcome: Result<bool, StoreError> = one.join().unwrap();
            assert!(outcome.unwrap());
        }
    });
    assert_eq!(readers.take_all_idle().len(), IDLE_MAX);
}

#[test]
fn pool_has_an_idle_connection_before_the_first_read() {
    run_with_readers("idle", |_, readers| {
        readers._thread.wait_until_idle();
        assert_eq!(readers.pool.state().idle_connections, IDLE_MIN);
    });
}

#[test]
fn one_connection_serves_reads_one_after_the_other() {
    run_with_readers("one", |_, readers| {
        for _ in 0..3 * IDLE_MAX {
            // The next read also finds the connections that the pool has added.
            readers._thread.wait_until_idle();
            readers.read(file::read_file_row).map(drop).unwrap();
        }
        let idle = readers.take_all_idle();
        let open = idle.iter().filter(|conn| conn.sqlite.is_some()).count();
        assert!(idle.len() > open);
        assert_eq!(open, 1);
    });
}

#[test]
fn nested_reads_may_exceed_the_pool_size() {
    fn read_nested(readers: &Readers, depth: usize) -> Result<usize, StoreError> {
        readers.read(|db| {
            file::read_file_row(db)?;
            match depth {
                0 => Ok(0),
                _ => read_nested(readers, depth - 1).map(|below| below + 1),
            }
        })
    }
    run_with_readers("nested", |_, readers| {
        assert_eq!(read_nested(readers, 3 * IDLE_MAX).unwrap(), 3 * IDLE_MAX);
        assert_eq!(readers.take_all_idle().len(), IDLE_MAX);
    });
}

#[test]
fn connection_with_open_transaction_is_not_reused() {
    run_with_readers("left", |_, readers| {
        readers._thread.wait_until_idle();
        let begin = |db: &crate::store::Reader<'_>| {
            db.conn.execute_batch("begin").map_err(StoreError::from)
        };
        // If a read got a connection with an open transaction, its `begin` would fail.
        for _ in 0..2 * IDLE_MAX {
            readers.read(begin).unwrap();
        }
    });
}

#[test]
fn dropping_readers_waits_for_the_pool_thread() {
    run_with_readers("dropped", |path, readers| {
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
