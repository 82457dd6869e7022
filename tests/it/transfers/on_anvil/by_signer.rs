//! Transfers sent by the signer for Ethereum.

use super::{ETH, FINAL, HOUR_MS, MINUTE_MS, Merchant, Sent, USDC};
use crate::process::deploy::signer::{CHAIN_ID, Signer};
use crate::support::anvil::Node;
use crate::support::installation::start_count;
use crate::support::polling;
use crate::transfers::signer::{answer, starts_for, waiting};
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;

const UNTESTED: &str = "payouts and refunds that the signer sends on ethereum";

/// Opens a shop with a signer that records each order and waits until its gate file is readable. `None` where the
/// machine lacks a part.
#[track_caller]
pub(super) fn with_signer() -> Option<Merchant> {
    let node = Node::start(CHAIN_ID, UNTESTED)?;
    let url = node.url.clone();
    let mut has_signer = true;
    let mut merchant = Merchant::of(node, &url, |till, token| {
        let folder = till.served.file.parent().unwrap();
        let tokens = json!({ "tokens": { USDC: token } });
        let Some(signer) = Signer::set_up(folder, &url, tokens) else {
            has_signer = false;
            return Vec::new();
        };
        let command: Vec<String> = serde_json::from_str(&signer.command()).unwrap();
        let [gate, noted, order] = ["gate", "noted", "order"].map(|name| till.served.path(name));
        std::fs::write(&gate, "").unwrap();
        let script = format!(
            "cat > {order}.$$\necho started >> {}\ncat {}\nexec '{}' < {order}.$$",
            noted.display(),
            gate.display(),
            command.join("' '"),
            order = order.display(),
        );
        vec![
            "--signer".to_owned(),
            till.served.program("signer", &script),
        ]
    });
    merchant.sent_by = "signer";
    has_signer.then_some(merchant)
}

/// Opens a shop whose signer responds when the test says so; `None` where the machine has no anvil.
#[track_caller]
pub(super) fn with_answers(untested: &str) -> Option<Merchant> {
    let node = Node::start(CHAIN_ID, untested)?;
    let url = node.url.clone();
    let mut merchant = Merchant::of(node, &url, |till, _| {
        vec!["--signer".to_owned(), waiting(&till.served)]
    });
    merchant.sent_by = "signer";
    Some(merchant)
}

impl Merchant {
    /// Returns a transfer in processing, for which the signer of [`with_answers`] runs.
    #[track_caller]
    pub(super) fn begun(&mut self, of: (&str, &'static str)) -> Sent {
        let sent = self.approved(of, self.sent_by);
        self.hand_over(&sent);
        sent
    }

    /// Processes an approved transfer by hand, or waits until the signer of [`with_answers`] runs.
    #[track_caller]
    pub(super) fn hand_over(&self, of: &Sent) {
        if self.sent_by == "hand" {
            self.act(of, &json!({ "action": "process" })).expect(200);
        } else {
            assert!(polling::until(|| self.starts_for(of) == 1));
        }
    }

    /// Enters a transaction id by hand, or as the response of the signer of [`with_answers`].
    #[track_caller]
    pub(super) fn attach(&self, of: &Sent, txid: &str) {
        if self.sent_by == "hand" {
            return self.enter(of, txid);
        }
        self.answer(of, &json!({ "txid": txid }).to_string());
        assert_eq!(self.answered(of), txid);
    }

    /// Writes the response of the signer of [`with_answers`].
    #[track_caller]
    pub(super) fn answer(&self, of: &Sent, text: &str) {
        answer(&self.till.served, &of.id, text);
    }

    /// Counts the starts of the signer of [`with_answers`] for a transfer.
    pub(super) fn starts_for(&self, of: &Sent) -> usize {
        starts_for(&self.till.served, &of.id)
    }

    /// Waits until the signer has responded, and returns the transaction id.
    #[track_caller]
    pub(super) fn answered(&self, of: &Sent) -> String {
        let txid = format!(
            "select ifnull(txid, '') from transfers where id = '{}'",
            of.id
        );
        let mut found = String::new();
        let is_there = polling::until(|| {
            found = self
                .till
                .served
                .open_file()
                .query_row(&txid, [], |row| row.get(0))
                .unwrap();
            !found.is_empty()
        });
        assert!(is_there, "{:#}", self.read(of));
        found
    }

    /// Returns the balance of the destination in its coin.
    #[track_caller]
    pub(super) fn received(&self, of: &Sent) -> u128 {
        if of.asset == ETH {
            self.node.balance(&of.to)
        } else {
            self.node.token_balance(&self.token, &of.to)
        }
    }

    fn gate(&self) -> PathBuf {
        self.till.served.path("gate")
    }

    /// Waits until the signer has started so often, and no run is left.
    #[track_caller]
    fn has_run(&self, starts: usize) {
        assert!(polling::until(|| self.starts() == starts));
        let running = "select count(*) || '' from transfers where sending = 'running'";
        self.till.served.poll(running, &["0"]);
    }

    /// Counts the starts of the signer.
    pub(super) fn starts(&self) -> usize {
        start_count(&self.till.served.path("noted"))
    }
}

#[test]
fn kill_after_each_step_does_not_repeat_the_signer() {
    let Some(mut merchant) = with_signer() else {
        return;
    };
    let mut starts = 0;
    for kinds in [
        [("payouts", ETH), ("refunds", USDC)],
        [("payouts", USDC), ("refunds", ETH)],
    ] {
        let sent = merchant.node.transaction_count();
        let both = kinds.map(|of| merchant.approved(of, "signer"));
        let txids = both.each_ref().map(|sent| merchant.answered(sent));
        merchant.look();
        merchant.are_seen(&both, &txids);
        merchant.mine(5);
        merchant.are_seen(&both, &txids);
        for _ in 0..2 {
            merchant.mine(FINAL);
            merchant.are_paid(&both, &txids);
        }
        starts += 2;
        assert_eq!(
            (merchant.node.transaction_count(), merchant.starts()),
            (sent + 2, starts)
        );
        for sent in &both {
            assert_eq!(merchant.received(sent), sent.units);
        }
    }
    merchant.is_right();
}

#[test]
fn signer_that_outlives_the_server_is_not_run_again() {
    let Some(mut merchant) = with_signer() else {
        return;
    };
    for (at, of) in [("payouts", USDC), ("refunds", ETH)]
        .into_iter()
        .enumerate()
    {
        let before = merchant.node.transaction_count();
        std::fs::remove_file(merchant.gate()).unwrap();
        let made = Command::new("mkfifo").arg(merchant.gate()).status();
        assert!(made.unwrap().success());
        let sent = merchant.approved(of, "signer");
        assert!(polling::until(|| merchant.starts() > at));
        merchant.look();
        merchant.is_reviewed(&sent, "nobody knows whether the signer sent it");
        std::fs::write(merchant.gate(), "").unwrap();
        assert!(polling::until(|| merchant.node.transaction_count() > before));
        std::fs::remove_file(merchant.gate()).unwrap();
        std::fs::write(merchant.gate(), "").unwrap();
        merchant.mine(FINAL);
        // The exact amount finds the transaction.
        let paid = merchant.until(&sent, "paid", "settled", "");
        let txid = paid["txid"].as_str().unwrap();
        merchant.is_paid(&sent, txid);
        assert_eq!(
            (merchant.node.transaction_count(), merchant.starts()),
            (before + 1, at + 1)
        );
        assert_eq!(merchant.received(&sent), sent.units);
    }
    merchant.is_right();
}

#[test]
fn lost_signer_transaction_does_not_fail_later_ones() {
    let Some(mut merchant) = with_signer() else {
        return;
    };
    merchant.node.hold(true);
    let lost = merchant.approved(("payouts", ETH), "signer");
    let txid = merchant.answered(&lost);
    merchant.look();
    merchant.is_seen(&lost, &txid);
    merchant.node.ask("anvil_dropAllTransactions", json!([]));
    let next = [USDC, ETH].map(|asset| merchant.approved(("refunds", asset), "signer"));
    let problem = "tries again every 10 minutes: the node does not know an earlier transaction";
    for (round, state) in [(1, "waiting"), (2, "needs_review")] {
        for sent in &next {
            merchant.until(sent, "processing", state, problem);
        }
        merchant.until(&lost, "processing", state, "");
        merchant.has_run(1 + 2 * round);
        merchant.pass(5 * MINUTE_MS);
        merchant.look();
        assert_eq!(merchant.starts(), 1 + 2 * round);
        if round == 1 {
            merchant.pass(24 * HOUR_MS);
        } else {
            // A person uses the nonce for another transaction.
            merchant.pass(6 * MINUTE_MS);
            let nobody = merchant.destination();
            merchant.send(ETH, &nobody, 1);
        }
        merchant.mine(FINAL + 1);
    }
    merchant.is_reviewed(
        &lost,
        &format!("transaction {txid} cannot be confirmed any more"),
    );
    merchant
        .act(&lost, &json!({ "action": "fail" }))
        .expect(200);
    merchant.was_told(&lost, "failed");
    let txids = next.each_ref().map(|sent| merchant.answered(sent));
    merchant.mine(1);
    merchant.are_seen(&next, &txids);
    merchant.mine(FINAL);
    merchant.are_paid(&next, &txids);
    assert_eq!(merchant.received(&lost), 0);
    merchant.is_right();
}

#[test]
fn arrival_for_an_approved_transfer_holds_the_signer() {
    let Some(mut merchant) = with_signer() else {
        return;
    };
    for (at, of) in [("payouts", USDC), ("refunds", ETH)]
        .into_iter()
        .enumerate()
    {
        let sent = merchant.approved(of, "hand");
        let arrived = merchant.send_it(&sent);
        merchant.look();
        let proposed = merchant.until(&sent, "approved", "waiting", "");
        assert_eq!(proposed["proposals"][0]["txid"], arrived);
        let given = json!({ "action": "reassign", "sentBy": "signer" });
        merchant.act(&sent, &given).expect(200);
        merchant.mine(FINAL);
        merchant.until(&sent, "approved", "waiting", "");
        assert_eq!(merchant.starts(), at);
        let dismissed = json!({ "action": "dismiss", "txid": arrived });
        merchant.act(&sent, &dismissed).expect(200);
        let txid = merchant.answered(&sent);
        assert_ne!(txid, arrived);
        merchant.mine(FINAL);
        merchant.is_paid(&sent, &txid);
        assert_eq!(merchant.received(&sent), 2 * sent.units);
    }
    merchant.is_right();
}
