//! Settles what a batch of a step has touched, once for each invoice and destination.

use crate::service::settle::{SettleCause, settle_invoice};
use crate::service::transfers::destination::settle_destination;
use crate::service::{Error, Step};
use crate::store::{Touched, invoices};

/// Runs `work`, which may touch the same invoice or destination several times. Then settles each of them once,
/// because settling reads everything about it.
///
/// `work` must save its changes to invoices, otherwise they are lost.
///
/// If settling is refused, everything is rolled back and `work` runs again. Each touch then settles immediately, so
/// only what cannot be booked fails.
pub(super) fn settle_after<T>(
    step: &Step<'_>,
    mut work: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    let Step { tx, .. } = *step;
    let together = tx.attempt(|| {
        let (done, touched) = tx.defer_settling(&mut work)?;
        for one in touched {
            match one {
                Touched::Invoice { invoice, always_notifies } => {
                    let cause = match always_notifies {
                        true => SettleCause::Confirmed,
                        false => SettleCause::Other,
                    };
                    settle_invoice(step, invoices::by_seq(tx, invoice)?, cause)?;
                }
                Touched::Destination(seq) => settle_destination(step, seq)?,
            }
        }
        Ok(done)
    })?;
    match together {
        Err(Error::Refused(_)) => work(),
        settled => settled,
    }
}
