//! The tables `mail_alarms` and `mail_summary_day`: alarms that the team is told of, and the last day with a summary.

use super::row::enum_as_text;
use super::statement::statements;
use crate::domain::{AlarmKind, AlarmState, Mode, Time};

enum_as_text!(AlarmKind);

/// A webhook endpoint that has failed for some time.
#[derive(Clone, Debug)]
pub struct FailingEndpoint {
    /// Public id.
    pub id: String,
    /// URL of the receiver.
    pub url: String,
    /// `seq` of the account.
    pub account: i64,
}

statements! {
    row read(name, kind, account, about, since, is_on, is_told, told_at, told_count) -> AlarmState {
        Ok(AlarmState { name, kind, account, about, since, is_on, is_told, told_at, told_count })
    }

    /// Returns every stored alarm, by name.
    pub fn all(db) -> Vec<AlarmState> = select "from mail_alarms order by name";

    row read_endpoint(p.id, p.url, p.account) -> FailingEndpoint {
        Ok(FailingEndpoint { id, url, account })
    }

    /// Returns the endpoints of all accounts that failed before a time and have accepted nothing since.
    pub fn failing_endpoints(db, mode: Mode, before: Time) -> Vec<FailingEndpoint> =
        file "sql/mail_alarms/failing_endpoints.sql";

    /// Returns the last day with a summary, in days since 1970.
    pub fn summary_day(db) -> Option<(day: i64)> = "select day from mail_summary_day where id = 1";

    /// Stores the state of an alarm.
    pub fn put(tx, state: &AlarmState) =
        file "sql/mail_alarms/put.sql"
        with {
            name: state.name, kind: state.kind, account: state.account, about: state.about, since: state.since,
            is_on: state.is_on, is_told: state.is_told, told_at: state.told_at, told_count: state.told_count,
        };

    /// Forgets an alarm.
    pub fn remove(tx, name: &str) = "delete from mail_alarms where name = :name";

    /// Forgets every alarm.
    pub fn remove_all(tx) = "delete from mail_alarms";

    /// Stores the last day with a summary.
    pub fn set_summary_day(tx, day: i64) =
        "insert into mail_summary_day (id, day) values (1, :day) on conflict (id) do update set day = excluded.day";
}
