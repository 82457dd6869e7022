//! Compares the books of payouts and refunds with the coins that a real node shows at their destinations, unit by unit.
//!
//! Reads tables, not the state of a transfer: what each output counts for, what is booked, and what a person was asked.

use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

/// An output at a destination: transaction and position.
pub type OutputId = (String, u32);
/// Transaction or review of a transfer: the number of the transfer, and a transaction id.
type Fact = (i64, String);

/// An output that a node has in a block.
pub struct ChainOutput {
    pub to: String,
    pub asset: &'static str,
    pub units: u128,
    pub height: u32,
}

/// All outputs at the destinations of a history.
pub type ChainOutputs = BTreeMap<OutputId, ChainOutput>;

/// Numbers of transfers that one history ended with.
#[derive(Debug, Default)]
pub struct MoneyCounts {
    pub transfers: usize,
    /// Settled by the chain, without a review.
    pub paid: usize,
    /// With an open or decided review.
    pub reviewed: usize,
    /// Failed, rejected or cancelled, with the amount back in the balance.
    pub put_back: usize,
    /// Base units of each coin that count for transfers.
    pub units: BTreeMap<&'static str, u128>,
}

impl MoneyCounts {
    pub fn add(&mut self, more: MoneyCounts) {
        self.transfers += more.transfers;
        self.paid += more.paid;
        self.reviewed += more.reviewed;
        self.put_back += more.put_back;
        for (asset, units) in more.units {
            *self.units.entry(asset).or_default() += units;
        }
    }
}

/// A payout or refund as the file has it.
struct BookedTransfer {
    seq: i64,
    to: String,
    asset: String,
    /// Amount to send, in base units; `None` before approval.
    needed: Option<u128>,
    approved_height: Option<u32>,
    is_final: bool,
    is_settled_by_chain: bool,
    /// `true` if its amount is out of the balance.
    is_out: bool,
}

/// What the file says of the outputs at destinations.
struct BookedOutputs {
    /// Transfer for which each output counts.
    shares: BTreeMap<OutputId, i64>,
    /// Outputs that are proposed to any transfer.
    proposed: BTreeSet<OutputId>,
    /// Transfer and transaction of each review, open or decided.
    reviews: BTreeSet<Fact>,
    /// Transactions that were entered or dismissed, unless a later act took that back.
    entered: BTreeSet<Fact>,
    dismissed: BTreeSet<Fact>,
}

#[track_caller]
fn rows<T>(
    file: &Connection,
    sql: &str,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    let mut rows = file.prepare(sql).unwrap();
    let rows = rows.query_map([], read).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Returns the transfers to these destinations.
#[track_caller]
fn booked_transfers(file: &Connection, destinations: &[String]) -> Vec<BookedTransfer> {
    let sql = "select seq, lower(to_address), asset, amount_crypto, approved_height, finalized_at is not null, \
        settled_by is 'chain', (select ifnull(sum(amount), 0) from ledger where transfer = t.seq) <> 0 \
        from transfers t order by seq";
    let mut booked = rows(file, sql, |row| {
        let needed: Option<String> = row.get(3)?;
        Ok(BookedTransfer {
            seq: row.get(0)?,
            to: row.get(1)?,
            asset: row.get(2)?,
            needed: needed.map(|text| text.parse().unwrap()),
            approved_height: row.get(4)?,
            is_final: row.get(5)?,
            is_settled_by_chain: row.get(6)?,
            is_out: row.get(7)?,
        })
    });
    booked.retain(|transfer| destinations.contains(&transfer.to));
    booked
}

#[track_caller]
fn booked_outputs(file: &Connection) -> BookedOutputs {
    let shares = "select o.txid, o.position, d.transfer from destination_outputs d join observations o \
        on o.seq = d.observation where d.transfer is not null";
    let shares = rows(file, shares, |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)));
    let proposed = "select o.txid, o.position from transfer_proposals p join observations o on o.seq = p.observation";
    let proposed = rows(file, proposed, |row| Ok((row.get(0)?, row.get(1)?)));
    let reviews = "select transfer, txid from transfer_reviews where txid is not null";
    let reviews = rows(file, reviews, |row| Ok((row.get(0)?, row.get(1)?)));
    let mut booked = BookedOutputs {
        shares: shares.into_iter().collect(),
        proposed: proposed.into_iter().collect(),
        reviews: reviews.into_iter().collect(),
        entered: BTreeSet::new(),
        dismissed: BTreeSet::new(),
    };
    let acts = "select transfer, txid, kind from transfer_acts order by seq";
    let acts = rows(file, acts, |row| Ok(((row.get(0)?, row.get(1)?), row.get::<_, String>(2)?)));
    for (of, kind) in acts {
        let of: Fact = of;
        match kind.as_str() {
            "entered" => {
                // The newest entry takes the place of an earlier one.
                booked.entered.retain(|(other, _)| *other != of.0);
                booked.dismissed.remove(&of);
                booked.entered.insert(of);
            }
            "detached" => drop(booked.entered.remove(&of)),
            _ => drop(booked.dismissed.insert(of)),
        }
    }
    booked
}

/// The books and the chain at the destinations of one history.
struct Comparison<'a> {
    /// Number of blocks after which a paid transfer is no longer compared with the chain.
    final_depth: u32,
    transfers: Vec<BookedTransfer>,
    booked: BookedOutputs,
    active: &'a ChainOutputs,
}

/// Asserts that no transfer to these destinations is both sent and put back, or sent twice, without an open or decided
/// review.
#[track_caller]
pub fn assert_money_matches_chain(
    file: &Connection,
    destinations: &[String],
    active: &ChainOutputs,
    final_depth: u32,
) -> MoneyCounts {
    let strays = "select lower(o.address) from unmatched_payments u join observations o on o.seq = u.observation";
    let strays: Vec<String> = rows(file, strays, |row| row.get(0));
    assert!(!strays.iter().any(|to| destinations.contains(to)), "unmatched: {strays:?}");
    let transfers = booked_transfers(file, destinations);
    let compared = Comparison { final_depth, transfers, booked: booked_outputs(file), active };
    let mut counts = MoneyCounts { transfers: compared.transfers.len(), ..MoneyCounts::default() };
    for transfer in compared.transfers.iter().filter(|transfer| transfer.is_final) {
        compared.assert_sent_once(transfer, &mut counts);
    }
    for (id, output) in active {
        compared.assert_explained(id, output);
    }
    counts
}

impl Comparison<'_> {
    /// Returns the outputs on the chain that count for a transfer.
    fn own_outputs(&self, of: &BookedTransfer) -> impl Iterator<Item = &ChainOutput> {
        let own = self.active.iter().filter(|(id, _)| self.booked.shares.get(*id) == Some(&of.seq));
        own.map(|(_, output)| output)
    }

    /// Asserts that a transfer without a review is either sent once or put back.
    #[track_caller]
    fn assert_sent_once(&self, of: &BookedTransfer, counts: &mut MoneyCounts) {
        let has_review = self.booked.reviews.iter().any(|(transfer, _)| *transfer == of.seq);
        counts.put_back += usize::from(!of.is_out);
        counts.reviewed += usize::from(has_review);
        let got: u128 = self.own_outputs(of).map(|output| output.units).sum();
        let at = format!("transfer {} needs {:?} and got {got}", of.seq, of.needed);
        if has_review {
            return;
        }
        assert!(of.is_out || got == 0, "{at}: it is sent and put back");
        if of.is_out && of.is_settled_by_chain {
            let needed = of.needed.unwrap();
            counts.paid += 1;
            for output in self.own_outputs(of) {
                *counts.units.entry(output.asset).or_default() += output.units;
            }
            assert!(got >= needed, "{at}: it is paid");
            assert!(got <= needed + needed / 100, "{at}: it is paid twice");
        }
    }

    /// Asserts that an output which was entered for a transfer, or has exactly the amount of one that was approved before,
    /// counts for a transfer, or that a person was asked about it.
    #[track_caller]
    fn assert_explained(&self, id: &OutputId, output: &ChainOutput) {
        let here = |of: &&BookedTransfer| of.to == output.to && of.asset == output.asset;
        let here = || self.transfers.iter().filter(here);
        let booked = &self.booked;
        let is_asked = |of: &BookedTransfer| {
            let about = (of.seq, id.0.clone());
            booked.reviews.contains(&about) || booked.dismissed.contains(&about)
        };
        let is_taken = booked.shares.contains_key(id) || booked.proposed.contains(id);
        if is_taken || here().any(is_asked) {
            return;
        }
        for of in here().filter(|of| of.is_final) {
            let is_entered = booked.entered.contains(&(of.seq, id.0.clone()));
            // A payment that is final ends the watch of its destination for the transfer.
            let paid_at = self.own_outputs(of).map(|output| output.height).max();
            let is_watched = !of.is_settled_by_chain
                || paid_at.is_none_or(|at| output.height <= at + self.final_depth);
            let is_after = of.approved_height.is_some_and(|approved| output.height > approved);
            let is_exact = of.needed == Some(output.units) && is_after && is_watched;
            let is_enough = of.needed.is_some_and(|needed| output.units >= needed);
            assert!(
                !(is_exact || is_entered && is_enough),
                "{id:?} pays {} to transfer {} and nobody was asked",
                output.units,
                of.seq
            );
        }
    }
}
