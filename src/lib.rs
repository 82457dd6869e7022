//! Coffer: a crypto payment service in one binary and one SQLite file.
//!
//! A request comes in at the front ([`http`]), is turned into one use case ([`service`]), which asks the rules
//! ([`domain`]) what is true, and writes it down ([`store`]) in one transaction. The workers ([`worker`]) do the
//! same without a request: time passes, a webhook falls due. Nothing else happens here.
//!
//! # The map
//!
//! | room | what it is for | what it may use |
//! | --- | --- | --- |
//! | [`domain`] | the rules, pure: money, coins, the status of an invoice, what is booked, how events are signed | libraries that compute |
//! | [`store`] | SQLite: one writer that commits in groups, connections that read, one module for each table | domain |
//! | [`service`] | the use cases: each takes `now` and writes in one transaction. Money comes in by [`service::intake`] and every change of an invoice ends in `settle`; what the operator interface asks for is in [`service::operator`], what only a sandbox does in [`service::sandbox`] | domain, store |
//! | `api` | operations, each declared once: one file for each resource, found by its path, with inputs, declarations and functions. So far: a shop's invoices, an account's keys and its reseller tokens | domain, store, service |
//! | [`http`] | hyper: ROUTES, keys and sessions, limits, statuses, the OpenAPI document, pages, handlers of what is not in `api` | api, service, domain, clock, web |
//! | [`web`] | what a browser gets: pages, their style, the widget, as files; what is put into a page is a type | domain, askama, flate2 |
//! | [`outbound`] | the one way out: sends webhooks, and refuses addresses that are not for them | domain |
//! | [`chain`] | what the world outside says: asks the nodes of real chains and follows each chain step by step; public sources of rates | domain |
//! | [`worker`] | what time brings about: delivery, expiry, pruning; the operator's signer and provisioner; one loop waits for all of them | service, chain, outbound, domain, clock |
//! | [`clock`] | what time it is; the only place that asks the system | domain |
//! | [`config`] | SETTINGS: every flag with its environment name, default and help | |
//! | [`cli`] | the commands and what they print | all |
//! | [`app`] | wiring: opens, starts, stops in the reverse order; [`Server`] and [`Sandbox`] in-process | all |
//! | `main` | argv in, one command run, exit code out | cli |
//! | `build` | the build script: compresses pages and their files, makes pages of the guides | |
//! | `packages` | what is packed besides the program: Debian, npm, Python; not Rust, not in the crate | |
//!
//! A short statement stands in the module of its table, a long one is a file, `sql/<table>/<verb>.sql`; a macro ties both
//! to the names of their columns and makes a test of them. Outside `src`, too: `sql/migrations` is the schema,
//! `sql/template.db` what the migrations add up to; `tests/it` drives the real server from outside, `tests/tidy` holds
//! the house rules; `web/guides` has the guides, which `build` makes pages of.
//!
//! # Five shapes that carry it
//!
//! 1. The status of an invoice is computed, never set: [`domain::status::judge`]. Every path ends in the same step:
//!    load, recompute, save what changed, record the event.
//! 2. One writer, group commit: [`store::Store::write`] answers after the commit, never before.
//! 3. Tables drive: [`http::routes`] feeds the router, the key check, the document, the metrics and the tests.
//! 4. Who may call is the type of a route's handler, which is given what its callers have proved; every query carries
//!    a scope: an account and a mode.
//! 5. Workers tick: a step is bounded and says when it wants the next, so a test can move the clock and wait for
//!    everything that fell due.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod api;
pub mod app;
pub mod chain;
#[cfg(feature = "cli")]
pub mod cli;
#[expect(clippy::disallowed_methods, reason = "reads the clock")]
pub mod clock;
#[cfg(feature = "cli")]
#[expect(clippy::disallowed_methods, reason = "reads the environment")]
pub mod config;
pub mod domain;
pub mod http;
pub mod outbound;
pub mod service;
pub mod store;
pub mod web;
pub mod worker;

pub use app::{Config, Error, Sandbox, Server};
