//! The second factor of a user: turned on and off, and each code taken once.

use crate::support::second_factor::{
    ANNA, BEN, FACTOR, FactorOwner, NULL, OperatorServer, PASSWORD, SESSION, STEP_MS, code_at,
    wrong_code,
};
use crate::support::{agent, send};
use serde_json::json;
use std::sync::Barrier;

#[test]
fn codes_here_are_those_of_the_rfc() {
    let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
    for (seconds, code) in [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (20_000_000_000, "353130"),
    ] {
        assert_eq!(code_at(secret, seconds / 30), code);
    }
}

#[test]
fn a_first_code_turns_it_on() {
    let house = OperatorServer::open();
    let (cookie, other) = (house.session_cookie(ANNA), house.session_cookie(ANNA));
    let confirm = format!("{FACTOR}/confirm");
    let code = |code: &str| json!({ "code": code });
    let early = house.request(&cookie, "POST", &confirm, &code("123456"));
    early.assert_error(409, "invalid_transition", None);
    let first = house
        .request(&cookie, "POST", FACTOR, &NULL)
        .expect(201)
        .json();
    let begun = house
        .request(&cookie, "POST", FACTOR, &NULL)
        .expect(201)
        .json();
    let (first, secret) = (
        first["secret"].as_str().unwrap(),
        begun["secret"].as_str().unwrap(),
    );
    assert_ne!(first, secret);
    let link = format!(
        "otpauth://totp/Coffer:anna%40shop.test?secret={secret}&issuer=Coffer&algorithm=SHA1&digits=6&period=30"
    );
    assert_eq!(begun["uri"], link);
    // What a page draws: the finder in the corner, behind the white margin.
    let path = begun["qr"]["path"].as_str().unwrap();
    assert!(path.starts_with("M4 4h7v1h-7z"), "{path}");
    assert!((41..=185).contains(&begun["qr"]["size"].as_i64().unwrap()));
    // Nothing is asked for yet.
    house.session_cookie(ANNA);
    let replaced = house.request(&cookie, "POST", &confirm, &code(&house.code(first, 0)));
    replaced.assert_error(401, "invalid_credentials", Some("code"));
    for (body, param) in [
        (json!({}), "code"),
        (json!({ "code": 123_456 }), "code"),
        (json!({ "code": "12345" }), "code"),
        (json!({ "code": "123456", "more": 1 }), "more"),
    ] {
        let refused = house.request(&cookie, "POST", &confirm, &body);
        refused.assert_error(400, "invalid_request", Some(param));
    }
    let shown = house.code(secret, 0);
    let on = house
        .request(&cookie, "POST", &confirm, &code(&shown))
        .expect(200)
        .json();
    assert_eq!(on["codes"].as_array().unwrap().len(), 10);
    let session = house
        .request(&cookie, "GET", SESSION, &NULL)
        .expect(200)
        .json();
    assert_eq!(
        session["secondFactor"],
        json!({ "enabled": true, "recoveryCodesLeft": 10 })
    );
    house
        .request(&other, "GET", SESSION, &NULL)
        .assert_error(401, "unauthorized", None);
    for path in [FACTOR, &confirm] {
        let again = house.request(&cookie, "POST", path, &code(&house.code(secret, 1)));
        again.assert_error(409, "invalid_transition", None);
    }
}

#[test]
fn who_signs_in_gives_a_code_that_was_not_used() {
    let house = OperatorServer::open();
    let FactorOwner { secret, .. } = &house.turn_on_factor();
    let shown = house.code(secret, -1);
    // Only who knows the password is told that a code is needed; a wrong password uses up none.
    house
        .sign_in(ANNA, &NULL)
        .assert_error(401, "second_factor_required", Some("code"));
    let next = house.code(secret, 0);
    for code in [NULL, json!(next)] {
        let body = json!({ "email": ANNA, "password": "wrong", "code": code });
        let refused = house.request("", "POST", SESSION, &body);
        refused.assert_error(401, "invalid_credentials", None);
    }
    house
        .sign_in(ANNA, &json!("12"))
        .assert_error(400, "invalid_request", Some("code"));
    // The first code was used; the one of the step before is older.
    for used in [shown, house.code(secret, -2)] {
        let refused = house.sign_in(ANNA, &json!(used));
        refused.assert_error(401, "invalid_credentials", Some("code"));
    }
    let begun = house.sign_in(ANNA, &json!(next)).expect(201).json();
    assert_eq!(begun["secondFactor"]["enabled"], true);
    house
        .sign_in(ANNA, &json!(next))
        .assert_error(401, "invalid_credentials", Some("code"));
    // Somebody who has none signs in as before, whatever code is sent along.
    house.sign_in(BEN, &json!("123456")).expect(201);
}

#[test]
fn a_code_turns_it_off() {
    let house = OperatorServer::open();
    let FactorOwner { cookie, secret, .. } = &house.turn_on_factor();
    let code = |code: &str| json!({ "code": code });
    let used = house.code(secret, -1);
    let off = format!("{FACTOR}/off");
    house
        .request(cookie, "POST", &off, &json!({}))
        .assert_error(400, "invalid_request", Some("code"));
    house
        .request(cookie, "POST", &off, &code(&used))
        .assert_error(401, "invalid_credentials", Some("code"));
    house.advance_ms(3 * STEP_MS);
    house
        .request(cookie, "POST", &off, &code(&house.code(secret, 0)))
        .expect(204);
    house
        .request(cookie, "POST", &off, &code(&house.code(secret, 1)))
        .assert_error(409, "invalid_transition", None);
    let session = house
        .request(cookie, "GET", SESSION, &NULL)
        .expect(200)
        .json();
    assert_eq!(
        session["secondFactor"],
        json!({ "enabled": false, "recoveryCodesLeft": 0 })
    );
    let left = "select concat(second_factor_secret, second_factor_at) from users where seq = 1";
    assert_eq!(house.query_text(left), "");
    assert_eq!(house.query_text("select count(*) from used_steps"), "0");
    assert_eq!(house.query_text("select count(*) from recovery_codes"), "0");
    house.session_cookie(ANNA);
    let id = "01a1fd55-7a80-7af2-9132-000000000001";
    assert_eq!(
        house.factor_log(),
        format!("{ANNA} user.second_factor_on {id}; {ANNA} user.second_factor_off {id}")
    );
    assert_eq!(
        house.query_text(&format!(
            "select count(*) from audit_log where detail like '%{secret}%'"
        )),
        "0"
    );
}

#[test]
fn a_code_is_taken_one_step_early_or_late_and_once() {
    let mut house = OperatorServer::open();
    let owner = house.turn_on_factor();
    for (steps, status) in [(-2, 401), (2, 401), (-1, 201), (0, 201), (1, 201)] {
        house.advance_ms(300_000);
        let code = json!(house.code(&owner.secret, steps));
        let answer = house.sign_in(ANNA, &code);
        assert_eq!(answer.status, status, "{steps}: {}", answer.text);
        house
            .sign_in(ANNA, &code)
            .assert_error(401, "invalid_credentials", Some("code"));
    }
    // The code of a step that was passed over is not taken afterwards, nor is one after a restart.
    house.advance_ms(300_000);
    let code = house.code(&owner.secret, 0);
    house
        .sign_in(ANNA, &json!(house.code(&owner.secret, 1)))
        .expect(201);
    house.start();
    for code in [code, house.code(&owner.secret, 1)] {
        house
            .sign_in(ANNA, &json!(code))
            .assert_error(401, "invalid_credentials", Some("code"));
    }
    house.advance_ms(2 * STEP_MS);
    house
        .sign_in(ANNA, &json!(house.code(&owner.secret, 0)))
        .expect(201);
}

#[test]
fn who_turned_it_on_a_moment_ago_is_told_to_wait_for_the_next_code() {
    let house = OperatorServer::open();
    let FactorOwner { cookie, secret, .. } = &house.turn_on_factor();
    let off = format!("{FACTOR}/off");
    let try_off = |code: String| house.request(cookie, "POST", &off, &json!({ "code": code }));
    let used = try_off(house.code(secret, -1));
    assert!(
        used.text.contains("was used already; wait for the next"),
        "{}",
        used.text
    );
    used.assert_error(401, "invalid_credentials", Some("code"));
    let wrong = try_off(wrong_code(
        &[-1, 0, 1].map(|steps| house.code(secret, steps)),
    ));
    assert!(!wrong.text.contains("was used already"), "{}", wrong.text);
    wrong.assert_error(401, "invalid_credentials", Some("code"));
    try_off(house.code(secret, 0)).expect(204);
}

#[test]
fn a_clock_that_was_ahead_locks_nobody_out_and_makes_no_code_work_twice() {
    const AHEAD_MS: i64 = 20 * 24 * 3_600_000;
    let mut house = OperatorServer::open();
    let FactorOwner { secret, .. } = &house.turn_on_factor();
    let tries = std::cell::Cell::new(0);
    let refused = |house: &OperatorServer, code: &str| {
        // From ever new clients: none of them is made to wait.
        tries.set(tries.get() + 1);
        let from = format!("203.0.113.{}", tries.get());
        house.sign_in_from(&from, ANNA, &json!(code)).assert_error(
            401,
            "invalid_credentials",
            Some("code"),
        );
    };
    let before = house.code(secret, 0);
    house.sign_in(ANNA, &json!(before)).expect(201);
    // The server's clock is set wrong, and right again.
    house.jump_ms(AHEAD_MS);
    let ahead = [0, 1].map(|steps| house.code(secret, steps));
    for code in &ahead {
        house.sign_in(ANNA, &json!(code)).expect(201);
    }
    house.jump_ms(-AHEAD_MS);
    house.start();
    refused(&house, &before);
    let next = house.code(secret, 1);
    house.sign_in(ANNA, &json!(next)).expect(201);
    // None works a second time, however often that happens.
    for _ in 0..3 {
        house.jump_ms(AHEAD_MS);
        ahead.iter().for_each(|code| refused(&house, code));
        house.jump_ms(-AHEAD_MS);
        for code in [&before, &next] {
            refused(&house, code);
        }
    }
    house.advance_ms(3 * STEP_MS);
    house
        .sign_in(ANNA, &json!(house.code(secret, 0)))
        .expect(201);
    // Not even when their time has come.
    house.advance_ms(AHEAD_MS - 3 * STEP_MS);
    ahead.iter().for_each(|code| refused(&house, code));
    house.advance_ms(3 * STEP_MS);
    house
        .sign_in(ANNA, &json!(house.code(secret, 0)))
        .expect(201);
}

#[test]
fn a_recovery_code_stands_in_once() {
    let house = OperatorServer::open();
    let owner = house.turn_on_factor();
    let codes = &owner.recovery;
    let written = [
        codes[0].clone(),
        codes[1].to_uppercase(),
        codes[2].replace('-', " "),
        codes[3].replace('-', ""),
    ];
    for (used, code) in written.iter().enumerate() {
        let begun = house.sign_in(ANNA, &json!(code)).expect(201).json();
        assert_eq!(begun["secondFactor"]["recoveryCodesLeft"], 9 - used);
        house
            .sign_in(ANNA, &json!(code))
            .assert_error(401, "invalid_credentials", Some("code"));
    }
    house.sign_in(BEN, &json!(codes[4])).expect(201);
    // One does as well to turn it off; all others are gone with it.
    let off = format!("{FACTOR}/off");
    house
        .request(&owner.cookie, "POST", &off, &json!({ "code": codes[4] }))
        .expect(204);
    assert_eq!(house.query_text("select count(*) from recovery_codes"), "0");
    assert_eq!(house.factor_log().matches("user.recovery_code").count(), 5);
    // They begin nothing.
    house
        .request(&owner.cookie, "POST", FACTOR, &NULL)
        .expect(201);
    let confirm = format!("{FACTOR}/confirm");
    let refused = house.request(
        &owner.cookie,
        "POST",
        &confirm,
        &json!({ "code": codes[5] }),
    );
    refused.assert_error(401, "invalid_credentials", Some("code"));
}

#[test]
fn the_same_code_at_once_makes_one_session() {
    let house = OperatorServer::open();
    let owner = house.turn_on_factor();
    let code = house.code(&owner.secret, 0);
    for (round, code) in [&code, &owner.recovery[0], &owner.recovery[1]]
        .into_iter()
        .enumerate()
    {
        let (barrier, url) = (Barrier::new(8), house.server.as_ref().unwrap().url());
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
            callers
                .into_iter()
                .map(|caller| caller.join().unwrap())
                .collect()
        });
        let made = |status: u16| statuses.iter().filter(|one| **one == status).count();
        assert_eq!((made(201), made(401)), (1, 7), "{statuses:?}");
    }
    // Anna's own, and one by each code.
    assert_eq!(house.query_text("select count(*) from sessions"), "4");
}
