//! Password guessing: a guesser is rate limited, other clients can still sign in, and a flood of failures does not
//! reset the limit.

use crate::support::command::coffer_output_with_input;
use crate::support::scratch::Scratch;
use crate::support::sessions::SESSION;
use crate::support::{Response, Shop, agent, send};
use coffer::http::PasswordLimits;
use coffer::store::FileKind;
use coffer::{Config, Server};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;

const OPERATOR: &str = "operator@sandbox.test";

/// Returns a configuration for a server behind a proxy. The server remembers few failures of unknown emails, and a
/// rate-limited client waits at least 15 minutes.
fn config_behind_proxy() -> Config {
    Config {
        trusted_proxy: vec!["127.0.0.1/32".parse().unwrap()],
        password_limits: PasswordLimits {
            failures_remembered_max: 20,
            wait_ms_min: 900_000,
            ..PasswordLimits::default()
        },
        ..Config::sandbox()
    }
}

/// Signs in from this client address.
#[track_caller]
fn sign_in(shop: &Shop, from: &str, email: &str, password: &str) -> Response {
    let body = json!({ "email": email, "password": password }).to_string();
    shop.send("POST", SESSION, &[("x-forwarded-for", from)], &body)
}

/// Sends wrong passwords from one client address until it is rate limited. Returns the number of wrong passwords
/// before the limit.
#[track_caller]
fn guess_until_limited(shop: &Shop, from: &str, email: &str) -> usize {
    for made in 0..100 {
        let answer = sign_in(shop, from, email, "wrong");
        if answer.status == 429 {
            answer.assert_error(429, "too_many_attempts", None);
            assert!(answer.headers["retry-after"].parse::<u32>().unwrap() >= 1);
            return made;
        }
        answer.assert_error(401, "invalid_credentials", None);
    }
    unreachable!("{email} can be guessed at from {from} without an end")
}

#[test]
fn guesser_is_limited_and_operator_can_sign_in() {
    let shop = Shop::with_config(config_behind_proxy());
    assert_eq!(guess_until_limited(&shop, "198.51.100.1", OPERATOR), 6);
    // The right password from the same client is rejected as well.
    sign_in(&shop, "198.51.100.1", OPERATOR, "sandbox").assert_error(
        429,
        "too_many_attempts",
        None,
    );
    sign_in(&shop, "203.0.113.1", OPERATOR, "sandbox").expect(201);
    sign_in(&shop, "198.51.100.1", OPERATOR, "sandbox").assert_error(
        429,
        "too_many_attempts",
        None,
    );
    // All addresses in one IPv6 /64 network count as one client.
    for host in 1..=6 {
        let from = format!("2001:db8::{host}");
        sign_in(&shop, &from, OPERATOR, "wrong").assert_error(401, "invalid_credentials", None);
    }
    sign_in(&shop, "2001:db8::7", OPERATOR, "wrong").assert_error(429, "too_many_attempts", None);
    sign_in(&shop, "2001:db8:0:1::7", OPERATOR, "wrong").assert_error(
        401,
        "invalid_credentials",
        None,
    );
}

#[test]
fn flood_does_not_reset_the_limit_or_reveal_users() {
    let shop = Shop::with_config(config_behind_proxy());
    assert_eq!(guess_until_limited(&shop, "198.51.100.1", OPERATOR), 6);
    let address = shop.url().strip_prefix("http://").unwrap();
    for number in 0..500 {
        let body = json!({ "email": format!("{number}@x.test"), "password": "wrong" }).to_string();
        let request = format!(
            "POST {SESSION} HTTP/1.1\r\nhost: {address}\r\nx-forwarded-for: 192.0.2.{}\r\ncontent-length: {}\r\n\r\n{body}",
            number % 250,
            body.len()
        );
        let mut caller = TcpStream::connect(address).unwrap();
        caller.write_all(request.as_bytes()).unwrap();
    }
    for number in 0..30 {
        let (from, email) = (format!("198.51.100.{}", 10 + number), format!("{number}@x.test"));
        sign_in(&shop, &from, &email, "wrong").assert_error(401, "invalid_credentials", None);
    }
    sign_in(&shop, "198.51.100.1", OPERATOR, "sandbox").assert_error(
        429,
        "too_many_attempts",
        None,
    );
    // A second guesser is limited too. A client that has sent no wrong password can sign in.
    assert_eq!(guess_until_limited(&shop, "198.51.100.2", OPERATOR), 6);
    sign_in(&shop, "203.0.113.1", OPERATOR, "sandbox").expect(201);
}

#[test]
fn unknown_email_is_limited_like_a_known_one() {
    let shop = Shop::with_config(config_behind_proxy());
    for (from, email) in [
        ("198.51.100.1", OPERATOR),
        ("198.51.100.2", "nobody@sandbox.test"),
        ("198.51.100.3", "Operator@SANDBOX.test"),
    ] {
        assert_eq!(guess_until_limited(&shop, from, email), 6, "{email}");
    }
    let told = |from: &str, email: &str| {
        let answer = sign_in(&shop, from, email, "wrong");
        (answer.status, answer.json()["message"].clone())
    };
    let (there, not_there) = (told("198.51.100.4", OPERATOR), told("198.51.100.4", "no@x"));
    assert_eq!(there, not_there);
}

#[test]
fn client_is_limited_over_all_emails() {
    let shop = Shop::with_config(config_behind_proxy());
    let made = (0..100).find(|number| {
        let answer = sign_in(&shop, "198.51.100.1", &format!("{number}@x.test"), "wrong");
        answer.status == 429
    });
    // The limit is 30 attempts at once. More attempts are allowed as time passes, so the loop may make a few more.
    let made = made.unwrap();
    assert!((30..40).contains(&made), "{made}");
    sign_in(&shop, "198.51.100.1", OPERATOR, "sandbox").assert_error(
        429,
        "too_many_attempts",
        None,
    );
    sign_in(&shop, "198.51.100.2", OPERATOR, "sandbox").expect(201);
}

#[test]
fn password_set_on_command_line_ends_the_rate_limit() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let server = Server::start(Config {
        kind: FileKind::Production,
        file: Some(file.clone()),
        ..config_behind_proxy()
    });
    let server = server.unwrap();
    let (email, password) = ("anna@shop.test", "anna's password");
    let create = ["user", "create", email, "--role", "operator"];
    coffer_output_with_input(&file, &create, password).json_lines();
    let sign_in = |password: &str| {
        let body = json!({ "email": email, "password": password }).to_string();
        let path = format!("{}{SESSION}", server.url());
        send(&agent(), "POST", &path, &[], &body)
    };
    for _ in 0..6 {
        sign_in("wrong").assert_error(401, "invalid_credentials", None);
    }
    sign_in(password).assert_error(429, "too_many_attempts", None);
    // Setting the same password again also removes the rate limit.
    let set = coffer_output_with_input(&file, &["user", "password", email], password);
    assert_eq!(set.code, Some(0), "{set:?}");
    sign_in(password).expect(201);
}

#[test]
fn setup_token_guesses_are_limited() {
    const HASH: &str = "1b24f140e45b76a4d07e45bf716f196b73780090db0c702790d9b43a2375c329";
    let shop = Shop::with_config(config_behind_proxy());
    shop.execute_sql(&format!(
        "delete from users;
         update file set setup_hash = x'{HASH}', setup_expires_at = clock_frozen_at + 3600000;"
    ));
    let page = |from: &str, token: &str| {
        let path = format!("/setup?token={token}");
        shop.send("GET", &path, &[("x-forwarded-for", from)], "").status
    };
    let right = "a+token+for+the+set-up";
    let told: Vec<u16> = (0..7).map(|_| page("198.51.100.1", "guessed")).collect();
    assert_eq!(told, [403, 403, 403, 403, 403, 403, 429]);
    assert_eq!(page("198.51.100.1", right), 429);
    let body = json!({ "token": "guessed", "email": "a@b.test", "password": "long enough" });
    let from = [("x-forwarded-for", "198.51.100.1")];
    let slowed = shop.send("POST", "/dashboard/api/setup", &from, &body.to_string());
    slowed.assert_error(429, "too_many_attempts", None);
    assert!(slowed.headers["retry-after"].parse::<u32>().unwrap() >= 1);
    for _ in 0..20 {
        assert_eq!(page("203.0.113.1", right), 200, "who has it is not slowed down");
    }
    let body = json!({
        "token": "a token for the set-up", "email": "a@b.test", "password": "long enough"
    });
    let from = [("x-forwarded-for", "203.0.113.1")];
    let made = shop.send("POST", "/dashboard/api/setup", &from, &body.to_string());
    assert_eq!(made.expect(201).json()["role"], "operator");
}
