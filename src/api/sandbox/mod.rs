//! Operations of a sandbox: `/sandbox`.

pub mod chains;
pub mod payments;
pub mod transfers;
pub mod webhooks;
