//! Numbered changes of objects that operator pages show.
//!
//! Invariant: a change that is committed after a number was read has a higher number.

use crate::domain::ResourceChange;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Maximum number of stored changes. Above it, pages read everything again.
const CHANGES_MAX: usize = 1024;

/// Changes since the start of the server, with their numbers.
#[derive(Default)]
pub(super) struct ResourceChanges {
    last: Mutex<LastChanges>,
    wakes: watch::Sender<()>,
}

#[derive(Default)]
struct LastChanges {
    number: u64,
    /// Changes up to this number are no longer stored.
    forgotten: u64,
    numbers: HashMap<ResourceChange, u64>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChangesSince {
    Everything,
    These(Vec<ResourceChange>),
}

impl ResourceChanges {
    /// Numbers these changes and wakes the streams.
    pub(super) fn notify(&self, changes: &HashSet<ResourceChange>) {
        if changes.is_empty() {
            return;
        }
        let mut last = self.lock();
        last.number = last.number.saturating_add(1);
        let number = last.number;
        for change in changes {
            last.numbers.insert(*change, number);
        }
        if last.numbers.len() > CHANGES_MAX {
            last.forget_all();
        }
        drop(last);
        self.wake();
    }

    /// Tells the streams that anything may have changed.
    pub(super) fn notify_all(&self) {
        let mut last = self.lock();
        last.number = last.number.saturating_add(1);
        last.forget_all();
        drop(last);
        self.wake();
    }

    /// Wakes the streams without a change, for example because a session has ended.
    pub(super) fn wake(&self) {
        self.wakes.send_replace(());
    }

    /// Returns a receiver that is woken by every later change.
    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.wakes.subscribe()
    }

    pub(super) fn newest_number(&self) -> u64 {
        self.lock().number
    }

    /// Returns the changes after `number` that `is_visible` accepts, and the number of the newest change.
    pub(super) fn since(
        &self,
        number: u64,
        is_visible: impl Fn(&ResourceChange) -> bool,
    ) -> (u64, ChangesSince) {
        let last = self.lock();
        if number < last.forgotten || number > last.number {
            return (last.number, ChangesSince::Everything);
        }
        let newer = last.numbers.iter().filter(|(change, of)| **of > number && is_visible(change));
        let newer = newer.map(|(change, _)| *change).collect();
        (last.number, ChangesSince::These(newer))
    }

    fn lock(&self) -> MutexGuard<'_, LastChanges> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LastChanges {
    fn forget_all(&mut self) {
        self.numbers.clear();
        self.forgotten = self.number;
    }
}

#[cfg(test)]
mod tests {
    use super::{CHANGES_MAX, ChangesSince, ResourceChanges};
    use crate::domain::{Mode, ResourceChange, ResourceKind};

    const fn change_of(account: i64, kind: ResourceKind) -> ResourceChange {
        ResourceChange { account: Some(account), mode: Mode::Test, kind }
    }

    #[test]
    fn changes_after_a_number_are_returned_once_for_each_kind() {
        let changes = ResourceChanges::default();
        let [invoices, transfers] = [ResourceKind::Invoices, ResourceKind::Transfers];
        assert_eq!(changes.since(0, |_| true), (0, ChangesSince::These(Vec::new())));
        changes.notify(&[change_of(1, invoices)].into());
        changes.notify(&[change_of(1, invoices)].into());
        changes.notify(&[].into());
        let first = ChangesSince::These(vec![change_of(1, invoices)]);
        assert_eq!(changes.since(0, |_| true), (2, first));
        assert_eq!(changes.since(2, |_| true), (2, ChangesSince::These(Vec::new())));
        changes.notify(&[change_of(2, transfers)].into());
        let own = |change: &ResourceChange| change.account == Some(1);
        assert_eq!(changes.since(2, own), (3, ChangesSince::These(Vec::new())));
        let second = ChangesSince::These(vec![change_of(2, transfers)]);
        assert_eq!(changes.since(2, |_| true), (3, second));
    }

    #[test]
    fn unknown_numbers_mean_everything() {
        let changes = ResourceChanges::default();
        assert_eq!(changes.since(1, |_| true), (0, ChangesSince::Everything), "of the future");
        changes.notify_all();
        assert_eq!(changes.since(0, |_| true), (1, ChangesSince::Everything));
        assert_eq!(changes.since(1, |_| true), (1, ChangesSince::These(Vec::new())));
        for account in 0..=CHANGES_MAX as i64 {
            changes.notify(&[change_of(account, ResourceKind::Invoices)].into());
        }
        assert_eq!(changes.since(1, |_| true).1, ChangesSince::Everything);
        let newest = changes.newest_number();
        assert_eq!(changes.since(newest, |_| true), (newest, ChangesSince::These(Vec::new())));
    }

    #[test]
    fn streams_wake_on_changes_and_on_demand() {
        let changes = ResourceChanges::default();
        let woken = changes.subscribe();
        let is_woken =
            |woken: &tokio::sync::watch::Receiver<()>| woken.has_changed().is_ok_and(|is| is);
        changes.notify(&[].into());
        assert!(!is_woken(&woken));
        changes.wake();
        assert!(is_woken(&woken));
        let woken = changes.subscribe();
        changes.notify(&[change_of(1, ResourceKind::Deposits)].into());
        assert!(is_woken(&woken));
    }
}
