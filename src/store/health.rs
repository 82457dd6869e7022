//! The health of the store: whether writes are accepted, and if not, the reason.
//!
//! Invariant: after damage, a disk failure or a move of the file, writes are refused until a restart.

use super::StoreError;
use rusqlite::ErrorCode;
use std::sync::{Mutex, PoisonError};

/// Extended error code `SQLITE_IOERR_SHMSIZE`: the `-shm` file could not grow. That file contains no data of its own.
const SHM_SIZE: i32 = 4874;

/// The reason why the store refuses writes. Reads continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteRefusal {
    /// The disk is full. Writes resume when there is room again.
    DiskFull,
    /// Another program has locked the database. Writes resume when the lock is released.
    Locked,
    /// The disk failed. The system may have lost data, and may still report success at the next attempt. Only a
    /// restart ends this state, because the restarted server reads the data that is really on the disk.
    DiskFailed,
    /// The file or its log was moved or replaced, so writes would be lost. Only a restart ends this state.
    FileMoved,
    /// The content of the file is damaged. The file has to be restored.
    FileDamaged,
}

impl WriteRefusal {
    /// Returns `true` if the refusal lasts until a restart.
    fn is_final(self) -> bool {
        match self {
            WriteRefusal::DiskFull | WriteRefusal::Locked => false,
            WriteRefusal::DiskFailed | WriteRefusal::FileMoved | WriteRefusal::FileDamaged => true,
        }
    }

    /// Returns the reason for refusing writes that follows from an error of SQLite, if any.
    pub(super) fn from_error(error: &rusqlite::Error) -> Option<WriteRefusal> {
        let failure = error.sqlite_error()?;
        match failure.code {
            ErrorCode::DiskFull => Some(WriteRefusal::DiskFull),
            ErrorCode::DatabaseBusy => Some(WriteRefusal::Locked),
            ErrorCode::SystemIoFailure if failure.extended_code == SHM_SIZE => {
                Some(WriteRefusal::DiskFull)
            }
            ErrorCode::SystemIoFailure => Some(WriteRefusal::DiskFailed),
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Some(WriteRefusal::FileDamaged),
            _ => None,
        }
    }
}

impl std::fmt::Display for WriteRefusal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            WriteRefusal::DiskFull => "the disk is full; writes are accepted again once there is space",
            WriteRefusal::Locked => {
                "another program has locked the database; end its transaction, or that program"
            }
            WriteRefusal::DiskFailed => {
                "the disk failed; check the disk, then restart"
            }
            WriteRefusal::FileMoved => {
                "the file was moved, removed or replaced; stop the server, put it back with what was beside it, restart"
            }
            WriteRefusal::FileDamaged => {
                "the file is damaged; stop the server, go back to a backup with `coffer restore`, restart"
            }
        })
    }
}

/// Errors of a connection that change the health of the store.
#[derive(Clone, Copy)]
pub(super) enum ReportedErrors<'c> {
    /// No errors. For connections outside a store.
    None,
    /// Damage of the file. For connections that only read.
    Damage(&'c Health),
    /// All errors. For the writer's connection.
    All(&'c Health),
}

impl ReportedErrors<'_> {
    /// Refuses writes from now on if this error of the connection requires a refusal. Returns the error of the store.
    pub(super) fn report(self, error: rusqlite::Error) -> StoreError {
        match self {
            ReportedErrors::None => error.into(),
            ReportedErrors::Damage(health) => health.refuse_after_damage(error),
            ReportedErrors::All(health) => {
                health.refuse_after_error(&error);
                health.refuse_after_damage(error)
            }
        }
    }
}

/// State that the writer and the readers share: whether the store accepts writes.
#[derive(Default)]
pub(super) struct Health {
    refusing: Mutex<Option<WriteRefusal>>,
}

impl Health {
    /// Returns the reason why writes are refused; `None` if they are accepted.
    pub(super) fn refusal(&self) -> Option<WriteRefusal> {
        *self.refusing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails if writes are refused.
    pub(super) fn check_writable(&self) -> Result<(), StoreError> {
        self.refusal().map_or(Ok(()), |why| Err(StoreError::Refusing(why)))
    }

    /// Returns `true` if writes are refused until a restart.
    pub(super) fn needs_restart(&self) -> bool {
        self.refusal().is_some_and(WriteRefusal::is_final)
    }

    /// Refuses writes from now on if this error of the writer's connection requires a refusal.
    pub(super) fn refuse_after_error(&self, error: &rusqlite::Error) {
        if let Some(why) = WriteRefusal::from_error(error) {
            self.refuse_writes(why, &error.to_string());
        }
    }

    /// Refuses writes from now on if this error, of any connection, means that the file is damaged. Returns the error of
    /// the store.
    pub(super) fn refuse_after_damage(&self, error: rusqlite::Error) -> StoreError {
        match StoreError::from(error) {
            StoreError::Damaged(cause) => {
                self.refuse_writes(WriteRefusal::FileDamaged, &cause);
                StoreError::Refusing(WriteRefusal::FileDamaged)
            }
            error => error,
        }
    }

    /// Refuses writes from now on, and logs the reason with its cause. An earlier reason that requires a restart is
    /// kept.
    pub(super) fn refuse_writes(&self, why: WriteRefusal, cause: &str) {
        let mut refusing = self.refusing.lock().unwrap_or_else(PoisonError::into_inner);
        let stays = refusing.is_some_and(|before| before == why || before.is_final());
        if !stays {
            *refusing = Some(why);
            log::error!("writes refused: cause={cause:?} reason={why}");
        }
    }

    /// Refuses writes, because the file is not in its place. Called by the thread that first notices the move.
    pub(super) fn refuse_moved_file(&self) {
        self.refuse_writes(WriteRefusal::FileMoved, "its name is no longer its own");
    }

    /// Accepts writes again, unless a restart is needed.
    pub(super) fn accept_writes(&self) {
        let mut refusing = self.refusing.lock().unwrap_or_else(PoisonError::into_inner);
        if refusing.is_some_and(|why| !why.is_final()) {
            *refusing = None;
            log::warn!("writes accepted again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Health, WriteRefusal};

    #[test]
    fn final_refusal_stays_until_a_restart() {
        let health = Health::default();
        assert!(health.check_writable().is_ok());
        health.refuse_writes(WriteRefusal::DiskFull, "a test");
        assert!(health.check_writable().is_err() && !health.needs_restart());
        health.accept_writes();
        assert_eq!(health.refusal(), None);
        health.refuse_writes(WriteRefusal::DiskFull, "a test");
        health.refuse_writes(WriteRefusal::DiskFailed, "a test");
        health.refuse_writes(WriteRefusal::DiskFull, "a test");
        health.accept_writes();
        assert_eq!(health.refusal(), Some(WriteRefusal::DiskFailed));
        assert!(health.needs_restart());
    }
}
