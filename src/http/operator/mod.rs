//! The operator API, `/dashboard/api/…`, for signed-in users and for scripts with their cookie.
//!
//! Invariant: a merchant's user accesses only the user's own account, through
//! [`Call::scope`](super::request::Call::scope).

pub(super) mod exports;
pub(super) mod second_factor;
pub(super) mod session;
pub(super) mod users;
pub(super) mod wallets;
