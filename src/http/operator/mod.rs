//! The operator interface, `/dashboard/api/…`: for people who are signed in, and for scripts with their cookie.
//!
//! What lives here: one file for each resource. What does not: telling who is signed in (`auth`). What always holds: a
//! merchant's user reaches its own account only, by [`Call::scope`](super::request::Call::scope).

pub(super) mod exports;
pub(super) mod second_factor;
pub(super) mod session;
pub(super) mod users;
pub(super) mod wallets;
