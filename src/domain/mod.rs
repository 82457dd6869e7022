//! Domain rules for money, invoices, payments, chains and events.
//!
//! Invariant: all code here is pure: no I/O, no clock, no async, no logging. A result depends on its arguments alone,
//! except random ids.

pub mod account;
pub mod address;
pub mod apikey;
pub mod asset;
pub mod certificate;
pub mod chain;
pub mod claim;
pub mod color;
pub mod confirmations;
pub mod customer;
pub mod deposit;
pub mod email;
pub mod event;
pub mod export;
pub mod fields;
pub mod following;
pub mod history;
pub mod id;
pub mod invoice;
pub mod json;
pub mod language;
pub mod ledger;
pub mod link;
pub mod money;
pub mod network_fee;
pub mod observation;
pub mod payment;
pub mod payment_uri;
pub mod picture;
pub mod progress;
pub mod qr;
pub mod quote;
pub mod rate;
pub mod refusal;
pub mod render;
pub mod requests;
pub mod retry;
pub mod sales;
pub mod scanned;
pub mod second_factor;
pub mod server;
pub mod signature;
pub mod stale_head;
pub mod status;
pub mod text_enum;
pub mod time;
pub mod timeline;
pub mod token;
pub mod transfer;
pub mod unmatched;
pub mod url;
pub mod user;
pub mod wallet;
