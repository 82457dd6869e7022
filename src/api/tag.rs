//! Tags of the OpenAPI documents, which group operations.

/// A tag: a group of operations in the documents.
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
    /// All tags, in the order of the documents.
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

    pub const fn name_and_description(self) -> (&'static str, &'static str) {
        match self {
            Tag::Invoices => ("Invoices", "Prices that customers pay in coins."),
            Tag::Customers => {
                ("Customers and deposits", "Static addresses of customers, and deposits to them.")
            }
            Tag::Account => ("Account", "The account, its coins, balances and ledger."),
            Tag::Transfers => ("Payouts and refunds", "Transfers from the balance."),
            Tag::Events => ("Events", "Events, in the bodies that webhooks deliver."),
            Tag::Public => ("Public", "Operations for a shop's page, with a public key."),
            Tag::Reseller => ("Reseller", "Servers that are ordered and deleted."),
            Tag::OperatorUsers => {
                ("Operator: sign-in and users", "Sessions, passwords, second factors and users.")
            }
            Tag::OperatorInvoices => (
                "Operator: invoices and payment links",
                "Invoices of an account, and links with which anybody creates one.",
            ),
            Tag::OperatorTransfers => {
                ("Operator: payouts and refunds", "Requests, and the steps until they are paid.")
            }
            Tag::OperatorBooks => {
                ("Operator: books", "Balances, ledger, events and exports of an account.")
            }
            Tag::OperatorWebhooks => {
                ("Operator: webhooks", "Endpoints of an account, and deliveries to them.")
            }
            Tag::OperatorServers => ("Operator: servers", "Servers that resellers have ordered."),
            Tag::OperatorAccounts => {
                ("Operator: accounts", "Accounts, their settings, keys and payout addresses.")
            }
            Tag::OperatorService => ("Operator: the service", "Settings and data of all accounts."),
            Tag::Process => ("Process", "State of the process, for machines."),
            Tag::SandboxInboxes => {
                ("Sandbox: inboxes", "Receivers of webhooks inside the sandbox.")
            }
            Tag::SandboxMoney => {
                ("Sandbox: money", "Payments on simulated chains, payouts, refunds and invoices.")
            }
            Tag::SandboxState => {
                ("Sandbox: state", "Time, faults, snapshots and the account's switches.")
            }
        }
    }
}
