//! First steps of an account to a real payment: `/dashboard/api/accounts/{account}/first-steps`.

use crate::api::operation::{Answer, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::tag::Tag;
use crate::render::first_steps::FirstStepsView;
use crate::service::{Error, Member};

pub const OPERATIONS: [&Operation; 1] = [&GET];

const GET: Operation = Operation {
    id: "getFirstSteps",
    path: "/dashboard/api/accounts/{account}/first-steps",
    tag: Tag::OperatorAccounts,
    summary: "Returns the steps of an account to a real payment, each with its state.",
    answers: &[Answer::ok("The steps.", &FirstStepsView::COMPONENT)],
    run: OperationFn::Session(get),
    ..PLAIN
};

fn get(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let (scope, now) = (context.scope(member)?, context.now);
    let is_operator = member.is_operator();
    Job::read(move |service| service.first_steps(now, &scope, is_operator).map(Outcome::resource))
}
