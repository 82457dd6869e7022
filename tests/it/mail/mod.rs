//! E-mail: messages in a sandbox, and sending through a real mail server.

mod killed;
mod receipts;
mod sending;
mod settings;
mod team;

use crate::support::installation::Installation;
use crate::support::polling::wait_until;
use rusqlite::Connection;
use std::path::Path;

/// Sender of the messages.
const FROM: &str = "Corner Shop <pay@shop.example>";

/// Queues messages with recipients `u1@example.com` and so on. The id and the subject have the number too.
#[track_caller]
fn queue_messages(served: &Installation, numbers: std::ops::RangeInclusive<usize>) {
    let mut conn = served.open_file();
    let tx = conn.transaction().unwrap();
    for number in numbers {
        let insert = "insert into mail_messages (id, kind, priority, recipient, language, subject, body, created_at, state, \
             attempts, doubts, is_sending, next_attempt_at) \
             values (?1, 'sale', 1, ?2, 'en', ?3, 'Hello' || char(10) || '.dot' || char(10), cast(unixepoch('subsec') * 1000 as integer), \
             'pending', 0, 0, 0, 0)";
        let texts = [
            format!("{number}@shop.example"),
            format!("u{number}@example.com"),
            format!("Sale {number}"),
        ];
        tx.execute(insert, texts).unwrap();
    }
    tx.commit().unwrap();
}

/// Opens the file of a sandbox once the messages of every event are queued.
#[track_caller]
fn open_with_all_messages(file: &Path) -> Connection {
    let conn = Connection::open(file).unwrap();
    let query = "select not exists (select 1 from event_rows where seq > (select event from mail_cursor) \
        and status_before is not null and type in ('invoice.confirmed', 'invoice.overpaid', 'invoice.underpaid', \
        'invoice.paid_late', 'deposit.confirmed'))";
    assert!(wait_until(|| conn.query_row(query, [], |row| row.get(0)).unwrap()));
    conn
}

/// Returns the query for the number of messages in this state.
fn count_query(state: &str) -> String {
    format!("select cast(count(*) as text) from mail_messages where state = '{state}'")
}
