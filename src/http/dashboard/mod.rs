//! The operator interface, `/dashboard/api/…`: for the dashboard's pages, and for scripts with a cookie.
//!
//! What lives here: its handlers, one file a topic. What does not: who may call them (`auth`, by the route's role).
//! What always holds: a merchant's user reaches its own account only, by [`Call::scope`](super::request::Call::scope).

pub(super) mod pools;
pub(super) mod session;
pub(super) mod transfers;
pub(super) mod unmatched;
