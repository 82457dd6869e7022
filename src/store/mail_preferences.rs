//! The table `mail_preferences`: messages that a user wants.

use super::row::enum_as_text;
use super::statement::statements;
use super::{StoreError, Tx};
use crate::domain::{MailPreferences, MailSubscriber, SalesMail, User};

enum_as_text!(SalesMail);

statements! {
    row read(sales, tasks, alarms) -> MailPreferences {
        Ok(MailPreferences { sales, tasks, alarms })
    }

    /// Returns the preferences of a user, `None` if the user has chosen nothing.
    pub fn of_user(db, user: i64) -> Option<MailPreferences> = select "from mail_preferences where user = :user";

    row read_subscriber(u.email, u.account, p.sales, p.tasks, p.alarms) -> MailSubscriber {
        Ok(MailSubscriber { email, account, preferences: MailPreferences { sales, tasks, alarms } })
    }

    /// Returns the enabled users of an account, and the operators, who want any message, in the order of their creation.
    pub fn subscribers(db, account: Option<i64>) -> Vec<MailSubscriber> =
        select "from mail_preferences p join users u on u.seq = p.user \
            where u.disabled_at is null and (p.account is null or p.account = :account) order by u.seq";

    /// Returns every enabled user who wants any message, in the order of their creation.
    pub fn all_subscribers(db) -> Vec<MailSubscriber> =
        select "from mail_preferences p join users u on u.seq = p.user where u.disabled_at is null order by u.seq";

    /// Returns `true` if an enabled user wants to be told of tasks or alarms.
    pub fn wants_alarms(db) -> (found: bool) =
        "select exists (select 1 from mail_preferences p join users u on u.seq = p.user \
            where u.disabled_at is null and (p.tasks = 1 or p.alarms = 1)) as found";

    /// Returns `true` if an enabled user wants the sales of each day.
    pub fn wants_summaries(db) -> (found: bool) =
        "select exists (select 1 from mail_preferences p join users u on u.seq = p.user \
            where u.disabled_at is null and p.sales = 'daily') as found";

    fn put_row(tx, user: i64, account: Option<i64>, preferences: &MailPreferences) =
        "insert into mail_preferences (user, account, sales, tasks, alarms) \
            values (:user, :account, :sales, :tasks, :alarms) \
            on conflict (user) do update set sales = excluded.sales, tasks = excluded.tasks, alarms = excluded.alarms"
        with {
            user, account, sales: preferences.sales, tasks: preferences.tasks, alarms: preferences.alarms,
        };

    fn remove(tx, user: i64) = "delete from mail_preferences where user = :user";
}

/// Stores the preferences of a user. A user who wants nothing has no row.
pub fn put(tx: &Tx<'_>, user: &User, preferences: &MailPreferences) -> Result<(), StoreError> {
    if *preferences == MailPreferences::NONE {
        return remove(tx, user.seq);
    }
    put_row(tx, user.seq, user.account, preferences)
}
