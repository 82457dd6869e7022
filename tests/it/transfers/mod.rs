//! Payouts and refunds: requested, approved, sent and reported, also when the server is killed.

mod durability;
mod events;
mod guards;
mod litecoin_kills;
mod litecoin_lost;
mod litecoin_mweb;
mod litecoin_orders;
mod litecoin_restored;
mod litecoin_shares;
mod litecoin_shop;
mod litecoin_told;
mod on_anvil;
mod on_chain;
mod on_litecoin;
mod on_solana;
mod on_tron;
mod payouts;
mod read_back;
mod recipients;
mod refund_terms;
mod refunds;
mod senders;
mod sending;
pub mod signer;
mod steps;
mod to_ourselves;
