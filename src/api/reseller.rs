//! Servers that resellers order, read and delete: `/reseller/servers`.

use super::operation::{
    Answer, Body, Context, Job, Operation, OperationFn, Outcome, OutcomeBody, PLAIN, Success,
};
use super::query::Param;
use super::tag::Tag;
use crate::domain::RefusalCode;
use crate::domain::fields::Component;
use crate::domain::server::order::CreateServer;
use crate::render::servers::ServerView;
use crate::service::reseller::DiscardOutcome;
use crate::service::{Error, Scope};
use std::sync::Arc;

const LIMIT_DEFAULT: u32 = 25;

pub const SERVER_LIST: Component = Component::Exemplified {
    component: &Component::List {
        name: "ServerList",
        item: &ServerView::COMPONENT,
        about: "",
        about_data: "",
    },
    differs: r#"{
        "data": [{
            "id": "0199a0c4-5f3e-7c11-8a52-3d1d2f6b7b10", "object": "server", "type": "kvm",
            "hostname": "web-1.example.com", "cpu": 2, "ramMb": 2048, "diskGb": 40, "status": "queued",
            "address": null, "failureReason": null, "createdAt": "2026-11-21T09:30:00.000Z", "activatedAt": null,
            "deletionRequestedAt": null, "deletedAt": null
        }]
    }"#,
};

pub const OPERATIONS: [&Operation; 4] = [&CREATE, &LIST, &GET, &DELETE];

const CREATE: Operation = Operation {
    id: "createServer",
    method: "POST",
    path: "/reseller/servers",
    tag: Tag::Reseller,
    summary: "Orders a server. The order is queued; poll the server until it is active.",
    body: Body::required(&CreateServer::COMPONENT),
    answers: &[Answer::created("The server was ordered.", &ServerView::COMPONENT)],
    refusals: &[
        RefusalCode::AccountNotActive,
        RefusalCode::ServersDisabled,
        RefusalCode::ServerQuotaExceeded,
        RefusalCode::IdempotencyConflict,
    ],
    is_idempotent: true,
    run: OperationFn::Reseller(create),
    ..PLAIN
};

const LIST: Operation = Operation {
    id: "listServers",
    path: "/reseller/servers",
    tag: Tag::Reseller,
    summary: "Lists servers, newest first, deleted ones included.",
    query: &[Param::limit(100, LIMIT_DEFAULT)],
    answers: &[Answer::ok("The servers.", &SERVER_LIST)],
    run: OperationFn::Reseller(list),
    ..PLAIN
};

const GET: Operation = Operation {
    id: "getServer",
    path: "/reseller/servers/{id}",
    tag: Tag::Reseller,
    summary: "Returns a server.",
    answers: &[Answer::ok("The server.", &ServerView::COMPONENT)],
    run: OperationFn::Reseller(get),
    ..PLAIN
};

const DELETE: Operation = Operation {
    id: "deleteServer",
    method: "DELETE",
    path: "/reseller/servers/{id}",
    tag: Tag::Reseller,
    summary: "Deletes a server. An active server stays active until it has been removed.",
    answers: &[
        Answer::ok("The server, deleted.", &ServerView::COMPONENT),
        Answer::accepted("The server, active until it has been removed.", &ServerView::COMPONENT),
    ],
    refusals: &[RefusalCode::InvalidTransition],
    run: OperationFn::Reseller(delete),
    ..PLAIN
};

fn create(context: &Context<'_>, scope: &Scope) -> Result<Job, Error> {
    let request = context.idempotent_request(context.body_fields()?)?;
    let (service, scope, now) = (Arc::clone(context.service), *scope, context.now);
    Job::wait(async move {
        let ordered = service.order_server(now, &scope, request);
        ordered.await.map(Outcome::from_idempotent)
    })
}

fn list(context: &Context<'_>, scope: &Scope) -> Result<Job, Error> {
    let limit = context.query.limit(LIMIT_DEFAULT);
    Job::list(&context.service.servers(scope, limit)?)
}

fn get(context: &Context<'_>, scope: &Scope) -> Result<Job, Error> {
    let server = context.service.server(scope, &context.uuid("server")?)?;
    Ok(Job::Done(Outcome::resource(server)))
}

fn delete(context: &Context<'_>, scope: &Scope) -> Result<Job, Error> {
    let id = context.uuid("server")?;
    let (service, scope, now) = (Arc::clone(context.service), *scope, context.now);
    Job::wait(async move {
        let (discarded, server) = service.discard_server(now, &scope, &id).await?;
        Ok(Outcome {
            success: match discarded {
                DiscardOutcome::Gone => Success::Ok,
                DiscardOutcome::Later => Success::Accepted,
            },
            body: OutcomeBody::Unshared(server),
        })
    })
}
