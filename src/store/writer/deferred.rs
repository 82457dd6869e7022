//! Invoices and destinations that are settled once at the end of some work, however often the work touches them.
//!
//! ```text
//! defer_settling -- work --+-- defer: an invoice or a destination is touched
//!       |                  +-- attempt fails: its touches are forgotten
//!       +-- returns each touched one once, in the order of the first touch
//! ```

use super::Tx;
use std::cell::RefCell;
use std::collections::HashMap;

/// A changed object that has to be settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    /// An invoice whose payments changed.
    Invoice {
        /// Invoice, by its `seq`.
        invoice: i64,
        /// Whether to notify about the invoice even if its status stays the same.
        always_notifies: bool,
    },
    /// A destination of payouts and refunds whose outputs or transactions changed, by its `seq`.
    Destination(i64),
}

/// Changed objects in the order of their changes; `None` while settling is not deferred.
pub(super) type DeferredObjects = RefCell<Option<Vec<Touched>>>;

impl Tx<'_> {
    /// Runs work, and returns the objects that have to be settled after it.
    ///
    /// Calls may be nested. Then only the outer call returns objects.
    ///
    /// # Errors
    /// The error of `work`. The objects are then forgotten.
    pub fn defer_settling<T, E>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<(T, Vec<Touched>), E> {
        if self.deferred.borrow().is_some() {
            return Ok((work()?, Vec::new()));
        }
        self.deferred.replace(Some(Vec::new()));
        let done = work();
        let touched = self.deferred.take().unwrap_or_default();
        Ok((done?, deduplicate(&touched)))
    }

    /// Defers the settling of an object. Returns `false` if settling is not deferred, so that the caller must settle
    /// the object now.
    pub fn defer(&self, touched: Touched) -> bool {
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

impl Touched {
    /// Returns the object without the flag of an invoice.
    const fn key(&self) -> (bool, i64) {
        match self {
            Touched::Invoice { invoice, .. } => (true, *invoice),
            Touched::Destination(destination) => (false, *destination),
        }
    }
}

/// Returns each object once, in the order of its first occurrence. `always_notifies` is set if any occurrence has it.
fn deduplicate(touched: &[Touched]) -> Vec<Touched> {
    let mut places: HashMap<(bool, i64), usize> = HashMap::new();
    let mut once: Vec<Touched> = Vec::new();
    for one in touched {
        let place = *places.entry(one.key()).or_insert(once.len());
        match (once.get_mut(place), one) {
            (
                Some(Touched::Invoice { always_notifies, .. }),
                Touched::Invoice { always_notifies: more, .. },
            ) => {
                *always_notifies |= *more;
            }
            (Some(_), _) => {}
            (None, _) => once.push(*one),
        }
    }
    once
}
