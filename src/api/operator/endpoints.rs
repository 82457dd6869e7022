//! Webhook endpoints of an account: `/dashboard/api/accounts/{account}/endpoints`.

use crate::api::operation::{
    Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN, RecentPassword,
};
use crate::api::tag::Tag;
use crate::domain::fields::rule::{
    ChoiceRule, ChoicesRule, DescribedRule, FlagRule, choice, choices, described,
};
use crate::domain::fields::text_rule::{UrlRule, url};
use crate::domain::fields::{Component, Fields, ViewField, input, schema};
use crate::domain::{EventType, Mode, Refusal, WebhookEndpoint, WebhookFormat, id};
use crate::render::endpoints::{CreatedEndpointView, EVENT_TYPES, EndpointView, SigningSecretView};
use crate::service::endpoints::{self, find};
use crate::service::{Error, Member, Service, Step};
use crate::store;
use serde_json::{Map, Value};

input! {
    /// A new webhook endpoint.
    pub CreateEndpoint, checked url, types, mode, format, enabled; unknown refused {
        /// URL that receives the events; https.
        expected url: String = WEBHOOK, "https://shop.example/webhooks";
        /// Event types that it receives; null for all.
        optional types: Vec<EventType> = TYPES;
        /// Format of the bodies that it receives.
        optional format: WebhookFormat = choice();
        /// Mode of the events that it receives; null for both.
        optional mode: Mode = MODE;
        /// Whether it receives events.
        optional enabled: bool = FlagRule;
    }
}

input! {
    /// Changes of an endpoint. Absent fields stay as they are.
    pub ChangeEndpoint, checked url, types, mode, format, enabled; unknown refused {
        /// URL that receives the events; https.
        optional url: String = WEBHOOK;
        /// Event types that it receives; null for all.
        change types: Vec<EventType> = TYPES;
        /// Format of the bodies that it receives.
        optional format: WebhookFormat = choice();
        /// Mode of the events that it receives; null for both.
        change mode: Mode = MODE;
        /// Whether it receives events.
        optional enabled: bool = FlagRule, false;
    }
}

const WEBHOOK: DescribedRule<UrlRule> = described(
    url(),
    schema!({ "type": "string", "maxLength": 2048, "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\"<>\\\\`/?#:]" }),
);
const TYPES: DescribedRule<ChoicesRule<EventType>> =
    described(choices("must be a list of event types"), EVENT_TYPES);
const MODE: DescribedRule<ChoiceRule<Mode>> =
    described(choice(), <Option<Mode> as ViewField>::SCHEMA);

const ENDPOINT_LIST: Component = Component::List {
    name: "EndpointList",
    item: &EndpointView::COMPONENT,
    about: "A list of endpoints.",
    about_data: "Items of the list, oldest first.",
};

pub const OPERATIONS: [&Operation; 6] =
    [&LIST, &CREATE, &CHANGE, &REMOVE, &SHOW_SECRET, &ROLL_SECRET];

const LIST: Operation = Operation {
    id: "listEndpoints",
    path: "/dashboard/api/accounts/{account}/endpoints",
    tag: Tag::OperatorWebhooks,
    summary: "Lists an account's webhook endpoints, oldest first.",
    answers: &[Answer::ok("The endpoints.", &ENDPOINT_LIST)],
    run: OperationFn::Session(list),
    ..PLAIN
};

const CREATE: Operation = Operation {
    id: "createEndpoint",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/endpoints",
    tag: Tag::OperatorWebhooks,
    summary: "Creates a webhook endpoint and its secret.",
    body: Body::required(&CreateEndpoint::COMPONENT),
    answers: &[Answer::created("The endpoint, with its secret.", &CreatedEndpointView::COMPONENT)],
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(create),
    ..PLAIN
};

const CHANGE: Operation = Operation {
    id: "changeEndpoint",
    method: "PATCH",
    path: "/dashboard/api/accounts/{account}/endpoints/{id}",
    tag: Tag::OperatorWebhooks,
    summary: "Changes, enables or disables a webhook endpoint.",
    body: Body::required(&ChangeEndpoint::COMPONENT),
    answers: &[Answer::ok("The endpoint.", &EndpointView::COMPONENT)],
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(change_endpoint),
    ..PLAIN
};

const REMOVE: Operation = Operation {
    id: "removeEndpoint",
    method: "DELETE",
    path: "/dashboard/api/accounts/{account}/endpoints/{id}",
    tag: Tag::OperatorWebhooks,
    summary: "Deletes a webhook endpoint. Its pending deliveries are given up.",
    answers: &[Answer::no_content("Removed.")],
    run: OperationFn::Session(remove_endpoint),
    ..PLAIN
};

const SHOW_SECRET: Operation = Operation {
    id: "getEndpointSecret",
    path: "/dashboard/api/accounts/{account}/endpoints/{id}/secret",
    tag: Tag::OperatorWebhooks,
    summary: "Returns an endpoint's secret. The audit log records the reader.",
    answers: &[Answer::ok("The secret.", &SigningSecretView::COMPONENT)],
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(show_secret),
    ..PLAIN
};

const ROLL_SECRET: Operation = Operation {
    id: "rollEndpointSecret",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/endpoints/{id}/roll-secret",
    tag: Tag::OperatorWebhooks,
    summary: "Creates a new secret of an endpoint. The old secret signs too for 24 hours.",
    answers: &[Answer::ok("The secret.", &SigningSecretView::COMPONENT)],
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(roll_secret),
    ..PLAIN
};

fn list(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let rows = context.service.read(|db| Ok(store::endpoints::of_account(db, account)?))?;
    Job::list(&rows.iter().map(EndpointView::new).collect::<Vec<_>>())
}

fn create(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let body = context.body_fields()?;
    check_url(context.service, &body)?;
    let body = CreateEndpoint::read(&body)?;
    let endpoint = WebhookEndpoint {
        seq: 0,
        id: id::new(context.now).to_string(),
        mode: body.mode,
        url: body.url.ok_or_else(|| Refusal::field("url", "must be given"))?,
        secret: endpoints::new_endpoint_secret()?,
        format: body.format.unwrap_or(WebhookFormat::Event),
        types: body.types,
        enabled: body.enabled.unwrap_or(true),
    };
    let (now, actor) = (context.now, member.actor());
    Job::write(move |step| {
        let made = endpoints::create(step.tx, &actor, account, endpoint, now)?;
        Ok(Outcome::created_resource(made))
    })
}

fn change_endpoint(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let body = context.body_fields()?;
    // An error in the body is returned only if the endpoint exists, so this result is checked later.
    let change = check_url(context.service, &body).and_then(|()| ChangeEndpoint::read(&body));
    let (now, actor, id) = (context.now, member.actor(), context.second_param().to_owned());
    Job::write(move |step| {
        let Step { tx, .. } = *step;
        let mut endpoint = find(tx, account, &id)?;
        let ChangeEndpoint { url, types, format, mode, enabled } = change?;
        endpoint.url = url.unwrap_or(endpoint.url);
        endpoint.types = types.unwrap_or(endpoint.types);
        endpoint.mode = mode.unwrap_or(endpoint.mode);
        endpoint.format = format.unwrap_or(endpoint.format);
        endpoint.enabled = enabled.unwrap_or(endpoint.enabled);
        let changed = endpoints::update(tx, &actor, account, &endpoint, now)?;
        Ok(Outcome::resource(changed))
    })
}

/// Refuses a URL that webhooks must not use, before the other fields are read.
fn check_url(service: &Service, body: &Map<String, Value>) -> Result<(), Refusal> {
    let fields = Fields::new(body);
    fields.refuse_unknown(ChangeEndpoint::NAMES)?;
    let url = ChangeEndpoint::url(fields)?;
    url.map_or(Ok(()), |url| service.check_webhook(&url))
}

fn remove_endpoint(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let (now, actor, id) = (context.now, member.actor(), context.second_param().to_owned());
    Job::write(move |step| {
        endpoints::remove(step.tx, &actor, account, &id, now)?;
        Ok(Outcome::NOTHING)
    })
}

fn show_secret(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let (now, actor, id) = (context.now, member.actor(), context.second_param().to_owned());
    Job::write(move |step| {
        let shown = endpoints::show_secret(step.tx, &actor, account, &id, now)?;
        Ok(Outcome::resource(shown))
    })
}

fn roll_secret(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let account = context.scope(member)?.account();
    let (now, actor, id) = (context.now, member.actor(), context.second_param().to_owned());
    Job::write(move |step| {
        let rolled = endpoints::roll_secret(step.tx, &actor, account, &id, now)?;
        Ok(Outcome::resource(rolled))
    })
}
