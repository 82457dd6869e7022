//! Listeners to invoices, like pages of checkouts.
//!
//! Invariant: a change that is committed after a listener subscribed wakes it. An invoice without listeners uses no
//! memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Listeners by the invoice's id.
#[derive(Default)]
pub struct Subscribers(Mutex<HashMap<String, watch::Sender<()>>>);

/// One listener to one invoice, until it is dropped.
pub(super) struct Subscription {
    /// `None` only during the drop.
    changes: Option<watch::Receiver<()>>,
    subscribers: Arc<Subscribers>,
    invoice: String,
}

impl Subscribers {
    /// Wakes the listeners of these invoices.
    pub fn tell(&self, invoices: &[String]) {
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

    /// Wakes all listeners.
    pub fn tell_all(&self) {
        for changes in self.lock().values() {
            changes.send_replace(());
        }
    }

    /// Subscribes to an invoice.
    pub(super) fn subscribe(self: &Arc<Self>, invoice: &str) -> Subscription {
        let mut by_invoice = self.lock();
        let changes = by_invoice
            .entry(invoice.to_owned())
            .or_default()
            .subscribe();
        Subscription {
            changes: Some(changes),
            subscribers: Arc::clone(self),
            invoice: invoice.to_owned(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscription {
    /// Waits for the next change. Several changes count as one.
    pub(super) async fn changed(&mut self) {
        // The sender lives as long as a listener.
        if let Some(changes) = &mut self.changes {
            let _ = changes.changed().await;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut by_invoice = self.subscribers.lock();
        // Dropped under the lock, so that of two concurrent drops the second one is the last.
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
    fn who_listens_is_woken_by_its_own_invoice_and_forgotten_when_it_leaves() {
        let subscribers = Arc::new(Subscribers::default());
        subscribers.tell(&["a".to_owned()]);
        let (mut one, mut two) = (subscribers.subscribe("a"), subscribers.subscribe("a"));
        let mut other = subscribers.subscribe("b");
        assert!(!is_ready(one.changed()));
        subscribers.tell(&["a".to_owned(), "c".to_owned()]);
        subscribers.tell(&["a".to_owned()]);
        assert!(is_ready(one.changed()) && is_ready(two.changed()));
        assert!(!is_ready(one.changed()) && !is_ready(other.changed()));
        drop(one);
        subscribers.tell_all();
        assert!(is_ready(two.changed()) && is_ready(other.changed()));
        drop((two, other));
        assert!(subscribers.lock().is_empty());
    }
}
