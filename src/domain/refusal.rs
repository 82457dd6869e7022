//! Refusals: error responses to requests that the service does not carry out.
//!
//! Invariant: the caller reads the message unchanged, so a message contains nothing that the caller may not know.

use super::text_enum::text_enum;

text_enum! {
    /// The machine code in an error's `error` field.
    pub enum RefusalCode {
        /// A field, a query value or the whole body is not as documented.
        InvalidRequest = "invalid_request",
        /// The price of the invoice is above the account's maximum.
        AmountTooLarge = "amount_too_large",
        /// The coin is not available for this amount.
        CoinUnavailable = "coin_unavailable",
        /// A payment of the invoice is already in progress.
        PaymentInFlight = "payment_in_flight",
        /// The invoice is closed: no coin can be selected.
        InvoiceClosed = "invoice_closed",
        /// The amount of a payout is malformed, or a refund is more than the remaining amount.
        InvalidAmount = "invalid_amount",
        /// The payout is smaller than the account's minimum.
        BelowMinimum = "below_minimum",
        /// The balance is smaller than the payout.
        InsufficientBalance = "insufficient_balance",
        /// The payout would exceed the account's limit for 24 hours.
        DailyLimit = "daily_limit",
        /// The account has no usable address for the payout coin: no address is set, or a new address is still in its
        /// waiting period.
        NoAddress = "no_address",
        /// Payouts exist in live mode only.
        TestMode = "test_mode",
        /// The invoice has no confirmed payment.
        InvoiceNotRefundable = "invoice_not_refundable",
        /// The key is missing, unknown or revoked.
        Unauthorized = "unauthorized",
        /// The email or the password is wrong.
        InvalidCredentials = "invalid_credentials",
        /// The password is right, but a code of the second factor is missing.
        SecondFactorRequired = "second_factor_required",
        /// The class of the API key is wrong for the route.
        WrongKeyType = "wrong_key_type",
        /// The account is pending or rejected.
        AccountNotApproved = "account_not_approved",
        /// The account is suspended.
        AccountSuspended = "account_suspended",
        /// The status of the account does not allow payouts.
        AccountNotActive = "account_not_active",
        /// The account is not allowed to have customers with static addresses.
        CustomersDisabled = "customers_disabled",
        /// The account is not allowed to order servers.
        ServersDisabled = "servers_disabled",
        /// The route is for test mode, and the invoice is in live mode.
        NotTestInvoice = "not_test_invoice",
        /// The password was entered too long ago for a sensitive action.
        ReauthenticationRequired = "reauthentication_required",
        /// The session or key does not have this permission.
        Forbidden = "forbidden",
        /// The object is unknown, belongs to another account, or is in the other mode.
        NotFound = "not_found",
        /// The path exists, but not with this method.
        MethodNotAllowed = "method_not_allowed",
        /// The request body took too long to arrive.
        RequestTimeout = "request_timeout",
        /// The request body is over 64 KiB.
        PayloadTooLarge = "payload_too_large",
        /// The request headers are over 16 KiB.
        HeadersTooLarge = "headers_too_large",
        /// The `Idempotency-Key` was used with another body or for another object.
        IdempotencyConflict = "idempotency_conflict",
        /// Another payout of the account is in progress.
        PayoutOpen = "payout_open",
        /// The account has reached its largest number of servers.
        ServerQuotaExceeded = "server_quota_exceeded",
        /// The invoice has a payment or is closed.
        InvoiceNotCancellable = "invoice_not_cancellable",
        /// The state machine has no such step.
        InvalidTransition = "invalid_transition",
        /// The key exceeded its rate limit.
        RateLimited = "rate_limited",
        /// Too many sign-ins failed, or another password of the same client is being checked.
        TooManyAttempts = "too_many_attempts",
        /// The service failed. The caller did nothing wrong.
        InternalError = "internal_error",
        /// Live invoices are paused.
        Maintenance = "maintenance",
        /// The address pool is empty, or the account has used its share of the pool.
        PoolRefilling = "pool_refilling",
        /// The service has too much work queued.
        Overloaded = "overloaded",
    }
}

/// An error response: its code, message and field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Machine code of the error.
    pub code: RefusalCode,
    /// Message for a person: the problem, then the remedy.
    pub message: String,
    /// Name of the wrong field, query value or header, if there is one.
    pub param: Option<String>,
    /// Number of seconds after which the caller may try again, if known.
    pub wait_seconds: Option<i64>,
}

impl Refusal {
    /// Returns a refusal that names no field.
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        Refusal { code, message: message.into(), param: None, wait_seconds: None }
    }

    /// Returns a refusal that names one field.
    pub fn for_param(
        code: RefusalCode,
        param: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Refusal { code, message: message.into(), param: Some(param.into()), wait_seconds: None }
    }

    /// Returns a 400 `invalid_request` for one field. The message starts with the field's name.
    pub fn field(param: &str, problem: impl std::fmt::Display) -> Self {
        Refusal::for_param(RefusalCode::InvalidRequest, param, format!("{param} {problem}"))
    }

    /// Adds the number of seconds after which the caller may try again.
    pub fn with_retry_after(self, wait_seconds: i64) -> Self {
        Refusal { wait_seconds: Some(wait_seconds), ..self }
    }

    /// Returns the refusal for an object that is unknown, of another account, or of the other mode. The caller cannot
    /// tell these three cases apart.
    pub fn not_found(what: &str) -> Self {
        Refusal::new(RefusalCode::NotFound, format!("no such {what}"))
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Refusal {}
