//! Sending a command on its errands: one order after the other, each once.
//!
//! What lives here: the order of things. What does not: what an order is (`provision`), how a command is run
//! (`command`). What always holds: that the command is about to run is committed before it does, and an answer is
//! kept until it is committed.

use super::command::{Answered, Command};
use super::{Next, Worker};
use crate::clock::Clock;
use crate::domain::refusal::Code;
use crate::domain::time::Time;
use crate::service::Error;
use serde_json::Value;
use std::future::Future;
use std::sync::Arc;

/// What a command is sent for.
pub trait Errands: Send + Sync + 'static {
    /// The name in the log.
    const NAME: &'static str;
    /// One of them.
    type Order: Send + Sync + 'static;

    /// Takes the next one, committed as begun; nothing where none waits.
    fn begin(&self, now: Time) -> impl Future<Output = Result<Option<Self::Order>, Error>> + Send;

    /// What the log calls it, and what its command reads.
    fn describe(order: &Self::Order) -> (String, Value);

    /// Stores what the command answered.
    fn end(
        &self,
        now: Time,
        order: &Self::Order,
        answered: &Answered,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Runs errands, one at a time.
pub struct Runner<E: Errands> {
    errands: E,
    command: Command,
    clock: Arc<Clock>,
    /// An answer that is not stored yet.
    unstored: Option<(E::Order, Answered)>,
}

impl<E: Errands> Runner<E> {
    /// Sends this command on these errands.
    pub fn new(errands: E, command: Command, clock: Arc<Clock>) -> Runner<E> {
        Runner {
            errands,
            command,
            clock,
            unstored: None,
        }
    }

    /// Stores the last answer; keeps it where that fails.
    async fn store(&mut self) -> Result<(), Error> {
        let Some((order, answered)) = self.unstored.take() else {
            return Ok(());
        };
        let stored = self.errands.end(self.clock.now(), &order, &answered).await;
        match stored {
            Ok(()) => Ok(()),
            Err(Error::Refused(refusal)) if refusal.code != Code::Overloaded => {
                let (name, _) = E::describe(&order);
                log::error!("what became of {name} was not taken: {refusal}");
                Ok(())
            }
            Err(error) => {
                self.unstored = Some((order, answered));
                Err(error)
            }
        }
    }
}

impl<E: Errands> Worker for Runner<E> {
    const NAME: &'static str = E::NAME;

    async fn tick(&mut self, now: Time) -> Result<Next, Error> {
        self.store().await?;
        let Some(order) = self.errands.begin(now).await? else {
            return Ok(Next::Idle);
        };
        let (name, input) = E::describe(&order);
        let program = self.command.program.path().display();
        log::info!("{name}: {program} is started");
        let answered = self.command.run(&name, &input).await;
        log::info!("{name}: {program} has ended");
        self.unstored = Some((order, answered));
        self.store().await?;
        Ok(Next::Again)
    }

    async fn finish(&mut self) -> Result<(), Error> {
        self.store().await
    }
}
