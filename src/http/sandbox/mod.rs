//! Controls of the sandbox, `/sandbox/…`: one file for each resource.
//!
//! Invariant: these paths exist only under `coffer sandbox`.

pub(super) mod account;
pub(super) mod activity;
pub(super) mod clock;
pub(super) mod faults;
pub(super) mod inbox;
mod masked;
pub(super) mod state;

use super::route::RouteAnswer;

const DONE: &[RouteAnswer] = &[RouteAnswer::empty(204, "Done.")];
