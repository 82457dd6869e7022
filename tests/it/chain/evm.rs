//! EVM chains on a real node: payments, their positions, costs, and rejected responses.

mod contracts;
pub mod fixtures;
mod lies;
mod ranges;
mod recorded;
mod seen;
