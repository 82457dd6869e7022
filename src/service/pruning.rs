//! Removes rows that are no longer needed.

use super::mail::prune_mail;
use super::{Error, Service, Step};
use crate::domain::Time;
use crate::domain::time::DAY_MS;
use crate::store::{accounts, endpoints, idempotency, pruned_deliveries, sessions};
use std::sync::Arc;

/// Maximum number of attempts and of idempotency responses that one pruning step removes, in a few milliseconds.
const PRUNE_BATCH_MAX: u32 = 250;

impl Service {
    /// Removes old idempotency responses, old attempts with the deliveries that they delivered, ended sessions and
    /// expired old secrets. Returns `true` if there may be more such rows.
    pub async fn prune_old_rows(
        self: &Arc<Self>,
        now: Time,
        keep_attempts_ms: i64,
    ) -> Result<bool, Error> {
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            let answers = idempotency::prune(tx, now.plus_ms(-DAY_MS), PRUNE_BATCH_MAX)?;
            let before = now.plus_ms(keep_attempts_ms.saturating_neg());
            let has_more_attempts = pruned_deliveries::prune(tx, before, PRUNE_BATCH_MAX)?;
            sessions::prune(tx, now)?;
            accounts::delete_old_secrets(tx, now)?;
            endpoints::delete_old_secrets(tx, now)?;
            let full = usize::try_from(PRUNE_BATCH_MAX).unwrap_or(usize::MAX);
            let has_more_mail = prune_mail(step, keep_attempts_ms)?;
            Ok(answers >= full || has_more_attempts || has_more_mail)
        })
        .await
    }
}
