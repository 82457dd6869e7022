//! The table `rate_sources`: sources of rates, and the result of their last request.

use super::statement::{commands, rows};
use crate::domain::rate::{FigureSource, SourceState};
use crate::domain::time::Time;

rows! {
    fn read(source, tried_at, told_at, problem) -> SourceState {
        Ok(SourceState { source, tried_at, told_at, problem })
    }

    /// Returns every source that was asked.
    pub fn all(db) -> Vec<SourceState> = select "from rate_sources order by source";
}

commands! {
    /// Notes that a request of a source succeeded.
    pub fn succeeded(tx, source: FigureSource, at: Time) =
        "insert into rate_sources (source, tried_at, told_at, problem) values (:source, :at, :at, null) \
            on conflict (source) do update set tried_at = :at, told_at = :at, problem = null";

    /// Notes that a request of a source failed, and the reason.
    pub fn failed(tx, source: FigureSource, at: Time, problem: &str) =
        "insert into rate_sources (source, tried_at, told_at, problem) values (:source, :at, null, :problem) \
            on conflict (source) do update set tried_at = :at, problem = :problem";

    /// Deletes a source that is not asked any more.
    pub fn forget(tx, source: FigureSource) = "delete from rate_sources where source = :source";
}
