//! Decides which outputs of a destination are kept. Strangers can send any number of small outputs to it.

use super::DestinationOutcome;
use super::facts::{BookState, DestinationFacts, DestinationOutput};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Maximum number of kept outputs that decide something or may do so, for each coin.
const PROTECTED_MAX: usize = 1000;
/// Maximum number of other kept outputs between half and twice the amount of an open transfer, for each coin.
const PLAUSIBLE_MAX: usize = 200;
/// Maximum number of other kept outputs, for each coin.
const OTHERS_MAX: usize = 20;

/// Outputs of a destination that are not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surplus {
    /// Indexes of the outputs.
    pub outputs: Vec<usize>,
    /// `true` if one of them has exactly the amount of a transfer, so that it may decide something.
    pub is_overfull: bool,
}

/// Returns the outputs that are not kept.
///
/// Kept are the outputs that count, those of transactions that an act or a review names or that replaced such a
/// transaction, and those of exactly the amount of a transfer. Of the others, those that were told last are kept.
pub fn find_surplus(
    facts: &DestinationFacts,
    outcome: &DestinationOutcome,
    reviewed: &BTreeSet<&str>,
) -> Surplus {
    if facts.outputs.len() <= OTHERS_MAX {
        return Surplus::default();
    }
    let named = named_transactions(facts, reviewed);
    let mut surplus = Surplus::default();
    let mut coins: Vec<&str> = facts.outputs.iter().map(|output| output.asset.id).collect();
    coins.sort_unstable();
    coins.dedup();
    for coin in coins {
        let mut kept = [0, 0, 0];
        let all = facts.outputs.iter().zip(&outcome.shares).enumerate();
        let mut of_coin: Vec<_> = all.filter(|(_, (output, _))| output.asset.id == coin).collect();
        of_coin.sort_by_key(|(_, (output, share))| {
            let is_used = share.is_some() || named.contains(output.txid.as_str());
            (!is_used, Reverse(output.observation))
        });
        for (place, (output, share)) in of_coin {
            let is_used = share.is_some() || named.contains(output.txid.as_str());
            let group = if is_used || is_exact(facts, output) {
                0
            } else if is_plausible(facts, output) {
                1
            } else {
                2
            };
            let most = [PROTECTED_MAX, PLAUSIBLE_MAX, OTHERS_MAX];
            let (Some(count), Some(most)) = (kept.get_mut(group), most.get(group)) else {
                continue;
            };
            if *count < *most || is_used {
                *count = count.saturating_add(1);
            } else {
                surplus.outputs.push(place);
                surplus.is_overfull |= group == 0;
            }
        }
    }
    surplus
}

/// Returns the transactions that acts and reviews name, and those that replaced them.
fn named_transactions<'a>(
    facts: &'a DestinationFacts,
    reviewed: &BTreeSet<&'a str>,
) -> BTreeSet<&'a str> {
    let acts = facts.transfers.iter().flat_map(|one| &one.acts);
    let mut named: BTreeSet<&str> = acts.map(|act| act.txid.as_str()).collect();
    named.extend(reviewed);
    let replaced: Vec<&str> = named.iter().flat_map(|txid| facts.replacements_of(txid)).collect();
    named.extend(replaced);
    let settled = facts.outputs.iter().filter(|output| output.settled.is_some());
    named.extend(settled.map(|output| output.txid.as_str()));
    named
}

fn is_exact(facts: &DestinationFacts, output: &DestinationOutput) -> bool {
    facts.transfers.iter().any(|one| one.is_exact(output))
}

fn is_plausible(facts: &DestinationFacts, output: &DestinationOutput) -> bool {
    let mut open = facts.transfers.iter().filter(|one| one.books() == BookState::Open);
    open.any(|one| one.is_plausible(output))
}
