//! The operator interface: what concerns the whole service, and the audit log.

use super::invoice_desk::{BEFORE, json, limit};
use crate::domain::refusal::Code;
use crate::http::dashboard::settings;
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Body, Handler, PRIVATE, Route};

/// The list.
pub(super) static ROUTES: [Route; 5] = [
    Route {
        operation: "getSettings",
        path: "/dashboard/api/settings",
        summary: "Reads the settings of the whole service.",
        answers: &[json(200, "The settings.", "ServiceSettings")],
        handler: Handler::Operator(|call, operator| Box::pin(settings::read(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "setSettings",
        method: "PUT",
        path: "/dashboard/api/settings",
        summary: "Sets the settings of the whole service.",
        body: Some(Body {
            schema: "SetSettings",
            required: true,
        }),
        answers: &[json(200, "The settings.", "ServiceSettings")],
        handler: Handler::Operator(|call, operator| Box::pin(settings::change(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "listCoins",
        path: "/dashboard/api/coins",
        summary: "Lists every coin and whether it is switched on.",
        answers: &[json(200, "The coins.", "CoinList")],
        handler: Handler::Operator(|call, operator| Box::pin(settings::coins(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "switchCoin",
        method: "PUT",
        path: "/dashboard/api/coins/{asset}",
        summary: "Switches a coin on or off. What was quoted stays payable.",
        body: Some(Body {
            schema: "SwitchCoin",
            required: true,
        }),
        answers: &[json(200, "The coin.", "Coin")],
        handler: Handler::Operator(|call, operator| {
            Box::pin(settings::switch_coin(call, operator))
        }),
        ..PRIVATE
    },
    Route {
        operation: "listAuditLog",
        path: "/dashboard/api/audit-log",
        summary: "Pages through who did what, newest first; a merchant sees what concerns its own account.",
        answers: &[json(200, "A page of entries.", "AuditLogPage")],
        query: &[
            limit(200, settings::AUDIT_LIMIT_DEFAULT),
            BEFORE,
            Param {
                name: "account",
                about: "Only what concerns the account with this id.",
                kind: ParamKind::Id,
            },
        ],
        refusals: &[Code::NotFound],
        handler: Handler::Session(|call, member| Box::pin(settings::audit_log(call, member))),
        ..PRIVATE
    },
];
