//! Threads that send, as many as are needed: a send may take ten seconds, and nothing else waits for it.
//!
//! What lives here: the threads and their queue. What does not: how many of them one receiver may take
//! (`receivers`). What always holds: a job begins at once unless the maximum of threads is already at work.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Threads that stay when there is nothing to send.
const THREADS_KEPT: usize = 4;
/// Threads at most.
pub(super) const THREADS_MAX: usize = 768;
/// How long a thread beyond the kept ones waits for more.
const THREAD_IDLE: Duration = Duration::from_secs(5);
/// A sender needs little stack, and there may be many.
const THREAD_STACK_BYTES: usize = 512 * 1024;

type Job = Box<dyn FnOnce() + Send>;

/// The threads' handle; dropping it lets each finish the job in hand.
#[derive(Default)]
pub(super) struct Senders {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    job_came: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl Senders {
    /// Hands in a job. Where there is no thread and the system has none to give, the job is dropped.
    pub(super) fn submit(&self, job: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.lock();
        state.jobs.push_back(Box::new(job));
        let wanted = state.jobs.len() > state.idle && state.threads < THREADS_MAX;
        if wanted && self.shared.spawn() {
            state.threads = state.threads.saturating_add(1);
        }
        let hopeless = if state.threads == 0 {
            std::mem::take(&mut state.jobs)
        } else {
            VecDeque::new()
        };
        drop(state);
        drop(hopeless);
        self.shared.job_came.notify_one();
    }
}

impl Drop for Senders {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.job_came.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a thread; false where the system has none to give, and the others do the work.
    fn spawn(self: &Arc<Self>) -> bool {
        let shared = Arc::clone(self);
        let builder = std::thread::Builder::new()
            .name("coffer-sender".to_owned())
            .stack_size(THREAD_STACK_BYTES);
        builder.spawn(move || shared.work()).is_ok()
    }

    /// Takes job after job until there is none for a while.
    fn work(&self) {
        while let Some(job) = self.next_job() {
            job();
        }
    }

    /// The next job; nothing when this thread is no longer needed, which is then already counted out.
    fn next_job(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.closed {
                break;
            }
            state.idle = state.idle.saturating_add(1);
            let (woken, wait) = self
                .job_came
                .wait_timeout(state, THREAD_IDLE)
                .unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle = state.idle.saturating_sub(1);
            if wait.timed_out() && state.jobs.is_empty() && state.threads > THREADS_KEPT {
                break;
            }
        }
        state.threads = state.threads.saturating_sub(1);
        None
    }
}
