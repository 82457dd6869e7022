//! Settings of the whole service: `/dashboard/api/settings`.

use crate::api::operation::{
    Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN, RecentPassword,
};
use crate::api::tag::Tag;
use crate::domain::asset::ASSETS;
use crate::domain::fields::rule::{FlagRule, MapRule, described};
use crate::domain::fields::{Schema, input, schema};
use crate::domain::{Asset, ConfirmationTiers, Refusal, Units};
use crate::render::settings::{NetworkFeeView, ServiceSettingsView};
use crate::service::approval::fixed_fee;
use crate::service::{Error, Member, Step, audit_log};
use crate::store::{Reader, Tx, confirmation_tiers, file, network_fees};
use serde_json::{Map, Value};

const CONFIRMATIONS: Schema = schema!({
    "type": "object", "minProperties": 1,
    "additionalProperties": { "oneOf": [{ "$ref": "#/components/schemas/ConfirmationTiers" }, { "type": "null" }] }
});

const NETWORK_FEES: Schema = schema!({
    "type": "object", "minProperties": 1,
    "additionalProperties": { "type": ["string", "null"], "maxLength": 60, "pattern": "^[0-9]+(\\.[0-9]+)?$" }
});

input! {
    /// Settings of the whole service. Absent fields stay as they are.
    pub SetSettings, checked maintenance, confirmations, network_fees; unknown refused, besides { "minProperties": 1 } {
        /// Whether live invoices and payouts are paused.
        optional maintenance: bool = FlagRule;
        /// Confirmations that payments need, for each coin by its asset id. Absent coins stay as they are; null
        /// restores the chain's default.
        optional confirmations: Map<String, Value> = described(MapRule, CONFIRMATIONS), {
            "BTC": [{ "below": "250.00", "confirmations": 1 }, { "below": "2500.00", "confirmations": 2 }, { "confirmations": 6 }]
        };
        /// Network fee in whole coins if the chain's node gives no estimate, for each coin by its asset id. Absent
        /// coins stay as they are; null restores the built-in fee. The data fee of base is part of its coin's fee.
        optional network_fees: Map<String, Value> = described(MapRule, NETWORK_FEES);
    }
}

const SETTINGS_ANSWER: Answer = Answer::ok("The settings.", &ServiceSettingsView::COMPONENT);

pub const OPERATIONS: [&Operation; 2] = [&GET, &SET];

const GET: Operation = Operation {
    id: "getSettings",
    path: "/dashboard/api/settings",
    tag: Tag::OperatorService,
    summary: "Returns the settings of the whole service.",
    answers: &[SETTINGS_ANSWER],
    run: OperationFn::Operator(get),
    ..PLAIN
};

const SET: Operation = Operation {
    id: "setSettings",
    method: "PUT",
    path: "/dashboard/api/settings",
    tag: Tag::OperatorService,
    summary: "Changes the settings of the whole service.",
    body: Body::required(&SetSettings::COMPONENT),
    answers: &[SETTINGS_ANSWER],
    recent_password: RecentPassword::ForFields(&["confirmations", "networkFees"]),
    run: OperationFn::Operator(change_settings),
    ..PLAIN
};

/// Values for some of the coins. `None` restores the built-in value of a coin.
type CoinValues<T> = Vec<(&'static Asset, Option<T>)>;

fn get(context: &Context<'_>, _: &Member) -> Result<Job, Error> {
    let view = context.service.read_snapshot(settings_view)?;
    Outcome::ok(&view).map(Job::Done)
}

fn change_settings(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let SetSettings { maintenance, confirmations, network_fees } =
        SetSettings::read(&context.body_fields()?)?;
    let confirmations = confirmations.as_ref().map(read_confirmations).transpose()?;
    let fees = network_fees.as_ref().map(read_network_fees).transpose()?;
    if maintenance.is_none() && confirmations.is_none() && fees.is_none() {
        let problem = "must be given, or confirmations, or networkFees";
        return Err(Refusal::field("maintenance", problem).into());
    }
    let (now, actor) = (context.now, operator.actor());
    Job::write(move |step| {
        let Step { tx, .. } = *step;
        let mut detail = Map::new();
        if let Some(maintenance) = maintenance {
            file::set_maintenance(tx, maintenance)?;
            detail.insert("maintenance".to_owned(), maintenance.into());
        }
        if let Some(coins) = confirmations {
            let set = set_confirmations(tx, &coins)?;
            detail.insert("confirmations".to_owned(), set.into());
        }
        if let Some(coins) = fees {
            let set = set_network_fees(tx, &coins)?;
            detail.insert("networkFees".to_owned(), set.into());
        }
        audit_log::record(tx, now, &actor, "settings.change", None, None, &Value::Object(detail))?;
        Outcome::ok(&settings_view(tx)?)
    })
}

/// Reads the required number of confirmations of each coin from a field of the body.
fn read_confirmations(
    coins: &Map<String, Value>,
) -> Result<CoinValues<ConfirmationTiers>, Refusal> {
    let problem = "must name a coin, like {\"BTC\": [{\"confirmations\": 6}]}";
    read_coins("confirmations", coins, problem, |asset, name, value| {
        ConfirmationTiers::read(asset, name, value)
    })
}

/// Reads the network fees of coins from a field of the body.
fn read_network_fees(coins: &Map<String, Value>) -> Result<CoinValues<Units>, Refusal> {
    let problem = "must name a coin, like {\"LTC\": \"0.0002\"}";
    read_coins("networkFees", coins, problem, |asset, name, value| {
        let problem = "must be whole coins as a string like \"0.0002\", or null";
        let text = value.as_str();
        let text = text.ok_or_else(|| Refusal::field(name, problem))?;
        Units::parse(text, asset.decimals).map_err(|problem| Refusal::field(name, problem))
    })
}

/// Reads a field that maps coins to values. `read` parses the value of a coin. A JSON null becomes `None`.
fn read_coins<T>(
    field: &str,
    coins: &Map<String, Value>,
    problem_if_empty: &str,
    read: impl Fn(&'static Asset, &str, &Value) -> Result<T, Refusal>,
) -> Result<CoinValues<T>, Refusal> {
    if coins.is_empty() {
        return Err(Refusal::field(field, problem_if_empty));
    }
    let read_coin = |(id, value): (&String, &Value)| {
        let name = format!("{field}.{id}");
        let asset = Asset::find(id).ok_or_else(|| {
            let known = Asset::ids().join(", ");
            Refusal::field(&name, format!("is not a coin; the coins are {known}"))
        })?;
        let given = Some(value).filter(|value| !value.is_null());
        let value = given.map(|value| read(asset, &name, value)).transpose()?;
        Ok((asset, value))
    };
    coins.iter().map(read_coin).collect()
}

/// Sets the required number of confirmations for each of these coins. Returns the settings of these coins as JSON.
fn set_confirmations(
    tx: &Tx<'_>,
    coins: &CoinValues<ConfirmationTiers>,
) -> Result<Map<String, Value>, Error> {
    let mut set = Map::new();
    for (asset, tiers) in coins {
        confirmation_tiers::set_tiers(tx, asset, tiers.as_ref())?;
        let now = confirmation_tiers::tiers_for_asset(tx, asset)?;
        set.insert(asset.id.to_owned(), serde_json::to_value(now)?);
    }
    Ok(set)
}

/// Sets the network fees of these coins. Returns the settings of these coins as JSON.
fn set_network_fees(tx: &Tx<'_>, coins: &CoinValues<Units>) -> Result<Map<String, Value>, Error> {
    let mut set = Map::new();
    for (asset, fee) in coins {
        network_fees::set(tx, asset, *fee)?;
        let held = network_fee(tx, asset)?;
        set.insert(asset.id.to_owned(), serde_json::to_value(held)?);
    }
    Ok(set)
}

fn network_fee(db: &Reader<'_>, asset: &Asset) -> Result<NetworkFeeView, Error> {
    let fee = fixed_fee(db, asset)?;
    Ok(NetworkFeeView { amount: asset.format_units(fee.amount), source: fee.source })
}

fn settings_view(db: &Reader<'_>) -> Result<ServiceSettingsView, Error> {
    let maintenance = file::read_file_row(db)?.is_some_and(|file| file.maintenance);
    let tiers =
        |asset: &'static Asset| Ok((asset.id, confirmation_tiers::tiers_for_asset(db, asset)?));
    let confirmations: Result<_, Error> = ASSETS.iter().map(tiers).collect();
    let fee = |asset: &'static Asset| Ok((asset.id, network_fee(db, asset)?));
    let network_fees: Result<_, Error> = ASSETS.iter().map(fee).collect();
    Ok(ServiceSettingsView {
        maintenance,
        confirmations: confirmations?,
        network_fees: network_fees?,
    })
}
