//! Streams and inboxes of the sandbox. `api::sandbox` declares its other operations.
//!
//! Invariant: these paths exist only under `coffer sandbox`.

pub(super) mod activity;
pub(super) mod inbox;
mod masked;
