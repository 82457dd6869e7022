//! What a commit sets off in the other parts of a server.
//!
//! What always holds: it is done before whoever wrote hears that it is committed.

use super::following;
use crate::chain::follow::Pools;
use crate::http::Subscribers;
use crate::service::Caches;
use crate::service::activity::Activity;
use crate::store::{Changes, OnCommit};
use crate::worker::Wakers;
use crate::worker::watch_chain::ChainWakers;
use std::sync::Arc;

/// What a commit sets off: new addresses are watched, copies are dropped, workers are woken, pages that
/// listen, and whoever follows a chain.
pub(super) fn on_commit(
    wakers: &Wakers,
    caches: &Arc<Caches>,
    subscribers: &Arc<Subscribers>,
    watched: Option<Arc<Pools>>,
    activity: Option<Arc<Activity>>,
    chain_wakers: &Arc<ChainWakers>,
) -> OnCommit {
    let (wakers, caches) = (wakers.clone(), Arc::clone(caches));
    let (subscribers, chain_wakers) = (Arc::clone(subscribers), Arc::clone(chain_wakers));
    Box::new(move |changes: &Changes| {
        if let Some(pools) = &watched {
            following::tell(pools, changes);
        }
        caches.forget(changes);
        if let Some(activity) = &activity {
            activity.committed(changes);
        }
        for chain in &changes.expected {
            chain_wakers.wake(*chain);
        }
        if changes.everything {
            wakers.wake_all();
            subscribers.tell_all();
            return;
        }
        subscribers.tell(&changes.invoices);
        if changes.accounts || changes.keys {
            wakers.rates.wake();
        }
        if changes.deliveries {
            wakers.deliver.wake();
        }
        if changes.deadlines {
            wakers.expire.wake();
        }
        if changes.servers {
            wakers.provision.wake();
        }
        if changes.transfers {
            wakers.send.wake();
        }
    })
}
