//! Servers that resellers order.

mod quota;
mod servers;
