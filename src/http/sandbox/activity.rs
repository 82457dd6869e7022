//! `/sandbox/stream`: streams calls, events, delivery attempts and e-mail as they happen.
//!
//! Invariant: passwords, keys, secrets and codes are hidden (`masked`). If items are removed before a listener has
//! received them, the listener receives the number of missed items.

use super::masked;
use crate::domain::render::activity::{ActivityView, AttemptView, BodyView, CallView, MailView};
use crate::http::event_stream::{EventSource, event, event_without_id, reply};
use crate::http::front::Front;
use crate::http::front::sandbox::Sandbox;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Content, Handler, PLAIN, Resource, Route, RouteAnswer, Tag};
use crate::service::Error;
use crate::service::activity::{
    ActivityEntry, Call as Answered, ListenerItem, RecordedAttempt, RecordedBody, RecordedMail, Run,
};
use serde_json::value::RawValue;
use std::borrow::Cow;
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
            content: Content::Events(&ActivityView::COMPONENT),
        }],
        handler: Handler::Sandbox(|call, sandbox| Box::pin(stream(call, sandbox))),
        ..PLAIN
    }],
};

/// State of one listener to the stream.
struct ActivityListener {
    front: Arc<Front>,
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
    let activity = call.front.service.activity();
    let news = sandbox.subscribe(activity.map(Arc::as_ref));
    let oldest = activity.map_or(0, |activity| activity.number_before_oldest());
    let last = resumed.and_then(|last| last.parse().ok());
    let front = Arc::clone(&call.front);
    let listener = ActivityListener { front, news, last: last.unwrap_or(oldest), run: None };
    Ok(reply(&call.front, listener))
}

impl EventSource for ActivityListener {
    async fn next(&mut self) -> Option<String> {
        loop {
            self.news.borrow_and_update();
            let heard = self.front.service.activity()?.item_after(self.last, self.run);
            let to_event = match heard {
                Some(ListenerItem::Run(run, before_oldest)) => {
                    // The entries of the run before are gone, which is no gap.
                    if self.run.replace(run.number).is_some() {
                        self.last = before_oldest;
                    }
                    run_text(&self.front, run)
                }
                Some(ListenerItem::Happened(number, happened)) => {
                    self.last = number;
                    to_event(&self.front, number, &happened)
                }
                Some(ListenerItem::Missed(last, count)) => {
                    self.last = last;
                    event_text(last, &ActivityView::from_missed_count(count))
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

/// Renders an item of the activity in the wire format. Returns `None` for an event that no longer exists.
fn to_event(front: &Front, number: u64, happened: &ActivityEntry) -> Result<Option<String>, Error> {
    match happened {
        ActivityEntry::Call(call) => event_text(number, &ActivityView::Call(call_view(call))),
        ActivityEntry::Event(id) => match front.service.event_of_any_account(id)? {
            Some(body) => {
                let body = masked::mask_body(&body);
                let event: &RawValue = serde_json::from_str(&body)?;
                event_text(number, &ActivityView::from_event(event))
            }
            None => Ok(None),
        },
        ActivityEntry::Attempt(attempted) => {
            event_text(number, &ActivityView::Delivery(attempt_view(attempted)))
        }
        ActivityEntry::Mail(mail) => event_text(number, &ActivityView::Mail(mail_view(mail))),
    }
}

fn run_text(front: &Front, run: Run) -> Result<Option<String>, Error> {
    let view = ActivityView::from_run(front.run_id(run.number), run.cause);
    Ok(Some(event_without_id(view.kind(), &serde_json::to_string(&view)?)))
}

fn event_text(number: u64, activity: &ActivityView<'_>) -> Result<Option<String>, Error> {
    let data = serde_json::to_string(activity)?;
    Ok(Some(event(activity.kind(), &number.to_string(), &data)))
}

fn call_view(call: &Answered) -> CallView<'_> {
    CallView {
        kind: "call",
        request_id: &call.request_id,
        at: call.at,
        method: &call.method,
        target: masked::mask_target(&call.target),
        operation: call.operation,
        status: call.status,
        ms: call.ms,
        key: call.key.as_deref(),
        headers: call
            .headers
            .iter()
            .map(|(name, value)| (*name, masked::mask_header(value)))
            .collect(),
        sent: body_view(&call.sent),
        answered: body_view(&call.answered),
    }
}

/// Returns a body in the form that the stream shows. Secrets are hidden before a long body is cut.
fn body_view(part: &RecordedBody) -> BodyView<'_> {
    if part.bytes.len() < part.length {
        let text = format!("(a body of {} bytes)", part.length);
        return BodyView { text: Cow::Owned(text), cut: false };
    }
    let text = match String::from_utf8_lossy(&part.bytes) {
        Cow::Borrowed(text) => masked::mask_body(text),
        Cow::Owned(text) => Cow::Owned(masked::mask_body(&text).into_owned()),
    };
    let end = text.floor_char_boundary(BODY_BYTES_MAX);
    match text.get(..end) {
        Some(start) if end < text.len() => {
            BodyView { text: Cow::Owned(start.to_owned()), cut: true }
        }
        _ => BodyView { text, cut: false },
    }
}

fn attempt_view(attempted: &RecordedAttempt) -> AttemptView<'_> {
    let headers = attempted.headers.iter();
    AttemptView {
        kind: "delivery",
        delivery: &attempted.delivery,
        event: &attempted.event,
        number: attempted.number,
        url: &attempted.url,
        headers: headers.map(|(name, value)| (*name, value.as_str())).collect(),
        sent: body_view(&attempted.sent),
        at: attempted.at,
        status: attempted.status,
        ms: attempted.ms,
        error: attempted.error.as_deref(),
        answer: attempted.answer.as_deref().map(masked::mask_body),
    }
}

fn mail_view(mail: &RecordedMail) -> MailView<'_> {
    MailView {
        kind: "mail",
        id: &mail.id,
        about: mail.kind,
        at: mail.at,
        to: &mail.to,
        language: mail.language,
        subject: &mail.text.subject,
        text: &mail.text.body,
    }
}
