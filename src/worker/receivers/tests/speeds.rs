//! Queues that change their speed while attempts are under way.

use super::{
    ACCOUNT_OTHERS_MAX, CROWD, HANGING_MS, QUEUES_FEW, QUICK_MS_MAX, Receivers, SHARE_FIRST,
    SHARE_MAX, Speed, THREADS_MAX, UnderWay, attempt, end, fill, fill_all, queues,
};

#[test]
fn quick_queues_that_begin_to_hang_leave_room_for_others() {
    let mut receivers = Receivers::default();
    let all = queues("quick", 1_000, "1");
    for name in &all {
        for _ in 0..10 {
            attempt(&mut receivers, name, true, 1);
        }
    }
    attempt(&mut receivers, "https://quick 2", true, 1);
    let begun: Vec<usize> = all.iter().map(|name| fill(&mut receivers, name)).collect();
    // The first queues get their whole share. Then each queue gets one attempt, until the account has half of the
    // senders.
    let full = CROWD / SHARE_MAX;
    assert_eq!(begun[full - 1..=full], [SHARE_MAX, SHARE_FIRST]);
    assert_eq!(begun.iter().sum::<usize>(), THREADS_MAX / 2);
    assert_eq!(receivers.room("https://quick 2"), SHARE_FIRST);
    // After a second the queues count as hanging. None of them gets more, but the others do.
    receivers.refresh(&[], QUICK_MS_MAX);
    assert_eq!(receivers.under_way.slow, 0);
    receivers.refresh(&[], QUICK_MS_MAX + 1);
    assert_eq!(
        (receivers.under_way.quick, receivers.under_way.slow),
        (0, THREADS_MAX / 2)
    );
    assert_eq!(receivers.room(&all[0]), 0);
    assert_eq!(receivers.room(&all[999]), SHARE_MAX);
    assert_eq!(receivers.room("https://new 2"), 1);
    for (name, begun) in all.iter().zip(begun) {
        for _ in 0..begun {
            end(&mut receivers, name, Speed::Quick, HANGING_MS);
        }
    }
    assert_eq!(receivers.under_way, UnderWay::default());
}

#[test]
fn hanging_attempts_count_as_the_speed_at_which_they_began() {
    let mut receivers = Receivers::default();
    let all = queues("mixed", 1_000, "1");
    let mut hanging = 0;
    // Each queue answers its first attempt at once and hangs in all later attempts.
    for name in &all {
        let begun = fill(&mut receivers, name);
        end(&mut receivers, name, Speed::Unknown, 1);
        hanging += begun - 1;
        fill(&mut receivers, name);
    }
    assert_eq!(hanging, QUEUES_FEW * (SHARE_FIRST - 1));
    let quick = (THREADS_MAX - hanging) / 2;
    let own = UnderWay {
        unknown: hanging,
        quick,
        slow: 0,
    };
    assert_eq!(receivers.accounts["1"].under_way, own);
    assert_eq!(receivers.under_way, own);
    let room = ACCOUNT_OTHERS_MAX - hanging;
    assert_eq!(fill_all(&mut receivers, &queues("new", 1_000, "1")), room);
    // All attempts of a queue that hangs count as slow from then on.
    receivers.refresh(&[], QUICK_MS_MAX + 1);
    let slow = UnderWay {
        unknown: room,
        quick: 0,
        slow: hanging + quick,
    };
    assert_eq!(receivers.under_way, slow);
    for name in all.iter().chain(&queues("new", 1_000, "1")) {
        for speed in [Speed::Unknown, Speed::Quick].repeat(receivers.under_way(name)) {
            if receivers.under_way(name) > 0 {
                end(&mut receivers, name, speed, HANGING_MS);
            }
        }
    }
    assert_eq!(receivers.under_way, UnderWay::default());
}

#[test]
fn busy_quick_queue_stays_quick_while_its_attempts_end() {
    let mut receivers = Receivers::default();
    attempt(&mut receivers, "a 1", true, 1);
    for now_ms in (0..10_000).step_by(900) {
        let attempts = [(); 2].map(|()| receivers.began("a 1", now_ms));
        receivers.refresh(&[], now_ms + 899);
        assert_eq!(receivers.queues["a 1"].speed, Speed::Quick);
        for attempt in attempts {
            receivers.ended(&attempt, true, 900, now_ms + 900);
        }
    }
}
