//! Tests of the failure counters. Each test passes its own times to the counters.

use super::target::{CODE_RATE, EMAIL_INTERVAL_MS, SHARED_GUESSES_MAX};
use super::{
    ClientKind, FREE_FAILURES, FailureCounts, PasswordLimits, Target, WAIT_MS_MAX, WAIT_MS_MIN,
    wait_ms,
};
use crate::domain::Time;
use crate::domain::time::{HOUR_MS, SECOND_MS};
use crate::service::users::members::CredentialSnapshot;

const MAX: usize = 1_000;

fn limits() -> PasswordLimits {
    PasswordLimits { failures_remembered_max: MAX, ..PasswordLimits::default() }
}

fn credential_mark(password: u8) -> CredentialSnapshot {
    CredentialSnapshot { user: 1, password: [password; 32], factor: Some(Time(1)) }
}

/// Returns the target of an unknown client that guesses a user's password.
fn user_target(password: u8) -> Target {
    Target::User(credential_mark(password), ClientKind::Unknown)
}

/// Returns the target of a known client that guesses a user's password.
fn known_client_target() -> Target {
    Target::User(credential_mark(1), ClientKind::Known)
}

fn email_target(email: &str) -> Target {
    Target::UnknownEmail(email.to_owned())
}

/// Makes an attempt at the time `now`, in milliseconds. Returns `true` if the attempt is allowed.
fn make_attempt(counts: &mut FailureCounts, target: &Target, client: &str, now: i64) -> bool {
    let wait_ms = counts.wait_ms(target, client, Time(now));
    if wait_ms <= 0 {
        counts.count_failure(target, client, Time(now));
    }
    wait_ms <= 0
}

/// Makes one attempt each second, for `span_ms` milliseconds. Returns the number of allowed attempts.
fn allowed_attempts(
    counts: &mut FailureCounts,
    target: &Target,
    client: &str,
    span_ms: i64,
) -> usize {
    let step_ms = usize::try_from(SECOND_MS).unwrap_or(1);
    let moments = (0..span_ms).step_by(step_ms);
    moments.filter(|now| make_attempt(counts, target, client, *now)).count()
}

#[test]
fn wait_doubles_up_to_fifteen_minutes() {
    let waits: Vec<i64> = (0..10).map(|times| wait_ms(times, WAIT_MS_MIN)).collect();
    assert_eq!(waits, [0, 0, 0, 0, 0, 0, 2_000, 4_000, 8_000, 16_000]);
    assert_eq!(wait_ms(u32::MAX, WAIT_MS_MIN), WAIT_MS_MAX);
}

#[test]
fn first_failures_at_each_email_cause_no_wait() {
    for target in [user_target(1), email_target("A@x"), Target::SetUp] {
        let mut counts = FailureCounts::new(limits());
        for _ in 0..=FREE_FAILURES {
            assert!(make_attempt(&mut counts, &target, "a", 1_000));
        }
        assert_eq!(counts.wait_ms(&target, "a", Time(1_000)), 2_000);
        assert!(make_attempt(&mut counts, &target, "b", 1_000), "another client");
        assert!(make_attempt(&mut counts, &email_target("b@x"), "a", 1_000));
        assert!(make_attempt(&mut counts, &target, "a", 3_000), "when it is over");
        assert_eq!(counts.wait_ms(&target, "a", Time(3_000)), 4_000);
        counts.record_success(&target, "a");
        assert!(make_attempt(&mut counts, &target, "a", 3_000));
    }
    let mut counts = FailureCounts::new(limits());
    for email in ["a@x", "A@x", "a@X", "A@X", "a@x", "a@x"] {
        assert!(make_attempt(&mut counts, &email_target(email), "a", 0));
    }
    assert!(!make_attempt(&mut counts, &email_target("a@x"), "a", 0), "in any case");
}

#[test]
fn disconnected_attempt_is_not_counted() {
    for target in [user_target(1), email_target("a@x"), Target::SetUp] {
        let mut counts = FailureCounts::new(limits());
        for _ in 0..1_000 {
            assert!(make_attempt(&mut counts, &target, "a", 0));
            counts.undo_attempt(&target, "a", Time(0));
        }
        for _ in 0..=FREE_FAILURES {
            assert!(make_attempt(&mut counts, &target, "a", 0));
        }
        assert!(!make_attempt(&mut counts, &target, "a", 0));
        // The sixth failure still counts after the undo, so the seventh failure causes a wait of 2 × 2 = 4 seconds.
        assert!(make_attempt(&mut counts, &target, "a", 2_000));
        counts.undo_attempt(&target, "a", Time(2_000));
        assert!(make_attempt(&mut counts, &target, "a", 2_000));
        assert_eq!(counts.wait_ms(&target, "a", Time(2_000)), 4_000);
    }
}

#[test]
fn right_password_does_not_reset_code_failures() {
    let code = Target::Code(credential_mark(1), ClientKind::Unknown);
    let (recovery, own) =
        (Target::RecoveryCode(credential_mark(1)), Target::SessionCode(credential_mark(1)));
    let mut counts = FailureCounts::new(limits());
    for _ in 0..=FREE_FAILURES {
        assert!(make_attempt(&mut counts, &user_target(1), "a", 0));
        counts.record_success(&user_target(1), "a");
        assert!(make_attempt(&mut counts, &code, "a", 0));
    }
    assert!(!make_attempt(&mut counts, &code, "a", 0), "one client");
    let made = |counts: &mut FailureCounts, now: i64| -> i64 {
        let clients = 0..1_000;
        let one =
            |client: i64| i64::from(make_attempt(counts, &code, &format!("{now} {client}"), now));
        clients.map(one).sum()
    };
    let before = i64::from(FREE_FAILURES) + 1;
    assert_eq!(made(&mut counts, 0), CODE_RATE.burst - before, "all clients");
    // A right code undoes its own count, but not the counts of other attempts.
    counts.record_success(&code, "z");
    assert_eq!(made(&mut counts, 0), 1);
    assert!(!make_attempt(&mut counts, &code, "b", 0));
    assert_eq!(made(&mut counts, 3 * HOUR_MS), 3);
    // Attempts in the user's own session are counted separately.
    assert!(make_attempt(&mut counts, &own, "user 1", 0));
    // Recovery codes are never throttled, because they cannot be guessed.
    assert!(make_attempt(&mut counts, &recovery, "b", 0));
    // `credential_mark(2)` stands for a new password of the user, which starts a new count.
    let other = Target::Code(credential_mark(2), ClientKind::Unknown);
    assert!(make_attempt(&mut counts, &other, "b", 0));
}

#[test]
fn code_guesses_are_limited_across_clients() {
    const DAY_MS: i64 = 24 * HOUR_MS;
    let code = |client: ClientKind| Target::Code(credential_mark(1), client);
    let mut counts = FailureCounts::new(limits());
    // A guesser who knows the password makes an attempt from `client`. Returns 1 if the attempt is allowed, else 0.
    let guess = |counts: &mut FailureCounts, client: &str, now: i64| -> i64 {
        counts.record_success(&user_target(1), client);
        let is_known = if client == "phone" { ClientKind::Known } else { ClientKind::Unknown };
        i64::from(make_attempt(counts, &code(is_known), client, now))
    };
    let (mut by_new, mut at_phone) = (0, 0);
    for now in (0..30 * DAY_MS).step_by(15 * 60 * 1000) {
        // The user signs in every day from two known clients. The guesser also uses `phone`, so only sign-ins from
        // `phone` may be refused.
        if now % DAY_MS == 0 {
            for own in ["own", "phone"] {
                let is_let = make_attempt(&mut counts, &code(ClientKind::Known), own, now);
                assert!(is_let || own == "phone", "{now}");
                if is_let {
                    counts.record_success(&code(ClientKind::Known), own);
                }
            }
        }
        by_new += guess(&mut counts, &format!("new {now}"), now);
        by_new += guess(&mut counts, &format!("newer {now}"), now);
        at_phone += guess(&mut counts, "phone", now);
    }
    let most = CODE_RATE.burst + 30 * 24;
    assert!((most - 1..=most).contains(&by_new), "{by_new}");
    assert!((most / 2..=most).contains(&at_phone), "{at_phone}");
}

#[test]
fn old_failures_expire() {
    let mut counts = FailureCounts::new(limits());
    for now in [0, 2_000 + WAIT_MS_MAX + 1] {
        for _ in 0..=FREE_FAILURES {
            assert!(make_attempt(&mut counts, &user_target(1), "a", now));
        }
        assert!(!make_attempt(&mut counts, &user_target(1), "a", now));
    }
}

#[test]
fn long_guessing_does_not_lock_out_other_clients() {
    let mut counts = FailureCounts::new(limits());
    let made = allowed_attempts(&mut counts, &user_target(1), "stranger", 12 * HOUR_MS);
    assert!((40..80).contains(&made), "{made}");
    let now = 12 * HOUR_MS;
    assert!(make_attempt(&mut counts, &user_target(1), "own", now));
    assert!(!make_attempt(&mut counts, &user_target(1), "stranger", now - 1));
}

#[test]
fn guesses_of_many_clients_do_not_block_known_clients() {
    let mut counts = FailureCounts::new(limits());
    let mut made = 0;
    for client in 0..10_000 {
        made += i64::from(make_attempt(&mut counts, &user_target(1), &client.to_string(), 0));
    }
    assert_eq!(made, SHARED_GUESSES_MAX);
    assert!(counts.users.per_client.len() <= 301, "what is kept is bounded");
    assert!(!make_attempt(&mut counts, &user_target(1), "new", 0));
    assert!(!make_attempt(&mut counts, &user_target(1), "own", 0), "unless it is known");
    for _ in 0..=FREE_FAILURES {
        assert!(make_attempt(&mut counts, &known_client_target(), "own", 0));
    }
    assert!(!make_attempt(&mut counts, &known_client_target(), "own", 0), "strictly as all");
    assert!(make_attempt(&mut counts, &user_target(1), "new", EMAIL_INTERVAL_MS));
    // A right password from any client ends the wait for all clients.
    counts.record_success(&user_target(1), "new");
    assert!(make_attempt(&mut counts, &user_target(1), "newer", 0));
}

#[test]
fn one_client_is_limited_across_emails() {
    let mut counts = FailureCounts::new(limits());
    let mut made = 0;
    for email in 0..1_000 {
        made += i64::from(make_attempt(&mut counts, &email_target(&email.to_string()), "a", 0));
        // A sign-in to the guesser's own account does not raise the limit.
        if make_attempt(&mut counts, &user_target(1), "a", 0) {
            counts.record_success(&user_target(1), "a");
        }
    }
    assert_eq!(made, 30);
    assert!(make_attempt(&mut counts, &email_target("x"), "b", 0));
    assert!(make_attempt(&mut counts, &email_target("x"), "a", 20_000));
    assert!(!make_attempt(&mut counts, &email_target("x"), "a", 20_000));
}

#[test]
fn new_password_resets_failures() {
    let mut counts = FailureCounts::new(limits());
    for _ in 0..=FREE_FAILURES {
        assert!(make_attempt(&mut counts, &user_target(1), "own", 0));
    }
    assert!(!make_attempt(&mut counts, &user_target(1), "own", 0));
    assert!(make_attempt(&mut counts, &user_target(2), "own", 0));
}

#[test]
fn many_guesses_do_not_erase_earlier_failures() {
    let mut counts = FailureCounts::new(limits());
    for target in [user_target(1), email_target("early@x")] {
        for _ in 0..=FREE_FAILURES {
            assert!(make_attempt(&mut counts, &target, "a", 0));
        }
    }
    for other in 0..20_000 {
        let client = (other / 30).to_string();
        make_attempt(&mut counts, &email_target(&other.to_string()), &client, 0);
        make_attempt(&mut counts, &Target::SetUp, &other.to_string(), 0);
    }
    assert_eq!(counts.others.per_client.len(), MAX);
    assert!(counts.others.per_group.len() <= MAX && counts.clients.len() <= MAX);
    assert!(counts.set_up.per_client.len() <= 10_000);
    for target in [user_target(1), email_target("early@x")] {
        assert!(!make_attempt(&mut counts, &target, "a", 0), "not forgotten");
    }
    for _ in 0..=FREE_FAILURES {
        assert!(make_attempt(&mut counts, &user_target(1), "own", 0), "not kept out");
    }
    assert!(!make_attempt(&mut counts, &user_target(1), "own", 0), "and counted");
    let later = 2 * WAIT_MS_MAX;
    assert!(make_attempt(&mut counts, &email_target("late@x"), "a", later));
    assert_eq!(counts.others.per_client.len(), 1, "what is over is removed");
}
