//! Compares each payout and refund with its request, approval and payment in the audit log, and computes its amount
//! again.

use super::{AuditFinding, Error};
use crate::domain::transfer::SettledBy;
use crate::domain::transfer::terms::TransferTerms;
use crate::store::Reader;
use crate::store::audit::noted::{self, AuditedTransfer};
use serde_json::Value;

/// Checks rule 8 of the audit: each transfer has the terms that were requested and approved. Its amount in coin
/// follows from amount, rate and network fee.
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
    if let Some((action, account, detail)) = &of.request {
        if *action != format!("{}.request", of.kind) || *account != Some(of.account) {
            let is = format!("a {} of account number {}", of.kind, of.account);
            let should = format!("what was noted as {action} of account number {account:?}");
            found.push((is, should));
        }
        let held = [
            ("amount", of.amount.to_string()),
            ("currency", of.currency.to_string()),
            ("asset", of.asset.id.to_owned()),
            ("toAddress", of.to_address.clone()),
        ];
        compare_fields(detail, &held, "request", &mut found);
    }
    if let Some(detail) = &of.payment {
        let settled_by = of.settled_by.map_or("nothing", SettledBy::as_str);
        let held = [("settledBy", settled_by.to_owned())];
        compare_fields(detail, &held, "payment", &mut found);
    }
    let Some(terms) = of.terms else {
        return found;
    };
    match &of.approval {
        None => found.push((
            "approved, and not in the audit log".to_owned(),
            "approved by an entry of the audit log".to_owned(),
        )),
        Some(detail) => {
            let held = [
                ("rate", terms.rate.to_string()),
                ("networkFee", of.asset.format_units(terms.network_fee)),
            ];
            compare_fields(detail, &held, "approval", &mut found);
        }
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

/// Compares the fields of a transfer with a row of the audit log.
fn compare_fields(
    detail: &str,
    held: &[(&str, String)],
    row: &str,
    found: &mut Vec<(String, String)>,
) {
    let noted: Value = serde_json::from_str(detail).unwrap_or_default();
    for (field, is) in held {
        let noted = noted.get(field).and_then(Value::as_str);
        if noted != Some(is) {
            let should = noted.unwrap_or("nothing");
            let should = format!("{should}, by its {row} in the audit log");
            found.push((format!("with {field} {is}"), should));
        }
    }
}
