//! How many attempts a receiver may have under way, case by case.

use super::{
    CROWD, FAILURES_MAX, OTHERS_MAX, QUICK_MS_MAX, RECEIVER_MAX, REMEMBERED_MAX, Receivers,
    SHARE_FIRST, SHARE_MAX, SLOW_MAX, THREADS_MAX, UnderWay, Waiting,
};
use crate::domain::time::Time;

/// As long as an attempt takes that hangs.
const HANGING_MS: i64 = 10_000;

/// A queue with something due, tried before or not.
fn waiting(name: &str, was_tried: bool) -> Waiting {
    Waiting {
        queue: name.to_owned(),
        due_at: Time(0),
        was_tried,
    }
}

/// Begins all that a queue has room for.
fn fill(receivers: &mut Receivers, name: &str) -> usize {
    let room = receivers.room(name);
    (0..room).for_each(|_| receivers.began(name, 0));
    room
}

/// Makes one attempt.
fn tried(receivers: &mut Receivers, name: &str, success: bool, latency_ms: i64) {
    receivers.began(name, 0);
    receivers.ended(name, success, latency_ms);
}

/// The names of so many.
fn names(what: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{what}{number}")).collect()
}

#[test]
fn a_share_grows_with_success_and_falls_with_failure() {
    let mut receivers = Receivers::default();
    let mut seen = Vec::new();
    for success in [true, true, true, true, true, false, true] {
        seen.push(receivers.room("a"));
        tried(&mut receivers, "a", success, 0);
    }
    assert_eq!(seen, [SHARE_FIRST, 4, 8, 16, SHARE_MAX, SHARE_MAX, 1]);
    assert_eq!(fill(&mut receivers, "a"), SHARE_FIRST);
    assert_eq!(
        (receivers.room("a"), receivers.under_way("a")),
        (0, SHARE_FIRST)
    );
}

#[test]
fn what_is_known_is_remembered_though_nothing_waits() {
    let mut receivers = Receivers::default();
    tried(&mut receivers, "quick", true, QUICK_MS_MAX);
    tried(&mut receivers, "slow", true, QUICK_MS_MAX + 1);
    receivers.keep(&[]);
    for name in names("hanging", 1_000) {
        fill(&mut receivers, &name);
    }
    assert_eq!(receivers.under_way.all(), OTHERS_MAX);
    assert_eq!((receivers.room("quick"), receivers.room("slow")), (4, 0));
}

#[test]
fn a_thousand_that_hang_leave_room_for_those_that_answered_quickly() {
    for (hung_before, most) in [(false, OTHERS_MAX), (true, SLOW_MAX)] {
        let mut receivers = Receivers::default();
        let quick = names("quick", THREADS_MAX - OTHERS_MAX);
        for name in &quick {
            tried(&mut receivers, name, true, 1);
        }
        // It refuses, but keeps nobody waiting.
        tried(&mut receivers, "refusing", false, 1);
        for name in names("hanging", 1_000) {
            if hung_before {
                tried(&mut receivers, &name, false, HANGING_MS);
            }
            fill(&mut receivers, &name);
        }
        assert_eq!(receivers.under_way.all(), most);
        assert_eq!(receivers.room("new"), usize::from(hung_before));
        assert_eq!(receivers.room("refusing"), 1);
        for name in &quick {
            let room = receivers.room(name);
            assert!((1..=SHARE_FIRST).contains(&room), "{name}");
            receivers.began(name, 0);
        }
        assert!(receivers.under_way.all() <= THREADS_MAX);
    }
}

#[test]
fn those_that_answered_quickly_and_hang_now_leave_room_for_one_another() {
    let mut receivers = Receivers::default();
    for name in names("quick", 1_000) {
        for _ in 0..10 {
            tried(&mut receivers, &name, true, 1);
        }
    }
    let begun: Vec<usize> = names("quick", 1_000)
        .iter()
        .map(|name| fill(&mut receivers, name))
        .collect();
    // The first get their whole share, then each gets the first, until no sender is left.
    let first: Vec<usize> = begun.iter().copied().take(5).collect();
    assert_eq!(
        first,
        [SHARE_MAX, SHARE_MAX, SHARE_MAX, SHARE_MAX, SHARE_FIRST]
    );
    assert_eq!(begun.iter().sum::<usize>(), THREADS_MAX);
    let hanging = names("quick", 1_000);
    for (name, begun) in hanging.iter().zip(begun) {
        for _ in 0..begun {
            receivers.ended(name, false, HANGING_MS);
        }
    }
    assert_eq!(receivers.under_way, UnderWay::default());
    let slow = hanging.iter().map(|name| fill(&mut receivers, name));
    // Those that were tried are known to hang; the others are taken to be quick still.
    assert_eq!(slow.sum::<usize>(), THREADS_MAX);
    assert!(receivers.under_way.slow > 0 && receivers.under_way.slow <= SLOW_MAX);
}

#[test]
fn in_a_crowd_one_of_whom_nothing_is_known_gets_one_at_a_time() {
    let mut receivers = Receivers::default();
    for name in names("hanging", 100) {
        assert!(fill(&mut receivers, &name) > 0);
    }
    assert!((CROWD..OTHERS_MAX).contains(&receivers.under_way.all()));
    assert_eq!(fill(&mut receivers, "new"), 1);
    receivers.ended("new", true, 1);
    assert_eq!(receivers.room("new"), SHARE_FIRST);
}

#[test]
fn one_receiver_gets_no_more_under_many_names() {
    let mut receivers = Receivers::default();
    let begun = names("https://host", 1_000)
        .iter()
        .map(|host| fill(&mut receivers, &format!("{host} account")))
        .sum::<usize>();
    assert_eq!(begun, RECEIVER_MAX);
    assert_eq!(receivers.room("https://host0 other"), SHARE_FIRST);
}

#[test]
fn after_twenty_failures_in_a_row_there_are_pauses_until_one_is_taken() {
    let mut receivers = Receivers::new(50);
    let fail = |receivers: &mut Receivers, host: u32| {
        let name = format!("https://host{host} account");
        receivers.began(&name, 1_000);
        receivers.ended(&name, false, 1);
    };
    for host in 1..FAILURES_MAX {
        fail(&mut receivers, host);
        assert_eq!(receivers.pause_ms("https://host1 account", 1_000), 0);
    }
    fail(&mut receivers, 1);
    let pauses = [1_000, 1_010, 1_049, 1_050, 9_000]
        .map(|now_ms| receivers.pause_ms("https://host1 account", now_ms));
    assert_eq!(pauses, [50, 40, 1, 0, 0]);
    // Under another name it is the same receiver; another is not.
    assert_eq!(receivers.pause_ms("https://elsewhere account", 1_000), 50);
    assert_eq!(receivers.pause_ms("https://host1 other", 1_000), 0);
    receivers.keep(&[]);
    assert_eq!(receivers.pause_ms("https://host1 account", 1_000), 50);
    tried(&mut receivers, "https://host1 account", true, 1);
    assert_eq!(receivers.pause_ms("https://host1 account", 0), 0);
    // Without pauses, as in the sandbox, there are none.
    let mut receivers = Receivers::new(0);
    (0..100).for_each(|_| fail(&mut receivers, 1));
    assert_eq!(receivers.pause_ms("https://host1 account", 1_000), 0);
}

#[test]
fn whoever_had_no_turn_for_the_longest_time_is_next() {
    let mut receivers = Receivers::default();
    let all: Vec<Waiting> = ["a", "b", "c", "d"].map(|name| waiting(name, false)).into();
    for name in ["b", "a", "d", "b"] {
        tried(&mut receivers, name, false, 1);
    }
    let turns = receivers.in_turn(&all).into_iter();
    let turns: Vec<&str> = turns.map(|one| one.queue.as_str()).collect();
    assert_eq!(turns, ["c", "a", "d", "b"]);
}

#[test]
fn what_failed_before_a_restart_is_no_stranger_after_it() {
    let mut receivers = Receivers::default();
    receivers.keep(&[waiting("failed", true), waiting("new", false)]);
    assert_eq!((receivers.room("failed"), receivers.room("new")), (1, 4));
    for name in names("failed", 1_000) {
        receivers.keep(&[waiting(&name, true)]);
        fill(&mut receivers, &name);
    }
    assert_eq!(
        (receivers.under_way.slow, receivers.room("new")),
        (SLOW_MAX, 1)
    );
    // What is known by its own answers stays known by them.
    let mut receivers = Receivers::default();
    tried(&mut receivers, "quick", true, 1);
    receivers.keep(&[waiting("quick", true)]);
    assert_eq!(receivers.room("quick"), SHARE_FIRST);
}

#[test]
fn no_more_is_remembered_than_may_be_and_nobody_forgets_for_another() {
    let mut receivers = Receivers::default();
    tried(&mut receivers, "https://shop one", true, 1);
    receivers.began("https://busy one", 0);
    for host in 0..REMEMBERED_MAX.saturating_mul(2) {
        tried(&mut receivers, &format!("https://{host} many"), false, 1);
    }
    let waits = waiting("https://0 many", true);
    receivers.keep(std::slice::from_ref(&waits));
    assert!(receivers.queues.len() <= REMEMBERED_MAX);
    assert_eq!(receivers.room("https://shop one"), SHARE_FIRST);
    assert_eq!(receivers.under_way("https://busy one"), 1);
    assert!(receivers.queues.contains_key(&waits.queue));
    assert_eq!(receivers.receivers.len(), 2);
    receivers.keep(&[]);
    assert_eq!(
        receivers.receivers.get("many").map(|many| many.queues),
        Some(receivers.queues.len().saturating_sub(2))
    );
}
