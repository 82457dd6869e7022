//! Random histories: compared with a model, or audited during concurrent writes.

mod audited;
mod model;
