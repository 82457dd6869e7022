//! Coffer: a crypto payment service in one binary and one SQLite file.
//!
//! A request enters at [`http`] and becomes one operation of `api`. The operation applies the rules of [`domain`],
//! calls functions of [`service`], and writes through [`store`] in one transaction. The workers of [`worker`] do the
//! same without a request, when time passes, a block arrives or a webhook falls due.
//!
//! # The map
//!
//! | module | content | may use |
//! | --- | --- | --- |
//! | [`domain`] | pure rules: money, coins, the status of an invoice, bookings, signatures; `domain::fields` declares the fields of inputs and views | libraries that compute |
//! | [`render`] | views: the JSON of resources and events | domain |
//! | [`store`] | SQLite: one writer that commits in groups, read connections, one module for each table | domain |
//! | [`service`] | functions that operations, workers and commands share; each that writes takes a [`service::Step`]. Its modules stand in one order, in `tests/tidy/rooms.rs` | domain, render, store |
//! | `api` | operations, each declared once: one file for each resource, found by its path, with inputs, declarations and functions | domain, render, store, service |
//! | [`acme`] | certificates by ACME: the account, orders, challenges, and the certificate that connections use | domain, ureq, rustls |
//! | [`http`] | transport: hyper, routes, authentication, limits, statuses, OpenAPI documents, pages | api, service, render, domain, clock, web |
//! | [`web`] | files for browsers: pages, styles, scripts, languages, guides | domain, askama, flate2 |
//! | [`outbound`] | the webhook client, which refuses private addresses, and the SMTP client | domain, clock |
//! | [`chain`] | nodes of real chains, followed step by step, and sources of rates | domain |
//! | [`worker`] | work that falls due with time: chains, deliveries, e-mail, expiry, pruning, signer and provisioner; one loop waits for all | service, render, chain, acme, outbound, domain, clock |
//! | [`clock`] | the system's time, read only here | domain |
//! | [`config`] | SETTINGS: every flag with its environment variable, default and help | |
//! | [`cli`] | commands and their output | all |
//! | [`app`] | starts the parts of a server and stops them in reverse order; [`Server`] and [`Sandbox`] for use in a process | all |
//! | `main` | runs one command | cli |
//! | `build` | the build script: compresses the files for browsers, and turns guides into pages | |
//! | `packages` | the folder `src/packages`: packages besides the crate, for Debian, npm and Python | |
//!
//! A short SQL statement is in the module of its table. A long statement is a file, `sql/<module>/<verb>.sql`.
//! `sql/schema.sql` creates the schema, and `sql/template.db` is a new file with it. `tests/it` tests the real server
//! from outside, and `tests/browser` tests its pages. `tests/golden` contains expected documents and
//! responses, and `tests/tidy` checks the rules of the source tree. `src/web/guides` contains the guides, and
//! `examples` contains projects that users can copy and run.
//!
//! # Five basic designs
//!
//! 1. The status of an invoice is computed, never set: [`domain::status`]. Every change of an invoice ends in the same
//!    step: load the invoice, recompute the status, save the changes, record the event. What a payout or a refund got is
//!    computed in the same way, for all that share a destination: [`domain::transfer::destination`].
//! 2. One writer, group commit: [`store::Store::write`] returns after the commit.
//! 3. One table describes all routes: [`http::routes`] feeds the router, authentication, documents, metrics and tests.
//! 4. The type of a handler or of `api::operation::OperationFn` decides who may call. Every query has a scope: an
//!    account and a mode.
//! 5. Workers run in steps: a step is bounded and returns the time of the next step. So a test can move the clock and
//!    wait for all due work.
//!
//! # A block becomes a booked payment
//!
//! 1. The node of a chain, for example [`chain::utxo`], is polled through [`chain::rpc`].
//! 2. [`chain::follow`] takes one step: new blocks, reorgs, the mempool; `chain::follow::watched` selects the outputs
//!    to our addresses, and those that unconfirmed payments spend.
//! 3. [`domain::following`] and [`domain::observation`] hold the step's result.
//! 4. [`worker::watch_chain`] runs the steps on a thread for each chain.
//! 5. [`service::chains`] (`apply`, and in it `items`) applies a result in batches, and decides what is confirmed by the
//!    depth that `service::confirmations` finds with [`domain::confirmations`].
//! 6. `service::observations` records an observation: `recipient` finds the invoice, customer or destination. For an
//!    invoice, [`service::intake`] (`payment`) values it. Once it is confirmed, `book_change` books the sale and the fee
//!    that [`domain::ledger`] computes.
//! 7. `service::settle` recomputes the invoice by [`domain::invoice`] (`recompute`) and [`domain::status`], and records
//!    its event.
//! 8. [`store`]: `observations`, `observations_on_chain`, `payments`, `ledger` and `invoices` in one commit for each
//!    batch; `chain_cursors` moves with the last batch of new observations.
//!
//! # An invoice is created
//!
//! 1. `http::dispatch` reads and authenticates the request, `http::operations` runs the operation.
//! 2. `api::invoices` declares it; [`domain::invoice::draft`] declares the body by [`domain::fields`].
//! 3. [`service::invoices`] (`create`) reads the body, checks the account, and writes once for each key of
//!    [`service::idempotency`].
//! 4. `service::quotes` with [`domain::quote`] fixes the rate if the request names a coin, [`service::pools`] assigns
//!    the address.
//! 5. [`render`] makes the JSON that the response and the event share.
//! 6. [`service::events`] (`record_invoice_event`) records the event, and its deliveries for [`service::webhooks`].
//! 7. [`store`]: `invoices`, `quotes`, `addresses`, `invoice_steps`, `idempotency`, `events`, `deliveries` in one
//!    commit.
//!
//! # A payout becomes paid
//!
//! 1. `api::payouts` declares the request, [`service::payouts`] checks it. `service::transfers` (`request_transfer`)
//!    stores it with its destination, and books the amount out of the balance.
//! 2. An operator approves it (`service::transfers::by_hand`). `service::approval` fixes rate, fee and sender by
//!    [`domain::transfer::approval`] and [`domain::transfer::sender`].
//! 3. [`worker::send`] runs the signer, and [`service::sending`] stores how each run begins and ends; or a person sends
//!    it. `service::transfers::acts` records the transaction that either of them names.
//! 4. A block has an output to the destination: `service::observations` (`recipient`) stores it as the destination's.
//! 5. `service::transfers::destination` loads all transfers and outputs of the destination,
//!    [`domain::transfer::destination`] (`assess_destination`) shares the outputs out, and `save` stores what changed:
//!    shares, proposals, reviews.
//! 6. A transfer that its outputs settle becomes paid by `service::transfers` (`book_step`), which records the event. A
//!    person with a reason can settle it without them (`by_hand`). Without a node nothing else does.
//! 7. [`store`]: `transfers`, `transfer_acts`, `destinations`, `transfer_proposals`, `transfer_reviews` and `ledger` in
//!    one commit.
//!
//! # An event is delivered
//!
//! 1. [`service::events`] (`record_event`) stores the event in the transaction that changes its object, with a delivery
//!    for each receiver.
//! 2. After the commit, `app::commits` wakes [`worker::deliver`], which finds the receivers with due deliveries.
//!    `worker::receivers` keeps one queue for each.
//! 3. [`service::webhooks`] (`prepare_delivery`) makes the body, and signs it by [`domain::signature`].
//! 4. [`outbound`] resolves the receiver, refuses private addresses, and posts the body.
//! 5. [`service::webhooks`] (`record_attempts`) stores the result, and the time of the next attempt by
//!    [`domain::retry`].
//! 6. Messages about sales follow from the same events: [`worker::mail`] has [`service::mail`] (`queue_mail_of_events`)
//!    queue those of the events after its cursor, and sends them by [`outbound`].
//! 7. [`store`]: `events`, `deliveries`, `mail_cursor` and `mail_messages`.
//!
//! # An operator signs in
//!
//! 1. `http::operator::session` reads [`domain::user::inputs`].
//! 2. `http::password` counts the attempt in `http::throttle` and hashes the password in `http::hashing` by
//!    [`service::users::passwords`].
//! 3. `http::second_factor_code` counts an attempt with a code of [`domain::second_factor`].
//! 4. [`service::users::members`] (`sign_in`) begins the session; `service::users::codes` uses up the code.
//! 5. [`store`]: `users`, `sessions`, `known_clients`, `recovery_codes` and `used_steps` in one commit.
//!
//! # Where is …?
//!
//! - The fee: [`domain::ledger`] computes the bookings of a payment, `service::intake::payment` (`book_change`) writes
//!   them on the first confirmation.
//! - A reorg: [`chain::follow`] finds the common block, `service::chains::apply` (`unconfirm_blocks_above`) moves
//!   payments back to seen, and `service::intake::payment` (`book_change`) reverses their bookings. A paid payout stays
//!   paid, and a review opens (`gone`).
//! - A new coin: a row in [`domain::asset`] (`ASSETS`), its logo in [`web`], and `tests/golden`. A token also needs its
//!   contracts in [`domain::token`] (`CONTRACTS`). A coin of a new chain also needs a row in [`domain::chain`] (`CHAINS`)
//!   and a kind of node.
//! - A new kind of node: a folder in [`chain`] that implements [`chain::Node`], and a row in `chain::kind` (`NODE_KINDS`).
//! - A field of a resource, for example of an endpoint: the struct ([`domain::WebhookEndpoint`]), its column and three
//!   statements in [`store::endpoints`], its view in [`render::endpoints`], its inputs in
//!   `api::operator::endpoints`, its form in [`web`]. The compiler names the other places once the struct has the field.
//! - A column: `sql/schema.sql`, and after the first release a migration that `store::migrate` lists. Remake
//!   `sql/template.db` and `tests/golden` by `COFFER_BLESS=1 cargo test`.

#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::float_arithmetic)]

pub mod acme;
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
pub mod render;
pub mod service;
pub mod store;
pub mod web;
pub mod worker;

pub use app::{Config, Error, Sandbox, Server};
