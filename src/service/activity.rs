//! Recent activity of a sandbox: API calls, events, delivery attempts, and e-mail.
//!
//! Invariant: activity is in memory only, limited by count and bytes. A listener that asks for removed entries gets
//! the number of missed entries.
//!
//! Most entries are never rendered, so recording one must be cheap. `http::sandbox::activity` hides the secrets in
//! them when it renders them.

use super::{Error, Service};
use crate::render::activity::{AttemptView, BodyView, CallView, MailView, RunCause};
use crate::store::{Changes, events};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Limits before the first listener registers.
const LIMITS_WITHOUT_LISTENER: ActivityLimits = ActivityLimits { entries: 64, bytes: 512 * 1024 };
/// Limits after the first listener has registered.
const LIMITS_WITH_LISTENER: ActivityLimits =
    ActivityLimits { entries: 512, bytes: 4 * 1024 * 1024 };

/// Maximum size of a stored body, in bytes.
const BODY_BYTES_MAX: usize = 128 * 1024;

/// Maximum count of the stored entries, and maximum of their total size in bytes.
#[derive(Clone, Copy)]
struct ActivityLimits {
    entries: usize,
    bytes: usize,
}

/// Callback that wakes all listeners.
pub type WakeCallback = Box<dyn Fn() + Send + Sync>;

/// Recent activity of a sandbox, limited by count and bytes.
#[derive(Default)]
pub struct Activity {
    kept: Mutex<StoredEntries>,
    /// Callback that wakes listeners. Set by the first listener.
    wake: OnceLock<WakeCallback>,
}

#[derive(Default)]
struct StoredEntries {
    entries: VecDeque<SizedEntry>,
    bytes: usize,
    /// Number of the newest entry, counted from 1. It continues in the next run.
    newest: u64,
    run: Run,
}

/// A run of the sandbox: the time from a start, reset or restore to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of the run in this process, from 0.
    pub number: u64,
    /// Beginning of the run.
    pub cause: RunCause,
}

impl Default for Run {
    fn default() -> Run {
        Run { number: 0, cause: RunCause::Start }
    }
}

#[derive(Clone)]
struct SizedEntry {
    happened: Arc<ActivityEntry>,
    bytes: usize,
}

/// One entry of the activity, which may contain secrets.
pub enum ActivityEntry {
    /// An answered API call.
    Call(CallView),
    /// Id of a recorded event.
    Event(String),
    /// A delivery attempt.
    Attempt(AttemptView),
    /// A message by e-mail, which a sandbox sends nowhere.
    Mail(MailView),
}

impl ActivityEntry {
    /// Returns the approximate size of the entry in memory, in bytes.
    fn size_bytes(&self) -> usize {
        let texts = match self {
            ActivityEntry::Call(call) => {
                [call.target.len(), call.sent.text.len(), call.answered.text.len()]
            }
            ActivityEntry::Event(id) => [id.len(), 0, 0],
            ActivityEntry::Attempt(attempted) => {
                let answer = attempted.answer.as_ref().map_or(0, String::len);
                [attempted.url.len(), attempted.sent.text.len(), answer]
            }
            ActivityEntry::Mail(mail) => [mail.to.len(), mail.subject.len(), mail.text.len()],
        };
        let texts = texts.into_iter().fold(0, usize::saturating_add);
        texts.saturating_add(size_of::<ActivityEntry>())
    }
}

/// Returns a body for the activity: the text, or only the length if the body is too long to store.
pub fn body_view(bytes: &[u8]) -> BodyView {
    match bytes.len() {
        ..=BODY_BYTES_MAX => {
            BodyView { text: String::from_utf8_lossy(bytes).into_owned(), cut: false }
        }
        length => unstored_body_view(length),
    }
}

/// Returns a body of which only the length is stored.
pub fn unstored_body_view(length: usize) -> BodyView {
    BodyView { text: format!("(a body of {length} bytes)"), cut: false }
}

/// The next item for a listener.
pub enum ListenerItem {
    /// A run that the listener does not know, and the number before its oldest stored entry.
    Run(Run, u64),
    /// An entry and its number.
    Happened(u64, Arc<ActivityEntry>),
    /// Number of the last removed entry, and count of entries that the listener missed.
    Missed(u64, u64),
}

impl Activity {
    /// Adds an entry and wakes the listeners.
    pub fn add(&self, happened: ActivityEntry) {
        let wake = self.wake.get();
        let bounds = if wake.is_some() { LIMITS_WITH_LISTENER } else { LIMITS_WITHOUT_LISTENER };
        let bytes = happened.size_bytes();
        let mut kept = self.lock();
        kept.newest = kept.newest.saturating_add(1);
        kept.bytes = kept.bytes.saturating_add(bytes);
        let happened = Arc::new(happened);
        kept.entries.push_back(SizedEntry { happened, bytes });
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
    pub fn add_events(&self, changes: &Changes) {
        for event in &changes.events {
            self.add(ActivityEntry::Event(event.clone()));
        }
    }

    /// Begins another run: removes all entries, and tells the listeners.
    pub fn begin_run(&self, cause: RunCause) {
        let mut kept = self.lock();
        kept.entries.clear();
        kept.bytes = 0;
        kept.run = Run { number: kept.run.number.saturating_add(1), cause };
        drop(kept);
        if let Some(wake) = self.wake.get() {
            wake();
        }
    }

    /// Registers a listener. Each entry that is added later wakes all listeners. The first call stores the callback
    /// that `wake` returns. Later calls do not call `wake`.
    pub fn register_listener(&self, wake: impl FnOnce() -> WakeCallback) {
        self.wake.get_or_init(wake);
    }

    /// Returns the item after entry number `last`. `None` if there is no later entry. If `run` is not the number of the
    /// present run, the item is this run.
    ///
    /// A `last` above the newest number comes from an earlier process. The listener then starts at the oldest stored
    /// entry.
    pub fn item_after(&self, last: u64, run: Option<u64>) -> Option<ListenerItem> {
        let kept = self.lock();
        let before_oldest = kept.before_oldest();
        if run != Some(kept.run.number) {
            return Some(ListenerItem::Run(kept.run, before_oldest));
        }
        let last = if last > kept.newest { before_oldest } else { last };
        if last < before_oldest {
            let missed = before_oldest.saturating_sub(last);
            return Some(ListenerItem::Missed(before_oldest, missed));
        }
        let at = usize::try_from(last.saturating_sub(before_oldest)).ok()?;
        let entry = kept.entries.get(at)?;
        Some(ListenerItem::Happened(last.saturating_add(1), Arc::clone(&entry.happened)))
    }

    /// Returns the number of the oldest stored entry, minus one.
    pub fn number_before_oldest(&self) -> u64 {
        self.lock().before_oldest()
    }

    fn lock(&self) -> MutexGuard<'_, StoredEntries> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoredEntries {
    /// Returns the number of the oldest stored entry, minus one.
    fn before_oldest(&self) -> u64 {
        let count = u64::try_from(self.entries.len()).unwrap_or(u64::MAX);
        self.newest.saturating_sub(count)
    }
}

impl Service {
    /// Returns a service that adds its recent activity to `activity`.
    #[must_use]
    pub fn with_activity(self, activity: Option<Arc<Activity>>) -> Service {
        Service { activity, ..self }
    }

    /// Returns the recent activity. `None` outside the sandbox.
    pub fn activity(&self) -> Option<&Arc<Activity>> {
        self.activity.as_ref()
    }

    /// Returns the body of an event of any account by its id. `None` if there is no such event.
    pub fn event_of_any_account(&self, id: &str) -> Result<Option<String>, Error> {
        self.read(|db| Ok(events::body_of_any_account(db, id)?))
    }
}

#[cfg(test)]
#[expect(clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::{
        Activity, ActivityEntry, CallView, LIMITS_WITHOUT_LISTENER, ListenerItem, Run, RunCause,
        body_view,
    };
    use crate::domain::Time;
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    const FIRST_RUN: Option<u64> = Some(0);

    fn call_with_body_size(bytes: usize) -> ActivityEntry {
        ActivityEntry::Call(CallView {
            kind: "call",
            request_id: String::new(),
            at: Time(0),
            method: "GET".to_owned(),
            target: "/".to_owned(),
            operation: None,
            status: 200,
            ms: 0,
            key: None,
            headers: BTreeMap::new(),
            sent: body_view(b""),
            answered: body_view(&vec![b'x'; bytes]),
        })
    }

    #[track_caller]
    fn number_of_entry(heard: Option<ListenerItem>) -> u64 {
        match heard {
            Some(ListenerItem::Happened(number, _)) => number,
            _ => panic!("nothing more is kept"),
        }
    }

    #[test]
    fn stored_entries_are_limited_by_count_and_bytes() {
        let activity = Activity::default();
        assert!(activity.item_after(0, FIRST_RUN).is_none());
        for _ in 0..1000 {
            activity.add(call_with_body_size(10));
        }
        assert_eq!(activity.lock().entries.len(), LIMITS_WITHOUT_LISTENER.entries);
        assert!(matches!(activity.item_after(0, FIRST_RUN), Some(ListenerItem::Missed(936, 936))));
        assert_eq!(number_of_entry(activity.item_after(936, FIRST_RUN)), 937);
        assert_eq!(number_of_entry(activity.item_after(999, FIRST_RUN)), 1000);
        assert!(activity.item_after(1000, FIRST_RUN).is_none());
        assert_eq!(
            number_of_entry(activity.item_after(5000, FIRST_RUN)),
            937,
            "of an earlier process"
        );
        for _ in 0..100 {
            activity.add(call_with_body_size(100_000));
        }
        let kept = activity.lock();
        assert!(kept.bytes <= LIMITS_WITHOUT_LISTENER.bytes && kept.entries.len() > 1);
        let counted: usize = kept.entries.iter().map(|entry| entry.bytes).sum();
        assert_eq!(counted, kept.bytes);
        assert_eq!(body_view(&[0; 1_000_000]).text, "(a body of 1000000 bytes)");
    }

    #[test]
    fn first_listener_raises_the_limit_of_entries() {
        let (activity, woken) = (Activity::default(), Arc::new(AtomicU64::new(0)));
        let count = Arc::clone(&woken);
        activity.register_listener(|| {
            Box::new(move || {
                count.fetch_add(1, Ordering::SeqCst);
            })
        });
        (0..300).for_each(|_| activity.add(call_with_body_size(10)));
        assert_eq!((woken.load(Ordering::SeqCst), activity.number_before_oldest()), (300, 0));
        (0..10_000).for_each(|_| activity.add(call_with_body_size(10)));
        assert_eq!(activity.number_before_oldest(), 10_300 - 512);
    }

    #[test]
    fn new_run_is_told_before_its_entries() {
        let activity = Activity::default();
        activity.add(call_with_body_size(10));
        let started = Run { number: 0, cause: RunCause::Start };
        assert!(
            matches!(activity.item_after(0, None), Some(ListenerItem::Run(run, 0)) if run == started)
        );
        activity.begin_run(RunCause::Reset);
        activity.add(call_with_body_size(10));
        let reset = Run { number: 1, cause: RunCause::Reset };
        assert!(
            matches!(activity.item_after(1, FIRST_RUN), Some(ListenerItem::Run(run, 1)) if run == reset)
        );
        assert_eq!(number_of_entry(activity.item_after(1, Some(1))), 2);
        assert!(activity.item_after(2, Some(1)).is_none());
    }
}
