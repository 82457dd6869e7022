//! Pools of imported addresses: `/dashboard/api/pools`.

use crate::api::operation::{
    Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN, RecentPassword,
};
use crate::api::tag::Tag;
use crate::domain::Refusal;
use crate::domain::fields::{Fields, Keywords, Rule, Schema, input, schema};
use crate::render::pools::{PoolImportView, PoolListView};
use crate::service::pools::{chain_of_imported_pool, import, list};
use crate::service::{Error, Member};
use serde_json::Value;

input! {
    /// Addresses for a pool, on the main network of its chain.
    pub ImportAddresses, checked addresses; unknown refused {
        /// The addresses. Known ones are counted, not added again.
        required addresses: Vec<Value> = AddressesRule, ["2vjuBUCFWKTimhLv5z1kay4oGevNRL3wqbhs7JhXk5T7"];
    }
}

/// Rule for a field with a list of addresses. The addresses are checked later, for the chain of the pool.
struct AddressesRule;

impl Rule for AddressesRule {
    type Value = Vec<Value>;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Vec<Value>>, Refusal> {
        let problem = "must be given: a list of addresses";
        let list = fields.list(name)?;
        let list = list.ok_or_else(|| Refusal::field(name, problem))?;
        Ok(Some(list.clone()))
    }

    fn json_schema(&self) -> Keywords {
        let schema: Schema = schema!({
            "type": "array", "minItems": 1, "maxItems": 1000,
            "items": { "type": "string", "minLength": 1, "maxLength": 128 }
        });
        schema.json_schema()
    }
}

pub const OPERATIONS: [&Operation; 2] = [&LIST, &IMPORT];

const LIST: Operation = Operation {
    id: "listPools",
    path: "/dashboard/api/pools",
    tag: Tag::OperatorService,
    summary: "Lists the pools of imported addresses with their free addresses.",
    answers: &[Answer::ok("The pools.", &PoolListView::COMPONENT)],
    run: OperationFn::Operator(list_all),
    ..PLAIN
};

const IMPORT: Operation = Operation {
    id: "importAddresses",
    method: "POST",
    path: "/dashboard/api/pools/{pool}/addresses",
    tag: Tag::OperatorService,
    summary: "Adds live addresses to a pool, all of them or none. Known ones are counted, not added again.",
    body: Body::required(&ImportAddresses::COMPONENT),
    answers: &[Answer::ok("Result of the import.", &PoolImportView::COMPONENT)],
    recent_password: RecentPassword::Always,
    run: OperationFn::Operator(add_addresses),
    ..PLAIN
};

fn list_all(context: &Context<'_>, _: &Member) -> Result<Job, Error> {
    let data = context.service.read(list)?;
    Outcome::ok(&PoolListView { data }).map(Job::Done)
}

fn add_addresses(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let body = ImportAddresses::read(&context.body_fields()?)?;
    let chain = chain_of_imported_pool(context.first_param())?;
    let service = context.service;
    let addresses = service.addresses_to_import(chain, &body.addresses)?;
    let (now, actor) = (context.now, operator.actor());
    Job::write(move |step| {
        let place = |at: usize| format!("addresses[{at}]");
        let added = import(step.tx, now, &actor, chain, &addresses, place)?;
        Ok(Outcome::resource(added))
    })
}
