//! Random histories: compared with a model, or audited while many write at once.

mod audited;
mod model;
