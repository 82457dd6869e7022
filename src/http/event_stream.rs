//! Streams of events for browsers: `text/event-stream`, as the HTML standard describes it in "Server-sent events".
//!
//! What lives here: how an event is written, and the answer that is never complete. What does not: what is told. What
//! always holds: a stream ends when the server stops; while it has nothing to tell, its connection counts as one that
//! waits, and makes place where all places are taken.

use super::front::Front;
use super::reply::Reply;
use super::stream::{Live, Outgoing};
use hyper::body::Bytes;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// What a stream is.
const CONTENT_TYPE: &str = "text/event-stream";

/// A comment, so that proxies and browsers see that the stream lives.
const HEARTBEAT: &str = ":\n\n";
/// How long nothing is sent at most.
const HEARTBEAT_PAUSE: Duration = Duration::from_secs(15);

/// Where the events of one stream come from.
pub(super) trait Source: Send + Sized + 'static {
    /// Waits for the next event, as it is written; nothing where there will be none. Whoever waits may be dropped at
    /// any moment, and then no event is lost.
    fn next(&mut self) -> impl Future<Output = Option<String>> + Send;
}

/// 200 with a stream that goes on until the source, the caller or the server ends.
pub(super) fn reply(front: &Arc<Front>, source: impl Source) -> Reply {
    let body = Outgoing::Live(live(Arc::clone(front), source));
    Reply::stream(CONTENT_TYPE, body)
}

/// An event: its name, its id and its data, which is one line.
pub(super) fn event(name: &str, id: &str, data: &str) -> String {
    format!("event: {name}\nid: {id}\ndata: {data}\n\n")
}

fn live(front: Arc<Front>, mut source: impl Source) -> Live {
    Live(Box::pin(async move {
        let next = tokio::time::timeout(HEARTBEAT_PAUSE, source.next());
        let text: Bytes = match front.unless_closed(next).await? {
            Ok(event) => event?.into(),
            Err(_) => Bytes::from_static(HEARTBEAT.as_bytes()),
        };
        Some((text, live(front, source)))
    }))
}
