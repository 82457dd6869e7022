//! Messages to the team about an invoice that is paid, or that a person has to look at, and receipts to payers.
//!
//! They follow from events: the worker queues the messages of a change of status once its event is committed. Invariant:
//! messages are queued in one transaction with the cursor, so that each event causes them once.

use super::{Error, MailKind, Service};
use crate::domain::mail::messages;
use crate::domain::{Currency, Deposit, Invoice, InvoiceFacts, InvoiceStatus, Time};
use crate::service::Step;
use crate::service::mail::queue_for_team;
use crate::service::mail::receipts::queue_receipt;
use crate::store::events::{self, StatusChange};
use crate::store::{Reader, Tx, accounts, deposits, invoices, mail_cursor};
use std::sync::Arc;

/// Maximum number of changes whose messages are queued in one transaction.
const CHANGES_MAX: u32 = 100;

impl Service {
    /// Makes messages begin with the next event if there was no mail server before, or the file is a restored copy.
    /// Without a mail server, forgets how far messages were queued. Called before the first request is served.
    pub fn start_mail_cursor(self: &Arc<Self>, now: Time) -> Result<(), Error> {
        let has_cursor = self.read(|db| Ok::<_, Error>(mail_cursor::event(db)?.is_some()))?;
        if has_cursor == self.has_mail() {
            return Ok(());
        }
        self.write_and_wait(now, |step| match step.service.has_mail() {
            true => start_cursor(step.tx),
            false => Ok(mail_cursor::remove(step.tx)?),
        })
    }

    /// Queues the messages of the first changes of status after the cursor. Returns `true` if there may be more.
    pub async fn queue_mail_of_events(self: &Arc<Self>, now: Time) -> Result<bool, Error> {
        if self.read(|db| Ok::<_, Error>(new_changes(db)?.is_some_and(|new| new.is_empty())))? {
            return Ok(false);
        }
        self.write(now, |step| {
            let Some(changes) = new_changes(step.tx)? else {
                log::warn!(
                    "no mark up to which messages were queued: they begin with the next event"
                );
                return start_cursor(step.tx).map(|()| false);
            };
            for change in &changes {
                queue_mail_of_change(&Step { now: change.created_at, ..*step }, change)?;
            }
            if let Some(last) = changes.last() {
                mail_cursor::set(step.tx, last.event)?;
            }
            Ok(!changes.is_empty())
        })
        .await
    }
}

/// Makes messages begin with the next event.
pub(in crate::service) fn start_cursor(tx: &Tx<'_>) -> Result<(), Error> {
    Ok(mail_cursor::set(tx, events::last_seq(tx)?)?)
}

/// Returns the first changes of status after the cursor. `None` without a cursor: it could not be written at the start.
fn new_changes(db: &Reader<'_>) -> Result<Option<Vec<StatusChange>>, Error> {
    let event = mail_cursor::event(db)?;
    Ok(event.map(|event| events::changes_after(db, event, CHANGES_MAX)).transpose()?)
}

fn queue_mail_of_change(step: &Step<'_>, change: &StatusChange) -> Result<(), Error> {
    let unreadable = |_| Error::Failed(format!("status before event {}", change.event));
    let id = &change.object_id;
    match change.kind.invoice_status() {
        Some(status) => {
            if let Some(invoice) = invoices::by_id(step.tx, id)? {
                let before = change.status_before.parse().map_err(unreadable)?;
                return mail_about_invoice(step, &invoice, before, status);
            }
        }
        None => {
            if let Some(deposit) = deposits::by_id(step.tx, id)? {
                return mail_about_deposit(step, &deposit);
            }
        }
    }
    log::warn!(
        "no message about an event, as its object is not in the file: event={} id={id}",
        change.event
    );
    Ok(())
}

/// Queues the messages that follow from a change of an invoice's status: to the team, and the receipt.
fn mail_about_invoice(
    step: &Step<'_>,
    invoice: &Invoice,
    before: InvoiceStatus,
    status: InvoiceStatus,
) -> Result<(), Error> {
    let Step { service, tx, now } = *step;
    if !service.mails_about(invoice.mode) {
        return Ok(());
    }
    let is_sale = status.is_paid() && !before.is_paid();
    let has_task = matches!(
        status,
        InvoiceStatus::Overpaid | InvoiceStatus::Underpaid | InvoiceStatus::PaidLate
    );
    if !is_sale && !has_task {
        return Ok(());
    }
    let account = accounts::by_seq(tx, invoice.account)?;
    let received = received_text(invoice);
    let facts = InvoiceFacts {
        shop: &account.name,
        amount: invoice.amount,
        currency: invoice.currency,
        order_id: invoice.order_id.as_deref(),
        invoice_id: &invoice.id,
        received: received.as_deref(),
        is_test: !invoice.mode.is_live(),
    };
    let page = format!("invoices/{}?account={}&mode={}", invoice.id, account.id, invoice.mode);
    let (url, account) = (service.dashboard_url(&page), Some(invoice.account));
    if is_sale {
        let text = || messages::sale(&facts, now, &url);
        queue_for_team(step, MailKind::Sale, account, text)?;
        // It may have lost its payment since the event.
        if invoice.status.is_paid() {
            queue_receipt(step, invoice)?;
        }
    }
    match messages::invoice_task(status, &facts, now, &url) {
        Some(text) => queue_for_team(step, MailKind::Task, account, || text),
        None => Ok(()),
    }
}

/// Queues the messages to the team about a confirmed deposit.
fn mail_about_deposit(step: &Step<'_>, deposit: &Deposit) -> Result<(), Error> {
    let Step { service, tx, now } = *step;
    if !service.mails_about(deposit.mode) {
        return Ok(());
    }
    let account = accounts::by_seq(tx, deposit.account)?;
    let coin = deposit.asset;
    let received = format!("{} {}", coin.format_units(deposit.amount), coin.symbol);
    let customer = format!("customer {}", deposit.customer_ref);
    let facts = InvoiceFacts {
        shop: &account.name,
        amount: deposit.gross,
        currency: Currency::Eur,
        order_id: Some(&customer),
        invoice_id: &deposit.id,
        received: Some(&received),
        is_test: !deposit.mode.is_live(),
    };
    let page = format!("customers?account={}&mode={}", account.id, deposit.mode);
    let url = service.dashboard_url(&page);
    let text = || messages::sale(&facts, now, &url);
    queue_for_team(step, MailKind::Sale, Some(deposit.account), text)
}

/// Returns the received amount of the invoice's coin with its symbol, for example `0.25 LTC`.
fn received_text(invoice: &Invoice) -> Option<String> {
    let (coin, units) = invoice.coin.as_ref().zip(invoice.amount_received)?;
    Some(format!("{} {}", coin.asset.format_units(units), coin.asset.symbol))
}
