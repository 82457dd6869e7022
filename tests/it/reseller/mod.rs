//! Servers ordered by resellers.

mod quota;
pub mod servers;
