//! Transport: hyper, connections, routes, authentication, limits, statuses, documents.
//!
//! The modules are layered, and a module uses only lower modules. From low to high: shared state (`state`), requests
//! and replies (`request`, `reply`), routes as data (`route`), handlers, the list of routes (`routes`). On top are
//! the modules that use the list: the router, the documents and the dispatcher.

mod accept;
mod auth;
mod bucket;
mod checkout_events;
mod client;
mod connection;
mod connection_slots;
mod content;
mod dispatch;
mod error;
mod event_stream;
mod expiring_map;
mod files;
#[cfg(fuzzing)]
pub mod fuzzing;
mod hashing;
mod hosts;
mod large_answers;
mod limit;
mod live_streams;
mod long_reads;
mod metrics;
mod mistyped_path;
mod node_trials;
mod openapi;
mod operations;
mod operator;
mod pages;
mod password;
mod permits;
mod plain_http;
mod policy;
mod probes;
mod public;
mod reference;
mod refusals;
mod reply;
mod request;
mod resource_changes;
mod route;
mod router;
mod routes;
mod sandbox;
mod second_factor_code;
mod server;
mod state;
mod stream;
mod subscribers;
mod throttle;
mod tls;

pub use auth::Auth;
pub use client::TrustedProxyCheck;
pub use dispatch::create_state;
pub use hosts::AllowedHost;
pub use metrics::MetricsToken;
pub use openapi::document;
pub use plain_http::PlainHttp;
pub use route::{ListenerRoutes, RecentPassword, Route};
pub use routes::routes;
pub use server::{ConnectionLimits, Listener};
pub use state::inbox::Inboxes;
pub use state::sandbox::SandboxSettings;
pub use state::{DocumentKind, HttpSettings};
pub use subscribers::Subscribers;
pub use throttle::{PasswordLimits, Throttle};
pub use tls::Tls;
