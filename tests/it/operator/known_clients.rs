//! Known clients: a user who has signed in from a client before is not locked out by guessers.

use crate::support::second_factor::{
    ANNA, BEN, CONFIRM, NULL, OperatorServer, PASSWORD, SESSION, STEP_MS, code_not_in,
};
use serde_json::json;

const OWN_ADDRESS: &str = "203.0.113.1";
const OTHER_ADDRESS: &str = "203.0.113.99";

/// Sends wrong passwords for Anna, each from a new client address, until unknown clients are rejected. Returns the
/// number of wrong passwords before the limit.
#[track_caller]
fn guess_until_limited(server: &OperatorServer) -> usize {
    let body = json!({ "email": ANNA, "password": "wrong" });
    let made = (0..600).find(|client| {
        let from = format!("198.51.{}.{}", client / 250, client % 250 + 1);
        server.request_from_address(&from, "", "POST", SESSION, &body).status == 429
    });
    server.sign_in_from_address(OTHER_ADDRESS, ANNA, &NULL).assert_error(
        429,
        "too_many_attempts",
        None,
    );
    made.unwrap()
}

#[test]
fn known_client_signs_in_after_restart_and_flood() {
    let limits = coffer::http::PasswordLimits::default();
    let mut server = OperatorServer::with_guess_limit(limits.shared_guesses_max);
    server.sign_in_from_address(OWN_ADDRESS, ANNA, &NULL).expect(201);
    server.start_server();
    // The limit is 300 wrong passwords at once. More attempts are allowed as time passes, so the loop may make a few
    // more.
    let made = guess_until_limited(&server);
    assert!((300..320).contains(&made), "{made}");
    server.sign_in_from_address(OWN_ADDRESS, ANNA, &NULL).expect(201);
    // A successful sign-in resets the limit for all clients.
    server.sign_in_from_address(OTHER_ADDRESS, ANNA, &NULL).expect(201);
    // A client is stored for each user separately.
    assert_eq!(server.query_text("select count(*) from known_clients"), "2");
    server.sign_in_from_address(OWN_ADDRESS, BEN, &NULL).expect(201);
    assert_eq!(server.query_text("select count(*) from known_clients"), "3");
    let readable = "select count(*) from known_clients where instr(client, '203.0') > 0";
    assert_eq!(server.query_text(readable), "0");
}

#[test]
fn client_known_by_second_factor_signs_in_after_restart_and_flood() {
    let mut server = OperatorServer::open();
    // Both clients sign in with the password alone, before the second factor is turned on.
    for client in [OWN_ADDRESS, OTHER_ADDRESS] {
        server.sign_in_from_address(client, ANNA, &NULL).expect(201);
    }
    let owner = server.turn_on_factor();
    let code = json!(server.factor_code(&owner.secret, 0));
    server.sign_in_from_address(OWN_ADDRESS, ANNA, &code).expect(201);
    server.advance_ms(3 * STEP_MS);
    server.start_server();
    guess_until_limited(&server);
    let near = [-1, 0, 1].map(|steps| server.factor_code(&owner.secret, steps));
    server.sign_in_from_address(OWN_ADDRESS, ANNA, &json!(near[1])).expect(201);
    // Other clients send wrong codes.
    let wrong = json!(code_not_in(&near));
    let made = (0..40).filter(|client| {
        let from = format!("198.51.100.{client}");
        server.sign_in_from_address(&from, ANNA, &wrong).status == 401
    });
    assert_eq!(made.count(), 20);
    server.start_server();
    server.sign_in_from_address(OWN_ADDRESS, ANNA, &json!(near[2])).expect(201);
}

#[test]
fn client_that_changes_the_password_stays_known() {
    let server = OperatorServer::open();
    let (phone, own) = ("203.0.113.2", "192.0.2.1");
    server.sign_in_from_address(phone, ANNA, &NULL).expect(201);
    let session = server.session_cookie(ANNA);
    // The address of a signed-in client may change between requests.
    let body = json!({ "password": PASSWORD });
    server.request_from_address(OWN_ADDRESS, &session, "POST", CONFIRM, &body).expect(204);
    let known = |client: &str, password: &str| {
        let body = json!({ "email": ANNA, "password": password });
        server.request_from_address(client, "", "POST", SESSION, &body).status != 429
    };
    guess_until_limited(&server);
    for client in [phone, own, OWN_ADDRESS] {
        assert!(known(client, "wrong"), "{client}");
    }
    // A user with a session counts as a known client at every address.
    let body = json!({ "password": PASSWORD });
    server.request_from_address("203.0.113.3", &session, "POST", CONFIRM, &body).expect(204);
    let body = json!({ "password": PASSWORD, "newPassword": "another password" });
    server.request(&session, "PUT", "/dashboard/api/session/password", &body).expect(204);
    let strangers = (0..600).map(|client| format!("198.51.{}.{}", client / 250, client % 250 + 1));
    assert!(strangers.map(|from| known(&from, "wrong")).any(|known| !known));
    assert!(!known(phone, "another password"));
    assert!(!known(OWN_ADDRESS, "another password"));
    assert!(known(own, "another password"));
}

#[test]
fn eight_newest_clients_of_a_user_are_known() {
    let server = OperatorServer::open();
    server.sign_in_from_address(OTHER_ADDRESS, BEN, &NULL).expect(201);
    let sign_in = |client: u8| {
        let from = format!("203.0.113.{client}");
        server.sign_in_from_address(&from, ANNA, &NULL).expect(201).session_cookie();
    };
    (1..=8).for_each(sign_in);
    // The first client signs in again, so that the second client is the oldest.
    sign_in(1);
    sign_in(9);
    assert_eq!(server.query_text("select count(*) from known_clients where user = 1"), "8");
    assert_eq!(server.query_text("select count(*) from known_clients where user = 2"), "1");
    guess_until_limited(&server);
    let known = |client: u8| {
        let from = format!("203.0.113.{client}");
        let body = json!({ "email": ANNA, "password": "wrong" });
        server.request_from_address(&from, "", "POST", SESSION, &body).status == 401
    };
    assert!(known(1) && known(3) && known(9) && !known(2));
}
