//! Addresses that operators declared as the service's own: `/dashboard/api/own-addresses`.

use crate::api::operation::{
    Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN, RecentPassword,
};
use crate::api::tag::Tag;
use crate::domain::Mode;
use crate::domain::fields::Component;
use crate::domain::wallet::{AddOwnAddress, refuse_secrets_in_body};
use crate::render::wallets::OwnAddressView;
use crate::service::wallets::own_addresses::declare_own_address;
use crate::service::{Error, Member};
use crate::store::own_transfers::own_addresses;

const OWN_ADDRESS_LIST: Component = Component::List {
    name: "OwnAddressList",
    item: &OwnAddressView::COMPONENT,
    about: "Own addresses of the service.",
    about_data: "Items of the list.",
};

pub const OPERATIONS: [&Operation; 2] = [&LIST, &ADD];

const LIST: Operation = Operation {
    id: "listOwnAddresses",
    path: "/dashboard/api/own-addresses",
    tag: Tag::OperatorService,
    summary: "Lists the own addresses. Money that they send is not a payment.",
    answers: &[Answer::ok("The addresses.", &OWN_ADDRESS_LIST)],
    run: OperationFn::Operator(list),
    ..PLAIN
};

const ADD: Operation = Operation {
    id: "addOwnAddress",
    method: "POST",
    path: "/dashboard/api/own-addresses",
    tag: Tag::OperatorService,
    summary: "Declares an address as our own, for example one that sends gas for a sweep.",
    body: Body::required(&AddOwnAddress::COMPONENT),
    answers: &[Answer::created("The address.", &OwnAddressView::COMPONENT)],
    recent_password: RecentPassword::Always,
    run: OperationFn::Operator(add_own_address),
    ..PLAIN
};

fn list(context: &Context<'_>, _: &Member) -> Result<Job, Error> {
    let service = context.service;
    let all = service.read(|db| Ok(own_addresses(db, Mode::Live)?))?;
    let views =
        all.iter().map(|(chain, address, at)| OwnAddressView { chain, address, created_at: *at });
    Job::list(&views.collect::<Vec<_>>())
}

fn add_own_address(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let body = context.body_fields()?;
    refuse_secrets_in_body(&body)?;
    let body = AddOwnAddress::read(&body)?;
    let (now, actor) = (context.now, operator.actor());
    Job::write(move |step| {
        Ok(Outcome::created_resource(declare_own_address(step.tx, &actor, &body, now)?))
    })
}
