//! Compares the newest event of each object with the stored object, in the fields that cannot change after the event.

use super::destinations::for_each_transfer;
use super::{AuditFinding, Error, PAGE};
use crate::domain::confirmations::OnChain;
use crate::domain::{Invoice, Payment, Quote, ReviewKind, Units};
use crate::render;
use crate::store::{Reader, audit_log, deposits, events, transfer_reviews};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Largest number of possible sums of payments to compute. If an invoice has more, its received amount is not
/// checked.
const SUMS_MAX: usize = 4096;
/// Fields of a deposit that do not change after confirmation.
const DEPOSIT_FIELDS: [&str; 11] = [
    "id",
    "customer",
    "livemode",
    "asset",
    "address",
    "amountCrypto",
    "rate",
    "currency",
    "grossEur",
    "feeEur",
    "createdAt",
];

type EventObject = Map<String, Value>;

/// Checks rule 4 of the audit: all fields in the newest event of a payout or refund equal the stored values.
pub(super) fn check_transfers(
    db: &Reader<'_>,
    report: &mut dyn FnMut(AuditFinding),
) -> Result<(), Error> {
    for_each_transfer(db, |transfer| {
        if let Some(told) = newest_event_object(db, transfer.account, &transfer.id)? {
            let stored = parse_object(render::transfer(transfer)?.get());
            let about = format!("{} {}", transfer.kind, transfer.id);
            // If the attached transaction disappeared after the event, another one may be attached now, so `txid` may
            // differ.
            let reviews = transfer_reviews::of_transfer(db, transfer.seq)?;
            let was_gone = reviews.iter().any(|review| review.kind == ReviewKind::Gone);
            let is_fixed = |field: &str| !(was_gone && field == "txid");
            report_differences(&about, &told, &stored, is_fixed, report);
        }
        Ok(())
    })
}

/// Checks rule 4 of the audit: the newest event of a deposit has the stored values.
pub(super) fn check_deposits(
    db: &Reader<'_>,
    report: &mut dyn FnMut(AuditFinding),
) -> Result<(), Error> {
    let mut after = 0;
    loop {
        let page = deposits::list_after(db, after, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.seq;
        for deposit in &page {
            if let Some(told) = newest_event_object(db, deposit.account, &deposit.id)? {
                let rendered =
                    render::customer::deposit(deposit, deposit.gross, &OnChain::default())?;
                let about = format!("deposit {}", deposit.id);
                let is_fixed = |field: &str| DEPOSIT_FIELDS.contains(&field);
                report_differences(&about, &told, &parse_object(rendered.get()), is_fixed, report);
            }
        }
    }
}

/// Checks rule 4 of the audit: the newest event of an invoice has the stored values of the constant fields.
///
/// The event also has one of the invoice's quotes, and the sum of some of the invoice's payments.
pub(super) fn check_invoice(
    db: &Reader<'_>,
    invoice: &Invoice,
    payments: &[Payment],
    quotes: &[Quote],
    report: &mut dyn FnMut(AuditFinding),
) -> Result<(), Error> {
    let Some(told) = newest_event_object(db, invoice.account, &invoice.id)? else {
        return Ok(());
    };
    let about = format!("invoice {}", invoice.id);
    let stored = [
        ("id", Value::from(invoice.id.as_str())),
        ("orderId", Value::from(invoice.order_id.as_deref())),
        ("amount", Value::from(invoice.amount.to_string())),
        ("currency", Value::from(invoice.currency.as_str())),
    ];
    let stored = stored.map(|(field, value)| (field.to_owned(), value));
    let stored = stored.into_iter().collect();
    report_differences(&about, &told, &stored, |_| true, report);
    if told.get("asset").is_none_or(Value::is_null) {
        return Ok(());
    }
    let text = |field: &str| told.get(field).and_then(Value::as_str).unwrap_or_default();
    let mut quoted = quotes.iter().filter(|quote| quote.asset.id == text("asset"));
    let quote = quoted.find(|quote| {
        quote.quoted.rate.to_string() == text("rate")
            && quote.address == text("depositAddress")
            && quote.asset.format_units(quote.amount_expected) == text("amountExpected")
    });
    let problem = match quote {
        None => Some("a coin, rate, address and amount of one of its quotes"),
        Some(quote) => {
            let received = told.get("amountReceived").and_then(Value::as_str);
            let may_be = received.is_none_or(|received| is_possible_sum(payments, quote, received));
            (!may_be).then_some("the sum of payments that came to it")
        }
    };
    // After a person undoes an assignment, the event may contain a payment and a quote that are no longer stored.
    if let Some(should) = problem
        && !audit_log::was_assignment_undone(db, invoice.seq)?
    {
        report(AuditFinding {
            rule: 4,
            about,
            is: format!(
                "told as {} of {} {} at {} to {}",
                told.get("amountReceived").unwrap_or(&Value::Null),
                text("amountExpected"),
                text("asset"),
                text("rate"),
                text("depositAddress")
            ),
            should: format!("told with {should}"),
        });
    }
    Ok(())
}

/// Returns `true` if the received amount is a sum of some of the payments in the quote's coin.
fn is_possible_sum(payments: &[Payment], quote: &Quote, received: &str) -> bool {
    let Ok(received) = Units::parse(received, quote.asset.decimals) else {
        return false;
    };
    let mut sums = BTreeSet::from([0]);
    for payment in payments.iter().filter(|payment| payment.asset == quote.asset) {
        let more: Vec<u128> =
            sums.iter().filter_map(|sum| payment.amount.0.checked_add(*sum)).collect();
        sums.extend(more);
        if sums.len() > SUMS_MAX {
            return true;
        }
    }
    sums.contains(&received.0)
}

fn newest_event_object(
    db: &Reader<'_>,
    account: i64,
    id: &str,
) -> Result<Option<EventObject>, Error> {
    let Some(body) = events::newest_body(db, account, id)? else {
        return Ok(None);
    };
    // Another check reports a body that is not JSON.
    let body: Value = serde_json::from_str(&body).unwrap_or_default();
    Ok(body.pointer("/data/object").and_then(Value::as_object).cloned())
}

fn parse_object(rendered: &str) -> EventObject {
    serde_json::from_str(rendered).unwrap_or_default()
}

/// Reports each field whose stored value differs from the event. A field that was added later is not in the event.
fn report_differences(
    about: &str,
    told: &EventObject,
    stored: &EventObject,
    is_fixed: impl Fn(&str) -> bool,
    report: &mut dyn FnMut(AuditFinding),
) {
    for (field, stored) in stored.iter().filter(|(field, _)| is_fixed(field)) {
        if let Some(told) = told.get(field)
            && told != stored
        {
            report(AuditFinding {
                rule: 4,
                about: about.to_owned(),
                is: format!("told with {field} {told}"),
                should: format!("told with {stored}, as it is stored"),
            });
        }
    }
}
