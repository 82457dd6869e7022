//! The tags of the OpenAPI documents: what operations are grouped by.
//!
//! What lives here: the groups, what they are called and what is said of them. What does not: which an operation is in, which
//! its route says. What always holds: the documents list them in the order of [`Tag::ALL`].

/// A group of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    Invoices,
    Customers,
    Account,
    Transfers,
    Events,
    Public,
    Reseller,
    OperatorUsers,
    OperatorInvoices,
    OperatorTransfers,
    OperatorBooks,
    OperatorWebhooks,
    OperatorServers,
    OperatorAccounts,
    OperatorService,
    Process,
    SandboxInboxes,
    SandboxMoney,
    SandboxState,
}

impl Tag {
    /// All, in the order of the documents.
    pub const ALL: [Tag; 19] = [
        Tag::Invoices,
        Tag::Customers,
        Tag::Account,
        Tag::Transfers,
        Tag::Events,
        Tag::Public,
        Tag::Reseller,
        Tag::OperatorUsers,
        Tag::OperatorInvoices,
        Tag::OperatorTransfers,
        Tag::OperatorBooks,
        Tag::OperatorWebhooks,
        Tag::OperatorServers,
        Tag::OperatorAccounts,
        Tag::OperatorService,
        Tag::Process,
        Tag::SandboxInboxes,
        Tag::SandboxMoney,
        Tag::SandboxState,
    ];

    /// Its name, and a sentence about it.
    pub const fn told(self) -> (&'static str, &'static str) {
        match self {
            Tag::Invoices => ("Invoices", "What customers pay."),
            Tag::Customers => (
                "Customers and deposits",
                "Addresses that stay a customer's, and what comes to them.",
            ),
            Tag::Account => ("Account", "The account, its coins, balances and ledger."),
            Tag::Transfers => ("Payouts and refunds", "What goes out."),
            Tag::Events => (
                "Events",
                "What happened, in the bodies that webhooks deliver.",
            ),
            Tag::Public => ("Public", "What a shop's page may ask, with a public key."),
            Tag::Reseller => ("Reseller", "Servers that are ordered and given up."),
            Tag::OperatorUsers => (
                "Operator: sign-in and users",
                "Who may sign in, and as whom.",
            ),
            Tag::OperatorInvoices => (
                "Operator: invoices and payment links",
                "An account's invoices, and links by which anybody makes one.",
            ),
            Tag::OperatorTransfers => (
                "Operator: payouts and refunds",
                "Requesting them, and the steps until they are paid.",
            ),
            Tag::OperatorBooks => (
                "Operator: books",
                "Balances, ledger, events and exports of an account.",
            ),
            Tag::OperatorWebhooks => (
                "Operator: webhooks",
                "An account's endpoints, and what was sent to them.",
            ),
            Tag::OperatorServers => ("Operator: servers", "Servers that resellers have ordered."),
            Tag::OperatorAccounts => (
                "Operator: accounts",
                "Accounts, their settings, keys and payout addresses.",
            ),
            Tag::OperatorService => ("Operator: the service", "What concerns all accounts."),
            Tag::Process => ("Process", "What machines ask of the process itself."),
            Tag::SandboxInboxes => (
                "Sandbox: inboxes",
                "Receivers of webhooks inside the sandbox, and what was delivered.",
            ),
            Tag::SandboxMoney => (
                "Sandbox: money",
                "What happens on simulated chains, and to payouts, refunds and invoices.",
            ),
            Tag::SandboxState => (
                "Sandbox: state",
                "Time, faults, snapshots and the account's switches.",
            ),
        }
    }
}
