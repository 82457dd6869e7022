//! The table `rate_sources`: who is asked for rates, and what came of it last.

use super::statement::{commands, rows};
use super::{Reader, StoreError, Tx};
use crate::domain::rate::{Source, SourceState};
use crate::domain::time::Time;
use rusqlite::named_params;

rows! {
    fn read(source, tried_at, told_at, problem) -> SourceState {
        Ok(SourceState { source, tried_at, told_at, problem })
    }
    ALL = select "from rate_sources order by source";
}

commands! {
    TOLD = "insert into rate_sources (source, tried_at, told_at, problem) values (:source, :at, :at, null) \
        on conflict (source) do update set tried_at = :at, told_at = :at, problem = null";
    FAILED = "insert into rate_sources (source, tried_at, told_at, problem) values (:source, :at, null, :problem) \
        on conflict (source) do update set tried_at = :at, problem = :problem";
    FORGET = "delete from rate_sources where source = :source";
}

/// Every source that was asked.
pub fn all(db: &Reader<'_>) -> Result<Vec<SourceState>, StoreError> {
    ALL.all(db, &[])
}

/// A source has told what it says.
pub fn told(tx: &Tx<'_>, source: Source, at: Time) -> Result<(), StoreError> {
    let params = named_params! { ":source": source, ":at": at };
    TOLD.run(tx, params).map(drop)
}

/// A source has told nothing, and why.
pub fn failed(tx: &Tx<'_>, source: Source, at: Time, problem: &str) -> Result<(), StoreError> {
    let params = named_params! { ":source": source, ":at": at, ":problem": problem };
    FAILED.run(tx, params).map(drop)
}

/// A source is not asked any more: what it said goes with it.
pub fn forget(tx: &Tx<'_>, source: Source) -> Result<(), StoreError> {
    FORGET
        .run(tx, named_params! { ":source": source })
        .map(drop)
}
