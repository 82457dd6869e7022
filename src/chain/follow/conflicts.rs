//! Finds the spenders of watched outputs. Also finds the sent transactions that can no longer be confirmed, because
//! another transaction spends their inputs.

use super::StepBuilder;
use crate::chain::BlockRead;
use crate::domain::{Block, InputSource, SpendConflict};
use std::collections::HashMap;

#[derive(Clone)]
pub(super) struct Spender {
    /// Id of the spending transaction.
    pub by: String,
    /// Block of the spending transaction; `None` while it is in the mempool.
    pub block: Option<Block>,
}

/// Spender of each output, by the transaction id and the position of the output.
#[derive(Default)]
pub(super) struct Spenders(HashMap<(String, u32), Spender>);

impl Spenders {
    pub(super) fn add_each(&mut self, spent: &[(InputSource, String)], block: Option<&Block>) {
        for (output, by) in spent {
            self.add(std::slice::from_ref(output), by, block);
        }
    }

    pub(super) fn add(&mut self, spends: &[InputSource], by: &str, block: Option<&Block>) {
        for spent in spends {
            if let InputSource::Output(txid, position) = spent {
                let spender = Spender { by: by.to_owned(), block: block.cloned() };
                self.0.insert((txid.clone(), *position), spender);
            }
        }
    }

    /// Returns a transaction other than `txid` that spends one of the outputs in `spends`; `None` if there is no such
    /// transaction.
    pub(super) fn find_other_spender(&self, txid: &str, spends: &[InputSource]) -> Option<Spender> {
        let mut spenders = spends.iter().filter_map(|spent| match spent {
            InputSource::Output(parent, position) => self.0.get(&(parent.clone(), *position)),
            InputSource::Address(_) | InputSource::Coinbase => None,
        });
        spenders.find(|spender| spender.by != txid).cloned()
    }
}

pub(super) fn spenders_in(blocks: &[BlockRead]) -> Spenders {
    let mut mined = Spenders::default();
    for read in blocks {
        mined.add_each(&read.spent, Some(&read.block));
        for one in &read.received {
            mined.add(&one.spends, &one.txid, Some(&read.block));
        }
    }
    mined
}

impl StepBuilder<'_> {
    /// Returns the sent transactions whose inputs another transaction spends, and all their descendants. Earlier
    /// entries of `spenders` take precedence.
    pub(super) fn find_conflicts(&self, spenders: &[&Spenders]) -> Vec<SpendConflict> {
        let mut of: HashMap<&str, Spender> = HashMap::new();
        let sent = &self.known.sent;
        for sent in sent {
            let mut others = spenders.iter();
            let other =
                others.find_map(|spenders| spenders.find_other_spender(&sent.txid, &sent.spends));
            of.extend(other.map(|other| (sent.txid.as_str(), other)));
        }
        let mut before = 0;
        while before < of.len() {
            before = of.len();
            for sent in sent {
                if of.contains_key(sent.txid.as_str()) {
                    continue;
                }
                let parent = sent.spends.iter().find_map(|spent| match spent {
                    InputSource::Output(parent, _) => of.get(parent.as_str()).cloned(),
                    InputSource::Address(_) | InputSource::Coinbase => None,
                });
                of.extend(parent.map(|spender| (sent.txid.as_str(), spender)));
            }
        }
        let conflict = |(txid, spender): (&str, Spender)| SpendConflict {
            txid: txid.to_owned(),
            by: spender.by,
            block: spender.block,
        };
        let mut conflicts: Vec<SpendConflict> = of.into_iter().map(conflict).collect();
        conflicts.sort_unstable_by(|one, other| one.txid.cmp(&other.txid));
        conflicts
    }
}
