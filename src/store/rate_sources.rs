//! The table `rate_sources`: sources of rates, with the result of the last request to each.

use super::statement::statements;
use crate::domain::{FigureSource, SourceState, Time};

statements! {
    row read(source, tried_at, told_at, problem) -> SourceState {
        Ok(SourceState { source, tried_at, told_at, problem })
    }

    /// Returns every source to which a request was sent.
    pub fn all(db) -> Vec<SourceState> = select "from rate_sources order by source";

    /// Records that a request to a source succeeded.
    pub fn record_success(tx, source: FigureSource, at: Time) =
        "insert into rate_sources (source, tried_at, told_at, problem) values (:source, :at, :at, null) \
            on conflict (source) do update set tried_at = :at, told_at = :at, problem = null";

    /// Records that a request to a source failed, with the reason.
    pub fn record_failure(tx, source: FigureSource, at: Time, problem: &str) =
        "insert into rate_sources (source, tried_at, told_at, problem) values (:source, :at, null, :problem) \
            on conflict (source) do update set tried_at = :at, problem = :problem";

    /// Deletes a source that is no longer used.
    pub fn forget(tx, source: FigureSource) = "delete from rate_sources where source = :source";
}
