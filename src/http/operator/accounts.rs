//! Accounts in the operator interface: what they are, what is decided of them, where their payouts go.

use crate::domain::refusal::Code;
use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Answer, Body, Handler, PRIVATE, RecentPassword, Resource, Route, Tag};
use crate::service::operator::account_settings::TERMS;
use crate::service::{Error, Member};
use hyper::StatusCode;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listAccounts",
            tag: Some(Tag::OperatorAccounts),
            path: "/dashboard/api/accounts",
            summary: "Lists every account, oldest first.",
            answers: &[Answer::json(200, "The accounts.", "AccountSettingsList")],
            handler: Handler::Operator(|call, operator| Box::pin(list(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "createAccount",
            tag: Some(Tag::OperatorAccounts),
            method: "POST",
            path: "/dashboard/api/accounts",
            summary: "Makes an account, pending.",
            body: Some(Body::required("CreateAccount")),
            answers: &[Answer::json(201, "The account.", "AccountSettings")],
            handler: Handler::Operator(|call, operator| Box::pin(create(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "getAccount",
            tag: Some(Tag::OperatorAccounts),
            path: "/dashboard/api/accounts/{account}",
            summary: "Reads an account with its settings.",
            answers: &[Answer::json(200, "The account.", "AccountSettings")],
            handler: Handler::Session(|call, member| Box::pin(read(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "changeAccount",
            tag: Some(Tag::OperatorAccounts),
            method: "PATCH",
            path: "/dashboard/api/accounts/{account}",
            summary: "Changes some of an account's settings: all of them or none. Its terms are changed by operators only.",
            body: Some(Body::required("ChangeAccount")),
            answers: &[Answer::json(200, "The account.", "AccountSettings")],
            recent_password: RecentPassword::ForFields(&TERMS),
            handler: Handler::Session(|call, member| Box::pin(change(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "decideOnAccount",
            tag: Some(Tag::OperatorAccounts),
            method: "POST",
            path: "/dashboard/api/accounts/{account}/status",
            summary: "Approves, rejects, suspends or reactivates an account.",
            body: Some(Body::required("DecideOnAccount")),
            answers: &[Answer::json(200, "The account.", "AccountSettings")],
            refusals: &[Code::InvalidTransition],
            handler: Handler::Operator(|call, operator| Box::pin(decide(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "setPayoutAddress",
            tag: Some(Tag::OperatorAccounts),
            method: "PUT",
            path: "/dashboard/api/accounts/{account}/payout-addresses/{chain}",
            summary: "Sets where payouts on a chain go; payouts wait 24 hours after a change.",
            body: Some(Body::required("SetPayoutAddress")),
            answers: &[Answer::json(200, "The account.", "AccountSettings")],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(set_payout_address(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "removePayoutAddress",
            tag: Some(Tag::OperatorAccounts),
            method: "DELETE",
            path: "/dashboard/api/accounts/{account}/payout-addresses/{chain}",
            summary: "Forgets where payouts on a chain go.",
            answers: &[Answer::empty(204, "Forgotten.")],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(remove_payout_address(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "getLegacySecret",
            tag: Some(Tag::OperatorWebhooks),
            path: "/dashboard/api/accounts/{account}/legacy-secret",
            summary: "Shows the secret that signs deliveries to the webhookUrl of invoices; the audit log notes to whom.",
            answers: &[Answer::json(200, "The secret.", "SigningSecret")],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(show_legacy_secret(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "rollLegacySecret",
            tag: Some(Tag::OperatorWebhooks),
            method: "POST",
            path: "/dashboard/api/accounts/{account}/legacy-secret/roll",
            summary: "Makes a new legacy secret; for 24 hours the old one signs too.",
            answers: &[Answer::json(200, "The new secret.", "SigningSecret")],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(roll_legacy_secret(call, member))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/accounts
async fn list(call: Call, _: Operator) -> Result<Reply, Error> {
    Reply::list(&call.front.service.all_accounts()?)
}

/// POST /dashboard/api/accounts
async fn create(call: Call, operator: Operator) -> Result<Reply, Error> {
    let (member, body) = (&operator, call.object()?);
    let service = &call.front.service;
    let made = service.create_account(call.now, member, body).await?;
    Ok(Reply::created(made))
}

/// GET /dashboard/api/accounts/{account}
async fn read(call: Call, member: Member) -> Result<Reply, Error> {
    Ok(Reply::ok(
        call.front.service.account_in_full(&call.scope(&member)?)?,
    ))
}

/// PATCH /dashboard/api/accounts/{account}
async fn change(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member, body) = (call.scope(&member)?, &member, call.object()?);
    let service = &call.front.service;
    service
        .change_account(call.now, &scope, member, body)
        .await
        .map(Reply::ok)
}

/// POST /dashboard/api/accounts/{account}/status
async fn decide(call: Call, operator: Operator) -> Result<Reply, Error> {
    let (scope, member, body) = (call.scope(&operator)?, &operator, call.object()?);
    let service = &call.front.service;
    service
        .decide_on_account(call.now, &scope, member, body)
        .await
        .map(Reply::ok)
}

/// PUT /dashboard/api/accounts/{account}/payout-addresses/{chain}
async fn set_payout_address(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member, body) = (call.scope(&member)?, &member, call.object()?);
    let service = &call.front.service;
    service
        .set_payout_address(call.now, &scope, member, call.second(), body)
        .await
        .map(Reply::ok)
}

/// DELETE /dashboard/api/accounts/{account}/payout-addresses/{chain}
async fn remove_payout_address(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .remove_payout_address(call.now, &scope, member, call.second())
        .await?;
    Ok(Reply::json(StatusCode::NO_CONTENT, ""))
}

/// GET /dashboard/api/accounts/{account}/legacy-secret
async fn show_legacy_secret(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .show_legacy_secret(call.now, &scope, member)
        .await
        .map(Reply::ok)
}

/// POST /dashboard/api/accounts/{account}/legacy-secret/roll
async fn roll_legacy_secret(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .roll_legacy_secret(call.now, &scope, member)
        .await
        .map(Reply::ok)
}
