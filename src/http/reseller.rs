//! The reseller interface, `/reseller/…`: ordering, reading and giving up servers.

use super::auth::Reseller;
use super::reply::Reply;
use super::request::{Call, Param, idempotency_key};
use super::route::{Answer, Body, Handler, PRIVATE, Resource, Route, Tag};
use crate::domain::refusal::Code;
use crate::service::Error;
use crate::service::reseller::Discarded;
use hyper::StatusCode;

/// `limit` where none is given.
const LIMIT_DEFAULT: u32 = 25;

/// Its operations.
pub(super) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "createServer",
            tag: Some(Tag::Reseller),
            method: "POST",
            path: "/reseller/servers",
            summary: "Orders a server. It is queued; read it to see it become active.",
            body: Some(Body::required("CreateServer")),
            answers: &[Answer::json(201, "The server was ordered.", "Server")],
            refusals: &[
                Code::AccountNotActive,
                Code::ServersDisabled,
                Code::ServerQuotaExceeded,
                Code::IdempotencyConflict,
            ],
            is_idempotent: true,
            handler: Handler::Reseller(|call, reseller| Box::pin(order(call, reseller))),
            ..PRIVATE
        },
        Route {
            operation: "listServers",
            tag: Some(Tag::Reseller),
            path: "/reseller/servers",
            summary: "Lists servers, newest first, those that are gone too.",
            query: &[Param::limit(100, LIMIT_DEFAULT)],
            answers: &[Answer::json(200, "The servers.", "ServerList")],
            handler: Handler::Reseller(|call, reseller| Box::pin(list(call, reseller))),
            ..PRIVATE
        },
        Route {
            operation: "getServer",
            tag: Some(Tag::Reseller),
            path: "/reseller/servers/{id}",
            summary: "Reads a server.",
            answers: &[Answer::json(200, "The server.", "Server")],
            handler: Handler::Reseller(|call, reseller| Box::pin(get(call, reseller))),
            ..PRIVATE
        },
        Route {
            operation: "deleteServer",
            tag: Some(Tag::Reseller),
            method: "DELETE",
            path: "/reseller/servers/{id}",
            summary: "Gives a server up. One that is active stays so until it has been removed.",
            answers: &[
                Answer::json(200, "It is deleted.", "Server"),
                Answer::json(202, "It is active and will be removed.", "Server"),
            ],
            refusals: &[Code::InvalidTransition],
            handler: Handler::Reseller(|call, reseller| Box::pin(discard(call, reseller))),
            ..PRIVATE
        },
    ],
};

/// POST /reseller/servers
async fn order(call: Call, reseller: Reseller) -> Result<Reply, Error> {
    let body = call.object()?;
    let client_key = idempotency_key(&call.headers)?;
    let service = &call.front.service;
    let json = service
        .order_server(call.now, &reseller, body, client_key)
        .await?;
    Ok(Reply::json(StatusCode::CREATED, json))
}

/// GET /reseller/servers
async fn list(call: Call, reseller: Reseller) -> Result<Reply, Error> {
    let limit = call.query.limit(LIMIT_DEFAULT);
    Reply::list(&call.front.service.servers(&reseller, limit)?)
}

/// GET /reseller/servers/{id}
async fn get(call: Call, reseller: Reseller) -> Result<Reply, Error> {
    let id = call.uuid("server")?;
    call.front.service.server(&reseller, &id).map(Reply::ok)
}

/// DELETE /reseller/servers/{id}
async fn discard(call: Call, reseller: Reseller) -> Result<Reply, Error> {
    let id = call.uuid("server")?;
    let service = &call.front.service;
    let (discarded, json) = service.discard_server(call.now, &reseller, &id).await?;
    let status = match discarded {
        Discarded::Gone => StatusCode::OK,
        Discarded::Later => StatusCode::ACCEPTED,
    };
    Ok(Reply::json(status, Box::<str>::from(json).into_string()))
}
