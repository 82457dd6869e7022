//! Settings of the whole service: maintenance, and which coins are switched on.
//!
//! What always holds: a coin that is off is offered to nobody; what was quoted before can still be paid.

use crate::domain::asset::{ASSETS, Asset};
use crate::domain::fields::Fields;
use crate::domain::refusal::Refusal;
use crate::domain::render;
use crate::domain::render::operator::Settings;
use crate::domain::time::Time;
use crate::service::audit_log::{self, Entry};
use crate::service::{Error, Json, Member, Service};
use crate::store::{Reader, coins_off, file};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Service {
    /// The service's settings.
    pub fn settings(&self) -> Result<Json, Error> {
        self.read(settings)
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
            fields.only(&["maintenance"])?;
            let maintenance = fields
                .flag("maintenance")?
                .ok_or_else(|| Refusal::field("maintenance", "must be given"))?;
            file::set_maintenance(tx, maintenance)?;
            let detail = json!({ "maintenance": maintenance });
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

/// The settings as they are answered.
fn settings(db: &Reader<'_>) -> Result<Json, Error> {
    let maintenance = file::load(db)?.is_some_and(|file| file.maintenance);
    Ok(to_raw_value(&Settings { maintenance })?)
}

/// A coin as it is answered.
fn coin(asset: &'static Asset, off: &[(&'static Asset, Time)]) -> Result<Json, Error> {
    let mut since = off.iter().filter(|(other, _)| *other == asset);
    let since = since.next().map(|(_, since)| *since);
    Ok(render::operator::coin(asset, since)?)
}
