//! Runs a command for each work item of a job, one at a time, and stores the results.
//!
//! Invariant: before the command for a work item starts, the database records the start. A result is kept in memory
//! until it is stored in the database.

use super::command::{Command, CommandResult};
use super::{NextStep, Worker};
use crate::clock::Clock;
use crate::domain::{RefusalCode, Time};
use crate::service::Error;
use serde_json::Value;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Time in which a stopping server tries to store the last result, in milliseconds.
const STORE_MS_MAX: i64 = 3_000;
/// Pause between two attempts to store the last result.
const STORE_PAUSE: Duration = Duration::from_millis(20);

/// A queue of work items. A command processes each item, and the job stores the result.
pub trait CommandJob: Send + Sync + 'static {
    /// Name of the job in the log.
    const NAME: &'static str;
    /// A work item, for example a transfer to send.
    type WorkItem: Send + Sync + 'static;

    /// Takes the next work item, and commits that its processing has begun. Returns `None` if no item is waiting.
    fn begin_next_item(
        &self,
        now: Time,
    ) -> impl Future<Output = Result<Option<Self::WorkItem>, Error>> + Send;

    /// Returns the next time at which a work item becomes due, for example for a retry. `None` if work items only
    /// become due with a wake-up.
    fn next_item_due_at(&self, _now: Time) -> Result<Option<Time>, Error> {
        Ok(None)
    }

    /// Returns the name of the work item in the log, and the input of the command.
    fn name_and_input(order: &Self::WorkItem) -> (String, Value);

    /// Stores the result of the command.
    fn store_result(
        &self,
        now: Time,
        order: &Self::WorkItem,
        answered: &CommandResult,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Runs the command of a job for one work item at a time.
pub struct CommandRunner<J: CommandJob> {
    job: J,
    command: Command,
    clock: Arc<Clock>,
    /// A work item, and its result that is not stored yet.
    unstored: Option<(J::WorkItem, CommandResult)>,
}

impl<J: CommandJob> CommandRunner<J> {
    /// Creates a worker that runs this command for the work items of this job.
    pub fn new(job: J, command: Command, clock: Arc<Clock>) -> CommandRunner<J> {
        CommandRunner { job, command, clock, unstored: None }
    }

    /// Stores the result of the last command. If the write fails, keeps the result for the next attempt.
    async fn store_last_result(&mut self) -> Result<(), Error> {
        let Some((order, answered)) = self.unstored.take() else {
            return Ok(());
        };
        let stored = self.job.store_result(self.clock.now(), &order, &answered).await;
        match stored {
            Ok(()) => Ok(()),
            Err(Error::Refused(refusal)) if refusal.code != RefusalCode::Overloaded => {
                let (name, _) = J::name_and_input(&order);
                log::error!("command result refused: order={name:?} error={refusal}");
                Ok(())
            }
            Err(error) => {
                self.unstored = Some((order, answered));
                Err(error)
            }
        }
    }
}

impl<J: CommandJob> Worker for CommandRunner<J> {
    const NAME: &'static str = J::NAME;

    async fn tick(&mut self, now: Time) -> Result<NextStep, Error> {
        self.store_last_result().await?;
        let Some(order) = self.job.begin_next_item(now).await? else {
            return Ok(self.job.next_item_due_at(now)?.map_or(NextStep::Idle, NextStep::At));
        };
        let (name, input) = J::name_and_input(&order);
        let program = self.command.program.path().display();
        log::info!("command started: order={name:?} program={program}");
        let answered = self.command.run(&name, &input).await;
        log::info!("command ended: order={name:?} program={program}");
        self.unstored = Some((order, answered));
        self.store_last_result().await?;
        Ok(NextStep::Again)
    }

    /// Retries for a few seconds to store the last result, which is only in memory. The write queue may be full at
    /// first.
    async fn finish(&mut self) -> Result<(), Error> {
        let stopwatch = self.clock.stopwatch();
        loop {
            let stored = self.store_last_result().await;
            if stored.is_ok() || stopwatch.elapsed_ms() >= STORE_MS_MAX {
                return stored;
            }
            tokio::time::sleep(STORE_PAUSE).await;
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{
        Clock, Command, CommandJob, CommandResult, CommandRunner, Error, Future, NextStep, Time,
        Worker,
    };
    use crate::domain::{Refusal, RefusalCode};
    use crate::worker::command::Program;
    use serde_json::{Value, json};
    use std::future::ready;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;
    use tokio::sync::watch;

    /// A job that always has a work item. The first attempts to store a result fail with `overloaded`.
    #[derive(Clone)]
    struct JobWithBusyStore {
        refusals: Arc<AtomicU32>,
        stored: Arc<Mutex<Vec<CommandResult>>>,
    }

    impl CommandJob for JobWithBusyStore {
        const NAME: &'static str = "crowded";
        type WorkItem = ();

        fn begin_next_item(
            &self,
            _: Time,
        ) -> impl Future<Output = Result<Option<()>, Error>> + Send {
            ready(Ok(Some(())))
        }

        fn name_and_input((): &()) -> (String, Value) {
            ("order".to_owned(), json!({}))
        }

        fn store_result(
            &self,
            _: Time,
            (): &(),
            answered: &CommandResult,
        ) -> impl Future<Output = Result<(), Error>> + Send {
            let one_less = |left: u32| left.checked_sub(1);
            let (set, fetch) = (Ordering::SeqCst, Ordering::SeqCst);
            if self.refusals.fetch_update(set, fetch, one_less).is_ok() {
                return ready(Err(Refusal::new(RefusalCode::Overloaded, "no room").into()));
            }
            self.stored.lock().unwrap().push(answered.clone());
            ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn shutdown_retries_to_store_a_result_after_overload() {
        let crowded =
            JobWithBusyStore { refusals: Arc::new(AtomicU32::new(4)), stored: Arc::default() };
        let (_stop, stopped) = watch::channel(false);
        let command = Command {
            program: Program::parse(r#"["/bin/sh", "-c", "echo {}"]"#).unwrap(),
            timeout: Duration::from_secs(60),
            stop: stopped,
            stop_grace: Duration::ZERO,
        };
        let clock = Arc::new(Clock::new(0, None));
        let mut runner = CommandRunner::new(crowded.clone(), command, clock);
        assert!(runner.tick(Time(0)).await.is_err());
        runner.finish().await.unwrap();
        assert_eq!(crowded.stored.lock().unwrap().len(), 1);
        // A second call of `finish` does not store the result again.
        runner.finish().await.unwrap();
        assert_eq!(crowded.stored.lock().unwrap().len(), 1);
        assert_eq!(runner.tick(Time(0)).await.unwrap(), NextStep::Again);
    }
}
