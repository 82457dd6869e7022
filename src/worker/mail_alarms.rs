//! Looks every minute for alarms and waiting work that the team is told of, and sums up the sales of each day.

use super::{NextStep, Worker};
use crate::domain::Time;
use crate::domain::time::MINUTE_MS;
use crate::service::{Error, Service};
use std::sync::Arc;

/// Interval between two checks, in milliseconds.
const CHECK_EVERY_MS: i64 = MINUTE_MS;

/// The worker that looks for alarms.
pub struct MailAlarmWorker {
    /// Service whose state is checked.
    pub service: Arc<Service>,
}

impl Worker for MailAlarmWorker {
    const NAME: &'static str = "mail alarms";

    async fn tick(&mut self, now: Time) -> Result<NextStep, Error> {
        let (mut found, mut due) = (None, None);
        if self.service.is_mail_check_wanted()? {
            let read = run_read(&self.service, move |service| {
                Ok((service.alarm_conditions(now)?, service.sales_to_sum_up(now)?))
            });
            (found, due) = read.await?;
        }
        self.service.update_alarms(found, now).await?;
        if let Some((day, sales)) = due {
            self.service.queue_summaries(day, sales, now).await?;
        }
        Ok(NextStep::At(now.plus_ms(CHECK_EVERY_MS)))
    }
}

/// Runs a long read on a thread of its own.
async fn run_read<T: Send + 'static>(
    service: &Arc<Service>,
    read: impl FnOnce(&Service) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let service = Arc::clone(service);
    let done = tokio::task::spawn_blocking(move || read(&service)).await;
    done.unwrap_or_else(|error| Err(Error::Failed(format!("a read ended early: {error}"))))
}
