//! `/sandbox/stream`: streams calls, events, delivery attempts and e-mail as they happen.
//!
//! Invariant: passwords, keys, secrets and codes are hidden (`masked`). If items are removed before a listener has
//! received them, the listener receives the number of missed items.

use super::masked;
use crate::http::event_stream::{EventSource, event, event_without_id, reply};
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Content, Handler, PLAIN, Resource, Route, RouteAnswer, Tag};
use crate::http::state::HttpState;
use crate::http::state::sandbox::Sandbox;
use crate::render::activity::{
    ACTIVITY, AttemptView, BodyView, CallView, EventActivityView, MissedView, RunView,
};
use crate::service::Error;
use crate::service::activity::{ActivityEntry, ListenerItem, Run};
use std::sync::Arc;
use tokio::sync::watch;

/// Header in which a reconnecting browser sends the id of its last event.
const LAST_EVENT_ID: &str = "last-event-id";

/// Maximum size of a body in the stream, in bytes. Longer bodies are cut.
const BODY_BYTES_MAX: usize = 32 * 1024;

pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "sandboxStream",
        tag: Some(Tag::SandboxState),
        path: "/sandbox/stream",
        summary: "Streams calls, events, attempts to deliver and e-mail, until either side ends the stream.",
        query: &[Param {
            name: "since",
            about: "Id of the last event, as Last-Event-ID. Without either, the stream begins with the activity that is kept.",
            kind: ParamKind::Any,
        }],
        answers: &[RouteAnswer {
            status: 200,
            about: "Events named by their `kind`, with increasing numbers as ids. The first is the `run`, which has no id. A call with the header `X-Coffer-Untold` is left out.",
            content: Content::Events(&ACTIVITY),
        }],
        handler: Handler::Sandbox(|call, sandbox| Box::pin(stream(call, sandbox))),
        ..PLAIN
    }],
};

/// State of one listener to the stream.
struct ActivityListener {
    http: Arc<HttpState>,
    news: watch::Receiver<()>,
    /// Number of the last item that the listener received.
    last: u64,
    /// Number of the run that the listener knows.
    run: Option<u64>,
}

async fn stream(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    let resumed = call.headers.get(LAST_EVENT_ID);
    let resumed = resumed.and_then(|last| last.to_str().ok());
    let resumed = resumed.or(call.query.text("since"));
    let activity = call.http.service.activity();
    let news = sandbox.subscribe(activity.map(Arc::as_ref));
    let oldest = activity.map_or(0, |activity| activity.number_before_oldest());
    let last = resumed.and_then(|last| last.parse().ok());
    let http = Arc::clone(&call.http);
    let listener = ActivityListener { http, news, last: last.unwrap_or(oldest), run: None };
    Ok(reply(&call.http, listener))
}

impl EventSource for ActivityListener {
    async fn next(&mut self) -> Option<String> {
        loop {
            self.news.borrow_and_update();
            let heard = self.http.service.activity()?.item_after(self.last, self.run);
            let to_event = match heard {
                Some(ListenerItem::Run(run, before_oldest)) => {
                    // The entries of the run before are gone, which is no gap.
                    if self.run.replace(run.number).is_some() {
                        self.last = before_oldest;
                    }
                    run_text(&self.http, run)
                }
                Some(ListenerItem::Happened(number, happened)) => {
                    self.last = number;
                    to_event(&self.http, number, &happened)
                }
                Some(ListenerItem::Missed(last, count)) => {
                    self.last = last;
                    missed_text(last, count)
                }
                None => {
                    self.news.changed().await.ok()?;
                    continue;
                }
            };
            match to_event {
                Ok(Some(text)) => return Some(text),
                Ok(None) => {}
                Err(error) => log::debug!("activity entry not rendered: error={error}"),
            }
        }
    }
}

/// Renders an entry of the activity in the wire format. Returns `None` for an event that no longer exists.
fn to_event(
    http: &HttpState,
    number: u64,
    happened: &ActivityEntry,
) -> Result<Option<String>, Error> {
    let (kind, data) = match happened {
        ActivityEntry::Call(call) => (call.kind, serde_json::to_string(&masked_call(call))?),
        ActivityEntry::Event(id) => {
            let Some(body) = http.service.event_of_any_account(id)? else {
                return Ok(None);
            };
            let body = masked::mask_body(&body);
            let view = EventActivityView { kind: "event", event: serde_json::from_str(&body)? };
            (view.kind, serde_json::to_string(&view)?)
        }
        ActivityEntry::Attempt(attempt) => {
            (attempt.kind, serde_json::to_string(&masked_attempt(attempt))?)
        }
        ActivityEntry::Mail(mail) => (mail.kind, serde_json::to_string(mail)?),
    };
    Ok(Some(event(kind, &number.to_string(), &data)))
}

fn run_text(http: &HttpState, run: Run) -> Result<Option<String>, Error> {
    let view = RunView { kind: "run", run: http.run_id(run.number), cause: run.cause };
    Ok(Some(event_without_id(view.kind, &serde_json::to_string(&view)?)))
}

fn missed_text(last: u64, count: u64) -> Result<Option<String>, Error> {
    let view = MissedView { kind: "missed", count };
    Ok(Some(event(view.kind, &last.to_string(), &serde_json::to_string(&view)?)))
}

fn masked_call(call: &CallView) -> CallView {
    let headers = call.headers.iter();
    let headers = headers.map(|(name, value)| (*name, masked::mask_header(value).into_owned()));
    CallView {
        target: masked::mask_target(&call.target).into_owned(),
        headers: headers.collect(),
        sent: masked_body(&call.sent),
        answered: masked_body(&call.answered),
        ..call.clone()
    }
}

fn masked_attempt(attempt: &AttemptView) -> AttemptView {
    let answer = attempt.answer.as_deref();
    AttemptView {
        sent: masked_body(&attempt.sent),
        answer: answer.map(|text| masked::mask_body(text).into_owned()),
        ..attempt.clone()
    }
}

/// Returns a body in the form that the stream shows. Secrets are hidden before a long body is cut.
fn masked_body(body: &BodyView) -> BodyView {
    let mut text = masked::mask_body(&body.text).into_owned();
    let end = text.floor_char_boundary(BODY_BYTES_MAX);
    let cut = end < text.len();
    text.truncate(end);
    BodyView { text, cut }
}
