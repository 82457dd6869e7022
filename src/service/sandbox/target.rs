//! Whom a payment on a simulated chain reaches.
//!
//! What always holds: what reaches nobody is told by its coin and amount; without them it is no payment at all.

use super::payments::{UNMATCHED, by_id, view};
use crate::domain::address::{Network, parse_on};
use crate::domain::asset::{Asset, Chain, Mode};
use crate::domain::customer::{Customer, Family};
use crate::domain::fields::Fields;
use crate::domain::invoice::Invoice;
use crate::domain::quote::{Quote, unavailable};
use crate::domain::refusal::Refusal;
use crate::domain::time::Time;
use crate::domain::unmatched::UnmatchedReason;
use crate::service::{Error, Json, Service};
use crate::store::addresses::{Owner, of_owner, owner};
use crate::store::{
    Reader, Tx, customers, deposits, invoices, payments, quotes, unmatched_payments,
};

/// Whom a payment reaches.
pub(super) enum Target {
    /// An invoice, at one of its quotes.
    Invoice(Box<Invoice>, Quote),
    /// A customer, in a coin at an address.
    Customer(Customer, &'static Asset, String),
    /// Nobody.
    Nobody(Stray),
}

/// A payment that matches nothing.
pub(super) struct Stray {
    pub(super) mode: Mode,
    pub(super) asset: &'static Asset,
    pub(super) address: String,
    pub(super) reason: UnmatchedReason,
    /// The account and the invoice whose address it is.
    pub(super) owner: Option<(i64, i64)>,
}

impl Target {
    /// In which mode and coin.
    pub(super) fn place(&self) -> (Mode, &'static Asset) {
        match self {
            Target::Invoice(invoice, quote) => (invoice.mode, quote.asset),
            Target::Customer(customer, asset, _) => (customer.mode, asset),
            Target::Nobody(stray) => (stray.mode, stray.asset),
        }
    }

    /// What this transaction is known to have paid here already.
    pub(super) fn known(&self, db: &Reader<'_>, txid: &str) -> Result<Option<Json>, Error> {
        let (mode, asset) = self.place();
        let chain = asset.chain;
        let known = match self {
            Target::Invoice(_, quote) => payments::of_transaction(db, mode, chain, txid)?
                .into_iter()
                .find(|payment| payment.quote == quote.seq)
                .map(|payment| (payment.id, payment.state.as_str())),
            Target::Customer(_, _, address) => deposits::of_transaction(db, mode, chain, txid)?
                .into_iter()
                .find(|deposit| deposit.address == *address && deposit.asset == asset)
                .map(|deposit| (deposit.id, deposit.status.state().as_str())),
            Target::Nobody(stray) => unmatched_payments::of_transaction(db, mode, chain, txid)?
                .into_iter()
                .find(|payment| payment.address == stray.address && payment.asset == asset)
                .map(|payment| (payment.id, UNMATCHED)),
        };
        known.map(|(id, state)| view(&id, txid, state)).transpose()
    }
}

impl Service {
    /// Whom the payment of a body reaches.
    pub(super) fn target(
        &self,
        tx: &Tx<'_>,
        now: Time,
        fields: &Fields<'_>,
    ) -> Result<Target, Error> {
        let asset = fields.text("asset", 1..=40)?;
        let invoice = fields.text("invoice", 1..=36)?;
        let address = fields.text("address", 1..=128)?;
        match (invoice, address) {
            (Some(id), None) => self.at_invoice(tx, now, id, asset),
            (None, Some(address)) => at_address(tx, address, asset, fields.get("amount").is_some()),
            (Some(_), Some(_)) | (None, None) => {
                Err(Refusal::field("invoice", "or address must be given, one of them").into())
            }
        }
    }

    /// An invoice, and the quote that is meant.
    fn at_invoice(
        &self,
        tx: &Tx<'_>,
        now: Time,
        id: &str,
        asset: Option<&str>,
    ) -> Result<Target, Error> {
        let mut invoice = by_id(tx, id)?;
        let quotes = quotes::of_invoice(tx, invoice.seq)?;
        let quote = match asset {
            Some(asset) if !quotes.is_empty() => quotes
                .into_iter()
                .find(|quote| quote.asset.id == asset)
                .ok_or_else(|| unavailable(format!("{asset} was never quoted for this invoice")))?,
            _ => self.quote_to_pay(tx, now, &mut invoice, asset)?,
        };
        Ok(Target::Invoice(Box::new(invoice), quote))
    }
}

/// Whoever's address it is; nobody, where it is told what was paid.
fn at_address(
    db: &Reader<'_>,
    address: &str,
    asset: Option<&str>,
    has_amount: bool,
) -> Result<Target, Error> {
    let asset = asset
        .map(|id| Asset::find(id).ok_or_else(|| unavailable(format!("{id:?} is not an asset id"))));
    let asset = asset.transpose()?;
    // The same destination may be written in several ways.
    let parsed = asset.map(|asset| on_chain(asset, address));
    let canonical = match &parsed {
        Some(Ok((_, canonical))) => canonical.as_str(),
        Some(Err(_)) | None => address,
    };
    match owner_on(db, asset, canonical)? {
        Some(Owner::Invoice(seq)) => {
            let invoice = invoices::by_seq(db, seq)?;
            let is_told = has_amount && matches!(parsed, Some(Ok(_)));
            return of_invoice(db, invoice, canonical, asset, is_told);
        }
        Some(Owner::Customer(seq)) => {
            return of_customer(db, customers::by_seq(db, seq)?, canonical, asset);
        }
        None => {}
    }
    let (Some(asset), Some(parsed), true) = (asset, parsed, has_amount) else {
        let problem =
            "belongs to nobody; with asset and amount it is kept as a payment that matched nothing";
        return Err(Refusal::field("address", problem).into());
    };
    let (network, address) = parsed?;
    let mode = match network {
        Network::Main => Mode::Live,
        Network::Test => Mode::Test,
    };
    Ok(Target::Nobody(Stray {
        mode,
        asset,
        address,
        reason: UnmatchedReason::UnknownAddress,
        owner: None,
    }))
}

/// Whose address it is, in either mode: on the coin's chain, or on any where no coin is named.
fn owner_on(db: &Reader<'_>, asset: Option<&Asset>, address: &str) -> Result<Option<Owner>, Error> {
    let chains = match asset {
        Some(asset) => vec![asset.chain],
        None => Chain::of_each_pool().collect(),
    };
    for mode in Mode::ALL {
        for chain in &chains {
            if let Some(owner) = owner(db, *mode, *chain, address)? {
                return Ok(Some(owner));
            }
        }
    }
    Ok(None)
}

/// The canonical text of an address of the coin's chain, on whichever network it is one.
fn on_chain(asset: &Asset, address: &str) -> Result<(Network, String), Refusal> {
    parse_on(asset.chain, &Network::BOTH, address)
        .map_err(|problem| Refusal::field("address", format!("is {problem}")))
}

/// The quote behind an invoice's address, its own coin first where several share it; where the coin was never quoted
/// there, nobody is paid, if it `is_told` what was paid.
fn of_invoice(
    db: &Reader<'_>,
    invoice: Invoice,
    address: &str,
    asset: Option<&'static Asset>,
    is_told: bool,
) -> Result<Target, Error> {
    let own = invoice.coin.as_ref().map(|coin| coin.asset.id);
    let mut quotes = quotes::of_invoice(db, invoice.seq)?;
    quotes
        .retain(|quote| quote.address == address && asset.is_none_or(|asset| quote.asset == asset));
    quotes.sort_by_key(|quote| Some(quote.asset.id) != own);
    match (quotes.into_iter().next(), asset) {
        (Some(quote), _) => Ok(Target::Invoice(Box::new(invoice), quote)),
        (None, Some(asset)) if is_told => Ok(Target::Nobody(Stray {
            mode: invoice.mode,
            asset,
            address: address.to_owned(),
            reason: UnmatchedReason::UnquotedCoin,
            owner: Some((invoice.account, invoice.seq)),
        })),
        (None, _) => Err(unavailable("this coin was never quoted at this address").into()),
    }
}

/// The coin that a customer's address is paid in; it need not be said where the address takes only one.
fn of_customer(
    db: &Reader<'_>,
    customer: Customer,
    address: &str,
    asset: Option<&'static Asset>,
) -> Result<Target, Error> {
    let mut taken = Vec::new();
    for family in Family::ALL {
        let own = of_owner(db, Owner::Customer(customer.seq), family.chain())?;
        if own.as_deref() == Some(address) {
            taken.extend(family.assets());
        }
    }
    let ids: Vec<&str> = taken.iter().map(|asset| asset.id).collect();
    let ids = ids.join(", ");
    let asset = match (asset, taken.as_slice()) {
        (Some(asset), taken) if taken.contains(&asset) => asset,
        (Some(_), _) => return Err(unavailable(format!("this address takes {ids}")).into()),
        (None, [only]) => only,
        (None, _) => {
            let problem = format!("must be given: this address takes {ids}");
            return Err(Refusal::field("asset", problem).into());
        }
    };
    Ok(Target::Customer(customer, asset, address.to_owned()))
}
