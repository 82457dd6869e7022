//! Webhook endpoints in the operator interface: creates, changes and removes them and their secrets.
//!
//! Invariant: each time that a secret is shown, the audit log gets an entry.

use super::{Error, Json, SECRET_OVERLAP_MS, Service, audit_log, new_secret};
use crate::domain::{Refusal, Time, WebhookEndpoint};
use crate::render::endpoints::{CreatedEndpointView, EndpointView, SigningSecretView};
use crate::store::{Reader, Tx, endpoints};
use serde_json::value::{to_raw_value, to_value};
use serde_json::{Map, Value, json};

const ENDPOINTS_MAX: usize = 50;

impl Service {
    /// Refuses a URL to which webhooks are not allowed.
    ///
    /// # Errors
    /// `invalid_request` for the field `url`.
    pub fn check_webhook(&self, url: &str) -> Result<(), Refusal> {
        (self.webhook_check)(url).map_err(|problem| Refusal::field("url", problem))
    }
}

/// Returns the secret of a new endpoint.
pub fn new_endpoint_secret() -> Result<String, Error> {
    new_secret("whsec_")
}

/// Creates an endpoint. The response shows its secret.
///
/// # Errors
/// `invalid_request` if the account has too many endpoints.
pub fn create(
    tx: &Tx<'_>,
    actor: &str,
    account: i64,
    mut endpoint: WebhookEndpoint,
    now: Time,
) -> Result<Json, Error> {
    if endpoints::of_account(tx, account)?.len() >= ENDPOINTS_MAX {
        let problem = format!("is one too many: an account has at most {ENDPOINTS_MAX}");
        return Err(Refusal::field("url", problem).into());
    }
    endpoint.seq = endpoints::insert(tx, account, &endpoint, now)?;
    let base = EndpointView::new(&endpoint);
    let detail = to_value(&base)?;
    write_audit_entry(tx, actor, account, &endpoint, "endpoint.create", &detail, now)?;
    let secret = &endpoint.secret;
    Ok(to_raw_value(&CreatedEndpointView { base, secret })?)
}

/// Stores a changed endpoint. Pending deliveries keep their URL.
pub fn update(
    tx: &Tx<'_>,
    actor: &str,
    account: i64,
    endpoint: &WebhookEndpoint,
    now: Time,
) -> Result<Json, Error> {
    endpoints::update(tx, endpoint)?;
    let view = EndpointView::new(endpoint);
    let detail = to_value(&view)?;
    write_audit_entry(tx, actor, account, endpoint, "endpoint.change", &detail, now)?;
    Ok(to_raw_value(&view)?)
}

/// Removes an endpoint. Its pending deliveries are given up.
///
/// # Errors
/// `not_found`.
pub fn remove(tx: &Tx<'_>, actor: &str, account: i64, id: &str, now: Time) -> Result<(), Error> {
    let endpoint = find(tx, account, id)?;
    endpoints::remove(tx, account, id, now)?;
    let detail = json!({ "url": endpoint.url });
    write_audit_entry(tx, actor, account, &endpoint, "endpoint.remove", &detail, now)
}

/// Returns an endpoint's secret and writes an entry in the audit log.
///
/// # Errors
/// `not_found`.
pub fn show_secret(
    tx: &Tx<'_>,
    actor: &str,
    account: i64,
    id: &str,
    now: Time,
) -> Result<Json, Error> {
    let endpoint = find(tx, account, id)?;
    let (action, detail) = ("endpoint.show_secret", Value::Object(Map::new()));
    write_audit_entry(tx, actor, account, &endpoint, action, &detail, now)?;
    let until = endpoints::old_secret_until(tx, endpoint.seq)?;
    render_secret(&endpoint.secret, until.filter(|until| now < *until))
}

/// Replaces an endpoint's secret. For a day, deliveries are signed with both secrets.
///
/// # Errors
///
/// `not_found`.
pub fn roll_secret(
    tx: &Tx<'_>,
    actor: &str,
    account: i64,
    id: &str,
    now: Time,
) -> Result<Json, Error> {
    let endpoint = find(tx, account, id)?;
    let (fresh, until) = (new_endpoint_secret()?, now.plus_ms(SECRET_OVERLAP_MS));
    endpoints::roll_secret(tx, endpoint.seq, &fresh, until)?;
    let (action, detail) = ("endpoint.roll_secret", Value::Object(Map::new()));
    write_audit_entry(tx, actor, account, &endpoint, action, &detail, now)?;
    render_secret(&fresh, Some(until))
}

/// Returns an endpoint of an account.
///
/// # Errors
/// `not_found`.
pub fn find(db: &Reader<'_>, account: i64, id: &str) -> Result<WebhookEndpoint, Error> {
    let of_account = endpoints::of_account(db, account)?.into_iter();
    let mut found = of_account.filter(|endpoint| endpoint.id == id);
    found.next().ok_or_else(|| Refusal::not_found("endpoint").into())
}

fn write_audit_entry(
    tx: &Tx<'_>,
    actor: &str,
    account: i64,
    endpoint: &WebhookEndpoint,
    action: &'static str,
    detail: &Value,
    now: Time,
) -> Result<(), Error> {
    audit_log::record(tx, now, actor, action, Some(account), Some(&endpoint.id), detail)
}

/// Returns a secret as JSON, with the time until which the previous secret also signs.
fn render_secret(text: &str, until: Option<Time>) -> Result<Json, Error> {
    Ok(to_raw_value(&SigningSecretView { secret: text, previous_until: until })?)
}
