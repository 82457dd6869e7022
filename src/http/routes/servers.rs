//! The operator interface to resellers' servers: operations under `/dashboard/api`.

use crate::domain::refusal::Code;
use crate::domain::server::standing::ServerStatus;
use crate::domain::user::Role;
use crate::http::auth::Auth;
use crate::http::dashboard::servers;
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Answer, Body, Content, PLAIN, Route};

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
        auth: Auth::Session(Role::Operator),
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
        handler: |call| Box::pin(servers::list_all(call)),
        ..PLAIN
    },
    Route {
        operation: "decideServer",
        method: "POST",
        path: "/dashboard/api/servers/{id}",
        summary: "Decides about an order: that it is there, failed or gone, or that the provisioner may try again.",
        auth: Auth::Session(Role::Operator),
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
        handler: |call| Box::pin(servers::decide(call)),
        ..PLAIN
    },
    Route {
        operation: "listAccountServers",
        path: "/dashboard/api/accounts/{account}/servers",
        summary: "Lists an account's servers, newest first.",
        auth: Auth::Session(Role::Merchant),
        query: &[LIMIT],
        answers: &[Answer {
            status: 200,
            about: "The servers.",
            content: Content::Json("ServerList"),
        }],
        handler: |call| Box::pin(servers::list_of_account(call)),
        ..PLAIN
    },
];
