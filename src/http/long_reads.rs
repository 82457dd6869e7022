//! Long reads: searches, exports and summaries. Each long read runs on its own thread, and the number of long reads
//! of each caller is bounded.
//!
//! Invariant: no runtime thread performs a long read, and the reads of one caller do not block the reads of other
//! callers.

use super::permits::{Permit, PermitPool};
use crate::service::{Error, QuotaOwner};
use std::sync::Arc;
use tokio::sync::{AcquireError, Semaphore};

/// Maximum number of long reads of all callers together that run at once.
const RUNNING_MAX: usize = 4;
/// Maximum number of long reads of one caller that run at once.
const CALLER_RUNNING_MAX: usize = 2;
/// Maximum number of long reads of one caller that run or wait. Further long reads are refused.
const CALLER_READS_MAX: usize = 10;
/// Maximum number of exports of one caller in transmission.
const CALLER_EXPORTS_MAX: usize = 10;
/// Maximum number of pieces of one caller's exports that are read at once.
const CALLER_PIECES_MAX: usize = 1;

pub(super) struct LongReads {
    running: Arc<Semaphore>,
    reads: PermitPool<QuotaOwner>,
    exports: PermitPool<QuotaOwner>,
}

/// Permit for one long read, or for all pieces of one export.
pub(super) struct ReadPermit {
    running: Arc<Semaphore>,
    permit: Arc<Permit<QuotaOwner>>,
}

impl Default for LongReads {
    fn default() -> LongReads {
        LongReads {
            running: Arc::new(Semaphore::new(RUNNING_MAX)),
            reads: PermitPool::with_turns(CALLER_READS_MAX, CALLER_RUNNING_MAX),
            exports: PermitPool::with_turns(CALLER_EXPORTS_MAX, CALLER_PIECES_MAX),
        }
    }
}

impl LongReads {
    /// Runs a long read on its own thread when it is the caller's turn. The read is not started if the caller
    /// disconnects before this turn.
    ///
    /// # Errors
    /// The errors of `work`; `overloaded` if the caller has too many long reads.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        quota_owner: QuotaOwner,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.take_permit(&self.reads, quota_owner)?.read(work).await
    }

    /// Takes a permit for an export of this caller, to hold during the whole export.
    ///
    /// # Errors
    /// `overloaded` if the caller has too many exports.
    pub(super) fn take_export_permit(&self, quota_owner: QuotaOwner) -> Result<ReadPermit, Error> {
        self.take_permit(&self.exports, quota_owner)
    }

    fn take_permit(
        &self,
        pool: &PermitPool<QuotaOwner>,
        quota_owner: QuotaOwner,
    ) -> Result<ReadPermit, Error> {
        let permit = Arc::new(pool.take_or_refuse(quota_owner)?);
        Ok(ReadPermit { running: Arc::clone(&self.running), permit })
    }
}

impl ReadPermit {
    /// Runs `work` on a thread when it is the caller's turn and a thread is free. The permit, the turn and the thread
    /// stay in use until `work` is done, even after a disconnect.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let closed = |error: AcquireError| Error::Failed(error.to_string());
        let turn = Arc::clone(&self.permit.turns).acquire_owned().await.map_err(closed)?;
        let thread = Arc::clone(&self.running).acquire_owned().await.map_err(closed)?;
        let permit = Arc::clone(&self.permit);
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop((turn, thread, permit));
            done
        });
        done.await.map_err(|error| Error::Failed(error.to_string()))?
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{CALLER_READS_MAX, CALLER_RUNNING_MAX, Error, LongReads, QuotaOwner, RUNNING_MAX};
    use crate::domain::RefusalCode;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Condvar, Mutex};
    use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
    use tokio::task::JoinHandle;

    /// Long reads that wait at a gate until the test opens the gate.
    struct GatedReads {
        reads: Arc<LongReads>,
        gate: Arc<(Mutex<bool>, Condvar)>,
        inside: Arc<AtomicUsize>,
        most: Arc<AtomicUsize>,
        begin: UnboundedSender<()>,
        begun: UnboundedReceiver<()>,
    }

    impl GatedReads {
        fn new() -> GatedReads {
            let (begin, begun) = unbounded_channel();
            GatedReads {
                reads: Arc::default(),
                gate: Arc::default(),
                inside: Arc::default(),
                most: Arc::default(),
                begin,
                begun,
            }
        }

        fn start(&self, account: i64) -> JoinHandle<Result<(), Error>> {
            let (reads, gate) = (Arc::clone(&self.reads), Arc::clone(&self.gate));
            let (inside, most) = (Arc::clone(&self.inside), Arc::clone(&self.most));
            let begin = self.begin.clone();
            let work = move || {
                let now = inside.fetch_add(1, Ordering::SeqCst).saturating_add(1);
                most.fetch_max(now, Ordering::SeqCst);
                begin.send(()).unwrap();
                let open = gate.1.wait_while(gate.0.lock().unwrap(), |open| !*open);
                drop(open.unwrap());
                inside.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            };
            tokio::spawn(async move { reads.read(QuotaOwner::Keys { account }, work).await })
        }

        fn open_gate(&self) {
            *self.gate.0.lock().unwrap() = true;
            self.gate.1.notify_all();
        }
    }

    fn is_refused(outcome: &Result<(), Error>) -> bool {
        matches!(outcome, Err(Error::Refused(refusal)) if refusal.code == RefusalCode::Overloaded)
    }

    #[tokio::test]
    async fn reads_of_one_caller_do_not_block_other_callers() {
        let mut scene = GatedReads::new();
        let own: Vec<_> = (0..CALLER_READS_MAX).map(|_| scene.start(1)).collect();
        let more = scene.start(1);
        for _ in 0..CALLER_RUNNING_MAX {
            scene.begun.recv().await.unwrap();
        }
        assert!(is_refused(&more.await.unwrap()));
        assert!(scene.begun.try_recv().is_err(), "the others wait");
        let other = scene.start(2);
        scene.begun.recv().await.unwrap();
        assert_eq!(scene.inside.load(Ordering::SeqCst), CALLER_RUNNING_MAX + 1);
        scene.open_gate();
        for read in own.into_iter().chain([other]) {
            read.await.unwrap().unwrap();
        }
        assert!(scene.most.load(Ordering::SeqCst) <= RUNNING_MAX);
        assert_eq!(scene.reads.reads.caller_count(), 0, "nothing is kept of who asked");
        scene.start(1).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn number_of_running_reads_is_bounded() {
        let mut scene = GatedReads::new();
        let all: Vec<_> = [1, 2, 3, 4, 5, 6]
            .into_iter()
            .flat_map(|quota_owner| [scene.start(quota_owner), scene.start(quota_owner)])
            .collect();
        for _ in 0..RUNNING_MAX {
            scene.begun.recv().await.unwrap();
        }
        assert!(scene.begun.try_recv().is_err());
        scene.open_gate();
        for read in all {
            read.await.unwrap().unwrap();
        }
        assert_eq!(scene.most.load(Ordering::SeqCst), RUNNING_MAX);
    }

    #[tokio::test]
    async fn read_of_disconnected_caller_is_not_started() {
        let mut scene = GatedReads::new();
        for _ in 0..3 {
            let own: Vec<_> = (0..CALLER_READS_MAX).map(|_| scene.start(1)).collect();
            tokio::task::yield_now().await;
            for read in &own {
                read.abort();
            }
            for read in own {
                let _ = read.await;
            }
        }
        // The first `CALLER_RUNNING_MAX` reads started before the disconnect, so they continue and hold their permits.
        for _ in 0..CALLER_RUNNING_MAX {
            scene.begun.recv().await.unwrap();
        }
        assert!(scene.begun.try_recv().is_err());
        scene.open_gate();
        scene.start(1).await.unwrap().unwrap();
    }
}
