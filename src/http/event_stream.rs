//! Server-sent events: `text/event-stream` of the HTML standard.
//!
//! Invariant: a stream ends when the server stops. While a stream has nothing to send, its connection counts as
//! waiting and can be closed for a new connection.

use super::reply::Reply;
use super::state::HttpState;
use super::stream::{LiveStream, ReplyBody};
use hyper::body::Bytes;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

const CONTENT_TYPE: &str = "text/event-stream";

/// A comment line of an event stream, which shows proxies and browsers that the connection is alive.
const HEARTBEAT: &str = ":\n\n";
/// Longest pause between two writes to a stream.
const HEARTBEAT_PAUSE: Duration = Duration::from_secs(15);

pub(super) trait EventSource: Send + Sized + 'static {
    /// Waits for the next event, in its wire format. Returns `None` at the end of the stream. Cancel safe: dropping
    /// the future loses no event.
    fn next(&mut self) -> impl Future<Output = Option<String>> + Send;
}

/// Returns status 200 with a stream that continues until the source, the client or the server ends the stream.
pub(super) fn reply(http: &Arc<HttpState>, source: impl EventSource) -> Reply {
    let body = ReplyBody::Live(live_stream(Arc::clone(http), source));
    Reply::stream(CONTENT_TYPE, body)
}

/// Formats an event for the stream. `data` must be a single line.
pub(super) fn event(name: &str, id: &str, data: &str) -> String {
    format!("event: {name}\nid: {id}\ndata: {data}\n\n")
}

/// Formats an event that a client which reconnects does not name. `data` must be a single line.
pub(super) fn event_without_id(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

fn live_stream(http: Arc<HttpState>, mut source: impl EventSource) -> LiveStream {
    LiveStream(Box::pin(async move {
        let next = tokio::time::timeout(HEARTBEAT_PAUSE, source.next());
        let text: Bytes = match http.run_until_closed(next).await? {
            Ok(event) => event?.into(),
            Err(_) => Bytes::from_static(HEARTBEAT.as_bytes()),
        };
        Some((text, live_stream(http, source)))
    }))
}
