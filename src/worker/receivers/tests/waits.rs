//! Tests of how long a delivery waits while a thousand other origins hang. The tests simulate the worker's loop.

use super::super::{QueueAttempt, ReceiverStates};
use super::{HANGING_MS, WaitingQueue, endpoint_queue, queue, queues_of};
use crate::domain::Time;
use crate::domain::retry::next_attempt;
use crate::service::webhooks::DeliveryQueue;
use std::collections::{BTreeMap, HashMap};

/// Time between two steps, in milliseconds. In this simulation, attempts end and deliveries fall due only at whole
/// seconds.
const STEP_MS: i64 = 1_000;

/// The worker's loop over queues with deliveries, in simulated time.
struct DeliverySimulation {
    receivers: ReceiverStates,
    /// Due time and number of past attempts of each delivery, by queue.
    due: HashMap<DeliveryQueue, Vec<(i64, u32)>>,
    /// Attempts under way, by their end time. Each entry has the attempt, its start time, the number of attempts so
    /// far, and the latency.
    ends: BTreeMap<i64, Vec<(QueueAttempt, i64, u32, i64)>>,
    /// Latency of each queue whose receiver answers, in milliseconds. All other queues hang.
    quick: HashMap<DeliveryQueue, i64>,
    /// Time at which the first attempt of each queue began, in milliseconds.
    began: HashMap<DeliveryQueue, i64>,
}

impl DeliverySimulation {
    fn new() -> DeliverySimulation {
        DeliverySimulation {
            receivers: ReceiverStates::new(0),
            due: HashMap::new(),
            ends: BTreeMap::new(),
            quick: HashMap::new(),
            began: HashMap::new(),
        }
    }

    fn add_delivery(&mut self, queue: &DeliveryQueue, now_ms: i64) {
        let due = self.due.entry(queue.clone()).or_default();
        due.push((now_ms, 0));
    }

    /// Makes one step: ends the attempts whose end time has come, and begins as many as allowed.
    fn run_step(&mut self, now_ms: i64) {
        while let Some(entry) = self.ends.first_entry().filter(|end| *end.key() <= now_ms) {
            let (at_ms, ended) = entry.remove_entry();
            for (attempt, begun_ms, attempts, latency_ms) in ended {
                let is_success = self.quick.contains_key(&attempt.queue);
                self.receivers.end_attempt(&attempt, is_success, latency_ms, at_ms);
                let next = next_attempt(attempts, Time(begun_ms), 0).filter(|_| !is_success);
                let due = self.due.entry(attempt.queue).or_default();
                due.extend(next.map(|Time(at_ms)| (at_ms, attempts)));
            }
        }
        let waiting: Vec<WaitingQueue> = self
            .due
            .iter()
            .filter_map(|(queue, due)| {
                let (due_ms, attempts) = due.iter().min()?;
                Some(WaitingQueue {
                    queue: queue.clone(),
                    due_at: Time(*due_ms),
                    was_tried: *attempts > 0,
                })
            })
            .filter(|waiting| waiting.due_at <= Time(now_ms))
            .collect();
        self.receivers.refresh_queues(&waiting, now_ms);
        for one in self.receivers.sort_by_last_attempt(&waiting) {
            let queue = &one.queue;
            let room = self.receivers.free_slots(queue);
            let Some(due) = self.due.get_mut(queue) else {
                continue;
            };
            due.sort_unstable();
            let ready = due.iter().filter(|(at_ms, _)| *at_ms <= now_ms).count();
            for (_, attempts) in due.drain(..ready.min(room)) {
                let attempt = self.receivers.begin_attempt(queue, now_ms);
                self.began.entry(queue.clone()).or_insert(now_ms);
                let latency_ms = self.quick.get(queue).copied().unwrap_or(HANGING_MS);
                let end = self.ends.entry(now_ms + latency_ms).or_default();
                end.push((attempt, now_ms, attempts + 1, latency_ms));
            }
        }
    }

    /// Adds a delivery at `now_ms` and runs until its attempt begins. Returns how long the delivery has waited, in
    /// milliseconds.
    fn measure_wait_ms(&mut self, queue: &DeliveryQueue, latency_ms: i64, now_ms: i64) -> i64 {
        self.quick.insert(queue.clone(), latency_ms);
        self.began.remove(queue);
        self.add_delivery(queue, now_ms);
        let mut at_ms = now_ms;
        loop {
            self.run_step(at_ms);
            if let Some(began_ms) = self.began.get(queue) {
                return began_ms - now_ms;
            }
            at_ms += STEP_MS;
        }
    }
}

#[test]
fn delivery_wait_is_bounded_while_a_thousand_origins_hang() {
    // Each case has a number of deliveries for each hanging origin, and the time at which a new receiver appears.
    for (deliveries, after_ms) in [
        (1, 0),
        (1, 5_000),
        (1, 39_000),
        (1, 60_000),
        (4, 0),
        (4, 10_000),
        (4, 25_000),
        (20, 0),
        (20, 45_000),
    ] {
        let mut replay = DeliverySimulation::new();
        for known in [queue("https://quick", "1"), queue("https://quick", "2")] {
            assert_eq!(replay.measure_wait_ms(&known, 100, 0), 0);
            replay.run_step(100);
        }
        let begun_ms = 1_000;
        for queue in queues_of("hanging", 1_000, "1") {
            (0..deliveries).for_each(|_| replay.add_delivery(&queue, begun_ms));
        }
        (0..=after_ms).step_by(1_000).for_each(|passed_ms| replay.run_step(begun_ms + passed_ms));
        let now_ms = begun_ms + after_ms;
        let mut waits = Vec::new();
        for (queue, most_ms) in [
            (queue("https://quick", "1"), 1_000),
            (queue("https://quick", "2"), 1_000),
            (queue("https://new", "2"), 1_000),
            (endpoint_queue("https://new", "2", "endpoint"), 1_000),
            (queue("https://new", "1"), 45_000),
        ] {
            let wait_ms = replay.measure_wait_ms(&queue, 100, now_ms);
            waits.push((queue, wait_ms));
            assert!(wait_ms <= most_ms, "{deliveries}, {after_ms}: {waits:?}");
        }
    }
}
