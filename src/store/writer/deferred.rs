//! Invoices that are settled once at the end of some work, however often the work touches them.
//!
//! ```text
//! defer_settling -- work --+-- defer: the invoice is touched
//!       |                  +-- attempt fails: its touches are forgotten
//!       +-- returns each touched invoice once, in the order of the first touch
//! ```

use super::Tx;
use std::cell::RefCell;
use std::collections::HashMap;

/// A changed invoice that has to be settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TouchedInvoice {
    /// Invoice, by its `seq`.
    pub invoice: i64,
    /// Whether to notify about the invoice even if its status stays the same.
    pub always_notifies: bool,
}

/// Changed invoices in the order of their changes; `None` while settling is not deferred.
pub(super) type DeferredInvoices = RefCell<Option<Vec<TouchedInvoice>>>;

impl Tx<'_> {
    /// Runs work, and returns the invoices that have to be settled after it.
    ///
    /// Calls may be nested. Then only the outer call returns invoices.
    ///
    /// # Errors
    /// The error of `work`. The invoices are then forgotten.
    pub fn defer_settling<T, E>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<(T, Vec<TouchedInvoice>), E> {
        if self.deferred.borrow().is_some() {
            return Ok((work()?, Vec::new()));
        }
        self.deferred.replace(Some(Vec::new()));
        let done = work();
        let touched = self.deferred.take().unwrap_or_default();
        Ok((done?, deduplicate(&touched)))
    }

    /// Defers the settling of an invoice. Returns `false` if settling is not deferred, so that the caller must settle
    /// the invoice now.
    pub fn defer(&self, touched: TouchedInvoice) -> bool {
        let mut deferred = self.deferred.borrow_mut();
        deferred.as_mut().map(|all| all.push(touched)).is_some()
    }

    /// Returns the number of [`Tx::defer`] calls so far.
    pub(super) fn touched_count(&self) -> usize {
        self.deferred.borrow().as_ref().map_or(0, Vec::len)
    }

    /// Removes all [`Tx::defer`] calls after the first `count`.
    pub(super) fn truncate_touched(&self, count: usize) {
        if let Some(all) = self.deferred.borrow_mut().as_mut() {
            all.truncate(count);
        }
    }
}

/// Returns each invoice once, in the order of its first occurrence. `always_notifies` is set if any occurrence has
/// it.
fn deduplicate(touched: &[TouchedInvoice]) -> Vec<TouchedInvoice> {
    let mut places: HashMap<i64, usize> = HashMap::new();
    let mut once: Vec<TouchedInvoice> = Vec::new();
    for one in touched {
        let place = *places.entry(one.invoice).or_insert(once.len());
        match once.get_mut(place) {
            Some(known) => known.always_notifies |= one.always_notifies,
            None => once.push(*one),
        }
    }
    once
}
