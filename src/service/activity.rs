//! Recent activity of a sandbox: API calls, events, and delivery attempts.
//!
//! Invariant: activity is in memory only, limited by count and bytes. A listener that asks for removed entries gets
//! the number of missed entries.
//!
//! Most entries are never rendered, so recording one must be cheap. `http::sandbox::activity` renders and filters
//! them.

use super::{Error, Service};
use crate::domain::time::Time;
use crate::store::{Changes, events};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Limits before the first listener registers. They suffice to show the most recent activity.
const QUIET: Bounds = Bounds {
    entries: 64,
    bytes: 512 * 1024,
};
/// Limits after the first listener has registered.
const HEARD: Bounds = Bounds {
    entries: 512,
    bytes: 4 * 1024 * 1024,
};
/// Maximum size of a kept body, in bytes. For a longer body, only its length is kept.
const BODY_BYTES_MAX: usize = 128 * 1024;

/// Maximum count and maximum total size, in bytes, of the kept entries.
#[derive(Clone, Copy)]
struct Bounds {
    entries: usize,
    bytes: usize,
}

/// Callback that wakes all listeners.
pub type Wake = Box<dyn Fn() + Send + Sync>;

/// Recent activity of a sandbox, limited by count and bytes.
#[derive(Default)]
pub struct Activity {
    kept: Mutex<Kept>,
    /// Callback that wakes listeners. Set by the first listener.
    wake: OnceLock<Wake>,
}

#[derive(Default)]
struct Kept {
    entries: VecDeque<Entry>,
    bytes: usize,
    /// Number of the newest entry, counted from 1.
    newest: u64,
}

#[derive(Clone)]
struct Entry {
    happened: Arc<Happened>,
    bytes: usize,
}

/// One entry of the activity.
pub enum Happened {
    /// An API call that was answered.
    Call(Call),
    /// Id of a recorded event.
    Event(String),
    /// A delivery attempt.
    Attempt(Attempted),
}

/// An API call and its response.
pub struct Call {
    /// Id of the request.
    pub request_id: String,
    /// Time of the response, by the sandbox's clock.
    pub at: Time,
    /// HTTP method.
    pub method: String,
    /// Path and query, as sent.
    pub target: String,
    /// Name of the operation, if the route has one.
    pub operation: Option<&'static str>,
    /// HTTP status of the response.
    pub status: u16,
    /// Duration, in milliseconds.
    pub ms: i64,
    /// The API key that the client sent.
    pub key: Option<String>,
    /// Body of the request.
    pub sent: Part,
    /// Body of the response.
    pub answered: Part,
}

/// A delivery attempt.
pub struct Attempted {
    /// Id of the delivery.
    pub delivery: String,
    /// Id of the event.
    pub event: String,
    /// Number of the attempt within the delivery, from 1.
    pub number: u32,
    /// URL that received the request.
    pub url: String,
    /// Request headers, including signatures.
    pub headers: Vec<(&'static str, String)>,
    /// Body of the request.
    pub sent: Part,
    /// Start time, by the sandbox's clock.
    pub at: Time,
    /// HTTP status of the response, if there was one.
    pub status: Option<u16>,
    /// Duration, in milliseconds.
    pub ms: i64,
    /// Reason why there was no response.
    pub error: Option<String>,
    /// The first bytes of the response body.
    pub answer: Option<String>,
}

/// A request or response body.
#[derive(Default)]
pub struct Part {
    /// The complete body. Empty if the body is too long to keep.
    pub bytes: Vec<u8>,
    /// Length of the body, in bytes.
    pub length: usize,
}

impl Part {
    /// Returns the kept form of a body: its bytes, unless there are too many, and its length.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Part {
        let kept: &[u8] = match bytes.len() {
            ..=BODY_BYTES_MAX => bytes,
            _ => &[],
        };
        Part {
            bytes: kept.to_vec(),
            length: bytes.len(),
        }
    }
}

impl Happened {
    /// Returns the approximate size in memory, in bytes.
    fn bytes(&self) -> usize {
        let texts = match self {
            Happened::Call(call) => {
                let (sent, answered) = (&call.sent.bytes, &call.answered.bytes);
                [call.target.len(), sent.len(), answered.len()]
            }
            Happened::Event(id) => [id.len(), 0, 0],
            Happened::Attempt(attempted) => {
                let answer = attempted.answer.as_ref().map_or(0, String::len);
                [attempted.url.len(), attempted.sent.bytes.len(), answer]
            }
        };
        let texts = texts.into_iter().fold(0, usize::saturating_add);
        texts.saturating_add(size_of::<Happened>())
    }
}

/// The next item for a listener.
pub enum Heard {
    /// An entry and its number.
    Happened(u64, Arc<Happened>),
    /// Number of the last removed entry, and count of entries that the listener missed.
    Missed(u64, u64),
}

impl Activity {
    /// Adds an entry and wakes the listeners.
    pub fn tell(&self, happened: Happened) {
        let wake = self.wake.get();
        let bounds = if wake.is_some() { HEARD } else { QUIET };
        let bytes = happened.bytes();
        let mut kept = self.lock();
        kept.newest = kept.newest.saturating_add(1);
        kept.bytes = kept.bytes.saturating_add(bytes);
        let happened = Arc::new(happened);
        kept.entries.push_back(Entry { happened, bytes });
        while kept.entries.len() > bounds.entries
            || kept.bytes > bounds.bytes && kept.entries.len() > 1
        {
            if let Some(oldest) = kept.entries.pop_front() {
                kept.bytes = kept.bytes.saturating_sub(oldest.bytes);
            }
        }
        drop(kept);
        if let Some(wake) = wake {
            wake();
        }
    }

    /// Adds the events that a commit recorded.
    pub fn committed(&self, changes: &Changes) {
        for event in &changes.events {
            self.tell(Happened::Event(event.clone()));
        }
    }

    /// Registers a listener, which is woken at each entry from now on. Only the first listener's `wake` is called:
    /// its result wakes all listeners.
    pub fn heard_by(&self, wake: impl FnOnce() -> Wake) {
        self.wake.get_or_init(wake);
    }

    /// Returns the item after the entry number `last`, if there is one.
    ///
    /// A number above the newest comes from an earlier process. The listener then starts at the oldest kept entry.
    pub fn after(&self, last: u64) -> Option<Heard> {
        let kept = self.lock();
        let count = u64::try_from(kept.entries.len()).unwrap_or(u64::MAX);
        let before_oldest = kept.newest.saturating_sub(count);
        let last = if last > kept.newest {
            before_oldest
        } else {
            last
        };
        if last < before_oldest {
            let missed = before_oldest.saturating_sub(last);
            return Some(Heard::Missed(before_oldest, missed));
        }
        let at = usize::try_from(last.saturating_sub(before_oldest)).ok()?;
        let entry = kept.entries.get(at)?;
        Some(Heard::Happened(
            last.saturating_add(1),
            Arc::clone(&entry.happened),
        ))
    }

    /// Returns the number before the oldest kept entry.
    pub fn before_oldest(&self) -> u64 {
        let kept = self.lock();
        let count = u64::try_from(kept.entries.len()).unwrap_or(u64::MAX);
        kept.newest.saturating_sub(count)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// Returns the service with this record of activity, which receives all further entries.
    #[must_use]
    pub fn telling(self, activity: Option<Arc<Activity>>) -> Service {
        Service { activity, ..self }
    }

    /// Returns the recent activity. `None` outside the sandbox.
    pub fn activity(&self) -> Option<&Arc<Activity>> {
        self.activity.as_ref()
    }

    /// Returns the body of an event of any account by its id. `None` if there is no such event.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn event_of_anybody(&self, id: &str) -> Result<Option<String>, Error> {
        self.read(|db| Ok(events::body_of_any(db, id)?))
    }
}

#[cfg(test)]
#[expect(clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::{Activity, Call, Happened, Heard, Part, QUIET};
    use crate::domain::time::Time;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn call(bytes: usize) -> Happened {
        Happened::Call(Call {
            request_id: String::new(),
            at: Time(0),
            method: "GET".to_owned(),
            target: "/".to_owned(),
            operation: None,
            status: 200,
            ms: 0,
            key: None,
            sent: Part::default(),
            answered: Part::of(&vec![b'x'; bytes]),
        })
    }

    #[track_caller]
    fn number(heard: Option<Heard>) -> u64 {
        match heard {
            Some(Heard::Happened(number, _)) => number,
            _ => panic!("nothing more is kept"),
        }
    }

    #[test]
    fn what_is_kept_is_bounded_by_number_and_by_bytes() {
        let activity = Activity::default();
        assert!(activity.after(0).is_none());
        for _ in 0..1000 {
            activity.tell(call(10));
        }
        assert_eq!(activity.lock().entries.len(), QUIET.entries);
        assert!(matches!(activity.after(0), Some(Heard::Missed(936, 936))));
        assert_eq!(number(activity.after(936)), 937);
        assert_eq!(number(activity.after(999)), 1000);
        assert!(activity.after(1000).is_none());
        assert_eq!(number(activity.after(5000)), 937, "of an earlier process");
        for _ in 0..100 {
            activity.tell(call(100_000));
        }
        let kept = activity.lock();
        assert!(kept.bytes <= QUIET.bytes && kept.entries.len() > 1);
        let counted: usize = kept.entries.iter().map(|entry| entry.bytes).sum();
        assert_eq!(counted, kept.bytes);
        assert!(Part::of(&[0; 1_000_000]).bytes.is_empty());
    }

    #[test]
    fn more_is_kept_once_somebody_has_listened() {
        let (activity, woken) = (Activity::default(), Arc::new(AtomicU64::new(0)));
        let count = Arc::clone(&woken);
        activity.heard_by(|| {
            Box::new(move || {
                count.fetch_add(1, Ordering::SeqCst);
            })
        });
        (0..300).for_each(|_| activity.tell(call(10)));
        assert_eq!(
            (woken.load(Ordering::SeqCst), activity.before_oldest()),
            (300, 0)
        );
        (0..10_000).for_each(|_| activity.tell(call(10)));
        assert_eq!(activity.before_oldest(), 10_300 - 512);
    }
}
