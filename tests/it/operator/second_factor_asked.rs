//! The second factor: operations that require a code, limits on guessing, and deactivation by other users.

use crate::support::command::run_coffer_json;
use crate::support::second_factor::{
    ANNA, BEN, CONFIRM, FACTOR, NULL, OperatorServer, PASSWORD, SESSION, STEP_MS, code_not_in,
};
use serde_json::{Value, json};

#[test]
fn code_guesses_are_limited() {
    let server = OperatorServer::open();
    let owner = server.turn_on_factor();
    let near = [-1, 0, 1].map(|steps| server.factor_code(&owner.secret, steps));
    let (right, wrong) = (json!(near[1]), json!(code_not_in(&near)));
    let from = "198.51.100.1";
    for _ in 0..6 {
        // A right password does not reset the count of wrong codes.
        server.sign_in_from_address(from, ANNA, &NULL).assert_error(
            401,
            "second_factor_required",
            Some("code"),
        );
        server.sign_in_from_address(from, ANNA, &wrong).assert_error(
            401,
            "invalid_credentials",
            Some("code"),
        );
    }
    for code in [&wrong, &right] {
        let slowed = server.sign_in_from_address(from, ANNA, code);
        slowed.assert_error(429, "too_many_attempts", None);
        assert!(slowed.headers["retry-after"].parse::<u32>().unwrap() >= 1);
    }
    // The user confirms the password in an existing session.
    let confirm = json!({ "password": PASSWORD, "code": wrong });
    for _ in 0..6 {
        let refused = server.request(&owner.cookie, "POST", CONFIRM, &confirm);
        refused.assert_error(401, "invalid_credentials", Some("code"));
    }
    server.request(&owner.cookie, "POST", CONFIRM, &confirm).assert_error(
        429,
        "too_many_attempts",
        None,
    );
    let body = json!({ "code": wrong });
    let off = server.request(&owner.cookie, "POST", &format!("{FACTOR}/off"), &body);
    off.assert_error(429, "too_many_attempts", None);
    // All new clients together may send twenty wrong codes, and then one an hour. Wrong codes in a session are
    // counted separately.
    let statuses: Vec<u16> = (0..20)
        .map(|client| {
            server.sign_in_from_address(&format!("203.0.113.{client}"), ANNA, &wrong).status
        })
        .collect();
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 14);
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 6);
    server.sign_in_from_address("203.0.113.99", ANNA, &right).assert_error(
        429,
        "too_many_attempts",
        None,
    );
    // A recovery code is still accepted, and other users are not affected.
    server.sign_in_from_address("203.0.113.99", ANNA, &json!(owner.recovery[0])).expect(201);
    // The client is known now, so guesses of other clients do not lock it out.
    server.sign_in_from_address("203.0.113.99", ANNA, &right).expect(201);
    server.sign_in_from_address("203.0.113.99", BEN, &NULL).expect(201);
}

#[test]
fn replayed_code_is_rejected_but_not_counted_as_a_guess() {
    let server = OperatorServer::open();
    let owner = server.turn_on_factor();
    let near = [-1, 0, 1].map(|steps| server.factor_code(&owner.secret, steps));
    let (used, newer, wrong) = (json!(near[1]), json!(near[2]), json!(code_not_in(&near)));
    let own = "198.51.100.7";
    let session = server.sign_in_from_address(own, ANNA, &used).expect(201).session_cookie();
    // The same code is sent again from the same client and from new clients, at sign-in and in the session.
    let replay = |from: &str| {
        let refused = server.sign_in_from_address(from, ANNA, &used);
        refused.assert_error(401, "invalid_credentials", Some("code"));
        assert!(refused.text.contains("was used already"), "{}", refused.text);
    };
    for client in 0..30 {
        replay(own);
        replay(&format!("203.0.113.{client}"));
    }
    for _ in 0..10 {
        let body = json!({ "password": PASSWORD, "code": used });
        let refused = server.request(&session, "POST", CONFIRM, &body);
        refused.assert_error(401, "invalid_credentials", Some("code"));
        let body = json!({ "code": used });
        let refused = server.request(&session, "POST", &format!("{FACTOR}/off"), &body);
        refused.assert_error(401, "invalid_credentials", Some("code"));
    }
    // The used code that was sent again did not count as a guess, so all twenty guesses of new clients are left.
    let made = (0..40).filter(|client| {
        let from = format!("203.0.113.{}", client + 100);
        server.sign_in_from_address(&from, ANNA, &wrong).status == 401
    });
    assert_eq!(made.count(), 20);
    server.sign_in_from_address(own, ANNA, &newer).expect(201);
}

#[test]
fn attacker_with_password_cannot_lock_out_the_owner() {
    let server = OperatorServer::open();
    let owner = server.turn_on_factor();
    let (own, phone) = ("198.51.100.7", "198.51.100.8");
    for (client, steps) in [(own, 0), (phone, 1)] {
        let code = json!(server.factor_code(&owner.secret, steps));
        server.sign_in_from_address(client, ANNA, &code).expect(201);
    }
    server.advance_ms(3 * STEP_MS);
    let near = [-1, 0, 1].map(|steps| server.factor_code(&owner.secret, steps));
    let wrong = json!(code_not_in(&near));
    // An attacker knows the password, signs in from many clients, and guesses codes from each of these clients.
    let guess = |client: usize| {
        let from = format!("203.0.113.{client}");
        server.sign_in_from_address(&from, ANNA, &wrong).status
    };
    let made = (0..40).filter(|client| guess(*client) == 401).count();
    assert_eq!(made, 20, "all together");
    let refused = server.sign_in_from_address("203.0.113.99", ANNA, &json!(near[1]));
    refused.assert_error(429, "too_many_attempts", None);
    // Wrong passwords lock out every client except those that signed in with a code. The attacker's clients do not
    // displace the clients that signed in.
    let body = json!({ "email": ANNA, "password": "wrong" });
    let fail = |at: usize| {
        let from = format!("203.0.{}.{}", at / 250, at % 250 + 1);
        server.request_from_address(&from, "", "POST", SESSION, &body).status
    };
    assert!((0..400).any(|at| fail(at) == 429));
    server.sign_in_from_address(own, ANNA, &json!(near[1])).expect(201);
    server.sign_in_from_address(phone, ANNA, &json!(near[2])).expect(201);
    server.advance_ms(3 * STEP_MS);
    let body = json!({ "password": PASSWORD, "code": server.factor_code(&owner.secret, 0) });
    let begun =
        server.sign_in_from_address(own, ANNA, &json!(server.factor_code(&owner.secret, 1)));
    let session = begun.expect(201).session_cookie();
    server.request(&session, "POST", CONFIRM, &body).assert_error(
        401,
        "invalid_credentials",
        Some("code"),
    );
    server.advance_ms(3 * STEP_MS);
    let body = json!({ "password": PASSWORD, "code": server.factor_code(&owner.secret, 0) });
    server.request(&session, "POST", CONFIRM, &body).expect(204);
    // Guesses from the owner's own address are limited as well.
    let guess = || server.sign_in_from_address(own, ANNA, &wrong).status;
    let made = (0..40).filter(|_| guess() == 401).count();
    assert_eq!(made, 6, "one client");
}

#[test]
fn unverified_code_does_not_make_a_client_known() {
    let server = OperatorServer::open();
    let guesser = |number: usize| format!("203.0.113.{number}");
    // An attacker who knows the password sends a code in two situations: while no factor is on, and while a factor is
    // on that is turned off later.
    for number in 0..4 {
        let begun = server.sign_in_from_address(&guesser(number), ANNA, &json!("000000"));
        begun.expect(201);
    }
    let owner = server.turn_on_factor();
    for number in 4..8 {
        server.advance_ms(STEP_MS);
        let code = json!(server.factor_code(&owner.secret, 0));
        server.sign_in_from_address(&guesser(number), ANNA, &code).expect(201);
    }
    server.advance_ms(STEP_MS);
    let body = json!({ "code": server.factor_code(&owner.secret, 0) });
    let off = format!("{FACTOR}/off");
    server.request(&owner.cookie, "POST", &off, &body).expect(204);
    // These clients are not known, so all of them together may guess twenty times.
    let owner = server.turn_on_factor();
    let near = [-1, 0, 1].map(|steps| server.factor_code(&owner.secret, steps));
    let (right, wrong) = (json!(near[1]), json!(code_not_in(&near)));
    let guess =
        |number: usize, code: &Value| server.sign_in_from_address(&guesser(number), ANNA, code);
    let guesses = (0..6).flat_map(|_| 0..8);
    let made = guesses.filter(|number| guess(*number, &wrong).status == 401);
    assert_eq!(made.count(), 20);
    for number in [0, 4] {
        guess(number, &right).assert_error(429, "too_many_attempts", None);
    }
    // The owner's client is known, because its code was verified when the factor was turned on.
    server.sign_in(ANNA, &right).expect(201);
}

#[test]
fn second_factor_is_required_with_every_password() {
    let server = OperatorServer::open();
    let owner = server.turn_on_factor();
    let begin = |cookie: &str| server.request(cookie, "POST", FACTOR, &NULL);
    server.advance_ms(900_000);
    begin(&owner.cookie).assert_error(403, "reauthentication_required", None);
    let confirm = |code: &Value| {
        let body = json!({ "password": PASSWORD, "code": code });
        server.request(&owner.cookie, "POST", CONFIRM, &body)
    };
    confirm(&NULL).assert_error(401, "second_factor_required", Some("code"));
    begin(&owner.cookie).assert_error(403, "reauthentication_required", None);
    confirm(&json!(server.factor_code(&owner.secret, 5))).assert_error(
        401,
        "invalid_credentials",
        Some("code"),
    );
    confirm(&json!(server.factor_code(&owner.secret, 0))).expect(204);
    begin(&owner.cookie).assert_error(409, "invalid_transition", None);
    let path = "/dashboard/api/session/password";
    let change = |code: &Value| {
        let body = json!({ "password": PASSWORD, "newPassword": "another password", "code": code });
        server.request(&owner.cookie, "PUT", path, &body)
    };
    change(&NULL).assert_error(401, "second_factor_required", Some("code"));
    change(&json!(server.factor_code(&owner.secret, 0))).assert_error(
        401,
        "invalid_credentials",
        Some("code"),
    );
    server.request(&owner.cookie, "GET", SESSION, &NULL).expect(200);
    change(&json!(server.factor_code(&owner.secret, 1))).expect(204);
    server.request(&owner.cookie, "GET", SESSION, &NULL).assert_error(401, "unauthorized", None);
    // A new password does not turn off the factor.
    let body = json!({ "email": ANNA, "password": "another password" });
    server.request("", "POST", SESSION, &body).assert_error(
        401,
        "second_factor_required",
        Some("code"),
    );
}

#[test]
fn other_operator_turns_off_a_lost_factor() {
    let server = OperatorServer::open();
    let owner = server.turn_on_factor();
    let ben = server.session_cookie(BEN);
    let listed = server.request(&ben, "GET", "/dashboard/api/users", &NULL).expect(200);
    let users = listed.json()["data"].clone();
    assert!(users[0]["secondFactorAt"].is_string() && users[1]["secondFactorAt"].is_null());
    assert!(!listed.text.contains(&owner.secret));
    let of = |user: &Value| format!("/dashboard/api/users/{}", user["id"].as_str().unwrap());
    let off = |cookie: &str, user: &Value| {
        server.request(cookie, "DELETE", &format!("{}/second-factor", of(user)), &NULL)
    };
    // Setting a password or disabling the user for a while does not turn off the factor.
    let change = |body: &Value| server.request(&ben, "PATCH", &of(&users[0]), body);
    change(&json!({ "password": PASSWORD })).expect(200);
    change(&json!({ "disabled": true })).expect(200);
    server.sign_in(ANNA, &NULL).assert_error(401, "invalid_credentials", None);
    change(&json!({ "disabled": false })).expect(200);
    server.sign_in(ANNA, &NULL).assert_error(401, "second_factor_required", Some("code"));
    let anna = server
        .sign_in(ANNA, &json!(server.factor_code(&owner.secret, 0)))
        .expect(201)
        .session_cookie();
    // Users need a code to turn off their own factor.
    off(&anna, &users[0]).assert_error(403, "forbidden", None);
    off(&ben, &users[0]).expect(204);
    server.request(&anna, "GET", SESSION, &NULL).assert_error(401, "unauthorized", None);
    let log = server.factor_audit_entries();
    assert!(
        log.ends_with(&format!(
            "{BEN} user.second_factor_off {}",
            users[0]["id"].as_str().unwrap()
        ))
    );
    let anna = server.session_cookie(ANNA);
    // The second request finds no second factor to turn off, and still succeeds.
    off(&ben, &users[0]).expect(204);
    assert_eq!(server.factor_audit_entries(), log);
    server.request(&anna, "GET", SESSION, &NULL).expect(200);
    let nobody = json!({ "id": "01a1fd55-7a80-7af2-9132-000000000009" });
    off(&ben, &nobody).assert_error(404, "not_found", None);
}

#[test]
fn command_line_turns_off_factor_while_server_runs() {
    let server = OperatorServer::open();
    let owner = server.turn_on_factor();
    assert_eq!(
        run_coffer_json(&server.file(), &["user", "list", "--json"])["data"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    let off = run_coffer_json(&server.file(), &["user", "second-factor", "off", ANNA]);
    assert_eq!((&off["email"], &off["secondFactorAt"]), (&json!(ANNA), &NULL));
    server.request(&owner.cookie, "GET", SESSION, &NULL).assert_error(401, "unauthorized", None);
    server.session_cookie(ANNA);
    assert!(server.factor_audit_entries().contains("; command line user.second_factor_off"));
    assert_eq!(server.query_text("select count(*) from recovery_codes"), "0");
}
