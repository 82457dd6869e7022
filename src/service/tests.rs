//! A seeded sandbox without a front, for tests of use cases and workers.
//!
//! What always holds: its file is its own, and is gone when the test is.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{Caches, Service, begin_file, sandbox};
use crate::domain::id;
use crate::domain::render::Links;
use crate::domain::server::order::ServerLimits;
use crate::domain::time::Time;
use crate::store::open::with_suffix;
use crate::store::{Durability, Kind, Opening, Store};
use std::path::PathBuf;
use std::sync::Arc;
/// Long after the beginning of time, so that the seed's times are valid.
pub(crate) const NOW: Time = Time(1_795_253_400_000);

/// A file that is removed at the end.
pub(crate) struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm"] {
            // What is not there needs no removing.
            let _ = std::fs::remove_file(with_suffix(&self.0, suffix));
        }
    }
}

/// Waits for what a use case comes to.
pub(crate) fn done<T>(use_case: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(use_case)
}

/// A seeded sandbox without a front, and its file.
pub(crate) fn seeded() -> (Arc<Service>, File) {
    let name = format!("coffer-seeded-{}.db", id::new(NOW));
    let opening = Opening {
        path: std::env::temp_dir().join(name),
        durability: Durability::Process,
        create: true,
        kind: None,
        exclusive: false,
    };
    let store = Store::open(&opening, Box::new(|_| {})).unwrap();
    let row = begin_file(&store, Kind::Sandbox, |tx, _| sandbox::fill(tx, NOW)).unwrap();
    let row = row().unwrap();
    let links = Links {
        public_url: "http://127.0.0.1".to_owned(),
        checkout_secret: row.checkout_secret,
    };
    let caches = Arc::new(Caches::default());
    let check = Box::new(|_: &str| Ok(()));
    let service = Arc::new(Service::new(
        store,
        links,
        Kind::Sandbox,
        check,
        ServerLimits::default(),
        caches,
    ));
    (service, File(opening.path))
}
