//! The operator API, `/dashboard/api/…`, for signed-in users, and for scripts that send a user's session cookie.
//!
//! Invariant: a merchant's user can use only one account, through [`Call::scope`](super::request::Call::scope).

pub(super) mod chain_nodes;
pub(super) mod changes;
pub(super) mod exports;
pub(super) mod own_password;
pub(super) mod second_factor;
pub(super) mod session;
pub(super) mod wallets;
