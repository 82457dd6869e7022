//! Examples of errors in the OpenAPI documents: one for each error code of an operation.
//!
//! Invariant: an error code without an example does not compile.

use crate::domain::{RefusalCode, Role, second_factor};
use crate::http::auth::Auth;
use crate::http::hosts;
use crate::http::request::Param;
use crate::http::route::Route;
use crate::http::state::sandbox;
use serde_json::{Map, Value, json};

const REQUEST_ID: &str = "req_5b24d10800000042";

/// Returns an example of each code, by the name of the code. Operations of the sandbox have a second example of
/// `forbidden`, for a foreign `Host`.
pub(super) fn examples(route: &Route, codes: &[RefusalCode]) -> Value {
    let mut examples = Map::new();
    let mut show = |name: &str, body: Value| {
        examples.insert(name.to_owned(), json!({ "value": body }));
    };
    for code in codes {
        let (message, param) = example_text(route, *code);
        show(code.as_str(), error_body(*code, &message, param));
        if *code == RefusalCode::Forbidden && route.auth() == Auth::Sandbox && !route.takes_any_host
        {
            show("forbidden_host", error_body(*code, hosts::HOST_REFUSED, None));
        }
    }
    Value::Object(examples)
}

/// Returns an example message of an error with this code, and the field that the message names.
pub(in crate::http) fn example_text(
    route: &Route,
    code: RefusalCode,
) -> (String, Option<&'static str>) {
    match code {
        RefusalCode::InvalidRequest => invalid_request_example(route),
        RefusalCode::NotFound => (format!("no such {}", resource_name(route)), None),
        _ => {
            let (message, param) = example_message(route, code);
            (message.to_owned(), param)
        }
    }
}

fn error_body(code: RefusalCode, message: &str, param: Option<&str>) -> Value {
    let mut body = json!({ "error": code, "message": message, "requestId": REQUEST_ID });
    if let (Some(fields), Some(param)) = (body.as_object_mut(), param) {
        fields.insert("param".to_owned(), json!(param));
    }
    body
}

/// Returns an example message of `invalid_request`, and the field that the message names. The example is about the
/// route's body, else its first query parameter, else the request.
fn invalid_request_example(route: &Route) -> (String, Option<&'static str>) {
    let in_query = |param: &Param| {
        let problem =
            param.kind.example_problem().unwrap_or_else(|| "must be given once".to_owned());
        (format!("{} {problem}", param.name), Some(param.name))
    };
    match (&route.body, route.query.first()) {
        (Some(_), _) => ("the body must be a JSON object".to_owned(), None),
        (None, Some(param)) => in_query(param),
        (None, None) if route.auth() == Auth::Public => {
            ("origin must be printable ASCII".to_owned(), Some("origin"))
        }
        (None, None) if route.method == "GET" => (
            "limit is not a parameter of this query; its parameters: none".to_owned(),
            Some("limit"),
        ),
        (None, None) => {
            ("the body ended early: connection closed before message completed".to_owned(), None)
        }
    }
}

/// Returns the name of the resource in the route's path: `invoice` for `/v1/invoices/{id}`.
fn resource_name(route: &Route) -> String {
    let Some((before, _)) = route.path.rsplit_once("/{") else {
        return "invoice".to_owned();
    };
    let (_, kind) = before.rsplit_once('/').unwrap_or_default();
    let one = match kind.strip_suffix("sses") {
        Some(stem) => format!("{stem}ss"),
        None => kind.strip_suffix('s').unwrap_or(kind).to_owned(),
    };
    one.replace('-', " ")
}

const REAUTHENTICATION_MESSAGE: &str = "your password must have been given in the last 15 minutes; send it to \
                            POST /dashboard/api/session/confirm and try again";

/// Returns an example message of an error, and the field that the message is about.
fn example_message(route: &Route, code: RefusalCode) -> (&'static str, Option<&'static str>) {
    match code {
        RefusalCode::InvalidRequest => ("the body must be a JSON object", None),
        RefusalCode::NotFound => ("no such path", None),
        RefusalCode::Unauthorized => (unauthorized_message(route.auth()), None),
        RefusalCode::WrongKeyType if route.auth() == Auth::Public => {
            ("this takes a public key only; keep the secret one on your server", None)
        }
        RefusalCode::WrongKeyType => {
            ("a public key opens /v1/public only; use the secret key here", None)
        }
        RefusalCode::Forbidden => (forbidden_message(route), None),
        RefusalCode::AmountTooLarge => {
            ("amount must be at most 50000.00 for this account", Some("amount"))
        }
        RefusalCode::CoinUnavailable => coin_unavailable_message(route),
        RefusalCode::PaymentInFlight => {
            ("a payment is in progress; no other coin can be selected", None)
        }
        RefusalCode::InvoiceClosed => ("no coin can be selected for this invoice any more", None),
        RefusalCode::InvalidAmount => (
            "amount must be a positive decimal with at most two decimals, like \"19.99\"",
            Some("amount"),
        ),
        RefusalCode::BelowMinimum => ("amount must be at least 20.00", Some("amount")),
        RefusalCode::InsufficientBalance => ("the balance is smaller than that", Some("amount")),
        RefusalCode::DailyLimit => {
            ("payouts of the last 24 hours reach the account's limit", Some("amount"))
        }
        RefusalCode::NoAddress => {
            ("there is no payout address for this coin, or it was set less than 24 hours ago", None)
        }
        RefusalCode::TestMode => ("payouts exist in live mode only", None),
        RefusalCode::InvoiceNotRefundable => ("nothing confirmed was paid on this invoice", None),
        RefusalCode::InvalidCredentials => ("the email or the password is wrong", None),
        RefusalCode::SecondFactorRequired => (second_factor::CODE_MISSING, Some("code")),
        RefusalCode::AccountNotApproved => ("the account is not approved", None),
        RefusalCode::AccountSuspended => ("the account is suspended", None),
        RefusalCode::AccountNotActive => ("the account is not active", None),
        RefusalCode::CustomersDisabled => ("this account has no customers feature", None),
        RefusalCode::ReauthenticationRequired => (REAUTHENTICATION_MESSAGE, None),
        RefusalCode::ServersDisabled => ("this account may not order servers", None),
        RefusalCode::ServerQuotaExceeded => ("the account has reached its quota of servers", None),
        RefusalCode::NotTestInvoice => ("only a test invoice can be simulated", None),
        RefusalCode::MethodNotAllowed => ("DELETE is not a method of this path; see Allow", None),
        RefusalCode::RequestTimeout => ("the body took longer than 10000 ms to arrive", None),
        RefusalCode::PayloadTooLarge if route.upload.is_some() => {
            ("the body must be at most 102400 bytes", None)
        }
        RefusalCode::PayloadTooLarge => ("the body must be at most 65536 bytes", None),
        RefusalCode::HeadersTooLarge => ("the header must be at most 16384 bytes", None),
        RefusalCode::IdempotencyConflict => {
            ("this Idempotency-Key was used with another body", Some("Idempotency-Key"))
        }
        RefusalCode::PayoutOpen => ("a payout is already in progress", None),
        RefusalCode::InvoiceNotCancellable => ("the invoice has a payment or is closed", None),
        RefusalCode::InvalidTransition => {
            ("this step is not possible from its present status", None)
        }
        RefusalCode::RateLimited => ("too many invoices are being created; try again in 1 s", None),
        RefusalCode::TooManyAttempts => ("too many attempts have failed; try again in 30 s", None),
        RefusalCode::InternalError => {
            ("internal error of the server; its log has the cause under the request id", None)
        }
        RefusalCode::Maintenance => ("live invoices and payouts are paused", None),
        RefusalCode::PoolRefilling => ("no address is available now", None),
        RefusalCode::Overloaded => ("too many writes are waiting; try again", None),
    }
}

/// Returns the example message of `unauthorized`, which says how to authenticate.
const fn unauthorized_message(auth: Auth) -> &'static str {
    match auth {
        Auth::Session(_) => "sign in first: POST /dashboard/api/session",
        Auth::Reseller => "send the token as Authorization: Bearer <token>",
        Auth::Metrics => "send the token of --metrics-token as Authorization: Bearer <token>",
        Auth::Secret | Auth::Public | Auth::Open | Auth::Sandbox => {
            "an API key is needed, in X-API-Key or as Authorization: Bearer"
        }
    }
}

/// Returns the example message of `forbidden`, which says why the caller is refused.
fn forbidden_message(route: &Route) -> &'static str {
    match route.auth() {
        Auth::Session(Role::Operator) => "only operators may do this",
        Auth::Open if route.operation != "signIn" => {
            "the set-up link is wrong, used, or older than an hour; start the server again for a new one"
        }
        Auth::Session(Role::Merchant) | Auth::Open => {
            "Origin must be the service's own: pages of other sites may not do this"
        }
        Auth::Public => "pages of https://other.example may not use this account's public keys",
        Auth::Secret | Auth::Reseller | Auth::Metrics => "only a test key can simulate a deposit",
        Auth::Sandbox => sandbox::NOT_FOR_PAGES,
    }
}

/// Returns the example message of `coin_unavailable`, and the field that names the coin.
fn coin_unavailable_message(route: &Route) -> (&'static str, Option<&'static str>) {
    if route.operation == "assignUnmatchedPayment" {
        ("BTC has no address available now", Some("invoice"))
    } else {
        ("DOGE cannot be quoted for this amount", Some("asset"))
    }
}
