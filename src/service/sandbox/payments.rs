//! The sandbox's simulated chains: payments put on them, confirmed, dropped, reorganised, replaced.
//!
//! What always holds: what is put on a simulated chain goes through the same steps as what is seen on a real one.

use super::target::Target;
use crate::domain::asset::{Asset, Mode};
use crate::domain::deposit::{Deposit, DepositStatus};
use crate::domain::fields::Fields;
use crate::domain::id;
use crate::domain::invoice::Invoice;
use crate::domain::money::coin::Units;
use crate::domain::payment::{Payment, PaymentState, simulated_txid};
use crate::domain::quote::Quote;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::text_enum::text_enum;
use crate::domain::time::Time;
use crate::service::payments::{Sighting, still_due};
use crate::service::{Error, Json, Service};
use crate::store::unmatched_payments::NewUnmatched;
use crate::store::{
    Reader, Tx, customers, deposits, invoices, payments, quotes, unmatched_payments,
};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What a payment is said to be that matched nothing.
pub(super) const UNMATCHED: &str = "unmatched";

/// The states in which the sandbox shows a payment.
pub const SHOWN_STATES: [&str; 4] = [
    PaymentState::Seen.as_str(),
    PaymentState::Confirmed.as_str(),
    PaymentState::Dropped.as_str(),
    UNMATCHED,
];

text_enum! {
    /// What may be done to a payment on a simulated chain.
    pub enum Step {
        /// A dropped one appears again.
        Seen = "seen",
        /// Its block is final.
        Confirmed = "confirmed",
        /// It vanishes.
        Dropped = "dropped",
        /// Its block was reorganised away: it is seen again.
        Orphaned = "orphaned",
        /// Another transaction takes its place and inherits when it was seen.
        Replaced = "replaced",
    }
}

impl Service {
    /// Puts a payment on a simulated chain; true with it where it is new, false where the transaction was there.
    ///
    /// # Errors
    /// `invalid_request`, `coin_unavailable`.
    pub async fn put_payment(
        self: &Arc<Self>,
        now: Time,
        body: Map<String, Value>,
    ) -> Result<(bool, Json), Error> {
        self.write(move |service, tx| {
            let fields = Fields::of(&body);
            fields.only(&["invoice", "address", "asset", "amount", "txid"])?;
            let target = service.target(tx, now, &fields)?;
            let (mode, asset) = target.place();
            let amount = amount(&fields, asset)?;
            let txid = txid(&fields, asset, now)?;
            if let Some(known) = target.known(tx, &txid)? {
                return Ok((false, known));
            }
            let amount = match &target {
                Target::Invoice(invoice, quote) => {
                    amount.map_or_else(|| default_amount(tx, invoice, quote), Ok)?
                }
                Target::Customer(..) | Target::Nobody(_) => amount.ok_or_else(|| {
                    Refusal::field("amount", "must be given: nothing is due at this address")
                })?,
            };
            let sighting = Sighting {
                amount,
                position: next_position(tx, mode, asset, &txid)?,
                txid,
                seen_at: now,
            };
            Ok((true, service.put(tx, now, target, sighting)?))
        })
        .await
    }

    /// Puts it on the chain: for an invoice, for a customer, or for nobody.
    fn put(
        &self,
        tx: &Tx<'_>,
        now: Time,
        target: Target,
        sighting: Sighting,
    ) -> Result<Json, Error> {
        match target {
            Target::Invoice(invoice, quote) => {
                let (_, payment) = self.see(tx, now, *invoice, &quote, sighting)?;
                view(&payment.id, &payment.txid, payment.state.as_str())
            }
            Target::Customer(customer, asset, address) => {
                let deposit = self.see_deposit(tx, now, &customer, asset, address, sighting)?;
                view(&deposit.id, &deposit.txid, deposit.status.state().as_str())
            }
            Target::Nobody(stray) => {
                let id = id::new(now).to_string();
                let new = NewUnmatched {
                    id: &id,
                    mode: stray.mode,
                    asset: stray.asset,
                    txid: &sighting.txid,
                    position: sighting.position,
                    address: &stray.address,
                    amount: sighting.amount,
                    reason: stray.reason,
                    owner: stray.owner,
                    seen_at: sighting.seen_at,
                };
                unmatched_payments::insert(tx, &new)?;
                view(&id, &sighting.txid, UNMATCHED)
            }
        }
    }

    /// Moves a payment on its simulated chain.
    ///
    /// # Errors
    /// `not_found`, `invalid_request`, `invalid_transition`.
    pub async fn move_payment(
        self: &Arc<Self>,
        now: Time,
        id: &str,
        body: Map<String, Value>,
    ) -> Result<Json, Error> {
        let id = id.to_owned();
        self.write(move |service, tx| {
            let fields = Fields::of(&body);
            fields.only(&["state", "amount"])?;
            let known = || {
                Refusal::field(
                    "state",
                    format!("must be one of {}", Step::TEXTS.join(", ")),
                )
            };
            let step: Step = fields.choice("state")?.ok_or_else(known)?;
            let id = id::parse(&id).ok_or_else(|| Refusal::not_found("payment"))?;
            if step != Step::Replaced && fields.get("amount").is_some() {
                return Err(Refusal::field("amount", "goes with state \"replaced\" only").into());
            }
            if let Some(payment) = payments::by_id(tx, &id)? {
                return service.move_of_invoice(tx, now, &payment, step, &fields);
            }
            if let Some(deposit) = deposits::by_id(tx, &id)? {
                return service.move_deposit(tx, now, deposit, step, &fields);
            }
            if unmatched_payments::by_id(tx, &id)?.is_some() {
                let message = "a payment that matched nothing stays as it is";
                return Err(Refusal::of(Code::InvalidTransition, "state", message).into());
            }
            Err(Refusal::not_found("payment").into())
        })
        .await
    }

    /// Moves the payment of an invoice.
    fn move_of_invoice(
        &self,
        tx: &Tx<'_>,
        now: Time,
        payment: &Payment,
        step: Step,
        fields: &Fields<'_>,
    ) -> Result<Json, Error> {
        let invoice = invoices::by_seq(tx, payment.invoice)?;
        if step == Step::Replaced {
            let amount = amount(fields, payment.asset)?.unwrap_or(payment.amount);
            let next = self.replace(tx, now, invoice, payment, amount)?;
            return view(&next.id, &next.txid, next.state.as_str());
        }
        let next = next_state(step, payment.state)?;
        self.advance(tx, now, invoice, payment, next)?;
        view(&payment.id, &payment.txid, next.as_str())
    }

    /// Moves a deposit.
    fn move_deposit(
        &self,
        tx: &Tx<'_>,
        now: Time,
        deposit: Deposit,
        step: Step,
        fields: &Fields<'_>,
    ) -> Result<Json, Error> {
        let state = deposit.status.state();
        if step != Step::Replaced {
            let next = next_state(step, state)?;
            let deposit = self.advance_deposit(tx, now, deposit, next.into())?;
            return view(&deposit.id, &deposit.txid, next.as_str());
        }
        if state != PaymentState::Seen {
            return Err(no_such_step(step, state).into());
        }
        let sighting = Sighting {
            amount: amount(fields, deposit.asset)?.unwrap_or(deposit.amount),
            txid: simulated_txid(deposit.asset.chain, &id::new(now).to_string()),
            position: 0,
            seen_at: deposit.created_at,
        };
        let customer = customers::by_seq(tx, deposit.customer)?;
        let (asset, address) = (deposit.asset, deposit.address.clone());
        self.advance_deposit(tx, now, deposit, DepositStatus::Dropped)?;
        let next = self.see_deposit(tx, now, &customer, asset, address, sighting)?;
        view(&next.id, &next.txid, next.status.state().as_str())
    }

    /// Drops a payment and puts another in its place that inherits when it was seen.
    fn replace(
        &self,
        tx: &Tx<'_>,
        now: Time,
        invoice: Invoice,
        old: &Payment,
        amount: Units,
    ) -> Result<Payment, Error> {
        if old.state != PaymentState::Seen {
            return Err(no_such_step(Step::Replaced, old.state).into());
        }
        let quote = quotes::of_invoice(tx, invoice.seq)?
            .into_iter()
            .find(|quote| quote.seq == old.quote);
        let quote =
            quote.ok_or_else(|| Error::Failed(format!("quote {} is missing", old.quote)))?;
        // Not settled in between: nobody is told of a gap that there never was.
        payments::update(tx, old.seq, old.state, PaymentState::Dropped, now)?;
        let txid = simulated_txid(old.asset.chain, &id::new(now).to_string());
        let sighting = Sighting {
            amount,
            txid,
            position: 0,
            seen_at: old.seen_at,
        };
        Ok(self.see(tx, now, invoice, &quote, sighting)?.1)
    }
}

/// The payment state that a step leads to.
fn next_state(step: Step, state: PaymentState) -> Result<PaymentState, Refusal> {
    match (step, state) {
        (Step::Confirmed, _) => Ok(PaymentState::Confirmed),
        (Step::Dropped, _) => Ok(PaymentState::Dropped),
        (Step::Seen, PaymentState::Dropped) | (Step::Orphaned, PaymentState::Confirmed) => {
            Ok(PaymentState::Seen)
        }
        (Step::Seen | Step::Orphaned | Step::Replaced, _) => Err(no_such_step(step, state)),
    }
}

/// 409 `invalid_transition`.
fn no_such_step(step: Step, state: PaymentState) -> Refusal {
    Refusal::of(
        Code::InvalidTransition,
        "state",
        format!("a payment that is {state} cannot be {step}"),
    )
}

/// The invoice with this id, of either mode.
pub(in crate::service) fn by_id(db: &Reader<'_>, id: &str) -> Result<Invoice, Error> {
    let invoice = id::parse(id)
        .map(|id| invoices::by_id(db, &id))
        .transpose()?
        .flatten();
    invoice.ok_or_else(|| Refusal::not_found("invoice").into())
}

/// What is due in the quote's coin.
fn default_amount(db: &Reader<'_>, invoice: &Invoice, quote: &Quote) -> Result<Units, Error> {
    let due = still_due(invoice, &payments::of_invoice(db, invoice.seq)?)?;
    Ok(quote.rate.units_for(due, quote.asset.decimals)?)
}

/// An amount of coin, as text or number; zero is one.
fn amount(fields: &Fields<'_>, asset: &Asset) -> Result<Option<Units>, Refusal> {
    let Some(value) = fields.get("amount") else {
        return Ok(None);
    };
    let text = value
        .as_str()
        .or_else(|| value.as_number().map(serde_json::Number::as_str));
    let text =
        text.ok_or_else(|| Refusal::field("amount", "must be a plain decimal like \"0.25\""))?;
    Units::parse(text, asset.decimals)
        .map(Some)
        .map_err(|problem| Refusal::field("amount", problem))
}

/// The transaction id that is asked for, or a new one.
fn txid(fields: &Fields<'_>, asset: &Asset, now: Time) -> Result<String, Refusal> {
    match fields.text("txid", 1..=128)? {
        Some(txid) if txid.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(txid.to_owned()),
        Some(_) => Err(Refusal::field(
            "txid",
            "must be printable ASCII without spaces",
        )),
        None => Ok(simulated_txid(asset.chain, &id::new(now).to_string())),
    }
}

/// The first output of a transaction that nothing is known of, whoever's the others are.
fn next_position(db: &Reader<'_>, mode: Mode, asset: &Asset, txid: &str) -> Result<u32, Error> {
    let chain = asset.chain;
    let known = payments::of_transaction(db, mode, chain, txid)?
        .len()
        .saturating_add(deposits::of_transaction(db, mode, chain, txid)?.len())
        .saturating_add(unmatched_payments::of_transaction(db, mode, chain, txid)?.len());
    Ok(u32::try_from(known).unwrap_or(u32::MAX))
}

/// A payment as the sandbox answers it.
pub(super) fn view(id: &str, txid: &str, state: &str) -> Result<Json, Error> {
    Ok(to_raw_value(
        &json!({ "id": id, "txid": txid, "state": state }),
    )?)
}
