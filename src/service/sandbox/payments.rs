//! The sandbox's simulated chains: payments put on them, confirmed, dropped, reorganised, replaced.
//!
//! What always holds: what is put on a simulated chain goes through the same steps as what is seen on a real one.

use crate::domain::asset::{Asset, Mode};
use crate::domain::fields::Fields;
use crate::domain::id;
use crate::domain::invoice::Invoice;
use crate::domain::money::coin::Units;
use crate::domain::payment::{Payment, PaymentState, simulated_txid};
use crate::domain::quote::{Quote, unavailable};
use crate::domain::refusal::{Code, Refusal};
use crate::domain::text_enum::text_enum;
use crate::domain::time::Time;
use crate::service::payments::{Sighting, still_due};
use crate::service::{Error, Json, Service};
use crate::store::addresses::Owner;
use crate::store::{Reader, Tx, addresses, invoices, payments, quotes};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use std::sync::Arc;

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
            let (invoice, quote) = service.target(tx, now, &fields)?;
            let amount = match amount(&fields, quote.asset)? {
                Some(amount) => amount,
                None => default_amount(tx, &invoice, &quote)?,
            };
            let txid = match fields.text("txid", 1..=128)? {
                Some(txid) if txid.bytes().all(|byte| byte.is_ascii_graphic()) => txid.to_owned(),
                Some(_) => {
                    return Err(
                        Refusal::field("txid", "must be printable ASCII without spaces").into(),
                    );
                }
                None => simulated_txid(quote.asset.chain, &id::new(now).to_string()),
            };
            let same = payments::of_transaction(tx, invoice.mode, quote.asset.chain, &txid)?;
            if let Some(known) = same.iter().find(|payment| payment.quote == quote.seq) {
                return Ok((false, view(known, known.state)?));
            }
            let position = u32::try_from(same.len()).unwrap_or(u32::MAX);
            let sighting = Sighting {
                amount,
                txid,
                position,
                seen_at: now,
            };
            let (_, payment) = service.see(tx, now, invoice, &quote, sighting)?;
            Ok((true, view(&payment, payment.state)?))
        })
        .await
    }

    /// Which invoice and quote a payment goes to.
    fn target(
        &self,
        tx: &Tx<'_>,
        now: Time,
        fields: &Fields<'_>,
    ) -> Result<(Invoice, Quote), Error> {
        let asset = fields.text("asset", 1..=40)?;
        let mut invoice = match (
            fields.text("invoice", 1..=36)?,
            fields.text("address", 1..=128)?,
        ) {
            (Some(id), None) => by_id(tx, id)?,
            (None, Some(address)) => {
                let invoice = by_address(tx, address)?;
                let quote = quote_at(tx, &invoice, address, asset)?;
                return Ok((invoice, quote));
            }
            (Some(_), Some(_)) | (None, None) => {
                return Err(
                    Refusal::field("invoice", "or address must be given, one of them").into(),
                );
            }
        };
        let quotes = quotes::of_invoice(tx, invoice.seq)?;
        let quote = match asset {
            Some(asset) if !quotes.is_empty() => quotes
                .into_iter()
                .find(|quote| quote.asset.id == asset)
                .ok_or_else(|| unavailable(format!("{asset} was never quoted for this invoice")))?,
            _ => self.quote_to_pay(tx, now, &mut invoice, asset)?,
        };
        Ok((invoice, quote))
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
            let payment = id::parse(&id)
                .map(|id| payments::by_id(tx, &id))
                .transpose()?
                .flatten();
            let payment = payment.ok_or_else(|| Refusal::not_found("payment"))?;
            let invoice = invoices::by_seq(tx, payment.invoice)?;
            if step == Step::Replaced {
                let amount = amount(&fields, payment.asset)?.unwrap_or(payment.amount);
                let replacement = service.replace(tx, now, invoice, &payment, amount)?;
                return view(&replacement, replacement.state);
            }
            if fields.get("amount").is_some() {
                return Err(Refusal::field("amount", "goes with state \"replaced\" only").into());
            }
            let next = next_state(step, payment.state)?;
            service.advance(tx, now, invoice, &payment, next)?;
            view(&payment, next)
        })
        .await
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

/// The invoice that owns an address, in either mode.
fn by_address(db: &Reader<'_>, address: &str) -> Result<Invoice, Error> {
    for mode in Mode::ALL {
        if let Some(Owner::Invoice(invoice)) = addresses::owner(db, *mode, address)? {
            return Ok(invoices::by_seq(db, invoice)?);
        }
    }
    Err(Refusal::field("address", "belongs to no invoice").into())
}

/// The quote behind an address; the invoice's own coin first, where several share it.
fn quote_at(
    db: &Reader<'_>,
    invoice: &Invoice,
    address: &str,
    asset: Option<&str>,
) -> Result<Quote, Error> {
    let own = invoice.coin.as_ref().map(|coin| coin.asset.id);
    let mut quotes = quotes::of_invoice(db, invoice.seq)?;
    quotes.retain(|quote| {
        quote.address == address && asset.is_none_or(|asset| quote.asset.id == asset)
    });
    quotes.sort_by_key(|quote| Some(quote.asset.id) != own);
    quotes
        .into_iter()
        .next()
        .ok_or_else(|| unavailable("this coin was never quoted at this address").into())
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

/// A payment as the sandbox answers it.
fn view(payment: &Payment, state: PaymentState) -> Result<Json, Error> {
    Ok(to_raw_value(
        &json!({ "id": payment.id, "txid": payment.txid, "state": state }),
    )?)
}
