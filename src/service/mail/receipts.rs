//! Receipts for payers: once for an invoice, in the payer's language, to the address that the shop gave.
//!
//! Invariant: only an invoice that counts as paid gets a receipt, and only if its address came with a secret key or from
//! a signed-in user. An invoice from a payment link has no address.

use super::{Error, OutgoingMail, Service};
use crate::domain::language::AUTO;
use crate::domain::mail::receipt::{RECEIPTS_DAILY_MAX, receipt};
use crate::domain::time::DAY_MS;
use crate::domain::{Account, Invoice, Language, MailKind, ReceiptFacts, Time};
use crate::render::mail::ReceiptsView;
use crate::service::mail::queue_mail;
use crate::service::{Step, audit_log};
use crate::store::{Reader, Tx, accounts, receipts};
use serde_json::json;
use std::sync::Arc;

impl Service {
    /// Remembers the language in which a payer sees the checkout, if the invoice may get a receipt. `picked` is the
    /// language that the payer chose on the page, and `shown` the language of the page.
    pub fn note_payer_language(
        self: &Arc<Self>,
        now: Time,
        invoice: &Invoice,
        account: &Account,
        picked: Option<Language>,
        shown: Language,
    ) -> Result<(), Error> {
        // Without a choice, a language of the account's settings is found when the receipt is written.
        let language = picked.or((account.checkout_lang == AUTO).then_some(shown));
        let may_get_receipt = self.mails_about(invoice.mode)
            && invoice.customer_email.is_some()
            && !invoice.status.is_paid();
        let Some(language) = language.filter(|_| may_get_receipt) else {
            return Ok(());
        };
        let (seq, account) = (invoice.seq, invoice.account);
        let is_new = self.read(|db| {
            Ok::<_, Error>(
                receipts::is_on(db, account)? && receipts::language(db, seq)? != Some(language),
            )
        })?;
        if is_new {
            // The page does not wait for this write, and is shown even if the write fails.
            let noted = self.write_detached(now, move |step| {
                Ok(receipts::save_language(step.tx, seq, language, now)?)
            });
            if let Err(error) = noted {
                log::debug!("language of a payer not recorded: error={error}");
            }
        }
        Ok(())
    }

    /// Returns whether payers of an account get receipts.
    pub(crate) fn receipts_view(
        &self,
        db: &Reader<'_>,
        account: i64,
        now: Time,
    ) -> Result<ReceiptsView, Error> {
        Ok(ReceiptsView {
            available: self.has_mail(),
            enabled: receipts::is_on(db, account)?,
            daily_limit: RECEIPTS_DAILY_MAX,
            last_day: sent_of_day(db, account, now)?,
        })
    }

    /// Switches the receipts of an account on or off.
    pub(crate) fn set_receipts(
        &self,
        tx: &Tx<'_>,
        actor: &str,
        seq: i64,
        enabled: bool,
        now: Time,
    ) -> Result<ReceiptsView, Error> {
        if receipts::is_on(tx, seq)? != enabled {
            receipts::set(tx, seq, enabled)?;
            let id = accounts::by_seq(tx, seq)?.id;
            let detail = json!({ "enabled": enabled });
            let action = "receipts.change";
            audit_log::record(tx, now, actor, action, Some(seq), Some(&id), &detail)?;
        }
        self.receipts_view(tx, seq, now)
    }
}

/// Queues the receipt of an invoice that has just been paid, unless it got one or the account has sent too many.
pub(super) fn queue_receipt(step: &Step<'_>, invoice: &Invoice) -> Result<(), Error> {
    let Step { service, tx, now } = *step;
    let recipient = invoice.customer_email.as_ref();
    let Some(recipient) = recipient.filter(|_| invoice.payment_link_id.is_none()) else {
        return Ok(());
    };
    let seq = invoice.account;
    if !receipts::is_on(tx, seq)? || sent_of_day(tx, seq, now)? >= RECEIPTS_DAILY_MAX {
        return Ok(());
    }
    if !receipts::take(tx, invoice.seq, seq, now)? {
        return Ok(());
    }
    let account = accounts::by_seq(tx, seq)?;
    let chosen = receipts::language(tx, invoice.seq)?;
    let language =
        chosen.unwrap_or_else(|| Language::for_customer(None, &account.checkout_lang, ""));
    let received = invoice.coin.as_ref().zip(invoice.amount_received);
    let received =
        received.map(|(coin, units)| (coin.asset.format_units(units), coin.asset.symbol));
    let facts = ReceiptFacts {
        shop: &account.name,
        amount: invoice.amount,
        currency: invoice.currency,
        received: received.as_ref().map(|(units, symbol)| (units.as_str(), *symbol)),
        paid_at: invoice.confirmed_at.unwrap_or(now),
        order_id: invoice.order_id.as_deref(),
        description: invoice.description.as_deref(),
        invoice_id: &invoice.id,
        url: &service.links.checkout_url(&invoice.id),
    };
    let text = &receipt(&facts, language);
    let (kind, account) = (MailKind::Receipt, Some(seq));
    queue_mail(step, &OutgoingMail { kind, account, recipient, language, text })
}

/// Returns the number of receipts of an account in the last 24 hours, at most the largest allowed number.
fn sent_of_day(db: &Reader<'_>, account: i64, now: Time) -> Result<i64, Error> {
    Ok(receipts::count_since(db, account, now.plus_ms(-DAY_MS), RECEIPTS_DAILY_MAX)?)
}
