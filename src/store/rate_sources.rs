//! The table `rate_sources`: who is asked for rates, and what came of it last.

use super::statement::{commands, rows};
use crate::domain::rate::{FigureSource, SourceState};
use crate::domain::time::Time;

rows! {
    fn read(source, tried_at, told_at, problem) -> SourceState {
        Ok(SourceState { source, tried_at, told_at, problem })
    }

    /// Every source that was asked.
    pub fn all(db) -> Vec<SourceState> = select "from rate_sources order by source";
}

commands! {
    /// A source has told what it says.
    pub fn told(tx, source: FigureSource, at: Time) =
        "insert into rate_sources (source, tried_at, told_at, problem) values (:source, :at, :at, null) \
            on conflict (source) do update set tried_at = :at, told_at = :at, problem = null";

    /// A source has told nothing, and why.
    pub fn failed(tx, source: FigureSource, at: Time, problem: &str) =
        "insert into rate_sources (source, tried_at, told_at, problem) values (:source, :at, null, :problem) \
            on conflict (source) do update set tried_at = :at, problem = :problem";

    /// A source is not asked any more: what it said goes with it.
    pub fn forget(tx, source: FigureSource) = "delete from rate_sources where source = :source";
}
