//! Webhooks: contents, retries, and receivers that reject or hang.

mod attempt_log;
mod clock_moves;
mod contents;
mod hanging;
mod isolation;
mod objects;
mod order;
mod refusing;
mod retries;
mod standard_webhooks;
