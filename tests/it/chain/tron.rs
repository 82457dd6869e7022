//! Tron, with a simulated node that responds as java-tron does: payments, rejected responses, and the number of
//! requests.

mod cost;
mod fixtures;
mod lies;
mod on_anvil;
mod outages;
mod recorded;
mod seen;
mod shop;
mod solid;
