//! Tests of assigning outputs to transfers.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use super::super::outgoing::tests::{output, refund};
use super::{Transfer, TransferStatus, TxidSource, assign_outputs};
use crate::domain::asset::Asset;
use crate::domain::transfer::on_chain::SentOutput;

/// Returns outputs of these amounts that are not assigned yet.
fn outputs(amounts: &[u128]) -> Vec<SentOutput> {
    let free = |amount: &u128| output(1, *amount, None);
    amounts.iter().map(free).collect()
}

/// Returns transfers of these amounts, requested in the order 1, 2, 3.
fn transfers(amounts: &[u128]) -> Vec<Transfer> {
    let numbered = (1..).zip(amounts);
    numbered.map(|(seq, amount)| refund(seq, *amount)).collect()
}

#[track_caller]
fn assert_assigned(of: &[u128], among: &[u128], expected: &[Option<i64>]) {
    let (outputs, mut among) = (outputs(of), transfers(among));
    assert_eq!(assign_outputs(&outputs, &among), expected);
    // Reversing the order of the transfers does not change the result, and neither does an earlier assignment.
    among.reverse();
    assert_eq!(assign_outputs(&outputs, &among), expected);
    let mut again = outputs;
    for (output, share) in again.iter_mut().zip(expected) {
        output.transfer = *share;
    }
    assert_eq!(assign_outputs(&again, &among), expected);
}

#[test]
fn exact_outputs_are_assigned_before_other_outputs() {
    assert_assigned(&[], &[5], &[]);
    assert_assigned(&[5], &[], &[None]);
    assert_assigned(&[5], &[5], &[Some(1)]);
    assert_assigned(&[5, 7], &[7, 5], &[Some(2), Some(1)]);
    // Of two equal transfers, the older request gets the first output.
    assert_assigned(&[5, 5], &[5, 5], &[Some(1), Some(2)]);
    assert_assigned(&[5], &[5, 5], &[Some(1)]);
    // The older transfer does not take the exact output of the younger one.
    assert_assigned(&[5, 9], &[6, 5], &[Some(2), Some(1)]);
    assert_assigned(&[5, 3], &[9, 5], &[Some(2), Some(1)]);
    // Outputs are assigned until the amount is reached. The other outputs stay unassigned.
    assert_assigned(&[2, 2, 2, 2], &[4], &[Some(1), Some(1), None, None]);
    assert_assigned(&[2, 2, 2, 2], &[3, 1], &[Some(1), Some(1), Some(2), None]);
    assert_assigned(&[2, 2], &[9, 1], &[Some(1), Some(1)]);
}

#[test]
fn output_counts_only_for_its_destination_and_coin() {
    let mut sent = outputs(&[5, 5, 5]);
    sent[0].address = "y".to_owned();
    sent[1].asset = Asset::find("DOGE").unwrap();
    let all = transfers(&[5]);
    assert_eq!(assign_outputs(&sent, &all), [None, None, Some(1)]);
    assert_eq!(assign_outputs(&sent[..2], &all), [None, None]);
}

#[test]
fn paid_transfer_keeps_its_outputs() {
    let mut all = transfers(&[5, 5]);
    all[1].status = TransferStatus::Paid;
    let mut sent = outputs(&[5]);
    sent[0].transfer = Some(2);
    assert_eq!(assign_outputs(&sent, &all), [Some(2)]);
    // A transfer that is no longer paid loses the output to the older request.
    all[1].status = TransferStatus::Processing;
    assert_eq!(assign_outputs(&sent, &all), [Some(1)]);
}

#[test]
fn entered_txid_takes_precedence_over_found_txid() {
    for from in [TxidSource::Person, TxidSource::Signer] {
        let mut all = transfers(&[5, 5]);
        all[0].sending_progress.txid_from = Some(TxidSource::Chain);
        all[1].sending_progress.txid_from = Some(from);
        let mut sent = outputs(&[5]);
        sent[0].transfer = Some(1);
        assert_eq!(assign_outputs(&sent, &all), [Some(2)]);
        // The output of 5 goes to the first transfer, whose amount is exactly 5.
        all[1].terms.as_mut().unwrap().amount_crypto.0 = 4;
        let exact = assign_outputs(&sent, &all);
        assert_eq!(exact, [Some(1)], "an exact output comes first");
        // The first transfer gets no output, since no output equals its amount and its transaction id was found on
        // the chain.
        all[0].terms.as_mut().unwrap().amount_crypto.0 = 3;
        assert_eq!(assign_outputs(&sent, &all), [Some(2)]);
        assert_eq!(assign_outputs(&sent, &all[..1]), [None]);
        // A paid transfer keeps its outputs, whatever their amount.
        all[0].status = TransferStatus::Paid;
        assert_eq!(assign_outputs(&sent, &all), [Some(1)]);
    }
}
