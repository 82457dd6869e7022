//! The second factor of a user: activation, deactivation and single use of codes.

use crate::support::second_factor::{
    ANNA, BEN, FACTOR, FactorOwner, NULL, OperatorServer, PASSWORD, SESSION, STEP_MS, code_at_step,
    code_not_in,
};
use crate::support::{agent, send};
use serde_json::json;
use std::sync::Barrier;

#[test]
fn codes_match_the_rfc_test_vectors() {
    let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
    for (seconds, code) in [(59, "287082"), (1_111_111_109, "081804"), (20_000_000_000, "353130")] {
        assert_eq!(code_at_step(secret, seconds / 30), code);
    }
}

#[test]
fn first_code_activates_the_factor() {
    let server = OperatorServer::open();
    let (cookie, other) = (server.session_cookie(ANNA), server.session_cookie(ANNA));
    let confirm = format!("{FACTOR}/confirm");
    let code = |code: &str| json!({ "code": code });
    let early = server.request(&cookie, "POST", &confirm, &code("123456"));
    early.assert_error(409, "invalid_transition", None);
    let first = server.request(&cookie, "POST", FACTOR, &NULL).expect(201).json();
    let begun = server.request(&cookie, "POST", FACTOR, &NULL).expect(201).json();
    let (first, secret) = (first["secret"].as_str().unwrap(), begun["secret"].as_str().unwrap());
    assert_ne!(first, secret);
    let link = format!(
        "otpauth://totp/Coffer:anna%40shop.test?secret={secret}&issuer=Coffer&algorithm=SHA1&digits=6&period=30"
    );
    assert_eq!(begun["uri"], link);
    // The QR code starts with its finder pattern, inside the white margin.
    let path = begun["qr"]["path"].as_str().unwrap();
    assert!(path.starts_with("M4 4h7v1h-7z"), "{path}");
    assert!((41..=185).contains(&begun["qr"]["size"].as_i64().unwrap()));
    // Sign-in does not require the factor until the factor is confirmed.
    server.session_cookie(ANNA);
    let replaced = server.request(&cookie, "POST", &confirm, &code(&server.factor_code(first, 0)));
    replaced.assert_error(401, "invalid_credentials", Some("code"));
    for (body, param) in [
        (json!({}), "code"),
        (json!({ "code": 123_456 }), "code"),
        (json!({ "code": "12345" }), "code"),
        (json!({ "code": "123456", "more": 1 }), "more"),
    ] {
        let refused = server.request(&cookie, "POST", &confirm, &body);
        refused.assert_error(400, "invalid_request", Some(param));
    }
    let shown = server.factor_code(secret, 0);
    let on = server.request(&cookie, "POST", &confirm, &code(&shown)).expect(200).json();
    assert_eq!(on["codes"].as_array().unwrap().len(), 10);
    let session = server.request(&cookie, "GET", SESSION, &NULL).expect(200).json();
    assert_eq!(session["secondFactor"], json!({ "enabled": true, "recoveryCodesLeft": 10 }));
    server.request(&other, "GET", SESSION, &NULL).assert_error(401, "unauthorized", None);
    for path in [FACTOR, &confirm] {
        let again = server.request(&cookie, "POST", path, &code(&server.factor_code(secret, 1)));
        again.assert_error(409, "invalid_transition", None);
    }
}

#[test]
fn sign_in_requires_an_unused_code() {
    let server = OperatorServer::open();
    let FactorOwner { secret, .. } = &server.turn_on_factor();
    let shown = server.factor_code(secret, -1);
    // Only a user with the right password learns that a code is required. A wrong password uses up no code.
    server.sign_in(ANNA, &NULL).assert_error(401, "second_factor_required", Some("code"));
    let next = server.factor_code(secret, 0);
    for code in [NULL, json!(next)] {
        let body = json!({ "email": ANNA, "password": "wrong", "code": code });
        let refused = server.request("", "POST", SESSION, &body);
        refused.assert_error(401, "invalid_credentials", None);
    }
    server.sign_in(ANNA, &json!("12")).assert_error(400, "invalid_request", Some("code"));
    // The first code was used before, and the second code belongs to a time step that is too old.
    for used in [shown, server.factor_code(secret, -2)] {
        let refused = server.sign_in(ANNA, &json!(used));
        refused.assert_error(401, "invalid_credentials", Some("code"));
    }
    let begun = server.sign_in(ANNA, &json!(next)).expect(201).json();
    assert_eq!(begun["secondFactor"]["enabled"], true);
    server.sign_in(ANNA, &json!(next)).assert_error(401, "invalid_credentials", Some("code"));
    // The sign-in of a user without a second factor ignores the code.
    server.sign_in(BEN, &json!("123456")).expect(201);
}

#[test]
fn code_deactivates_the_factor() {
    let server = OperatorServer::open();
    let FactorOwner { cookie, secret, .. } = &server.turn_on_factor();
    let code = |code: &str| json!({ "code": code });
    let used = server.factor_code(secret, -1);
    let off = format!("{FACTOR}/off");
    server.request(cookie, "POST", &off, &json!({})).assert_error(
        400,
        "invalid_request",
        Some("code"),
    );
    server.request(cookie, "POST", &off, &code(&used)).assert_error(
        401,
        "invalid_credentials",
        Some("code"),
    );
    server.advance_ms(3 * STEP_MS);
    server.request(cookie, "POST", &off, &code(&server.factor_code(secret, 0))).expect(204);
    server.request(cookie, "POST", &off, &code(&server.factor_code(secret, 1))).assert_error(
        409,
        "invalid_transition",
        None,
    );
    let session = server.request(cookie, "GET", SESSION, &NULL).expect(200).json();
    assert_eq!(session["secondFactor"], json!({ "enabled": false, "recoveryCodesLeft": 0 }));
    let left = "select concat(second_factor_secret, second_factor_at) from users where seq = 1";
    assert_eq!(server.query_text(left), "");
    assert_eq!(server.query_text("select count(*) from used_steps"), "0");
    assert_eq!(server.query_text("select count(*) from recovery_codes"), "0");
    server.session_cookie(ANNA);
    let id = "01a1fd55-7a80-7af2-9132-000000000001";
    assert_eq!(
        server.factor_audit_entries(),
        format!("{ANNA} user.second_factor_on {id}; {ANNA} user.second_factor_off {id}")
    );
    assert_eq!(
        server
            .query_text(&format!("select count(*) from audit_log where detail like '%{secret}%'")),
        "0"
    );
}

#[test]
fn code_is_accepted_one_step_early_or_late_and_once() {
    let mut server = OperatorServer::open();
    let owner = server.turn_on_factor();
    for (steps, status) in [(-2, 401), (2, 401), (-1, 201), (0, 201), (1, 201)] {
        server.advance_ms(300_000);
        let code = json!(server.factor_code(&owner.secret, steps));
        let answer = server.sign_in(ANNA, &code);
        assert_eq!(answer.status, status, "{steps}: {}", answer.text);
        server.sign_in(ANNA, &code).assert_error(401, "invalid_credentials", Some("code"));
    }
    // The code of the next time step is used first. Afterwards, the server rejects this code and the code of the
    // current step, even after a restart.
    server.advance_ms(300_000);
    let code = server.factor_code(&owner.secret, 0);
    server.sign_in(ANNA, &json!(server.factor_code(&owner.secret, 1))).expect(201);
    server.start_server();
    for code in [code, server.factor_code(&owner.secret, 1)] {
        server.sign_in(ANNA, &json!(code)).assert_error(401, "invalid_credentials", Some("code"));
    }
    server.advance_ms(2 * STEP_MS);
    server.sign_in(ANNA, &json!(server.factor_code(&owner.secret, 0))).expect(201);
}

#[test]
fn code_used_for_activation_is_rejected_with_hint_to_wait() {
    let server = OperatorServer::open();
    let FactorOwner { cookie, secret, .. } = &server.turn_on_factor();
    let off = format!("{FACTOR}/off");
    let try_off = |code: String| server.request(cookie, "POST", &off, &json!({ "code": code }));
    let used = try_off(server.factor_code(secret, -1));
    assert!(used.text.contains("wait for the next code"), "{}", used.text);
    used.assert_error(401, "invalid_credentials", Some("code"));
    let wrong = try_off(code_not_in(&[-1, 0, 1].map(|steps| server.factor_code(secret, steps))));
    assert!(!wrong.text.contains("wait for the next code"), "{}", wrong.text);
    wrong.assert_error(401, "invalid_credentials", Some("code"));
    try_off(server.factor_code(secret, 0)).expect(204);
}

#[test]
fn clock_correction_locks_out_no_user_and_reuses_no_code() {
    const AHEAD_MS: i64 = 20 * 24 * 3_600_000;
    let mut server = OperatorServer::open();
    let FactorOwner { secret, .. } = &server.turn_on_factor();
    let tries = std::cell::Cell::new(0);
    let refused = |server: &OperatorServer, code: &str| {
        // Each attempt comes from a new client, so that none is rate limited.
        tries.set(tries.get() + 1);
        let from = format!("203.0.113.{}", tries.get());
        server.sign_in_from_address(&from, ANNA, &json!(code)).assert_error(
            401,
            "invalid_credentials",
            Some("code"),
        );
    };
    let before = server.factor_code(secret, 0);
    server.sign_in(ANNA, &json!(before)).expect(201);
    // The server's clock is set ahead and then corrected.
    server.shift_wall_clock_ms(AHEAD_MS);
    let ahead = [0, 1].map(|steps| server.factor_code(secret, steps));
    for code in &ahead {
        server.sign_in(ANNA, &json!(code)).expect(201);
    }
    server.shift_wall_clock_ms(-AHEAD_MS);
    server.start_server();
    refused(&server, &before);
    let next = server.factor_code(secret, 1);
    server.sign_in(ANNA, &json!(next)).expect(201);
    // No code is accepted twice, however often the clock changes.
    for _ in 0..3 {
        server.shift_wall_clock_ms(AHEAD_MS);
        ahead.iter().for_each(|code| refused(&server, code));
        server.shift_wall_clock_ms(-AHEAD_MS);
        for code in [&before, &next] {
            refused(&server, code);
        }
    }
    server.advance_ms(3 * STEP_MS);
    server.sign_in(ANNA, &json!(server.factor_code(secret, 0))).expect(201);
    // A used code is rejected even in the time step to which it belongs.
    server.advance_ms(AHEAD_MS - 3 * STEP_MS);
    ahead.iter().for_each(|code| refused(&server, code));
    server.advance_ms(3 * STEP_MS);
    server.sign_in(ANNA, &json!(server.factor_code(secret, 0))).expect(201);
}

#[test]
fn recovery_code_works_once() {
    let server = OperatorServer::open();
    let owner = server.turn_on_factor();
    let codes = &owner.recovery;
    let written = [
        codes[0].clone(),
        codes[1].to_uppercase(),
        codes[2].replace('-', " "),
        codes[3].replace('-', ""),
    ];
    for (used, code) in written.iter().enumerate() {
        let begun = server.sign_in(ANNA, &json!(code)).expect(201).json();
        assert_eq!(begun["secondFactor"]["recoveryCodesLeft"], 9 - used);
        server.sign_in(ANNA, &json!(code)).assert_error(401, "invalid_credentials", Some("code"));
    }
    server.sign_in(BEN, &json!(codes[4])).expect(201);
    // A recovery code can turn the factor off, which deletes all recovery codes.
    let off = format!("{FACTOR}/off");
    server.request(&owner.cookie, "POST", &off, &json!({ "code": codes[4] })).expect(204);
    assert_eq!(server.query_text("select count(*) from recovery_codes"), "0");
    assert_eq!(server.factor_audit_entries().matches("user.recovery_code").count(), 5);
    // Recovery codes cannot activate a factor.
    server.request(&owner.cookie, "POST", FACTOR, &NULL).expect(201);
    let confirm = format!("{FACTOR}/confirm");
    let refused = server.request(&owner.cookie, "POST", &confirm, &json!({ "code": codes[5] }));
    refused.assert_error(401, "invalid_credentials", Some("code"));
}

#[test]
fn concurrent_use_of_one_code_creates_one_session() {
    let server = OperatorServer::open();
    let owner = server.turn_on_factor();
    let code = server.factor_code(&owner.secret, 0);
    for (round, code) in [&code, &owner.recovery[0], &owner.recovery[1]].into_iter().enumerate() {
        let (barrier, url) = (Barrier::new(8), server.server.as_ref().unwrap().url());
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..8)
                .map(|caller| {
                    let (barrier, url) = (&barrier, &url);
                    scope.spawn(move || {
                        let from = format!("198.51.100.{}", 10 * round + caller + 1);
                        let body = json!({ "email": ANNA, "password": PASSWORD, "code": code });
                        let headers = [("x-forwarded-for", from.as_str())];
                        barrier.wait();
                        let path = format!("{url}{SESSION}");
                        send(&agent(), "POST", &path, &headers, &body.to_string()).status
                    })
                })
                .collect();
            callers.into_iter().map(|caller| caller.join().unwrap()).collect()
        });
        let made = |status: u16| statuses.iter().filter(|one| **one == status).count();
        assert_eq!((made(201), made(401)), (1, 7), "{statuses:?}");
    }
    // Four sessions exist: Anna's first session, and one session for each of the three codes.
    assert_eq!(server.query_text("select count(*) from sessions"), "4");
}
