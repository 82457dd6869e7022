//! Settings of the mail server, rendered messages, and replies of hostile servers.

use super::connection::{reply_end, with_end};
use super::{MailContent, PreparedMail, SmtpConnection, SmtpFailure, SmtpSettings, check_server};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

const FROM: &str = "Corner Shop <pay@shop.example>";

fn settings(url: &str) -> SmtpSettings {
    SmtpSettings::read(url, Some(FROM), None).unwrap()
}

#[test]
fn url_of_the_mail_server_is_read() {
    for (url, place, login, is_encrypted) in [
        ("smtps://mail.example", "mail.example:465", None, true),
        ("smtps://u:p@mail.example:2465/", "mail.example:2465", Some(("u", "p")), true),
        ("smtp://mail.example?tls=required", "mail.example:587", None, true),
        (
            "smtp://me%40shop.example:p%3a%2F%40%25@mail.example?tls=required",
            "mail.example:587",
            Some(("me@shop.example", "p:/@%")),
            true,
        ),
        ("SMTP://localhost:2525", "localhost:2525", None, false),
        ("smtp://127.0.0.9", "127.0.0.9:25", None, false),
        ("smtp://[::1]:2525", "::1:2525", None, false),
    ] {
        let read = settings(url);
        assert_eq!(read.place(), place);
        assert_eq!((read.login(), read.is_encrypted()), (login, is_encrypted), "{url}");
        assert_eq!(read.sender_domain(), "shop.example");
    }
}

#[test]
fn refused_url_is_explained_without_its_password() {
    for (url, part) in [
        ("", "must be smtps://"),
        ("mail.example", "must be smtps://"),
        ("https://mail.example", "must be smtps://"),
        ("smtps://", "must be smtps://"),
        ("smtp://mail.example", "loopback only"),
        ("smtp://u:hunter2@mail.example", "loopback only"),
        ("smtp://10.0.0.1:25", "loopback only"),
        ("smtp://localhost.evil.example", "loopback only"),
        ("smtp://u:hunter2@mail.example?tls=opportunistic", "must be smtps://"),
        ("smtps://u:hunter2@mail.example?tls=none", "must be smtps://"),
        ("smtps://u@mail.example", "a user and a password"),
        ("smtps://u:hunter2%0d%0a@mail.example", "a user and a password"),
        ("smtps://u:hunter2@mail.example:99999", "must be smtps://"),
        ("smtps://u:hunter2@mail example", "must be smtps://"),
    ] {
        let refused = SmtpSettings::read(url, Some(FROM), None).unwrap_err();
        assert!(refused.starts_with("--smtp ") && refused.contains(part), "{url}: {refused}");
        assert!(!refused.contains("hunter2"), "{refused}");
    }
    for from in [
        None,
        Some(""),
        Some("nobody"),
        Some("a@b.example\r\nBcc: c@d.example"),
        Some("a@b.example, c@d.example"),
    ] {
        let refused = SmtpSettings::read("smtps://mail.example", from, None).unwrap_err();
        assert!(refused.contains("--smtp-from"), "{refused}");
    }
    for roots in [&b""[..], b"no PEM"] {
        let refused = SmtpSettings::read("smtps://mail.example", Some(FROM), Some(roots));
        assert!(refused.unwrap_err().starts_with("--smtp-ca"), "{roots:?}");
    }
    let shown = format!("{:?}", settings("smtps://u:hunter2@mail.example"));
    assert_eq!(shown, "SmtpSettings(mail.example:465)");
}

fn content<'a>(to: &'a str, subject: &'a str, body: &'a str) -> MailContent<'a> {
    MailContent { id: "i@shop.example", to, subject, body, language: "en", date_s: 1_795_253_400 }
}

fn rendered(to: &str, subject: &str, body: &str) -> Result<String, String> {
    let mail = PreparedMail::new(&settings("smtp://localhost"), &content(to, subject, body))?;
    Ok(String::from_utf8(mail.text().to_vec()).unwrap())
}

#[test]
fn same_message_gives_the_same_bytes() {
    let render = || rendered("ada@example.com", "Sale: 20.00 EUR", "One\n\n.two\n").unwrap();
    let text = render();
    assert_eq!(text, render());
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    for line in [
        "From: \"Corner Shop\" <pay@shop.example>",
        "To: ada@example.com",
        "Subject: Sale: 20.00 EUR",
        "Message-ID: <i@shop.example>",
        "Date: Sat, 21 Nov 2026 09:30:00 +0000",
        "Auto-Submitted: auto-generated",
        "Content-Language: en",
        "Content-Type: text/plain; charset=utf-8",
    ] {
        assert!(head.split("\r\n").any(|one| one == line), "{line}: {head}");
    }
    assert_eq!(body, "One\r\n\r\n.two\r\n");
}

#[test]
fn hostile_texts_add_no_header() {
    let hostile = "x\r\nBcc: eve@evil.example\r\n\r\nbody";
    let text = rendered("ada@example.com", hostile, hostile).unwrap();
    let (head, _) = text.split_once("\r\n\r\n").unwrap();
    let mut names = head.split("\r\n").filter(|line| !line.starts_with(' '));
    assert!(names.all(|line| !line.to_ascii_lowercase().starts_with("bcc")), "{head}");
    let unicode = rendered("ada@example.com", "Beleg für Łukasz 用户 🎟", "Zażółć\n").unwrap();
    assert!(unicode.is_ascii(), "{unicode}");
    assert!(unicode.split("\r\n").all(|line| line.len() <= 998), "{unicode}");
}

#[test]
fn hostile_recipients_are_refused() {
    let long = format!("{}@example.com", "a".repeat(290));
    for to in [
        "",
        "ada",
        "ada@example.com\r\nRCPT TO:<eve@evil.example>",
        "ada@example.com,eve@evil.example",
        "ada@example.com eve@evil.example",
        "ada@example.com\u{2028}",
        "Ada <ada@example.com>",
        "<ada@example.com>",
        &long,
    ] {
        assert!(rendered(to, "s", "b").is_err(), "{to:?}");
    }
    assert!(rendered("jürgen@müller.example", "s", "b").is_ok());
}

#[test]
fn text_gets_dots_and_an_end() {
    for (text, expected) in [
        ("a\r\n", "a\r\n.\r\n"),
        ("a", "a\r\n.\r\n"),
        (".\r\nb\r\n..c\r\n", "..\r\nb\r\n...c\r\n.\r\n"),
    ] {
        assert_eq!(with_end(text.as_bytes()), expected.as_bytes(), "{text:?}");
    }
}

#[test]
fn reply_ends_with_its_last_line() {
    for (received, end) in [
        ("", None),
        ("250", None),
        ("250 ok", None),
        ("250 ok\r\n", Some(8)),
        ("250-a\r\n", None),
        ("250-a\r\n250 b\r\n", Some(14)),
        ("250 a\r\n250 b\r\n", Some(7)),
        ("250\r\n", Some(5)),
    ] {
        assert_eq!(reply_end(received.as_bytes()), end, "{received:?}");
    }
}

/// A server that plays a script for one connection: its greeting, and the reply to each line that it receives.
fn scripted(
    greeting: &'static str,
    reply: impl Fn(&str) -> Option<&'static str> + Send + 'static,
) -> (SmtpSettings, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = Vec::new();
        // The client may have closed the connection.
        let _ = stream.write_all(greeting.as_bytes());
        for line in BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok) {
            if let Some(reply) = reply(&line) {
                let _ = stream.write_all(reply.as_bytes());
            }
            heard.push(line);
        }
        heard
    });
    (settings(&format!("smtp://127.0.0.1:{port}")).with_timeout_ms(500), served)
}

/// Replies of a server that accepts everything.
fn accepting(line: &str) -> Option<&'static str> {
    match line.split([' ', ':']).next().unwrap_or_default() {
        "EHLO" => Some("250-mail.example\r\n250 8BITMIME\r\n"),
        "DATA" => Some("354 go on\r\n"),
        "MAIL" | "RCPT" | "RSET" | "." => Some("250 ok\r\n"),
        "QUIT" => Some("221 bye\r\n"),
        _ => None,
    }
}

fn prepared(settings: &SmtpSettings) -> PreparedMail {
    PreparedMail::new(settings, &content("ada@example.com", "s", "b\n")).unwrap()
}

#[test]
fn message_is_handed_over_and_the_connection_reused() {
    let (settings, served) = scripted("220 hello\r\n", accepting);
    let mut connection = SmtpConnection::open(&settings).unwrap();
    for _ in 0..2 {
        let mail = prepared(&settings);
        assert_eq!(connection.offer(&mail), Ok(()));
        assert_eq!(connection.deliver(&mail), Ok(()));
    }
    connection.close();
    let heard = served.join().unwrap();
    assert_eq!(heard.iter().filter(|line| *line == "MAIL FROM:<pay@shop.example>").count(), 2);
    assert_eq!(heard.last().map(String::as_str), Some("QUIT"));
}

#[test]
fn refusals_tell_whether_the_message_may_be_sent_again() {
    let answer = |command: &'static str, refusal: &'static str| {
        move |line: &str| match line.starts_with(command) {
            true => Some(refusal),
            false => accepting(line),
        }
    };
    let offer = |command, refusal| {
        let (settings, _served) = scripted("220 hello\r\n", answer(command, refusal));
        let mut connection = SmtpConnection::open(&settings).unwrap();
        let offered = connection.offer(&prepared(&settings));
        (offered, connection.is_broken())
    };
    let failed = |kind: fn(String) -> SmtpFailure, text: &str| Err(kind(text.to_owned()));
    let greylisted = offer("RCPT", "450 4.2.0 later\r\n");
    assert_eq!(greylisted, (failed(SmtpFailure::Deferred, "450 4.2.0 later"), false));
    let unknown = offer("RCPT", "550-no\r\n550 such user\r\n");
    assert_eq!(unknown, (failed(SmtpFailure::Refused, "550 no such user"), false));
    let closing = offer("MAIL", "421 too busy\r\n");
    assert_eq!(closing, (failed(SmtpFailure::Server, "421 too busy"), true));
}

#[test]
fn missing_reply_to_the_text_leaves_a_doubt() {
    let silent = |line: &str| accepting(line).filter(|_| line != ".");
    let (settings, _served) = scripted("220 hello\r\n", silent);
    let mut connection = SmtpConnection::open(&settings).unwrap();
    let mail = prepared(&settings);
    assert_eq!(connection.offer(&mail), Ok(()));
    let delivered = connection.deliver(&mail);
    assert!(matches!(&delivered, Err(SmtpFailure::Unknown(_))), "{delivered:?}");
    assert!(connection.is_broken());
}

#[test]
fn hostile_greeting_is_limited() {
    let long: &'static str = Box::leak("x".repeat(10_000_000).into_boxed_str());
    let lines: &'static str = Box::leak("220-x\r\n".repeat(1_000_000).into_boxed_str());
    for (greeting, part) in [
        (long, "too long a reply"),
        (lines, "too long a reply"),
        ("220 a\r\n220 b\r\n", "more than one reply"),
        ("HTTP/1.1 400 Bad Request\r\n", "no reply of SMTP"),
        ("", "did not answer in time"),
        ("554 go away\r\n", "554 go away"),
    ] {
        let (settings, served) = scripted(greeting, accepting);
        let problem = SmtpConnection::open(&settings).err().unwrap();
        assert!(problem.contains(part), "{problem}");
        served.join().unwrap();
    }
}

#[test]
fn server_without_starttls_gets_no_login_and_no_mail() {
    let (plain, served) = scripted("220 hello\r\n", accepting);
    let port = plain.place().rsplit(':').next().unwrap().to_owned();
    let url = format!("smtp://u:hunter2@127.0.0.1:{port}?tls=required");
    let problem = check_server(&settings(&url).with_timeout_ms(500)).unwrap_err();
    assert!(problem.contains("STARTTLS"), "{problem}");
    assert!(served.join().unwrap().iter().all(|line| line.starts_with("EHLO")));
    // Text before TLS must not count as text after it.
    let early = |line: &str| match line {
        "STARTTLS" => Some("220 go on\r\n250 injected\r\n"),
        _ if line.starts_with("EHLO") => Some("250-mail.example\r\n250 STARTTLS\r\n"),
        _ => None,
    };
    let (plain, served) = scripted("220 hello\r\n", early);
    let port = plain.place().rsplit(':').next().unwrap().to_owned();
    let url = format!("smtp://u:hunter2@127.0.0.1:{port}?tls=required");
    let problem = check_server(&settings(&url).with_timeout_ms(500)).unwrap_err();
    assert!(problem.contains("more than one reply"), "{problem}");
    assert_eq!(served.join().unwrap().len(), 2);
}

#[test]
fn unreachable_server_is_named() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let problem = check_server(&settings(&format!("smtp://127.0.0.1:{port}"))).unwrap_err();
    assert_eq!(problem, format!("127.0.0.1:{port}: connection refused"));
}
