//! Records events, and reads them.
//!
//! Invariant: a change, its event and the event's deliveries are written in one transaction.

use super::page::{Page, find_page_start};
use super::{Error, Scope, Service, Step};
use crate::domain::{
    EventType, Invoice, InvoiceStatus, Mode, Refusal, ResourceKind, SiteUrl, Time, id,
};
use crate::store::deliveries::DeliveryReceiver;
use crate::store::{PageBounds, Tx, deliveries, endpoints, events};
use serde_json::value::RawValue;

/// Object that an event is about, with the account and mode of the event.
pub(super) struct EventSubject<'a> {
    pub(super) account: i64,
    pub(super) mode: Mode,
    /// Id of the object.
    pub(super) id: &'a str,
    /// The object as JSON, as the GET route of the object returns it.
    pub(super) object: &'a RawValue,
    /// URL of an additional receiver: the `webhookUrl` of the invoice.
    pub(super) own_url: Option<&'a str>,
    /// Status of the invoice or deposit before, if the event tells of a change of its status.
    pub(super) status_before: Option<&'a str>,
    /// The refunded invoice as JSON, for a refund. The legacy body of the event contains this invoice.
    pub(super) invoice: Option<&'a RawValue>,
}

/// Records an event of an invoice. `object` is the invoice as JSON, and `status_before` its status before if that has
/// changed.
pub(super) fn record_invoice_event(
    step: &Step<'_>,
    invoice: &Invoice,
    object: &RawValue,
    kind: EventType,
    status_before: Option<InvoiceStatus>,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let subject = EventSubject {
        account: invoice.account,
        mode: invoice.mode,
        id: &invoice.id,
        object,
        own_url: invoice.webhook_url.as_deref(),
        status_before: status_before.map(InvoiceStatus::as_str),
        invoice: None,
    };
    record_event(tx, now, kind, &subject)
}

/// Stores an event, and one delivery for each receiver.
pub(super) fn record_event(
    tx: &Tx<'_>,
    now: Time,
    kind: EventType,
    subject: &EventSubject<'_>,
) -> Result<(), Error> {
    let event_id = id::new_event(now, events::last_seq(tx)?.saturating_add(1));
    let (account, mode) = (subject.account, subject.mode);
    let new = events::NewEvent {
        id: &event_id,
        account,
        mode,
        kind,
        object_id: subject.id,
        created_at: now,
        object: subject.object.get(),
        invoice: subject.invoice.map(RawValue::get),
        status_before: subject.status_before,
    };
    let event = events::insert(tx, &new)?;
    let deliver = |endpoint: Option<i64>, url: &str| {
        tx.note_resource_change(Some(account), mode, ResourceKind::Deliveries);
        let id = id::new(now).to_string();
        let receiver = delivery_receiver(url, account, endpoint);
        deliveries::insert(tx, &id, event, url, &receiver, now)
    };
    for endpoint in endpoints::of_account(tx, account)? {
        if endpoint.receives(mode, kind) {
            deliver(Some(endpoint.seq), &endpoint.url)?;
        }
    }
    if let Some(url) = subject.own_url {
        deliver(None, url)?;
    }
    Ok(())
}

/// Query for one page of events.
#[derive(Clone, Debug)]
pub struct EventListQuery {
    /// Id of an event: only older events are returned.
    pub before: Option<String>,
    /// Type of the events. `None` for all types.
    pub kind: Option<EventType>,
    /// Id of the object of the events. `None` for all objects.
    pub object: Option<String>,
    /// Maximum number of events.
    pub limit: u32,
}

impl Service {
    /// Returns one event as JSON.
    ///
    /// # Errors
    ///
    /// `not_found` if the event is not the caller's.
    pub fn event(&self, scope: &Scope, id: &str) -> Result<String, Error> {
        self.read(|db| {
            let body = events::body(db, scope.account(), scope.mode(), id)?;
            body.ok_or_else(|| Refusal::not_found("event").into())
        })
    }

    /// Returns a page of events, newest first.
    ///
    /// # Errors
    ///
    /// `invalid_request` if `before` is not the id of an event of the caller.
    pub fn events(&self, scope: &Scope, wanted: &EventListQuery) -> Result<Page, Error> {
        let (account, mode) = (scope.account(), scope.mode());
        self.read(|db| {
            let seq = |id: &str| events::seq_by_id(db, account, mode, id);
            let before = find_page_start(wanted.before.as_deref(), seq)?;
            let query = events::EventQuery {
                kind: wanted.kind,
                object: wanted.object.as_deref(),
                page: PageBounds::with_one_more_row(before, wanted.limit),
            };
            let found = events::page(db, account, mode, query)?;
            let parse = |(id, body)| Ok((id, RawValue::from_string(body)?));
            Page::from_entries(found.into_iter().map(parse), wanted.limit)
        })
    }
}

/// Returns the receiver of deliveries to a URL, which has a queue of its own. An account has one receiver for each origin
/// of an endpoint, and one for each origin of its invoices' `webhookUrl`s.
///
/// A receiver that does not respond delays no other queue, even on the same host.
pub(super) fn delivery_receiver(
    url: &str,
    account: i64,
    endpoint: Option<i64>,
) -> DeliveryReceiver {
    DeliveryReceiver { account, origin: origin(url), endpoint }
}

/// Returns scheme, host and port of a URL, or the whole text if it is not a URL.
fn origin(url: &str) -> String {
    SiteUrl::parse(url).map_or_else(|_| url.to_owned(), |site| site.origin())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{EventSubject, origin, record_event};
    use crate::domain::{EventType, Mode, Time};
    use crate::render::event::{EventDataView, EventView};
    use crate::service::tests::{seeded_service, write};
    use crate::store::{PageBounds, events};
    use serde_json::value::RawValue;

    #[test]
    fn body_is_read_byte_for_byte_as_it_was_rendered() {
        let metadata = r#"{"a.b":[1.10,1e400,-0,null,true,{}],"$":"\u0000\"\\/\u001f é 🦀","":{"id":"evt_x"}}"#;
        let objects = [
            format!(
                r#"{{"id":"1","status":"created","asset":null,"paid":false,"metadata":{metadata}}}"#
            ),
            format!(
                r#"{{"id":"1","status":"detected","asset":"LTC","paid":true,"metadata":{metadata}}}"#
            ),
            format!(
                r#"{{"id":"1","status":"created","asset":null,"paid":false,"metadata":{metadata}}}"#
            ),
            r#"{"id":"1","status":"created","asset":"","paid":false,"metadata":{"a.b":{}}}"#
                .to_owned(),
            r#"{"id":"1","status":"created","asset":null,"paid":false}"#.to_owned(),
            r#"{"id":"1","status":"created","paid":false,"asset":null,"metadata":{}}"#.to_owned(),
            r#"{"id":"1","status":"created","asset":null,"paid":false,"metadata":{},"new":1}"#
                .to_owned(),
        ];
        let objects = objects.map(|object| RawValue::from_string(object).unwrap());
        let (service, _file) = seeded_service();
        let (kind, mode, created) =
            (EventType::InvoiceCreated, Mode::Test, Time(1_795_253_400_007));
        let recorded = objects.clone();
        write(&service, created, move |step| {
            recorded.iter().try_for_each(|object| {
                let subject = EventSubject {
                    account: 1,
                    mode,
                    id: "1",
                    object,
                    own_url: None,
                    status_before: None,
                    invoice: None,
                };
                record_event(step.tx, step.now, kind, &subject)
            })
        });
        let query =
            events::EventQuery { kind: None, object: Some("1"), page: PageBounds::newest(10) };
        let stored = service.read(|db| Ok(events::page(db, 1, mode, query)?)).unwrap();
        assert_eq!(stored.len(), objects.len());
        for ((id, body), object) in stored.iter().rev().zip(&objects) {
            let event = EventView {
                id,
                object: "event",
                r#type: kind,
                livemode: false,
                created,
                data: EventDataView { object },
            };
            assert_eq!(*body, serde_json::to_string(&event).unwrap());
        }
    }

    #[test]
    fn origin_is_scheme_host_and_port() {
        for (url, expected) in [
            ("https://Shop.example/hook?x=1", "https://shop.example"),
            ("http://127.0.0.1:80#f", "http://127.0.0.1"),
            ("not a url", "not a url"),
            ("https://[::1]:8443/a/b", "https://[::1]:8443"),
            ("https://shop.example", "https://shop.example"),
        ] {
            assert_eq!(origin(url), expected);
        }
    }
}
