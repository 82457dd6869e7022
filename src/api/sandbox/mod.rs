//! Operations of a sandbox: `/sandbox`.

pub mod chains;
pub mod transfers;
