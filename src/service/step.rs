//! The one argument of use cases that write.

use super::Service;
use crate::domain::Time;
use crate::store::Tx;

/// A transaction of the writer, with the service and the time of the request or tick.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    /// Shared state of the use cases.
    pub service: &'a Service,
    /// Transaction in which everything is read and written.
    pub tx: &'a Tx<'a>,
    /// Time of the request or tick.
    pub now: Time,
}
