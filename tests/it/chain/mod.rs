//! How chains are seen: what nodes are asked, and what of their answers is believed.

mod evm;
mod rpc;
