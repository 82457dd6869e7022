//! Renders the bodies of events in the legacy format.

use super::event::{LegacyEventView, LegacyInvoiceView};
use crate::domain::fields::view::OmittedIfNone;
use crate::domain::{EventType, InvoiceStatus};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Fields of a stored event from which the legacy body is rendered.
#[derive(Deserialize)]
struct StoredEvent {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    livemode: bool,
    created: String,
    data: StoredEventData,
}

#[derive(Deserialize)]
struct StoredEventData {
    object: Map<String, Value>,
}

/// Renders the legacy body of a stored event; `None` if the event type has no legacy body.
///
/// `invoice` is the JSON of the refunded invoice, for an event whose object is a refund.
///
/// `invoice.overpaid` becomes `invoice.confirmed`, with `overpaid: true` and `status: confirmed` in its invoice.
///
/// # Errors
///
/// The error of serde_json if a stored text is not an event or not an object.
pub fn render_legacy_body(
    stored: &str,
    invoice: Option<&str>,
) -> serde_json::Result<Option<String>> {
    let event: StoredEvent = serde_json::from_str(stored)?;
    let Some(name) = event.kind.parse().ok().and_then(EventType::legacy_type) else {
        return Ok(None);
    };
    let object = event.data.object;
    let (invoice, object) = if object.get("object").and_then(Value::as_str) == Some("invoice") {
        (Some(object), None)
    } else {
        (invoice.map(serde_json::from_str).transpose()?, Some(object))
    };
    let body = LegacyEventView {
        id: &event.id,
        event: name,
        livemode: event.livemode,
        created_at: &event.created,
        invoice: invoice.map(legacy_invoice),
        object: OmittedIfNone(object),
    };
    serde_json::to_string(&body).map(Some)
}

fn legacy_invoice(mut invoice: Map<String, Value>) -> LegacyInvoiceView {
    let status = invoice.get("status").and_then(Value::as_str);
    let is = |of: InvoiceStatus| status == Some(of.as_str());
    let (overpaid, underpaid) = (is(InvoiceStatus::Overpaid), is(InvoiceStatus::Underpaid));
    if overpaid {
        let confirmed = Value::from(InvoiceStatus::Confirmed.as_str());
        invoice.insert("status".to_owned(), confirmed);
    }
    let copy = |name: &str| invoice.get(name).cloned().unwrap_or_default();
    LegacyInvoiceView {
        price_amount: copy("amount"),
        price_currency: copy("currency"),
        overpaid,
        underpaid,
        invoice,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests {
    use super::{EventType, render_legacy_body};
    use serde_json::{Value, json};

    fn event(kind: EventType, object: &str) -> String {
        format!(
            r#"{{"id":"evt_1","object":"event","type":"{kind}","livemode":false,"created":"1970-01-01T00:00:00.000Z","data":{{"object":{object}}}}}"#
        )
    }

    #[test]
    fn legacy_body_reports_overpaid_as_confirmed() {
        let text = event(
            EventType::InvoiceOverpaid,
            r#"{"object":"invoice","status":"overpaid","amount":"1.00","currency":"EUR"}"#,
        );
        let legacy: Value =
            serde_json::from_str(&render_legacy_body(&text, None).unwrap().unwrap()).unwrap();
        assert_eq!(legacy["event"], "invoice.confirmed");
        assert_eq!(legacy["invoice"]["status"], "confirmed");
        assert_eq!(legacy["invoice"]["overpaid"], true);
        assert_eq!(legacy["invoice"]["underpaid"], false);
        assert_eq!(legacy["invoice"]["priceAmount"], "1.00");
        assert_eq!(legacy["invoice"]["priceCurrency"], "EUR");
    }

    #[test]
    fn legacy_body_has_the_invoice_of_a_refund_but_none_of_a_payout() {
        let refund = event(EventType::RefundPaid, r#"{"object":"refund","id":"r"}"#);
        let invoice =
            r#"{"object":"invoice","status":"overpaid","amount":"1.00","currency":"EUR"}"#;
        let legacy = render_legacy_body(&refund, Some(invoice)).unwrap().unwrap();
        let legacy: Value = serde_json::from_str(&legacy).unwrap();
        assert_eq!(legacy["event"], "refund.paid");
        assert_eq!(legacy["invoice"]["priceAmount"], "1.00");
        assert_eq!(legacy["invoice"]["overpaid"], true);
        assert_eq!(legacy["object"]["id"], "r");
        let payout = event(EventType::PayoutFailed, r#"{"id":"p"}"#);
        let legacy = render_legacy_body(&payout, None).unwrap().unwrap();
        let legacy: Value = serde_json::from_str(&legacy).unwrap();
        assert_eq!((&legacy["invoice"], &legacy["object"]["id"]), (&Value::Null, &json!("p")));
    }

    #[test]
    fn account_events_have_no_legacy_body() {
        assert_eq!(
            render_legacy_body(&event(EventType::AccountApproved, r#"{"object":"account"}"#), None)
                .unwrap(),
            None
        );
    }
}
