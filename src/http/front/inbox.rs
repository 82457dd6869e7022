//! Inboxes: webhook receivers inside the sandbox, from which a test reads the received requests.
//!
//! Invariant: inboxes are in memory only, and bounded.

use crate::domain::json;
use crate::domain::render::sandbox::InboxMessage;
use crate::domain::signature::hex;
use crate::domain::time::Time;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

const INBOXES_MAX: usize = 1000;
/// Messages in one inbox. The oldest are removed first.
const MESSAGES_MAX: usize = 10_000;

/// A received message.
#[derive(Clone, Debug)]
pub struct Message {
    /// Header names in lower case, and their values.
    pub headers: BTreeMap<String, String>,
    /// Raw text, exactly as received, for verifying the signature.
    pub body: String,
    /// Time of the request, by the sandbox's clock.
    pub received_at: Time,
}

/// Configured answer of an inbox.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Behaviour {
    /// HTTP status.
    pub(in crate::http) status: u16,
    /// Delay in milliseconds.
    pub(in crate::http) delay_ms: u64,
    /// Number of further answers, `None` for all.
    pub(in crate::http) times: Option<u64>,
}

/// Answer of an inbox without configuration.
const OBLIGING: Behaviour = Behaviour {
    status: 200,
    delay_ms: 0,
    times: None,
};

/// All inboxes.
pub struct InboxState {
    inboxes: Mutex<HashMap<String, Inbox>>,
    arrivals: watch::Sender<u64>,
}

#[derive(Default)]
struct Inbox {
    messages: Vec<Message>,
    behaviour: Option<Behaviour>,
}

impl Default for InboxState {
    fn default() -> InboxState {
        InboxState {
            inboxes: Mutex::default(),
            arrivals: watch::Sender::new(0),
        }
    }
}

impl InboxState {
    /// Adds a message and returns the answer, `None` if there are too many inboxes.
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
        let behaviour = inbox.take_behaviour();
        drop(inboxes);
        self.arrivals
            .send_modify(|count| *count = count.wrapping_add(1));
        Some(behaviour)
    }

    /// Returns the messages of one event type, or all, oldest first.
    pub(in crate::http) fn messages(&self, name: &str, kind: Option<&str>) -> Vec<Message> {
        let inboxes = self.lock();
        let messages = inboxes
            .get(name)
            .map_or(&[] as &[Message], |inbox| &inbox.messages);
        messages
            .iter()
            .filter(|message| kind.is_none_or(|kind| message.is_of(kind)))
            .cloned()
            .collect()
    }

    /// Subscribes to new messages.
    pub(in crate::http) fn arrivals(&self) -> watch::Receiver<u64> {
        self.arrivals.subscribe()
    }

    /// Configures the answer of an inbox.
    pub(in crate::http) fn behave(&self, name: &str, behaviour: Behaviour) {
        self.lock().entry(name.to_owned()).or_default().behaviour = Some(behaviour);
    }

    /// Empties an inbox, which then answers 200 again.
    pub(in crate::http) fn empty(&self, name: &str) {
        self.lock().remove(name);
    }

    /// Empties every inbox.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Inbox>> {
        self.inboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inbox {
    /// Returns the answer for this message.
    fn take_behaviour(&mut self) -> Behaviour {
        let Some(behaviour) = &mut self.behaviour else {
            return OBLIGING;
        };
        let taken = *behaviour;
        match &mut behaviour.times {
            None => taken,
            Some(0) => {
                self.behaviour = None;
                OBLIGING
            }
            Some(times) => {
                *times = times.saturating_sub(1);
                taken
            }
        }
    }
}

impl Message {
    /// Creates a message. Bytes that are no text are shown in hexadecimal.
    pub(in crate::http) fn new(
        headers: &hyper::HeaderMap,
        body: &[u8],
        received_at: Time,
    ) -> Message {
        let text = |value: &hyper::header::HeaderValue| {
            value
                .to_str()
                .map_or_else(|_| hex(value.as_bytes()), str::to_owned)
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

    /// Returns the message as `GET /sandbox/inbox/{name}` shows it.
    pub(in crate::http) fn view(&self) -> InboxMessage<'_> {
        InboxMessage {
            headers: &self.headers,
            body: &self.body,
            received_at: self.received_at,
        }
    }

    /// Returns `true` for an event of this type, in either format.
    fn is_of(&self, kind: &str) -> bool {
        let body = json::parse(self.body.as_bytes()).unwrap_or_default();
        ["type", "event"]
            .iter()
            .any(|field| body.get(field).and_then(serde_json::Value::as_str) == Some(kind))
    }
}
