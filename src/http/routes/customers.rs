//! The merchant's interface: customers, their addresses and deposits.

use crate::domain::customer::REF_CHARS_MAX;
use crate::domain::refusal::Code;
use crate::http::api::{customers, deposits};
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Answer, Body, Content, Handler, PRIVATE, Route};

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
        handler: Handler::Secret(|call, caller| Box::pin(customers::make_addresses(call, caller))),
        ..PRIVATE
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
        handler: Handler::Secret(|call, caller| Box::pin(customers::addresses(call, caller))),
        ..PRIVATE
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
        handler: Handler::Secret(|call, caller| Box::pin(customers::simulate(call, caller))),
        ..PRIVATE
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
        handler: Handler::Secret(|call, caller| Box::pin(deposits::list(call, caller))),
        ..PRIVATE
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
        handler: Handler::Secret(|call, caller| Box::pin(deposits::get(call, caller))),
        ..PRIVATE
    },
];
