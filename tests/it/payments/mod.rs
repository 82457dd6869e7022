//! Payments: seen, replaced, dropped, confirmed and assigned, on simulated chains and at live addresses.

mod assigning;
mod chain_durability;
mod confirmations;
mod effects;
mod first_payment;
mod lagging;
mod live_addresses;
mod next_index;
mod operator;
mod picked_index;
mod pools;
mod replacements;
mod restored;
mod simulated_chain;
mod transactions;
mod undoing;
mod unmatched;
mod unwatched;
mod wallets;
