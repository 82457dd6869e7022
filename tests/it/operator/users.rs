//! Users: the setup link of the first operator, and user management in the operator interface and on the command line.

use crate::support::command::{coffer_output_with_input, run_coffer, run_coffer_json};
use crate::support::process::Process;
use crate::support::scratch::Scratch;
use crate::support::sessions::{SESSION, sign_in};
use crate::support::{Response, Shop, agent, send};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const USERS: &str = "/dashboard/api/users";

impl Shop {
    /// Creates a user of the sandbox account, signs in and returns the cookie.
    #[track_caller]
    pub fn sign_in_new_merchant(&self) -> String {
        let key = Some(crate::support::TEST);
        let account = self.get("/v1/merchant", key).expect(200).json()["id"].clone();
        let body = json!({
            "email": "clerk@shop.test", "password": "clerk's password", "role": "merchant", "account": account,
        });
        let operator = self.sign_in_operator();
        self.session_request(&operator, "POST", USERS, &body).expect(201);
        sign_in(self.url(), "clerk@shop.test", "clerk's password").expect(201).session_cookie()
    }
}

#[test]
fn operator_creates_and_changes_users() {
    let shop = Shop::open();
    let operator = shop.sign_in_operator();
    let body =
        json!({ "email": "Ben@shop.test", "password": "ben's password", "role": "operator" });
    let ben = shop.session_request(&operator, "POST", USERS, &body).expect(201).json();
    assert_eq!((&ben["object"], &ben["account"]), (&json!("user"), &json!(null)));
    let listed = shop.session_request(&operator, "GET", USERS, &Value::Null).expect(200).json();
    assert_eq!(listed["data"][1], ben);
    let taken = shop.session_request(&operator, "POST", USERS, &body);
    taken.assert_error(400, "invalid_request", Some("email"));
    let bens = sign_in(shop.url(), "ben@SHOP.test", "ben's password").expect(201).session_cookie();
    let path = format!("/dashboard/api/users/{}", ben["id"].as_str().unwrap());
    let body = json!({ "password": "another password" });
    shop.session_request(&operator, "PATCH", &path, &body).expect(200);
    let ended = shop.session_request(&bens, "GET", SESSION, &Value::Null);
    ended.assert_error(401, "unauthorized", None);
    sign_in(shop.url(), "ben@shop.test", "ben's password").assert_error(
        401,
        "invalid_credentials",
        None,
    );
    sign_in(shop.url(), "ben@shop.test", "another password").expect(201);
    let disabled = shop.session_request(&operator, "PATCH", &path, &json!({ "disabled": true }));
    assert!(disabled.expect(200).json()["disabledAt"].is_string());
    let refused = sign_in(shop.url(), "ben@shop.test", "another password");
    refused.assert_error(401, "invalid_credentials", None);
    let own = format!("{USERS}/{}", listed["data"][0]["id"].as_str().unwrap());
    let last = shop.session_request(&operator, "PATCH", &own, &json!({ "disabled": true }));
    last.assert_error(409, "invalid_transition", Some("disabled"));
    shop.session_request(&operator, "PATCH", &path, &json!({ "disabled": false })).expect(200);
    let nobody = format!("{USERS}/0199a0c4-5f3e-7c11-8a52-3d1d2f6b7a90");
    let nobody = shop.session_request(&operator, "PATCH", &nobody, &json!({}));
    nobody.assert_error(404, "not_found", None);
}

#[test]
fn invalid_user_is_rejected() {
    let shop = Shop::open();
    let operator = shop.sign_in_operator();
    let right = json!({ "email": "a@b.test", "password": "long enough", "role": "operator" });
    for (field, value) in [
        ("email", json!("no email")),
        ("email", json!(null)),
        ("password", json!("too short")),
        ("password", json!(null)),
        ("role", json!("owner")),
        ("role", json!("merchant")),
        ("account", json!("0199a0c4-5f3e-7c11-8a52-3d1d2f6b7a90")),
        ("more", json!(1)),
    ] {
        let mut body = right.clone();
        body[field] = value;
        let named = if body["role"] == "merchant" { "account" } else { field };
        let refused = shop.session_request(&operator, "POST", USERS, &body);
        refused.assert_error(400, "invalid_request", Some(named));
    }
    let listed = shop.session_request(&operator, "GET", USERS, &Value::Null).expect(200).json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
}

#[test]
fn merchant_is_no_operator_and_changes_own_password() {
    let shop = Shop::open();
    let clerk = shop.sign_in_new_merchant();
    for (method, path) in [("GET", USERS), ("POST", USERS)] {
        let refused = shop.session_request(&clerk, method, path, &json!({}));
        refused.assert_error(403, "forbidden", None);
    }
    let path = "/dashboard/api/session/password";
    let change = |old: &str, new: &str| {
        let body = json!({ "password": old, "newPassword": new });
        shop.session_request(&clerk, "PUT", path, &body)
    };
    change("wrong", "a new password").assert_error(401, "invalid_credentials", Some("password"));
    change("clerk's password", "short").assert_error(400, "invalid_request", Some("password"));
    change("clerk's password", "a new password").expect(204);
    let ended = shop.session_request(&clerk, "GET", SESSION, &Value::Null);
    ended.assert_error(401, "unauthorized", None);
    sign_in(shop.url(), "clerk@shop.test", "a new password").expect(201);
}

/// Starts a production server on this file. Returns its URL and the token of the printed setup link.
fn start_server(file: &Path, said: &Path) -> (Process, String, Option<String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--log", "warn"]);
    command.args(["--exit-with-parent", "--file"]).arg(file);
    let errors = std::fs::File::create(said).unwrap();
    let process = Process::start_with_stderr(&mut command, errors.into());
    let url = process.wait_for_url();
    let errors = std::fs::read_to_string(said).unwrap();
    let token = errors.split_once("/setup?token=");
    let token = token.map(|(_, token)| token.trim().to_owned());
    (process, url, token)
}

/// Tries to create the first operator with this setup token.
fn create_first_operator(url: &str, token: &str) -> Response {
    let body = json!({ "token": token, "email": "anna@shop.test", "password": "anna's password" });
    let path = format!("{url}/dashboard/api/setup");
    send(&agent(), "POST", &path, &[], &body.to_string())
}

#[test]
fn setup_link_creates_first_operator_once() {
    let scratch = Scratch::new();
    let (file, said) = (scratch.path("shop.db"), scratch.path("said"));
    let (mut process, _, first) = start_server(&file, &said);
    assert!(process.close_input_and_wait());
    let (mut process, url, second) = start_server(&file, &said);
    let (first, second) = (first.unwrap(), second.unwrap());
    assert!(first.len() == 64 && first != second, "each start has its own");
    for wrong in [first.as_str(), "guessed", &second[1..]] {
        create_first_operator(&url, wrong).assert_error(403, "forbidden", None);
    }
    let made = create_first_operator(&url, &second).expect(201);
    let cookie = made.session_cookie();
    let path = format!("{url}/dashboard/api/session");
    send(&agent(), "GET", &path, &[("cookie", &cookie)], "").expect(200);
    let made = made.json();
    assert_eq!((&made["role"], &made["email"]), (&json!("operator"), &json!("anna@shop.test")));
    create_first_operator(&url, &second).assert_error(403, "forbidden", None);
    let begun = sign_in(&url, "anna@shop.test", "anna's password").expect(201);
    assert!(begun.headers["set-cookie"].contains("HttpOnly"));
    sign_in(&url, "operator@sandbox.test", "sandbox").assert_error(
        401,
        "invalid_credentials",
        None,
    );
    assert!(process.close_input_and_wait());
    let (_process, _, third) = start_server(&file, &said);
    assert_eq!(third, None, "there is an operator");
}

#[test]
fn command_line_creates_users_while_server_runs() {
    let scratch = Scratch::new();
    let (file, said) = (scratch.path("shop.db"), scratch.path("said"));
    let (_process, url, token) = start_server(&file, &said);
    let create = ["user", "create", "ops@shop.test", "--role", "operator"];
    let made = coffer_output_with_input(&file, &create, "from standard input\n").json_lines();
    assert_eq!(made[0]["role"], "operator");
    create_first_operator(&url, &token.unwrap()).assert_error(403, "forbidden", None);
    sign_in(&url, "ops@shop.test", "from standard input").expect(201);
    let account = run_coffer_json(&file, &["account", "create", "Shop"]);
    let id = account["id"].as_str().unwrap();
    let password = scratch.path("password");
    std::fs::write(&password, "from a file, long").unwrap();
    let create = [
        "user",
        "create",
        "clerk@shop.test",
        "--role",
        "merchant",
        "--account",
        id,
        "--password-file",
    ];
    let create = [&create[..], &[password.to_str().unwrap()]].concat();
    run_coffer(&file, &create);
    let begun = sign_in(&url, "clerk@shop.test", "from a file, long").expect(201);
    assert_eq!(begun.json()["user"]["account"], account["id"]);
    let set_password = ["user", "password", "clerk@shop.test"];
    let output = coffer_output_with_input(&file, &set_password, "another, longer");
    assert_eq!(output.code, Some(0), "{output:?}");
    sign_in(&url, "clerk@shop.test", "another, longer").expect(201);
    run_coffer(&file, &["user", "disable", "clerk@shop.test"]);
    sign_in(&url, "clerk@shop.test", "another, longer").assert_error(
        401,
        "invalid_credentials",
        None,
    );
    for (args, why) in [
        (&["user", "disable", "ops@shop.test"][..], "last operator"),
        (&["user", "disable", "nobody@shop.test"], "no such user"),
        (&create[..7], "email"),
    ] {
        let refused = coffer_output_with_input(&file, args, "long enough it is");
        assert_ne!(refused.code, Some(0), "{args:?}");
        assert!(refused.errors.contains(why), "{args:?}: {}", refused.errors);
    }
    assert_eq!(run_coffer(&file, &["user", "list"]).lines().count(), 2);
}
