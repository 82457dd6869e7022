//! Renders each resource to JSON. Responses, replayed responses and events use the same code.
//!
//! Invariant: an object in an event is byte for byte the response to a GET of the object.
//!
//! Rendering returns the errors of `serde_json`, which no type here causes.

pub(crate) mod account;
pub(crate) mod account_settings;
pub(crate) mod activity;
pub(crate) mod approvals;
pub(crate) mod chain_nodes;
pub(crate) mod chains;
pub(crate) mod changes;
pub(crate) mod claims;
pub(crate) mod currency;
pub mod customer;
pub(crate) mod deliveries;
pub mod endpoints;
pub(crate) mod event;
pub mod event_body;
pub(crate) mod first_steps;
mod invoice;
mod invoice_detail;
pub mod keys;
mod links;
pub(crate) mod mail;
pub(crate) mod matches;
pub(crate) mod operator;
pub(crate) mod pools;
pub(crate) mod public;
pub(crate) mod rates;
pub(crate) mod sales;
pub(crate) mod sandbox;
pub(crate) mod sandbox_deliveries;
pub(crate) mod servers;
pub mod settings;
pub mod summary;
pub mod tokens;
pub mod transfers;
pub mod unmatched;
pub(crate) mod wallets;

pub use account::{account_event, balance, ledger_entry, merchant};
pub use currency::currency;
pub use invoice::{CreatedInvoiceView, InvoiceView, invoice};
pub(crate) use invoice_detail::{InvoiceDetailView, TimelineEntryView};
pub use invoice_detail::{invoice_detail, timeline_entry};
pub(crate) use links::PaymentLinkView;
pub use links::payment_link;
pub(crate) use public::CheckoutEventView;
pub use public::{checkout_session, checkout_state, public_config};
pub use servers::server;
pub use transfers::transfer;
pub(crate) use transfers::{ToSend, transfer_for_operator, transfer_to_send};

use crate::domain::signature::{checkout_token, is_checkout_token};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

/// Builder of URLs and tokens that responses contain.
#[derive(Clone)]
pub struct LinkBuilder {
    /// Public URL of the service, without a trailing slash.
    pub public_url: String,
    /// Secret from which checkout tokens are derived. The database file contains this secret.
    pub checkout_secret: Vec<u8>,
}

impl LinkBuilder {
    /// Returns the URL of an invoice's checkout, with its token.
    pub fn checkout_url(&self, invoice_id: &str) -> String {
        let token = self.checkout_token(invoice_id);
        format!("{}/checkout/{invoice_id}?token={token}", self.public_url)
    }

    /// Returns the token that opens the checkout of this invoice only.
    pub fn checkout_token(&self, invoice_id: &str) -> String {
        checkout_token(&self.checkout_secret, invoice_id)
    }

    /// Returns `true` if this is the checkout token of the invoice. Compares in constant time.
    pub fn is_checkout_token(&self, invoice_id: &str, token: &str) -> bool {
        is_checkout_token(&self.checkout_secret, invoice_id, token)
    }

    /// Returns the URL of the script that opens the checkout inside a shop's page.
    pub fn widget_url(&self) -> String {
        format!("{}/widget.js", self.public_url)
    }

    /// Returns the URL of a payment link's page.
    pub fn payment_link_url(&self, id: &str) -> String {
        format!("{}/l/{id}", self.public_url)
    }

    /// Returns the URL of a payment link's picture. The URL contains the hash of the picture.
    pub fn link_picture_url(&self, id: &str, hash: &str) -> String {
        format!("{}/l/{id}/picture/{hash}", self.public_url)
    }
}

const VERSION_BYTES: usize = 8;

/// Returns the version of a rendered resource: 16 hex digits that change with its JSON.
pub fn content_version(json: &RawValue) -> String {
    let hash = Sha256::digest(json.get());
    let first = hash.first_chunk::<VERSION_BYTES>();
    let first = first.map_or(0, |bytes| u64::from_be_bytes(*bytes));
    format!("{first:016x}")
}

/// A rendered resource, or the error of `serde_json`.
pub type Rendered = serde_json::Result<Box<RawValue>>;
