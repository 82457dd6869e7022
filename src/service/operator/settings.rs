//! Settings of the whole service: maintenance, how many confirmations payments need, network fees, and which coins are
//! switched on.
//!
//! What always holds: a coin that is off is offered to nobody; what was quoted before can still be paid.

use crate::domain::asset::{ASSETS, Asset};
use crate::domain::confirmations::Tiers;
use crate::domain::fields::Fields;
use crate::domain::money::coin::Units;
use crate::domain::refusal::Refusal;
use crate::domain::render;
use crate::domain::render::operator::{NetworkFee, Settings};
use crate::domain::time::Time;
use crate::service::approval::fixed_fee;
use crate::service::audit_log::{self, Entry};
use crate::service::{Error, Json, Member, Service};
use crate::store::{Reader, Tx, coins_off, confirmation_tiers, file, network_fees};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Service {
    /// The service's settings.
    pub fn settings(&self) -> Result<Json, Error> {
        self.read_at_one_moment(settings)
    }

    /// Changes the service's settings.
    ///
    /// # Errors
    /// `invalid_request`.
    pub async fn set_settings(
        self: &Arc<Self>,
        now: Time,
        member: &Member,
        body: Map<String, Value>,
    ) -> Result<Json, Error> {
        let actor = member.actor();
        self.write(move |_, tx| {
            let fields = Fields::of(&body);
            fields.only(&["maintenance", "confirmations", "networkFees"])?;
            let maintenance = fields.flag("maintenance")?;
            let confirmations = fields.object("confirmations")?;
            let fees = fields.object("networkFees")?;
            let mut detail = Map::new();
            if let Some(maintenance) = maintenance {
                file::set_maintenance(tx, maintenance)?;
                detail.insert("maintenance".to_owned(), maintenance.into());
            }
            if let Some(coins) = confirmations {
                let set = set_confirmations(tx, coins)?;
                detail.insert("confirmations".to_owned(), set.into());
            }
            if let Some(coins) = fees {
                let set = set_network_fees(tx, coins)?;
                detail.insert("networkFees".to_owned(), set.into());
            }
            if detail.is_empty() {
                let problem = "must be given, or confirmations, or networkFees";
                return Err(Refusal::field("maintenance", problem).into());
            }
            let detail = Value::Object(detail);
            let noted = Entry {
                action: "settings.change",
                account: None,
                object: None,
                detail: &detail,
            };
            audit_log::record(tx, now, &actor, &noted)?;
            settings(tx)
        })
        .await
    }

    /// Every coin, and whether it is switched on.
    pub fn coins(&self) -> Result<Vec<Json>, Error> {
        self.read(|db| {
            let off = coins_off::all(db)?;
            ASSETS.iter().map(|asset| coin(asset, &off)).collect()
        })
    }

    /// Switches a coin on or off.
    ///
    /// # Errors
    /// `not_found` for a coin that is none, `invalid_request`.
    pub async fn switch_coin(
        self: &Arc<Self>,
        now: Time,
        member: &Member,
        asset: &str,
        body: Map<String, Value>,
    ) -> Result<Json, Error> {
        let actor = member.actor();
        let asset = Asset::find(asset).ok_or_else(|| Refusal::not_found("coin"))?;
        self.write(move |_, tx| {
            let fields = Fields::of(&body);
            fields.only(&["enabled"])?;
            let enabled = fields
                .flag("enabled")?
                .ok_or_else(|| Refusal::field("enabled", "must be given"))?;
            let is_change = if enabled {
                coins_off::remove(tx, asset)?
            } else {
                coins_off::insert(tx, asset, now)?
            };
            if is_change {
                let detail = json!({ "enabled": enabled });
                let noted = Entry {
                    action: "coin.switch",
                    account: None,
                    object: Some(asset.id),
                    detail: &detail,
                };
                audit_log::record(tx, now, &actor, &noted)?;
            }
            coin(asset, &coins_off::all(tx)?)
        })
        .await
    }
}

/// Sets how many confirmations the payments of each of these coins need, null for what its chain's need; what they need
/// now.
fn set_confirmations(tx: &Tx<'_>, coins: &Map<String, Value>) -> Result<Map<String, Value>, Error> {
    if coins.is_empty() {
        let problem = "must name a coin, like {\"BTC\": [{\"confirmations\": 6}]}";
        return Err(Refusal::field("confirmations", problem).into());
    }
    let mut set = Map::new();
    for (id, value) in coins {
        let name = format!("confirmations.{id}");
        let asset = coin_of(&name, id)?;
        let tiers = match value {
            Value::Null => None,
            value => Some(Tiers::read(asset, &name, value)?),
        };
        confirmation_tiers::set(tx, asset, tiers.as_ref())?;
        let now = confirmation_tiers::of(tx, asset)?;
        set.insert(id.clone(), serde_json::to_value(now)?);
    }
    Ok(set)
}

/// Sets the network fee of each of these coins, null for the built-in one; the fees that hold then.
fn set_network_fees(tx: &Tx<'_>, coins: &Map<String, Value>) -> Result<Map<String, Value>, Error> {
    if coins.is_empty() {
        let problem = "must name a coin, like {\"LTC\": \"0.0002\"}";
        return Err(Refusal::field("networkFees", problem).into());
    }
    let mut set = Map::new();
    for (id, value) in coins {
        let name = format!("networkFees.{id}");
        let asset = coin_of(&name, id)?;
        let fee = match value {
            Value::Null => None,
            Value::String(text) => {
                let units = Units::parse(text, asset.decimals);
                Some(units.map_err(|problem| Refusal::field(&name, problem))?)
            }
            _ => {
                let problem = "must be whole coins as a string like \"0.0002\", or null";
                return Err(Refusal::field(&name, problem).into());
            }
        };
        network_fees::set(tx, asset, fee)?;
        let held = network_fee(tx, asset)?;
        set.insert(id.clone(), serde_json::to_value(held)?);
    }
    Ok(set)
}

/// The network fee of a coin as it is answered.
fn network_fee(db: &Reader<'_>, asset: &Asset) -> Result<NetworkFee, Error> {
    let fee = fixed_fee(db, asset)?;
    Ok(NetworkFee {
        amount: asset.text(fee.amount),
        source: fee.source,
    })
}

/// The coin that a field names.
fn coin_of(name: &str, id: &str) -> Result<&'static Asset, Refusal> {
    Asset::find(id).ok_or_else(|| {
        let known = Asset::ids().join(", ");
        Refusal::field(name, format!("is no coin; coins are {known}"))
    })
}

/// The settings as they are answered.
fn settings(db: &Reader<'_>) -> Result<Json, Error> {
    let maintenance = file::load(db)?.is_some_and(|file| file.maintenance);
    let tiers = |asset: &'static Asset| Ok((asset.id, confirmation_tiers::of(db, asset)?));
    let confirmations: Result<_, Error> = ASSETS.iter().map(tiers).collect();
    let fee = |asset: &'static Asset| Ok((asset.id, network_fee(db, asset)?));
    let network_fees: Result<_, Error> = ASSETS.iter().map(fee).collect();
    Ok(to_raw_value(&Settings {
        maintenance,
        confirmations: confirmations?,
        network_fees: network_fees?,
    })?)
}

/// A coin as it is answered.
fn coin(asset: &'static Asset, off: &[(&'static Asset, Time)]) -> Result<Json, Error> {
    let mut since = off.iter().filter(|(other, _)| *other == asset);
    let since = since.next().map(|(_, since)| *since);
    Ok(render::operator::coin(asset, since)?)
}
