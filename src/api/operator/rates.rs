//! Exchange rates of live mode: `/dashboard/api/rates`.

use crate::api::operation::{Answer, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::tag::Tag;
use crate::render::rates::RatesView;
use crate::service::{Error, Member};

pub const OPERATIONS: [&Operation; 1] = [&GET];

const GET: Operation = Operation {
    id: "getRates",
    path: "/dashboard/api/rates",
    tag: Tag::OperatorService,
    summary: "Returns the rate of each coin in live mode, its age and the rate of each source, or the reason for its absence.",
    answers: &[Answer::ok("The rates.", &RatesView::COMPONENT)],
    run: OperationFn::Operator(get),
    ..PLAIN
};

fn get(context: &Context<'_>, _: &Member) -> Result<Job, Error> {
    let rates = context.service.rates(context.now)?;
    Ok(Job::Done(Outcome::resource(rates)))
}
