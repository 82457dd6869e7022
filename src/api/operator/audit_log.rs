//! The audit log: `/dashboard/api/audit-log`.

use crate::api::operation::{Answer, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::params::BEFORE;
use crate::api::query::{Param, ParamKind};
use crate::api::tag::Tag;
use crate::domain::RefusalCode;
use crate::domain::fields::{Component, Schema};
use crate::render::settings::AuditLogEntryView;
use crate::service::audit_log::AuditLogQuery;
use crate::service::{Error, Member};

/// Default of the parameter `limit`.
const LIMIT_DEFAULT: u32 = 50;

const AUDIT_LOG_PAGE: Component = Component::Page {
    name: "AuditLogPage",
    item: &Component::Inline(&AuditLogEntryView::OBJECT),
    about: [
        "One page of the audit log, newest first.",
        "The entries of this page, newest first.",
        "Whether older items follow.",
        "Value of `before` for the next page; null on the last page.",
    ],
    before: &Schema::STRING,
};

pub const OPERATIONS: [&Operation; 1] = [&LIST];

const LIST: Operation = Operation {
    id: "listAuditLog",
    path: "/dashboard/api/audit-log",
    tag: Tag::OperatorService,
    summary: "Returns a page of the audit log, newest first. A merchant sees the entries of its own account.",
    query: &[
        Param::limit(200, LIMIT_DEFAULT),
        BEFORE,
        Param {
            name: "account",
            about: "Only entries of the account with this id.",
            kind: ParamKind::Id,
        },
    ],
    answers: &[Answer::ok("A page of entries.", &AUDIT_LOG_PAGE)],
    refusals: &[RefusalCode::NotFound],
    run: OperationFn::Session(list),
    ..PLAIN
};

fn list(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let query = AuditLogQuery {
        account: context.query.text("account").map(str::to_owned),
        before: context.query.text("before").map(str::to_owned),
        limit: context.query.limit(LIMIT_DEFAULT),
    };
    let page = context.service.audit_log(member.user(), &query)?;
    Ok(Job::Done(Outcome::from_page(page)))
}
