//! Queries that find problems of a database file that an operator should fix. Checks of the environment are in `cli`.
//!
//! Invariant: a check only reads, and each problem comes with a fix.

use super::foreign_log::{explain, find_foreign_log};
use super::identity::{refuse_unreleased_file, schema_differences};
use super::lock::Lock;
use super::migrate::{MIGRATIONS, template};
use super::statement::{Query, query, statements};
use super::{Reader, StoreError, damage};
use crate::domain::Time;
use crate::domain::progress::to_count;
use rusqlite::named_params;
use std::path::Path;

/// A problem with its fix, as text for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    /// Description of the problem.
    pub about: String,
    /// Description of the fix.
    pub mend: String,
}

statements! {
    row read(about, mend) -> FileProblem {
        Ok(FileProblem { about, mend })
    }
}

/// Bytes and events of a file, from which its growth follows.
#[derive(Clone, Copy, Debug)]
pub struct FileUsage {
    /// Bytes in use beyond those of a new file.
    pub grown_bytes: u64,
    /// Bytes of pages that are used again before the file grows.
    pub free_bytes: u64,
    /// Number of events.
    pub events: u64,
    /// Number of recent events.
    pub recent_events: u64,
    /// Time of the first event.
    pub first_event_at: Option<Time>,
}

statements! {
    row read_usage(used_bytes: i64, free_bytes: i64, events: i64, first_event_at, recent_events: i64) -> FileUsage {
        let count = |count: i64| u64::try_from(count).unwrap_or_default();
        Ok(FileUsage {
            grown_bytes: count(used_bytes).saturating_sub(to_count(template().len())),
            free_bytes: count(free_bytes),
            events: count(events),
            recent_events: count(recent_events),
            first_event_at,
        })
    }

    /// Returns bytes and events of the file. Events since a time are recent.
    pub fn file_usage(db, since: Time) -> only FileUsage = file "sql/doctor/size.sql";
}

const CHECKS: [(&str, Query<FileProblem>); 11] = [
    ("clock", query!(read, file "sql/doctor/clock.sql")),
    ("operators", query!(read, file "sql/doctor/operators.sql")),
    ("accounts", query!(read, file "sql/doctor/accounts.sql")),
    ("keys", query!(read, file "sql/doctor/keys.sql")),
    ("payout addresses", query!(read, file "sql/doctor/payout_addresses.sql")),
    ("endpoints", query!(read, file "sql/doctor/endpoints.sql")),
    ("webhooks", query!(read, file "sql/doctor/deliveries.sql")),
    ("deadlines", query!(read, file "sql/doctor/deadlines.sql")),
    ("what waits for a person", query!(read, file "sql/doctor/unknown.sql")),
    ("payments", query!(read, file "sql/doctor/unbookable.sql")),
    ("maintenance", query!(read, file "sql/doctor/maintenance.sql")),
];

/// Returns the problem because of which a file must not be used. Reads the whole file. `None` if there is no problem or
/// no file. Neither locks nor reads a file from before the first release, which every reader refuses.
pub fn find_obstacle(path: &Path) -> Option<FileProblem> {
    refuse_unreleased_file(path).ok()?;
    let lock = Lock::shared(path).ok()?;
    if let Some(log) = find_foreign_log(&lock) {
        let (about, mend) = explain(lock.path(), &log);
        return Some(FileProblem { about, mend });
    }
    let found = damage::find_damage(&lock)?;
    let about = format!("{} is damaged: {found}", lock.path().display());
    Some(FileProblem { about, mend: damage::mend(lock.path()) })
}

/// Runs all checks. Returns the name of each check with the problems that it found.
pub fn run_checks(
    db: &Reader<'_>,
    now: Time,
) -> Result<Vec<(&'static str, Vec<FileProblem>)>, StoreError> {
    let mut found = Vec::new();
    for (about, query) in CHECKS {
        // Some queries have no `:now`, and binding a missing parameter fails.
        let complaints = if query.sql().contains(":now") {
            query.get(db, named_params! { ":now": now })?
        } else {
            query.get(db, &[])?
        };
        found.push((about, complaints));
    }
    let strangers = schema_differences(db.conn, MIGRATIONS.newest())?.into_iter();
    let complaints = strangers.map(|finding| FileProblem {
        about: format!("{} is {}", finding.about, finding.is),
        mend: "find out who changed it, then restore a backup or make it as in a new file"
            .to_owned(),
    });
    found.push(("schema", complaints.collect()));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::CHECKS;
    use crate::store::statement::check;

    #[test]
    fn every_check_returns_problems() {
        for (_, query) in CHECKS {
            check(query.sql(), &["about", "mend"]);
        }
    }
}
