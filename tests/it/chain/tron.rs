//! Tron, with a stand-in node that answers as java-tron does: payments, rejected responses, and costs.

mod cost;
mod earlier;
mod fixtures;
mod lies;
mod on_anvil;
mod recorded;
mod seen;
mod shop;
