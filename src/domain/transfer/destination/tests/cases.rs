//! Cases in which the order of events once decided what a transfer got.

use super::world::{Event, MINED, OnChain, REQUESTED, Sendable, World};
use crate::domain::asset::Asset;
use crate::domain::time::Time;
use crate::domain::transfer::SendingState;
use crate::domain::transfer::destination::checks::{EntryProblem, entry_problem};
use crate::domain::transfer::destination::facts::BookState;

/// Plays events, each of which must be accepted.
#[track_caller]
fn play(world: &mut World, events: &[Event]) {
    for event in events {
        assert!(world.apply(*event), "{event:?} is refused");
    }
}

const NOBODY: &[String] = &[];

/// A batch to two transfers, and its fee bump with the same outputs.
const BATCH: &[Sendable] = &[
    Sendable { txid: "t", input: 0, pays: &[100, 200] },
    Sendable { txid: "t2", input: 0, pays: &[100, 200] },
];

#[test]
fn both_transfers_of_a_batch_follow_its_replacement() {
    for entered in
        [&[Event::Enter(0, 0), Event::Enter(1, 0)], &[Event::Enter(1, 0), Event::Enter(0, 0)]]
    {
        for first in [&[Event::Seen(0)][..], &[]] {
            let mut world = World::new(&[100, 200], BATCH);
            play(&mut world, first);
            play(&mut world, entered);
            if first.is_empty() {
                play(&mut world, &[Event::Seen(0)]);
            }
            assert_eq!(
                (world.outputs(0), world.outputs(1)),
                (vec!["t:0".to_owned()], vec!["t:1".to_owned()])
            );
            play(&mut world, &[Event::Seen(1)]);
            for at in [0, 1] {
                assert_eq!(world.outcome.transfers[at].transaction.as_ref().unwrap().0, "t2");
                assert!(!world.fail(at, false));
            }
            play(&mut world, &[Event::Mined(1)]);
            assert_eq!(world.settled, [1, 2]);
            assert_eq!(
                (world.outputs(0), world.outputs(1)),
                (vec!["t2:0".to_owned()], vec!["t2:1".to_owned()])
            );
        }
    }
}

/// A batch that pays each transfer a fee less.
const SHORT: &[Sendable] = &[Sendable { txid: "t", input: 0, pays: &[99, 199] }];

#[test]
fn batch_that_pays_each_transfer_less_is_short_for_both() {
    for entered in [[0, 1], [1, 0]] {
        let mut world = World::new(&[100, 200], SHORT);
        play(&mut world, &[Event::Mined(0), Event::Enter(entered[0], 0)]);
        assert_eq!(world.proposals(entered[1]), ["t"]);
        play(&mut world, &[Event::Enter(entered[1], 0)]);
        for (at, output) in [(0, "t:0"), (1, "t:1")] {
            assert_eq!(world.outputs(at), [output]);
        }
        assert!(world.settled.is_empty());
    }
    // Equal amounts: each gets one of the outputs.
    const EQUAL: &[Sendable] = &[Sendable { txid: "t", input: 0, pays: &[99, 99] }];
    let mut world = World::new(&[100, 100], EQUAL);
    play(&mut world, &[Event::Mined(0), Event::Enter(1, 0)]);
    assert_eq!(
        (world.outputs(1), world.proposals(0)),
        (vec!["t:0".to_owned()], vec!["t".to_owned()])
    );
    play(&mut world, &[Event::Enter(0, 0)]);
    assert_eq!((world.outputs(0).len(), world.outputs(1).len()), (1, 1));
}

/// Two transactions of one amount that do not exclude each other.
const TWICE: &[Sendable] = &[
    Sendable { txid: "t", input: 0, pays: &[100] },
    Sendable { txid: "t2", input: 1, pays: &[100] },
];

#[test]
fn detached_transaction_is_taken_once_it_is_mined() {
    let mut world = World::new(&[100], TWICE);
    play(&mut world, &[Event::Seen(0), Event::Enter(0, 0), Event::Detach(0)]);
    assert_eq!((world.outputs(0), world.proposals(0)), (vec![], vec!["t".to_owned()]));
    play(&mut world, &[Event::Mined(0)]);
    assert_eq!(world.settled, [1]);
    // Another transfer of the amount comes before the one from which it was detached.
    let mut world = World::new(&[100, 100], TWICE);
    play(&mut world, &[Event::Seen(0), Event::Enter(0, 0), Event::Detach(0), Event::Mined(0)]);
    assert_eq!(world.settled, [2]);
    // Once the transfer has failed, the transaction has arrived.
    let mut world = World::new(&[100], TWICE);
    let forced = [Event::Seen(0), Event::Enter(0, 0), Event::Detach(0), Event::Fail(0)];
    play(&mut world, &forced);
    assert_eq!(world.open_reviews(0), NOBODY);
    play(&mut world, &[Event::Mined(0)]);
    assert_eq!(world.open_reviews(0), ["arrived t"]);
}

#[test]
fn transaction_beside_the_corrected_one_is_proposed_then_overpaid() {
    let mut world = World::new(&[100], TWICE);
    play(&mut world, &[Event::Enter(0, 0), Event::Enter(0, 1), Event::Mined(0)]);
    assert_eq!((world.settled.len(), world.proposals(0)), (0, vec!["t".to_owned()]));
    assert!(world.outcome.transfers[0].has_exact_proposal);
    play(&mut world, &[Event::Mined(1)]);
    assert_eq!(world.settled, [1]);
    assert_eq!(
        (world.outputs(0), world.open_reviews(0)),
        (vec!["t:0".to_owned(), "t2:0".to_owned()], vec!["overpaid t".to_owned()])
    );
    assert_eq!(world.outcome.transfers[0].transaction.as_ref().unwrap().0, "t2");
    play(&mut world, &[Event::Resolve(0)]);
    assert_eq!(world.open_reviews(0), NOBODY);
}

#[test]
fn transaction_returns_to_its_transfer_when_another_gives_it_up() {
    let mut world = World::new(&[100, 120], TWICE);
    play(&mut world, &[Event::Seen(0)]);
    assert_eq!(world.outputs(0), ["t:0"]);
    play(&mut world, &[Event::Enter(1, 0)]);
    assert_eq!((world.outputs(0), world.outputs(1)), (vec![], vec!["t:0".to_owned()]));
    play(&mut world, &[Event::Detach(1)]);
    assert_eq!((world.outputs(0), world.outputs(1)), (vec!["t:0".to_owned()], vec![]));
}

#[test]
fn payment_after_its_amount_was_booked_back_has_arrived() {
    let mut world = World::new(&[100], TWICE);
    let back =
        [Event::Seen(0), Event::Mined(0), Event::Lost(0), Event::Enter(0, 1), Event::Adjust(0)];
    play(&mut world, &back);
    assert_eq!((world.books(0), world.open_reviews(0)), (BookState::Back, vec![]));
    play(&mut world, &[Event::Mined(0)]);
    assert_eq!(world.open_reviews(0), ["arrived t"]);
    play(&mut world, &[Event::Adjust(0)]);
    assert_eq!((world.books(0), world.open_reviews(0)), (BookState::Out, vec![]));
    play(&mut world, &[Event::Mined(1)]);
    assert_eq!(world.open_reviews(0), ["overpaid t2"]);
}

#[test]
fn arrival_ends_with_its_fact_and_its_adjustment_is_gone_without_it() {
    let mut world = World::new(&[100], TWICE);
    play(&mut world, &[Event::Fail(0), Event::Mined(0)]);
    assert_eq!(world.open_reviews(0), ["arrived t"]);
    play(&mut world, &[Event::Reorganised(0)]);
    assert_eq!(world.open_reviews(0), NOBODY);
    assert!(!world.apply(Event::Adjust(0)));
    play(&mut world, &[Event::Mined(0), Event::Adjust(0), Event::Reorganised(0)]);
    assert_eq!(world.open_reviews(0), ["gone t"]);
    play(&mut world, &[Event::Mined(0)]);
    assert_eq!((world.books(0), world.open_reviews(0)), (BookState::Out, vec![]));
}

#[test]
fn failing_with_an_arrival_there_already_opens_its_review() {
    const ONE_LESS: &[Sendable] = &[Sendable { txid: "t", input: 0, pays: &[99] }];
    let mut world = World::new(&[100], ONE_LESS);
    play(&mut world, &[Event::Enter(0, 0), Event::Mined(0), Event::Fail(0)]);
    assert_eq!(world.open_reviews(0), ["arrived t"]);
    // One exact arrival, proposed to two transfers that both fail.
    let mut world = World::new(&[100, 100], TWICE);
    play(&mut world, &[Event::Mined(0), Event::Dismiss(1, 0)]);
    assert_eq!(world.settled, [1]);
    let mut world = World::new(&[100, 100], TWICE);
    for at in [0, 1] {
        world.facts.transfers[at].transfer.sending = Some(SendingState::Restored);
    }
    play(&mut world, &[Event::Mined(0)]);
    assert_eq!(
        (world.proposals(0), world.proposals(1)),
        (vec!["t".to_owned()], vec!["t".to_owned()])
    );
    play(&mut world, &[Event::Fail(0)]);
    assert_eq!(world.open_reviews(0), NOBODY);
    play(&mut world, &[Event::Fail(1)]);
    assert_eq!(
        (world.open_reviews(0), world.open_reviews(1)),
        (vec!["arrived t".to_owned()], vec![])
    );
    // Both fail while it is in the mempool. Once the first has failed, it is the payment of the second.
    let mut world = World::new(&[100, 100], TWICE);
    play(&mut world, &[Event::Seen(0), Event::Fail(0), Event::Fail(1)]);
    assert_eq!((world.open_reviews(0), world.open_reviews(1)), (vec![], vec![]));
    play(&mut world, &[Event::Mined(0)]);
    assert_eq!(
        (world.open_reviews(0), world.open_reviews(1)),
        (vec![], vec!["arrived t".to_owned()])
    );
}

#[test]
fn second_payment_of_a_paid_transfer_is_overpaid() {
    const OTHERS: &[Sendable] = &[
        Sendable { txid: "t", input: 0, pays: &[100] },
        Sendable { txid: "again", input: 1, pays: &[100] },
        Sendable { txid: "own wallet", input: 2, pays: &[150] },
    ];
    let mut world = World::new(&[100], OTHERS);
    play(&mut world, &[Event::Mined(0), Event::Mined(2), Event::Seen(1)]);
    assert_eq!((&world.settled[..], world.open_reviews(0)), (&[1][..], vec![]));
    play(&mut world, &[Event::Mined(1)]);
    assert_eq!(world.open_reviews(0), ["overpaid again"]);
    // It is the payment of an open transfer that it fits.
    let mut world = World::new(&[100, 100], OTHERS);
    play(&mut world, &[Event::Enter(0, 0), Event::Mined(0), Event::Mined(1)]);
    assert_eq!((&world.settled[..], world.open_reviews(0)), (&[1, 2][..], vec![]));
}

#[test]
fn output_in_another_coin_keeps_no_paid_transfer_watched() {
    let mut world = World::new(&[100], &[Sendable { txid: "t", input: 0, pays: &[100, 30] }]);
    assert!(world.mine(0, MINED));
    world.tell();
    world.facts.outputs[1].asset = Asset::find("DOGE").unwrap();
    world.facts.final_height = MINED;
    world.settle();
    assert_eq!((&world.settled[..], world.open_reviews(0)), (&[1][..], vec![]));
    assert!(world.outcome.transfers[0].is_frozen);
}

#[test]
fn transaction_from_before_the_request_settles_nothing() {
    let mut world = World::new(&[100], TWICE);
    assert!(world.mine(0, REQUESTED));
    world.tell();
    world.settle();
    let problem = entry_problem(&world.facts, 1, "t", Time(0));
    assert_eq!(problem, Some(EntryProblem::BeforeRequest));
    // It is entered before a node has told of it.
    let mut world = World::new(&[100], TWICE);
    play(&mut world, &[Event::Enter(0, 0)]);
    assert!(world.mine(0, REQUESTED));
    world.tell();
    world.settle();
    assert_eq!((world.settled.len(), world.outputs(0)), (0, vec!["t:0".to_owned()]));
    assert!(world.outcome.transfers[0].is_before_request);
}

#[test]
fn replacement_that_pays_half_proves_nothing() {
    for (pays, is_proved) in [(&[50][..], false), (&[49], true)] {
        let sendable = vec![
            Sendable { txid: "t", input: 0, pays: &[100] },
            Sendable { txid: "t2", input: 0, pays },
        ];
        let mut world = World::new(&[100], sendable.leak());
        play(&mut world, &[Event::Seen(0), Event::Enter(0, 0), Event::Mined(1)]);
        assert_eq!(world.outcome.transfers[0].transaction.as_ref().unwrap().0, "t");
        world.facts.final_height = MINED;
        world.settle();
        let mut failed = world.clone();
        assert_eq!(failed.fail(0, false), is_proved);
        play(&mut world, &[Event::Fail(0)]);
        let reviews: &[&str] = if is_proved { &[] } else { &["arrived t2"] };
        assert_eq!(world.open_reviews(0), reviews);
    }
}

#[test]
fn output_while_a_signer_runs_is_proposed() {
    let mut world = World::new(&[100, 300], TWICE);
    world.facts.transfers[1].transfer.sending = Some(SendingState::Running);
    play(&mut world, &[Event::Mined(0)]);
    assert_eq!((world.outputs(0), world.proposals(0)), (vec![], vec!["t".to_owned()]));
    world.facts.transfers[1].transfer.sending = Some(SendingState::Unknown);
    world.settle();
    assert_eq!(world.settled, [1]);
    assert_eq!(world.chain[0], OnChain::Mined(MINED));
}
