//! Operations of the operator interface, `/dashboard/api/…`.

pub mod accounts;
pub mod keys;
pub mod legacy_secret;
pub mod tokens;
pub mod transfers;
