//! HTTP server: connections, limits, fields, the OpenAPI document and access.

mod apart;
mod bodies;
mod browser_rules;
pub mod connections;
mod defaults;
mod document_limits;
mod emails_and_urls;
mod failures;
mod fields;
mod foreign;
mod golden;
mod idempotent;
mod keys;
mod large_answers;
mod limits;
mod long_reads;
mod metrics;
mod misread;
mod open_files;
mod openapi;
mod openapi_merchant;
mod opener_policy;
mod probes;
mod queries;
mod secrets;
mod shared_responses;
mod urls;
