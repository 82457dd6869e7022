//! Webhook deliveries of a sandbox: `/sandbox/webhooks`.

use crate::api::operation::{Answer, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::query::{Param, ParamKind};
use crate::api::tag::Tag;
use crate::domain::fields::{Schema, view};
use crate::render::sandbox_deliveries::SandboxDeliveryView;
use crate::service::Error;

/// Maximum and default of the parameter `limit`.
const LIMIT_MAX: u32 = 500;

view! {
    /// Webhook deliveries with their attempts.
    pub SandboxWebhooksView<'a> as "SandboxWebhooks" {
        /// Whether older deliveries follow.
        has_more: bool = false;
        /// Value of `before` for older deliveries.
        next_before: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = null;
        /// The newest deliveries, oldest first, one for each event and URL.
        data: Vec<SandboxDeliveryView<'a>> = [
            {
                "id": "01a1fd70-f1c0-7d14-8143-49f81963f18d", "event": "evt_01a1fd70f1c07b5c84df7eec7d32a781",
                "type": "invoice.created", "endpoint": "01a1fd63-3620-76bf-bbc8-d96f3ea9d132",
                "url": "http://127.0.0.1:8080/sandbox/inbox/shop", "state": "delivered", "nextAttemptAt": null,
                "attempts": [{ "at": "2026-11-21T09:30:00.000Z", "status": 200, "latencyMs": 4, "error": null, "answer": "" }]
            },
            {
                "id": "01a1fd71-e3f0-7d25-9eeb-dc74039731e0", "event": "evt_01a1fd71e3f07c0f89c0f8bf5e7a4b06",
                "type": "invoice.detected", "endpoint": "01a1fd63-3620-76bf-bbc8-d96f3ea9d132",
                "url": "http://127.0.0.1:8080/sandbox/inbox/shop", "state": "delivered", "nextAttemptAt": null,
                "attempts": [{ "at": "2026-11-21T09:31:02.000Z", "status": 200, "latencyMs": 3, "error": null, "answer": "" }]
            },
            {
                "id": "01a1fd72-0c90-7198-8975-ce907c1bf994", "event": "evt_01a1fd720c907ef7bc13a38180936ffa",
                "type": "invoice.confirmed", "endpoint": "01a1fd63-3620-76bf-bbc8-d96f3ea9d132",
                "url": "http://127.0.0.1:8080/sandbox/inbox/shop", "state": "pending",
                "nextAttemptAt": "2026-11-21T09:31:22.400Z",
                "attempts": [{ "at": "2026-11-21T09:31:12.400Z", "status": 500, "latencyMs": 3, "error": null, "answer": "" }]
            }
        ];
    }
}

pub const OPERATIONS: [&Operation; 1] = [&LIST];

const LIST: Operation = Operation {
    id: "sandboxWebhooks",
    path: "/sandbox/webhooks",
    tag: Tag::SandboxInboxes,
    summary: "Lists the newest deliveries with their attempts, in the order of their events.",
    query: &[
        Param::limit(LIMIT_MAX, LIMIT_MAX),
        Param {
            name: "before",
            about: "Only older deliveries: nextBefore of the previous page.",
            kind: ParamKind::Any,
        },
    ],
    answers: &[Answer::ok("A page of deliveries.", &SandboxWebhooksView::COMPONENT)],
    run: OperationFn::Sandbox(list),
    ..PLAIN
};

fn list(context: &Context<'_>) -> Result<Job, Error> {
    let (before, limit) = (context.query.text("before"), context.query.limit(LIMIT_MAX));
    let page = context.service.deliveries(before, limit)?;
    Ok(Job::Done(Outcome::from_page(page)))
}
