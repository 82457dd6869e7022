//! Users of the operator interface: `/dashboard/api/users`.

use crate::api::operation::{
    Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN, RecentPassword,
};
use crate::api::tag::Tag;
use crate::domain::user::inputs::{ChangeUser, CreateUser};
use crate::domain::{Refusal, RefusalCode, Role};
use crate::render::operator::{USER_LIST, UserView, user};
use crate::service::users::{NewUser, UserWithAccount};
use crate::service::{Error, Json, Member};
use std::sync::Arc;

pub const OPERATIONS: [&Operation; 4] = [&LIST, &CREATE, &CHANGE, &TURN_SECOND_FACTOR_OFF];

const LIST: Operation = Operation {
    id: "listUsers",
    path: "/dashboard/api/users",
    tag: Tag::OperatorUsers,
    summary: "Lists every user, disabled ones included.",
    answers: &[Answer::ok("The users, oldest first.", &USER_LIST)],
    run: OperationFn::Operator(list),
    ..PLAIN
};

const CREATE: Operation = Operation {
    id: "createUser",
    method: "POST",
    path: "/dashboard/api/users",
    tag: Tag::OperatorUsers,
    summary: "Creates a user: an operator, or a user of a merchant's account.",
    body: Body::required(&CreateUser::COMPONENT),
    answers: &[Answer::created("The user.", &UserView::COMPONENT)],
    refusals: &[RefusalCode::TooManyAttempts],
    recent_password: RecentPassword::Always,
    run: OperationFn::Operator(create),
    ..PLAIN
};

const CHANGE: Operation = Operation {
    id: "changeUser",
    method: "PATCH",
    path: "/dashboard/api/users/{id}",
    tag: Tag::OperatorUsers,
    summary: "Disables or enables a user, or sets another password. The user's sessions end.",
    body: Body::required(&ChangeUser::COMPONENT),
    answers: &[Answer::ok("The user.", &UserView::COMPONENT)],
    refusals: &[RefusalCode::InvalidTransition, RefusalCode::TooManyAttempts],
    recent_password: RecentPassword::Always,
    run: OperationFn::Operator(change),
    ..PLAIN
};

const TURN_SECOND_FACTOR_OFF: Operation = Operation {
    id: "turnSecondFactorOff",
    method: "DELETE",
    path: "/dashboard/api/users/{id}/second-factor",
    tag: Tag::OperatorUsers,
    summary: "Turns off the second factor of another user who has lost it. The user's sessions end.",
    answers: &[Answer::no_content("Turned off.")],
    recent_password: RecentPassword::Always,
    run: OperationFn::Operator(turn_off_second_factor),
    ..PLAIN
};

fn list(context: &Context<'_>, _: &Member) -> Result<Job, Error> {
    let users = context.service.users()?;
    let views = users.iter().map(user_json).collect::<Result<Vec<Json>, Error>>()?;
    Job::list(&views)
}

fn create(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let input = CreateUser::read(&context.body_fields()?)?;
    let new = NewUser {
        email: input.email,
        role: input.role.ok_or_else(|| {
            Refusal::field("role", format!("must be one of {}", Role::TEXTS.join(", ")))
        })?,
        account: input.account,
    };
    let (service, now, actor) = (Arc::clone(context.service), context.now, operator.actor());
    Job::hash(operator, input.password, move |hash| async move {
        let made = service.create_user(now, actor, new, hash).await?;
        user_json(&made).map(Outcome::created_resource)
    })
}

fn change(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let ChangeUser { disabled, password } = ChangeUser::read(&context.body_fields()?)?;
    let id = context.uuid("user")?;
    let (service, now, actor) = (Arc::clone(context.service), context.now, operator.actor());
    let change = move |hash| async move {
        let changed = service.change_user(now, actor, id, disabled, hash).await?;
        user_json(&changed).map(Outcome::resource)
    };
    match password {
        Some(password) => Job::hash(operator, password, |hash| change(Some(hash))),
        None => Job::wait(change(None)),
    }
}

fn turn_off_second_factor(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let (id, operator) = (context.uuid("user")?, operator.clone());
    let (service, now) = (Arc::clone(context.service), context.now);
    Job::wait(async move {
        service.turn_off_factor_of_other(now, &operator, id).await?;
        Ok(Outcome::NO_CONTENT)
    })
}

/// Renders a user and the user's account as JSON.
fn user_json(known: &UserWithAccount) -> Result<Json, Error> {
    Ok(user(&known.user, known.account_id.as_deref())?)
}
