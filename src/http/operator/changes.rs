//! `/dashboard/api/changes`: streams to operator pages which kinds of objects have changed. The pages read them again.
//!
//! Invariant: the stream ends with its session, at the latest at the next heartbeat. A merchant's user hears only of the
//! own account.

use crate::domain::ResourceChange;
use crate::http::auth::session_cookie;
use crate::http::event_stream::{EventSource, event, reply};
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::resource_changes::ChangesSince;
use crate::http::route::{Content, Handler, PRIVATE, Resource, Route, RouteAnswer, Tag};
use crate::http::state::HttpState;
use crate::render::changes::{ChangedKinds, ChangesView};
use crate::service::{Error, Member};
use crate::web::VERSION;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Pause before each look but the first, so that changes of a burst are sent together.
const PAUSE: Duration = Duration::from_millis(250);

/// Maximum number of changes in one event. Above it, the event says that everything changed.
const CHANGES_MAX: usize = 64;

pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "streamChanges",
        tag: Some(Tag::OperatorBooks),
        path: "/dashboard/api/changes",
        summary: "Streams which kinds of objects have changed, until either side or the session ends the stream.",
        query: &[Param {
            name: "since",
            about: "Id of the last event. Without it, the stream begins with an event without changes.",
            kind: ParamKind::Any,
        }],
        answers: &[RouteAnswer {
            status: 200,
            about: "Events named `changes`, the first at once, then at most four a second.",
            content: Content::Events(&ChangesView::COMPONENT),
        }],
        handler: Handler::Session(|call, member| Box::pin(stream(call, member))),
        ..PRIVATE
    }],
};

/// Source of the events for one page.
struct ChangeEvents {
    http: Arc<HttpState>,
    cookie: String,
    wakes: watch::Receiver<()>,
    /// Number of the last change that the page knows; `None` if the page knows none of this process.
    known: Option<u64>,
    is_first: bool,
    /// `true` if a look was made since the last pause.
    has_looked: bool,
}

async fn stream(call: Call, _: Member) -> Result<Reply, Error> {
    let resources = &call.http.subscribers.resources;
    let wakes = resources.subscribe();
    let known = match call.query.text("since") {
        Some(id) => number_in_id(&call.http, id),
        None => Some(resources.newest_number()),
    };
    let cookie = session_cookie(&call.http, &call.headers).unwrap_or_default().to_owned();
    let http = Arc::clone(&call.http);
    let events = ChangeEvents { http, cookie, wakes, known, is_first: true, has_looked: false };
    Ok(reply(&call.http, events))
}

/// Returns the number in the id of an event of this process; `None` for an event of another process.
fn number_in_id(http: &HttpState, id: &str) -> Option<u64> {
    let (process, number) = id.split_once('-')?;
    (process == format!("{:08x}", http.process_number())).then(|| number.parse().ok())?
}

impl EventSource for ChangeEvents {
    async fn next(&mut self) -> Option<String> {
        loop {
            if self.has_looked {
                tokio::time::sleep(PAUSE).await;
                self.has_looked = false;
            }
            let text = self.look();
            let text = text.inspect_err(|error| log::debug!("change stream ended: error={error}"));
            match text.ok()? {
                Some(text) => return Some(text),
                None => self.wakes.changed().await.ok()?,
            }
        }
    }
}

impl ChangeEvents {
    /// Returns the event with the changes since the last look, in its wire format. `None` without changes.
    ///
    /// # Errors
    /// `unauthorized` if the session has ended.
    fn look(&mut self) -> Result<Option<String>, Error> {
        let member = self.http.service.member_by_cookie(self.http.now(), &self.cookie)?;
        self.has_looked = true;
        self.wakes.mark_unchanged();
        let is_visible = |change: &ResourceChange| {
            member.is_operator()
                || change.account.is_some() && change.account == member.account_seq()
        };
        let resources = &self.http.subscribers.resources;
        let (number, changes) = match self.known {
            Some(known) => resources.since(known, is_visible),
            None => (resources.newest_number(), ChangesSince::Everything),
        };
        self.known = Some(number);
        let changes = match changes {
            ChangesSince::These(changes) if changes.len() > CHANGES_MAX => ChangesSince::Everything,
            changes => changes,
        };
        if changes == ChangesSince::These(Vec::new()) && !self.is_first {
            return Ok(None);
        }
        self.is_first = false;
        let view = ChangesView {
            version: VERSION,
            everything: changes == ChangesSince::Everything,
            changed: match changes {
                ChangesSince::Everything => Vec::new(),
                ChangesSince::These(changes) => self.changed_kinds(&changes)?,
            },
        };
        let id = format!("{:08x}-{number}", self.http.process_number());
        Ok(Some(event("changes", &id, &serde_json::to_string(&view)?)))
    }

    /// Groups changes by account and mode.
    fn changed_kinds(&self, changes: &[ResourceChange]) -> Result<Vec<ChangedKinds>, Error> {
        let mut grouped: Vec<(Option<i64>, ChangedKinds)> = Vec::new();
        for change in changes {
            let group = grouped
                .iter_mut()
                .find(|(account, group)| *account == change.account && group.mode == change.mode);
            if let Some((_, group)) = group {
                group.kinds.push(change.kind);
                continue;
            }
            let account = match change.account {
                Some(account) => Some(self.http.service.account_id(account)?),
                None => None,
            };
            let group = ChangedKinds { account, mode: change.mode, kinds: vec![change.kind] };
            grouped.push((change.account, group));
        }
        Ok(grouped.into_iter().map(|(_, group)| group).collect())
    }
}
