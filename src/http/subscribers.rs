//! Subscriptions of pages to changes: of one invoice, mainly by checkout pages, and of kinds of objects, by operator
//! pages.
//!
//! Invariant: every change that is committed after a subscription begins wakes the subscriber. An invoice without
//! subscribers uses no memory.

use super::resource_changes::ResourceChanges;
use crate::domain::ResourceChange;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Subscriptions of pages.
#[derive(Default)]
pub struct Subscribers {
    by_invoice: Mutex<HashMap<String, watch::Sender<()>>>,
    pub(super) resources: ResourceChanges,
}

/// Subscription of one listener to one invoice. Dropping the value ends the subscription.
pub(super) struct Subscription {
    /// Receiver of changes, `None` only while the subscription is being dropped.
    changes: Option<watch::Receiver<()>>,
    subscribers: Arc<Subscribers>,
    invoice: String,
}

impl Subscribers {
    /// Wakes the subscribers of these invoices.
    pub fn notify(&self, invoices: &[String]) {
        let by_invoice = self.lock();
        if by_invoice.is_empty() {
            return;
        }
        for invoice in invoices {
            if let Some(changes) = by_invoice.get(invoice) {
                changes.send_replace(());
            }
        }
    }

    /// Tells operator pages that objects of these kinds have changed.
    pub fn notify_resources(&self, changes: &HashSet<ResourceChange>) {
        self.resources.notify(changes);
    }

    /// Wakes all subscribers. Operator pages read everything again.
    pub fn notify_all(&self) {
        self.resources.notify_all();
        for changes in self.lock().values() {
            changes.send_replace(());
        }
    }

    pub(super) fn subscribe(self: &Arc<Self>, invoice: &str) -> Subscription {
        let mut by_invoice = self.lock();
        let changes = by_invoice.entry(invoice.to_owned()).or_default().subscribe();
        Subscription {
            changes: Some(changes),
            subscribers: Arc::clone(self),
            invoice: invoice.to_owned(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<()>>> {
        self.by_invoice.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscription {
    /// Waits for the next change of the invoice. Several changes count as one.
    pub(super) async fn changed(&mut self) {
        // The wait cannot fail: the sender lives as long as a subscription.
        if let Some(changes) = &mut self.changes {
            let _ = changes.changed().await;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut by_invoice = self.subscribers.lock();
        // The lock is held while the receiver is dropped. If two subscriptions are dropped at once, the second drop
        // counts no receiver and removes the entry.
        self.changes = None;
        let is_left = |changes: &watch::Sender<()>| changes.receiver_count() == 0;
        if by_invoice.get(&self.invoice).is_some_and(is_left) {
            by_invoice.remove(&self.invoice);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Subscribers;
    use std::future::Future;
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Waker};

    fn is_ready(future: impl Future) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(future).poll(&mut context).is_ready()
    }

    #[test]
    fn subscriber_wakes_on_its_invoice_until_dropped() {
        let subscribers = Arc::new(Subscribers::default());
        subscribers.notify(&["a".to_owned()]);
        let (mut one, mut two) = (subscribers.subscribe("a"), subscribers.subscribe("a"));
        let mut other = subscribers.subscribe("b");
        assert!(!is_ready(one.changed()));
        subscribers.notify(&["a".to_owned(), "c".to_owned()]);
        subscribers.notify(&["a".to_owned()]);
        assert!(is_ready(one.changed()) && is_ready(two.changed()));
        assert!(!is_ready(one.changed()) && !is_ready(other.changed()));
        drop(one);
        subscribers.notify_all();
        assert!(is_ready(two.changed()) && is_ready(other.changed()));
        drop((two, other));
        assert!(subscribers.lock().is_empty());
    }
}
