//! Tests of the failure counters. Each test chooses its own times.

use super::target::{BY_EMAIL_MS, BY_USER, GUESSES_OF_ALL_MAX};
use super::{Client, Counts, FREE, PasswordLimits, Target, WAIT_MS_MAX, WAIT_MS_MIN, wait_ms};
use crate::domain::time::{HOUR_MS, SECOND_MS, Time};
use crate::service::operator::members::Mark;

const MAX: usize = 1_000;

fn limits() -> PasswordLimits {
    PasswordLimits {
        failures_remembered_max: MAX,
        ..PasswordLimits::default()
    }
}

fn mark(password: u8) -> Mark {
    Mark {
        user: 1,
        password: [password; 32],
        factor: Some(Time(1)),
    }
}

/// Returns the password of a user as the target of an unknown client.
fn user(password: u8) -> Target {
    Target::User(mark(password), Client::Unknown)
}

/// Returns the password of a user as the target of a known client.
fn known_user() -> Target {
    Target::User(mark(1), Client::Known)
}

fn nobody(email: &str) -> Target {
    Target::Nobody(email.to_owned())
}

/// Makes an attempt. Returns `true` if the attempt is allowed.
fn tries(counts: &mut Counts, target: &Target, client: &str, now: i64) -> bool {
    let wait_ms = counts.wait_ms(target, client, Time(now));
    if wait_ms <= 0 {
        counts.count(target, client, Time(now));
    }
    wait_ms <= 0
}

/// Makes an attempt each second. Returns the number of allowed attempts.
fn tries_for(counts: &mut Counts, target: &Target, client: &str, span_ms: i64) -> usize {
    let step_ms = usize::try_from(SECOND_MS).unwrap_or(1);
    let moments = (0..span_ms).step_by(step_ms);
    moments
        .filter(|now| tries(counts, target, client, *now))
        .count()
}

#[test]
fn waits_double_up_to_a_quarter_of_an_hour() {
    let waits: Vec<i64> = (0..10).map(|times| wait_ms(times, WAIT_MS_MIN)).collect();
    assert_eq!(waits, [0, 0, 0, 0, 0, 0, 2_000, 4_000, 8_000, 16_000]);
    assert_eq!(wait_ms(u32::MAX, WAIT_MS_MIN), WAIT_MS_MAX);
}

#[test]
fn a_few_failures_are_free_and_one_email_does_not_stop_another() {
    for target in [user(1), nobody("A@x"), Target::SetUp] {
        let mut counts = Counts::new(limits());
        for _ in 0..=FREE {
            assert!(tries(&mut counts, &target, "a", 1_000));
        }
        assert_eq!(counts.wait_ms(&target, "a", Time(1_000)), 2_000);
        assert!(tries(&mut counts, &target, "b", 1_000), "another client");
        assert!(tries(&mut counts, &nobody("b@x"), "a", 1_000));
        assert!(tries(&mut counts, &target, "a", 3_000), "when it is over");
        assert_eq!(counts.wait_ms(&target, "a", Time(3_000)), 4_000);
        counts.succeeded(&target, "a");
        assert!(tries(&mut counts, &target, "a", 3_000));
    }
    let mut counts = Counts::new(limits());
    for email in ["a@x", "A@x", "a@X", "A@X", "a@x", "a@x"] {
        assert!(tries(&mut counts, &nobody(email), "a", 0));
    }
    assert!(!tries(&mut counts, &nobody("a@x"), "a", 0), "in any case");
}

#[test]
fn who_hangs_up_learns_nothing_and_is_not_counted() {
    for target in [user(1), nobody("a@x"), Target::SetUp] {
        let mut counts = Counts::new(limits());
        for _ in 0..1_000 {
            assert!(tries(&mut counts, &target, "a", 0));
            counts.take_back(&target, "a", Time(0));
        }
        for _ in 0..=FREE {
            assert!(tries(&mut counts, &target, "a", 0));
        }
        assert!(!tries(&mut counts, &target, "a", 0));
        // Earlier failures still count after an attempt was undone.
        assert!(tries(&mut counts, &target, "a", 2_000));
        counts.take_back(&target, "a", Time(2_000));
        assert!(tries(&mut counts, &target, "a", 2_000));
        assert_eq!(counts.wait_ms(&target, "a", Time(2_000)), 4_000);
    }
}

#[test]
fn a_right_password_takes_back_no_wrong_code() {
    let code = Target::Code(mark(1), Client::Unknown);
    let (recovery, own) = (Target::RecoveryCode(mark(1)), Target::OwnCode(mark(1)));
    let mut counts = Counts::new(limits());
    for _ in 0..=FREE {
        assert!(tries(&mut counts, &user(1), "a", 0));
        counts.succeeded(&user(1), "a");
        assert!(tries(&mut counts, &code, "a", 0));
    }
    assert!(!tries(&mut counts, &code, "a", 0), "one client");
    let made = |counts: &mut Counts, now: i64| -> i64 {
        let clients = 0..1_000;
        let one = |client: i64| i64::from(tries(counts, &code, &format!("{now} {client}"), now));
        clients.map(one).sum()
    };
    let before = i64::from(FREE) + 1;
    assert_eq!(made(&mut counts, 0), BY_USER.burst - before, "all clients");
    // A right code undoes its own count, but not the counts of others.
    counts.succeeded(&code, "z");
    assert_eq!(made(&mut counts, 0), 1);
    assert!(!tries(&mut counts, &code, "b", 0));
    assert_eq!(made(&mut counts, 3 * HOUR_MS), 3);
    // Attempts in the user's own session are counted separately.
    assert!(tries(&mut counts, &own, "user 1", 0));
    // Recovery codes are never throttled, because they cannot be guessed.
    assert!(tries(&mut counts, &recovery, "b", 0));
    // A new password resets the count.
    let other = Target::Code(mark(2), Client::Unknown);
    assert!(tries(&mut counts, &other, "b", 0));
}

#[test]
fn guesses_at_codes_are_few_in_a_year_wherever_they_come_from() {
    const DAY_MS: i64 = 24 * HOUR_MS;
    let code = |client: Client| Target::Code(mark(1), client);
    let mut counts = Counts::new(limits());
    // Simulates a guesser who knows the password and uses a new client for each attempt, as fast as allowed.
    let guess = |counts: &mut Counts, client: &str, now: i64| -> i64 {
        counts.succeeded(&user(1), client);
        let is_known = if client == "phone" {
            Client::Known
        } else {
            Client::Unknown
        };
        i64::from(tries(counts, &code(is_known), client, now))
    };
    let (mut by_new, mut at_phone) = (0, 0);
    for now in (0..30 * DAY_MS).step_by(15 * 60 * 1000) {
        // The owner signs in every day from two clients. Only the client that the guesser also uses may be refused.
        if now % DAY_MS == 0 {
            for own in ["own", "phone"] {
                let is_let = tries(&mut counts, &code(Client::Known), own, now);
                assert!(is_let || own == "phone", "{now}");
                if is_let {
                    counts.succeeded(&code(Client::Known), own);
                }
            }
        }
        by_new += guess(&mut counts, &format!("new {now}"), now);
        by_new += guess(&mut counts, &format!("newer {now}"), now);
        at_phone += guess(&mut counts, "phone", now);
    }
    let most = BY_USER.burst + 30 * 24;
    assert!((most - 1..=most).contains(&by_new), "{by_new}");
    assert!((most / 2..=most).contains(&at_phone), "{at_phone}");
}

#[test]
fn what_is_long_past_is_forgotten() {
    let mut counts = Counts::new(limits());
    for now in [0, 2_000 + WAIT_MS_MAX + 1] {
        for _ in 0..=FREE {
            assert!(tries(&mut counts, &user(1), "a", now));
        }
        assert!(!tries(&mut counts, &user(1), "a", now));
    }
}

#[test]
fn a_stranger_who_guesses_for_hours_keeps_nobody_out() {
    let mut counts = Counts::new(limits());
    let made = tries_for(&mut counts, &user(1), "stranger", 12 * HOUR_MS);
    assert!((40..80).contains(&made), "{made}");
    let now = 12 * HOUR_MS;
    assert!(tries(&mut counts, &user(1), "own", now));
    assert!(!tries(&mut counts, &user(1), "stranger", now - 1));
}

#[test]
fn many_strangers_together_are_slowed_and_keep_no_known_client_out() {
    let mut counts = Counts::new(limits());
    let mut made = 0;
    for client in 0..10_000 {
        made += i64::from(tries(&mut counts, &user(1), &client.to_string(), 0));
    }
    assert_eq!(made, GUESSES_OF_ALL_MAX);
    assert!(
        counts.users.strictly.len() <= 301,
        "what is kept is bounded"
    );
    assert!(!tries(&mut counts, &user(1), "new", 0));
    assert!(
        !tries(&mut counts, &user(1), "own", 0),
        "unless it is known"
    );
    for _ in 0..=FREE {
        assert!(tries(&mut counts, &known_user(), "own", 0));
    }
    assert!(
        !tries(&mut counts, &known_user(), "own", 0),
        "strictly as all"
    );
    assert!(tries(&mut counts, &user(1), "new", BY_EMAIL_MS));
    // A right password from any client ends the wait for all.
    counts.succeeded(&user(1), "new");
    assert!(tries(&mut counts, &user(1), "newer", 0));
}

#[test]
fn one_client_does_not_try_one_password_at_many_emails() {
    let mut counts = Counts::new(limits());
    let mut made = 0;
    for email in 0..1_000 {
        made += i64::from(tries(&mut counts, &nobody(&email.to_string()), "a", 0));
        // A success at the guesser's own account does not raise the limit.
        if tries(&mut counts, &user(1), "a", 0) {
            counts.succeeded(&user(1), "a");
        }
    }
    assert_eq!(made, 30);
    assert!(tries(&mut counts, &nobody("x"), "b", 0));
    assert!(tries(&mut counts, &nobody("x"), "a", 20_000));
    assert!(!tries(&mut counts, &nobody("x"), "a", 20_000));
}

#[test]
fn a_new_password_starts_anew() {
    let mut counts = Counts::new(limits());
    for _ in 0..=FREE {
        assert!(tries(&mut counts, &user(1), "own", 0));
    }
    assert!(!tries(&mut counts, &user(1), "own", 0));
    assert!(tries(&mut counts, &user(2), "own", 0));
}

#[test]
fn a_flood_of_others_is_bounded_and_makes_no_guess_at_a_user_forgotten() {
    let mut counts = Counts::new(limits());
    for target in [user(1), nobody("early@x")] {
        for _ in 0..=FREE {
            assert!(tries(&mut counts, &target, "a", 0));
        }
    }
    for other in 0..20_000 {
        let client = (other / 30).to_string();
        tries(&mut counts, &nobody(&other.to_string()), &client, 0);
        tries(&mut counts, &Target::SetUp, &other.to_string(), 0);
    }
    assert_eq!(counts.others.strictly.len(), MAX);
    assert!(counts.others.loosely.len() <= MAX && counts.clients.len() <= MAX);
    assert!(counts.set_up.strictly.len() <= 10_000);
    for target in [user(1), nobody("early@x")] {
        assert!(!tries(&mut counts, &target, "a", 0), "not forgotten");
    }
    for _ in 0..=FREE {
        assert!(tries(&mut counts, &user(1), "own", 0), "not kept out");
    }
    assert!(!tries(&mut counts, &user(1), "own", 0), "and counted");
    let later = 2 * WAIT_MS_MAX;
    assert!(tries(&mut counts, &nobody("late@x"), "a", later));
    assert_eq!(counts.others.strictly.len(), 1, "what is over is removed");
}
