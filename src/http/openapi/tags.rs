//! The tags of the OpenAPI documents: what operations are grouped by.
//!
//! What always holds: an operation's tag follows from its path alone, so a new operation is tagged by where it is.

use crate::http::route::Route;
use serde_json::{Value, json};

/// A group of operations.
struct Tag {
    name: &'static str,
    about: &'static str,
    /// What the paths of its operations begin with, or contain.
    paths: &'static [&'static str],
}

/// The groups in the order of the document. A path is of the first that it begins with; what stands after an account's
/// id decides before the account does.
const TAGS: &[Tag] = &[
    Tag {
        name: "Invoices",
        about: "What customers pay.",
        paths: &["/v1/invoices"],
    },
    Tag {
        name: "Customers and deposits",
        about: "Addresses that stay a customer's, and what comes to them.",
        paths: &["/v1/customers", "/v1/deposits"],
    },
    Tag {
        name: "Account",
        about: "The account, its coins, balances and ledger.",
        paths: &[
            "/v1/currencies",
            "/v1/merchant",
            "/v1/balances",
            "/v1/ledger",
        ],
    },
    Tag {
        name: "Payouts and refunds",
        about: "What goes out.",
        paths: &["/v1/payouts", "/v1/refunds"],
    },
    Tag {
        name: "Events",
        about: "What happened, in the bodies that webhooks deliver.",
        paths: &["/v1/events"],
    },
    Tag {
        name: "Public",
        about: "What a shop's page may ask, with a public key.",
        paths: &["/v1/public"],
    },
    Tag {
        name: "Reseller",
        about: "Servers that are ordered and given up.",
        paths: &["/reseller"],
    },
    Tag {
        name: "Operator: sign-in and users",
        about: "Who may sign in, and as whom.",
        paths: &[
            "/dashboard/api/session",
            "/dashboard/api/setup",
            "/dashboard/api/users",
        ],
    },
    Tag {
        name: "Operator: invoices and payment links",
        about: "An account's invoices, and links by which anybody makes one.",
        paths: &[
            "/dashboard/api/accounts/{account}/invoices",
            "/dashboard/api/accounts/{account}/payment-links",
        ],
    },
    Tag {
        name: "Operator: payouts and refunds",
        about: "Requesting them, and the steps until they are paid.",
        paths: &[
            "/dashboard/api/accounts/{account}/payouts",
            "/dashboard/api/accounts/{account}/refunds",
            "/dashboard/api/payouts",
            "/dashboard/api/refunds",
        ],
    },
    Tag {
        name: "Operator: books",
        about: "Balances, ledger, events and exports of an account.",
        paths: &[
            "/dashboard/api/accounts/{account}/balances",
            "/dashboard/api/accounts/{account}/ledger",
            "/dashboard/api/accounts/{account}/adjustments",
            "/dashboard/api/accounts/{account}/events",
            "/dashboard/api/accounts/{account}/exports",
            "/dashboard/api/accounts/{account}/summary",
        ],
    },
    Tag {
        name: "Operator: webhooks",
        about: "An account's endpoints, and what was sent to them.",
        paths: &[
            "/dashboard/api/accounts/{account}/endpoints",
            "/dashboard/api/accounts/{account}/deliveries",
            "/dashboard/api/accounts/{account}/resend",
            "/dashboard/api/accounts/{account}/legacy-secret",
        ],
    },
    Tag {
        name: "Operator: servers",
        about: "Servers that resellers have ordered.",
        paths: &[
            "/dashboard/api/servers",
            "/dashboard/api/accounts/{account}/servers",
            "/dashboard/api/accounts/{account}/reseller-tokens",
        ],
    },
    Tag {
        name: "Operator: accounts",
        about: "Accounts, their settings, keys and payout addresses.",
        paths: &["/dashboard/api/accounts"],
    },
    Tag {
        name: "Operator: the service",
        about: "What concerns all accounts.",
        paths: &["/dashboard/api"],
    },
    Tag {
        name: "Process",
        about: "What machines ask of the process itself.",
        paths: &["/v1/openapi.json", "/livez", "/readyz", "/metrics"],
    },
    Tag {
        name: "Sandbox: inboxes",
        about: "Receivers of webhooks inside the sandbox, and what was delivered.",
        paths: &["/sandbox/inbox", "/sandbox/webhooks"],
    },
    Tag {
        name: "Sandbox: money",
        about: "What happens on simulated chains, and to payouts, refunds and invoices.",
        paths: &[
            "/sandbox/payments",
            "/sandbox/payouts",
            "/sandbox/refunds",
            "/sandbox/invoices",
        ],
    },
    Tag {
        name: "Sandbox: state",
        about: "Time, faults, snapshots and the account's switches.",
        paths: &["/sandbox"],
    },
];

/// What webhooks are tagged by: no path leads to them.
pub(super) const WEBHOOKS: &str = "Webhooks";

/// The tag of an operation; none where the table forgets its path, which a test tells.
pub(super) fn of(route: &Route) -> Option<&'static str> {
    let is_under = |path: &&str| {
        let rest = route.path.strip_prefix(*path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let tag = TAGS.iter().find(|tag| tag.paths.iter().any(is_under));
    tag.map(|tag| tag.name)
}

/// The list of a document: its own tags, each with what it is.
pub(super) fn list(used: &[&str], has_webhooks: bool) -> Value {
    let tags = TAGS.iter().filter(|tag| used.contains(&tag.name));
    let webhooks = has_webhooks.then_some((WEBHOOKS, "What Coffer sends to a shop's server."));
    tags.map(|tag| (tag.name, tag.about))
        .chain(webhooks)
        .map(|(name, about)| json!({ "name": name, "description": about }))
        .collect()
}
