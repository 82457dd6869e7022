//! Servers ordered by resellers.

mod quota;
mod servers;
