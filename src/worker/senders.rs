//! Runs webhook requests on a pool of threads that grows as needed, because one request may take ten seconds.
//!
//! Invariant: a job begins at once unless all threads up to the maximum are busy.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Number of threads that are kept while idle.
const THREADS_KEPT: usize = 4;
pub(super) const THREADS_MAX: usize = 768;
/// Idle time after which a thread ends, if there are more than [`THREADS_KEPT`].
const THREAD_IDLE: Duration = Duration::from_secs(5);
/// Stack of a thread, in bytes. A small stack is enough, and there may be many threads.
const THREAD_STACK_BYTES: usize = 512 * 1024;

type Job = Box<dyn FnOnce() + Send>;

/// Handle of the thread pool. Dropping it lets each thread finish its current job.
#[derive(Default)]
pub(super) struct SenderPool {
    shared: Arc<SharedPool>,
}

#[derive(Default)]
struct SharedPool {
    state: Mutex<PoolState>,
    job_came: Condvar,
}

#[derive(Default)]
struct PoolState {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl SenderPool {
    /// Submits a job. Drops the job if there is no thread and the system cannot start one.
    pub(super) fn submit(&self, job: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.lock_state();
        state.jobs.push_back(Box::new(job));
        let wanted = state.jobs.len() > state.idle && state.threads < THREADS_MAX;
        if wanted && self.shared.spawn_thread() {
            state.threads = state.threads.saturating_add(1);
        }
        let hopeless =
            if state.threads == 0 { std::mem::take(&mut state.jobs) } else { VecDeque::new() };
        drop(state);
        drop(hopeless);
        self.shared.job_came.notify_one();
    }
}

impl Drop for SenderPool {
    fn drop(&mut self) {
        self.shared.lock_state().closed = true;
        self.shared.job_came.notify_all();
    }
}

impl SharedPool {
    fn lock_state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a thread. Returns `false` if the system cannot start a thread. The existing threads then run the jobs.
    fn spawn_thread(self: &Arc<Self>) -> bool {
        let shared = Arc::clone(self);
        let builder = std::thread::Builder::new()
            .name("coffer-sender".to_owned())
            .stack_size(THREAD_STACK_BYTES);
        builder.spawn(move || shared.run_jobs()).is_ok()
    }

    /// Runs jobs until the thread has been idle for too long.
    fn run_jobs(&self) {
        while let Some(job) = self.wait_for_job() {
            job();
        }
    }

    /// Waits for the next job. Returns `None` if this thread must end. The thread is then no longer counted.
    fn wait_for_job(&self) -> Option<Job> {
        let mut state = self.lock_state();
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
