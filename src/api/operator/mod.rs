//! Operations of the operator interface, `/dashboard/api/…`.

pub mod keys;
pub mod tokens;
pub mod transfers;
