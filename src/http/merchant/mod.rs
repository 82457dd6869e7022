//! The merchant's interface, `/v1`: one file for each resource.
//!
//! What always holds: a handler parses, makes one call into `service`, and wraps the answer.

pub(super) mod events;
