//! Whether writes are taken in, and why not.
//!
//! What lives here: the one state, which the writer sets and everybody reads. What does not: what a caller is told
//! of it. What always holds: a reason that only a restart ends stays until the restart, whatever else fails or
//! succeeds.

use super::StoreError;
use rusqlite::ErrorCode;
use std::sync::{Mutex, PoisonError};

/// `SQLITE_IOERR_SHMSIZE`: the index beside the log could not grow. Nothing of the data is in it.
const SHM_SIZE: i32 = 4874;

/// Why no write is taken in; reads go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusing {
    /// The disk is full. It ends when there is room again.
    DiskFull,
    /// Another program holds the database locked. It ends when that lets go.
    Locked,
    /// The disk failed, so the system may have dropped what it was given, and say at the next attempt that all is
    /// well. Only a restart ends it, which reads what is really there.
    DiskFailed,
    /// The file, or what SQLite keeps beside it, is not where it was: what is written would be lost. Only a restart
    /// ends it.
    FileMoved,
}

impl Refusing {
    /// Does only a restart end it?
    fn is_final(self) -> bool {
        match self {
            Refusing::DiskFull | Refusing::Locked => false,
            Refusing::DiskFailed | Refusing::FileMoved => true,
        }
    }

    /// What this error of the database says of the disk.
    pub(super) fn of(error: &rusqlite::Error) -> Option<Refusing> {
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
            Refusing::DiskFull => "the disk is full; writes are taken again once there is room",
            Refusing::Locked => {
                "another program has locked the database; end its transaction, or that program, and writes are taken again"
            }
            Refusing::DiskFailed => {
                "the disk failed; look at it, then restart, which reads what is really there"
            }
            Refusing::FileMoved => {
                "the file was moved, removed or replaced; stop the server, put it back with what was beside it, restart"
            }
        })
    }
}

/// Are writes taken in?
#[derive(Default)]
pub(super) struct Health {
    refusing: Mutex<Option<Refusing>>,
}

impl Health {
    /// Why not, where they are not.
    pub(super) fn refusing(&self) -> Option<Refusing> {
        *self.refusing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes are taken in.
    ///
    /// # Errors
    /// [`StoreError::Refusing`] where they are not.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.refusing()
            .map_or(Ok(()), |why| Err(StoreError::Refusing(why)))
    }

    /// Does only a restart bring writes back?
    pub(super) fn needs_restart(&self) -> bool {
        self.refusing().is_some_and(Refusing::is_final)
    }

    /// Takes in what an error of the writer's connection says of the disk.
    pub(super) fn hear(&self, error: &rusqlite::Error) {
        if let Some(why) = Refusing::of(error) {
            self.refuse(why, &error.to_string());
        }
    }

    /// No write is taken in from now on; said once, with its cause.
    pub(super) fn refuse(&self, why: Refusing, cause: &str) {
        let mut refusing = self.refusing.lock().unwrap_or_else(PoisonError::into_inner);
        let stays = refusing.is_some_and(|before| before == why || before.is_final());
        if !stays {
            *refusing = Some(why);
            log::error!("writes are refused: {why} ({cause})");
        }
    }

    /// The file is not where it was: whoever finds it first refuses for all.
    pub(super) fn refuse_moved(&self) {
        self.refuse(Refusing::FileMoved, "its name is no longer its own");
    }

    /// A write was made: there is room again.
    pub(super) fn recovered(&self) {
        let mut refusing = self.refusing.lock().unwrap_or_else(PoisonError::into_inner);
        if refusing.is_some_and(|why| !why.is_final()) {
            *refusing = None;
            log::warn!("writes are taken again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Health, Refusing};

    #[test]
    fn what_only_a_restart_ends_stays() {
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
