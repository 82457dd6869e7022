//! The sandbox's controls, `/sandbox/…`: one file for each resource.
//!
//! What lives here: operations. What does not: the guard before them and their state (`front::sandbox`), what they change.
//! What always holds: outside `coffer sandbox` none of these paths exists.

pub(super) mod account;
pub(super) mod activity;
pub(super) mod clock;
pub(super) mod faults;
pub(super) mod inbox;
mod masked;
pub(super) mod state;

use super::route::Answer;

/// Done, and nothing to say.
const DONE: &[Answer] = &[Answer::empty(204, "Done.")];
