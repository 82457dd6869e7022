//! What concerns the whole service in the operator interface: settings, coins, the audit log.

use crate::api::params::BEFORE;
use crate::domain::refusal::Code;
use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Answer, Body, Handler, PRIVATE, RecentPassword, Resource, Route, Tag};
use crate::service::audit_log::Wanted;
use crate::service::{Error, Member};

/// How many entries of the audit log are answered where nobody says.
const AUDIT_LIMIT_DEFAULT: u32 = 50;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "getSettings",
            tag: Some(Tag::OperatorService),
            path: "/dashboard/api/settings",
            summary: "Reads the settings of the whole service.",
            answers: &[Answer::json(200, "The settings.", "ServiceSettings")],
            handler: Handler::Operator(|call, operator| Box::pin(read(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "setSettings",
            tag: Some(Tag::OperatorService),
            method: "PUT",
            path: "/dashboard/api/settings",
            summary: "Sets the settings of the whole service.",
            body: Some(Body::required("SetSettings")),
            answers: &[Answer::json(200, "The settings.", "ServiceSettings")],
            recent_password: RecentPassword::ForFields(&["confirmations", "networkFees"]),
            handler: Handler::Operator(|call, operator| Box::pin(change(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "listCoins",
            tag: Some(Tag::OperatorService),
            path: "/dashboard/api/coins",
            summary: "Lists every coin and whether it is switched on.",
            answers: &[Answer::json(200, "The coins.", "CoinList")],
            handler: Handler::Operator(|call, operator| Box::pin(coins(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "switchCoin",
            tag: Some(Tag::OperatorService),
            method: "PUT",
            path: "/dashboard/api/coins/{asset}",
            summary: "Switches a coin on or off. What was quoted stays payable.",
            body: Some(Body::required("SwitchCoin")),
            answers: &[Answer::json(200, "The coin.", "Coin")],
            handler: Handler::Operator(|call, operator| Box::pin(switch_coin(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "listAuditLog",
            tag: Some(Tag::OperatorService),
            path: "/dashboard/api/audit-log",
            summary: "Pages through who did what, newest first; a merchant sees what concerns its own account.",
            answers: &[Answer::json(200, "A page of entries.", "AuditLogPage")],
            query: &[
                Param::limit(200, AUDIT_LIMIT_DEFAULT),
                BEFORE,
                Param {
                    name: "account",
                    about: "Only what concerns the account with this id.",
                    kind: ParamKind::Id,
                },
            ],
            refusals: &[Code::NotFound],
            handler: Handler::Session(|call, member| Box::pin(audit_log(call, member))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/settings
async fn read(call: Call, _: Operator) -> Result<Reply, Error> {
    call.front.service.settings().map(Reply::ok)
}

/// PUT /dashboard/api/settings
async fn change(call: Call, operator: Operator) -> Result<Reply, Error> {
    let (member, body) = (&operator, call.object()?);
    let service = &call.front.service;
    service
        .set_settings(call.now, member, body)
        .await
        .map(Reply::ok)
}

/// GET /dashboard/api/coins
async fn coins(call: Call, _: Operator) -> Result<Reply, Error> {
    Reply::list(&call.front.service.coins()?)
}

/// PUT /dashboard/api/coins/{asset}
async fn switch_coin(call: Call, operator: Operator) -> Result<Reply, Error> {
    let (member, body) = (&operator, call.object()?);
    let service = &call.front.service;
    service
        .switch_coin(call.now, member, call.id(), body)
        .await
        .map(Reply::ok)
}

/// GET /dashboard/api/audit-log
async fn audit_log(call: Call, member: Member) -> Result<Reply, Error> {
    let wanted = Wanted {
        account: call.query.text("account").map(str::to_owned),
        before: call.query.text("before").map(str::to_owned),
        limit: call.query.limit(AUDIT_LIMIT_DEFAULT),
    };
    let service = &call.front.service;
    Reply::page(&service.audit_log(&member, &wanted)?)
}
