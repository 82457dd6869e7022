//! Inboxes: webhook receivers inside the sandbox, from which a test reads the received requests.
//!
//! Invariant: inboxes exist only in memory, and their number and size are bounded.

use crate::domain::signature::hex;
use crate::domain::{Time, json};
use crate::render::sandbox::InboxMessage;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

const INBOXES_MAX: usize = 1000;
/// Maximum number of messages in one inbox. The oldest messages are removed first.
const MESSAGES_MAX: usize = 10_000;

#[derive(Clone, Debug)]
pub struct Message {
    /// Header names in lower case, and their values.
    pub headers: BTreeMap<String, String>,
    /// Raw body, exactly as received, for verifying the signature.
    pub body: String,
    /// Time of receipt, by the sandbox's clock.
    pub received_at: Time,
}

/// Configured answer of an inbox to the requests that it receives.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Behaviour {
    pub(in crate::http) status: u16,
    pub(in crate::http) delay_ms: u64,
    /// Number of further requests that get this answer, `None` for all further requests.
    pub(in crate::http) times: Option<u64>,
}

/// Answer of an inbox that is not configured: status 200 at once.
const DEFAULT_BEHAVIOUR: Behaviour = Behaviour { status: 200, delay_ms: 0, times: None };

/// All inboxes of a sandbox, by name.
pub struct Inboxes {
    inboxes: Mutex<HashMap<String, Inbox>>,
    arrivals: watch::Sender<u64>,
}

#[derive(Default)]
struct Inbox {
    messages: Vec<Message>,
    behaviour: Option<Behaviour>,
}

impl Default for Inboxes {
    fn default() -> Inboxes {
        Inboxes { inboxes: Mutex::default(), arrivals: watch::Sender::new(0) }
    }
}

impl Inboxes {
    /// Stores a message and returns the configured answer. Returns `None` if there are too many inboxes.
    pub(in crate::http) fn receive(&self, name: &str, message: Message) -> Option<Behaviour> {
        let mut inboxes = self.lock();
        if inboxes.len() >= INBOXES_MAX && !inboxes.contains_key(name) {
            return None;
        }
        let inbox = inboxes.entry(name.to_owned()).or_default();
        if inbox.messages.len() >= MESSAGES_MAX {
            inbox.messages.remove(0);
        }
        inbox.messages.push(message);
        let behaviour = inbox.next_behaviour();
        drop(inboxes);
        self.arrivals.send_modify(|count| *count = count.wrapping_add(1));
        Some(behaviour)
    }

    /// Returns the messages of an inbox, oldest first. `kind` selects one event type.
    pub(in crate::http) fn messages(&self, name: &str, kind: Option<&str>) -> Vec<Message> {
        let inboxes = self.lock();
        let messages = inboxes.get(name).map_or(&[] as &[Message], |inbox| &inbox.messages);
        messages
            .iter()
            .filter(|message| kind.is_none_or(|kind| message.has_event_type(kind)))
            .cloned()
            .collect()
    }

    pub(in crate::http) fn arrivals(&self) -> watch::Receiver<u64> {
        self.arrivals.subscribe()
    }

    /// Sets the answer of an inbox to further requests.
    pub(in crate::http) fn configure(&self, name: &str, behaviour: Behaviour) {
        self.lock().entry(name.to_owned()).or_default().behaviour = Some(behaviour);
    }

    /// Removes the messages and the configuration of an inbox.
    pub(in crate::http) fn clear_inbox(&self, name: &str) {
        self.lock().remove(name);
    }

    /// Removes the messages and the configuration of every inbox.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Inbox>> {
        self.inboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inbox {
    /// Returns the configured answer for the current message, and lowers the answer's `times` by one.
    fn next_behaviour(&mut self) -> Behaviour {
        let Some(behaviour) = &mut self.behaviour else {
            return DEFAULT_BEHAVIOUR;
        };
        let taken = *behaviour;
        match &mut behaviour.times {
            None => taken,
            Some(0) => {
                self.behaviour = None;
                DEFAULT_BEHAVIOUR
            }
            Some(times) => {
                *times = times.saturating_sub(1);
                taken
            }
        }
    }
}

impl Message {
    /// Creates a message. Header values and bodies that are not text are stored in hexadecimal.
    pub(in crate::http) fn new(
        headers: &hyper::HeaderMap,
        body: &[u8],
        received_at: Time,
    ) -> Message {
        let text = |value: &hyper::header::HeaderValue| {
            value.to_str().map_or_else(|_| hex(value.as_bytes()), str::to_owned)
        };
        Message {
            headers: headers
                .iter()
                .map(|(name, value)| (name.as_str().to_owned(), text(value)))
                .collect(),
            body: std::str::from_utf8(body).map_or_else(|_| hex(body), str::to_owned),
            received_at,
        }
    }

    /// Returns the message in the form of `GET /sandbox/inbox/{name}`.
    pub(in crate::http) fn view(&self) -> InboxMessage<'_> {
        InboxMessage { headers: &self.headers, body: &self.body, received_at: self.received_at }
    }

    /// Returns `true` if the message is an event of this type, in the current or the legacy format.
    fn has_event_type(&self, kind: &str) -> bool {
        let body = json::parse_leniently(self.body.as_bytes()).unwrap_or_default();
        ["type", "event"]
            .iter()
            .any(|field| body.get(field).and_then(serde_json::Value::as_str) == Some(kind))
    }
}
