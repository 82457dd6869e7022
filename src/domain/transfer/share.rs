//! Assigns the outputs of one transaction to the transfers to which the transaction is attached.
//!
//! Invariant: an output counts for at most one transfer, and only for a transfer with the same destination and coin.

use super::on_chain::SentOutput;
use super::{Transfer, TransferStatus, TxidSource};
use crate::domain::money::coin::Units;
use crate::domain::payment::PaymentState;

/// Returns, for each output, the `seq` of the transfer for which the output counts.
///
/// Paid transfers keep their outputs. Other transfers get outputs in the order of their requests. Transfers with a
/// transaction id from a person or the signer come before transfers whose id was found on the chain.
///
/// First, each transfer gets an output of exactly its amount. Then each transfer gets further outputs until their sum
/// reaches its amount, except transfers whose id was found on the chain.
pub fn assign_outputs(outputs: &[SentOutput], transfers: &[Transfer]) -> Vec<Option<i64>> {
    let keeps = |seq: i64| {
        let mut kept = transfers.iter();
        kept.any(|transfer| transfer.seq == seq && transfer.status == TransferStatus::Paid)
    };
    let held = |output: &SentOutput| output.transfer.filter(|seq| keeps(*seq));
    let mut shares: Vec<Option<i64>> = outputs.iter().map(held).collect();
    let mut claimants: Vec<&Transfer> =
        transfers.iter().filter(|transfer| !shares.contains(&Some(transfer.seq))).collect();
    claimants.sort_by_key(|transfer| {
        let is_found = transfer.sending_progress.txid_from == Some(TxidSource::Chain);
        (is_found, transfer.seq)
    });
    for transfer in &claimants {
        let exact = unassigned_outputs(outputs, &shares, transfer)
            .find(|place| output_amount(outputs, *place) == needed_units(transfer));
        assign_output(&mut shares, exact, transfer.seq);
    }
    for transfer in claimants {
        let mut left = needed_units(transfer);
        if shares.contains(&Some(transfer.seq)) || transfer.sending_progress.txid_from == CHAIN {
            continue;
        }
        while let Some(needed) = left {
            let Some(place) = unassigned_outputs(outputs, &shares, transfer).next() else {
                break;
            };
            let amount = output_amount(outputs, place).unwrap_or(Units::ZERO);
            assign_output(&mut shares, Some(place), transfer.seq);
            left = needed.minus(amount).filter(|left| *left > Units::ZERO);
        }
    }
    shares
}

const CHAIN: Option<TxidSource> = Some(TxidSource::Chain);

fn needed_units(transfer: &Transfer) -> Option<Units> {
    transfer.terms.map(|terms| terms.amount_crypto)
}

fn output_amount(outputs: &[SentOutput], place: usize) -> Option<Units> {
    outputs.get(place).map(|output| output.amount)
}

/// Returns the indexes of the unassigned outputs with the transfer's destination and coin. Dropped outputs are last.
fn unassigned_outputs<'a>(
    outputs: &'a [SentOutput],
    shares: &'a [Option<i64>],
    to: &'a Transfer,
) -> impl Iterator<Item = usize> + 'a {
    let places = move |is_dropped: bool| {
        let all = outputs.iter().zip(shares).enumerate();
        let found = all.filter(move |(_, (output, share))| {
            let is_to_it = output.address == to.to_address && output.asset == to.asset;
            let is_so = (output.state == PaymentState::Dropped) == is_dropped;
            share.is_none() && is_to_it && is_so
        });
        found.map(|(place, _)| place)
    };
    places(false).chain(places(true))
}

fn assign_output(shares: &mut [Option<i64>], place: Option<usize>, seq: i64) {
    if let Some(share) = place.and_then(|place| shares.get_mut(place)) {
        *share = Some(seq);
    }
}

#[cfg(test)]
mod tests;
