//! Second factors in copies, after `kill -9`, and on a full disk.
//!
//! Codes depend on the system clock. A test uses only codes of the time step in which it starts and of the next step.

use crate::file::failing_disk;
use crate::support::audit::assert_audit_clean;
use crate::support::body_text;
use crate::support::command::run_coffer;
use crate::support::process::Process;
use crate::support::sandbox_file::{call, start_on_file};
use crate::support::scratch::{Scratch, path_text};
use crate::support::second_factor::{FACTOR, SESSION, code_at_step};
use crate::support::{Response, agent, send};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const NULL: Value = Value::Null;

/// Returns the current time step of 30 seconds.
fn current_step() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs() / 30).unwrap()
}

/// A client of a sandbox with the operator's session cookie.
#[derive(Clone)]
struct OperatorClient {
    url: String,
    cookie: String,
}

impl OperatorClient {
    fn request(&self, method: &str, path: &str, body: &Value) -> Response {
        let (url, headers) = (format!("{}{path}", self.url), [("cookie", &*self.cookie)]);
        let body = body_text(body);
        send(&agent(), method, &url, &headers, &body)
    }

    fn sign_in(url: &str, code: &Value) -> Response {
        let nobody = OperatorClient { url: url.to_owned(), cookie: String::new() };
        let body = json!({ "email": "operator@sandbox.test", "password": "sandbox", "code": code });
        nobody.request("POST", SESSION, &body)
    }

    #[track_caller]
    fn start_session(url: &str, code: &Value) -> OperatorClient {
        let cookie = OperatorClient::sign_in(url, code).expect(201).session_cookie();
        OperatorClient { url: url.to_owned(), cookie }
    }

    /// Starts the setup of a second factor and returns its secret.
    #[track_caller]
    fn start_factor_setup(&self) -> String {
        let begun = self.request("POST", FACTOR, &NULL).expect(201).json();
        begun["secret"].as_str().unwrap().to_owned()
    }

    fn confirm_factor(&self, code: &str) -> Response {
        self.request("POST", &format!("{FACTOR}/confirm"), &json!({ "code": code }))
    }

    fn disable_factor(&self, code: &str) -> Response {
        self.request("POST", &format!("{FACTOR}/off"), &json!({ "code": code }))
    }

    /// Returns `true` if the second factor is enabled, and the number of unused recovery codes.
    #[track_caller]
    fn factor_state(&self) -> (bool, i64) {
        let session = self.request("GET", SESSION, &NULL).expect(200).json();
        let factor = &session["secondFactor"];
        (factor["enabled"] == true, factor["recoveryCodesLeft"].as_i64().unwrap())
    }
}

#[track_caller]
fn recovery_codes(confirmed: Response) -> Vec<Value> {
    let confirmed = confirmed.expect(200).json();
    confirmed["codes"].as_array().unwrap().clone()
}

#[test]
fn copies_support_second_factors() {
    let scratch = Scratch::new();
    let (file, copy, other) =
        (scratch.path("shop.db"), scratch.path("copy.db"), scratch.path("other.db"));
    let (server, url) = start_on_file(&file);
    let (owner, now) = (OperatorClient::start_session(&url, &NULL), current_step());
    let secret = owner.start_factor_setup();
    let codes = recovery_codes(owner.confirm_factor(&code_at_step(&secret, now)));
    OperatorClient::start_session(&url, &codes[0]);
    run_coffer(&file, &["backup", path_text(&copy)]);
    // A code that was used after the copy was made is unused in the copy, as the guide says.
    OperatorClient::start_session(&url, &codes[1]);
    assert_eq!(owner.factor_state(), (true, 8));
    drop(server);
    for file in [&file, &copy] {
        assert_audit_clean(file);
    }
    run_coffer(&other, &["restore", path_text(&copy)]);
    assert_audit_clean(&other);
    let (_server, url) = start_on_file(&other);
    let refused = |code: &Value| {
        OperatorClient::sign_in(&url, code).assert_error(401, "invalid_credentials", Some("code"));
    };
    OperatorClient::sign_in(&url, &NULL).assert_error(401, "second_factor_required", Some("code"));
    refused(&codes[0]);
    refused(&json!(code_at_step(&secret, now)));
    let owner = OperatorClient::start_session(&url, &codes[2]);
    assert_eq!(owner.factor_state(), (true, 8));
    owner.disable_factor(codes[3].as_str().unwrap()).expect(204);
    OperatorClient::start_session(&url, &NULL);
}

/// Kills the process and starts another process on the same file.
#[track_caller]
fn kill_and_restart(
    mut server: Process,
    file: &Path,
    owner: &OperatorClient,
) -> (Process, OperatorClient) {
    server.kill();
    let (server, url) = start_on_file(file);
    let cookie = owner.cookie.clone();
    (server, OperatorClient { url, cookie })
}

#[test]
fn kill_9_during_second_factor_setup_locks_no_user_out() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let (server, url) = start_on_file(&file);
    let (owner, now) = (OperatorClient::start_session(&url, &NULL), current_step());
    // Setup has begun but is not confirmed: sign-in requires no code, and the user can still confirm the secret.
    let secret = owner.start_factor_setup();
    let (server, owner) = kill_and_restart(server, &file, &owner);
    assert_eq!(owner.factor_state(), (false, 0));
    OperatorClient::start_session(&owner.url, &NULL);
    // The process is killed before it sends the recovery codes: the second factor is enabled, and the session stays
    // valid.
    let route = "POST /dashboard/api/session/second-factor/confirm";
    let fault = json!({ "route": route, "dropAnswer": true, "times": 1 });
    call(&owner.url, "POST", "/sandbox/faults", "", &fault).expect(200);
    let body = json!({ "code": code_at_step(&secret, now) }).to_string();
    let unheard = agent()
        .post(format!("{}{FACTOR}/confirm", owner.url))
        .header("cookie", &owner.cookie)
        .send(&body);
    assert!(unheard.is_err());
    let (server, owner) = kill_and_restart(server, &file, &owner);
    assert_eq!(owner.factor_state(), (true, 10));
    OperatorClient::sign_in(&owner.url, &NULL).assert_error(
        401,
        "second_factor_required",
        Some("code"),
    );
    // The next code disables the second factor, and then the user enables it again. This time the recovery codes
    // arrive.
    owner.disable_factor(&code_at_step(&secret, now)).assert_error(
        401,
        "invalid_credentials",
        Some("code"),
    );
    owner.disable_factor(&code_at_step(&secret, now + 1)).expect(204);
    let secret = owner.start_factor_setup();
    let codes = recovery_codes(owner.confirm_factor(&code_at_step(&secret, now + 1)));
    // The process is killed after the response: the recovery codes are stored.
    let (server, owner) = kill_and_restart(server, &file, &owner);
    assert_eq!(owner.factor_state(), (true, 10));
    OperatorClient::start_session(&owner.url, &codes[9]);
    drop(server);
    assert_audit_clean(&file);
}

#[test]
fn full_disk_changes_no_second_factor_and_uses_no_code() {
    let shop = failing_disk::FailingDiskShop::open();
    let (owner, now) = (OperatorClient::start_session(&shop.url, &NULL), current_step());
    let account = owner.request("GET", "/dashboard/api/accounts", &NULL).expect(200).json();
    let account = format!("/dashboard/api/accounts/{}", account["data"][0]["id"].as_str().unwrap());
    let rename = || {
        owner.request(
            "PATCH",
            &account,
            &json!({ "name": "Full", "allowedOrigins": ["https://full.example"] }),
        )
    };
    let stands = || owner.request("GET", &account, &NULL).expect(200).json();
    let before = stands();
    let secret = owner.start_factor_setup();
    let code = code_at_step(&secret, now);
    shop.start_failure("full", "-wal");
    for _ in 0..10 {
        failing_disk::assert_write_rejected(&owner.request("POST", FACTOR, &NULL));
        failing_disk::assert_write_rejected(&owner.confirm_factor(&code));
        failing_disk::assert_write_rejected(&rename());
        failing_disk::assert_write_rejected(&OperatorClient::sign_in(&shop.url, &NULL));
    }
    assert_eq!((owner.factor_state(), stands()), ((false, 0), before.clone()));
    shop.end_failure("full");
    shop.wait_until_ready();
    let codes = recovery_codes(owner.confirm_factor(&code));
    shop.start_failure("full", "-wal");
    let next = code_at_step(&secret, now + 1);
    for _ in 0..10 {
        failing_disk::assert_write_rejected(&owner.disable_factor(&next));
        failing_disk::assert_write_rejected(&owner.disable_factor(codes[0].as_str().unwrap()));
        failing_disk::assert_write_rejected(&OperatorClient::sign_in(&shop.url, &codes[0]));
    }
    assert_eq!((owner.factor_state(), stands()), ((true, 10), before));
    // Reads succeed on a full disk.
    let page = send(&agent(), "GET", &format!("{}/livez", shop.url), &[], "");
    page.expect(200);
    shop.end_failure("full");
    shop.wait_until_ready();
    OperatorClient::start_session(&shop.url, &codes[0]);
    owner.disable_factor(&next).expect(204);
    rename().expect(200);
}
