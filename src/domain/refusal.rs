//! Refusals: the answers to requests that the service does not carry out.
//!
//! What lives here: the machine codes of the interface, and the refusal that carries one. What does not: HTTP
//! statuses, which `http` chooses. What always holds: the caller reads the message as it is here, so it never
//! contains what the caller may not know.

use super::text_enum::text_enum;

text_enum! {
    /// The machine code in an error's `error` field.
    pub enum Code {
        /// A field, a query value or the body itself is not as documented.
        InvalidRequest = "invalid_request",
        /// The invoice's amount is above the account's maximum.
        AmountTooLarge = "amount_too_large",
        /// The coin cannot be had for this amount.
        CoinUnavailable = "coin_unavailable",
        /// A payment is already under way.
        PaymentInFlight = "payment_in_flight",
        /// The invoice takes no coin any more.
        InvoiceClosed = "invoice_closed",
        /// The payout's amount is no amount of money, or the refund is of more than is left.
        InvalidAmount = "invalid_amount",
        /// The payout is smaller than the account's minimum.
        BelowMinimum = "below_minimum",
        /// The balance is smaller than the payout.
        InsufficientBalance = "insufficient_balance",
        /// The account's payouts of the last 24 hours reach its limit.
        DailyLimit = "daily_limit",
        /// There is no payout address for the payout coin, or it is still cooling.
        NoAddress = "no_address",
        /// Payouts exist in live mode only.
        TestMode = "test_mode",
        /// Nothing confirmed was paid on the invoice.
        InvoiceNotRefundable = "invoice_not_refundable",
        /// No key, an unknown one, or a revoked one.
        Unauthorized = "unauthorized",
        /// The email or the password is wrong.
        InvalidCredentials = "invalid_credentials",
        /// The password is right, and a code of the second factor is needed besides.
        SecondFactorRequired = "second_factor_required",
        /// The key's class is not the one of this route.
        WrongKeyType = "wrong_key_type",
        /// The account is pending or rejected.
        AccountNotApproved = "account_not_approved",
        /// The account is suspended.
        AccountSuspended = "account_suspended",
        /// The account may not ask for payouts as it stands.
        AccountNotActive = "account_not_active",
        /// The account has no customers feature.
        CustomersDisabled = "customers_disabled",
        /// The account may not order servers.
        ServersDisabled = "servers_disabled",
        /// The invoice is a live one.
        NotTestInvoice = "not_test_invoice",
        /// The password was given too long ago for what is sensitive.
        ReauthenticationRequired = "reauthentication_required",
        /// The caller may not do this.
        Forbidden = "forbidden",
        /// Unknown, or not the caller's, or of the other mode.
        NotFound = "not_found",
        /// The path exists, the method on it does not.
        MethodNotAllowed = "method_not_allowed",
        /// The body took too long to arrive.
        RequestTimeout = "request_timeout",
        /// The body is over 64 KiB.
        PayloadTooLarge = "payload_too_large",
        /// The header is over 16 KiB.
        HeadersTooLarge = "headers_too_large",
        /// The Idempotency-Key was used with another body.
        IdempotencyConflict = "idempotency_conflict",
        /// A payout is already under way.
        PayoutOpen = "payout_open",
        /// The account has as many servers as it may have at once.
        ServerQuotaExceeded = "server_quota_exceeded",
        /// The invoice has a payment or is closed.
        InvoiceNotCancellable = "invoice_not_cancellable",
        /// The state machine has no such step from here.
        InvalidTransition = "invalid_transition",
        /// More calls than the key may make.
        RateLimited = "rate_limited",
        /// More failed sign-ins than are let through, or another password of the same client is being checked.
        TooManyAttempts = "too_many_attempts",
        /// Something broke that is not the caller's doing.
        InternalError = "internal_error",
        /// Live invoices are paused.
        Maintenance = "maintenance",
        /// The pool that addresses come from is empty, or the account has taken its share of it.
        PoolRefilling = "pool_refilling",
        /// More work waits than the service takes in.
        Overloaded = "overloaded",
    }
}

/// A refusal: what the caller is told, and which field it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The machine code.
    pub code: Code,
    /// One sentence for a person: what is wrong and what would be right.
    pub message: String,
    /// The field, query or header at fault, where it is one.
    pub param: Option<String>,
    /// Seconds after which it may be asked again, where that is known.
    pub wait_seconds: Option<i64>,
}

impl Refusal {
    /// A refusal that concerns no single field.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Refusal {
            code,
            message: message.into(),
            param: None,
            wait_seconds: None,
        }
    }

    /// A refusal of one field.
    pub fn of(code: Code, param: impl Into<String>, message: impl Into<String>) -> Self {
        Refusal {
            code,
            message: message.into(),
            param: Some(param.into()),
            wait_seconds: None,
        }
    }

    /// 400 `invalid_request` for one field; the message starts with its name.
    pub fn field(param: &str, problem: impl std::fmt::Display) -> Self {
        Refusal::of(Code::InvalidRequest, param, format!("{param} {problem}"))
    }

    /// The same refusal, with the seconds after which it may be asked again.
    pub fn after(self, wait_seconds: i64) -> Self {
        Refusal {
            wait_seconds: Some(wait_seconds),
            ..self
        }
    }

    /// The same answer for the unknown, the foreign and the other mode's.
    pub fn not_found(what: &str) -> Self {
        Refusal::new(Code::NotFound, format!("no such {what}"))
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Refusal {}
