//! Connection slots: the number of connections, their clients, and their waiting times.
//!
//! Invariant: this module closes a connection only while the connection waits for its client or for an event.
//! Therefore no request is interrupted.

use super::client;
use crate::clock::Stopwatch;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// State bit: an answer is in progress.
const ANSWERING: u8 = 1;
/// State bit: the server waits for the client to send more of the body.
pub(super) const SENDING_BODY: u8 = 2;
/// State bit: the server waits for the client to read more of the answer.
pub(super) const READING_ANSWER: u8 = 4;
/// State bit: the connection is being closed, and no further request is started.
const ENDING: u8 = 8;
/// State bit: a live stream has nothing to send.
pub(super) const IDLE: u8 = 16;

/// Divisor of the number of slots: one client may use at most a quarter of all slots.
const CLIENT_SHARE: usize = 4;

/// Maximum number of longest-waiting connections that one search returns.
const LONGEST_MAX: usize = 64;

/// Maximum number of connections that are being closed at once. Such connections still use file descriptors.
const ENDING_MAX: usize = 16;

pub(super) struct Slots {
    most: usize,
    stopwatch: Stopwatch,
    taken: Mutex<UsedSlots>,
    left: Notify,
}

#[derive(Default)]
struct UsedSlots {
    seats: HashMap<u64, Arc<Seat>>,
    /// Number of connections of each client that has a limit.
    of_client: HashMap<IpAddr, usize>,
    next: u64,
    /// Number of connections that are being closed and still exist.
    ending_count: usize,
    /// Connections with the longest waits at the latest search, each with the start of its wait. The longest wait is
    /// last. Other connections have waited less, so the next search starts only after the list is empty.
    longest: Vec<(i64, Arc<Seat>)>,
}

/// State of one connection, with the start of its wait for the client.
pub(super) struct Seat {
    number: u64,
    /// Address under which the client's connections are counted, `None` for a client without a limit.
    client: Option<IpAddr>,
    state: AtomicU8,
    /// Start of the wait for the client, in microseconds since the server's start.
    since_us: AtomicI64,
    stopwatch: Stopwatch,
    task: Mutex<Option<AbortHandle>>,
}

/// Slot of a connection. Dropping the value frees the slot.
pub(super) struct Slot {
    slots: Arc<Slots>,
    pub(super) seat: Arc<Seat>,
}

pub(super) enum SlotOutcome {
    Granted(Slot),
    /// The client uses its whole share of the slots, and none of its connections waits for the client.
    TooMany,
    /// All slots are used, and no connection waits for its client.
    Full,
}

/// Guard that marks an answer in progress. While the guard exists, the connection does not wait for its client's next
/// request.
pub(super) struct AnswerGuard(Arc<Seat>);

impl Slots {
    pub(super) fn new(most: usize, stopwatch: Stopwatch) -> Arc<Slots> {
        Arc::new(Slots {
            most: most.max(1),
            stopwatch,
            taken: Mutex::default(),
            left: Notify::new(),
        })
    }

    /// Takes a slot for a client. If the client has used its share, closes the longest-waiting connection of this
    /// client. If all slots are used, closes the longest-waiting connection of any client.
    pub(super) fn take_slot(self: &Arc<Self>, client: Option<IpAddr>) -> SlotOutcome {
        let client = client.map(client::subnet_prefix);
        let share = self.most.div_euclid(CLIENT_SHARE).max(1);
        let mut taken = self.lock();
        if let Some(client) = client {
            let has = taken.of_client.get(&client);
            if has.is_some_and(|has| *has >= share) && !taken.close_longest_waiting_of(client) {
                return SlotOutcome::TooMany;
            }
        }
        let is_full = taken.seats.len() >= self.most;
        if taken.ending_count >= ENDING_MAX || is_full && !taken.close_longest_waiting() {
            return SlotOutcome::Full;
        }
        let number = taken.next;
        taken.next = number.wrapping_add(1);
        let seat = Arc::new(Seat {
            number,
            client,
            state: AtomicU8::new(0),
            since_us: AtomicI64::new(self.stopwatch.elapsed_us()),
            stopwatch: self.stopwatch,
            task: Mutex::default(),
        });
        taken.seats.insert(number, Arc::clone(&seat));
        if let Some(client) = client {
            let has = taken.of_client.entry(client).or_default();
            *has = has.saturating_add(1);
        }
        drop(taken);
        let slots = Arc::clone(self);
        SlotOutcome::Granted(Slot { slots, seat })
    }

    /// Waits until a connection has ended, so that a slot may be free.
    pub(super) async fn wait_for_free(&self) {
        self.left.notified().await;
    }

    /// Closes every connection that has waited at least this long for its client. Live streams that wait for an event
    /// are not closed, because they end by themselves at shutdown.
    pub(super) fn close_waiting_connections(&self, wait: Duration) {
        self.close_matching(wait, |seat| seat.state.load(Ordering::SeqCst) & IDLE == 0);
    }

    pub(super) async fn wait_until_empty(&self) {
        loop {
            let left = self.wait_for_free();
            let is_empty = {
                let taken = self.lock();
                taken.seats.is_empty() && taken.ending_count == 0
            };
            if is_empty {
                return;
            }
            left.await;
        }
    }

    /// Closes every connection that has waited at least this long for the complete header of its first or next
    /// request.
    pub(super) fn close_silent(&self, wait: Duration) {
        self.close_matching(wait, Seat::is_silent);
    }

    /// Closes the connections that match `are_these` and have waited at least this long for their client.
    fn close_matching(&self, wait: Duration, are_these: impl Fn(&Seat) -> bool) {
        let now_us = self.stopwatch.elapsed_us();
        let wait_us = i64::try_from(wait.as_micros()).unwrap_or(i64::MAX);
        let has_waited = |since_us: i64| now_us.saturating_sub(since_us) >= wait_us;
        for seat in self.lock().seats.values() {
            if are_these(seat) && seat.wait_start_us().is_some_and(has_waited) {
                seat.close_if_waiting();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, UsedSlots> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UsedSlots {
    /// Closes the connection that has waited longest for its client. Returns `false` if no connection waits.
    fn close_longest_waiting(&mut self) -> bool {
        loop {
            if self.longest.is_empty() {
                self.longest = self.longest_waiting(|_| true);
            }
            let Some((since_us, seat)) = self.longest.pop() else {
                return false;
            };
            // Since the search, the connection may have ended, or its client may have sent a request.
            if seat.wait_start_us() == Some(since_us) && self.close(&seat) {
                return true;
            }
        }
    }

    /// Closes the longest-waiting connection of this client. Returns `false` if no connection of the client waits.
    fn close_longest_waiting_of(&mut self, client: IpAddr) -> bool {
        let mut own = self.longest_waiting(|seat| seat.client == Some(client));
        std::iter::from_fn(|| own.pop()).any(|(_, seat)| self.close(&seat))
    }

    /// Closes a connection if it still has a slot and waits for its client. Returns `true` if the connection was
    /// closed.
    fn close(&mut self, seat: &Seat) -> bool {
        let ended = self.seats.contains_key(&seat.number) && seat.close_if_waiting();
        if ended {
            self.remove(seat);
            self.ending_count = self.ending_count.saturating_add(1);
        }
        ended
    }

    /// Returns the longest-waiting connections that match `are_these`. The connection with the longest wait comes
    /// last.
    fn longest_waiting(&self, are_these: impl Fn(&Seat) -> bool) -> Vec<(i64, Arc<Seat>)> {
        let these = self.seats.values().filter(|seat| are_these(seat));
        let waiting = these.filter_map(|seat| Some((seat.wait_start_us()?, seat)));
        let mut waiting: Vec<_> = waiting.collect();
        if waiting.len() > LONGEST_MAX {
            waiting.select_nth_unstable_by_key(LONGEST_MAX, |(since_us, _)| *since_us);
            waiting.truncate(LONGEST_MAX);
        }
        waiting.sort_unstable_by_key(|(since_us, _)| Reverse(*since_us));
        let waiting = waiting.into_iter();
        waiting.map(|(since_us, seat)| (since_us, Arc::clone(seat))).collect()
    }

    /// Removes an ended connection from the used slots. If the connection was being closed, lowers the number of such
    /// connections instead.
    fn remove_ended(&mut self, seat: &Seat) {
        if !self.remove(seat) {
            self.ending_count = self.ending_count.saturating_sub(1);
        }
    }

    /// Removes a connection from the used slots. Returns `true` if the connection used a slot.
    fn remove(&mut self, seat: &Seat) -> bool {
        let was_there = self.seats.remove(&seat.number).is_some();
        if let (true, Some(client)) = (was_there, seat.client)
            && let Some(has) = self.of_client.get_mut(&client)
        {
            *has = has.saturating_sub(1);
            if *has == 0 {
                self.of_client.remove(&client);
            }
        }
        was_there
    }
}

impl Seat {
    /// Sets the task that serves the connection. Does nothing if the task of a live stream is already set.
    pub(super) fn set_task(&self, task: AbortHandle) {
        self.task().get_or_insert(task);
        self.abort_if_ending();
    }

    /// Replaces the task of the connection by the task of a live stream.
    pub(super) fn replace_task(&self, task: AbortHandle) {
        *self.task() = Some(task);
        self.abort_if_ending();
    }

    /// Aborts the task if the connection was closed before the task was set.
    fn abort_if_ending(&self) {
        if self.state.load(Ordering::SeqCst) & ENDING != 0
            && let Some(task) = &*self.task()
        {
            task.abort();
        }
    }

    fn task(&self) -> MutexGuard<'_, Option<AbortHandle>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the start of a request. Never returns if the connection is being closed.
    pub(super) async fn begin_request(self: Arc<Self>) -> AnswerGuard {
        if self.state.fetch_or(ANSWERING, Ordering::SeqCst) & ENDING != 0 {
            std::future::pending::<()>().await;
        }
        AnswerGuard(self)
    }

    /// Returns the time since the server's start, in microseconds.
    pub(super) fn now_us(&self) -> i64 {
        self.stopwatch.elapsed_us()
    }

    /// Sets a state bit and starts a wait for the client.
    pub(super) fn start_wait(&self, what: u8) {
        self.since_us.store(self.now_us(), Ordering::SeqCst);
        self.state.fetch_or(what, Ordering::SeqCst);
    }

    /// Clears state bits and ends the wait for the client. Returns `false` if the connection is being closed.
    pub(super) fn end_wait(&self, what: u8) -> bool {
        self.since_us.store(self.now_us(), Ordering::SeqCst);
        self.state.fetch_and(!what, Ordering::SeqCst) & ENDING == 0
    }

    /// Returns `true` if no request is in progress.
    fn is_silent(&self) -> bool {
        self.state.load(Ordering::SeqCst) == 0
    }

    /// Returns the start of the wait for the client in microseconds, `None` if the connection does not wait for its
    /// client.
    fn wait_start_us(&self) -> Option<i64> {
        let waits = is_waiting(self.state.load(Ordering::SeqCst));
        waits.then(|| self.since_us.load(Ordering::SeqCst))
    }

    /// Closes the connection if it waits for its client. Returns `true` if the connection was closed.
    fn close_if_waiting(&self) -> bool {
        let ending = |state| is_waiting(state).then_some(state | ENDING);
        let (set, fetch) = (Ordering::SeqCst, Ordering::SeqCst);
        let ended = self.state.fetch_update(set, fetch, ending).is_ok();
        if let (true, Some(task)) = (ended, &*self.task()) {
            task.abort();
        }
        ended
    }
}

fn is_waiting(state: u8) -> bool {
    state & (SENDING_BODY | READING_ANSWER | IDLE) != 0 || state & ANSWERING == 0
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.lock().remove_ended(&self.seat);
        self.slots.left.notify_one();
    }
}

impl AnswerGuard {
    pub(super) fn seat(&self) -> &Seat {
        &self.0
    }
}

impl Drop for AnswerGuard {
    fn drop(&mut self) {
        self.0.end_wait(ANSWERING | IDLE);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{IDLE, Slot, SlotOutcome, Slots};
    use crate::clock::Clock;
    use std::future::pending;
    use tokio::task::JoinHandle;

    fn take_slot() -> Option<Slot> {
        let slots = Slots::new(1, Clock::new(0, None).stopwatch());
        match slots.take_slot(None) {
            SlotOutcome::Granted(slot) => Some(slot),
            SlotOutcome::TooMany | SlotOutcome::Full => None,
        }
    }

    fn spawn_endless_task() -> JoinHandle<()> {
        tokio::spawn(pending())
    }

    #[tokio::test]
    async fn late_task_of_closed_connection_is_aborted() {
        let slot = take_slot().unwrap();
        slot.seat.start_wait(IDLE);
        assert!(slot.seat.close_if_waiting());
        let task = spawn_endless_task();
        slot.seat.replace_task(task.abort_handle());
        assert!(task.await.unwrap_err().is_cancelled());
    }

    #[tokio::test]
    async fn close_aborts_only_the_task_of_the_live_stream() {
        let slot = take_slot().unwrap();
        let (before, after) = (spawn_endless_task(), spawn_endless_task());
        slot.seat.replace_task(after.abort_handle());
        slot.seat.set_task(before.abort_handle());
        slot.seat.start_wait(IDLE);
        assert!(slot.seat.close_if_waiting());
        assert!(after.await.unwrap_err().is_cancelled());
        assert!(!before.is_finished());
        assert!(!slot.seat.end_wait(IDLE));
    }
}
