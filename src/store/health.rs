//! Whether the store accepts writes, and why not.
//!
//! Invariant: a reason that only a restart ends stays until the restart.

use super::StoreError;
use rusqlite::ErrorCode;
use std::sync::{Mutex, PoisonError};

/// Extended error code `SQLITE_IOERR_SHMSIZE`: the `-shm` file could not grow. That file contains no data of its own.
const SHM_SIZE: i32 = 4874;

/// The reason why the store refuses writes. Reads continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusing {
    /// The disk is full. Writes resume when there is room again.
    DiskFull,
    /// Another program has locked the database. Writes resume when the lock is released.
    Locked,
    /// The disk failed. The system may have lost data, and may still report success at the next attempt. Only a
    /// restart ends this state, as it reads the data that is really on the disk.
    DiskFailed,
    /// The file or its log was moved or replaced, so writes would be lost. Only a restart ends this state.
    FileMoved,
}

impl Refusing {
    /// Returns `true` if only a restart ends this state.
    fn is_final(self) -> bool {
        match self {
            Refusing::DiskFull | Refusing::Locked => false,
            Refusing::DiskFailed | Refusing::FileMoved => true,
        }
    }

    /// Returns the reason for refusing writes that follows from an error of SQLite, if any.
    pub(super) fn from_error(error: &rusqlite::Error) -> Option<Refusing> {
        let failure = error.sqlite_error()?;
        match failure.code {
            ErrorCode::DiskFull => Some(Refusing::DiskFull),
            ErrorCode::DatabaseBusy => Some(Refusing::Locked),
            ErrorCode::SystemIoFailure if failure.extended_code == SHM_SIZE => {
                Some(Refusing::DiskFull)
            }
            ErrorCode::SystemIoFailure => Some(Refusing::DiskFailed),
            _ => None,
        }
    }
}

impl std::fmt::Display for Refusing {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Refusing::DiskFull => "the disk is full; writes are accepted again once there is space",
            Refusing::Locked => {
                "another program has locked the database; end its transaction, or that program"
            }
            Refusing::DiskFailed => {
                "the disk failed; check the disk, then restart"
            }
            Refusing::FileMoved => {
                "the file was moved, removed or replaced; stop the server, put it back with what was beside it, restart"
            }
        })
    }
}

/// Whether writes are accepted, shared by the writer and the readers.
#[derive(Default)]
pub(super) struct Health {
    refusing: Mutex<Option<Refusing>>,
}

impl Health {
    /// Returns the reason why writes are refused; `None` if they are accepted.
    pub(super) fn refusing(&self) -> Option<Refusing> {
        *self.refusing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails if writes are refused.
    ///
    /// # Errors
    /// [`StoreError::Refusing`] with the reason.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.refusing()
            .map_or(Ok(()), |why| Err(StoreError::Refusing(why)))
    }

    /// Returns `true` if writes are refused until a restart.
    pub(super) fn needs_restart(&self) -> bool {
        self.refusing().is_some_and(Refusing::is_final)
    }

    /// Refuses writes from now on if an error on the writer's connection is a reason.
    pub(super) fn observe(&self, error: &rusqlite::Error) {
        if let Some(why) = Refusing::from_error(error) {
            self.refuse(why, &error.to_string());
        }
    }

    /// Refuses writes from now on, and logs the reason with its cause. A reason that only a restart ends is kept.
    pub(super) fn refuse(&self, why: Refusing, cause: &str) {
        let mut refusing = self.refusing.lock().unwrap_or_else(PoisonError::into_inner);
        let stays = refusing.is_some_and(|before| before == why || before.is_final());
        if !stays {
            *refusing = Some(why);
            log::error!("writes refused: reason={why} cause={cause}");
        }
    }

    /// Refuses writes, as the file is out of its place. It is called by the thread that finds this first.
    pub(super) fn refuse_moved(&self) {
        self.refuse(Refusing::FileMoved, "its name is no longer its own");
    }

    /// Accepts writes again, unless a restart is needed.
    pub(super) fn recovered(&self) {
        let mut refusing = self.refusing.lock().unwrap_or_else(PoisonError::into_inner);
        if refusing.is_some_and(|why| !why.is_final()) {
            *refusing = None;
            log::warn!("writes accepted again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Health, Refusing};

    #[test]
    fn final_reason_stays_until_a_restart() {
        let health = Health::default();
        assert!(health.check().is_ok());
        health.refuse(Refusing::DiskFull, "a test");
        assert!(health.check().is_err() && !health.needs_restart());
        health.recovered();
        assert_eq!(health.refusing(), None);
        health.refuse(Refusing::DiskFull, "a test");
        health.refuse(Refusing::DiskFailed, "a test");
        health.refuse(Refusing::DiskFull, "a test");
        health.recovered();
        assert_eq!(health.refusing(), Some(Refusing::DiskFailed));
        assert!(health.needs_restart());
    }
}
