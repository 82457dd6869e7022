//! The reseller interface: operations under `/reseller`.

use crate::domain::refusal::Code;
use crate::http::request::{Param, ParamKind};
use crate::http::reseller;
use crate::http::route::{Answer, Body, Content, Handler, PRIVATE, Route};

/// An answer with a server.
const fn server(status: u16, about: &'static str) -> Answer {
    Answer {
        status,
        about,
        content: Content::Json("Server"),
    }
}

/// The list.
pub(super) static ROUTES: [Route; 4] = [
    Route {
        operation: "createServer",
        method: "POST",
        path: "/reseller/servers",
        summary: "Orders a server. It is queued; read it to see it become active.",
        body: Some(Body {
            schema: "CreateServer",
            required: true,
        }),
        answers: &[server(201, "The server was ordered.")],
        refusals: &[
            Code::AccountNotActive,
            Code::ServersDisabled,
            Code::ServerQuotaExceeded,
            Code::IdempotencyConflict,
        ],
        is_idempotent: true,
        handler: Handler::Reseller(|call, reseller| Box::pin(reseller::order(call, reseller))),
        ..PRIVATE
    },
    Route {
        operation: "listServers",
        path: "/reseller/servers",
        summary: "Lists servers, newest first, those that are gone too.",
        query: &[Param {
            name: "limit",
            about: "How many at most.",
            kind: ParamKind::Limit {
                max: 100,
                default: reseller::LIMIT_DEFAULT,
            },
        }],
        answers: &[Answer {
            status: 200,
            about: "The servers.",
            content: Content::Json("ServerList"),
        }],
        handler: Handler::Reseller(|call, reseller| Box::pin(reseller::list(call, reseller))),
        ..PRIVATE
    },
    Route {
        operation: "getServer",
        path: "/reseller/servers/{id}",
        summary: "Reads a server.",
        answers: &[server(200, "The server.")],
        handler: Handler::Reseller(|call, reseller| Box::pin(reseller::get(call, reseller))),
        ..PRIVATE
    },
    Route {
        operation: "deleteServer",
        method: "DELETE",
        path: "/reseller/servers/{id}",
        summary: "Gives a server up. One that is active stays so until it has been removed.",
        answers: &[
            server(200, "It is deleted."),
            server(202, "It is active and will be removed."),
        ],
        refusals: &[Code::InvalidTransition],
        handler: Handler::Reseller(|call, reseller| Box::pin(reseller::discard(call, reseller))),
        ..PRIVATE
    },
];
