//! Inboxes: webhook receivers inside the sandbox, from which a test reads the received requests.
//!
//! Invariant: inboxes exist only in memory, and their number and size are bounded.

use crate::domain::signature::hex;
use crate::domain::{Time, json};
use crate::render::sandbox::InboxMessage;
use serde_json::Value;
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

/// Selects messages of an inbox. A message matches if it is an event with all of these, in either format.
#[derive(Default)]
pub(in crate::http) struct MessageFilter<'a> {
    /// Type of the event.
    pub(in crate::http) kind: Option<&'a str>,
    /// Id of the event's object.
    pub(in crate::http) object: Option<&'a str>,
    /// `orderId` of the event's object.
    pub(in crate::http) order_id: Option<&'a str>,
    /// Id of an event. Only messages match that came after the first message with this event.
    pub(in crate::http) after: Option<&'a str>,
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

    /// Returns the matching messages of an inbox, oldest first. Returns `None` if no message has the event of
    /// `filter.after`.
    pub(in crate::http) fn messages(
        &self,
        name: &str,
        filter: &MessageFilter<'_>,
    ) -> Option<Vec<Message>> {
        let inboxes = self.lock();
        let mut messages = inboxes.get(name).map_or(&[] as &[Message], |inbox| &inbox.messages);
        if let Some(after) = filter.after {
            let found = messages.iter().position(|message| message.is_event(after))?;
            messages = messages.get(found.saturating_add(1)..)?;
        }
        Some(messages.iter().filter(|message| filter.matches(message)).cloned().collect())
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

    /// Returns `true` if the message is the event with this id.
    fn is_event(&self, id: &str) -> bool {
        is_text(self.body_value().get("id"), id)
    }

    /// Returns the parsed body, or null if the body is not JSON.
    fn body_value(&self) -> Value {
        json::parse_leniently(self.body.as_bytes()).unwrap_or_default()
    }
}

impl MessageFilter<'_> {
    /// Returns `true` for an event of the type, the object and the order, in the current or the legacy format.
    fn matches(&self, message: &Message) -> bool {
        let MessageFilter { kind, object, order_id, after: _ } = *self;
        if kind.is_none() && object.is_none() && order_id.is_none() {
            return true;
        }
        let body = message.body_value();
        let is_kind = |kind| ["type", "event"].iter().any(|field| is_text(body.get(field), kind));
        let objects = [body.pointer("/data/object"), body.get("invoice"), body.get("object")];
        let has = |field: &str, text| {
            let mut objects = objects.into_iter().flatten();
            objects.any(|object| is_text(object.get(field), text))
        };
        kind.is_none_or(is_kind)
            && object.is_none_or(|id| has("id", id))
            && order_id.is_none_or(|id| has("orderId", id))
    }
}

fn is_text(value: Option<&Value>, text: &str) -> bool {
    value.and_then(Value::as_str) == Some(text)
}
