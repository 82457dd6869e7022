//! Tokens of the reseller interface as they are answered.

use crate::domain::fields::view;
use crate::domain::fields::view::{of_form, uuid};
use crate::domain::time::Time;
use serde_json::Value;

view! {
    /// A token of the reseller interface, without its text.
    pub ResellerTokenView<'a> as "ResellerToken", object "reseller_token" {
        /// Token id.
        id: &'a str [uuid()] = "0193ad6e-3c00-7a41-9e55-0c6d2f9b7a10";
        /// Its last four characters.
        last4: &'a str = "co1f";
        /// When it was made, in UTC.
        created_at: Time = "2026-11-21T09:30:00.000Z";
        /// When it was used last, to the minute, in UTC.
        last_used_at: Option<Time> = Value::Null;
        /// When it was revoked, in UTC.
        revoked_at: Option<Time> = Value::Null;
    }
}

view! {
    /// A reseller token that was just made.
    pub CreatedResellerTokenView<'a> as "CreatedResellerToken", extends ResellerTokenView {
        /// Its text, which is shown only here.
        token: &'a str [of_form("^rt_[0-9A-Za-z]{36}$")] = "rt_ForATestOnly0000000000000000000Rco1f";
    }
}
