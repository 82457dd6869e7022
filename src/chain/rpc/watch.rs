//! Reports when a request to a node begins and ends, so that a node that hangs is noticed before the time limit.

use std::fmt;
use std::sync::Arc;

/// Callback that is called with `true` when a request begins, and with `false` when it ends.
#[derive(Clone)]
pub struct RequestWatch(Arc<dyn Fn(bool) + Send + Sync>);

impl RequestWatch {
    /// Wraps a callback.
    pub fn new(report: impl Fn(bool) + Send + Sync + 'static) -> RequestWatch {
        RequestWatch(Arc::new(report))
    }

    /// Reports that a request begins. Its end is reported when the returned value is dropped.
    pub(super) fn begin(&self) -> OpenRequest<'_> {
        (self.0)(true);
        OpenRequest(self)
    }
}

impl fmt::Debug for RequestWatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("RequestWatch")
    }
}

/// A request that has no complete answer yet.
pub(super) struct OpenRequest<'a>(&'a RequestWatch);

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        (self.0.0)(false);
    }
}
