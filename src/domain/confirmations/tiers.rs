//! Confirmations that payments in a coin need, by the amount at stake.
//!
//! Invariant: more money never needs fewer confirmations. The last tier has no upper bound.

use crate::domain::asset::Asset;
use crate::domain::chain::{Chain, Depth};
use crate::domain::fields::Fields;
use crate::domain::money::Cents;
use crate::domain::refusal::Refusal;
use serde::Serialize;
use serde_json::Value;

/// Upper bounds of the default tiers, in the currency of the invoice: 250.00, 2 500.00, and none for the last tier.
const DEFAULT_BOUNDS: [Option<Cents>; 3] = [Some(Cents(25_000)), Some(Cents(250_000)), None];
const TIERS_MAX: usize = 10;
/// Largest number of confirmations in a tier, on a chain that reports finality. A block of such a chain becomes final
/// with fewer confirmations.
const CONFIRMATIONS_MAX: u32 = 100_000;

/// One tier: the confirmations that a coin needs below a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ConfirmationTier {
    /// Upper bound of the value, exclusive, in the currency of the invoice; `None` in the last tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Cents>,
    /// Needed confirmations, or finality of the block.
    #[serde(rename = "confirmations")]
    pub needed: Depth,
}

/// Tiers of a coin, smallest amounts first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ConfirmationTiers(Vec<ConfirmationTier>);

impl ConfirmationTiers {
    /// Returns the default tiers of a chain.
    pub fn default_for(chain: Chain) -> ConfirmationTiers {
        let needed = chain.row().confirmations;
        let tiers = DEFAULT_BOUNDS.into_iter().zip(needed);
        ConfirmationTiers(tiers.map(|(below, needed)| ConfirmationTier { below, needed }).collect())
    }

    /// Wraps stored tiers, smallest amounts first.
    pub fn new(tiers: Vec<ConfirmationTier>) -> ConfirmationTiers {
        ConfirmationTiers(tiers)
    }

    /// Returns the tiers, smallest amounts first.
    pub fn as_slice(&self) -> &[ConfirmationTier] {
        &self.0
    }

    /// Returns the confirmations that a payment needs if this amount is at stake.
    ///
    /// `None` stands for a payment without a price, which needs the confirmations of the last tier.
    pub fn needed_depth(&self, at_stake: Option<Cents>) -> Depth {
        let takes = |tier: &&ConfirmationTier| match (tier.below, at_stake) {
            (None, _) => true,
            (Some(below), Some(worth)) => worth < below,
            (Some(_), None) => false,
        };
        let tier = self.0.iter().find(takes).or(self.0.last());
        tier.map_or(Depth::Final, |tier| tier.needed)
    }

    /// Reads a coin's tiers from a request; `name` is the name of the field.
    ///
    /// # Errors
    /// `invalid_request` that names the wrong field.
    pub fn read(asset: &Asset, name: &str, value: &Value) -> Result<ConfirmationTiers, Refusal> {
        let list = value.as_array().filter(|list| !list.is_empty());
        let list = list.filter(|list| list.len() <= TIERS_MAX).ok_or_else(|| {
            let problem = format!("must be a JSON array of 1 to {TIERS_MAX} tiers");
            Refusal::field(name, problem)
        })?;
        let mut tiers: Vec<ConfirmationTier> = Vec::with_capacity(list.len());
        let last = list.len().saturating_sub(1);
        for (at, value) in list.iter().enumerate() {
            let name = format!("{name}[{at}]");
            let tier = read_tier(asset, &name, value)?;
            if tier.below.is_none() != (at == last) {
                let problem = if at == last {
                    "must not be given in the last tier, which takes all that is left"
                } else {
                    "must be given in every tier but the last, as a text like \"250.00\""
                };
                return Err(Refusal::field(&format!("{name}.below"), problem));
            }
            if let Some(before) = tiers.last() {
                check_not_below_previous_tier(&name, before, &tier)?;
            }
            tiers.push(tier);
        }
        Ok(ConfirmationTiers(tiers))
    }
}

fn read_tier(asset: &Asset, name: &str, value: &Value) -> Result<ConfirmationTier, Refusal> {
    let object = value.as_object();
    let object = object.ok_or_else(|| Refusal::field(name, "must be a JSON object"))?;
    let fields = Fields::new(object);
    if let Some(unknown) = fields.unknown_names(&["below", "confirmations"]).first() {
        let problem = "is an unknown field; the fields are below, confirmations";
        return Err(Refusal::field(&format!("{name}.{unknown}"), problem));
    }
    let below = fields.get("below").map(|value| {
        let amount = value.as_str().and_then(|text| Cents::parse(text).ok());
        amount.ok_or_else(|| {
            let problem = "must be an amount above zero as a text, like \"250.00\"";
            Refusal::field(&format!("{name}.below"), problem)
        })
    });
    let needed = read_depth(asset, fields.get("confirmations"));
    let needed = needed.map_err(|problem| {
        let field = format!("{name}.confirmations");
        Refusal::field(&field, problem)
    })?;
    Ok(ConfirmationTier { below: below.transpose()?, needed })
}

/// Reads a number of confirmations, or `final`.
///
/// # Errors
/// The problem, to be appended to the name of the field.
fn read_depth(asset: &Asset, value: Option<&Value>) -> Result<Depth, String> {
    let (chain, horizon) = (asset.chain, asset.chain.row().horizon);
    let most = match horizon {
        Depth::Blocks(blocks) => blocks,
        Depth::Final => CONFIRMATIONS_MAX,
    };
    let number = value.and_then(Value::as_number);
    let number = number.and_then(|number| number.as_str().parse::<u32>().ok());
    if let Some(blocks) = number.filter(|blocks| (1..=most).contains(blocks)) {
        return Ok(Depth::Blocks(blocks));
    }
    if horizon == Depth::Final {
        if value.and_then(Value::as_str) == Some("final") {
            return Ok(Depth::Final);
        }
        return Err(format!("must be a whole number from 1 to {most}, or \"final\""));
    }
    Err(format!("must be a whole number from 1 to {most}, up to which {chain} is watched"))
}

/// Checks that a tier has a higher bound than the previous tier, and at least as many confirmations.
fn check_not_below_previous_tier(
    name: &str,
    before: &ConfirmationTier,
    tier: &ConfirmationTier,
) -> Result<(), Refusal> {
    if let (Some(less), Some(more)) = (before.below, tier.below)
        && more <= less
    {
        let problem = format!("must be more than the {less} of the tier before");
        return Err(Refusal::field(&format!("{name}.below"), problem));
    }
    let is_fewer = match (before.needed, tier.needed) {
        (Depth::Blocks(before), Depth::Blocks(blocks)) => blocks < before,
        (Depth::Final, Depth::Blocks(_)) => true,
        (Depth::Blocks(_) | Depth::Final, Depth::Final) => false,
    };
    if is_fewer {
        let problem = "must not be fewer than in the tier before: that is for less money";
        return Err(Refusal::field(&format!("{name}.confirmations"), problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Asset, Cents, Chain, ConfirmationTiers, Depth};
    use crate::domain::asset::ASSETS;
    use serde_json::{Value, json};

    #[test]
    fn larger_amounts_need_more_confirmations() {
        let [one, two, most] = [Some(24_999), Some(25_000), None];
        for (chain, cents, blocks) in [
            (Chain::Bitcoin, one, Depth::Blocks(1)),
            (Chain::Bitcoin, two, Depth::Blocks(2)),
            (Chain::Bitcoin, Some(249_999), Depth::Blocks(2)),
            (Chain::Bitcoin, Some(250_000), Depth::Blocks(6)),
            (Chain::Bitcoin, most, Depth::Blocks(6)),
            (Chain::Litecoin, Some(0), Depth::Blocks(3)),
            (Chain::Polygon, Some(30_000), Depth::Blocks(64)),
            (Chain::Ethereum, Some(900_000), Depth::Final),
            (Chain::Solana, Some(1), Depth::Final),
        ] {
            let needed = ConfirmationTiers::default_for(chain).needed_depth(cents.map(Cents));
            assert_eq!(needed, blocks, "{chain} {cents:?}");
        }
    }

    /// Reads tiers and returns them as JSON. The error is the name of the wrong field.
    fn read_tiers_as_json(id: &str, value: &Value) -> Result<Value, Option<String>> {
        let asset = Asset::find(id).unwrap_or(&ASSETS[0]);
        let tiers = ConfirmationTiers::read(asset, "c", value).map_err(|refusal| refusal.param)?;
        Ok(json!(tiers))
    }

    #[test]
    fn tiers_round_trip_through_json() {
        for asset in &ASSETS {
            let shown = json!(ConfirmationTiers::default_for(asset.chain));
            assert_eq!(read_tiers_as_json(asset.id, &shown), Ok(shown), "{}", asset.id);
        }
        let one = json!([{ "confirmations": 100 }]);
        assert_eq!(read_tiers_as_json("BTC", &one), Ok(one));
        let nulls = json!([{ "below": "0.01", "confirmations": 1 }, { "below": null, "confirmations": "final" }]);
        let shown = json!([{ "below": "0.01", "confirmations": 1 }, { "confirmations": "final" }]);
        assert_eq!(read_tiers_as_json("ETH", &nulls), Ok(shown));
    }

    /// Asserts that each value is refused, and that the error names the given field.
    #[track_caller]
    fn assert_refused(wrong: &[(&str, Value, &str)]) {
        for (id, value, field) in wrong {
            let field = Some((*field).to_owned());
            assert_eq!(read_tiers_as_json(id, value), Err(field), "{id} {value}");
        }
    }

    #[test]
    fn error_names_the_wrong_confirmations() {
        let one = |id, needed: Value, field| (id, json!([{ "confirmations": needed }]), field);
        let field = "c[0].confirmations";
        assert_refused(&[
            ("BTC", json!([]), "c"),
            ("BTC", json!({}), "c"),
            ("BTC", json!(6), "c"),
            ("BTC", Value::Array(vec![json!({ "confirmations": 6 }); 11]), "c"),
            ("BTC", json!([6]), "c[0]"),
            ("BTC", json!([{ "confirmations": 6, "k": 6 }]), "c[0].k"),
            ("BTC", json!([{}]), field),
            one("BTC", json!(0), field),
            one("BTC", json!(-1), field),
            one("BTC", json!(1.5), field),
            one("BTC", json!("6"), field),
            one("BTC", json!("final"), field),
            one("BTC", json!(101), field),
            one("LTC", json!(201), field),
            one("DOGE", json!(401), field),
            one("ETH", json!(100_001), field),
            one("ETH", json!("Final"), field),
        ]);
    }

    #[test]
    fn error_names_wrong_bound_and_unsorted_tier() {
        let tier = |below: Value, needed: Value| json!({ "below": below, "confirmations": needed });
        let last = || json!({ "confirmations": 6 });
        let with = |first: Value| json!([first, last()]);
        let same = [tier(json!("2.00"), json!(1)), tier(json!("2.00"), json!(2)), last()];
        assert_refused(&[
            ("BTC", with(last()), "c[0].below"),
            ("BTC", json!([tier(json!("1.00"), json!(1))]), "c[0].below"),
            ("BTC", with(tier(json!("0"), json!(1))), "c[0].below"),
            ("BTC", with(tier(json!("-1.00"), json!(1))), "c[0].below"),
            ("BTC", with(tier(json!("1.001"), json!(1))), "c[0].below"),
            ("BTC", with(tier(json!(250), json!(1))), "c[0].below"),
            ("BTC", with(tier(json!("1.00"), json!(7))), "c[1].confirmations"),
            ("BTC", json!(same), "c[1].below"),
            ("ETH", with(tier(json!("1.00"), json!("final"))), "c[1].confirmations"),
        ]);
    }
}
