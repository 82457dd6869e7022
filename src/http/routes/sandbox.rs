//! The sandbox's controls: operations under `/sandbox`, which exist only there.

use crate::domain::event::EventType;
use crate::domain::refusal::Code;
use crate::http::request::{Param, ParamKind};
use crate::http::route::{Answer, Body, Content, Handler, PLAIN, Route};
use crate::http::sandbox::webhooks;
use crate::http::{probes, sandbox};

/// The state.
const STATE: &[Answer] = &[Answer {
    status: 200,
    about: "The state.",
    content: Content::Json("SandboxState"),
}];

/// 204.
const DONE: &[Answer] = &[Answer {
    status: 204,
    about: "Done.",
    content: Content::Empty,
}];

/// The list.
pub(super) static ROUTES: [Route; 18] = [
    Route {
        operation: "getSandboxOpenApi",
        path: "/sandbox/openapi.json",
        summary: "This document: the sandbox's controls.",
        answers: &[Answer {
            status: 200,
            about: "The OpenAPI 3.1 document.",
            content: Content::AnyJson,
        }],
        handler: Handler::Sandbox(|call, sandbox| {
            Box::pin(probes::controls_document(call, sandbox))
        }),
        ..PLAIN
    },
    Route {
        operation: "sandboxState",
        path: "/sandbox",
        summary: "The time, the account's switches and counts.",
        answers: STATE,
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::state(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "sandboxReset",
        method: "POST",
        path: "/sandbox/reset",
        summary: "Back to the seed and to real time.",
        answers: STATE,
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::reset(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "sandboxSnapshot",
        method: "POST",
        path: "/sandbox/snapshots/{name}",
        summary: "Keeps the whole state, the clock included, under a name.",
        answers: STATE,
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::snapshot(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "sandboxRestore",
        method: "POST",
        path: "/sandbox/snapshots/{name}/restore",
        summary: "Back to the state that was kept under a name.",
        answers: STATE,
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::restore(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "sandboxAddFault",
        method: "POST",
        path: "/sandbox/faults",
        summary: "Lets the next calls fail, wait or go unanswered; or empties the pool, or makes rates stale.",
        body: Some(Body {
            schema: "SandboxFault",
            required: true,
        }),
        answers: STATE,
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::faults::add(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "sandboxEndFaults",
        method: "DELETE",
        path: "/sandbox/faults",
        summary: "Ends every fault.",
        answers: DONE,
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::faults::end(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "sandboxClock",
        method: "POST",
        path: "/sandbox/clock",
        summary: "Moves the clock forward, doing on the way what falls due; or stops it, or lets it run.",
        body: Some(Body {
            schema: "SandboxClock",
            required: true,
        }),
        answers: STATE,
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::clock(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "sandboxAccount",
        method: "PATCH",
        path: "/sandbox/account",
        summary: "Changes some of the account's switches; all of them or none.",
        body: Some(Body {
            schema: "SandboxAccount",
            required: true,
        }),
        answers: STATE,
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::account(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "sandboxChain",
        method: "PATCH",
        path: "/sandbox/chains/{chain}",
        summary: "Lets a live chain lag behind the clock, or catch up.",
        body: Some(Body {
            schema: "SandboxChainPatch",
            required: true,
        }),
        answers: &[Answer {
            status: 200,
            about: "Up to when it has been looked at.",
            content: Content::Json("SandboxChain"),
        }],
        refusals: &[Code::NotFound],
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::chains::chain(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "sandboxPutPayment",
        method: "POST",
        path: "/sandbox/payments",
        summary: "Puts a payment on a simulated chain, or a transaction of several, for invoices or customers of either mode, or for nobody.",
        body: Some(Body {
            schema: "SandboxPayment",
            required: true,
        }),
        answers: &[
            Answer {
                status: 201,
                about: "It is seen, or kept as a payment that matched nothing; so is each output.",
                content: Content::Json("SandboxPaymentsSeen"),
            },
            Answer {
                status: 200,
                about: "All of it was there.",
                content: Content::Json("SandboxPaymentsSeen"),
            },
        ],
        refusals: &[Code::CoinUnavailable, Code::NotFound],
        handler: Handler::Sandbox(|call, sandbox| {
            Box::pin(sandbox::chains::put_payment(call, sandbox))
        }),
        ..PLAIN
    },
    Route {
        operation: "sandboxMovePayment",
        method: "POST",
        path: "/sandbox/payments/{id}",
        summary: "Confirms, drops, orphans or replaces a payment, or lets a dropped one be seen again.",
        body: Some(Body {
            schema: "SandboxPaymentState",
            required: true,
        }),
        answers: &[Answer {
            status: 200,
            about: "The payment.",
            content: Content::Json("SandboxPaymentSeen"),
        }],
        refusals: &[Code::InvalidTransition],
        handler: Handler::Sandbox(|call, sandbox| {
            Box::pin(sandbox::chains::move_payment(call, sandbox))
        }),
        ..PLAIN
    },
    Route {
        operation: "sandboxCancelInvoice",
        method: "POST",
        path: "/sandbox/invoices/{id}/cancel",
        summary: "Calls an invoice off, as the dashboard does.",
        answers: &[Answer {
            status: 200,
            about: "The invoice.",
            content: Content::Json("Invoice"),
        }],
        refusals: &[Code::InvoiceNotCancellable],
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::cancel_invoice(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "sandboxWebhooks",
        path: "/sandbox/webhooks",
        summary: "The newest deliveries with their attempts, in the order of their events.",
        query: &[
            Param {
                name: "limit",
                about: "How many at most.",
                kind: ParamKind::Limit {
                    max: webhooks::LIMIT_MAX,
                    default: webhooks::LIMIT_MAX,
                },
            },
            Param {
                name: "before",
                about: "Only those that are older than this one: nextBefore of the page before.",
                kind: ParamKind::Any,
            },
        ],
        answers: &[Answer {
            status: 200,
            about: "A page of deliveries.",
            content: Content::Json("SandboxWebhooks"),
        }],
        handler: Handler::Sandbox(|call, sandbox| Box::pin(webhooks::list(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "inboxReceive",
        method: "POST",
        path: "/sandbox/inbox/{name}",
        summary: "A webhook receiver: point an endpoint here. Answers 200, or as it was told to.",
        answers: &[
            Answer {
                status: 200,
                about: "Received.",
                content: Content::Empty,
            },
            Answer {
                status: 0,
                about: "What the inbox was told to answer.",
                content: Content::Empty,
            },
        ],
        // Webhooks come to it by whatever name their endpoint has.
        takes_any_host: true,
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::receive(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "inboxMessages",
        path: "/sandbox/inbox/{name}",
        summary: "What a receiver was sent, oldest first; waits for the first match.",
        query: &[
            Param {
                name: "type",
                about: "Only events of this type.",
                kind: ParamKind::OneOf(EventType::TEXTS),
            },
            Param {
                name: "wait",
                about: "How long to wait for the first match, like 5s; at most 60s.",
                kind: ParamKind::Span,
            },
        ],
        answers: &[Answer {
            status: 200,
            about: "The messages.",
            content: Content::Json("SandboxInbox"),
        }],
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::messages(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "inboxBehave",
        method: "PUT",
        path: "/sandbox/inbox/{name}",
        summary: "Sets what a receiver answers.",
        body: Some(Body {
            schema: "SandboxInboxBehaviour",
            required: true,
        }),
        answers: DONE,
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::behave(call, sandbox))),
        ..PLAIN
    },
    Route {
        operation: "inboxEmpty",
        method: "DELETE",
        path: "/sandbox/inbox/{name}",
        summary: "Empties a receiver; it answers 200 again.",
        answers: DONE,
        handler: Handler::Sandbox(|call, sandbox| Box::pin(sandbox::empty(call, sandbox))),
        ..PLAIN
    },
];
