//! A server that is killed while it sends: no message is lost, and each is sent at most twice.
//!
//! `COFFER_MAILS` and `COFFER_MAIL_KILLS` set the numbers of messages and of kills.

use super::{FROM, count_query, queue_messages};
use crate::support::command::run_coffer;
use crate::support::installation::Installation;
use crate::support::polling::wait_until;
use crate::support::smtpd::Smtpd;
use rusqlite::OptionalExtension;
use std::collections::BTreeMap;

#[test]
fn messages_begin_with_the_next_event_after_a_restore() {
    let Some(smtpd) = Smtpd::start("e-mail after a restore") else { return };
    let served = Installation::new();
    let cursor = || -> Option<i64> {
        let found =
            served.open_file().query_row("select event from mail_cursor", [], |row| row.get(0));
        found.optional().unwrap()
    };
    let settings = ["--smtp", &smtpd.url(), "--smtp-from", FROM];
    drop(served.start(&settings));
    let first = cursor();
    assert!(first < Some(7), "{first:?}");
    let insert = "insert into event_rows (seq, id, account, mode, type, object_id, created_at, content) \
        values (7, 'evt_0000000000000000' || printf('%08x', 0x80000007), 1, 'test', 'invoice.created', 'in', 0, '{}')";
    served.open_file().execute(insert, []).unwrap();
    let copy = served.path("copy.db");
    run_coffer(&served.file, &["backup", copy.to_str().unwrap()]);
    drop(served.start(&settings));
    assert_eq!(cursor(), first, "a restart goes on where it was");
    run_coffer(&served.file, &["restore", copy.to_str().unwrap(), "--force"]);
    assert_eq!(cursor(), None);
    drop(served.start(&settings));
    assert_eq!(cursor(), Some(7));
    drop(served.start(&[]));
    assert_eq!(cursor(), None, "without a mail server nothing is queued later");
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures of a run with more messages")]
fn killed_server_loses_no_message_and_sends_none_three_times() {
    let Some(smtpd) = Smtpd::start("sending e-mail from a killed server") else { return };
    let (mails, kills) = (number("COFFER_MAILS", 300), number("COFFER_MAIL_KILLS", 5));
    let served = Installation::new();
    queue_messages(&served, 1..=mails);
    let settings = ["--smtp", &smtpd.url(), "--smtp-from", FROM];
    for kill in 1..=kills {
        let mut running = served.start(&settings);
        let enough = mails * kill / (kills + 1);
        assert!(wait_until(|| smtpd.messages().len() >= enough));
        running.process.kill();
    }
    let running = served.start(&settings);
    // A message that was on its way waits for five minutes.
    let doubtful =
        "select cast(count(*) as text) from mail_messages where state = 'pending' and doubts = 0";
    served.wait_for_query_result(doubtful, &["0"]);
    let due = "update mail_messages set next_attempt_at = 0 where state = 'pending'";
    served.open_file().execute(due, []).unwrap();
    drop(running);
    let _running = served.start(&settings);
    served.wait_for_query_result(&count_query("sent"), &[&mails.to_string()]);
    let mut counts = BTreeMap::new();
    for mail in smtpd.messages() {
        *counts.entry(mail.header("Message-ID").to_owned()).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), mails, "a message is lost");
    let twice = counts.values().filter(|count| **count == 2).count();
    assert!(counts.values().all(|count| *count <= 2), "{counts:?}");
    assert!(twice <= kills, "{twice} messages were sent twice");
    println!("{mails} messages, {kills} kills: {} sent once, {twice} sent twice", mails - twice);
}
