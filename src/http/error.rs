//! Codes and statuses: the one table between them, and the answer to what went wrong.
//!
//! What always holds: the cause of a failure goes to the log with the request's id, never to the caller.

use super::reply::Reply;
use crate::domain::refusal::{Code, Refusal};
use crate::service::Error;
use hyper::StatusCode;
use hyper::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use serde::Serialize;

/// Seconds after which an overloaded or paused service may be asked again.
const RETRY_SECONDS: u64 = 5;

/// The status of a code.
pub(super) const fn status(code: Code) -> StatusCode {
    match code {
        Code::InvalidRequest
        | Code::AmountTooLarge
        | Code::CoinUnavailable
        | Code::PaymentInFlight
        | Code::InvoiceClosed
        | Code::InvalidAmount
        | Code::BelowMinimum
        | Code::InsufficientBalance
        | Code::DailyLimit
        | Code::NoAddress
        | Code::TestMode
        | Code::InvoiceNotRefundable => StatusCode::BAD_REQUEST,
        Code::Unauthorized | Code::InvalidCredentials => StatusCode::UNAUTHORIZED,
        Code::WrongKeyType
        | Code::AccountNotApproved
        | Code::AccountSuspended
        | Code::AccountNotActive
        | Code::CustomersDisabled
        | Code::NotTestInvoice
        | Code::Forbidden => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        Code::IdempotencyConflict
        | Code::PayoutOpen
        | Code::InvoiceNotCancellable
        | Code::InvalidTransition => StatusCode::CONFLICT,
        Code::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::RateLimited | Code::TooManyAttempts => StatusCode::TOO_MANY_REQUESTS,
        Code::HeadersTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        Code::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        Code::Maintenance | Code::PoolRefilling | Code::Overloaded => {
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}

/// The error body.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    error: Code,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    param: Option<&'a str>,
    request_id: &'a str,
}

/// The answer to an error; a failure's cause is logged here.
pub(super) fn answer(error: Error, request_id: &str) -> Reply {
    answer_as(error, request_id, |refusal, status| {
        let body = Body {
            error: refusal.code,
            message: &refusal.message,
            param: refusal.param.as_deref(),
            request_id,
        };
        Reply::json(status, serde_json::to_string(&body).unwrap_or_default())
    })
}

/// The answer to an error, its body as `write` makes it.
pub(super) fn answer_as(
    error: Error,
    request_id: &str,
    write: impl FnOnce(&Refusal, StatusCode) -> Reply,
) -> Reply {
    let refusal = match error {
        Error::Refused(refusal) => refusal,
        Error::Failed(cause) => {
            log::error!("{request_id} failed: {cause}");
            Refusal::new(
                Code::InternalError,
                "something went wrong on our side; the request id says what to look for",
            )
        }
    };
    let status = status(refusal.code);
    let mut reply = write(&refusal, status);
    if status == StatusCode::UNAUTHORIZED {
        reply
            .headers
            .push((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
    }
    if status == StatusCode::SERVICE_UNAVAILABLE {
        reply
            .headers
            .push((RETRY_AFTER, HeaderValue::from(RETRY_SECONDS)));
    }
    reply
}
