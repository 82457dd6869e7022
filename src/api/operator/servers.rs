//! Servers that resellers ordered, and decisions of operators about them: `/dashboard/api/servers`.

use crate::api::operation::{Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::query::{Param, ParamKind};
use crate::api::reseller::SERVER_LIST;
use crate::api::tag::Tag;
use crate::domain::fields::Component;
use crate::domain::server::outcome::DecideServer;
use crate::domain::{OperatorStep, OrderedServer, Refusal, RefusalCode, ServerStatus, ServerStep};
use crate::render::servers::{OperatedServerView, server_for_operator};
use crate::service::{Error, Json, Member, Step, audit_log};
use crate::store::{Reader, accounts, servers};
use serde_json::json;

/// Default of the parameter `limit`.
const LIMIT_DEFAULT: u32 = 50;

/// Query parameter `limit` of the lists of servers.
const LIMIT: Param = Param::limit(200, LIMIT_DEFAULT);

const OPERATED_SERVER_LIST: Component = Component::Exemplified {
    component: &Component::List {
        name: "OperatedServerList",
        item: &OperatedServerView::COMPONENT,
        about: "",
        about_data: "",
    },
    differs: r#"{
        "data": [{
            "id": "0199a0c4-5f3e-7c11-8a52-3d1d2f6b7b10", "object": "server", "type": "kvm",
            "hostname": "web-1.example.com", "cpu": 2, "ramMb": 2048, "diskGb": 40, "status": "active",
            "address": "203.0.113.7", "failureReason": null, "createdAt": "2026-11-21T09:30:00.000Z",
            "activatedAt": "2026-11-21T09:30:41.000Z", "deletionRequestedAt": null, "deletedAt": null,
            "account": "0199a0c4-5f3e-7c11-8a52-3d1d2f6b7a11", "ref": "vm-17", "command": null
        }]
    }"#,
};

pub const OPERATIONS: [&Operation; 3] = [&LIST_ALL, &DECIDE, &LIST_OF_ACCOUNT];

const LIST_ALL: Operation = Operation {
    id: "listAllServers",
    path: "/dashboard/api/servers",
    tag: Tag::OperatorServers,
    summary: "Lists the servers of all accounts, newest first.",
    query: &[
        LIMIT,
        Param {
            name: "status",
            about: "Only servers of this status.",
            kind: ParamKind::OneOf(ServerStatus::TEXTS),
        },
    ],
    answers: &[Answer::ok("The servers.", &OPERATED_SERVER_LIST)],
    run: OperationFn::Operator(list_all),
    ..PLAIN
};

const DECIDE: Operation = Operation {
    id: "decideServer",
    method: "POST",
    path: "/dashboard/api/servers/{id}",
    tag: Tag::OperatorServers,
    summary: "Records the outcome of an order: active, failed, deleted, or to be tried again.",
    body: Body::required(&DecideServer::COMPONENT),
    answers: &[Answer::ok("The server.", &OperatedServerView::COMPONENT)],
    refusals: &[RefusalCode::InvalidTransition],
    run: OperationFn::Operator(apply_decision),
    ..PLAIN
};

const LIST_OF_ACCOUNT: Operation = Operation {
    id: "listAccountServers",
    path: "/dashboard/api/accounts/{account}/servers",
    tag: Tag::OperatorServers,
    summary: "Lists an account's servers, newest first.",
    query: &[LIMIT],
    answers: &[Answer::ok("The servers.", &SERVER_LIST)],
    run: OperationFn::Session(list_account_servers),
    ..PLAIN
};

fn list_all(context: &Context<'_>, _: &Member) -> Result<Job, Error> {
    let (status, limit) = (context.query.enum_value("status")?, context.query.limit(LIMIT_DEFAULT));
    let rendered = context.service.read(|db| {
        let servers = servers::list_all(db, status, limit)?;
        let rendered = servers.iter().map(|server| server_json(db, server));
        rendered.collect::<Result<Vec<Json>, Error>>()
    })?;
    Job::list(&rendered)
}

fn apply_decision(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let decision = DecideServer::parse_decision(&context.body_fields()?)?;
    let (id, now, actor) = (context.uuid("server")?, context.now, member.actor());
    Job::write(move |step| {
        let Step { tx, .. } = *step;
        let server = servers::by_id(tx, &id)?;
        let mut server = server.ok_or_else(|| Refusal::not_found("server"))?;
        let before = server.state;
        let detail = json!({
            "from": before.status(), "address": decision.address, "ref": decision.r#ref,
            "reason": decision.reason,
        });
        server.take_step(ServerStep::Operator(decision.action), now)?;
        server.address = decision.address.or(server.address);
        server.provider_ref = decision.r#ref.or(server.provider_ref);
        server.failure_reason = match decision.action {
            OperatorStep::Fail => decision.reason,
            OperatorStep::Activate | OperatorStep::Release => None,
            OperatorStep::Delete => server.failure_reason,
        };
        servers::update(tx, &server, before)?;
        let action = format!("server.{}", decision.action);
        audit_log::record(
            tx,
            now,
            &actor,
            &action,
            Some(server.account),
            Some(&server.id),
            &detail,
        )?;
        Ok(Outcome::resource(server_json(tx, &server)?))
    })
}

fn list_account_servers(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let limit = context.query.limit(LIMIT_DEFAULT);
    Job::list(&context.service.servers(&context.scope(member)?, limit)?)
}

/// Renders a server as JSON for operators.
fn server_json(db: &Reader<'_>, server: &OrderedServer) -> Result<Json, Error> {
    let account = accounts::by_seq(db, server.account)?;
    Ok(server_for_operator(server, &account.id)?)
}
