//! Sending through a mail server that is away, slow, refuses, greylists or requires TLS.

use super::{FROM, count_query, queue_messages};
use crate::support::installation::{Installation, RunningServer};
use crate::support::polling::wait_until;
use crate::support::smtpd::{Smtpd, SmtpdTls};

const UNTESTED: &str = "sending e-mail";

fn start(served: &Installation, url: &str) -> RunningServer {
    served.start(&["--smtp", url, "--smtp-from", FROM])
}

/// Makes every waiting message due, as its time does.
fn make_due(served: &Installation) {
    let due = "update mail_messages set next_attempt_at = 0 where state = 'pending'";
    served.open_file().execute(due, []).unwrap();
}

fn problem_query() -> &'static str {
    "select problem from mail_messages where problem is not null limit 1"
}

#[test]
fn message_is_sent_once_with_its_headers() {
    let Some(smtpd) = Smtpd::start(UNTESTED) else { return };
    let served = Installation::new();
    queue_messages(&served, 1..=3);
    let running = start(&served, &smtpd.url());
    served.wait_for_query_result(&count_query("sent"), &["3"]);
    let sent = smtpd.messages();
    assert_eq!(sent.len(), 3);
    for (number, mail) in (1..).zip(&sent) {
        assert_eq!(mail.from, "pay@shop.example");
        assert_eq!(mail.to, [format!("u{number}@example.com")]);
        assert_eq!(mail.header("Message-ID"), format!("<{number}@shop.example>"));
        assert_eq!(mail.header("Subject"), format!("Sale {number}"));
        assert!(mail.header("Date").ends_with(" +0000"), "{}", mail.header("Date"));
        assert_eq!(mail.header("Auto-Submitted"), "auto-generated");
        assert!(mail.text.ends_with("\n\nHello\n.dot\n"), "{:?}", mail.text);
    }
    drop(running);
    drop(start(&served, &smtpd.url()));
    assert_eq!(smtpd.messages().len(), 3, "a restart sends nothing again");
}

#[test]
fn refused_message_is_given_up_and_the_next_one_sent() {
    let Some(smtpd) = Smtpd::start(UNTESTED) else { return };
    for (mode, problem) in [("refuse", "550 5.1.1 no such user"), ("refuse_text", "554 5.7.1 spam")]
    {
        let served = Installation::new();
        smtpd.set_mode(mode);
        queue_messages(&served, 1..=1);
        let before = smtpd.messages().len();
        let _running = start(&served, &smtpd.url());
        served.wait_for_query_result(&count_query("failed"), &["1"]);
        served.wait_for_query_result(problem_query(), &[problem]);
        smtpd.set_mode("accept");
        queue_messages(&served, 2..=2);
        make_due(&served);
        let sent = smtpd.wait_for_messages(before + 1);
        assert_eq!(sent[before].to, ["u2@example.com"]);
    }
}

#[test]
fn greylisted_message_is_sent_later() {
    let Some(smtpd) = Smtpd::start(UNTESTED) else { return };
    let served = Installation::new();
    smtpd.set_mode("greylist");
    queue_messages(&served, 1..=2);
    let _running = start(&served, &smtpd.url());
    let waits = "select cast(count(*) as text) from mail_messages \
        where state = 'pending' and attempts = 1 and problem like '450 %' and next_attempt_at > created_at";
    served.wait_for_query_result(waits, &["2"]);
    assert!(smtpd.messages().is_empty());
    make_due(&served);
    let sent = smtpd.wait_for_messages(2);
    assert_eq!(sent[0].header("Message-ID"), "<1@shop.example>");
    served.wait_for_query_result(&count_query("sent"), &["2"]);
}

#[test]
fn temporary_refusal_of_a_text_is_tried_again() {
    let Some(smtpd) = Smtpd::start(UNTESTED) else { return };
    let served = Installation::new();
    smtpd.set_mode("later");
    queue_messages(&served, 1..=1);
    let _running = start(&served, &smtpd.url());
    served.wait_for_query_result(problem_query(), &["451 4.3.0 later"]);
    smtpd.set_mode("accept");
    make_due(&served);
    smtpd.wait_for_messages(1);
    let query = "select state || attempts || doubts from mail_messages";
    served.wait_for_query_result(query, &["sent20"]);
}

#[test]
fn messages_wait_while_the_mail_server_is_away() {
    let Some(mut smtpd) = Smtpd::start(UNTESTED) else { return };
    let served = Installation::new();
    queue_messages(&served, 1..=2);
    smtpd.stop();
    let log = served.path("log");
    let settings = ["--smtp", &smtpd.url(), "--smtp-from", FROM];
    let running = served.start_with_log_and_settings("info", &log, &settings);
    let said = || std::fs::read_to_string(&log).unwrap();
    assert!(wait_until(|| said().contains("mail server cannot be used")), "{}", said());
    let untouched = "select cast(sum(attempts) as text) from mail_messages where state = 'pending'";
    served.wait_for_query_result(untouched, &["0"]);
    smtpd.launch(SmtpdTls::None);
    smtpd.wait_for_messages(2);
    served.wait_for_query_result(&count_query("sent"), &["2"]);
    let log = running.stop_and_read_log(&log);
    assert!(log.contains("mail server works again"), "{log}");
}

#[test]
fn busy_mail_server_counts_no_attempt() {
    let Some(smtpd) = Smtpd::start(UNTESTED) else { return };
    let served = Installation::new();
    smtpd.set_mode("busy");
    queue_messages(&served, 1..=1);
    let log = served.path("log");
    let settings = ["--smtp", &smtpd.url(), "--smtp-from", FROM];
    let _running = served.start_with_log_and_settings("info", &log, &settings);
    assert!(wait_until(|| std::fs::read_to_string(&log).unwrap().contains("421 too busy")));
    smtpd.set_mode("accept");
    smtpd.wait_for_messages(1);
    served.wait_for_query_result("select state || attempts from mail_messages", &["sent1"]);
}

#[test]
fn message_without_a_reply_is_sent_twice_at_most() {
    let Some(smtpd) = Smtpd::start(UNTESTED) else { return };
    let served = Installation::new();
    smtpd.set_mode("slow");
    queue_messages(&served, 1..=1);
    for doubts in ["1", "2"] {
        let mut running = start(&served, &smtpd.url());
        smtpd.wait_for_messages(doubts.parse().unwrap());
        let marked = "select cast(is_sending as text) from mail_messages";
        served.wait_for_query_result(marked, &["1"]);
        running.process.kill();
        // The next server finds the mark.
        let running = start(&served, &smtpd.url());
        let found = "select cast(doubts as text) from mail_messages";
        served.wait_for_query_result(found, &[doubts]);
        drop(running);
        make_due(&served);
    }
    served.wait_for_query_result(&count_query("failed"), &["1"]);
    smtpd.set_mode("accept");
    queue_messages(&served, 2..=2);
    let _running = start(&served, &smtpd.url());
    let all = smtpd.wait_for_messages(3);
    let ids: Vec<&str> = all.iter().map(|mail| mail.header("Message-ID")).collect();
    assert_eq!(ids, ["<1@shop.example>", "<1@shop.example>", "<2@shop.example>"]);
}

#[test]
fn login_and_message_go_by_tls_only() {
    for (tls, scheme, end) in
        [(SmtpdTls::FromStart, "smtps", ""), (SmtpdTls::StartTls, "smtp", "?tls=required")]
    {
        let Some(smtpd) = Smtpd::start_with(tls, UNTESTED) else { return };
        let served = Installation::new();
        queue_messages(&served, 1..=1);
        let url = |password: &str| {
            format!("{scheme}://pay%40shop.example:{password}@localhost:{}{end}", smtpd.port)
        };
        let log = served.path("log");
        let start = |url: &str, more: &[&str]| {
            let settings = [&["--smtp", url, "--smtp-from", FROM], more].concat();
            served.start_with_log_and_settings("debug", &log, &settings)
        };
        let said = || std::fs::read_to_string(&log).unwrap();
        // Without its authority, the certificate is not trusted.
        let running = start(&url("p%3A%2F%40%25"), &[]);
        assert!(
            wait_until(|| said().contains("mail server cannot be used: error=\"tls: ")),
            "{}",
            said()
        );
        drop(running);
        let ca = smtpd.certificate();
        let running = start(&url("wrong"), &["--smtp-ca", &ca]);
        assert!(wait_until(|| said().contains("the login is refused: 535")), "{}", said());
        drop(running);
        assert!(smtpd.messages().is_empty());
        let running = start(&url("p%3A%2F%40%25"), &["--smtp-ca", &ca]);
        smtpd.wait_for_messages(1);
        served.wait_for_query_result(&count_query("sent"), &["1"]);
        let log = running.stop_and_read_log(&log);
        assert!(!log.contains("p:/@%") && !log.contains("p%3A") && !log.contains("u1@"), "{log}");
    }
}

#[test]
fn certificate_of_another_host_is_refused() {
    let Some(smtpd) = Smtpd::start_with(SmtpdTls::FromStart, UNTESTED) else { return };
    let served = Installation::new();
    queue_messages(&served, 1..=1);
    let (url, log) = (format!("smtps://127.0.0.2:{}", smtpd.port), served.path("log"));
    let ca = smtpd.certificate();
    let settings = ["--smtp", &url, "--smtp-from", FROM, "--smtp-ca", &ca];
    let _running = served.start_with_log_and_settings("info", &log, &settings);
    let said = || std::fs::read_to_string(&log).unwrap();
    assert!(wait_until(|| said().contains("mail server cannot be used")), "{}", said());
    assert!(smtpd.messages().is_empty());
}
