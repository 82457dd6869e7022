//! Alarms and waiting work: finds what is wrong or waits now, and queues the messages about changes.

use super::{DueMail, Error, Service};
use crate::domain::mail::alarm::{ENDPOINT_FAILS_MS, next_alarm_state};
use crate::domain::mail::messages;
use crate::domain::{
    AlarmCondition, AlarmFacts, AlarmKind, AlarmNews, AlarmState, Language, MailKind, Mode, Time,
    TransferKind, TransferStatus, id,
};
use crate::service::Step;
use crate::service::mail::queue_for_team;
use crate::store::{FileKind, Reader, mail_alarms, mail_preferences, summary, transfers};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Largest number of missing rates that a message names.
const RATES_NAMED_MAX: usize = 5;

impl Service {
    /// Returns what is wrong or waits now; `None` if nobody wants to be told. May read for long.
    pub fn alarm_conditions(&self, now: Time) -> Result<Option<Vec<AlarmCondition>>, Error> {
        let is_wanted =
            self.has_mail() && self.read(|db| Ok(mail_preferences::wants_alarms(db)?))?;
        if !is_wanted {
            return Ok(None);
        }
        let mut found = self.read_snapshot(|db| {
            let mut found = self.waiting_work(db, now)?;
            found.extend(self.failing_endpoints(db, now)?);
            Ok::<_, Error>(found)
        })?;
        if self.kind == FileKind::Production {
            found.extend(self.lagging_chains(now)?);
            found.extend(self.missing_rates(now)?);
            found.extend(self.certificate_alarm(now));
        }
        Ok(Some(found))
    }

    /// Returns the operators who get alarms about the service.
    pub fn alarm_recipients(&self) -> Result<Vec<String>, Error> {
        let subscribers = self.read(|db| Ok(mail_preferences::subscribers(db, None)?))?;
        let gets_alarms = subscribers.into_iter().filter(|one| one.gets(MailKind::Alarm, None));
        Ok(gets_alarms.map(|one| one.email).collect())
    }

    /// Returns the message that the file is damaged. `None` without a mail server. The message is not stored.
    pub fn damage_mail(&self, recipient: String, now: Time) -> Option<DueMail> {
        let facts = AlarmFacts {
            kind: AlarmKind::FileDamaged,
            about: "",
            count: 1,
            detail: "Nothing is written any more. Stop the server, go back to a backup with `coffer restore`, and start \
                     it again.",
            since: now,
        };
        let url = self.dashboard_url(alarm_page(facts.kind));
        Some(DueMail {
            seq: 0,
            id: format!("{}@{}", id::new(now), self.mail.as_ref()?.domain),
            kind: facts.kind.mail_kind(),
            recipient,
            language: Language::English,
            text: messages::alarm(AlarmNews::Begins, &facts, now, &url),
            created_at: now,
            attempts: 0,
            doubts: 0,
        })
    }

    /// Stores the present state of every alarm, and queues the messages about changes. `None` forgets all alarms.
    pub async fn update_alarms(
        self: &Arc<Self>,
        found: Option<Vec<AlarmCondition>>,
        now: Time,
    ) -> Result<(), Error> {
        let before = self.read(|db| Ok(mail_alarms::all(db)?))?;
        let Some(found) = found else {
            return match before.is_empty() {
                true => Ok(()),
                false => self.write(now, |step| Ok(mail_alarms::remove_all(step.tx)?)).await,
            };
        };
        let changes = alarm_changes(before, &found, now);
        if changes.is_empty() {
            return Ok(());
        }
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            for change in &changes {
                match &change.next {
                    Some(next) => mail_alarms::put(tx, next)?,
                    None => mail_alarms::remove(tx, &change.subject.name)?,
                }
                if let Some(news) = change.news {
                    mail_about_alarm(step, change, news)?;
                }
            }
            Ok(())
        })
        .await
    }

    /// Returns the work that waits for an operator in live mode.
    fn waiting_work(&self, db: &Reader<'_>, now: Time) -> Result<Vec<AlarmCondition>, Error> {
        let mode = Mode::Live;
        let requested = |kind| {
            let counts = summary::open_transfer_counts(db, None, mode, kind)?;
            let of_status =
                counts.into_iter().filter(|(status, _)| *status == TransferStatus::Requested);
            Ok::<_, Error>(of_status.map(|(_, count)| count).sum::<i64>())
        };
        let to_review = self.transfers_to_review(db, now, mode)?.len();
        let without_signer = match self.is_simulated(mode) || self.live.has_signer() {
            true => 0,
            false => transfers::count_waiting_for_signer(db)?,
        };
        let counts = [
            (AlarmKind::PayoutsToApprove, requested(TransferKind::Payout)?),
            (AlarmKind::RefundsToApprove, requested(TransferKind::Refund)?),
            (AlarmKind::TransfersToReview, i64::try_from(to_review).unwrap_or(i64::MAX)),
            (AlarmKind::TransfersUnknown, summary::count_unknown_transfers(db, mode)?),
            (AlarmKind::TransfersWithoutSigner, without_signer),
            (AlarmKind::UnmatchedPayments, summary::count_unmatched_payments(db, mode)?),
            (AlarmKind::AccountsPending, summary::count_pending_accounts(db)?),
            (AlarmKind::ServersWaiting, summary::count_waiting_servers(db)?),
            (AlarmKind::ServersUnknown, summary::count_unknown_servers(db)?),
        ];
        let waiting = counts.into_iter().filter(|(_, count)| *count > 0);
        Ok(waiting.map(|(kind, count)| service_condition(kind, String::new(), count)).collect())
    }

    /// Returns the endpoints that have failed for an hour. In a sandbox, test mode counts too.
    fn failing_endpoints(&self, db: &Reader<'_>, now: Time) -> Result<Vec<AlarmCondition>, Error> {
        let before = now.plus_ms(ENDPOINT_FAILS_MS.saturating_neg());
        let mut found = BTreeMap::new();
        for mode in [Mode::Live, Mode::Test] {
            if self.mails_about(mode) {
                let failing = mail_alarms::failing_endpoints(db, mode, before)?;
                found.extend(failing.into_iter().map(|one| (one.id.clone(), one)));
            }
        }
        let condition = |one: mail_alarms::FailingEndpoint| AlarmCondition {
            kind: AlarmKind::Endpoint,
            object: one.id,
            account: Some(one.account),
            about: one.url.split_once("://").map_or("", |(_, rest)| rest).to_owned(),
            count: 1,
            detail:
                "Its deliveries are sent again for a day. See the attempts on the page Webhooks."
                    .to_owned(),
        };
        Ok(found.into_values().map(condition).collect())
    }

    fn lagging_chains(&self, now: Time) -> Result<Vec<AlarmCondition>, Error> {
        let lagging = self.chain_views(now)?.into_iter().filter(|one| !one.keeps_up);
        let condition = |one: crate::render::chains::ChainView| AlarmCondition {
            kind: AlarmKind::Chain,
            object: one.chain.to_string(),
            account: None,
            about: one.chain.to_string(),
            count: 1,
            detail: one.problem.unwrap_or_default(),
        };
        Ok(lagging.map(condition).collect())
    }

    fn missing_rates(&self, now: Time) -> Result<Option<AlarmCondition>, Error> {
        if !self.needs_rates(now)? {
            return Ok(None);
        }
        let without = self.coins_without_rate(now)?;
        let named = without.iter().take(RATES_NAMED_MAX);
        let named: Vec<String> =
            named.map(|(coin, currency, why)| format!("{coin} in {currency}: {why}")).collect();
        let count = i64::try_from(without.len()).unwrap_or(i64::MAX);
        let condition = service_condition(AlarmKind::Rates, String::new(), count);
        Ok((count > 0).then(|| AlarmCondition { detail: named.join(". "), ..condition }))
    }

    fn certificate_alarm(&self, now: Time) -> Option<AlarmCondition> {
        let warning = self.certificate()?.warning(now)?;
        let condition = service_condition(AlarmKind::Certificate, String::new(), 1);
        Some(AlarmCondition { detail: warning, ..condition })
    }
}

fn mail_about_alarm(step: &Step<'_>, change: &AlarmChange, news: AlarmNews) -> Result<(), Error> {
    let Step { service, now, .. } = *step;
    let AlarmState { kind, account, about, since, .. } = &change.subject;
    let facts = AlarmFacts {
        kind: *kind,
        about,
        count: change.count,
        detail: &change.detail,
        since: *since,
    };
    let url = service.dashboard_url(alarm_page(*kind));
    queue_for_team(step, kind.mail_kind(), *account, || messages::alarm(news, &facts, now, &url))
}

struct AlarmChange {
    /// State that the message describes.
    subject: AlarmState,
    /// State to store; `None` to forget the alarm.
    next: Option<AlarmState>,
    news: Option<AlarmNews>,
    count: i64,
    detail: String,
}

fn alarm_changes(before: Vec<AlarmState>, found: &[AlarmCondition], now: Time) -> Vec<AlarmChange> {
    let mut before: BTreeMap<String, AlarmState> =
        before.into_iter().map(|state| (state.name.clone(), state)).collect();
    let mut changes = Vec::new();
    let mut change = |state: Option<AlarmState>, condition: Option<&AlarmCondition>| {
        let (next, news) = next_alarm_state(state.clone(), condition, now);
        // An ended alarm is described by its state before the end.
        let ends = news == Some(AlarmNews::Ends) || next.is_none();
        let subject = if ends { state.clone() } else { next.clone() };
        if next != state
            && let Some(subject) = subject
        {
            let count = condition.map_or(0, |condition| condition.count);
            let detail = condition.map_or(String::new(), |condition| condition.detail.clone());
            changes.push(AlarmChange { subject, next, news, count, detail });
        }
    };
    for condition in found {
        change(before.remove(&condition.name()), Some(condition));
    }
    for state in before.into_values() {
        change(Some(state), None);
    }
    changes
}

fn service_condition(kind: AlarmKind, object: String, count: i64) -> AlarmCondition {
    let (about, detail) = (String::new(), String::new());
    AlarmCondition { kind, object, account: None, about, count, detail }
}

/// Returns the page of the operator interface that shows an alarm.
const fn alarm_page(kind: AlarmKind) -> &'static str {
    match kind {
        AlarmKind::PayoutsToApprove => "payouts",
        AlarmKind::RefundsToApprove => "refunds",
        AlarmKind::UnmatchedPayments => "unmatched",
        AlarmKind::AccountsPending => "accounts",
        AlarmKind::ServersWaiting | AlarmKind::ServersUnknown => "servers",
        AlarmKind::Endpoint => "webhooks",
        AlarmKind::Chain => "chains",
        AlarmKind::Rates => "coins",
        AlarmKind::TransfersToReview
        | AlarmKind::TransfersUnknown
        | AlarmKind::TransfersWithoutSigner
        | AlarmKind::Certificate
        | AlarmKind::FileDamaged => "",
    }
}
