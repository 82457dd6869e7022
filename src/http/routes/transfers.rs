//! Payouts and refunds: the merchant's operations, the operator interface's, the sandbox's.

use crate::domain::asset::Mode;
use crate::domain::refusal::Code;
use crate::domain::transfer::TransferStatus;
use crate::http::api::transfers as api;
use crate::http::dashboard::transfers as dashboard;
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Answer, Body, Content, Handler, PLAIN, PRIVATE, Route};
use crate::http::sandbox;

/// `limit` of a list.
const LIMIT: Param = Param {
    name: "limit",
    about: "How many at most.",
    kind: ParamKind::Limit {
        max: 100,
        default: api::LIMIT_DEFAULT,
    },
};

/// `invoiceId` of a list of refunds.
const INVOICE_ID: Param = Param {
    name: "invoiceId",
    about: "Only refunds of the invoice with this id.",
    kind: ParamKind::Uuid,
};

/// `mode` of the operator interface.
const MODE: Param = Param {
    name: "mode",
    about: "Whose data: live or test; live where it is left out.",
    kind: ParamKind::OneOf(Mode::TEXTS),
};

/// `status` of a list.
const STATUS: Param = Param {
    name: "status",
    about: "Only those that stand here.",
    kind: ParamKind::OneOf(TransferStatus::TEXTS),
};

/// What a request for a payout is refused for, beside what is wrong with its body.
const PAYOUT_REFUSALS: &[Code] = &[
    Code::TestMode,
    Code::AccountNotActive,
    Code::Maintenance,
    Code::InvalidAmount,
    Code::PayoutOpen,
    Code::NoAddress,
    Code::BelowMinimum,
    Code::InsufficientBalance,
    Code::DailyLimit,
    Code::IdempotencyConflict,
];

/// A body that must be there.
const fn body(schema: &'static str) -> Option<Body> {
    Some(Body {
        schema,
        required: true,
    })
}

/// A status with this schema.
const fn json(status: u16, about: &'static str, schema: &'static str) -> Answer {
    Answer {
        status,
        about,
        content: Content::Json(schema),
    }
}

/// The merchant's.
pub(super) static MERCHANT: [Route; 5] = [
    Route {
        operation: "createPayout",
        method: "POST",
        path: "/v1/payouts",
        summary: "Requests a payout of the balance to the account's payout address. Live keys only.",
        body: body("CreatePayout"),
        answers: &[json(201, "The payout was requested.", "Payout")],
        refusals: PAYOUT_REFUSALS,
        is_idempotent: true,
        handler: Handler::Secret(|call, caller| Box::pin(api::create_payout(call, caller))),
        ..PRIVATE
    },
    Route {
        operation: "listPayouts",
        path: "/v1/payouts",
        summary: "Lists payouts, newest first.",
        query: &[LIMIT],
        answers: &[json(200, "The payouts.", "PayoutList")],
        handler: Handler::Secret(|call, caller| Box::pin(api::payouts(call, caller))),
        ..PRIVATE
    },
    Route {
        operation: "getPayout",
        path: "/v1/payouts/{id}",
        summary: "Reads a payout.",
        answers: &[json(200, "The payout.", "Payout")],
        handler: Handler::Secret(|call, caller| Box::pin(api::payout(call, caller))),
        ..PRIVATE
    },
    Route {
        operation: "listRefunds",
        path: "/v1/refunds",
        summary: "Lists refunds, newest first. They are requested in the dashboard.",
        query: &[LIMIT, INVOICE_ID],
        answers: &[json(200, "The refunds.", "RefundList")],
        handler: Handler::Secret(|call, caller| Box::pin(api::refunds(call, caller))),
        ..PRIVATE
    },
    Route {
        operation: "getRefund",
        path: "/v1/refunds/{id}",
        summary: "Reads a refund.",
        answers: &[json(200, "The refund.", "Refund")],
        handler: Handler::Secret(|call, caller| Box::pin(api::refund(call, caller))),
        ..PRIVATE
    },
];

/// The operator interface's.
pub(super) static DASHBOARD: [Route; 8] = [
    Route {
        operation: "listAccountPayouts",
        path: "/dashboard/api/accounts/{account}/payouts",
        summary: "Lists an account's payouts, newest first.",
        query: &[LIMIT, MODE],
        answers: &[json(200, "The payouts.", "DashboardPayoutList")],
        handler: Handler::Session(|call, member| Box::pin(dashboard::payouts(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "createAccountPayout",
        method: "POST",
        path: "/dashboard/api/accounts/{account}/payouts",
        summary: "Requests a payout, with the checks of POST /v1/payouts.",
        query: &[MODE],
        body: body("CreatePayout"),
        answers: &[json(201, "The payout was requested.", "DashboardPayout")],
        refusals: PAYOUT_REFUSALS,
        is_idempotent: true,
        handler: Handler::Session(|call, member| Box::pin(dashboard::request_payout(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "listAccountRefunds",
        path: "/dashboard/api/accounts/{account}/refunds",
        summary: "Lists an account's refunds, newest first.",
        query: &[LIMIT, INVOICE_ID, MODE],
        answers: &[json(200, "The refunds.", "DashboardRefundList")],
        handler: Handler::Session(|call, member| Box::pin(dashboard::refunds(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "requestRefund",
        method: "POST",
        path: "/dashboard/api/accounts/{account}/refunds",
        summary: "Requests a refund of an invoice: at most what was confirmed on it, less its other refunds.",
        query: &[MODE],
        body: body("RequestRefund"),
        answers: &[json(201, "The refund was requested.", "DashboardRefund")],
        refusals: &[
            Code::InvoiceNotRefundable,
            Code::InvalidAmount,
            Code::IdempotencyConflict,
        ],
        is_idempotent: true,
        handler: Handler::Session(|call, member| Box::pin(dashboard::request_refund(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "listAllPayouts",
        path: "/dashboard/api/payouts",
        summary: "Lists the payouts of all accounts, newest first.",
        query: &[LIMIT, STATUS, MODE],
        answers: &[json(200, "The payouts.", "DashboardPayoutList")],
        handler: Handler::Operator(|call, operator| {
            Box::pin(dashboard::all_payouts(call, operator))
        }),
        ..PRIVATE
    },
    Route {
        operation: "movePayout",
        method: "POST",
        path: "/dashboard/api/payouts/{id}",
        summary: "Approves, processes, pays, fails, rejects or cancels a payout.",
        body: body("MoveTransfer"),
        answers: &[json(200, "The payout.", "DashboardPayout")],
        refusals: &[Code::InvalidTransition],
        handler: Handler::Operator(|call, operator| {
            Box::pin(dashboard::move_payout(call, operator))
        }),
        ..PRIVATE
    },
    Route {
        operation: "listAllRefunds",
        path: "/dashboard/api/refunds",
        summary: "Lists the refunds of all accounts, newest first.",
        query: &[LIMIT, STATUS, MODE],
        answers: &[json(200, "The refunds.", "DashboardRefundList")],
        handler: Handler::Operator(|call, operator| {
            Box::pin(dashboard::all_refunds(call, operator))
        }),
        ..PRIVATE
    },
    Route {
        operation: "moveRefund",
        method: "POST",
        path: "/dashboard/api/refunds/{id}",
        summary: "Approves, processes, pays, fails, rejects or cancels a refund.",
        body: body("MoveTransfer"),
        answers: &[json(200, "The refund.", "DashboardRefund")],
        refusals: &[Code::InvalidTransition],
        handler: Handler::Operator(|call, operator| {
            Box::pin(dashboard::move_refund(call, operator))
        }),
        ..PRIVATE
    },
];

/// The sandbox's.
pub(super) static SANDBOX: [Route; 3] = [
    Route {
        operation: "sandboxMovePayout",
        method: "POST",
        path: "/sandbox/payouts/{id}",
        summary: "Approves, processes, pays, fails, rejects or cancels a payout.",
        body: body("SandboxMoveTransfer"),
        answers: &[json(200, "The payout.", "Payout")],
        refusals: &[Code::InvalidTransition],
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::move_payout(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "sandboxPutRefund",
        method: "POST",
        path: "/sandbox/refunds",
        summary: "Requests a refund of an invoice of either mode.",
        body: body("SandboxRefund"),
        answers: &[json(201, "The refund was requested.", "Refund")],
        refusals: &[
            Code::NotFound,
            Code::InvoiceNotRefundable,
            Code::InvalidAmount,
        ],
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::put_refund(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "sandboxMoveRefund",
        method: "POST",
        path: "/sandbox/refunds/{id}",
        summary: "Approves, processes, pays, fails, rejects or cancels a refund.",
        body: body("SandboxMoveTransfer"),
        answers: &[json(200, "The refund.", "Refund")],
        refusals: &[Code::InvalidTransition],
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::move_refund(call, sandbox))),
        ..PLAIN
    },
];
