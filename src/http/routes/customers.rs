//! The merchant's interface: customers, their addresses and deposits.

use crate::domain::customer::REF_CHARS_MAX;
use crate::domain::refusal::Code;
use crate::http::api::{customers, deposits};
use crate::http::auth::Auth;
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Answer, Body, Content, PLAIN, Route};

/// A route that asks for a secret key.
const SECRET: Route = Route {
    auth: Auth::Secret,
    ..PLAIN
};

/// The list.
pub(super) static ROUTES: [Route; 5] = [
    Route {
        operation: "makeCustomerAddresses",
        method: "POST",
        path: "/v1/customers/{ref}/addresses",
        summary: "Makes or fetches a customer's static addresses, one for each chain family; the same for ever.",
        answers: &[Answer {
            status: 201,
            about: "The customer's addresses, whether or not they were there before.",
            content: Content::Json("CustomerAddresses"),
        }],
        refusals: &[Code::CustomersDisabled, Code::PoolRefilling],
        handler: |call| Box::pin(customers::make_addresses(call)),
        ..SECRET
    },
    Route {
        operation: "getCustomerAddresses",
        path: "/v1/customers/{ref}/addresses",
        summary: "Reads a customer's static addresses.",
        answers: &[Answer {
            status: 200,
            about: "The customer's addresses.",
            content: Content::Json("CustomerAddresses"),
        }],
        refusals: &[Code::InvalidRequest, Code::CustomersDisabled],
        handler: |call| Box::pin(customers::addresses(call)),
        ..SECRET
    },
    Route {
        operation: "simulateDeposit",
        method: "POST",
        path: "/v1/customers/{ref}/simulate",
        summary: "Pays to a test customer's address: one deposit, seen and confirmed, with ledger and webhooks as for a real one.",
        body: Some(Body {
            schema: "SimulateDeposit",
            required: true,
        }),
        answers: &[Answer {
            status: 201,
            about: "The deposit.",
            content: Content::Json("Deposit"),
        }],
        refusals: &[
            Code::CoinUnavailable,
            Code::CustomersDisabled,
            Code::Forbidden,
        ],
        handler: |call| Box::pin(customers::simulate(call)),
        ..SECRET
    },
    Route {
        operation: "listDeposits",
        path: "/v1/deposits",
        summary: "Lists deposits, newest first.",
        query: &[
            Param {
                name: "limit",
                about: "How many at most.",
                kind: ParamKind::Limit {
                    max: 100,
                    default: deposits::LIMIT_DEFAULT,
                },
            },
            Param {
                name: "customer",
                about: "Only deposits of the customer with this reference.",
                kind: ParamKind::Text {
                    chars_max: REF_CHARS_MAX,
                },
            },
        ],
        answers: &[Answer {
            status: 200,
            about: "The deposits.",
            content: Content::Json("DepositList"),
        }],
        handler: |call| Box::pin(deposits::list(call)),
        ..SECRET
    },
    Route {
        operation: "getDeposit",
        path: "/v1/deposits/{id}",
        summary: "Reads a deposit.",
        answers: &[Answer {
            status: 200,
            about: "The deposit.",
            content: Content::Json("Deposit"),
        }],
        handler: |call| Box::pin(deposits::get(call)),
        ..SECRET
    },
];
