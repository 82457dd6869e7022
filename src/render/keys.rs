//! JSON of API keys.

use crate::domain::fields::view::OmittedIfNone;
use crate::domain::fields::{Schema, view};
use crate::domain::{KeyClass, Mode, Time};

view! {
    /// A key, without its text.
    pub KeyView<'a> as "Key", object "key" {
        /// Key id.
        id: &'a str [Schema::UUID] = "0193ad6e-3c00-7a41-9e55-0c6d2f9b7a10";
        /// Class of the key: secret or public.
        class: KeyClass = "secret";
        /// Mode of the key.
        mode: Mode = "test";
        /// Last four characters.
        last4: &'a str = "a1B2";
        /// Creation time, in UTC.
        created_at: Time = "2026-11-21T09:30:00.000Z";
        /// Time of the last use, to the minute, in UTC.
        last_used_at: Option<Time> = null;
        /// Expiry of a rolled key, in UTC.
        expires_at: Option<Time> = null;
        /// Time of the revocation, in UTC.
        revoked_at: Option<Time> = null;
    }
}

view! {
    /// A new key.
    pub CreatedKeyView<'a> as "CreatedKey" {
        /// Fields of the key.
        [flatten] base: KeyView<'a>;
        /// The key, shown only here; absent for an imported key.
        key: OmittedIfNone<&'a str>;
    }
}
