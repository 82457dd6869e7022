//! Error codes with their HTTP statuses, and the responses that report errors.
//!
//! Invariant: the cause of a failure goes to the log with the request's id, never to the caller.

use super::reply::Reply;
use crate::domain::fields::view;
use crate::domain::fields::view::OmittedIfNone;
use crate::domain::{Refusal, RefusalCode};
use crate::service::Error;
use hyper::StatusCode;
use hyper::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};

/// Default `Retry-After` of answers with status 503, in seconds.
const RETRY_SECONDS: i64 = 5;

pub(super) const fn status(code: RefusalCode) -> StatusCode {
    match code {
        RefusalCode::InvalidRequest
        | RefusalCode::AmountTooLarge
        | RefusalCode::CoinUnavailable
        | RefusalCode::PaymentInFlight
        | RefusalCode::InvoiceClosed
        | RefusalCode::InvalidAmount
        | RefusalCode::BelowMinimum
        | RefusalCode::InsufficientBalance
        | RefusalCode::DailyLimit
        | RefusalCode::NoAddress
        | RefusalCode::TestMode
        | RefusalCode::InvoiceNotRefundable => StatusCode::BAD_REQUEST,
        RefusalCode::Unauthorized
        | RefusalCode::InvalidCredentials
        | RefusalCode::SecondFactorRequired => StatusCode::UNAUTHORIZED,
        RefusalCode::WrongKeyType
        | RefusalCode::AccountNotApproved
        | RefusalCode::AccountSuspended
        | RefusalCode::AccountNotActive
        | RefusalCode::CustomersDisabled
        | RefusalCode::ServersDisabled
        | RefusalCode::NotTestInvoice
        | RefusalCode::ReauthenticationRequired
        | RefusalCode::Forbidden => StatusCode::FORBIDDEN,
        RefusalCode::NotFound => StatusCode::NOT_FOUND,
        RefusalCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        RefusalCode::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        RefusalCode::IdempotencyConflict
        | RefusalCode::PayoutOpen
        | RefusalCode::ServerQuotaExceeded
        | RefusalCode::InvoiceNotCancellable
        | RefusalCode::InvalidTransition => StatusCode::CONFLICT,
        RefusalCode::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        RefusalCode::RateLimited | RefusalCode::TooManyAttempts => StatusCode::TOO_MANY_REQUESTS,
        RefusalCode::HeadersTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        RefusalCode::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        RefusalCode::Maintenance | RefusalCode::PoolRefilling | RefusalCode::Overloaded => {
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}

view! {
    /// Body of every error.
    pub(super) ErrorView<'a> as "Error" {
        /// Machine code of the error.
        error: RefusalCode = "invalid_request";
        /// Message for people. Its wording may change.
        message: &'a str = "amount must have at most two decimals.";
        /// Name of the wrong field or parameter; absent if there is none.
        param: OmittedIfNone<&'a str> = "amount";
        /// Id of the request, also in the header X-Request-Id and in the service's log.
        request_id: &'a str = "req_5b24d10800000001";
    }
}

/// Returns the answer to an error as JSON, and logs the cause of a failure.
pub(super) fn json_reply(error: Error, request_id: &str) -> Reply {
    reply_with_body(error, request_id, |refusal, status| {
        let body = ErrorView {
            error: refusal.code,
            message: &refusal.message,
            param: OmittedIfNone(refusal.param.as_deref()),
            request_id,
        };
        Reply::json(status, serde_json::to_string(&body).unwrap_or_default())
    })
}

/// Returns the answer to an error. `write` creates the body from the refusal and its status.
pub(super) fn reply_with_body(
    error: Error,
    request_id: &str,
    write: impl FnOnce(&Refusal, StatusCode) -> Reply,
) -> Reply {
    let refusal = match error {
        Error::Refused(refusal) => refusal,
        Error::Failed(cause) => {
            log::error!("request failed: id={request_id} error={cause}");
            Refusal::new(
                RefusalCode::InternalError,
                "internal error of the server; its log has the cause under the request id",
            )
        }
    };
    let status = status(refusal.code);
    let mut reply = write(&refusal, status);
    if status == StatusCode::UNAUTHORIZED {
        reply.headers.push((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
    }
    let is_passing = status == StatusCode::SERVICE_UNAVAILABLE;
    let wait_seconds = refusal.wait_seconds.or_else(|| is_passing.then_some(RETRY_SECONDS));
    let wait = wait_seconds.map(|seconds| (RETRY_AFTER, HeaderValue::from(seconds)));
    reply.headers.extend(wait);
    reply.refusal = Some(Box::new(refusal));
    reply
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Error, Refusal, RefusalCode, json_reply};

    /// Error codes of each status, as the documentation lists them.
    const DOCUMENTED: [(u16, &str); 11] = [
        (
            400,
            "invalid_request amount_too_large coin_unavailable payment_in_flight invoice_closed invalid_amount \
             below_minimum insufficient_balance daily_limit no_address test_mode invoice_not_refundable",
        ),
        (401, "unauthorized invalid_credentials second_factor_required"),
        (
            403,
            "wrong_key_type account_not_approved account_suspended account_not_active not_test_invoice \
             customers_disabled servers_disabled reauthentication_required forbidden",
        ),
        (404, "not_found"),
        (405, "method_not_allowed"),
        (408, "request_timeout"),
        (
            409,
            "idempotency_conflict payout_open server_quota_exceeded invoice_not_cancellable invalid_transition",
        ),
        (413, "payload_too_large"),
        (429, "rate_limited too_many_attempts"),
        (431, "headers_too_large"),
        (500, "internal_error"),
    ];
    /// Status and codes of temporary errors. Their answers have the header `Retry-After`.
    const TEMPORARY_ERRORS: (u16, &str) = (503, "maintenance pool_refilling overloaded");

    #[test]
    fn every_code_has_its_documented_status() {
        let mut codes: Vec<RefusalCode> = RefusalCode::ALL.to_vec();
        for (status, texts) in DOCUMENTED.iter().chain([&TEMPORARY_ERRORS]) {
            for text in texts.split(' ') {
                let code = codes.iter().position(|code| code.as_str() == text);
                let code = code.map(|at| codes.remove(at)).unwrap();
                let refusal = Refusal::new(code, "why");
                let reply = json_reply(Error::Refused(refusal), "req_1");
                assert_eq!(reply.status.as_u16(), *status, "{text}");
                let has = |name: &str| reply.headers.iter().any(|(header, _)| header == name);
                assert_eq!(has("www-authenticate"), *status == 401, "{text}");
                assert_eq!(has("retry-after"), *status == 503, "{text}");
            }
        }
        assert_eq!(codes, [], "documented nowhere");
    }
}
