//! Expires invoices at their deadline.

use super::{NextStep, Worker};
use crate::domain::Time;
use crate::service::{Error, Service};
use std::sync::Arc;

/// The worker that expires invoices.
pub struct ExpiryWorker {
    /// Service whose invoices expire.
    pub service: Arc<Service>,
}

impl Worker for ExpiryWorker {
    const NAME: &'static str = "expire";

    async fn tick(&mut self, now: Time) -> Result<NextStep, Error> {
        match self.service.next_expiry()? {
            None => Ok(NextStep::Idle),
            Some(at) if at > now => Ok(NextStep::At(at)),
            Some(_) => self.service.expire_invoices(now).await.map(|_| NextStep::Again),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Arc, ExpiryWorker, NextStep, Service, Time, Worker};
    use crate::domain::asset::Chain;
    use crate::domain::scanned::HELD_MS_MAX;
    use crate::domain::time::{HOUR_MS, MINUTE_MS};
    use crate::service::sandbox::chains::set_chain_lag;
    use crate::service::tests::{NOW, block_on, request_without_key, seeded_service};
    use crate::service::{Requester, sandbox};
    use serde_json::json;

    /// Runs steps until nothing is due. Returns the number of steps, and the time of the next step.
    fn run_due_steps(service: &Arc<Service>, now: Time) -> (u32, NextStep) {
        let service = Arc::clone(service);
        let mut worker = ExpiryWorker { service };
        for made in 1..100 {
            match block_on(worker.tick(now)).unwrap() {
                NextStep::Again => {}
                next @ (NextStep::At(_) | NextStep::Idle) => return (made, next),
            }
        }
        unreachable!("it spins")
    }

    #[test]
    fn invoices_of_a_lagging_chain_cause_no_steps() {
        let (service, _file) = seeded_service();
        let caller = service.authenticate(NOW, sandbox::SECRET_LIVE).unwrap();
        let lags = |at, lagging: bool| {
            let lag = service.write(at, move |step| set_chain_lag(step, Chain::Bitcoin, lagging));
            block_on(lag).unwrap();
        };
        lags(NOW, true);
        for (asset, minutes) in [("BTC", 1), ("BTC", 2), ("LTC", 3), ("BTC", 4), ("LTC", 5)] {
            let body = json!({ "amount": "20.00", "currency": "EUR", "asset": asset, "ttlSeconds": minutes * 60 });
            let (requester, request) =
                (Requester::Key(caller.key_id()), request_without_key(&body));
            block_on(service.create_invoice(NOW, &caller, requester, request)).unwrap();
        }
        let at = |minutes: i64| NOW.plus_ms(minutes * MINUTE_MS);
        // The bitcoin chain lags, so its invoices wait. The litecoin invoices expire at 3 and 5 minutes. The last
        // step of each call finds nothing due.
        assert_eq!(run_due_steps(&service, at(0)), (1, NextStep::At(at(3))));
        assert_eq!(run_due_steps(&service, at(2)), (1, NextStep::At(at(3))));
        assert_eq!(run_due_steps(&service, at(3)), (2, NextStep::At(at(5))));
        let first_gives_up = at(1).plus_ms(HELD_MS_MAX);
        assert_eq!(run_due_steps(&service, at(5)), (2, NextStep::At(first_gives_up)));
        let later = NOW.plus_ms(HOUR_MS);
        assert_eq!(run_due_steps(&service, later), (1, NextStep::At(first_gives_up)));
        let second_gives_up = at(2).plus_ms(HELD_MS_MAX);
        assert_eq!(run_due_steps(&service, first_gives_up), (2, NextStep::At(second_gives_up)));
        lags(second_gives_up, false);
        assert_eq!(run_due_steps(&service, second_gives_up), (1, NextStep::Idle));
    }
}
