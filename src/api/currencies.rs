//! Coins that invoices can be paid in: `/v1/currencies`.

use super::operation::{Answer, Context, Job, Operation, OperationFn, PLAIN};
use super::tag::Tag;
use crate::domain::fields::Component;
use crate::render::currency::CurrencyView;
use crate::service::{Caller, Error};
use std::sync::Arc;

const CURRENCY_LIST: Component = Component::Exemplified {
    component: &Component::List {
        name: "CurrencyList",
        item: &CurrencyView::COMPONENT,
        about: "Every enabled coin with its minimum.",
        about_data: "The enabled coins.",
    },
    differs: r#"{
        "data": [
            {
                "id": "LTC", "symbol": "LTC", "name": "Litecoin", "chain": "litecoin", "kind": "native",
                "decimals": 8, "minAmount": "0.01"
            },
            {
                "id": "USDC-BASE", "symbol": "USDC", "name": "USD Coin", "chain": "base", "kind": "erc20",
                "decimals": 6, "minAmount": "1"
            }
        ]
    }"#,
};

pub const OPERATIONS: [&Operation; 1] = [&LIST];

const LIST: Operation = Operation {
    id: "listCurrencies",
    path: "/v1/currencies",
    tag: Tag::Account,
    summary: "Lists the coins on offer, each with its minimum payment.",
    answers: &[Answer::ok("The coins.", &CURRENCY_LIST)],
    run: OperationFn::Secret(list),
    ..PLAIN
};

fn list(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    Job::list(&context.service.currencies(context.now, caller)?)
}
