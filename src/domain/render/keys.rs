//! Keys as they are answered.

use crate::domain::apikey::KeyClass;
use crate::domain::asset::Mode;
use crate::domain::fields::Schema;
use crate::domain::fields::view;
use crate::domain::fields::view::Sometimes;
use crate::domain::time::Time;

view! {
    /// A key, without its text.
    pub KeyView<'a> as "Key", object "key" {
        /// Key id.
        id: &'a str [Schema::UUID] = "0193ad6e-3c00-7a41-9e55-0c6d2f9b7a10";
        /// What it opens.
        class: KeyClass = "secret";
        /// Live or test.
        mode: Mode = "test";
        /// Its last four characters.
        last4: &'a str = "a1B2";
        /// When it was made, in UTC.
        created_at: Time = "2026-11-21T09:30:00.000Z";
        /// When it was used last, to the minute, in UTC.
        last_used_at: Option<Time> = null;
        /// When it stops working, where it was rolled, in UTC.
        expires_at: Option<Time> = null;
        /// When it was revoked, in UTC.
        revoked_at: Option<Time> = null;
    }
}

view! {
    /// A key that was just made.
    pub CreatedKeyView<'a> as "CreatedKey" {
        /// Fields of the key.
        [flatten] base: KeyView<'a>;
        /// Its text, which is shown only here; absent where the key was imported.
        key: Sometimes<&'a str>;
    }
}
