//! Objects of an account that a text names, besides invoices: `/dashboard/api/accounts/{account}/matches`.

use crate::api::operation::{Answer, Context, Job, Operation, OperationFn, PLAIN};
use crate::api::params::MODE;
use crate::api::query::{Param, ParamKind};
use crate::api::tag::Tag;
use crate::domain::fields::Component;
use crate::render::matches::MatchView;
use crate::service::{Error, Member};

const MATCH_LIST: Component = Component::List {
    name: "MatchList",
    item: &MatchView::COMPONENT,
    about: "Objects that a text names.",
    about_data: "The newest 50 objects, newest first.",
};

pub const OPERATIONS: [&Operation; 1] = [&LIST];

const LIST: Operation = Operation {
    id: "listMatches",
    path: "/dashboard/api/accounts/{account}/matches",
    tag: Tag::OperatorInvoices,
    summary: "Finds the customers, payouts, refunds and deposits whose reference, id, address or txid is a text. Operators also find unmatched payments.",
    query: &[
        MODE,
        Param {
            name: "text",
            about: "A whole reference, id, address or txid. Without it, nothing is found.",
            kind: ParamKind::Text { chars_max: 200 },
        },
    ],
    answers: &[Answer::ok("The objects.", &MATCH_LIST)],
    run: OperationFn::Session(list),
    ..PLAIN
};

fn list(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let text = context.query.text("text").unwrap_or_default();
    Job::list(&context.service.named_objects(&scope, member.is_operator(), text)?)
}
