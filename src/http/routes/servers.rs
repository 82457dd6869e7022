//! The operator interface to resellers' servers: operations under `/dashboard/api`.

use crate::domain::refusal::Code;
use crate::domain::server::standing::ServerStatus;
use crate::http::dashboard::servers;
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Answer, Body, Content, Handler, PRIVATE, Route};

/// `limit` of the lists.
const LIMIT: Param = Param {
    name: "limit",
    about: "How many at most.",
    kind: ParamKind::Limit {
        max: 200,
        default: servers::LIMIT_DEFAULT,
    },
};

/// The list.
pub(super) static ROUTES: [Route; 3] = [
    Route {
        operation: "listAllServers",
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
        answers: &[Answer {
            status: 200,
            about: "The servers.",
            content: Content::Json("OperatedServerList"),
        }],
        handler: Handler::Operator(|call, operator| Box::pin(servers::list_all(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "decideServer",
        method: "POST",
        path: "/dashboard/api/servers/{id}",
        summary: "Decides about an order: that it is there, failed or gone, or that the provisioner may try again.",
        body: Some(Body {
            schema: "DecideServer",
            required: true,
        }),
        answers: &[Answer {
            status: 200,
            about: "The server after that.",
            content: Content::Json("OperatedServer"),
        }],
        refusals: &[Code::InvalidTransition],
        handler: Handler::Operator(|call, operator| Box::pin(servers::decide(call, operator))),
        ..PRIVATE
    },
    Route {
        operation: "listAccountServers",
        path: "/dashboard/api/accounts/{account}/servers",
        summary: "Lists an account's servers, newest first.",
        query: &[LIMIT],
        answers: &[Answer {
            status: 200,
            about: "The servers.",
            content: Content::Json("ServerList"),
        }],
        handler: Handler::Session(|call, member| Box::pin(servers::list_of_account(call, member))),
        ..PRIVATE
    },
];
