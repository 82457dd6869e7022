//! Tests of how many attempts a queue may have under way.

mod speeds;
mod waits;

use super::{
    ACCOUNT_OTHERS_MAX, ACCOUNT_SLOW_MAX, AttemptCounts, FAILURES_MAX, OTHERS_MAX, PROMPT_MS_MAX,
    PROMPT_SHARE_MAX, QUEUES_MANY, QUICK_MS_MAX, QueueAttempt, QueueSpeed, REMEMBERED_MAX,
    ReceiverStates, SHARE_FIRST, SHARE_MAX, SHARES_LIMITED_FROM, SLOW_MAX, THREADS_MAX,
    WaitingQueue,
};
use crate::domain::Time;
use crate::service::webhooks::DeliveryQueue;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Latency of an attempt that hangs until its time limit.
const HANGING_MS: i64 = 10_000;

/// Returns the number of the account with this name.
fn account(name: &str) -> i64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    i64::from_be_bytes(hasher.finish().to_be_bytes())
}

/// Returns the queue of an origin of an account's `webhookUrl`s.
fn queue(origin: &str, of: &str) -> DeliveryQueue {
    DeliveryQueue { seq: 1, account: account(of), origin: origin.to_owned(), endpoint: None }
}

/// Returns the queue of an endpoint of an account.
fn endpoint_queue(origin: &str, of: &str, endpoint: &str) -> DeliveryQueue {
    DeliveryQueue { endpoint: Some(endpoint.to_owned()), ..queue(origin, of) }
}

/// Returns a queue with a due delivery. `was_tried` is `true` if the queue was tried before.
fn waiting_queue(queue: DeliveryQueue, was_tried: bool) -> WaitingQueue {
    WaitingQueue { queue, due_at: Time(0), was_tried }
}

/// Begins as many attempts as a queue may have. Returns their number.
fn begin_allowed_attempts(receivers: &mut ReceiverStates, queue: &DeliveryQueue) -> usize {
    let room = receivers.free_slots(queue);
    (0..room).for_each(|_| drop(receivers.begin_attempt(queue, 0)));
    room
}

/// Begins as many attempts of these queues as possible. Returns their number.
fn begin_attempts_of_queues(receivers: &mut ReceiverStates, queues: &[DeliveryQueue]) -> usize {
    queues.iter().map(|queue| begin_allowed_attempts(receivers, queue)).sum()
}

/// Begins and ends one attempt.
fn make_attempt(
    receivers: &mut ReceiverStates,
    queue: &DeliveryQueue,
    is_success: bool,
    latency_ms: i64,
) {
    let attempt = receivers.begin_attempt(queue, 0);
    receivers.end_attempt(&attempt, is_success, latency_ms, 0);
}

/// Ends an attempt that began while its queue had this speed.
fn end_attempt(
    receivers: &mut ReceiverStates,
    queue: &DeliveryQueue,
    speed: QueueSpeed,
    latency_ms: i64,
) {
    let attempt = QueueAttempt { queue: queue.clone(), speed };
    let is_success = latency_ms < HANGING_MS;
    receivers.end_attempt(&attempt, is_success, latency_ms, 0);
}

/// Returns queues of one account.
fn queues_of(origin: &str, count: usize, account: &str) -> Vec<DeliveryQueue> {
    (0..count).map(|number| queue(&format!("https://{origin}{number}"), account)).collect()
}

/// Returns queues, each of a different account.
fn queues_of_new_accounts(count: usize) -> Vec<DeliveryQueue> {
    let numbers = 0..count;
    numbers
        .map(|number| queue(&format!("https://shop{number}"), &format!("account{number}")))
        .collect()
}

#[test]
fn queue_share_grows_with_success_and_falls_with_failure() {
    let mut receivers = ReceiverStates::default();
    let mut shares = Vec::new();
    for (is_success, latency_ms) in [
        (true, 0),
        (true, 0),
        (true, 0),
        (true, 0),
        (true, PROMPT_MS_MAX),
        (true, PROMPT_MS_MAX),
        (true, PROMPT_MS_MAX),
        (true, PROMPT_MS_MAX + 1),
        (true, PROMPT_MS_MAX),
        (false, 0),
        (true, 0),
    ] {
        shares.push(receivers.free_slots(&queue("a", "1")));
        make_attempt(&mut receivers, &queue("a", "1"), is_success, latency_ms);
    }
    assert_eq!(
        shares,
        [SHARE_FIRST, 4, 8, 16, 32, 64, PROMPT_SHARE_MAX, PROMPT_SHARE_MAX, SHARE_MAX, 64, 1]
    );
    assert_eq!(begin_allowed_attempts(&mut receivers, &queue("a", "1")), SHARE_FIRST);
    assert_eq!(
        (receivers.free_slots(&queue("a", "1")), receivers.attempts_under_way(&queue("a", "1"))),
        (0, SHARE_FIRST)
    );
}

#[test]
fn idle_queues_are_remembered() {
    let mut receivers = ReceiverStates::default();
    make_attempt(&mut receivers, &queue("quick", "1"), true, QUICK_MS_MAX);
    make_attempt(&mut receivers, &queue("slow", "2"), true, QUICK_MS_MAX + 1);
    receivers.refresh_queues(&[], 0);
    let begun = begin_attempts_of_queues(&mut receivers, &queues_of_new_accounts(1_000));
    assert_eq!(begun, OTHERS_MAX);
    assert_eq!(
        (receivers.free_slots(&queue("quick", "1")), receivers.free_slots(&queue("slow", "2"))),
        (4, 0)
    );
}

#[test]
fn account_with_a_thousand_hanging_origins_gets_a_third_of_the_senders() {
    for (hung_before, most) in [(false, THREADS_MAX / 3), (true, ACCOUNT_SLOW_MAX)] {
        let mut receivers = ReceiverStates::default();
        make_attempt(&mut receivers, &queue("https://quick", "1"), true, 1);
        let hanging = queues_of("hanging", 1_000, "1");
        for queue in &hanging {
            if hung_before {
                make_attempt(&mut receivers, queue, false, HANGING_MS);
            }
        }
        assert_eq!(begin_attempts_of_queues(&mut receivers, &hanging), most);
        // Queues of endpoints count as queues of their account.
        let room = receivers.free_slots(&endpoint_queue("https://new", "1", "endpoint"));
        assert_eq!(room, usize::from(hung_before));
        assert_eq!(receivers.free_slots(&queue("https://quick", "1")), SHARE_FIRST);
        // Queues of another account still get an attempt, even for the same origin.
        assert_eq!(receivers.free_slots(&queue("https://hanging0", "2")), 1);
        assert_eq!(receivers.free_slots(&queue("https://new", "2")), 1);
    }
}

#[test]
fn hanging_accounts_leave_senders_for_another_account() {
    let mut receivers = ReceiverStates::default();
    let mut begun = Vec::new();
    for account in 0..8 {
        let hanging = queues_of("hanging", 1_000, &account.to_string());
        begun.push(begin_attempts_of_queues(&mut receivers, &hanging));
        assert!(receivers.free_slots(&queue("https://new", "another")) > 0, "{begun:?}");
    }
    assert_eq!(begun, [256, 128, 64, 32, 16, 8, 4, 2]);
    // The number of attempts under way becomes the same for each account.
    for _ in 0..20 {
        for account in 0..8 {
            let hanging = queues_of("hanging", 1_000, &account.to_string());
            for queue in &hanging {
                if receivers.attempts_under_way(queue) > 0 {
                    end_attempt(&mut receivers, queue, QueueSpeed::Unknown, HANGING_MS);
                    break;
                }
            }
            begin_attempts_of_queues(&mut receivers, &hanging);
        }
    }
    assert!(receivers.free_slots(&queue("https://new", "another")) > 0);
    assert!(receivers.under_way.slow_or_unknown_count() <= OTHERS_MAX);
}

#[test]
fn quick_queues_get_senders_while_other_queues_hang() {
    let mut receivers = ReceiverStates::default();
    let quick = queues_of_new_accounts(THREADS_MAX - OTHERS_MAX);
    for queue in &quick {
        make_attempt(&mut receivers, queue, true, 1);
    }
    // This receiver rejects deliveries, but answers quickly.
    make_attempt(&mut receivers, &queue("https://refusing", "1"), false, 1);
    for account in 0..1_000 {
        begin_attempts_of_queues(&mut receivers, &queues_of("hanging", 4, &format!("h{account}")));
    }
    assert_eq!(receivers.under_way.total(), OTHERS_MAX);
    assert_eq!(receivers.free_slots(&queue("https://refusing", "1")), 1);
    for queue in &quick {
        let room = receivers.free_slots(queue);
        assert!((1..=SHARE_FIRST).contains(&room), "{queue:?}");
        receivers.begin_attempt(queue, 0);
    }
    assert_eq!(receivers.under_way.total(), THREADS_MAX);
    assert_eq!(receivers.free_slots(&queue("https://refusing", "1")), 0);
}

#[test]
fn hanging_queues_do_not_reduce_the_share_of_a_quick_queue() {
    let mut receivers = ReceiverStates::default();
    for _ in 0..10 {
        make_attempt(&mut receivers, &queue("https://busy", "1"), true, 1);
    }
    for account in 2..5 {
        begin_attempts_of_queues(
            &mut receivers,
            &queues_of("hanging", 1_000, &account.to_string()),
        );
    }
    assert!(receivers.under_way.slow_or_unknown_count() > SHARES_LIMITED_FROM);
    assert_eq!(receivers.free_slots(&queue("https://busy", "1")), PROMPT_SHARE_MAX);
}

#[test]
fn new_queue_among_many_queues_begins_with_one_attempt() {
    let mut receivers = ReceiverStates::default();
    let hanging = queues_of("hanging", QUEUES_MANY, "1");
    let begun: Vec<usize> =
        hanging.iter().map(|queue| begin_allowed_attempts(&mut receivers, queue)).collect();
    assert_eq!(begun, [SHARE_FIRST; QUEUES_MANY]);
    // The account has [`QUEUES_MANY`] queues, so a new queue may begin only one attempt.
    assert_eq!(begin_allowed_attempts(&mut receivers, &queue("new", "1")), 1);
    end_attempt(&mut receivers, &queue("new", "1"), QueueSpeed::Unknown, 1);
    assert_eq!(receivers.free_slots(&queue("new", "1")), SHARE_FIRST);
    assert_eq!(receivers.free_slots(&queue("new", "2")), SHARE_FIRST);
    // At least [`SHARES_LIMITED_FROM`] attempts are under way in all accounts, so a new queue may begin only one attempt.
    begin_attempts_of_queues(
        &mut receivers,
        &queues_of_new_accounts(SHARES_LIMITED_FROM / SHARE_FIRST),
    );
    assert_eq!(receivers.free_slots(&queue("new", "2")), 1);
}

#[test]
fn twenty_failures_in_a_row_pause_a_queue_until_a_success() {
    let mut receivers = ReceiverStates::new(50);
    let (failing, beside) = (
        endpoint_queue("https://host", "1", "endpoint"),
        endpoint_queue("https://host", "1", "another"),
    );
    let fail = |receivers: &mut ReceiverStates| {
        let attempt = receivers.begin_attempt(&failing, 1_000);
        receivers.end_attempt(&attempt, false, 1, 1_001);
    };
    for _ in 1..FAILURES_MAX {
        fail(&mut receivers);
        assert_eq!(receivers.remaining_pause_ms(&failing, 1_000), 0);
    }
    fail(&mut receivers);
    let pauses = [1_000, 1_010, 1_049, 1_050, 9_000]
        .map(|now_ms| receivers.remaining_pause_ms(&failing, now_ms));
    assert_eq!(pauses, [50, 40, 1, 0, 0]);
    // The pause affects neither another endpoint of the account nor its `webhookUrl`s.
    for other in [beside, queue("https://host", "1")] {
        make_attempt(&mut receivers, &other, false, 1);
        assert_eq!(receivers.remaining_pause_ms(&other, 0), 0);
    }
    receivers.refresh_queues(&[], 1_000);
    assert_eq!(receivers.remaining_pause_ms(&failing, 1_000), 50);
    make_attempt(&mut receivers, &failing, true, 1);
    assert_eq!(receivers.remaining_pause_ms(&failing, 0), 0);
    // A pause of 0, as in the sandbox, disables pauses.
    let mut receivers = ReceiverStates::new(0);
    (0..100).for_each(|_| fail(&mut receivers));
    assert_eq!(receivers.remaining_pause_ms(&failing, 1_000), 0);
}

#[test]
fn failing_origins_of_an_account_share_their_pauses() {
    let mut receivers = ReceiverStates::new(50);
    make_attempt(&mut receivers, &queue("https://good", "1"), true, 1);
    let failing = queues_of("failing", FAILURES_MAX as usize, "1");
    for queue in &failing {
        assert_eq!(receivers.remaining_pause_ms(queue, 900), 0, "it is new");
        let attempt = receivers.begin_attempt(queue, 900);
        receivers.end_attempt(&attempt, false, 1, 901);
    }
    assert_eq!(receivers.remaining_pause_ms(&failing[0], 910), 40);
    // The failing queues share one pause. The next attempt of any of them restarts it, but an attempt of another queue
    // does not.
    let next = receivers.begin_attempt(&failing[0], 1_000);
    receivers.end_attempt(&next, false, 1, 1_001);
    make_attempt(&mut receivers, &queue("https://failing", "1"), false, 1);
    for queue in &failing {
        assert_eq!(receivers.remaining_pause_ms(queue, 1_010), 40);
        assert_eq!(receivers.remaining_pause_ms(queue, 1_050), 0);
    }
    // A queue has no pause if its last attempt succeeded, or if it has no attempt yet. A pause affects only one
    // account.
    for queue in
        [queue("https://good", "1"), queue("https://new", "1"), queue("https://failing0", "2")]
    {
        assert_eq!(receivers.remaining_pause_ms(&queue, 1_010), 0);
    }
    make_attempt(&mut receivers, &queue("https://good", "1"), true, 1);
    assert_eq!(receivers.remaining_pause_ms(&failing[0], 1_010), 0);
}

#[test]
fn queues_are_sorted_by_last_attempt_then_by_due_time() {
    let mut receivers = ReceiverStates::default();
    let mut all: Vec<WaitingQueue> =
        ["a", "b", "d", "e"].map(|name| waiting_queue(queue(name, "1"), false)).into();
    all.insert(2, WaitingQueue { due_at: Time(1), ..waiting_queue(queue("c", "1"), false) });
    for queue in ["b", "a", "d", "b"].map(|name| queue(name, "1")) {
        make_attempt(&mut receivers, &queue, false, 1);
    }
    let turns = receivers.sort_by_last_attempt(&all).into_iter();
    let turns: Vec<DeliveryQueue> = turns.map(|one| one.queue.clone()).collect();
    assert_eq!(turns, ["e", "c", "a", "d", "b"].map(|name| queue(name, "1")));
}

#[test]
fn queue_that_failed_before_a_restart_begins_as_slow() {
    let mut receivers = ReceiverStates::default();
    receivers.refresh_queues(
        &[waiting_queue(queue("failed", "1"), true), waiting_queue(queue("new", "1"), false)],
        0,
    );
    assert_eq!(
        (receivers.free_slots(&queue("failed", "1")), receivers.free_slots(&queue("new", "1"))),
        (1, 4)
    );
    for account in 0..1_000 {
        for queue in queues_of("failed", 4, &account.to_string()) {
            receivers.refresh_queues(&[waiting_queue(queue.clone(), true)], 0);
            begin_allowed_attempts(&mut receivers, &queue);
        }
    }
    assert_eq!((receivers.under_way.slow, receivers.free_slots(&queue("new", "1"))), (SLOW_MAX, 1));
    // A queue that this process has already tried keeps its speed.
    let mut receivers = ReceiverStates::default();
    make_attempt(&mut receivers, &queue("quick", "1"), true, 1);
    receivers.refresh_queues(&[waiting_queue(queue("quick", "1"), true)], 0);
    assert_eq!(receivers.free_slots(&queue("quick", "1")), SHARE_FIRST);
}

#[test]
fn eviction_spares_other_accounts_and_quick_queues() {
    let mut receivers = ReceiverStates::default();
    make_attempt(&mut receivers, &queue("https://shop", "one"), true, 1);
    receivers.begin_attempt(&queue("https://busy", "one"), 0);
    make_attempt(&mut receivers, &queue("https://quick", "many"), true, 1);
    for queue in queues_of("host", REMEMBERED_MAX * 2, "many") {
        make_attempt(&mut receivers, &queue, false, HANGING_MS);
    }
    let waits = waiting_queue(queue("https://host0", "many"), true);
    receivers.refresh_queues(std::slice::from_ref(&waits), 0);
    assert!(receivers.queues.len() <= REMEMBERED_MAX);
    assert_eq!(receivers.free_slots(&queue("https://shop", "one")), SHARE_FIRST);
    assert_eq!(receivers.free_slots(&queue("https://quick", "many")), SHARE_FIRST);
    assert_eq!(receivers.attempts_under_way(&queue("https://busy", "one")), 1);
    assert!(receivers.queues.contains_key(&waits.queue));
    assert_eq!(receivers.accounts.len(), 2);
    receivers.refresh_queues(&[], 0);
    let many = receivers.accounts.get(&account("many")).map(|many| many.queues);
    assert_eq!(many, Some(receivers.queues.len() - 2));
    // An account is removed when its last queue is removed.
    for queue in queues_of_new_accounts(REMEMBERED_MAX * 2) {
        make_attempt(&mut receivers, &queue, true, 1);
        receivers.refresh_queues(&[], 0);
    }
    assert!(receivers.accounts.len() <= receivers.queues.len());
    assert!(receivers.queues.len() <= REMEMBERED_MAX);
}
