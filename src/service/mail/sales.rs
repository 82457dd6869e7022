//! Messages to the team about an invoice that is paid, or that a person has to look at.

use super::{Error, MailKind};
use crate::domain::deposit::Deposit;
use crate::domain::invoice::Invoice;
use crate::domain::mail::messages::{self, InvoiceFacts};
use crate::domain::money::Currency;
use crate::domain::status::InvoiceStatus;
use crate::service::Step;
use crate::service::mail::queue_for_team;
use crate::service::mail::receipts::queue_receipt;
use crate::store::accounts;

/// Queues the messages that follow from a change of an invoice's status: to the team, and the receipt.
pub(in crate::service) fn mail_about_invoice(
    step: &Step<'_>,
    before: InvoiceStatus,
    invoice: &Invoice,
) -> Result<(), Error> {
    let Step { service, tx, now } = *step;
    if !service.mails_about(invoice.mode) || invoice.status == before {
        return Ok(());
    }
    let is_sale = invoice.status.is_paid() && !before.is_paid();
    let has_task = matches!(
        invoice.status,
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
        queue_receipt(step, invoice)?;
    }
    match messages::invoice_task(invoice.status, &facts, now, &url) {
        Some(text) => queue_for_team(step, MailKind::Task, account, || text),
        None => Ok(()),
    }
}

/// Queues the messages to the team about a confirmed deposit.
pub(in crate::service) fn mail_about_deposit(
    step: &Step<'_>,
    deposit: &Deposit,
) -> Result<(), Error> {
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
