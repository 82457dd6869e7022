//! Compares each payout and refund with its request and approval in the audit log, and computes its amount again. The
//! hashes of [`super::states`] cover its terms.

use super::{AuditFinding, Error};
use crate::domain::{AuditedAction, TransferTerms};
use crate::store::Reader;
use crate::store::audit::noted::{self, AuditedTransfer};

/// Checks rule 8 of the audit: each transfer was requested once, for its account, and was approved if it has terms. Its
/// amount in coin follows from amount, rate and network fee.
pub(super) fn check_transfer_terms(
    db: &Reader<'_>,
    report: &mut dyn FnMut(AuditFinding),
) -> Result<(), Error> {
    Ok(noted::each_audited_transfer(db, |transfer| {
        let about = format!("{} {}", transfer.kind, transfer.id);
        for (is, should) in term_differences(&transfer) {
            let about = about.clone();
            report(AuditFinding { rule: 8, about, is, should });
        }
    })?)
}

/// Returns each wrong value of a transfer, with the right value.
fn term_differences(of: &AuditedTransfer) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if of.requests != 1 {
        let is = format!("requested {} times in the audit log", of.requests);
        found.push((is, "requested once".to_owned()));
    }
    if let Some((action, account)) = &of.request
        && (*action != AuditedAction::request_of(of.kind).as_str() || *account != Some(of.account))
    {
        let is = format!("a {} of account number {}", of.kind, of.account);
        let should = format!("what was noted as {action} of account number {account:?}");
        found.push((is, should));
    }
    let Some(terms) = of.terms else {
        return found;
    };
    if !of.is_approved {
        let is = "approved, and not in the audit log".to_owned();
        found.push((is, "approved by an entry of the audit log".to_owned()));
    }
    let sent = of.asset.format_units(terms.amount_crypto);
    match TransferTerms::new(of.amount, of.asset, terms.rate, terms.network_fee) {
        Ok(right) if right == terms => {}
        Ok(right) => found.push((
            format!("of {sent} {}", of.asset.id),
            format!(
                "of {}, {} {} at {} less the fee",
                of.asset.format_units(right.amount_crypto),
                of.amount,
                of.currency,
                terms.rate
            ),
        )),
        Err(refusal) => found.push((format!("of {sent} {}", of.asset.id), refusal.message)),
    }
    found
}
