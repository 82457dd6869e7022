//! Webhook endpoints in the operator interface: making, listing, changing and removing them, and their secrets.
//!
//! What does not live here: what is sent to them (`service::events`, `service::webhooks`). What always holds: a
//! secret is made here, shown only to who asks for it, and each showing is in the audit log.

use crate::domain::account::Endpoint;
use crate::domain::asset::Mode;
use crate::domain::event::{EventType, Format};
use crate::domain::fields::Fields;
use crate::domain::id;
use crate::domain::refusal::Refusal;
use crate::domain::render::account_settings::SigningSecretView;
use crate::domain::render::operator::EndpointView;
use crate::domain::time::Time;
use crate::service::audit_log::{self, Entry};
use crate::service::{BOTH_SIGN_MS, Error, Json, Member, Scope, Service, new_secret};
use crate::store::{Reader, endpoints};
use serde_json::value::{to_raw_value, to_value};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The most endpoints of an account.
const ENDPOINTS_MAX: usize = 50;
/// What can be said of an endpoint.
const FIELDS: [&str; 5] = ["url", "types", "format", "mode", "enabled"];

impl Service {
    /// The endpoints of an account, oldest first.
    pub fn endpoints(&self, scope: &Scope) -> Result<Vec<Json>, Error> {
        self.read(|db| {
            let all = endpoints::of_account(db, scope.account())?;
            all.iter()
                .map(|endpoint| Ok(to_raw_value(&EndpointView::of(endpoint))?))
                .collect()
        })
    }

    /// Makes an endpoint; the answer shows its secret.
    ///
    /// # Errors
    /// `invalid_request`.
    pub async fn create_endpoint(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        member: &Member,
        body: Map<String, Value>,
    ) -> Result<Json, Error> {
        let (account, actor) = (scope.account(), member.actor());
        self.write(move |service, tx| {
            let fields = Fields::of(&body);
            let mut endpoint = Endpoint {
                seq: 0,
                id: id::new(now).to_string(),
                mode: None,
                url: String::new(),
                secret: new_secret("whsec_")?,
                format: Format::Event,
                types: None,
                enabled: true,
            };
            service.change(&mut endpoint, &fields)?;
            if endpoint.url.is_empty() {
                return Err(Refusal::field("url", "must be given").into());
            }
            if endpoints::of_account(tx, account)?.len() >= ENDPOINTS_MAX {
                let problem = format!("is one too many: an account has at most {ENDPOINTS_MAX}");
                return Err(Refusal::field("url", problem).into());
            }
            endpoint.seq = endpoints::insert(tx, account, &endpoint, now)?;
            let mut view = EndpointView::of(&endpoint);
            let noted = Entry {
                action: "endpoint.create",
                account: Some(account),
                object: Some(&endpoint.id),
                detail: &to_value(&view)?,
            };
            audit_log::record(tx, now, &actor, &noted)?;
            view.secret = Some(&endpoint.secret);
            Ok(to_raw_value(&view)?)
        })
        .await
    }

    /// Changes an endpoint. What was already to be sent goes where it was to go.
    ///
    /// # Errors
    /// `not_found`, `invalid_request`.
    pub async fn change_endpoint(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        member: &Member,
        id: &str,
        body: Map<String, Value>,
    ) -> Result<Json, Error> {
        let (account, actor, id) = (scope.account(), member.actor(), id.to_owned());
        self.write(move |service, tx| {
            let mut endpoint = find(tx, account, &id)?;
            service.change(&mut endpoint, &Fields::of(&body))?;
            endpoints::update(tx, &endpoint)?;
            let view = EndpointView::of(&endpoint);
            let noted = Entry {
                action: "endpoint.change",
                account: Some(account),
                object: Some(&endpoint.id),
                detail: &to_value(&view)?,
            };
            audit_log::record(tx, now, &actor, &noted)?;
            Ok(to_raw_value(&view)?)
        })
        .await
    }

    /// Removes an endpoint; what was still to be sent to it is given up.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn remove_endpoint(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        member: &Member,
        id: &str,
    ) -> Result<(), Error> {
        let (account, actor, id) = (scope.account(), member.actor(), id.to_owned());
        self.write(move |_, tx| {
            let endpoint = find(tx, account, &id)?;
            endpoints::remove(tx, account, &id, now)?;
            let detail = json!({ "url": endpoint.url });
            let noted = Entry {
                action: "endpoint.remove",
                account: Some(account),
                object: Some(&endpoint.id),
                detail: &detail,
            };
            audit_log::record(tx, now, &actor, &noted)
        })
        .await
    }

    /// Shows an endpoint's secret, and notes to whom.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn show_endpoint_secret(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        member: &Member,
        id: &str,
    ) -> Result<Json, Error> {
        let (account, actor, id) = (scope.account(), member.actor(), id.to_owned());
        self.write(move |_, tx| {
            let endpoint = find(tx, account, &id)?;
            let action = "endpoint.show_secret";
            let noted = Entry {
                action,
                account: Some(account),
                object: Some(&endpoint.id),
                detail: &json!({}),
            };
            audit_log::record(tx, now, &actor, &noted)?;
            let until = endpoints::old_secret_until(tx, endpoint.seq)?;
            secret(&endpoint.secret, until.filter(|until| now < *until))
        })
        .await
    }

    /// Makes an endpoint's new secret; for a day the old one signs too.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn roll_endpoint_secret(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        member: &Member,
        id: &str,
    ) -> Result<Json, Error> {
        let (account, actor, id) = (scope.account(), member.actor(), id.to_owned());
        self.write(move |_, tx| {
            let endpoint = find(tx, account, &id)?;
            let (fresh, until) = (new_secret("whsec_")?, now.plus_ms(BOTH_SIGN_MS));
            endpoints::roll_secret(tx, endpoint.seq, &fresh, until)?;
            let action = "endpoint.roll_secret";
            let noted = Entry {
                action,
                account: Some(account),
                object: Some(&endpoint.id),
                detail: &json!({}),
            };
            audit_log::record(tx, now, &actor, &noted)?;
            secret(&fresh, Some(until))
        })
        .await
    }

    /// Changes what the fields name. Null takes `types` and `mode` away: all types, both modes.
    fn change(&self, endpoint: &mut Endpoint, fields: &Fields<'_>) -> Result<(), Refusal> {
        fields.only(&FIELDS)?;
        if let Some(url) = fields.url("url")? {
            (self.webhook_check)(url).map_err(|problem| Refusal::field("url", problem))?;
            url.clone_into(&mut endpoint.url);
        }
        if fields.names("types") {
            let types = fields.list("types")?.map(|list| event_types(list));
            endpoint.types = types.transpose()?;
        }
        if fields.names("mode") {
            endpoint.mode = fields.choice::<Mode>("mode")?;
        }
        endpoint.format = fields.choice("format")?.unwrap_or(endpoint.format);
        endpoint.enabled = fields.flag("enabled")?.unwrap_or(endpoint.enabled);
        Ok(())
    }
}

/// An endpoint of an account.
fn find(db: &Reader<'_>, account: i64, id: &str) -> Result<Endpoint, Error> {
    let of_account = endpoints::of_account(db, account)?.into_iter();
    let mut found = of_account.filter(|endpoint| endpoint.id == id);
    found
        .next()
        .ok_or_else(|| Refusal::not_found("endpoint").into())
}

/// A secret as it is answered, and until when the one before it signs too.
fn secret(text: &str, until: Option<Time>) -> Result<Json, Error> {
    Ok(to_raw_value(&SigningSecretView {
        secret: text,
        previous_until: until,
    })?)
}

/// A list of event types.
pub(in crate::service) fn event_types(list: &[Value]) -> Result<Vec<EventType>, Refusal> {
    let read = |item: &Value| {
        let text = item
            .as_str()
            .ok_or_else(|| Refusal::field("types", "must be a list of event types"))?;
        text.parse()
            .map_err(|problem| Refusal::field("types", problem))
    };
    list.iter().map(read).collect()
}
