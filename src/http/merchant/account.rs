//! `/v1/merchant`, `/v1/balances` and `/v1/ledger`.

use crate::api::params::BEFORE_ID;
use crate::domain::money::Currency;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Answer, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::accounts::LedgerWanted;
use crate::service::{Caller, Error};
use std::sync::Arc;

/// `limit` of the ledger where none is given.
pub(in crate::http) const LIMIT_DEFAULT: u32 = 50;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "getMerchant",
            tag: Some(Tag::Account),
            path: "/v1/merchant",
            summary: "Reads the account, in the mode of the key.",
            answers: &[Answer::json(200, "The account.", "Merchant")],
            handler: Handler::Secret(|call, caller| Box::pin(merchant(call, caller))),
            ..PRIVATE
        },
        Route {
            operation: "listBalances",
            tag: Some(Tag::Account),
            path: "/v1/balances",
            summary: "Reads both balances, in the mode of the key.",
            answers: &[Answer::json(
                200,
                "One balance for each currency.",
                "BalanceList",
            )],
            handler: Handler::Secret(|call, caller| Box::pin(balances(call, caller))),
            ..PRIVATE
        },
        Route {
            operation: "listLedger",
            tag: Some(Tag::Account),
            path: "/v1/ledger",
            summary: "Pages through the ledger, newest first.",
            query: &[
                Param::limit(200, LIMIT_DEFAULT),
                BEFORE_ID,
                Param {
                    name: "currency",
                    about: "Only entries in this currency.",
                    kind: ParamKind::OneOf(Currency::TEXTS),
                },
            ],
            answers: &[Answer::json(200, "A page of entries.", "LedgerPage")],
            handler: Handler::Secret(|call, caller| Box::pin(ledger(call, caller))),
            ..PRIVATE
        },
    ],
};

/// GET /v1/merchant
async fn merchant(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    call.front.service.merchant(&caller).map(Reply::ok)
}

/// GET /v1/balances
async fn balances(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    Reply::list(&call.front.service.balances(&caller)?)
}

/// GET /v1/ledger
async fn ledger(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let wanted = wanted(&call)?;
    Reply::page(&call.front.service.ledger(&caller, &wanted)?)
}

/// Which page of a ledger a query asks for.
pub(in crate::http) fn wanted(call: &Call) -> Result<LedgerWanted, Error> {
    Ok(LedgerWanted {
        before: call.query.text("before").map(str::to_owned),
        currency: call.query.choice("currency")?,
        limit: call.query.limit(LIMIT_DEFAULT),
    })
}
