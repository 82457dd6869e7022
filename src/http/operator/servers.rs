//! Servers that resellers ordered, and what an operator decides about them.

use crate::domain::refusal::Code;
use crate::domain::server::outcome::Decision;
use crate::domain::server::state::ServerStatus;
use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Answer, Body, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::{Error, Member};

/// `limit` where none is given.
const LIMIT_DEFAULT: u32 = 50;

/// `limit` of the lists.
const LIMIT: Param = Param::limit(200, LIMIT_DEFAULT);

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listAllServers",
            tag: Some(Tag::OperatorServers),
            path: "/dashboard/api/servers",
            summary: "Lists everybody's servers, newest first.",
            query: &[
                LIMIT,
                Param {
                    name: "status",
                    about: "Only servers of this status.",
                    kind: ParamKind::OneOf(ServerStatus::TEXTS),
                },
            ],
            answers: &[Answer::json(200, "The servers.", "OperatedServerList")],
            handler: Handler::Operator(|call, operator| Box::pin(list_all(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "decideServer",
            tag: Some(Tag::OperatorServers),
            method: "POST",
            path: "/dashboard/api/servers/{id}",
            summary: "Decides about an order: that it is there, failed or gone, or that the provisioner may try again.",
            body: Some(Body::required("DecideServer")),
            answers: &[Answer::json(
                200,
                "The server after that.",
                "OperatedServer",
            )],
            refusals: &[Code::InvalidTransition],
            handler: Handler::Operator(|call, operator| Box::pin(decide(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "listAccountServers",
            tag: Some(Tag::OperatorServers),
            path: "/dashboard/api/accounts/{account}/servers",
            summary: "Lists an account's servers, newest first.",
            query: &[LIMIT],
            answers: &[Answer::json(200, "The servers.", "ServerList")],
            handler: Handler::Session(|call, member| Box::pin(list_of_account(call, member))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/servers
async fn list_all(call: Call, _: Operator) -> Result<Reply, Error> {
    let limit = call.query.limit(LIMIT_DEFAULT);
    let status = call.query.choice("status")?;
    Reply::list(&call.front.service.all_servers(status, limit)?)
}

/// POST /dashboard/api/servers/{id}
async fn decide(call: Call, operator: Operator) -> Result<Reply, Error> {
    let decision = Decision::parse(&call.object()?)?;
    call.front
        .service
        .decide_server(call.now, &operator, call.id(), decision)
        .await
        .map(Reply::ok)
}

/// GET /dashboard/api/accounts/{account}/servers
async fn list_of_account(call: Call, member: Member) -> Result<Reply, Error> {
    let limit = call.query.limit(LIMIT_DEFAULT);
    Reply::list(&call.front.service.servers(&call.scope(&member)?, limit)?)
}
