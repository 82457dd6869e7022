//! Requests refunds. `transfers` and `sending` perform the later steps.
//!
//! Invariant: when a refund is requested, the refunds of its invoice do not exceed the confirmed amount. Failed,
//! rejected and cancelled refunds do not count.

use super::idempotency::{IdempotentRequest, IdempotentResponse};
use super::lookups::{find_invoice, owned_invoice};
use super::transfers::request_transfer;
use super::{Error, Scope, Service, Step};
use crate::domain::fields::Fields;
use crate::domain::status::refundable_excess;
use crate::domain::transfer::inputs::{RequestRefund, SandboxRefund};
use crate::domain::{
    Cents, Invoice, PaymentState, Refusal, RefusalCode, SendingProgress, Time, Total, Transfer,
    TransferKind, TransferStatus, address, id,
};
use crate::render;
use crate::store::{Reader, accounts, payments, transfers};
use std::sync::Arc;

/// Maximum number of refunds of an invoice, in any status. Each request adds up all refunds of the invoice, while all
/// other writes wait.
pub(super) const REFUNDS_MAX: u32 = 1000;
/// Label from which the default address of sandbox refunds is derived. No known person has the private key of this
/// address.
const SANDBOX_LABEL: &str = "coffer sandbox refund";

impl Service {
    /// Requests a refund of one of the caller's invoices, or returns the refund that was already requested with this
    /// Idempotency-Key.
    ///
    /// `person` is the email of the signed-in user.
    ///
    /// # Errors
    ///
    /// `not_found`, `invalid_request`, `invoice_not_refundable`, `invalid_amount`, `idempotency_conflict`.
    pub async fn create_refund(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        person: &str,
        request: IdempotentRequest,
    ) -> Result<IdempotentResponse, Error> {
        let (scope, actor) = (*scope, person.to_owned());
        let check = |db: &Reader<'_>| {
            let fields = Fields::new(&request.body);
            fields.refuse_unknown(RequestRefund::NAMES)?;
            let invoice = owned_invoice(db, &scope, &RequestRefund::invoice(fields)?)?;
            self.prepare_refund(db, now, &invoice, fields, None).map(drop)
        };
        if let Some(kept) = self.check_before_write(now, scope, &request, check)? {
            return Ok(kept);
        }
        self.derive_upcoming_addresses()?;
        self.write(now, move |step| {
            let Step { service, tx, .. } = *step;
            request.run_once(step, scope, || {
                let fields = Fields::new(&request.body);
                fields.refuse_unknown(RequestRefund::NAMES)?;
                let invoice = owned_invoice(tx, &scope, &RequestRefund::invoice(fields)?)?;
                let refund = service.prepare_refund(tx, now, &invoice, fields, None)?;
                let refund = request_transfer(step, &actor, refund)?;
                let json = service.render_for_operator(tx, now, &refund)?;
                Ok(IdempotentResponse::created(json))
            })
        })
        .await
    }

    /// Requests a refund of an invoice of either mode. Without `toAddress`, the refund goes to a fixed address.
    ///
    /// # Errors
    ///
    /// `not_found`, `invalid_request`, `invoice_not_refundable`, `invalid_amount`, `idempotency_conflict`.
    pub async fn create_sandbox_refund(
        self: &Arc<Self>,
        now: Time,
        request: IdempotentRequest,
    ) -> Result<IdempotentResponse, Error> {
        self.write(now, move |step| {
            let Step { service, tx, .. } = *step;
            let fields = Fields::new(&request.body);
            fields.refuse_unknown(SandboxRefund::NAMES)?;
            let invoice = find_invoice(tx, &SandboxRefund::invoice(fields)?)?;
            request.run_once(step, Scope::new(invoice.account, invoice.mode), || {
                let refund =
                    service.prepare_refund(tx, now, &invoice, fields, Some(SANDBOX_LABEL))?;
                let refund = request_transfer(step, "sandbox", refund)?;
                let json = render::transfer(&refund)?;
                Ok(IdempotentResponse::created(json))
            })
        })
        .await
    }

    /// Checks a requested refund, and returns the refund before it is stored. If the request has no address, the
    /// default address is derived from `label`.
    fn prepare_refund(
        &self,
        db: &Reader<'_>,
        now: Time,
        invoice: &Invoice,
        fields: Fields<'_>,
        label: Option<&str>,
    ) -> Result<Transfer, Error> {
        if transfers::count_refunds(db, invoice.seq)? >= REFUNDS_MAX {
            let message = format!(
                "an invoice has at most {REFUNDS_MAX} refunds; send the rest by other means, and book it as an adjustment"
            );
            return Err(Refusal::new(RefusalCode::InvoiceNotRefundable, message).into());
        }
        let own = invoice.coin.as_ref().map(|coin| coin.asset);
        // An invoice without a coin has no payments to refund.
        let asset = RequestRefund::asset(fields)?.or(own).ok_or_else(not_refundable_refusal)?;
        let to_address = match (RequestRefund::to_address(fields)?, label) {
            (Some(text), _) => self
                .external_destination(db, invoice.mode, asset.chain, &text)?
                .map_err(|problem| Refusal::field("toAddress", problem))?,
            (None, Some(label)) => address::test_mode_address(asset.chain, label, 0),
            (None, None) => {
                let problem = format!("must be given: an address on {}", asset.chain);
                return Err(Refusal::field("toAddress", problem).into());
            }
        };
        let reason = RequestRefund::reason(fields)?;
        let wanted = RequestRefund::amount(fields)?;
        let (left, excess) = refundable_amounts(db, invoice)?;
        if wanted.is_none() && excess.is_some_and(|excess| excess <= Cents::ZERO) {
            let message = format!(
                "amount must be given: the excess of this overpaid invoice is refunded, and {left} {} are left to refund",
                invoice.currency
            );
            return Err(Refusal::for_param(RefusalCode::InvalidAmount, "amount", message).into());
        }
        let amount = wanted.or(excess).unwrap_or(left);
        if amount > left || amount <= Cents::ZERO {
            let currency = invoice.currency;
            let message = format!("{left} {currency} of this invoice are left to refund");
            return Err(Refusal::for_param(RefusalCode::InvalidAmount, "amount", message).into());
        }
        Ok(Transfer {
            seq: 0,
            id: id::new(now).to_string(),
            kind: TransferKind::Refund,
            account: invoice.account,
            account_id: accounts::by_seq(db, invoice.account)?.id,
            mode: invoice.mode,
            invoice: Some((invoice.seq, invoice.id.clone())),
            status: TransferStatus::Requested,
            currency: invoice.currency,
            amount,
            asset,
            to_address,
            destination: 0,
            terms: None,
            terms_source: None,
            sent_by: None,
            signer_share: None,
            txid: None,
            reason,
            failure_reason: None,
            sending: None,
            sending_progress: SendingProgress::default(),
            has_exact_proposal: false,
            released_at: None,
            is_frozen: false,
            requested_at: now,
            requested_height: None,
            approved_at: None,
            finalized_at: None,
        })
    }
}

/// Returns the amount left to refund: the confirmed amount less the refunds that are not failed, rejected or cancelled.
/// Also returns the excess of an overpaid invoice.
fn refundable_amounts(db: &Reader<'_>, invoice: &Invoice) -> Result<(Cents, Option<Cents>), Error> {
    let payments = payments::of_invoice(db, invoice.seq)?;
    let confirmed = payments
        .iter()
        .filter(|payment| payment.state == PaymentState::Confirmed)
        .map(|payment| payment.value);
    let confirmed: Total = confirmed.sum();
    if confirmed == Total::ZERO {
        return Err(not_refundable_refusal().into());
    }
    let refunded = transfers::sum_of_refunds(db, invoice.seq)?;
    let excess = refundable_excess(invoice.status, invoice.amount, confirmed, refunded);
    let excess = excess.map(Total::cents).transpose()?;
    Ok((confirmed.minus(refunded).cents()?, excess))
}

fn not_refundable_refusal() -> Refusal {
    let message = "nothing that was paid on this invoice is confirmed";
    Refusal::new(RefusalCode::InvoiceNotRefundable, message)
}
