//! EVM chains, each against a real node: what is seen, where it stands, and what of an answer is not believed.

mod contracts;
pub mod fixtures;
mod lies;
mod ranges;
mod recorded;
mod seen;
