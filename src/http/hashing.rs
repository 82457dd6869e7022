//! The queue for password hashing: one thread at a time, one buffer, and a bounded number of waiting passwords.
//!
//! Invariant: one password is hashed at a time, a client has at most one password in the queue, and a client that
//! disconnects leaves the queue.

use super::permits::PermitPool;
use crate::domain::{Refusal, RefusalCode};
use crate::service::Error;
use crate::service::users::passwords::Hasher;
use std::sync::Arc;
use tokio::sync::{Mutex, Semaphore, oneshot};

/// Maximum number of waiting passwords: about five seconds of work. Further passwords are refused as `overloaded`.
pub(super) const WAITING_MAX: usize = 256;

/// `Retry-After` for a client that already has a password in the queue, in seconds.
const BUSY_SECONDS: i64 = 1;

pub(super) struct HashingQueue {
    /// Connected clients whose password is waiting or being hashed. Each has one permit.
    clients: PermitPool<String>,
    waiting: Arc<Semaphore>,
    waiting_max: usize,
    /// The hasher. Tokio's lock serves in order of arrival.
    hasher: Arc<Mutex<Hasher>>,
}

impl HashingQueue {
    pub(super) fn new(waiting_max: usize) -> HashingQueue {
        let waiting_max = waiting_max.min(Semaphore::MAX_PERMITS);
        HashingQueue {
            clients: PermitPool::new(1),
            waiting: Arc::new(Semaphore::new(waiting_max)),
            waiting_max,
            hasher: Arc::default(),
        }
    }

    /// Runs `work` with the hasher on a thread when the client's turn comes. Drops `work` if the caller disconnects
    /// before `work` starts. Calls `unheard` if the caller disconnects while `work` runs.
    ///
    /// # Errors
    /// `too_many_attempts` if the client already has a password in the queue, `overloaded` if the queue is full.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        client: &str,
        work: impl FnOnce(&mut Hasher) -> T + Send + 'static,
        unheard: impl FnOnce() + Send + 'static,
    ) -> Result<T, Error> {
        let _permit = self.clients.take(client.to_owned()).ok_or_else(busy_refusal)?;
        let place = self.waiting.try_acquire().map_err(|_| full_refusal())?;
        let mut hasher = Arc::clone(&self.hasher).lock_owned().await;
        drop(place);
        let (waiting, waiting_max) = (Arc::clone(&self.waiting), self.waiting_max);
        let (answer, answered) = oneshot::channel();
        let job = move || {
            if answer.send(work(&mut hasher)).is_err() {
                unheard();
            }
            if waiting.available_permits() == waiting_max {
                // Nobody waits, so the memory is freed. The next password takes some milliseconds longer.
                *hasher = Hasher::default();
            }
        };
        let thread = std::thread::Builder::new().name("coffer-passwords".to_owned()).spawn(job);
        thread.map_err(|error| {
            log::error!("password thread not started: error={error}");
            full_refusal()
        })?;
        answered.await.map_err(|_| Error::Failed("a password was not hashed".to_owned()))
    }
}

fn busy_refusal() -> Refusal {
    let message =
        format!("another password of yours is being checked; try again in {BUSY_SECONDS} s");
    Refusal::new(RefusalCode::TooManyAttempts, message).with_retry_after(BUSY_SECONDS)
}

fn full_refusal() -> Refusal {
    let message = "too many passwords are waiting to be checked; try again shortly";
    Refusal::new(RefusalCode::Overloaded, message)
}

#[cfg(test)]
mod tests;
