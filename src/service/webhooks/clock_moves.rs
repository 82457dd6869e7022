//! Webhook receivers that hang while the clock of a sandbox moves.
//!
//! Invariant: in one move of the clock, a receiver uses its whole time limit once. Its further attempts are cut. The
//! state is in memory only.

use crate::service::Service;
use crate::service::webhooks::DeliveryQueue;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Moves of the sandbox's clock. Outside the sandbox there is none.
#[derive(Default)]
pub(in crate::service) struct ClockMoves {
    state: Mutex<MoveState>,
}

#[derive(Default)]
struct MoveState {
    is_moving: bool,
    /// Receivers that hung in the current or last move.
    hanging: BTreeSet<DeliveryQueue>,
    /// Number of resets of the sandbox.
    resets: u64,
}

/// A move of the clock in progress. Dropping the value ends the move.
pub struct ClockMove {
    service: Arc<Service>,
}

impl Drop for ClockMove {
    fn drop(&mut self) {
        self.service.clock_moves.lock().is_moving = false;
    }
}

impl ClockMoves {
    fn lock(&self) -> MutexGuard<'_, MoveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a reset of the sandbox, and forgets the receivers that hung.
    pub(in crate::service) fn note_reset(&self) {
        let mut state = self.lock();
        state.hanging.clear();
        state.resets = state.resets.wrapping_add(1);
    }

    /// Returns the origins of the receivers that hung in the current or last move, sorted.
    pub(in crate::service) fn hanging_origins(&self) -> Vec<String> {
        let origins = self.lock().hanging.iter().map(|queue| queue.origin.clone()).collect();
        let origins: BTreeSet<String> = origins;
        origins.into_iter().collect()
    }
}

impl Service {
    /// Begins a move of the sandbox's clock.
    pub fn begin_clock_move(self: &Arc<Self>) -> ClockMove {
        let mut state = self.clock_moves.lock();
        (state.is_moving, state.hanging) = (true, BTreeSet::new());
        drop(state);
        ClockMove { service: Arc::clone(self) }
    }

    /// Returns the number of resets of the sandbox. After a reset, the attempts under way are of deliveries that no longer
    /// exist.
    pub fn sandbox_resets(&self) -> u64 {
        self.clock_moves.lock().resets
    }

    /// Records that an attempt at this receiver timed out. Has an effect only while the clock moves.
    pub fn note_hanging_receiver(&self, queue: &DeliveryQueue) {
        let mut state = self.clock_moves.lock();
        if state.is_moving {
            state.hanging.insert(queue.clone());
        }
    }

    /// Returns `true` if the next attempt at this receiver is to be cut: it hung earlier in the move of the clock that is
    /// in progress.
    pub fn is_receiver_cut(&self, queue: &DeliveryQueue) -> bool {
        let state = self.clock_moves.lock();
        state.is_moving && state.hanging.contains(queue)
    }
}
