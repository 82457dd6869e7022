//! How the payments of a timeline stand on their chains now.
//!
//! What always holds: how deep a payment is stands beside its last step, as all earlier ones tell of what was.

use super::{Entry, History};
use crate::domain::confirmations::OnChain;
use std::collections::HashMap;

/// Tells of each step of a payment where it is looked up, and of the last one how deep the payment is, and has to be.
pub(super) fn tell(entries: &mut [Entry], history: &History<'_>) {
    let on_chain = history.payments.iter().zip(history.on_chain);
    let mut untold: HashMap<&str, OnChain> = on_chain
        .map(|(payment, on_chain)| (payment.id.as_str(), on_chain.clone()))
        .collect();
    for entry in entries.iter_mut().rev() {
        let Some(paid) = &mut entry.payment else {
            continue;
        };
        let Some(now) = untold.get_mut(paid.id.as_str()) else {
            continue;
        };
        paid.on_chain = now.clone();
        if let Some(depth) = now.text() {
            entry.text.push_str("; ");
            entry.text.push_str(&depth);
        }
        (now.confirmations, now.confirmations_needed) = (None, None);
    }
}
