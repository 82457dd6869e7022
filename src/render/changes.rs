//! JSON of an event that says which kinds of objects have changed.
//!
//! Invariant: the event contains no data of the objects.

use crate::domain::fields::{Schema, view};
use crate::domain::{Mode, ResourceKind};

view! {
    /// Kinds of objects that changed since the event before.
    pub(crate) ChangesView as "Changes" {
        /// Version of the files of operator pages. A page of another version loads itself again.
        version: &'static str = "0123456789abcdef";
        /// Whether anything may have changed, for example after a restart of the server. Then `changed` is empty.
        everything: bool = false;
        /// The changes, by account and mode.
        changed: Vec<ChangedKinds> = [
            { "account": "0193ad6e-3c00-7a41-9e55-0c6d2f9b7a10", "mode": "live", "kinds": ["invoices", "deliveries"] }
        ];
    }
}

view! {
    pub(crate) ChangedKinds {
        /// Account of the objects; null for objects of no account, which only operators see.
        account: Option<String> [Schema::OrNull(&Schema::UUID)];
        /// Mode of the objects.
        mode: Mode;
        /// Kinds of the objects.
        kinds: Vec<ResourceKind>;
    }
}
