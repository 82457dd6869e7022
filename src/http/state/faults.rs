//! Simulated faults: calls that are delayed, refused or not answered.
//!
//! Invariant: the sandbox's own controls have no faults.

use super::OperationInfo;
use crate::domain::render::sandbox::{self, CallFaultView};
use crate::service::Faults;
use hyper::StatusCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Clone)]
pub(in crate::http) struct Fault {
    /// Operation that has the fault, `None` for every operation outside `/sandbox`.
    pub(in crate::http) operation: Option<OperationInfo>,
    /// Status of the simulated answer, sent instead of running the operation. `None` if the operation is run.
    pub(in crate::http) status: Option<StatusCode>,
    pub(in crate::http) delay: Duration,
    /// `true` if the operation is run and its answer is dropped.
    pub(in crate::http) drops_answer: bool,
    /// Number of further calls that have the fault.
    pub(in crate::http) times: u64,
}

/// Simulated faults of the next calls, oldest first.
pub(in crate::http) struct FaultState {
    /// Operations that can have a fault: all operations outside `/sandbox`.
    operations: Vec<OperationInfo>,
    faults: Mutex<Vec<Fault>>,
    /// `true` if there is a fault. Requests read this flag without taking the lock.
    has_faults: AtomicBool,
}

impl FaultState {
    pub(super) fn new(operations: &[OperationInfo]) -> FaultState {
        let operations = operations.iter().copied();
        FaultState {
            operations: operations.filter(|operation| !operation.is_control).collect(),
            faults: Mutex::default(),
            has_faults: AtomicBool::new(false),
        }
    }

    /// Finds the operation with this method and path, for example `POST /v1/invoices`. Returns `None` if the
    /// operation cannot have a fault.
    pub(in crate::http) fn find_operation(&self, text: &str) -> Option<OperationInfo> {
        let mut operations = self.operations.iter();
        let found = operations.find(|operation| text == operation.to_string());
        found.copied()
    }

    /// Returns the fault of this call of the operation, and lowers the fault's `times` by one. Returns `None` if the
    /// call has no fault.
    pub(in crate::http) fn take_fault(&self, operation: OperationInfo) -> Option<Fault> {
        if operation.is_control || !self.has_faults.load(Ordering::SeqCst) {
            return None;
        }
        let mut faults = self.lock();
        let is_for =
            |fault: &&mut Fault| fault.operation.is_none_or(|wanted| wanted.name == operation.name);
        let fault = faults.iter_mut().find(is_for)?;
        fault.times = fault.times.saturating_sub(1);
        let met = fault.clone();
        faults.retain(|fault| fault.times > 0);
        self.has_faults.store(!faults.is_empty(), Ordering::SeqCst);
        Some(met)
    }

    pub(in crate::http) fn clear(&self) {
        let mut faults = self.lock();
        faults.clear();
        self.has_faults.store(false, Ordering::SeqCst);
    }

    pub(in crate::http) fn add(&self, fault: Fault) {
        let mut faults = self.lock();
        faults.push(fault);
        self.has_faults.store(true, Ordering::SeqCst);
    }

    /// Returns the simulated faults of calls together with `simulated`, as `GET /sandbox` shows them.
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
