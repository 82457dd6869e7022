//! Sends webhooks: starts the due deliveries of each queue, and stores the outcomes of their attempts.
//!
//! Invariant: a delivery has at most one attempt under way. An attempt is under way until its outcome is stored.

mod attempt;
mod log_line;
mod report;

use super::receivers::{QueueAttempt, ReceiverStates};
use super::senders::SenderPool;
use super::{NextStep, Waker, Worker};
use crate::clock::{Clock, Stopwatch};
use crate::domain::Time;
use crate::outbound::OutboundClient;
use crate::service::webhooks::{DeliveryQueue, DueDelivery, WaitingQueue};
use crate::service::{Error, Service};
use attempt::{EndedAttempt, attempt_notification, make_attempt};
use log_line::{AttemptLabel, log_attempt};
use report::{AttemptReport, PendingAttempt, ReportChannel};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Maximum number of queues in one step. The limit bounds the memory of a step.
const PAGE_QUEUES_MAX: usize = 4_096;

/// The worker that sends webhooks.
pub struct DeliveryWorker {
    service: Arc<Service>,
    clock: Arc<Clock>,
    outbound: OutboundClient,
    senders: SenderPool,
    waker: Waker,
    finished: UnboundedSender<AttemptReport>,
    results: UnboundedReceiver<AttemptReport>,
    /// Outcomes that are not stored yet, one for each finished attempt.
    ended: Vec<AttemptReport>,
    /// Attempts under way, by the id of their delivery.
    under_way: HashMap<String, AttemptUnderWay>,
    receivers: ReceiverStates,
    /// Time since the start of the server, in real time.
    uptime: Stopwatch,
    limits: DeliveryLimits,
    /// Number of resets of the sandbox at the last step.
    resets: u64,
    pass: Option<QueuePass>,
    /// Events that all queues wait for, as of the last complete pass.
    seen: QueueWaits,
}

struct AttemptUnderWay {
    queued: QueueAttempt,
    label: AttemptLabel,
    /// Start of the attempt, in milliseconds of uptime.
    begun_ms: i64,
}

/// Limits that differ between the sandbox and production.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryLimits {
    /// Pause between two attempts at a receiver that keeps failing, in milliseconds of real time. 0 means no pause.
    pub pause_ms: i64,
    /// Age up to which a stopping server waits for an attempt under way, in milliseconds of real time. It does not wait
    /// for a receiver whose last attempt failed.
    pub finish_ms: i64,
    /// `true` if a receiver gets one delivery at a time, so that deliveries arrive in order.
    pub is_serial: bool,
}

/// A pass through all queues, page by page.
struct QueuePass {
    /// `seq` of the last queue of the previous page, 0 before the first page.
    after: i64,
    /// Number of wake-ups when the pass began.
    woken: u64,
    seen: QueueWaits,
}

/// Events that a group of queues waits for: a due time, the end of a pause, or attempts under way.
#[derive(Clone, Copy, Default)]
struct QueueWaits {
    /// Earliest time at which a delivery of these queues falls due.
    due_at: Option<Time>,
    /// Shortest real time until a paused queue may be tried again.
    pause: Option<Duration>,
    /// `true` if a due delivery is under way, or waits for a free sender or the end of a pause.
    is_awaited: bool,
}

impl QueueWaits {
    /// Combines what two groups of queues wait for.
    fn merge(self, other: QueueWaits) -> QueueWaits {
        let earlier = |one: Option<Time>, other| one.into_iter().chain(other).min();
        QueueWaits {
            due_at: earlier(self.due_at, other.due_at),
            pause: self.pause.into_iter().chain(other.pause).min(),
            is_awaited: self.is_awaited || other.is_awaited,
        }
    }
}

impl DeliveryWorker {
    /// Creates a worker. The end of an attempt wakes the worker through `waker`.
    pub fn new(
        service: Arc<Service>,
        clock: Arc<Clock>,
        outbound: OutboundClient,
        waker: Waker,
        limits: DeliveryLimits,
    ) -> DeliveryWorker {
        let (finished, results) = unbounded_channel();
        let uptime = clock.stopwatch();
        DeliveryWorker {
            service,
            clock,
            outbound,
            senders: SenderPool::default(),
            waker,
            finished,
            results,
            ended: Vec::new(),
            under_way: HashMap::new(),
            receivers: new_receivers(limits),
            uptime,
            limits,
            resets: 0,
            pass: None,
            seen: QueueWaits::default(),
        }
    }

    /// Stores the outcomes of finished attempts. A delivery may be attempted again only after its outcome is stored.
    /// If the write fails, the outcomes are kept for the next step.
    async fn store_results(&mut self) -> Result<(), Error> {
        while let Ok(result) = self.results.try_recv() {
            self.ended.push(result);
        }
        if self.ended.is_empty() {
            return Ok(());
        }
        let ended = self.ended.iter().map(|report| report.done.clone()).collect();
        let outcomes = self.service.record_attempts(ended).await?;
        for (AttemptReport { done, timed_out }, outcome) in self.ended.drain(..).zip(outcomes) {
            if let Some(under_way) = self.under_way.remove(&done.delivery) {
                let AttemptUnderWay { queued, label, .. } = under_way;
                if timed_out {
                    self.service.note_hanging_receiver(queued.queue());
                }
                let (attempt, success) = (&done.attempt, done.attempt.is_success());
                let now_ms = self.uptime.elapsed_ms();
                self.receivers.end_attempt(&queued, success, attempt.latency_ms, now_ms);
                log_attempt(&label, &done, outcome);
            }
        }
        Ok(())
    }

    /// Starts the due deliveries of a queue, up to the number of attempts that the queue may have. Returns `true` if
    /// the queue may have more deliveries that are due now.
    async fn start_due_deliveries(
        &mut self,
        queue: &DeliveryQueue,
        now: Time,
    ) -> Result<bool, Error> {
        let (under_way, room) =
            (self.receivers.attempts_under_way(queue), self.receivers.free_slots(queue));
        if room == 0 {
            return Ok(false);
        }
        // The query also returns deliveries whose attempt is still under way, because the file lists them as due.
        // They are skipped.
        let due = self.service.due_deliveries(queue, now, room.saturating_add(under_way))?;
        let mut fresh: Vec<DueDelivery> =
            due.into_iter().filter(|due| !self.under_way.contains_key(&due.id)).collect();
        let orphans: Vec<String> =
            fresh.iter().filter(|due| due.is_orphan).map(|due| due.id.clone()).collect();
        fresh.retain(|due| !due.is_orphan);
        fresh.truncate(room);
        let gave_up = !orphans.is_empty();
        if gave_up {
            self.service.give_up_deliveries(orphans).await?;
        }
        for due in fresh {
            self.submit_delivery(queue, due);
        }
        Ok(gave_up)
    }

    /// Starts the due deliveries of these queues. Returns what the queues wait for, or `None` if the queues may have
    /// more deliveries that are due now.
    async fn start_all_due_deliveries(
        &mut self,
        waiting: &[WaitingQueue],
        now: Time,
    ) -> Result<Option<QueueWaits>, Error> {
        let mut seen = QueueWaits::default();
        for WaitingQueue { queue, due_at, .. } in self.receivers.sort_by_last_attempt(waiting) {
            let pause_ms = self.receivers.remaining_pause_ms(queue, self.uptime.elapsed_ms());
            let (mut next, mut pause) = (None, None);
            if *due_at > now {
                next = Some(*due_at);
            } else if let Ok(pause_ms @ 1..) = u64::try_from(pause_ms) {
                pause = Some(Duration::from_millis(pause_ms));
            } else if self.start_due_deliveries(queue, now).await? {
                return Ok(None);
            }
            seen = seen.merge(QueueWaits {
                due_at: next,
                pause,
                // A paused queue also has a due delivery.
                is_awaited: *due_at <= now,
            });
        }
        Ok(Some(seen))
    }

    fn submit_delivery(&mut self, queue: &DeliveryQueue, due: DueDelivery) {
        let begun_ms = self.uptime.elapsed_ms();
        let queued = self.receivers.begin_attempt(queue, begun_ms);
        let is_cut = self.service.is_receiver_cut(queue);
        let label = AttemptLabel::new(queue, &due);
        self.under_way.insert(due.id.clone(), AttemptUnderWay { queued, label, begun_ms });
        let report = ReportChannel { finished: self.finished.clone(), waker: self.waker.clone() };
        let (clock, outbound) = (Arc::clone(&self.clock), self.outbound.clone());
        let number = due.attempts.saturating_add(1);
        let pending = PendingAttempt::new(report, due.id.clone(), number, clock.now());
        // The job does not own the service. Otherwise a receiver that hangs would keep the file open after the server
        // has stopped.
        let activity = self.service.activity().cloned();
        self.senders.submit(move || {
            let ended = make_attempt(&clock, &outbound, &due, is_cut);
            let EndedAttempt { attempt, timed_out, sent } = ended;
            if let (Some(activity), Some(sent)) = (activity, sent) {
                activity.add(attempt_notification(&due, number, &attempt, sent));
            }
            pending.complete(attempt, timed_out);
        });
    }
}

fn new_receivers(limits: DeliveryLimits) -> ReceiverStates {
    ReceiverStates::new(limits.pause_ms).with_serial_queues(limits.is_serial)
}

impl DeliveryWorker {
    /// After a reset of the sandbox, forgets the attempts under way. A receiver that hangs would otherwise hold back the
    /// deliveries of the new state. Their outcomes have no delivery any more and are not stored.
    fn forget_attempts_before_reset(&mut self) {
        let resets = self.service.sandbox_resets();
        if self.resets != resets {
            self.resets = resets;
            self.receivers = new_receivers(self.limits);
            self.under_way.clear();
        }
    }

    /// Returns the time for which a stopping server still waits for attempts under way. `None` if it waits for none.
    fn time_to_finish(&self) -> Option<Duration> {
        let now_ms = self.uptime.elapsed_ms();
        let hopeful = self.under_way.values().filter(|one| !self.receivers.is_failing(&one.queued));
        let left = hopeful.map(|one| {
            let age_ms = now_ms.saturating_sub(one.begun_ms);
            self.limits.finish_ms.saturating_sub(age_ms)
        });
        let left_ms = left.max().and_then(|left_ms| u64::try_from(left_ms).ok())?;
        (left_ms > 0).then(|| Duration::from_millis(left_ms))
    }
}

impl QueuePass {
    fn new(woken: u64) -> QueuePass {
        QueuePass { after: 0, woken, seen: QueueWaits::default() }
    }
}

impl Worker for DeliveryWorker {
    const NAME: &'static str = "deliver";

    async fn tick(&mut self, now: Time) -> Result<NextStep, Error> {
        // The number of wake-ups is read before the outcomes are stored. If an attempt ends later, the number
        // changes, and the worker makes another step.
        let woken = self.waker.wake_count();
        self.forget_attempts_before_reset();
        self.store_results().await?;
        // No attempt starts while the file cannot be written. Without a stored outcome, the webhook would be sent
        // twice.
        self.service.check_writes()?;
        let pass = self.pass.take();
        let is_whole = pass.is_none();
        let mut pass = pass.unwrap_or_else(|| QueuePass::new(woken));
        let waiting = self.service.waiting_queues(pass.after, PAGE_QUEUES_MAX)?;
        self.receivers.refresh_queues(&waiting, self.uptime.elapsed_ms());
        let Some(seen) = self.start_all_due_deliveries(&waiting, now).await? else {
            self.pass = Some(pass).filter(|_| !is_whole);
            return Ok(NextStep::Again);
        };
        pass.seen = pass.seen.merge(seen);
        if let Some(last) = waiting.get(PAGE_QUEUES_MAX.saturating_sub(1)) {
            pass.after = last.queue.seq;
            self.pass = Some(pass);
            // Lets other tasks run, because the code above may never wait.
            tokio::task::yield_now().await;
            return Ok(NextStep::Again);
        }
        self.seen = pass.seen;
        Ok(match pass.seen.due_at {
            // A queue on an earlier page may have received a due delivery since the pass began, so another pass
            // follows.
            _ if !is_whole && pass.woken != woken => NextStep::Again,
            Some(at) => NextStep::At(at),
            None => NextStep::Idle,
        })
    }

    fn is_busy(&self) -> bool {
        self.seen.is_awaited
    }

    fn time_until_step(&self) -> Option<Duration> {
        self.seen.pause
    }

    async fn finish(&mut self) -> Result<(), Error> {
        let mut woken = self.waker.subscribe();
        loop {
            self.store_results().await?;
            let Some(wait) = self.time_to_finish() else {
                break;
            };
            // An attempt that ends changes the time to wait, as does the end of the wait.
            let _ = tokio::time::timeout(wait, woken.changed()).await;
        }
        if !self.under_way.is_empty() {
            log::info!(
                "deliveries cut off at shutdown, will be retried: count={}",
                self.under_way.len()
            );
        }
        Ok(())
    }
}
