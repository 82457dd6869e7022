//! Notifies the other parts of a server about a commit.
//!
//! Invariant: the other parts are notified before the caller of the write gets the result.

use super::following;
use crate::chain::follow::AddressPools;
use crate::http::Subscribers;
use crate::service::Caches;
use crate::service::activity::Activity;
use crate::store::{Changes, OnCommit};
use crate::worker::Wakers;
use crate::worker::watch_chain::ChainWakers;
use std::sync::Arc;

/// Returns the function that runs after each commit. The function watches the new addresses, invalidates caches, and
/// wakes workers, live pages and chain followers.
pub(super) fn commit_hook(
    wakers: &Wakers,
    caches: &Arc<Caches>,
    subscribers: &Arc<Subscribers>,
    watched: Option<Arc<AddressPools>>,
    activity: Option<Arc<Activity>>,
    chain_wakers: &Arc<ChainWakers>,
) -> OnCommit {
    let (wakers, caches) = (wakers.clone(), Arc::clone(caches));
    let (subscribers, chain_wakers) = (Arc::clone(subscribers), Arc::clone(chain_wakers));
    Box::new(move |changes: &Changes| {
        if let Some(pools) = &watched {
            following::update_watched_addresses(pools, changes);
        }
        caches.invalidate(changes);
        if let Some(activity) = &activity {
            activity.add_events(changes);
        }
        for chain in &changes.expected {
            chain_wakers.signal_expected_payment(*chain);
        }
        if changes.everything {
            wakers.wake_all();
            subscribers.notify_all();
            return;
        }
        subscribers.notify(&changes.invoices);
        subscribers.notify_resources(&changes.resources);
        if changes.accounts || changes.keys || changes.payment_links {
            wakers.rates.wake();
        }
        if changes.deliveries {
            wakers.deliver.wake();
        }
        if changes.mail {
            wakers.mail.wake();
        }
        if changes.deadlines {
            wakers.expire.wake();
        }
        if changes.servers {
            wakers.provision.wake();
        }
        // The signer waits while an account is suspended.
        if changes.transfers || changes.accounts {
            wakers.send.wake();
        }
    })
}
