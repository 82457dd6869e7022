//! The summary of each day's sales, in UTC, for the users who want it.
//!
//! Invariant: a day is summed up once, in one transaction with its messages.

use super::{Error, OutgoingMail, Service};
use crate::domain::mail::messages::{date_text, day_summary};
use crate::domain::time::MINUTE_MS;
use crate::domain::{DaySales, Language, MailKind, Mode, Time};
use crate::render::summary::{day_number, start_of_day};
use crate::service::Step;
use crate::service::mail::queue_mail;
use crate::store::{accounts, mail_alarms, mail_preferences, summary};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Time after midnight at which the day before is summed up, in milliseconds. Payments that are confirmed at midnight
/// are booked by then.
const AFTER_MIDNIGHT_MS: i64 = 5 * MINUTE_MS;

type SalesByAccount = BTreeMap<i64, Vec<DaySales>>;

impl Service {
    /// Returns yesterday with its sales, `None` if it was summed up or nobody wants it. May read for long.
    pub fn sales_to_sum_up(&self, now: Time) -> Result<Option<(i64, SalesByAccount)>, Error> {
        if !self.has_mail() {
            return Ok(None);
        }
        let day = day_number(now.plus_ms(-AFTER_MIDNIGHT_MS)).saturating_sub(1);
        self.read_snapshot(|db| {
            let is_done = mail_alarms::summary_day(db)?.is_some_and(|last| last >= day);
            if is_done || !mail_preferences::wants_summaries(db)? {
                return Ok(None);
            }
            let mut all = SalesByAccount::new();
            for account in accounts::all(db)? {
                let found = summary::sales_by_day(db, account.seq, Mode::Live, start_of_day(day))?;
                let of_day = found.into_iter().filter(|(_, of, ..)| *of == day);
                let rows: Vec<DaySales> = of_day
                    .map(|(currency, _, count, amount)| DaySales {
                        shop: account.name.clone(),
                        currency,
                        count,
                        amount,
                    })
                    .collect();
                if !rows.is_empty() {
                    all.insert(account.seq, rows);
                }
            }
            Ok(Some((day, all)))
        })
    }

    /// Stores that a day was summed up, and queues its messages.
    pub async fn queue_summaries(
        self: &Arc<Self>,
        day: i64,
        sales: SalesByAccount,
        now: Time,
    ) -> Result<(), Error> {
        self.write(now, move |step| {
            let Step { service, tx, .. } = *step;
            if mail_alarms::summary_day(tx)?.is_some_and(|last| last >= day) {
                return Ok(());
            }
            mail_alarms::set_summary_day(tx, day)?;
            let date = date_text(start_of_day(day));
            let url = service.dashboard_url("");
            for subscriber in mail_preferences::all_subscribers(tx)? {
                let of_user = sales
                    .iter()
                    .filter(|(account, _)| subscriber.gets(MailKind::Summary, Some(**account)));
                let rows: Vec<DaySales> = of_user.flat_map(|(_, rows)| rows.clone()).collect();
                if rows.is_empty() {
                    continue;
                }
                let mail = OutgoingMail {
                    kind: MailKind::Summary,
                    account: subscriber.account,
                    recipient: &subscriber.email,
                    language: Language::English,
                    text: &day_summary(&date, &rows, &url),
                };
                queue_mail(step, &mail)?;
            }
            Ok(())
        })
        .await
    }
}
