//! The operator interface: accounts, their settings, their payout addresses and their legacy secret.

use super::invoice_desk::json;
use crate::domain::refusal::Code;
use crate::http::dashboard::accounts;
use crate::http::route::{Answer, Body, Content, Handler, PRIVATE, Route};

/// The list.
pub(super) static ROUTES: [Route; 9] = [
    Route {
        operation: "listAccounts",
        path: "/dashboard/api/accounts",
        summary: "Lists every account, oldest first.",
        answers: &[json(200, "The accounts.", "AccountSettingsList")],
        handler: Handler::Operator(|call, operator| Box::pin(accounts::list(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "createAccount",
        method: "POST",
        path: "/dashboard/api/accounts",
        summary: "Makes an account, pending.",
        body: Some(Body {
            schema: "CreateAccount",
            required: true,
        }),
        answers: &[json(201, "The account.", "AccountSettings")],
        handler: Handler::Operator(|call, operator| Box::pin(accounts::create(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "getAccount",
        path: "/dashboard/api/accounts/{account}",
        summary: "Reads an account with its settings.",
        answers: &[json(200, "The account.", "AccountSettings")],
        handler: Handler::Session(|call, member| Box::pin(accounts::read(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "changeAccount",
        method: "PATCH",
        path: "/dashboard/api/accounts/{account}",
        summary: "Changes some of an account's settings: all of them or none. Its terms are changed by operators only.",
        body: Some(Body {
            schema: "ChangeAccount",
            required: true,
        }),
        answers: &[json(200, "The account.", "AccountSettings")],
        handler: Handler::Session(|call, member| Box::pin(accounts::change(call, member))),
        ..PRIVATE
    },
    Route {
        operation: "decideOnAccount",
        method: "POST",
        path: "/dashboard/api/accounts/{account}/status",
        summary: "Approves, rejects, suspends or reactivates an account.",
        body: Some(Body {
            schema: "DecideOnAccount",
            required: true,
        }),
        answers: &[json(200, "The account.", "AccountSettings")],
        refusals: &[Code::InvalidTransition],
        handler: Handler::Operator(|call, operator| Box::pin(accounts::decide(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "setPayoutAddress",
        method: "PUT",
        path: "/dashboard/api/accounts/{account}/payout-addresses/{chain}",
        summary: "Sets where payouts on a chain go; payouts wait 24 hours after a change.",
        body: Some(Body {
            schema: "SetPayoutAddress",
            required: true,
        }),
        answers: &[json(200, "The account.", "AccountSettings")],
        needs_recent_password: true,
        handler: Handler::Session(|call, member| {
            Box::pin(accounts::set_payout_address(call, member))
        }),
        ..PRIVATE
    },
    Route {
        operation: "removePayoutAddress",
        method: "DELETE",
        path: "/dashboard/api/accounts/{account}/payout-addresses/{chain}",
        summary: "Forgets where payouts on a chain go.",
        answers: &[Answer {
            status: 204,
            about: "Forgotten.",
            content: Content::Empty,
        }],
        needs_recent_password: true,
        handler: Handler::Session(|call, member| {
            Box::pin(accounts::remove_payout_address(call, member))
        }),
        ..PRIVATE
    },
    Route {
        operation: "getLegacySecret",
        path: "/dashboard/api/accounts/{account}/legacy-secret",
        summary: "Shows the secret that signs deliveries to the webhookUrl of invoices; the audit log notes to whom.",
        answers: &[json(200, "The secret.", "SigningSecret")],
        needs_recent_password: true,
        handler: Handler::Session(|call, member| {
            Box::pin(accounts::show_legacy_secret(call, member))
        }),
        ..PRIVATE
    },
    Route {
        operation: "rollLegacySecret",
        method: "POST",
        path: "/dashboard/api/accounts/{account}/legacy-secret/roll",
        summary: "Makes a new legacy secret; for 24 hours the old one signs too.",
        answers: &[json(200, "The new secret.", "SigningSecret")],
        needs_recent_password: true,
        handler: Handler::Session(|call, member| {
            Box::pin(accounts::roll_legacy_secret(call, member))
        }),
        ..PRIVATE
    },
];
