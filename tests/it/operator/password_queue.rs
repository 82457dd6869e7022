//! Passwords are hashed one at a time. A request of a disconnected client uses no memory, and each client has at most
//! one waiting password.

use crate::support::installation::Installation;
use crate::support::sessions::SESSION;
use crate::support::{Response, Shop, agent, send};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;

/// Returns the peak memory use of a process, in KiB.
#[track_caller]
pub fn peak_memory_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse().unwrap()
}

/// Sends a request, waits until the server has answered another request, and disconnects without reading the
/// response.
#[track_caller]
fn send_and_disconnect(url: &str, method_and_path: &str, headers: &str, body: &str) {
    let address = url.strip_prefix("http://").unwrap();
    let mut caller = TcpStream::connect(address).unwrap();
    let request = format!(
        "{method_and_path} HTTP/1.1\r\nhost: {address}\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    caller.write_all(request.as_bytes()).unwrap();
    send(&agent(), "GET", &format!("{url}/livez"), &[], "").expect(200);
}

/// Signs in, and retries while another password of the same client is being checked.
#[track_caller]
fn sign_in_with_retries(url: &str, email: &str, password: &str) -> Response {
    let body = json!({ "email": email, "password": password }).to_string();
    loop {
        let answer = send(&agent(), "POST", &format!("{url}{SESSION}"), &[], &body);
        if answer.status != 429 {
            return answer;
        }
        assert_eq!(answer.headers["retry-after"], "1", "{}", answer.text);
    }
}

#[test]
fn disconnected_sign_ins_use_no_memory() {
    let (_served, running) = Installation::start_new(&[]);
    let before = peak_memory_kib(running.process.id());
    for number in 0..300 {
        let body = json!({ "email": format!("{number}@shop.test"), "password": "wrong" });
        send_and_disconnect(&running.url, &format!("POST {SESSION}"), "", &body.to_string());
    }
    sign_in_with_retries(&running.url, "operator@shop.test", "operator's password").expect(201);
    let grown = peak_memory_kib(running.process.id()).saturating_sub(before);
    assert!(grown <= 40_000, "{grown} KiB");
}

#[test]
fn disconnected_password_changes_use_no_memory() {
    let (_served, running) = Installation::start_new(&[]);
    let before = peak_memory_kib(running.process.id());
    let cookie = format!("cookie: {}\r\n", running.cookie());
    let user = json!({ "email": "x@shop.test", "password": "long enough", "role": "merchant" });
    let password = json!({ "password": "wrong", "newPassword": "long enough" });
    for _ in 0..40 {
        let (users, own) = ("POST /dashboard/api/users", format!("PUT {SESSION}/password"));
        send_and_disconnect(&running.url, users, &cookie, &user.to_string());
        send_and_disconnect(&running.url, &own, &cookie, &password.to_string());
    }
    let grown = peak_memory_kib(running.process.id()).saturating_sub(before);
    assert!(grown <= 40_000, "{grown} KiB");
}

#[test]
fn concurrent_sign_ins_of_one_client_succeed_or_ask_to_retry() {
    let shop = Shop::open();
    let url = shop.url();
    let answers: Vec<Response> = std::thread::scope(|scope| {
        let one = || {
            let body = json!({ "email": "operator@sandbox.test", "password": "sandbox" });
            send(&agent(), "POST", &format!("{url}{SESSION}"), &[], &body.to_string())
        };
        let all: Vec<_> = (0..12).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for answer in &answers {
        if answer.status != 201 {
            answer.assert_error(429, "too_many_attempts", None);
            assert_eq!(answer.headers["retry-after"], "1");
        }
    }
    assert!(answers.iter().any(|answer| answer.status == 201));
    sign_in_with_retries(url, "operator@sandbox.test", "sandbox").expect(201);
}
