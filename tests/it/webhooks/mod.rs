//! Webhooks: contents, retries, and receivers that reject or hang.

mod contents;
mod hanging;
mod isolation;
mod refusing;
mod retries;
mod standard_webhooks;
mod told;
