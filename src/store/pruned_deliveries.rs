//! Deletes old attempts and delivered deliveries. The table `pruned_deliveries` has, for each endpoint, the newest event
//! whose delivery was deleted.
//!
//! Invariant: only a delivered delivery without attempts is deleted, in the transaction that deletes its last attempt.

use super::statement::statements;
use super::{StoreError, Tx};
use crate::domain::Time;
use std::collections::{BTreeMap, BTreeSet};

statements! {
    /// Deletes at most `limit` attempts that were made before the time `before`, and returns the `seq` of their
    /// deliveries.
    ///
    /// Several attempts can share the stored response of the first of them. The first one is deleted after the others.
    fn delete_attempts(tx, before: Time, limit: u32) -> Vec<(delivery: i64)> =
        "delete from attempts where (delivery, number) in (select a.delivery, a.number from attempts a \
            where a.at < :before and not exists (select 1 from attempts b where b.delivery = a.delivery \
            and b.answer_of = a.number) order by a.at limit :limit) returning delivery";

    /// Deletes a delivery if it is delivered and has no attempts. Returns its endpoint, 0 for an invoice's own
    /// webhookUrl, and its event.
    fn delete_delivery(tx, seq: i64) -> Option<(endpoint: i64, event: i64)> =
        "delete from deliveries where seq = :seq and state = 'delivered' \
            and not exists (select 1 from attempts a where a.delivery = deliveries.seq) \
            returning ifnull(endpoint, 0) as endpoint, event";

    fn save_newest_event(tx, endpoint: i64, event: i64) =
        "insert into pruned_deliveries (endpoint, event) values (:endpoint, :event) \
            on conflict (endpoint) do update set event = max(event, excluded.event)";
}

/// Deletes at most `limit` attempts that were made before the time `before`, and the delivered deliveries that have no
/// attempts left. Returns `true` if there may be more.
pub fn prune(tx: &Tx<'_>, before: Time, limit: u32) -> Result<bool, StoreError> {
    let (mut left, mut newest) = (limit, BTreeMap::new());
    // The first pass deletes attempts that share a response. The second pass also deletes the attempt that has it.
    while left > 0 {
        let of_attempts = delete_attempts(tx, before, left)?;
        if of_attempts.is_empty() {
            break;
        }
        left = left.saturating_sub(u32::try_from(of_attempts.len()).unwrap_or(u32::MAX));
        for seq in of_attempts.into_iter().collect::<BTreeSet<_>>() {
            if let Some((endpoint, event)) = delete_delivery(tx, seq)? {
                let newest = newest.entry(endpoint).or_insert(event);
                *newest = event.max(*newest);
            }
        }
    }
    newest.into_iter().try_for_each(|(endpoint, event)| save_newest_event(tx, endpoint, event))?;
    Ok(left == 0)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::prune;
    use crate::domain::progress::ignore_progress;
    use crate::domain::{Time, id};
    use crate::store::paths::with_suffix;
    use crate::store::statement::statements;
    use crate::store::{Durability, Store, StoreOptions};
    use rusqlite::Connection;
    use std::path::PathBuf;

    /// Inserts an account's events 1 to 9. Each event has a delivered delivery of its number, without attempts, to the
    /// endpoint 7.
    const EVENTS: &str = "pragma foreign_keys = off;
        with recursive numbers (value) as (select 1 union all select value + 1 from numbers where value < 9)
        insert into event_rows (seq, id, account, mode, type, object_id, created_at, content)
          select value, 'evt_' || printf('%016d%08x00000000', 0, 0x80000000 | value), 1, 'test', 'x', 'o', 0, '{}'
          from numbers;
        insert into webhook_urls (seq, url) values (1, 'http://a');
        insert into webhook_queues (seq, account, origin) values (1, 1, 'http://a');
        insert into deliveries (seq, id, event, endpoint, url, queue, state, attempts, next_attempt_at)
          select seq, 'd' || seq, seq, 7, 1, 1, 'delivered', 1, null from event_rows";

    statements! {
        fn insert_attempt(conn, delivery: i64, number: i64, at: i64, status: i64, answer_of: Option<i64>) =
            "insert into attempts (delivery, number, at, status, latency_ms, answer, answer_of, format, signed_at, \
                service_signature, standard_signature) \
                values (:delivery, :number, :at, :status, 0, iif(:answer_of is null, 'answer', null), :answer_of, \
                'event', 0, 't=0,v1=0', 'v1,0')";

        fn set_state(conn, seq: i64, state: &str) =
            "update deliveries set state = :state, next_attempt_at = iif(:state = 'pending', 1, null) \
                where seq = :seq";

        fn remove_endpoint(conn, seq: i64) = "update deliveries set endpoint = null where seq = :seq";

        fn list_attempts(conn) -> (found: Option<String>) =
            "select group_concat(delivery || '.' || number, ' ' order by delivery, number) as found from attempts";

        fn list_deliveries(conn) -> (found: Option<String>) =
            "select group_concat(seq, ' ' order by seq) as found from deliveries";

        fn list_marks(conn) -> (found: Option<String>) =
            "select group_concat(endpoint || '.' || event, ' ' order by endpoint) as found from pruned_deliveries";
    }

    /// A file with the rows of [`EVENTS`].
    struct PlantedFile {
        path: PathBuf,
        store: Store,
        conn: Connection,
    }

    impl PlantedFile {
        /// Creates the file with these attempts: delivery, number, time, status, and the attempt with the same answer.
        fn new(attempts: &[(i64, i64, i64, i64, Option<i64>)]) -> PlantedFile {
            let path = std::env::temp_dir().join(format!("coffer-pruned-{}.db", id::new(Time(0))));
            let options = StoreOptions {
                path: path.clone(),
                durability: Durability::Process,
                create: true,
                kind: None,
                exclusive: false,
                tell: ignore_progress,
            };
            let store = Store::open(&options, Box::new(|_| {})).unwrap();
            let conn = Connection::open(&path).unwrap();
            conn.execute_batch(EVENTS).unwrap();
            for (delivery, number, at, status, answer_of) in attempts {
                insert_attempt(&conn, *delivery, *number, *at, *status, *answer_of).unwrap();
            }
            PlantedFile { path, store, conn }
        }

        /// Prunes attempts from before the time 100. Returns `true` if there may be more.
        fn prune(&self, limit: u32) -> bool {
            let pruned = self.store.submit_unrepeatable(move |tx| prune(tx, Time(100), limit));
            pruned.unwrap().blocking_recv().unwrap().unwrap()
        }

        /// Returns the text of a query, empty without rows.
        fn found(&self, query: fn(&Connection) -> rusqlite::Result<Option<String>>) -> String {
            query(&self.conn).unwrap().unwrap_or_default()
        }
    }

    impl Drop for PlantedFile {
        fn drop(&mut self) {
            for suffix in ["", "-wal", "-shm", "-lock"] {
                // The file may not exist.
                let _ = std::fs::remove_file(with_suffix(&self.path, suffix));
            }
        }
    }

    #[test]
    fn shared_response_is_deleted_after_the_attempts_that_share_it() {
        let file = PlantedFile::new(&[
            (1, 1, 10, 500, None),
            (1, 2, 20, 500, Some(1)),
            (1, 3, 30, 500, Some(1)),
            (1, 4, 40, 500, Some(1)),
            (1, 5, 50, 200, None),
        ]);
        for (attempts, deliveries, marks) in [
            ("1.1 1.4 1.5", "1 2 3 4 5 6 7 8 9", ""),
            ("1.1", "1 2 3 4 5 6 7 8 9", ""),
            ("", "2 3 4 5 6 7 8 9", "7.1"),
        ] {
            let may_be_more = file.prune(2);
            assert_eq!(may_be_more, !attempts.is_empty());
            assert_eq!(file.found(list_attempts), attempts);
            assert_eq!(
                (file.found(list_deliveries), file.found(list_marks)),
                (deliveries.into(), marks.into())
            );
        }
        assert!(!file.prune(2));
    }

    #[test]
    fn one_step_deletes_all_if_the_limit_allows() {
        let file = PlantedFile::new(&[
            (1, 1, 10, 500, None),
            (1, 2, 20, 500, Some(1)),
            (1, 3, 30, 200, None),
        ]);
        assert!(!file.prune(1000));
        assert_eq!(
            (file.found(list_attempts), file.found(list_marks)),
            (String::new(), "7.1".into())
        );
    }

    #[test]
    fn only_delivered_deliveries_without_attempts_are_deleted() {
        let file = PlantedFile::new(&[
            (1, 1, 10, 500, None),
            (2, 1, 10, 500, None),
            (3, 1, 99, 200, None),
            (4, 1, 99, 200, None),
            (5, 1, 99, 500, None),
            (5, 2, 100, 200, None),
            (6, 1, 99, 200, None),
            (6, 2, 100, 200, Some(1)),
            (7, 1, 100, 200, None),
        ]);
        for (seq, state) in [(1, "failed"), (2, "pending")] {
            set_state(&file.conn, seq, state).unwrap();
        }
        remove_endpoint(&file.conn, 4).unwrap();
        assert!(!file.prune(1000));
        assert_eq!(file.found(list_attempts), "5.2 6.1 6.2 7.1");
        assert_eq!(file.found(list_deliveries), "1 2 5 6 7 8 9");
        assert_eq!(file.found(list_marks), "0.4 7.3");
    }

    #[test]
    fn newest_event_is_kept_whatever_the_order() {
        let file = PlantedFile::new(&[
            (5, 1, 10, 200, None),
            (3, 1, 20, 200, None),
            (8, 1, 30, 200, None),
            (6, 1, 40, 200, None),
        ]);
        for (limit, marks) in [(1, "7.5"), (1, "7.5"), (2, "7.8")] {
            assert!(file.prune(limit));
            assert_eq!(file.found(list_marks), marks);
        }
        assert_eq!(file.found(list_deliveries), "1 2 4 7 9");
    }
}
