//! Operations of a sandbox: `/sandbox`.

pub mod account;
pub mod chains;
pub mod clock;
pub mod faults;
pub mod payments;
pub mod state;
pub mod transfers;
pub mod webhooks;
