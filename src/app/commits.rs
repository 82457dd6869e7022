//! What a commit sets off in the other parts of a server.
//!
//! What always holds: it is done before whoever wrote hears that it is committed.

use super::following;
use crate::chain::follow::Pools;
use crate::service::Caches;
use crate::store::{Changes, OnCommit};
use crate::worker::Wakers;
use std::sync::Arc;

/// What a commit sets off: new addresses are watched, copies are dropped, workers are woken.
pub(super) fn on_commit(
    wakers: &Wakers,
    caches: &Arc<Caches>,
    watched: Option<Arc<Pools>>,
) -> OnCommit {
    let (wakers, caches) = (wakers.clone(), Arc::clone(caches));
    Box::new(move |changes: &Changes| {
        if let Some(pools) = &watched {
            following::tell(pools, changes);
        }
        caches.forget(changes);
        if changes.everything {
            wakers.wake_all();
            return;
        }
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
