//! Transactions of a random history: sent, replaced, mined and reorganised away.

use super::{History, HistoryChain, HistoryTransaction, Payment};
use serde_json::json;

impl<C: HistoryChain> History<'_, C> {
    /// Pays one to three transfers in one transaction. Each may be entered by hand, or told by the signer.
    #[track_caller]
    pub(super) fn pay_transfers(&mut self) {
        let approved: Vec<usize> =
            (0..self.transfers.len()).filter(|at| self.transfers[*at].units.is_some()).collect();
        if approved.is_empty() {
            return self.start_transfer();
        }
        let (mut payments, mut paid) = (Vec::new(), Vec::new());
        for _ in 0..self.dice.pick(&[1, 1, 1, 2, 2, 3]) {
            let unpaid = |at: &&usize| !self.transfers[**at].is_paid;
            let unpaid: Vec<usize> = approved.iter().filter(unpaid).copied().collect();
            let is_again = unpaid.is_empty() || self.dice.once_in(4);
            let at = self.dice.pick(if is_again { &approved } else { &unpaid });
            self.transfers[at].is_paid = true;
            let transfer = &self.transfers[at];
            let units = transfer.units.unwrap();
            let fee = units / 1_000;
            let units = self.dice.pick(&[
                units,
                units,
                units,
                units,
                units - fee,
                units / 2,
                units + 1,
                units * 2,
            ]);
            payments.push(Payment { to: transfer.to.clone(), asset: transfer.asset, units });
            paid.push(at);
        }
        let (txid, payments) = self.chain.pay(payments);
        self.note(format!("send {txid} {payments:?}"));
        self.counts.transactions += 1;
        self.transactions.push(HistoryTransaction { txid: txid.clone(), payments });
        for at in paid {
            if self.has_signer(&self.transfers[at]) {
                self.answer_signer(at, &json!({ "txid": txid }));
            } else if self.dice.once_in(2) {
                self.apply_action(at, &json!({ "action": "pay", "txid": txid }));
            }
        }
    }

    /// Replaces the newest unconfirmed transaction. The new one pays the same, takes the higher fee out of its outputs, or
    /// pays another destination.
    #[track_caller]
    pub(super) fn replace_transaction(&mut self) {
        let change = self.dice.roll(4);
        let other = self.destinations[self.dice.roll(3)].clone();
        let replaced = self.transactions.iter().rev().find_map(|old| {
            let mut payments = old.payments.clone();
            match change {
                0 => payments.iter_mut().for_each(|one| one.units -= one.units / 500),
                1 => payments[0].to.clone_from(&other),
                _ => {}
            }
            let txid = self.chain.replace(&old.txid, &payments)?;
            Some(HistoryTransaction { txid, payments })
        });
        if let Some(new) = &replaced {
            self.note(format!("replace by {} {:?}", new.txid, new.payments));
            self.counts.replacements += 1;
        }
        self.transactions.extend(replaced);
    }

    #[track_caller]
    pub(super) fn reorganise(&mut self) {
        let depth = 1 + u32::try_from(self.dice.roll(3)).unwrap();
        if self.chain.height() < self.base + depth {
            return self.mine();
        }
        let dice = &mut self.dice;
        self.chain.reorganise(depth, || !dice.once_in(3));
        self.note(format!("reorg {depth}"));
        self.counts.reorgs += 1;
        if self.dice.once_in(2) {
            self.mine();
        }
    }

    /// Mines a block. Each of the newest transactions may have to wait.
    #[track_caller]
    pub(super) fn mine(&mut self) {
        let newest = self.transactions.iter().rev().take(4);
        let held = newest
            .filter(|_| self.dice.once_in(4))
            .map(|made| made.txid.clone())
            .collect::<Vec<_>>();
        self.note(format!("mine without {held:?}"));
        self.chain.mine(&held);
    }
}
