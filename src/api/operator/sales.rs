//! Sales of an account in a period: `/dashboard/api/accounts/{account}/sales`.

use crate::api::operation::{Answer, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::params::MODE;
use crate::api::query::{Param, ParamKind};
use crate::api::tag::Tag;
use crate::domain::SalesPeriod;
use crate::render::sales::SalesView;
use crate::service::{Error, Member};

pub const OPERATIONS: [&Operation; 1] = [&GET];

const GET: Operation = Operation {
    id: "getSales",
    path: "/dashboard/api/accounts/{account}/sales",
    tag: Tag::OperatorBooks,
    summary: "Returns an account's sales by hour or day and by coin, compared with the period before.",
    query: &[
        MODE,
        Param {
            name: "days",
            about: "Number of days of the period, the last of which is today; default 7.",
            kind: ParamKind::OneOf(SalesPeriod::TEXTS),
        },
    ],
    answers: &[Answer::ok("The sales.", &SalesView::COMPONENT)],
    run: OperationFn::Session(get),
    ..PLAIN
};

fn get(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let (scope, now) = (context.scope(member)?, context.now);
    let period = context.query.enum_value("days")?.unwrap_or(SalesPeriod::Week);
    Job::read(move |service| service.sales(now, &scope, period).map(Outcome::resource))
}
