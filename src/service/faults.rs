//! Faults that the sandbox simulates.
//!
//! Invariant: outside the sandbox no fault is set, and the sandbox's own controls have no faults.

use super::Service;
use crate::render::sandbox::{CallFaultView, FaultsView};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Simulated faults except those of calls. By default there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// `true` if new customers and invoices get no address.
    pub pool_empty: bool,
    /// `true` if no rate in live mode is fresh enough for a quote.
    pub rates_stale: bool,
    /// `true` if the first attempts to deliver webhooks are made in a shuffled order.
    pub deliveries_shuffled: bool,
}

/// The fault switches. They exist in memory only, not in the file.
#[derive(Default)]
pub(super) struct FaultSwitches {
    pool_empty: AtomicBool,
    rates_stale: AtomicBool,
    deliveries_shuffled: AtomicBool,
    /// Faults of the next calls, oldest first.
    calls: Mutex<Vec<CallFaultView>>,
    /// `true` if there is a fault of calls. Requests read this flag without taking the lock.
    has_calls: AtomicBool,
}

impl FaultSwitches {
    /// Changes the faults of calls.
    fn change_calls<T>(&self, change: impl FnOnce(&mut Vec<CallFaultView>) -> T) -> T {
        let mut calls = self.lock_calls();
        let changed = change(&mut calls);
        self.has_calls.store(!calls.is_empty(), Ordering::SeqCst);
        changed
    }

    fn lock_calls(&self) -> MutexGuard<'_, Vec<CallFaultView>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// Returns the simulated faults.
    pub fn faults(&self) -> Faults {
        Faults {
            pool_empty: self.faults.pool_empty.load(Ordering::Relaxed),
            rates_stale: self.faults.rates_stale.load(Ordering::Relaxed),
            deliveries_shuffled: self.faults.deliveries_shuffled.load(Ordering::Relaxed),
        }
    }

    /// Replaces the current simulated faults with these.
    pub fn set_faults(&self, faults: Faults) {
        self.faults.pool_empty.store(faults.pool_empty, Ordering::Relaxed);
        self.faults.rates_stale.store(faults.rates_stale, Ordering::Relaxed);
        self.faults.deliveries_shuffled.store(faults.deliveries_shuffled, Ordering::Relaxed);
    }

    /// Adds a fault of the next calls.
    pub fn add_call_fault(&self, fault: CallFaultView) {
        self.faults.change_calls(|calls| calls.push(fault));
    }

    /// Returns the fault of this call of an operation outside `/sandbox`, and lowers the fault's `times` by one. `None`
    /// if the call has no fault.
    pub fn take_call_fault(&self, method: &str, path: &str) -> Option<CallFaultView> {
        if !self.faults.has_calls.load(Ordering::SeqCst) {
            return None;
        }
        let is_met = |fault: &&mut CallFaultView| match &fault.route {
            Some(route) => route.split_once(' ') == Some((method, path)),
            None => true,
        };
        self.faults.change_calls(|calls| {
            let fault = calls.iter_mut().find(is_met)?;
            fault.times = fault.times.saturating_sub(1);
            let met = fault.clone();
            calls.retain(|fault| fault.times > 0);
            Some(met)
        })
    }

    /// Ends every fault.
    pub fn clear_faults(&self) {
        self.set_faults(Faults::default());
        self.faults.change_calls(Vec::clear);
    }

    /// Returns all faults, as the state of the sandbox shows them.
    pub(super) fn faults_view(&self) -> FaultsView {
        let Faults { pool_empty, rates_stale, deliveries_shuffled } = self.faults();
        FaultsView {
            calls: self.faults.lock_calls().clone(),
            pool: pool_empty.then_some("empty"),
            rates: rates_stale.then_some("stale"),
            deliveries: deliveries_shuffled.then_some("shuffled"),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::Faults;
    use crate::domain::RefusalCode;
    use crate::service::tests::{NOW, block_on, request_without_key, seeded_service};
    use crate::service::{Error, Json, Requester, sandbox};
    use serde_json::{Value, json};

    #[track_caller]
    fn refusal_code(outcome: Result<Json, Error>) -> RefusalCode {
        match outcome {
            Err(Error::Refused(refusal)) => refusal.code,
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn empty_pool_refuses_only_new_customers() {
        let (service, _file) = seeded_service();
        let caller = service.authenticate(NOW, sandbox::SECRET_TEST).unwrap();
        let ask = |name: &'static str| {
            block_on(service.get_or_create_customer_addresses(NOW, &caller, name))
        };
        let before = ask("ada").unwrap();
        service.set_faults(Faults { pool_empty: true, ..Faults::default() });
        assert_eq!(refusal_code(ask("bob")), RefusalCode::PoolRefilling);
        assert_eq!(ask("ada").unwrap().get(), before.get());
        block_on(service.reset_sandbox(NOW)).unwrap();
        assert_eq!(service.faults(), Faults::default());
        let caller = service.authenticate(NOW, sandbox::SECRET_TEST).unwrap();
        let made = block_on(service.get_or_create_customer_addresses(NOW, &caller, "bob"));
        assert!(made.is_ok());
    }

    #[test]
    fn stale_rates_refuse_new_quotes_in_live_mode() {
        let (service, _file) = seeded_service();
        for (key, stale) in [(sandbox::SECRET_LIVE, true), (sandbox::SECRET_TEST, false)] {
            service.set_faults(Faults::default());
            let caller = service.authenticate(NOW, key).unwrap();
            let body = json!({ "amount": "20.00", "currency": "EUR" });
            let (requester, request) =
                (Requester::Key(caller.key_id()), request_without_key(&body));
            let made = block_on(service.create_invoice(NOW, &caller, requester, request));
            let made: Value = serde_json::from_str(&made.unwrap().body).unwrap();
            let id = made.get("id").and_then(Value::as_str).unwrap();
            let pick =
                |asset: &str| block_on(service.select_coin(NOW, &caller, id, asset.to_owned()));
            let before = pick("LTC").unwrap();
            service.set_faults(Faults { rates_stale: true, ..Faults::default() });
            assert_eq!(service.currencies(NOW, &caller).unwrap().is_empty(), stale);
            assert_eq!(pick("LTC").unwrap().get(), before.get());
            let other = pick("BTC");
            assert_eq!(other.is_err(), stale);
            if stale {
                assert_eq!(refusal_code(other), RefusalCode::CoinUnavailable);
            }
        }
    }
}
