//! Answers of the signers that wait in a random history.

use super::{History, HistoryChain, HistoryTransfer};
use crate::transfers::signer::signer_start_count;
use rustix::fs::{Mode, OFlags, open};
use serde_json::{Value, json};
use std::io::Write;

impl<C: HistoryChain> History<'_, C> {
    /// Returns `true` if a signer for the transfer was started and has no answer yet.
    pub(super) fn has_signer(&self, of: &HistoryTransfer) -> bool {
        !of.is_answered && signer_start_count(&self.chain.shop().0.served, &of.id) > 0
    }

    /// Writes the answer of a signer, unless the signer has ended.
    #[track_caller]
    pub(super) fn answer_signer(&mut self, at: usize, answer: &Value) {
        let orders = self.chain.shop().0.served.path("orders");
        let path = orders.join(&self.transfers[at].id);
        self.transfers[at].is_answered = true;
        self.note(format!("signer of {}: {answer}", self.transfers[at].id));
        if let Ok(pipe) = open(path, OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty()) {
            // The write fails if the signer has ended since.
            let _ = std::fs::File::from(pipe).write_all(answer.to_string().as_bytes());
        }
    }

    /// Ends every signer that still waits.
    #[track_caller]
    pub(super) fn answer_all_signers(&mut self) {
        for at in 0..self.transfers.len() {
            if self.has_signer(&self.transfers[at]) {
                self.answer_signer(at, &json!({ "sent": false, "reason": "low funds" }));
            }
        }
    }
}
