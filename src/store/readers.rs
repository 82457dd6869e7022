//! Connections to read with.
//!
//! What lives here: taking one and giving it back. What does not: what is read. What always holds: nobody waits for a
//! connection. Where none is idle one more is opened on the spot, so there are as many as threads that read at once.

use super::lock::{Found, Place};
use super::open::open_reader;
use super::{Reader, StoreError};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connections that are kept for the next read; what is given back beyond these is closed.
const IDLE_MAX: usize = 16;

/// Read-only connections to one file, opened when first needed.
pub(super) struct Readers {
    path: PathBuf,
    place: Arc<Place>,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    /// To this file; none is open yet.
    pub(super) fn new(path: &Path, place: Arc<Place>) -> Readers {
        Readers {
            path: path.to_owned(),
            place,
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
        });
        let mut idle = self.lock();
        if idle.len() < IDLE_MAX {
            idle.push(conn);
        }
        outcome
    }

    /// One more; none to another file that has the name by now.
    fn open(&self) -> Result<Connection, StoreError> {
        let conn = open_reader(&self.path)?;
        if self.place.look() == Found::InPlace {
            return Ok(conn);
        }
        let message = format!("{} is another file by now", self.path.display());
        Err(StoreError::Failed(message))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Connection>> {
        // Nothing in between can leave the list half changed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Arc, IDLE_MAX, Place, Readers, StoreError, open_reader};
    use crate::domain::time::Time;
    use crate::store::file;
    use std::sync::Barrier;

    #[test]
    fn forty_read_at_the_same_moment_and_sixteen_connections_are_kept() {
        let name = format!("coffer-readers-{}", crate::domain::id::new(Time(0)));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, crate::store::migrate::TEMPLATE).unwrap();
        let place = Place::of(&path, &open_reader(&path).unwrap()).unwrap();
        let readers = Readers::new(&path, Arc::new(place));
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
        drop(readers);
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(crate::store::open::with_suffix(&path, suffix));
        }
    }
}
