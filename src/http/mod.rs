//! The front door: hyper, and nowhere else.
//!
//! What lives here: connections, routes, keys, limits, statuses, the document. What does not: what an operation
//! means (`service`). What always holds: it is a ladder, on which a file uses only what stands below it. From the bottom:
//! what handlers share (`front`), what they are given and answer with (`request`, `reply`), what a route is (`route`),
//! the handlers, the one list of them (`routes`), and what reads that list: the router, the document, the dispatcher.

mod auth;
mod checkout_events;
mod client;
mod code;
mod connection;
mod content;
mod dispatch;
mod error;
mod event_stream;
mod files;
mod front;
#[cfg(fuzzing)]
pub mod fuzzing;
mod hashing;
mod hosts;
mod large_answers;
mod limit;
mod live;
mod long_reads;
mod metrics;
mod openapi;
mod operations;
mod operator;
mod pages;
mod password;
mod places;
mod policy;
mod probes;
mod public;
mod reference;
mod refusals;
mod reply;
mod request;
mod route;
mod router;
mod routes;
mod sandbox;
mod server;
mod stream;
mod subscribers;
mod throttle;

pub use auth::Auth;
pub use client::TrustedProxy;
pub use dispatch::front;
pub use front::inbox::InboxState;
pub use front::sandbox::{ClockStep, Control, SandboxSettings};
pub use front::{Boxed, Settings, Subject};
pub use hosts::AllowedHost;
pub use metrics::MetricsToken;
pub use openapi::document;
pub use route::{RecentPassword, Route, Scope};
pub use routes::routes;
pub use server::{Limits, Listener};
pub use subscribers::Subscribers;
pub use throttle::PasswordLimits;
