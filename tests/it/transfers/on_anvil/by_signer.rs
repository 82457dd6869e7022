//! Transfers sent by the signer for Ethereum.

use super::{ETH, EthMerchant, EthTransfer, FINAL, HOUR_MS, MINUTE_MS, USDC};
use crate::process::deploy::signer::{CHAIN_ID, Signer};
use crate::support::anvil::Node;
use crate::support::installation::program_start_count;
use crate::support::polling;
use crate::transfers::signer::{signer_start_count, waiting_signer, write_signer_response};
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;

const UNTESTED: &str = "payouts and refunds that the signer sends on ethereum";

/// Opens a shop whose signer records each start and waits until its gate file can be read. Returns `None` if the
/// machine lacks anvil or the signer.
#[track_caller]
pub(super) fn open_with_signer() -> Option<EthMerchant> {
    let node = Node::start(CHAIN_ID, UNTESTED)?;
    let url = node.url.clone();
    let mut has_signer = true;
    let mut merchant = EthMerchant::open_with_node(node, &url, |till, token| {
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
        vec!["--signer".to_owned(), till.served.write_program("signer", &script)]
    });
    merchant.sent_by = "signer";
    has_signer.then_some(merchant)
}

/// Opens a shop whose signer waits for the response that a test writes; `None` where the machine has no anvil.
#[track_caller]
pub(super) fn open_with_scripted_signer(untested: &str) -> Option<EthMerchant> {
    let node = Node::start(CHAIN_ID, untested)?;
    let url = node.url.clone();
    let mut merchant = EthMerchant::open_with_node(node, &url, |till, _| {
        vec!["--signer".to_owned(), waiting_signer(&till.served)]
    });
    merchant.sent_by = "signer";
    Some(merchant)
}

impl EthMerchant {
    /// Creates a transfer in processing, for which the signer of [`open_with_scripted_signer`] runs.
    #[track_caller]
    pub(super) fn new_transfer_with_running_signer(
        &mut self,
        kind: &str,
        asset: &'static str,
    ) -> EthTransfer {
        let sent = self.approved_transfer(kind, asset, self.sent_by);
        self.start_processing(&sent);
        sent
    }

    /// Starts to process an approved transfer by hand, or waits until the signer of [`open_with_scripted_signer`] runs.
    #[track_caller]
    pub(super) fn start_processing(&self, of: &EthTransfer) {
        if self.sent_by == "hand" {
            self.apply_action(of, &json!({ "action": "process" })).expect(200);
        } else {
            assert!(polling::wait_until(|| self.signer_start_count_for(of) == 1));
        }
    }

    /// Enters a transaction id by hand, or as the response of the signer of [`open_with_scripted_signer`].
    #[track_caller]
    pub(super) fn attach_txid(&self, of: &EthTransfer, txid: &str) {
        if self.sent_by == "hand" {
            return self.enter_txid(of, txid);
        }
        self.write_signer_response(of, &json!({ "txid": txid }).to_string());
        assert_eq!(self.wait_for_signer_txid(of), txid);
    }

    /// Writes the response of the signer of [`open_with_scripted_signer`].
    #[track_caller]
    pub(super) fn write_signer_response(&self, of: &EthTransfer, text: &str) {
        write_signer_response(&self.till.served, &of.id, text);
    }

    /// Counts the starts of the signer of [`open_with_scripted_signer`] for a transfer.
    pub(super) fn signer_start_count_for(&self, of: &EthTransfer) -> usize {
        signer_start_count(&self.till.served, &of.id)
    }

    /// Waits until the signer has responded, and returns the transaction id.
    #[track_caller]
    pub(super) fn wait_for_signer_txid(&self, of: &EthTransfer) -> String {
        let txid = format!("select ifnull(txid, '') from transfers where id = '{}'", of.id);
        let mut found = String::new();
        let is_there = polling::wait_until(|| {
            found = self.till.served.open_file().query_row(&txid, [], |row| row.get(0)).unwrap();
            !found.is_empty()
        });
        assert!(is_there, "{:#}", self.read_transfer(of));
        found
    }

    /// Returns the balance of the transfer's destination, in base units of the transfer's coin.
    #[track_caller]
    pub(super) fn destination_balance(&self, of: &EthTransfer) -> u128 {
        if of.asset == ETH {
            self.node.balance(&of.to)
        } else {
            self.node.token_balance(&self.token, &of.to)
        }
    }

    fn gate_path(&self) -> PathBuf {
        self.till.served.path("gate")
    }

    /// Waits until the signer was started this number of times and has exited.
    #[track_caller]
    fn wait_until_signer_ran(&self, starts: usize) {
        assert!(polling::wait_until(|| self.signer_start_count() == starts));
        let running = "select count(*) || '' from transfers where sending = 'running'";
        self.till.served.wait_for_query_result(running, &["0"]);
    }

    /// Returns how often the signer was started.
    pub(super) fn signer_start_count(&self) -> usize {
        program_start_count(&self.till.served.path("noted"))
    }
}

#[test]
fn kill_after_each_step_does_not_repeat_the_signer() {
    let Some(mut merchant) = open_with_signer() else {
        return;
    };
    let mut starts = 0;
    for kinds in [[("payouts", ETH), ("refunds", USDC)], [("payouts", USDC), ("refunds", ETH)]] {
        let sent = merchant.node.transaction_count();
        let both = kinds.map(|(kind, asset)| merchant.approved_transfer(kind, asset, "signer"));
        let txids = both.each_ref().map(|sent| merchant.wait_for_signer_txid(sent));
        merchant.restart_and_sync();
        merchant.assert_all_seen(&both, &txids);
        merchant.mine_and_sync(5);
        merchant.assert_all_seen(&both, &txids);
        for _ in 0..2 {
            merchant.mine_and_sync(FINAL);
            merchant.assert_all_paid(&both, &txids);
        }
        starts += 2;
        assert_eq!(
            (merchant.node.transaction_count(), merchant.signer_start_count()),
            (sent + 2, starts)
        );
        for sent in &both {
            assert_eq!(merchant.destination_balance(sent), sent.units);
        }
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn signer_that_outlives_the_server_is_not_run_again() {
    let Some(mut merchant) = open_with_signer() else {
        return;
    };
    for (at, (kind, asset)) in [("payouts", USDC), ("refunds", ETH)].into_iter().enumerate() {
        let before = merchant.node.transaction_count();
        std::fs::remove_file(merchant.gate_path()).unwrap();
        let made = Command::new("mkfifo").arg(merchant.gate_path()).status();
        assert!(made.unwrap().success());
        let sent = merchant.approved_transfer(kind, asset, "signer");
        assert!(polling::wait_until(|| merchant.signer_start_count() > at));
        merchant.restart_and_sync();
        merchant.wait_for_review(&sent, "nobody knows whether the signer sent it");
        std::fs::write(merchant.gate_path(), "").unwrap();
        assert!(polling::wait_until(|| merchant.node.transaction_count() > before));
        std::fs::remove_file(merchant.gate_path()).unwrap();
        std::fs::write(merchant.gate_path(), "").unwrap();
        merchant.mine_and_sync(FINAL);
        // The transaction is found by its exact amount.
        let paid = merchant.wait_for_state(&sent, "paid", "settled", "");
        let txid = paid["txid"].as_str().unwrap();
        merchant.assert_paid(&sent, txid);
        assert_eq!(
            (merchant.node.transaction_count(), merchant.signer_start_count()),
            (before + 1, at + 1)
        );
        assert_eq!(merchant.destination_balance(&sent), sent.units);
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn lost_signer_transaction_fails_no_later_transfer() {
    let Some(mut merchant) = open_with_signer() else {
        return;
    };
    merchant.node.set_mining_paused(true);
    let lost = merchant.approved_transfer("payouts", ETH, "signer");
    let txid = merchant.wait_for_signer_txid(&lost);
    merchant.restart_and_sync();
    merchant.assert_seen(&lost, &txid);
    merchant.node.call_rpc("anvil_dropAllTransactions", json!([]));
    let next = [USDC, ETH].map(|asset| merchant.approved_transfer("refunds", asset, "signer"));
    let problem = "tries again every 10 minutes: the node does not know an earlier transaction";
    for (round, state) in [(1, "waiting"), (2, "needs_review")] {
        for sent in &next {
            merchant.wait_for_state(sent, "processing", state, problem);
        }
        merchant.wait_for_state(&lost, "processing", state, "");
        merchant.wait_until_signer_ran(1 + 2 * round);
        merchant.advance_ms(5 * MINUTE_MS);
        merchant.restart_and_sync();
        assert_eq!(merchant.signer_start_count(), 1 + 2 * round);
        if round == 1 {
            merchant.advance_ms(24 * HOUR_MS);
        } else {
            // An operator uses the nonce of the lost transaction for another transaction.
            merchant.advance_ms(6 * MINUTE_MS);
            let nobody = merchant.new_destination();
            merchant.send_coin(ETH, &nobody, 1);
        }
        merchant.mine_and_sync(FINAL + 1);
    }
    merchant.wait_for_review(&lost, &format!("transaction {txid} cannot be confirmed any more"));
    merchant.apply_action(&lost, &json!({ "action": "fail" })).expect(200);
    merchant.assert_only_event(&lost, "failed");
    let txids = next.each_ref().map(|sent| merchant.wait_for_signer_txid(sent));
    merchant.mine_and_sync(1);
    merchant.assert_all_seen(&next, &txids);
    merchant.mine_and_sync(FINAL);
    merchant.assert_all_paid(&next, &txids);
    assert_eq!(merchant.destination_balance(&lost), 0);
    merchant.till.served.assert_audit_clean();
}

#[test]
fn payment_of_an_approved_transfer_holds_the_signer() {
    let Some(mut merchant) = open_with_signer() else {
        return;
    };
    for (at, (kind, asset)) in [("payouts", USDC), ("refunds", ETH)].into_iter().enumerate() {
        let sent = merchant.approved_transfer(kind, asset, "hand");
        let arrived = merchant.send_transfer_amount(&sent);
        merchant.restart_and_sync();
        let exactly = "pays exactly the amount";
        let proposed = merchant.wait_for_state(&sent, "approved", "needs_review", exactly);
        assert_eq!(proposed["proposals"][0]["txid"], arrived);
        let given = json!({ "action": "reassign", "sentBy": "signer" });
        merchant.apply_action(&sent, &given).expect(200);
        merchant.mine_and_sync(FINAL);
        merchant.wait_for_state(&sent, "approved", "needs_review", exactly);
        assert_eq!(merchant.signer_start_count(), at);
        let dismissed = json!({ "action": "dismiss", "txid": arrived });
        merchant.apply_action(&sent, &dismissed).expect(200);
        let txid = merchant.wait_for_signer_txid(&sent);
        assert_ne!(txid, arrived);
        merchant.mine_and_sync(FINAL);
        merchant.assert_paid(&sent, &txid);
        assert_eq!(merchant.destination_balance(&sent), 2 * sent.units);
    }
    merchant.till.served.assert_audit_clean();
}
