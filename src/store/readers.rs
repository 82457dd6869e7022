//! Connections to read with.
//!
//! What lives here: taking one and giving it back. What does not: what is read. What always holds: nobody waits for a
//! connection. Where none is idle one more is opened on the spot, so there are as many as threads that read at once.

use super::health::Health;
use super::lock::{Found, Place};
use super::open::open_reader;
use super::{Reader, Refusing, StoreError};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connections that are kept for the next read; what is given back beyond these is closed.
const IDLE_MAX: usize = 16;

/// Read-only connections to one file, opened when first needed.
pub(super) struct Readers {
    path: PathBuf,
    place: Arc<Place>,
    health: Arc<Health>,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    /// To this file; none is open yet.
    pub(super) fn new(path: &Path, place: Arc<Place>, health: Arc<Health>) -> Readers {
        Readers {
            path: path.to_owned(),
            place,
            health,
            idle: Mutex::default(),
        }
    }

    /// Reads on the calling thread.
    pub(super) fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let idle = self.lock().pop();
        let conn = match idle {
            Some(conn) => conn,
            None => self.open()?,
        };
        let outcome = work(&Reader {
            conn: &conn,
            health: None,
            memo: None,
        });
        let mut idle = self.lock();
        if idle.len() < IDLE_MAX {
            idle.push(conn);
        }
        outcome
    }

    /// One more; none to another file that has the name by now, nor beside another log.
    fn open(&self) -> Result<Connection, StoreError> {
        self.look_for_file()?;
        let opened = open_reader(&self.path).and_then(|conn| {
            // The first read, by which SQLite opens what it keeps beside the file.
            conn.pragma_query_value(None, "schema_version", |_| Ok(()))?;
            Ok(conn)
        });
        // It may have gone in between, which is then why that went wrong, or to what it was opened.
        self.look_for_file()?;
        opened
    }

    /// The writer finds out too, but later; no write is taken in after somebody was told.
    fn look_for_file(&self) -> Result<(), StoreError> {
        match self.place.look() {
            Found::InPlace => Ok(()),
            Found::Moved | Found::Torn => {
                self.health.refuse_moved();
                Err(StoreError::Refusing(Refusing::FileMoved))
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Connection>> {
        // Nothing in between can leave the list half changed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{
        Arc, Connection, IDLE_MAX, Path, Place, Readers, Refusing, StoreError, open_reader,
    };
    use crate::domain::time::Time;
    use crate::store::file;
    use crate::store::open::with_suffix;
    use rusqlite::named_params;
    use std::sync::Barrier;

    /// Does this with the readers of a new file.
    fn with_readers(name: &str, work: impl FnOnce(&Path, &Readers)) {
        let name = format!("coffer-{name}-{}", crate::domain::id::new(Time(0)));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, crate::store::migrate::template()).unwrap();
        let place = Place::of(&path, &open_reader(&path).unwrap()).unwrap();
        let readers = Readers::new(&path, Arc::new(place), Arc::default());
        work(&path, &readers);
        drop(readers);
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(with_suffix(&path, suffix));
        }
    }

    #[test]
    fn no_connection_is_opened_to_a_file_that_has_gone_and_the_writers_word_for_it_is_said() {
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
                    // The one connection is in use, so this asks for another.
                    let refused = readers.read(read);
                    assert!(
                        matches!(refused, Err(StoreError::Refusing(Refusing::FileMoved))),
                        "{refused:?}"
                    );
                    let refusing = readers.health.refusing();
                    assert_eq!(refusing, Some(Refusing::FileMoved), "no write is taken in");
                    // What was open reads on.
                    read(db)
                });
                outcome.unwrap();
            });
        }
    }

    #[test]
    fn what_belongs_together_is_read_at_one_moment() {
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
    fn forty_read_at_the_same_moment_and_sixteen_connections_are_kept() {
        with_readers("readers", |_, readers| are_kept(readers));
    }

    fn are_kept(readers: &Readers) {
        // Each is inside until all are.
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
}
