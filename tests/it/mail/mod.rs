//! E-mail: messages in a sandbox, and sending through a real mail server.

mod killed;
mod receipts;
mod sending;
mod settings;
mod team;

use crate::support::installation::Installation;

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

/// Returns the query for the number of messages in this state.
fn count_query(state: &str) -> String {
    format!("select cast(count(*) as text) from mail_messages where state = '{state}'")
}
