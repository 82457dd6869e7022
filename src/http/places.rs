//! Places: how many connections there are, whose they are, and which of them wait for their client.
//!
//! What lives here: taking, giving back and ending a connection's place. What does not: what is sent over it. What
//! always holds: a connection is ended here only while it waits for its client, or for something to tell, so no request
//! is interrupted.

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

/// A request has come and its answer is being made.
const ANSWERING: u8 = 1;
/// The client has to send more of the body.
pub(super) const BODY: u8 = 2;
/// The client has to take more of the answer.
pub(super) const TAKING: u8 = 4;
/// It was told to end: nothing more is begun on it.
const ENDING: u8 = 8;
/// The answer is a live stream that has nothing to tell.
pub(super) const IDLE: u8 = 16;

/// One of so many clients may have this part of the places.
const CLIENT_SHARE: usize = 4;

/// How many of the connections that have waited longest are found at once.
const LONGEST_KEPT: usize = 64;

/// How many connections may be ending at once: until they are gone they are open files too.
const ENDING_MAX: usize = 16;

/// Every place of one server.
pub(super) struct Places {
    most: usize,
    stopwatch: Stopwatch,
    taken: Mutex<Taken>,
    left: Notify,
}

#[derive(Default)]
struct Taken {
    seats: HashMap<u64, Arc<Seat>>,
    /// How many each client has; those that are not limited are not counted.
    of_client: HashMap<IpAddr, usize>,
    next: u64,
    /// How many have made place and are not gone yet.
    ending: usize,
    /// Those that had waited longest when it was last looked, the longest last. Whoever is not among them has waited
    /// shorter, so this saves looking through all of them for each new connection.
    longest: Vec<(i64, Arc<Seat>)>,
}

/// What is known of one connection.
pub(super) struct Seat {
    number: u64,
    /// By what its client is counted; nothing where it is not limited.
    client: Option<IpAddr>,
    state: AtomicU8,
    /// Since when it has waited for its client, as long as it does.
    since_us: AtomicI64,
    stopwatch: Stopwatch,
    task: Mutex<Option<AbortHandle>>,
}

/// A connection's place; it is free again when this is dropped.
pub(super) struct Place {
    places: Arc<Places>,
    pub(super) seat: Arc<Seat>,
}

/// What became of the wish for a place.
pub(super) enum Wish {
    Granted(Place),
    /// The client has its share and is busy with all of it.
    TooMany,
    /// All are taken and busy.
    Full,
}

/// An answer under way: until this is dropped the connection does not wait for its client to ask.
pub(super) struct Answering(Arc<Seat>);

impl Places {
    pub(super) fn new(most: usize, stopwatch: Stopwatch) -> Arc<Places> {
        Arc::new(Places {
            most: most.max(1),
            stopwatch,
            taken: Mutex::default(),
            left: Notify::new(),
        })
    }

    /// Takes a place for a client. Where its share or all of them are taken, the connection that has waited longest
    /// for its client is ended for it: the client's own, or anybody's.
    pub(super) fn take(self: &Arc<Self>, client: Option<IpAddr>) -> Wish {
        let client = client.map(client::site);
        let share = self.most.div_euclid(CLIENT_SHARE).max(1);
        let mut taken = self.lock();
        if let Some(client) = client {
            let has = taken.of_client.get(&client);
            if has.is_some_and(|has| *has >= share) && !taken.end_longest_of(client) {
                return Wish::TooMany;
            }
        }
        let is_full = taken.seats.len() >= self.most;
        if taken.ending >= ENDING_MAX || is_full && !taken.end_longest() {
            return Wish::Full;
        }
        let number = taken.next;
        taken.next = number.wrapping_add(1);
        let seat = Arc::new(Seat {
            number,
            client,
            state: AtomicU8::new(0),
            since_us: AtomicI64::new(self.stopwatch.us()),
            stopwatch: self.stopwatch,
            task: Mutex::default(),
        });
        taken.seats.insert(number, Arc::clone(&seat));
        if let Some(client) = client {
            let has = taken.of_client.entry(client).or_default();
            *has = has.saturating_add(1);
        }
        drop(taken);
        let places = Arc::clone(self);
        Wish::Granted(Place { places, seat })
    }

    /// Waits until a place may have become free.
    pub(super) async fn left(&self) {
        self.left.notified().await;
    }

    /// Ends every connection that has waited for its client this long. A live stream that has nothing to tell ends by
    /// itself when its server does.
    pub(super) fn end_waiting(&self, wait: Duration) {
        self.end_after(wait, |seat| seat.state.load(Ordering::SeqCst) & IDLE == 0);
    }

    /// Waits until nobody has a place any more.
    pub(super) async fn emptied(&self) {
        loop {
            let left = self.left();
            let is_empty = {
                let taken = self.lock();
                taken.seats.is_empty() && taken.ending == 0
            };
            if is_empty {
                return;
            }
            left.await;
        }
    }

    /// Ends every connection that has waited this long for a whole header, the first or the next one.
    pub(super) fn end_silent(&self, wait: Duration) {
        self.end_after(wait, Seat::is_silent);
    }

    /// Ends those of these connections that have waited for their client this long.
    fn end_after(&self, wait: Duration, are_these: impl Fn(&Seat) -> bool) {
        let now_us = self.stopwatch.us();
        let wait_us = i64::try_from(wait.as_micros()).unwrap_or(i64::MAX);
        let has_waited = |since_us: i64| now_us.saturating_sub(since_us) >= wait_us;
        for seat in self.lock().seats.values() {
            if are_these(seat) && seat.waits_since_us().is_some_and(has_waited) {
                seat.end();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// Ends the connection that has waited longest for its client; false where none waits.
    fn end_longest(&mut self) -> bool {
        loop {
            if self.longest.is_empty() {
                self.longest = self.waiting_of(|_| true);
            }
            let Some((since_us, seat)) = self.longest.pop() else {
                return false;
            };
            // It may have gone since, or its client may have asked for something.
            if seat.waits_since_us() == Some(since_us) && self.end(&seat) {
                return true;
            }
        }
    }

    /// The same of this client's connections.
    fn end_longest_of(&mut self, client: IpAddr) -> bool {
        let mut own = self.waiting_of(|seat| seat.client == Some(client));
        std::iter::from_fn(|| own.pop()).any(|(_, seat)| self.end(&seat))
    }

    /// Ends a connection that is on the list, where it waits for its client.
    fn end(&mut self, seat: &Seat) -> bool {
        let ended = self.seats.contains_key(&seat.number) && seat.end();
        if ended {
            self.remove(seat);
            self.ending = self.ending.saturating_add(1);
        }
        ended
    }

    /// Those of these connections that have waited longest for their client, the longest last.
    fn waiting_of(&self, are_these: impl Fn(&Seat) -> bool) -> Vec<(i64, Arc<Seat>)> {
        let these = self.seats.values().filter(|seat| are_these(seat));
        let waiting = these.filter_map(|seat| Some((seat.waits_since_us()?, seat)));
        let mut waiting: Vec<_> = waiting.collect();
        if waiting.len() > LONGEST_KEPT {
            waiting.select_nth_unstable_by_key(LONGEST_KEPT, |(since_us, _)| *since_us);
            waiting.truncate(LONGEST_KEPT);
        }
        waiting.sort_unstable_by_key(|(since_us, _)| Reverse(*since_us));
        let waiting = waiting.into_iter();
        waiting
            .map(|(since_us, seat)| (since_us, Arc::clone(seat)))
            .collect()
    }

    /// A connection is gone.
    fn gone(&mut self, seat: &Seat) {
        if !self.remove(seat) {
            self.ending = self.ending.saturating_sub(1);
        }
    }

    /// Takes a seat off the list; was it on it?
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
    /// Says which task serves it, which ends with it; one that has taken it over meanwhile goes on.
    pub(super) fn served_by(&self, task: AbortHandle) {
        self.task().get_or_insert(task);
        self.end_late();
    }

    /// Says which task has taken it over.
    pub(super) fn taken_over_by(&self, task: AbortHandle) {
        *self.task() = Some(task);
        self.end_late();
    }

    /// Ends the task that it was not known to have when it was told to end.
    fn end_late(&self) {
        if self.state.load(Ordering::SeqCst) & ENDING != 0
            && let Some(task) = &*self.task()
        {
            task.abort();
        }
    }

    fn task(&self) -> MutexGuard<'_, Option<AbortHandle>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request has come; waits for ever where the connection is ending, so that it is not begun.
    pub(super) async fn begin(self: Arc<Self>) -> Answering {
        if self.state.fetch_or(ANSWERING, Ordering::SeqCst) & ENDING != 0 {
            std::future::pending::<()>().await;
        }
        Answering(self)
    }

    /// Microseconds since the server began to take connections.
    pub(super) fn now_us(&self) -> i64 {
        self.stopwatch.us()
    }

    /// From now on it waits for its client to do this.
    pub(super) fn wait(&self, what: u8) {
        self.since_us.store(self.now_us(), Ordering::SeqCst);
        self.state.fetch_or(what, Ordering::SeqCst);
    }

    /// Its client has done this; false where that was too late.
    pub(super) fn go_on(&self, what: u8) -> bool {
        self.since_us.store(self.now_us(), Ordering::SeqCst);
        self.state.fetch_and(!what, Ordering::SeqCst) & ENDING == 0
    }

    /// Has nothing been asked on it that is not answered and taken?
    fn is_silent(&self) -> bool {
        self.state.load(Ordering::SeqCst) == 0
    }

    /// Since when it has waited for its client; nothing while it makes an answer.
    fn waits_since_us(&self) -> Option<i64> {
        let waits = waits(self.state.load(Ordering::SeqCst));
        waits.then(|| self.since_us.load(Ordering::SeqCst))
    }

    /// Ends it, where it waits for its client.
    fn end(&self) -> bool {
        let ending = |state| waits(state).then_some(state | ENDING);
        let (set, fetch) = (Ordering::SeqCst, Ordering::SeqCst);
        let ended = self.state.fetch_update(set, fetch, ending).is_ok();
        if let (true, Some(task)) = (ended, &*self.task()) {
            task.abort();
        }
        ended
    }
}

/// Does a connection in this state wait for its client?
fn waits(state: u8) -> bool {
    state & (BODY | TAKING | IDLE) != 0 || state & ANSWERING == 0
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().gone(&self.seat);
        self.places.left.notify_one();
    }
}

impl Answering {
    /// The connection that it is sent over.
    pub(super) fn seat(&self) -> &Seat {
        &self.0
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.go_on(ANSWERING | IDLE);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{IDLE, Place, Places, Wish};
    use crate::clock::Clock;
    use std::future::pending;
    use tokio::task::JoinHandle;

    fn place() -> Option<Place> {
        let places = Places::new(1, Clock::new(0, None).stopwatch());
        match places.take(None) {
            Wish::Granted(place) => Some(place),
            Wish::TooMany | Wish::Full => None,
        }
    }

    fn task() -> JoinHandle<()> {
        tokio::spawn(pending())
    }

    #[tokio::test]
    async fn a_task_that_is_known_only_after_the_connection_was_told_to_end_ends() {
        let place = place().unwrap();
        place.seat.wait(IDLE);
        assert!(place.seat.end());
        let task = task();
        place.seat.taken_over_by(task.abort_handle());
        assert!(task.await.unwrap_err().is_cancelled());
    }

    #[tokio::test]
    async fn who_has_taken_a_connection_over_is_ended_and_not_who_had_it_before() {
        let place = place().unwrap();
        let (before, after) = (task(), task());
        place.seat.taken_over_by(after.abort_handle());
        place.seat.served_by(before.abort_handle());
        place.seat.wait(IDLE);
        assert!(place.seat.end());
        assert!(after.await.unwrap_err().is_cancelled());
        assert!(!before.is_finished());
        assert!(!place.seat.go_on(IDLE));
    }
}
