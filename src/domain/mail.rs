//! E-mail: kinds of messages, who gets which, when alarms are repeated, attempts, and the texts of messages.
//!
//! Invariant: a text from a shop or a payer becomes one line of plain text before it is part of a message.

pub mod alarm;
pub mod attempt;
pub mod messages;
pub mod plain;
pub mod receipt;
mod receipt_words;

use super::fields::input;
use super::fields::rule::{FlagRule, choice};
use super::text_enum::text_enum;

const SUBJECT_CHARS_MAX: usize = 150;

text_enum! {
    /// Kind of a message.
    pub enum MailKind {
        /// To the team: a sale.
        Sale = "sale",
        /// To the team: the sales of a day.
        Summary = "summary",
        /// To the team: work that waits for a person.
        Task = "task",
        /// To the team: something fails.
        Alarm = "alarm",
        /// To a payer: a receipt.
        Receipt = "receipt",
    }
}

impl MailKind {
    /// Returns the place among waiting messages: 0 is sent first.
    pub const fn priority(self) -> u8 {
        match self {
            MailKind::Task | MailKind::Alarm => 0,
            MailKind::Sale | MailKind::Summary => 1,
            MailKind::Receipt => 2,
        }
    }
}

text_enum! {
    /// State of a message.
    pub enum MailState {
        /// Waits for an attempt.
        Pending = "pending",
        /// The mail server has accepted it.
        Sent = "sent",
        /// Given up.
        Failed = "failed",
    }
}

text_enum! {
    /// Messages about sales that a user gets.
    pub enum SalesMail {
        /// No messages.
        Off = "off",
        /// One for each sale.
        Each = "each",
        /// One for each day with sales.
        Daily = "daily",
    }
}

/// Subject and text of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailText {
    /// Subject, one line.
    pub subject: String,
    /// Plain text with line feeds.
    pub body: String,
}

/// Messages that a user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailPreferences {
    /// Messages about sales.
    pub sales: SalesMail,
    /// Work that waits for a person.
    pub tasks: bool,
    /// Alarms.
    pub alarms: bool,
}

impl MailPreferences {
    /// Preferences of a user who has chosen nothing.
    pub const NONE: MailPreferences =
        MailPreferences { sales: SalesMail::Off, tasks: false, alarms: false };

    /// Returns `true` if the user wants messages of this kind.
    pub fn wants(&self, kind: MailKind) -> bool {
        match kind {
            MailKind::Sale => self.sales == SalesMail::Each,
            MailKind::Summary => self.sales == SalesMail::Daily,
            MailKind::Task => self.tasks,
            MailKind::Alarm => self.alarms,
            MailKind::Receipt => false,
        }
    }

    /// Returns the preferences with these changes.
    #[must_use]
    pub fn changed_by(self, changes: &SetMailPreferences) -> MailPreferences {
        MailPreferences {
            sales: changes.sales.unwrap_or(self.sales),
            tasks: changes.tasks.unwrap_or(self.tasks),
            alarms: changes.alarms.unwrap_or(self.alarms),
        }
    }
}

/// A user who gets messages.
#[derive(Clone, Debug)]
pub struct MailSubscriber {
    /// Address of the user.
    pub email: String,
    /// `seq` of the user's account; `None` for an operator.
    pub account: Option<i64>,
    /// Messages that the user wants.
    pub preferences: MailPreferences,
}

impl MailSubscriber {
    /// Returns `true` if the user gets messages of this kind about an account, or about the service (`None`).
    /// Operators get both. Other users get what is about their account.
    pub fn gets(&self, kind: MailKind, account: Option<i64>) -> bool {
        let is_concerned = self.account.is_none() || self.account == account;
        is_concerned && self.preferences.wants(kind)
    }
}

input! {
    /// Messages that the user wants. Absent fields stay as they are.
    pub SetMailPreferences, checked sales, tasks, alarms; unknown refused {
        /// Messages about sales: none, one for each sale, or one for each day with sales.
        optional sales: SalesMail = choice(), "daily";
        /// Whether the user is told of work that waits for a person.
        optional tasks: bool = FlagRule, true;
        /// Whether the user is told of alarms: an endpoint, a chain, the certificate or the rates fail.
        optional alarms: bool = FlagRule, true;
    }
}

input! {
    /// Whether payers of an account get receipts.
    pub SetReceipts, checked enabled; unknown refused {
        /// Whether payers get a receipt by e-mail.
        required enabled: bool = FlagRule, true;
    }
}

#[cfg(test)]
mod tests {
    use super::{MailKind, MailPreferences, MailSubscriber, SalesMail};

    #[test]
    fn users_get_what_they_want_about_their_account() {
        let preferences = MailPreferences { sales: SalesMail::Each, tasks: true, alarms: false };
        let user = |account| MailSubscriber { email: String::new(), account, preferences };
        let (operator, merchant) = (user(None), user(Some(1)));
        for (kind, account, of_operator, of_merchant) in [
            (MailKind::Sale, Some(1), true, true),
            (MailKind::Sale, Some(2), true, false),
            (MailKind::Task, None, true, false),
            (MailKind::Task, Some(1), true, true),
            (MailKind::Alarm, Some(1), false, false),
            (MailKind::Summary, Some(1), false, false),
            (MailKind::Receipt, Some(1), false, false),
        ] {
            assert_eq!(operator.gets(kind, account), of_operator, "{kind} {account:?}");
            assert_eq!(merchant.gets(kind, account), of_merchant, "{kind} {account:?}");
        }
        let silent = MailSubscriber { preferences: MailPreferences::NONE, ..operator };
        assert!(MailKind::ALL.iter().all(|kind| !silent.gets(*kind, None)));
    }
}
