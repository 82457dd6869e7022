//! Expires invoices at their deadline.

use super::{Next, Worker};
use crate::domain::time::Time;
use crate::service::{Error, Service};
use std::sync::Arc;

/// The worker that expires invoices.
pub struct Expire {
    /// Service whose invoices expire.
    pub service: Arc<Service>,
}

impl Worker for Expire {
    const NAME: &'static str = "expire";

    async fn tick(&mut self, now: Time) -> Result<Next, Error> {
        match self.service.next_expiry()? {
            None => Ok(Next::Idle),
            Some(at) if at > now => Ok(Next::At(at)),
            Some(_) => self.service.expire_invoices(now).await.map(|_| Next::Again),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Arc, Expire, Next, Service, Time, Worker};
    use crate::domain::asset::Chain;
    use crate::domain::scanned::HELD_MS_MAX;
    use crate::domain::time::{HOUR_MS, MINUTE_MS};
    use crate::service::sandbox;
    use crate::service::tests::{NOW, done, seeded};
    use serde_json::{Map, Value, json};

    fn object(body: &Value) -> Map<String, Value> {
        body.as_object().unwrap().clone()
    }

    /// Runs steps until nothing is due. Returns their number, and when the next step is due.
    fn steps(service: &Arc<Service>, now: Time) -> (u32, Next) {
        let service = Arc::clone(service);
        let mut worker = Expire { service };
        for made in 1..100 {
            match done(worker.tick(now)).unwrap() {
                Next::Again => {}
                next @ (Next::At(_) | Next::Idle) => return (made, next),
            }
        }
        unreachable!("it spins")
    }

    #[test]
    fn what_waits_for_a_chain_that_lags_makes_no_steps() {
        let (service, _file) = seeded();
        let caller = service.authenticate(NOW, sandbox::SECRET_LIVE).unwrap();
        let lags = |at, lagging: bool| {
            let lag =
                service.write(move |service, tx| service.let_lag(tx, at, Chain::Bitcoin, lagging));
            done(lag).unwrap();
        };
        lags(NOW, true);
        for (asset, minutes) in [("BTC", 1), ("BTC", 2), ("LTC", 3), ("BTC", 4), ("LTC", 5)] {
            let body = json!({ "amount": "20.00", "currency": "EUR", "asset": asset, "ttlSeconds": minutes * 60 });
            done(service.create_invoice(NOW, &caller, object(&body), None)).unwrap();
        }
        let at = |minutes: i64| NOW.plus_ms(minutes * MINUTE_MS);
        // Invoices on bitcoin are skipped because their chain lags. If others are due, the first step expires them
        // and the second finds nothing.
        assert_eq!(steps(&service, at(0)), (1, Next::At(at(3))));
        assert_eq!(steps(&service, at(2)), (1, Next::At(at(3))));
        assert_eq!(steps(&service, at(3)), (2, Next::At(at(5))));
        let first_gives_up = at(1).plus_ms(HELD_MS_MAX);
        assert_eq!(steps(&service, at(5)), (2, Next::At(first_gives_up)));
        let later = NOW.plus_ms(HOUR_MS);
        assert_eq!(steps(&service, later), (1, Next::At(first_gives_up)));
        let second_gives_up = at(2).plus_ms(HELD_MS_MAX);
        assert_eq!(
            steps(&service, first_gives_up),
            (2, Next::At(second_gives_up))
        );
        lags(second_gives_up, false);
        assert_eq!(steps(&service, second_gives_up), (1, Next::Idle));
    }
}
