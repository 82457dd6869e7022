//! Operations of a sandbox: `/sandbox`.

pub mod transfers;
