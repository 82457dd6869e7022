//! Webhooks: what they carry, when they are sent again, and receivers that refuse or hang.

mod contents;
mod hanging;
mod isolation;
mod refusing;
mod retries;
mod standard_webhooks;
mod told;
