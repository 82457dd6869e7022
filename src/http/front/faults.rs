//! Simulated faults of calls: which calls are delayed, refused or not answered.
//!
//! What lives here: the faults that are still to be met, counted. What does not: setting them (`sandbox::faults`),
//! and answering a call that meets one (`dispatch`). What always holds: the sandbox's own controls have no faults.

use super::Operation;
use crate::domain::render::sandbox::{self, CallFaultView};
use crate::service::Faults;
use hyper::StatusCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What the next calls meet.
#[derive(Clone)]
pub(in crate::http) struct Fault {
    /// Which operation; nothing: every one outside `/sandbox`.
    pub(in crate::http) operation: Option<Operation>,
    /// How it is answered instead of being done.
    pub(in crate::http) status: Option<StatusCode>,
    /// How long it waits first.
    pub(in crate::http) delay: Duration,
    /// Is it done, and then not answered?
    pub(in crate::http) drops_answer: bool,
    /// How many more calls.
    pub(in crate::http) times: u64,
}

/// The faults that are still to be met, the oldest first.
pub(in crate::http) struct FaultState {
    /// The operations that can meet one: those outside `/sandbox`.
    operations: Vec<Operation>,
    faults: Mutex<Vec<Fault>>,
    /// Is there one? Mostly there is none, which each call finds out without waiting for others.
    is_any: AtomicBool,
}

impl FaultState {
    /// No fault of any of these operations.
    pub(super) fn new(operations: &[Operation]) -> FaultState {
        let operations = operations.iter().copied();
        FaultState {
            operations: operations
                .filter(|operation| !operation.is_control)
                .collect(),
            faults: Mutex::default(),
            is_any: AtomicBool::new(false),
        }
    }

    /// The operation of a text like `POST /v1/invoices`, where it can meet a fault.
    pub(in crate::http) fn operation(&self, text: &str) -> Option<Operation> {
        let mut operations = self.operations.iter();
        let found = operations.find(|operation| text == operation.to_string());
        found.copied()
    }

    /// The fault that a call of this operation meets, counted.
    pub(in crate::http) fn meet(&self, operation: Operation) -> Option<Fault> {
        if operation.is_control || !self.is_any.load(Ordering::SeqCst) {
            return None;
        }
        let mut faults = self.lock();
        let is_for = |fault: &&mut Fault| {
            fault
                .operation
                .is_none_or(|wanted| wanted.name == operation.name)
        };
        let fault = faults.iter_mut().find(is_for)?;
        fault.times = fault.times.saturating_sub(1);
        let met = fault.clone();
        faults.retain(|fault| fault.times > 0);
        self.is_any.store(!faults.is_empty(), Ordering::SeqCst);
        Some(met)
    }

    /// Ends all of them.
    pub(in crate::http) fn clear(&self) {
        let mut faults = self.lock();
        faults.clear();
        self.is_any.store(false, Ordering::SeqCst);
    }

    /// One more.
    pub(in crate::http) fn add(&self, fault: Fault) {
        let mut faults = self.lock();
        faults.push(fault);
        self.is_any.store(true, Ordering::SeqCst);
    }

    /// What is simulated, as `GET /sandbox` shows it.
    pub(in crate::http) fn view(&self, simulated: Faults) -> sandbox::FaultsView {
        let faults = self.lock();
        let calls = faults.iter().map(|fault| CallFaultView {
            route: fault.operation.map(|operation| operation.to_string()),
            status: fault.status.map(|status| status.as_u16()),
            delay_ms: u64::try_from(fault.delay.as_millis()).unwrap_or(u64::MAX),
            drop_answer: fault.drops_answer,
            times: fault.times,
        });
        sandbox::FaultsView {
            calls: calls.collect(),
            pool: simulated.pool_empty.then_some("empty"),
            rates: simulated.rates_stale.then_some("stale"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Fault>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
