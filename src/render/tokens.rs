//! JSON of the tokens of the reseller interface.

use crate::domain::Time;
use crate::domain::fields::{Schema, schema, view};

view! {
    /// A token of the reseller interface, without its text.
    pub ResellerTokenView<'a> as "ResellerToken", object "reseller_token" {
        /// Token id.
        id: &'a str [Schema::UUID] = "0193ad6e-3c00-7a41-9e55-0c6d2f9b7a10";
        /// Last four characters.
        last4: &'a str = "co1f";
        /// Creation time, in UTC.
        created_at: Time = "2026-11-21T09:30:00.000Z";
        /// Time of the last use, to the minute, in UTC.
        last_used_at: Option<Time> = null;
        /// Time of the revocation, in UTC.
        revoked_at: Option<Time> = null;
    }
}

view! {
    /// A new reseller token.
    pub CreatedResellerTokenView<'a> as "CreatedResellerToken" {
        /// Fields of the key.
        [flatten] base: ResellerTokenView<'a>;
        /// The token, shown only here.
        token: &'a str [schema!({ "type": "string", "pattern": "^rt_[0-9A-Za-z]{36}$" })] = "rt_ForATestOnly0000000000000000000Rco1f";
    }
}
