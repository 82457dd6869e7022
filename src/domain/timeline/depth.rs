//! Current confirmations of the payments in a timeline.
//!
//! Invariant: only the last entry of a payment has the number of confirmations. Earlier entries describe the past.

use super::{InvoiceHistory, TimelineEntry};
use crate::domain::confirmations::OnChain;
use std::collections::HashMap;

/// Adds the explorer link to every entry of a payment. Adds the current and the needed number of confirmations to the
/// last entry of each payment.
pub(super) fn add_confirmations(entries: &mut [TimelineEntry], history: &InvoiceHistory<'_>) {
    let on_chain = history.payments.iter().zip(history.on_chain);
    let mut untold: HashMap<&str, OnChain> =
        on_chain.map(|(payment, on_chain)| (payment.id.as_str(), on_chain.clone())).collect();
    for entry in entries.iter_mut().rev() {
        let Some(paid) = &mut entry.payment else {
            continue;
        };
        let Some(now) = untold.get_mut(paid.id.as_str()) else {
            continue;
        };
        paid.on_chain = now.clone();
        if let Some(depth) = now.progress_text() {
            entry.text.push_str("; ");
            entry.text.push_str(&depth);
        }
        (now.confirmations, now.confirmations_needed) = (None, None);
    }
}
