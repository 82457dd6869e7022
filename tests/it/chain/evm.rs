//! EVM chains on a real node: payments, their positions, the number of requests, and rejected responses.

mod contracts;
mod finality;
pub mod fixtures;
mod lies;
mod ranges;
mod recorded;
mod seen;
