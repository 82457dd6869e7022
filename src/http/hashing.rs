//! The queue for password hashing: one thread, one buffer, and a bounded number of waiting passwords.
//!
//! Invariant: one password is hashed at a time, a client has at most one password in the queue, and a client that
//! disconnects leaves the queue.

use crate::domain::refusal::{Refusal, RefusalCode};
use crate::service::Error;
use crate::service::users::passwords::Hasher;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// Maximum number of waiting passwords: about five seconds of work. Further passwords are refused as `overloaded`.
pub(super) const WAITING_MAX: usize = 256;
/// Idle time after which the thread ends and frees the memory of the hasher.
const IDLE: Duration = Duration::from_secs(10);

/// `Retry-After` for a client that already has a password in the queue, in seconds.
const BUSY_SECONDS: i64 = 1;

type HashWork = Box<dyn FnOnce(&mut Hasher) + Send>;

/// Handle of the queue for password hashing. Dropping the handle ends the thread after the current password is
/// hashed.
pub(super) struct HashingQueue {
    shared: Arc<HashingState>,
}

/// State that the handle of the queue and the thread share.
struct HashingState {
    queue: Mutex<Queue>,
    /// Notified when a password is added or the queue closes.
    changed: Condvar,
    waiting_max: usize,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<HashJob>,
    /// Connected clients whose password is waiting or being hashed.
    clients: Vec<Arc<str>>,
    thread: Option<JoinHandle<()>>,
    is_running: bool,
    is_closed: bool,
}

struct HashJob {
    client: Arc<str>,
    work: HashWork,
}

/// Position of a client in the queue. Dropping the entry removes the client from the queue.
struct QueueEntry {
    shared: Arc<HashingState>,
    client: Arc<str>,
}

impl HashingQueue {
    /// Creates a queue for at most `waiting_max` passwords. The first password starts the thread.
    pub(super) fn new(waiting_max: usize) -> HashingQueue {
        HashingQueue {
            shared: Arc::new(HashingState {
                queue: Mutex::default(),
                changed: Condvar::new(),
                waiting_max,
            }),
        }
    }

    /// Runs `work` with the hasher when the client's turn comes. Drops `work` if the caller disconnects before `work`
    /// starts. Calls `unheard` if the caller disconnects while `work` runs.
    ///
    /// # Errors
    /// `too_many_attempts` if the client already has a password in the queue, `overloaded` if the queue is full.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        client: &str,
        work: impl FnOnce(&mut Hasher) -> T + Send + 'static,
        unheard: impl FnOnce() + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        let work: HashWork = Box::new(move |hasher| {
            if answer.send(work(hasher)).is_err() {
                unheard();
            }
        });
        let _entry = self.enqueue(client, work)?;
        answered.await.map_err(|_| Error::Failed("a password was not hashed".to_owned()))
    }

    /// Adds a client with its work to the queue.
    fn enqueue(&self, client: &str, work: HashWork) -> Result<QueueEntry, Refusal> {
        let client: Arc<str> = Arc::from(client);
        let mut queue = self.shared.lock();
        if queue.clients.contains(&client) {
            let message = format!(
                "another password of yours is being checked; try again in {BUSY_SECONDS} s"
            );
            return Err(
                Refusal::new(RefusalCode::TooManyAttempts, message).with_retry_after(BUSY_SECONDS)
            );
        }
        if queue.waiting.len() >= self.shared.waiting_max || !self.ensure_thread_runs(&mut queue) {
            let message = "too many passwords are waiting to be checked; try again shortly";
            return Err(Refusal::new(RefusalCode::Overloaded, message));
        }
        queue.clients.push(Arc::clone(&client));
        queue.waiting.push_back(HashJob { client: Arc::clone(&client), work });
        self.shared.changed.notify_one();
        Ok(QueueEntry { shared: Arc::clone(&self.shared), client })
    }

    /// Starts the thread if it is not running. Returns `false` if the system cannot start a thread.
    fn ensure_thread_runs(&self, queue: &mut Queue) -> bool {
        if queue.is_running {
            return true;
        }
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new()
            .name("coffer-passwords".to_owned())
            .spawn(move || shared.run_jobs());
        match thread {
            Ok(thread) => {
                queue.thread = Some(thread);
                queue.is_running = true;
            }
            Err(error) => log::error!("password thread not started: error={error}"),
        }
        queue.is_running
    }
}

impl HashingState {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the queued work in order, until the queue is idle for too long or closed.
    fn run_jobs(&self) {
        let mut hasher = Hasher::default();
        while let Some(work) = self.next() {
            work(&mut hasher);
        }
    }

    /// Waits for the next work. Returns `None` if the thread must end.
    fn next(&self) -> Option<HashWork> {
        let idle = |queue: &mut Queue| queue.waiting.is_empty() && !queue.is_closed;
        let waited = self.changed.wait_timeout_while(self.lock(), IDLE, idle);
        let (mut queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let next = queue.waiting.pop_front().filter(|_| !queue.is_closed);
        queue.is_running = next.is_some();
        next.map(|job| job.work)
    }
}

impl Drop for QueueEntry {
    fn drop(&mut self) {
        let mut queue = self.shared.lock();
        queue.clients.retain(|client| *client != self.client);
        queue.waiting.retain(|job| job.client != self.client);
    }
}

impl Drop for HashingQueue {
    fn drop(&mut self) {
        let thread = {
            let mut queue = self.shared.lock();
            queue.is_closed = true;
            queue.thread.take()
        };
        self.shared.changed.notify_one();
        // The thread does not own the handle, so the thread never joins itself.
        if thread.is_some_and(|thread| thread.join().is_err()) {
            log::error!("password thread panicked");
        }
    }
}

#[cfg(test)]
mod tests;
