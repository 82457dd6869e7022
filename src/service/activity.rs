//! What a sandbox tells of as it happens: calls, events, attempts to deliver.
//!
//! What lives here: what is kept of it, and waiting for more. What does not: how it is told, and what is left out then
//! (`http::sandbox::activity`): most of it is never told, so that keeping it must cost nearly nothing.
//! What always holds: it is in memory only, and bounded, by number and by bytes; a part that nobody reads is forgotten, and
//! whoever asks for it later is told that something is missing. Outside the sandbox there is none of it.

use super::{Error, Service};
use crate::domain::time::Time;
use crate::store::{Changes, events};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What is kept before anybody has listened: enough to see what was done just before.
const QUIET: Bounds = Bounds {
    entries: 64,
    bytes: 512 * 1024,
};
/// What is kept once somebody has.
const HEARD: Bounds = Bounds {
    entries: 512,
    bytes: 4 * 1024 * 1024,
};
/// Of a longer body only its length is kept.
const BODY_BYTES_MAX: usize = 128 * 1024;

/// How much is kept.
#[derive(Clone, Copy)]
struct Bounds {
    entries: usize,
    bytes: usize,
}

/// Wakes whoever listens.
pub type Wake = Box<dyn Fn() + Send + Sync>;

/// What has happened lately.
#[derive(Default)]
pub struct Activity {
    kept: Mutex<Kept>,
    /// What wakes listeners, once there has been one.
    wake: OnceLock<Wake>,
}

#[derive(Default)]
struct Kept {
    entries: VecDeque<Entry>,
    bytes: usize,
    /// The number of the newest, counted from 1.
    newest: u64,
}

#[derive(Clone)]
struct Entry {
    happened: Arc<Happened>,
    bytes: usize,
}

/// One thing that happened.
pub enum Happened {
    /// A call was answered.
    Call(Call),
    /// An event was recorded: its id.
    Event(String),
    /// An attempt to deliver was made.
    Attempt(Attempted),
}

/// A call and its answer.
pub struct Call {
    /// Its request's id.
    pub request_id: String,
    /// When it was answered, by the sandbox's clock.
    pub at: Time,
    /// How it was called.
    pub method: String,
    /// Its path and its query, as they were sent.
    pub target: String,
    /// The operation's name, where there is one.
    pub operation: Option<&'static str>,
    /// The status of its answer.
    pub status: u16,
    /// How long it took, in milliseconds.
    pub ms: i64,
    /// The key that was sent.
    pub key: Option<String>,
    /// What was sent.
    pub sent: Part,
    /// What was answered.
    pub answered: Part,
}

/// An attempt to deliver.
pub struct Attempted {
    /// The delivery's id.
    pub delivery: String,
    /// The event's id.
    pub event: String,
    /// Which attempt of the delivery it was, from 1.
    pub number: u32,
    /// Where to.
    pub url: String,
    /// The headers that were sent, signatures too.
    pub headers: Vec<(&'static str, String)>,
    /// What was sent.
    pub sent: Part,
    /// When it began, by the sandbox's clock.
    pub at: Time,
    /// The status of the answer, where there was one.
    pub status: Option<u16>,
    /// How long it took, in milliseconds.
    pub ms: i64,
    /// Why there was no answer.
    pub error: Option<String>,
    /// The start of the answer.
    pub answer: Option<String>,
}

/// A body.
#[derive(Default)]
pub struct Part {
    /// All of it; nothing of one that is too long to be kept.
    pub bytes: Vec<u8>,
    /// How long it was, in bytes.
    pub length: usize,
}

impl Part {
    /// What is kept of a body.
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
    /// What it weighs, about.
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

/// What a listener hears of.
pub enum Heard {
    /// This happened, which has this number.
    Happened(u64, Arc<Happened>),
    /// So many are not kept any more; the last of them has this number.
    Missed(u64, u64),
}

impl Activity {
    /// Keeps one thing more, and tells whoever listens.
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

    /// Tells of the events that a commit has recorded.
    pub fn committed(&self, changes: &Changes) {
        for event in &changes.events {
            self.tell(Happened::Event(event.clone()));
        }
    }

    /// Somebody listens, who is woken from now on; `wake` is made for the first who does.
    pub fn heard_by(&self, wake: impl FnOnce() -> Wake) {
        self.wake.get_or_init(wake);
    }

    /// What comes after the one with this number, where it has happened already; a number that is not yet anything's
    /// is one of an earlier process: then all that is kept is new.
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

    /// The number before the oldest that is kept.
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
    /// The same, telling of what happens.
    #[must_use]
    pub fn telling(self, activity: Option<Arc<Activity>>) -> Service {
        Service { activity, ..self }
    }

    /// What has happened lately; nothing outside the sandbox.
    pub fn activity(&self) -> Option<&Arc<Activity>> {
        self.activity.as_ref()
    }

    /// The body of an event of anybody's, by its id; nothing where it was not kept.
    ///
    /// # Errors
    /// The file's.
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
