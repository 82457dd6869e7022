//! Tests of queues whose speed changes while attempts are under way.

use super::{
    ACCOUNT_OTHERS_MAX, AttemptCounts, HANGING_MS, PROMPT_SHARE_MAX, QUEUES_MANY, QUICK_MS_MAX,
    QueueSpeed, ReceiverStates, SHARE_FIRST, SHARES_LIMITED_FROM, THREADS_MAX, account,
    begin_allowed_attempts, begin_attempts_of_queues, end_attempt, make_attempt, queue, queues_of,
};

#[test]
fn quick_queues_that_begin_to_hang_leave_room_for_others() {
    let mut receivers = ReceiverStates::default();
    let all = queues_of("quick", 1_000, "1");
    for queue in &all {
        for _ in 0..10 {
            make_attempt(&mut receivers, queue, true, 1);
        }
    }
    make_attempt(&mut receivers, &queue("https://quick", "2"), true, 1);
    let begun: Vec<usize> =
        all.iter().map(|queue| begin_allowed_attempts(&mut receivers, queue)).collect();
    // The first queues get their maximum share, until [`SHARES_LIMITED_FROM`] attempts are under way. Each later queue gets at most
    // [`SHARE_FIRST`], until the account has half of the senders.
    let full = SHARES_LIMITED_FROM / PROMPT_SHARE_MAX;
    assert_eq!(begun[full - 1..=full], [PROMPT_SHARE_MAX, SHARE_FIRST]);
    assert_eq!(begun.iter().sum::<usize>(), THREADS_MAX / 2);
    assert_eq!(receivers.free_slots(&queue("https://quick", "2")), SHARE_FIRST);
    // A queue counts as hanging if it has attempts under way and has not answered for more than a second. A hanging
    // queue gets no more attempts. Queues without attempts under way still get some.
    receivers.refresh_queues(&[], QUICK_MS_MAX);
    assert_eq!(receivers.under_way.slow, 0);
    receivers.refresh_queues(&[], QUICK_MS_MAX + 1);
    assert_eq!((receivers.under_way.quick, receivers.under_way.slow), (0, THREADS_MAX / 2));
    assert_eq!(receivers.free_slots(&all[0]), 0);
    assert_eq!(receivers.free_slots(&all[999]), PROMPT_SHARE_MAX);
    assert_eq!(receivers.free_slots(&queue("https://new", "2")), 1);
    for (queue, begun) in all.iter().zip(begun) {
        for _ in 0..begun {
            end_attempt(&mut receivers, queue, QueueSpeed::Quick, HANGING_MS);
        }
    }
    assert_eq!(receivers.under_way, AttemptCounts::default());
}

#[test]
fn attempts_keep_their_first_speed_until_their_queue_hangs() {
    let mut receivers = ReceiverStates::default();
    let all = queues_of("mixed", 1_000, "1");
    let mut hanging = 0;
    // Each queue answers its first attempt at once and hangs in all later attempts.
    for queue in &all {
        let begun = begin_allowed_attempts(&mut receivers, queue);
        end_attempt(&mut receivers, queue, QueueSpeed::Unknown, 1);
        hanging += begun - 1;
        begin_allowed_attempts(&mut receivers, queue);
    }
    assert_eq!(hanging, QUEUES_MANY * (SHARE_FIRST - 1));
    let quick = (THREADS_MAX - hanging) / 2;
    let own = AttemptCounts { unknown: hanging, quick, slow: 0 };
    assert_eq!(receivers.accounts[&account("1")].under_way, own);
    assert_eq!(receivers.under_way, own);
    let room = ACCOUNT_OTHERS_MAX - hanging;
    assert_eq!(begin_attempts_of_queues(&mut receivers, &queues_of("new", 1_000, "1")), room);
    // Once a queue hangs, all its attempts count as slow.
    receivers.refresh_queues(&[], QUICK_MS_MAX + 1);
    let slow = AttemptCounts { unknown: room, quick: 0, slow: hanging + quick };
    assert_eq!(receivers.under_way, slow);
    for queue in all.iter().chain(&queues_of("new", 1_000, "1")) {
        for speed in
            [QueueSpeed::Unknown, QueueSpeed::Quick].repeat(receivers.attempts_under_way(queue))
        {
            if receivers.attempts_under_way(queue) > 0 {
                end_attempt(&mut receivers, queue, speed, HANGING_MS);
            }
        }
    }
    assert_eq!(receivers.under_way, AttemptCounts::default());
}

#[test]
fn busy_quick_queue_stays_quick_while_its_attempts_end() {
    let mut receivers = ReceiverStates::default();
    make_attempt(&mut receivers, &queue("a", "1"), true, 1);
    for now_ms in (0..10_000).step_by(900) {
        let attempts = [(); 2].map(|()| receivers.begin_attempt(&queue("a", "1"), now_ms));
        receivers.refresh_queues(&[], now_ms + 899);
        assert_eq!(receivers.queues[&queue("a", "1")].speed, QueueSpeed::Quick);
        for attempt in attempts {
            receivers.end_attempt(&attempt, true, 900, now_ms + 900);
        }
    }
}
