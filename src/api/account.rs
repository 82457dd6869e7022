//! The account of a shop: `/v1/merchant`, `/v1/balances` and `/v1/ledger`.

use super::operation::{Answer, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use super::params::BEFORE_ID;
use super::query::{Param, ParamKind, Query};
use super::tag::Tag;
use crate::domain::Currency;
use crate::domain::fields::{Component, Schema};
use crate::render::account::{BalanceView, LedgerEntryView, MerchantView};
use crate::service::accounts::LedgerQuery;
use crate::service::{Caller, Error};
use std::sync::Arc;

pub const LIMIT_DEFAULT: u32 = 50;

pub const BALANCE_LIST: Component = Component::Exemplified {
    component: &Component::List {
        name: "BalanceList",
        item: &BalanceView::COMPONENT,
        about: "Balances of the account, in the key's mode.",
        about_data: "One balance for each of EUR and USD, always both.",
    },
    differs: r#"{
        "data": [
            {
                "currency": "EUR", "available": "19.80", "pending": "0.00", "reserved": "0.00", "sales": "20.00",
                "fees": "-0.20", "payouts": "0.00", "refunds": "0.00"
            },
            {
                "currency": "USD", "available": "0.00", "pending": "0.00", "reserved": "0.00", "sales": "0.00",
                "fees": "0.00", "payouts": "0.00", "refunds": "0.00"
            }
        ]
    }"#,
};

pub const LEDGER_PAGE: Component = Component::Exemplified {
    component: &Component::Page {
        name: "LedgerPage",
        item: &LedgerEntryView::COMPONENT,
        about: [
            "One page of the ledger in the key's mode, newest first.",
            "The entries of this page, newest first.",
            "Whether older entries follow.",
            "Value of `before` for the next page; null on the last page.",
        ],
        before: &Schema::STRING,
    },
    differs: r#"{
        "data": [
            {
                "id": "01a1fd72-0c90-7f71-81fe-71011ba0872a", "currency": "EUR", "amount": "-0.20", "kind": "fee",
                "refType": "invoice", "refId": "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946", "feeBps": 100, "memo": null,
                "livemode": false, "createdAt": "2026-11-21T09:31:12.400Z"
            },
            {
                "id": "01a1fd72-0c90-780c-9aae-9b322bba2a38", "currency": "EUR", "amount": "20.00", "kind": "sale",
                "refType": "invoice", "refId": "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946", "feeBps": null, "memo": null,
                "livemode": false, "createdAt": "2026-11-21T09:31:12.400Z"
            }
        ]
    }"#,
};

pub const OPERATIONS: [&Operation; 3] = [&MERCHANT, &BALANCES, &LEDGER];

const MERCHANT: Operation = Operation {
    id: "getMerchant",
    path: "/v1/merchant",
    tag: Tag::Account,
    summary: "Returns the account in the key's mode.",
    answers: &[Answer::ok("The account.", &MerchantView::COMPONENT)],
    run: OperationFn::Secret(merchant),
    ..PLAIN
};

const BALANCES: Operation = Operation {
    id: "listBalances",
    path: "/v1/balances",
    tag: Tag::Account,
    summary: "Returns both balances in the key's mode.",
    answers: &[Answer::ok("One balance for each currency.", &BALANCE_LIST)],
    run: OperationFn::Secret(balances),
    ..PLAIN
};

const LEDGER: Operation = Operation {
    id: "listLedger",
    path: "/v1/ledger",
    tag: Tag::Account,
    summary: "Returns a page of the ledger, newest first.",
    query: &[
        Param::limit(200, LIMIT_DEFAULT),
        BEFORE_ID,
        Param {
            name: "currency",
            about: "Only entries in this currency.",
            kind: ParamKind::OneOf(Currency::TEXTS),
        },
    ],
    answers: &[Answer::ok("A page of entries.", &LEDGER_PAGE)],
    run: OperationFn::Secret(ledger),
    ..PLAIN
};

fn merchant(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let merchant = context.service.account_json(caller)?;
    Ok(Job::Done(Outcome::resource(merchant)))
}

fn balances(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    Job::list(&context.service.balances(caller)?)
}

fn ledger(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let page = context.service.ledger(caller, &ledger_query(context.query)?)?;
    Ok(Job::Done(Outcome::from_page(page)))
}

/// Reads the query parameters that select a page of the ledger.
///
/// # Errors
/// `invalid_request` for an invalid value, which a parsed query does not contain.
pub fn ledger_query(query: &Query) -> Result<LedgerQuery, Error> {
    Ok(LedgerQuery {
        before: query.text("before").map(str::to_owned),
        currency: query.enum_value("currency")?,
        limit: query.limit(LIMIT_DEFAULT),
    })
}
