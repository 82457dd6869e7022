//! Coins, which operators can switch off: `/dashboard/api/coins`.

use crate::api::operation::{Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::tag::Tag;
use crate::domain::asset::ASSETS;
use crate::domain::fields::rule::FlagRule;
use crate::domain::fields::{Component, input};
use crate::domain::{Asset, Refusal, Time};
use crate::render::settings::CoinView;
use crate::service::{Error, Member, Step, audit_log};
use crate::store::coins_off;
use serde_json::json;

input! {
    /// Availability of a coin.
    pub SwitchCoin, checked enabled; unknown refused {
        /// Whether the coin is on offer.
        required enabled: bool = FlagRule, false;
    }
}

const COIN_LIST: Component = Component::List {
    name: "CoinList",
    item: &CoinView::COMPONENT,
    about: "A list of coins.",
    about_data: "Items of the list, in the order in which coins are offered.",
};

pub const OPERATIONS: [&Operation; 2] = [&LIST, &SWITCH];

const LIST: Operation = Operation {
    id: "listCoins",
    path: "/dashboard/api/coins",
    tag: Tag::OperatorService,
    summary: "Lists every coin and whether it is enabled.",
    answers: &[Answer::ok("The coins.", &COIN_LIST)],
    run: OperationFn::Operator(list),
    ..PLAIN
};

const SWITCH: Operation = Operation {
    id: "switchCoin",
    method: "PUT",
    path: "/dashboard/api/coins/{asset}",
    tag: Tag::OperatorService,
    summary: "Enables or disables a coin. Existing quotes stay payable.",
    body: Body::required(&SwitchCoin::COMPONENT),
    answers: &[Answer::ok("The coin.", &CoinView::COMPONENT)],
    run: OperationFn::Operator(switch_coin),
    ..PLAIN
};

fn list(context: &Context<'_>, _: &Member) -> Result<Job, Error> {
    let off = context.service.read(|db| Ok(coins_off::all(db)?))?;
    let views: Vec<CoinView> = ASSETS.iter().map(|asset| coin_view(asset, &off)).collect();
    Job::list(&views)
}

fn switch_coin(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let body = context.body_fields()?;
    let asset = Asset::find(context.first_param()).ok_or_else(|| Refusal::not_found("coin"))?;
    let SwitchCoin { enabled } = SwitchCoin::read(&body)?;
    let (now, actor) = (context.now, operator.actor());
    Job::write(move |step| {
        let Step { tx, .. } = *step;
        let is_change = if enabled {
            coins_off::switch_on(tx, asset)?
        } else {
            coins_off::switch_off(tx, asset, now)?
        };
        if is_change {
            audit_log::record(
                tx,
                now,
                &actor,
                "coin.switch",
                None,
                Some(asset.id),
                &json!({ "enabled": enabled }),
            )?;
        }
        Outcome::ok(&coin_view(asset, &coins_off::all(tx)?))
    })
}

/// Returns the view of a coin. `off` lists the coins that are switched off, each with the time at which it was
/// switched off.
fn coin_view(asset: &'static Asset, off: &[(&'static Asset, Time)]) -> CoinView {
    let mut since = off.iter().filter(|(other, _)| *other == asset);
    CoinView::new(asset, since.next().map(|(_, since)| *since))
}
