//! Sends webhooks: starts the due deliveries of each queue, and stores the outcomes of their attempts.
//!
//! Invariant: a delivery has at most one attempt under way. An attempt counts as under way until its outcome is
//! stored.

use super::receivers::{QueueAttempt, Receivers};
use super::senders::Senders;
use super::{Next, Waker, Worker};
use crate::clock::{Clock, Stopwatch};
use crate::domain::time::Time;
use crate::outbound::{Outbound, Unanswered};
use crate::service::activity::{Attempted, Happened, Part};
use crate::service::webhooks::{Attempt, Done, Due, Outgoing, WaitingQueue, outgoing};
use crate::service::{Error, Service};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Longest wait of a stopping server for attempts under way.
const FINISH_MAX: Duration = Duration::from_secs(3);
/// Maximum number of queues in one step. More queues take several steps, so memory stays bounded.
const PAGE_QUEUES_MAX: usize = 4_096;

/// The worker that sends webhooks.
pub struct Deliver {
    service: Arc<Service>,
    clock: Arc<Clock>,
    outbound: Outbound,
    senders: Senders,
    waker: Waker,
    finished: UnboundedSender<Done>,
    results: UnboundedReceiver<Done>,
    /// Outcomes of attempts that are not stored yet.
    ended: Vec<Done>,
    /// Attempts under way, by the id of their delivery.
    under_way: HashMap<String, QueueAttempt>,
    receivers: Receivers,
    /// Time since the start of the server, in real time.
    uptime: Stopwatch,
    /// The pass under way, if it takes several steps.
    pass: Option<Pass>,
    /// Waits found by the last complete pass.
    seen: Seen,
}

/// A pass through all queues, page by page.
struct Pass {
    /// Name of the last queue of the previous page.
    after: String,
    /// Number of wake-ups when the pass began.
    woken: u64,
    seen: Seen,
}

/// The next events that queues wait for.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Earliest time at which something falls due.
    due_at: Option<Time>,
    /// Shortest real time until a paused queue may be tried again.
    pause: Option<Duration>,
    /// `true` if a due delivery is under way or waits for a free sender.
    is_awaited: bool,
}

impl Seen {
    /// Combines the waits of two groups of queues.
    fn and(self, other: Seen) -> Seen {
        let earlier = |one: Option<Time>, other| one.into_iter().chain(other).min();
        Seen {
            due_at: earlier(self.due_at, other.due_at),
            pause: self.pause.into_iter().chain(other.pause).min(),
            is_awaited: self.is_awaited || other.is_awaited,
        }
    }
}

impl Deliver {
    /// Creates a worker. The end of an attempt wakes the worker through `waker`. `pause_ms` is the pause between two
    /// attempts at a receiver that keeps failing, in milliseconds of real time.
    pub fn new(
        service: Arc<Service>,
        clock: Arc<Clock>,
        outbound: Outbound,
        waker: Waker,
        pause_ms: i64,
    ) -> Deliver {
        let (finished, results) = unbounded_channel();
        let uptime = clock.stopwatch();
        Deliver {
            service,
            clock,
            outbound,
            senders: Senders::default(),
            waker,
            finished,
            results,
            ended: Vec::new(),
            under_way: HashMap::new(),
            receivers: Receivers::new(pause_ms),
            uptime,
            pass: None,
            seen: Seen::default(),
        }
    }

    /// Stores the outcomes of finished attempts. Only then may their deliveries be attempted again. If the write
    /// fails, the outcomes are kept for the next step.
    async fn keep_results(&mut self) -> Result<(), Error> {
        while let Ok(result) = self.results.try_recv() {
            self.ended.push(result);
        }
        if self.ended.is_empty() {
            return Ok(());
        }
        self.service.record_attempts(self.ended.clone()).await?;
        for done in self.ended.drain(..) {
            if let Some(under_way) = self.under_way.remove(&done.delivery) {
                let (attempt, success) = (&done.attempt, is_success(&done.attempt));
                let now_ms = self.uptime.ms();
                self.receivers
                    .ended(&under_way, success, attempt.latency_ms, now_ms);
            }
        }
        Ok(())
    }

    /// Starts the due deliveries of a queue, at most as many as its share allows. Returns `true` if more may be due
    /// at once.
    async fn take_up(&mut self, name: &str, now: Time) -> Result<bool, Error> {
        let (under_way, room) = (self.receivers.under_way(name), self.receivers.room(name));
        if room == 0 {
            return Ok(false);
        }
        // The file lists deliveries under way as due. The query returns them too, and they are skipped here.
        let due = self
            .service
            .due_deliveries(name, now, room.saturating_add(under_way))?;
        let mut fresh: Vec<Due> = due
            .into_iter()
            .filter(|due| !self.under_way.contains_key(&due.id))
            .collect();
        let orphans: Vec<String> = fresh
            .iter()
            .filter(|due| due.is_orphan)
            .map(|due| due.id.clone())
            .collect();
        fresh.retain(|due| !due.is_orphan);
        fresh.truncate(room);
        let gave_up = !orphans.is_empty();
        if gave_up {
            self.service.give_up(orphans).await?;
        }
        for due in fresh {
            self.send(name, due);
        }
        Ok(gave_up)
    }

    /// Starts the due deliveries of these queues. Returns the events that the queues wait for, or `None` if more may
    /// be due at once.
    async fn take_up_all(
        &mut self,
        waiting: &[WaitingQueue],
        now: Time,
    ) -> Result<Option<Seen>, Error> {
        let mut seen = Seen::default();
        for WaitingQueue { queue, due_at, .. } in self.receivers.in_turn(waiting) {
            let pause_ms = self.receivers.pause_ms(queue, self.uptime.ms());
            let (mut next, mut pause) = (None, None);
            if *due_at > now {
                next = Some(*due_at);
            } else if let Ok(pause_ms @ 1..) = u64::try_from(pause_ms) {
                pause = Some(Duration::from_millis(pause_ms));
            } else if self.take_up(queue, now).await? {
                return Ok(None);
            }
            seen = seen.and(Seen {
                due_at: next,
                pause,
                // A due delivery is under way or waits for a free sender.
                is_awaited: *due_at <= now,
            });
        }
        Ok(Some(seen))
    }

    /// Submits the attempt of a delivery to the thread pool.
    fn send(&mut self, queue: &str, due: Due) {
        let under_way = self.receivers.began(queue, self.uptime.ms());
        self.under_way.insert(due.id.clone(), under_way);
        let report = Report {
            finished: self.finished.clone(),
            waker: self.waker.clone(),
        };
        let (clock, outbound) = (Arc::clone(&self.clock), self.outbound.clone());
        let number = due.attempts.saturating_add(1);
        let pending = Pending::new(report, due.id.clone(), number, clock.now());
        // The job does not own the service. Otherwise a receiver that hangs would keep the file open after the server
        // has stopped.
        let activity = self.service.activity().cloned();
        self.senders.submit(move || {
            let (attempt, sent) = attempt(&clock, &outbound, &due);
            if let (Some(activity), Some(sent)) = (activity, sent) {
                activity.tell(attempted(&due, number, &attempt, sent));
            }
            pending.end(attempt);
        });
    }
}

impl Pass {
    fn begin(woken: u64) -> Pass {
        Pass {
            after: String::new(),
            woken,
            seen: Seen::default(),
        }
    }
}

/// Returns `true` if the receiver accepted the delivery.
fn is_success(attempt: &Attempt) -> bool {
    attempt
        .status
        .is_some_and(|status| (200..300).contains(&status))
}

/// Returns the activity notification about an attempt.
fn attempted(due: &Due, number: u32, attempt: &Attempt, sent: Outgoing) -> Happened {
    let attempt = attempt.clone();
    Happened::Attempt(Attempted {
        delivery: due.id.clone(),
        event: due.event.clone(),
        number,
        url: due.url.clone(),
        headers: sent.headers,
        sent: Part::of(sent.body.as_bytes()),
        at: attempt.at,
        status: attempt.status,
        ms: attempt.latency_ms,
        error: attempt.error,
        answer: attempt.answer,
    })
}

/// Makes one attempt. Also returns the request, if it could be built.
fn attempt(clock: &Clock, outbound: &Outbound, due: &Due) -> (Attempt, Option<Outgoing>) {
    let (at, stopwatch) = (clock.now(), clock.stopwatch());
    let outgoing = outgoing(due, clock.real_now()).map_err(|error| Unanswered {
        reason: error.to_string(),
        was_sent: false,
    });
    let answer = outgoing
        .as_ref()
        .map_err(Unanswered::clone)
        .and_then(|outgoing| {
            let headers: Vec<(&str, &str)> = outgoing
                .headers
                .iter()
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            outbound.post(&due.url, &headers, outgoing.body.as_bytes())
        });
    let latency_ms = stopwatch.ms();
    let outgoing = outgoing.ok();
    let signed = outgoing.as_ref().map(|sent| sent.signed.clone());
    let attempt = match answer {
        Ok(answer) => Attempt {
            at,
            status: Some(answer.status),
            latency_ms,
            error: None,
            answer: Some(answer.start),
            signed,
        },
        Err(Unanswered { reason, was_sent }) => Attempt {
            at,
            status: None,
            latency_ms,
            error: Some(reason),
            answer: None,
            signed: signed.filter(|_| was_sent),
        },
    };
    (attempt, outgoing)
}

/// The channel for the outcome of an attempt, and the waker to call afterwards.
struct Report {
    finished: UnboundedSender<Done>,
    waker: Waker,
}

/// A submitted attempt. Reports its outcome when dropped, even after a panic.
struct Pending {
    report: Report,
    done: Option<Done>,
}

impl Pending {
    fn new(report: Report, delivery: String, number: u32, at: Time) -> Pending {
        let lost = Attempt {
            at,
            status: None,
            latency_ms: 0,
            error: Some("sending failed".to_owned()),
            answer: None,
            signed: None,
        };
        Pending {
            report,
            done: Some(Done {
                delivery,
                number,
                attempt: lost,
            }),
        }
    }

    fn end(mut self, attempt: Attempt) {
        if let Some(done) = &mut self.done {
            done.attempt = attempt;
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            // The send fails once the server is stopping. The delivery is then sent again after the next start.
            let _ = self.report.finished.send(done);
            self.report.waker.wake();
        }
    }
}

impl Worker for Deliver {
    const NAME: &'static str = "deliver";

    async fn tick(&mut self, now: Time) -> Result<Next, Error> {
        // The wake-ups are counted before the outcomes are stored, so that an attempt that ends during this step
        // wakes the worker again.
        let woken = self.waker.count();
        self.keep_results().await?;
        // No attempt starts while writes fail: if its outcome cannot be stored, the attempt would be repeated.
        self.service.check_writes()?;
        let pass = self.pass.take();
        let is_whole = pass.is_none();
        let mut pass = pass.unwrap_or_else(|| Pass::begin(woken));
        let after = &pass.after;
        let waiting = self.service.waiting_deliveries(after, PAGE_QUEUES_MAX)?;
        self.receivers.refresh(&waiting, self.uptime.ms());
        let Some(seen) = self.take_up_all(&waiting, now).await? else {
            self.pass = Some(pass).filter(|_| !is_whole);
            return Ok(Next::Again);
        };
        pass.seen = pass.seen.and(seen);
        if let Some(last) = waiting.get(PAGE_QUEUES_MAX.saturating_sub(1)) {
            pass.after = last.queue.clone();
            self.pass = Some(pass);
            // Lets other tasks run, because a page of queues may be processed without waiting.
            tokio::task::yield_now().await;
            return Ok(Next::Again);
        }
        self.seen = pass.seen;
        Ok(match pass.seen.due_at {
            // A queue of an earlier page may have a new due delivery.
            _ if !is_whole && pass.woken != woken => Next::Again,
            Some(at) => Next::At(at),
            None => Next::Idle,
        })
    }

    fn is_busy(&self) -> bool {
        self.seen.is_awaited
    }

    fn pause(&self) -> Option<Duration> {
        self.seen.pause
    }

    async fn finish(&mut self) -> Result<(), Error> {
        let all_ended = async {
            let mut woken = self.waker.subscribe();
            while self.results.len().saturating_add(self.ended.len()) < self.under_way.len()
                && woken.changed().await.is_ok()
            {}
        };
        if tokio::time::timeout(FINISH_MAX, all_ended).await.is_err() {
            log::info!(
                "deliveries cut off at shutdown, will be retried: count={}",
                self.under_way.len()
            );
        }
        self.keep_results().await
    }
}
