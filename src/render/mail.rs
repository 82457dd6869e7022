//! JSON of e-mail: the messages that a user wants, and the receipts of an account.

use crate::domain::SalesMail;
use crate::domain::fields::{Schema, view};

view! {
    /// Messages that the user wants.
    pub MailPreferencesView as "MailPreferences", object "mail_preferences" {
        /// Whether the server sends e-mail. A sandbox shows it in its activity instead.
        available: bool = true;
        /// Address that the messages are sent to.
        email: String = "operator@sandbox.test";
        /// Messages about sales: none, one for each sale, or one for each day with sales.
        sales: SalesMail = "daily";
        /// Whether the user is told of work that waits for a person.
        tasks: bool = true;
        /// Whether the user is told of alarms: an endpoint, a chain, the certificate or the rates fail.
        alarms: bool = true;
    }
}

view! {
    /// Receipts that payers of an account get by e-mail.
    pub ReceiptsView as "Receipts", object "receipts" {
        /// Whether the server sends e-mail. A sandbox shows it in its activity instead.
        available: bool = true;
        /// Whether payers get receipts.
        enabled: bool = true;
        /// Largest number of receipts in 24 hours.
        daily_limit: i64 [Schema::COUNT] = 200;
        /// Number of receipts in the last 24 hours.
        last_day: i64 [Schema::COUNT] = 12;
    }
}
