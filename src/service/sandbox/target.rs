//! Finds the target of a payment on a simulated chain: coin, address and amount.
//!
//! `observations` finds the owner of the address later.
//!
//! Invariant: if nothing is due at an address, the request must contain coin and amount.

use crate::domain::address::parse_on_any_network;
use crate::domain::asset::Chain;
use crate::domain::fields::Fields;
use crate::domain::payment::inputs::SandboxOutput;
use crate::domain::quote::coin_unavailable;
use crate::domain::{Asset, ChainFamily, Invoice, Mode, Network, Quote, Refusal, Units};
use crate::service::lookups::find_invoice;
use crate::service::simulated_payments::{amount_still_due, quote_to_pay};
use crate::service::{Error, Step};
use crate::store::addresses::{AddressOwner, find_owner};
use crate::store::{Reader, customers, invoices, payments, quotes};

/// Coin, address and default amount of a simulated payment.
pub(super) struct PaymentTarget {
    pub(super) mode: Mode,
    pub(super) asset: &'static Asset,
    pub(super) address: String,
    /// Amount due. `None` if the request must contain the amount.
    due: Option<Units>,
    /// Invoice whose coin was just selected and that is not stored yet.
    pub(super) picked: Option<Invoice>,
}

impl PaymentTarget {
    fn for_quote(db: &Reader<'_>, invoice: &Invoice, quote: Quote) -> Result<PaymentTarget, Error> {
        let due = amount_still_due(invoice, payments::undropped_values(db, invoice.seq)?)?;
        Ok(PaymentTarget {
            mode: invoice.mode,
            asset: quote.asset,
            address: quote.address,
            due: Some(quote.quoted.rate.units_for(due, quote.asset.decimals)?),
            picked: None,
        })
    }

    /// Returns the requested amount, or else the amount due.
    ///
    /// # Errors
    ///
    /// `invalid_request` if no amount was requested and none is due.
    pub(super) fn requested_amount_or_due(&self, told: Option<String>) -> Result<Units, Refusal> {
        let told = parse_amount(told, self.asset)?;
        told.or(self.due).ok_or_else(|| {
            Refusal::field("amount", "must be given: nothing is due at this address")
        })
    }
}

pub(super) fn parse_amount(text: Option<String>, asset: &Asset) -> Result<Option<Units>, Refusal> {
    let amount = text.map(|text| Units::parse(&text, asset.decimals));
    amount.transpose().map_err(|problem| Refusal::field("amount", problem))
}

pub(super) fn payment_target(step: &Step<'_>, fields: Fields<'_>) -> Result<PaymentTarget, Error> {
    let asset = SandboxOutput::asset(fields)?;
    let asset = asset.as_deref();
    let invoice = SandboxOutput::invoice(fields)?;
    let address = SandboxOutput::address(fields)?;
    match (invoice, address) {
        (Some(id), None) => target_at_quote(step, &id, asset),
        (None, Some(address)) => {
            target_at_address(step.tx, &address, asset, fields.get("amount").is_some())
        }
        (Some(_), Some(_)) | (None, None) => {
            Err(Refusal::field("invoice", "or address must be given, but not both").into())
        }
    }
}

/// Returns the target at an invoice's quote. Creates the quote if there is none.
fn target_at_quote(step: &Step<'_>, id: &str, asset: Option<&str>) -> Result<PaymentTarget, Error> {
    let Step { tx, .. } = *step;
    let mut invoice = find_invoice(tx, id)?;
    let mut quotes = quotes::of_invoice(tx, invoice.seq)?;
    quotes.retain(|quote| !quote.given);
    if let Some(asset) = asset
        && !quotes.is_empty()
    {
        let never = || coin_unavailable(format!("{asset} was never quoted for this invoice"));
        let quote = quotes.into_iter().find(|quote| quote.asset.id == asset);
        return PaymentTarget::for_quote(tx, &invoice, quote.ok_or_else(never)?);
    }
    let picked_before = invoice.picked_quote;
    let quote = quote_to_pay(step, &mut invoice, asset)?;
    let mut target = PaymentTarget::for_quote(tx, &invoice, quote)?;
    target.picked = (invoice.picked_quote != picked_before).then_some(invoice);
    Ok(target)
}

/// Returns the target at an address. An address without an owner needs a coin and an amount.
fn target_at_address(
    db: &Reader<'_>,
    address: &str,
    asset: Option<&str>,
    has_amount: bool,
) -> Result<PaymentTarget, Error> {
    let asset = asset.map(|id| {
        Asset::find(id).ok_or_else(|| coin_unavailable(format!("{id:?} is not an asset id")))
    });
    let asset = asset.transpose()?;
    // An address can be written in several ways, so its canonical form is looked up.
    let parsed = asset.map(|asset| {
        parse_on_any_network(asset.chain, &Network::BOTH, address)
            .map_err(|problem| Refusal::field("address", format!("is {problem}")))
    });
    let canonical = match &parsed {
        Some(Ok((_, canonical))) => canonical.as_str(),
        Some(Err(_)) | None => address,
    };
    let is_told = has_amount && matches!(parsed, Some(Ok(_)));
    let found = address_owner(db, asset.filter(|_| matches!(parsed, Some(Ok(_)))), canonical)?;
    if let Some((mode, owner)) = found {
        return match owner {
            AddressOwner::Invoice(seq) => {
                target_of_invoice(db, seq, mode, canonical, asset, is_told)
            }
            AddressOwner::Customer(seq) => target_of_customer(db, seq, mode, canonical, asset),
        };
    }
    let (Some(asset), Some(parsed), true) = (asset, parsed, has_amount) else {
        let problem = "has no owner: give asset and amount to record an unmatched payment";
        return Err(Refusal::field("address", problem).into());
    };
    let (network, address) = parsed?;
    let mode = match network {
        Network::Main => Mode::Live,
        Network::Test => Mode::Test,
    };
    Ok(PaymentTarget { mode, asset, address, due: None, picked: None })
}

/// Returns the owner and the mode of an address on the coin's chain. Without a coin, looks on all chains.
pub(super) fn address_owner(
    db: &Reader<'_>,
    asset: Option<&Asset>,
    address: &str,
) -> Result<Option<(Mode, AddressOwner)>, Error> {
    let chains = match asset {
        Some(asset) => vec![asset.chain],
        None => Chain::first_of_each_pool().collect(),
    };
    for mode in Mode::ALL {
        for chain in &chains {
            if let Some(owner) = find_owner(db, *mode, *chain, address)? {
                return Ok(Some((*mode, owner)));
            }
        }
    }
    Ok(None)
}

/// Returns the target at an invoice's address.
///
/// Uses the coin `asset`, else the invoice's coin, else the first coin quoted at this address. A coin that was never
/// quoted at this address needs an amount. `is_told` is `true` if the request contains an amount.
fn target_of_invoice(
    db: &Reader<'_>,
    invoice: i64,
    mode: Mode,
    address: &str,
    asset: Option<&'static Asset>,
    is_told: bool,
) -> Result<PaymentTarget, Error> {
    let invoice = invoices::by_seq(db, invoice)?;
    let own = invoice.coin.as_ref().map(|coin| coin.asset.id);
    let mut quotes = quotes::of_invoice(db, invoice.seq)?;
    quotes
        .retain(|quote| quote.address == address && asset.is_none_or(|asset| quote.asset == asset));
    quotes.sort_by_key(|quote| Some(quote.asset.id) != own);
    match (quotes.into_iter().next(), asset) {
        (Some(quote), _) => PaymentTarget::for_quote(db, &invoice, quote),
        (None, Some(asset)) if is_told => {
            Ok(PaymentTarget { mode, asset, address: address.to_owned(), due: None, picked: None })
        }
        (None, _) => Err(coin_unavailable("this coin was never quoted at this address").into()),
    }
}

/// Returns the target at a customer's address. The coin may be omitted if the address accepts only one.
fn target_of_customer(
    db: &Reader<'_>,
    customer: i64,
    mode: Mode,
    address: &str,
    asset: Option<&'static Asset>,
) -> Result<PaymentTarget, Error> {
    let customer = customers::by_seq(db, customer)?;
    let mut taken = Vec::new();
    for family in ChainFamily::ALL {
        let found = find_owner(db, mode, family.encoding_chain(), address)?;
        if found == Some(AddressOwner::Customer(customer.seq)) {
            taken.extend(family.assets());
        }
    }
    let ids: Vec<&str> = taken.iter().map(|asset| asset.id).collect();
    let ids = ids.join(", ");
    let asset = match (asset, taken.as_slice()) {
        (Some(asset), taken) if taken.contains(&asset) => asset,
        (Some(_), _) => return Err(coin_unavailable(format!("this address takes {ids}")).into()),
        (None, [only]) => only,
        (None, _) => {
            let problem = format!("must be given: this address takes {ids}");
            return Err(Refusal::field("asset", problem).into());
        }
    };
    Ok(PaymentTarget { mode, asset, address: address.to_owned(), due: None, picked: None })
}
