//! Every order of up to six events on two transfers that share a destination.
//!
//! Invariant: what the transfers got depends on the accepted acts and on the facts at the end, not on when the facts
//! were told. What is booked equals the outputs that count, or a review is open or decided.

use super::world::{Event, OnChain, Sendable, World};
use crate::domain::transfer::TransferStatus;
use crate::domain::transfer::destination::facts::{BookState, DestinationTransfer};
use crate::domain::transfer::on_chain::ReviewDecision;
use std::collections::{BTreeSet, HashMap};

/// Number of events in the longest order.
const EVENTS_MAX: usize = 6;

/// What the transfers got, in comparable form.
type Result = Vec<(Vec<String>, Vec<String>, Vec<String>, Option<String>)>;

/// A scene: the amounts of the transfers, what can be sent, and the events.
struct Scene {
    amounts: &'static [u128],
    sendable: &'static [Sendable],
    events: &'static [Event],
}

/// What may decide: the end of the chain, the accepted acts in their order, and what the books hold as settled.
type Given = (Vec<OnChain>, Vec<(Event, String)>, BTreeSet<(i64, String)>);

/// Orders that were played, and what they led to.
#[derive(Default)]
struct Played {
    /// What the transfers got, and one order of events that led to it.
    results: HashMap<Given, (Result, Vec<Event>)>,
    orders: usize,
}

use Event::{Adjust, Detach, Dismiss, Enter, Fail, Lost, Mined, Reorganised, Resolve, Seen};

const SCENES: &[Scene] = &[
    // A payment of two equal transfers, and its replacement of the same amount.
    Scene {
        amounts: &[100, 100],
        sendable: &[
            Sendable { txid: "t", input: 0, pays: &[100] },
            Sendable { txid: "t2", input: 0, pays: &[100] },
        ],
        events: &[
            Seen(0),
            Mined(0),
            Reorganised(0),
            Seen(1),
            Mined(1),
            Enter(0, 0),
            Enter(1, 0),
            Detach(0),
            Detach(1),
            Fail(0),
            Fail(1),
            Adjust(0),
            Adjust(1),
        ],
    },
    // A transaction that is corrected to another, which does not replace it.
    Scene {
        amounts: &[100, 100],
        sendable: &[
            Sendable { txid: "t", input: 0, pays: &[100] },
            Sendable { txid: "t2", input: 1, pays: &[100] },
        ],
        events: &[
            Seen(0),
            Mined(0),
            Reorganised(0),
            Mined(1),
            Enter(0, 0),
            Enter(0, 1),
            Enter(1, 0),
            Detach(0),
            Fail(0),
            Fail(1),
            Adjust(0),
            Resolve(0),
        ],
    },
    // A batch of both amounts, and its fee bump.
    Scene {
        amounts: &[100, 200],
        sendable: &[
            Sendable { txid: "t", input: 0, pays: &[100, 200] },
            Sendable { txid: "t2", input: 0, pays: &[100, 200] },
        ],
        events: &[
            Seen(0),
            Mined(0),
            Reorganised(0),
            Seen(1),
            Mined(1),
            Enter(0, 0),
            Enter(1, 0),
            Detach(0),
            Fail(0),
            Fail(1),
            Adjust(0),
            Adjust(1),
        ],
    },
    // A batch that pays each a little less, and a replacement that pays one of them half.
    Scene {
        amounts: &[100, 200],
        sendable: &[
            Sendable { txid: "t", input: 0, pays: &[99, 199] },
            Sendable { txid: "t2", input: 0, pays: &[50] },
        ],
        events: &[
            Seen(0),
            Mined(0),
            Reorganised(0),
            Mined(1),
            Enter(0, 0),
            Enter(1, 0),
            Enter(0, 1),
            Detach(0),
            Detach(1),
            Fail(0),
            Fail(1),
            Adjust(0),
            Adjust(1),
        ],
    },
    // A transaction with two replacements, and dismissals.
    Scene {
        amounts: &[100, 120],
        sendable: &[
            Sendable { txid: "t", input: 0, pays: &[100] },
            Sendable { txid: "t2", input: 0, pays: &[110] },
            Sendable { txid: "t3", input: 0, pays: &[120, 100] },
        ],
        events: &[
            Seen(0),
            Mined(0),
            Lost(0),
            Seen(1),
            Mined(1),
            Mined(2),
            Enter(0, 0),
            Enter(1, 1),
            Dismiss(0, 0),
            Dismiss(1, 2),
            Detach(0),
            Fail(0),
            Adjust(0),
        ],
    },
];

#[test]
fn result_depends_on_acts_and_facts_alone() {
    for scene in SCENES {
        let mut played = Played::default();
        let world = World::new(scene.amounts, scene.sendable);
        play_all(scene, &world, &mut Vec::new(), &mut played);
        assert!(played.orders > 1_000, "{} orders", played.orders);
    }
}

/// Plays every order that begins with these events.
fn play_all(scene: &Scene, world: &World, order: &mut Vec<Event>, played: &mut Played) {
    check(world, order, played);
    if order.len() == EVENTS_MAX {
        return;
    }
    for event in scene.events {
        let mut next = world.clone();
        if next.apply(*event) {
            order.push(*event);
            play_all(scene, &next, order, played);
            order.pop();
        }
    }
}

fn check(world: &World, order: &[Event], played: &mut Played) {
    played.orders += 1;
    check_books(world, order);
    let both = [0, 1];
    let result: Result = both
        .iter()
        .map(|at| {
            let transaction = world.outcome.transfers[*at].transaction.clone();
            // A failed transfer keeps the transaction with which its failure was told.
            let is_failed = world.facts.transfers[*at].transfer.status == TransferStatus::Failed;
            (
                world.outputs(*at),
                world.proposals(*at),
                world.open_reviews(*at),
                transaction.filter(|_| !is_failed).map(|(txid, _)| txid),
            )
        })
        .collect();
    let key = (world.chain.clone(), world.acts.clone(), world.settlements.clone());
    let first = played.results.entry(key).or_insert_with(|| (result.clone(), order.to_vec()));
    assert_eq!(first.0, result, "{:?} and {order:?} differ", first.1);
}

/// Asserts that what is booked equals the outputs that count, or that a review is open or decided.
fn check_books(world: &World, order: &[Event]) {
    for (at, one) in world.facts.transfers.iter().enumerate() {
        let own = world.facts.outputs.iter().zip(&world.outcome.shares);
        let mined = own.filter(|(output, share)| **share == Some(one.seq()) && output.is_mined());
        let mined: u128 = mined.map(|(output, _)| output.amount.0).sum();
        let needed = one.needed().unwrap().0;
        let is_right = match one.books() {
            BookState::Out => mined == needed,
            BookState::Back | BookState::Unsent => mined == 0,
            BookState::Open => true,
        };
        assert!(is_right || is_reviewed(world, at, one), "{order:?}: {mined} of {needed}");
    }
    // An output that is mined and exact, or was entered, is somebody's, or is proposed to somebody.
    for (place, output) in world.facts.outputs.iter().enumerate() {
        let is_due = world.facts.transfers.iter().any(|one| {
            (one.is_exact(output) || one.was_entered(&output.txid))
                && !one.has_dismissed(&output.txid)
        });
        let is_taken = world.outcome.shares[place].is_some();
        let is_proposed = world.outcome.transfers.iter().any(|of| of.proposals.contains(&place));
        let is_decided =
            world.facts.transfers.iter().any(|one| {
                one.reviews.iter().any(|review| review.txid.as_ref() == Some(&output.txid))
            });
        let is_settled = output.is_mined() && is_due;
        assert!(!is_settled || is_taken || is_proposed || is_decided, "{order:?}: {output:?}");
    }
}

/// Returns `true` if a review of a transfer is open, or a person has decided one.
fn is_reviewed(world: &World, at: usize, one: &DestinationTransfer) -> bool {
    let decided = one.reviews.iter().any(|review| {
        matches!(review.decision, Some(ReviewDecision::Adjusted | ReviewDecision::Resolved))
    });
    decided || !world.outcome.transfers[at].reviews.is_empty()
}
