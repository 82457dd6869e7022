//! Tests that kill the server at every step of payouts and refunds on a real litecoind. Each transfer is sent once
//! and reported once.

use super::litecoin_shop::{
    CONFIRMATIONS, LitecoinMerchant, LitecoinTransfer, ROUNDS, SentBy, start_node,
};
use crate::support::dice::Dice;
use crate::support::payer::SignedTransaction;
use serde_json::json;

/// Moment at which the server is killed while a signer sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KillPoint {
    /// After the signer sent the transaction, and before the signer responds.
    OnceSent,
    /// While the signer responds.
    WhileResponding,
    /// After the response was stored.
    OnceStored,
}

/// Kills the server and starts it again.
#[track_caller]
fn kill_and_restart(merchant: &mut LitecoinMerchant<'_>) {
    merchant.running.process.kill();
    merchant.start();
}

/// Sends a transfer by hand, and kills the server after each step.
#[track_caller]
fn send_by_hand(
    merchant: &mut LitecoinMerchant<'_>,
    kind: &'static str,
    is_entered: bool,
) -> (LitecoinTransfer, SignedTransaction) {
    let sent = merchant.request_transfer(kind, SentBy::Hand, None, None);
    kill_and_restart(merchant);
    merchant.approve(&sent);
    kill_and_restart(merchant);
    merchant.start_processing(&sent);
    kill_and_restart(merchant);
    let made = merchant.payer.pay(&[(&sent.to, sent.units)]);
    if is_entered {
        merchant.enter_txid(&sent, &made.txid);
    }
    (sent, made)
}

/// Sends a transfer by the signer, and kills the server at the given point.
#[track_caller]
fn send_by_signer(
    merchant: &mut LitecoinMerchant<'_>,
    kind: &'static str,
    at: KillPoint,
) -> (LitecoinTransfer, SignedTransaction) {
    let sent = merchant.request_transfer(kind, SentBy::Signer, None, None);
    merchant.approve(&sent);
    merchant.start_processing(&sent);
    let made = merchant.payer.pay(&[(&sent.to, sent.units)]);
    let answer = format!(r#"{{"txid": "{}"}}"#, made.txid);
    match at {
        KillPoint::OnceSent => {
            kill_and_restart(merchant);
            merchant.write_signer_response(&sent, &answer);
        }
        KillPoint::WhileResponding => {
            merchant.write_signer_response(&sent, &answer);
            kill_and_restart(merchant);
        }
        KillPoint::OnceStored => {
            merchant.enter_txid(&sent, &made.txid);
            kill_and_restart(merchant);
        }
    }
    (sent, made)
}

/// Starts the server and kills it at random moments.
#[track_caller]
fn kill_at_random_moments(merchant: &mut LitecoinMerchant<'_>, dice: &mut Dice) {
    for _ in 0..2 {
        kill_and_restart(merchant);
        for _ in 0..dice.roll(2_000) {
            std::thread::yield_now();
        }
    }
}

#[test]
fn killed_server_sends_and_reports_a_transfer_once() {
    let Some(node) = start_node(&[]) else { return };
    assert_sent_and_reported_once(LitecoinMerchant::open(&node));
}

#[test]
fn killed_server_with_electrum_sends_and_reports_a_transfer_once() {
    let Some(node) = start_node(&["-txindex=1"]) else {
        return;
    };
    let (merchant, _server) = LitecoinMerchant::open_with_electrum(&node);
    assert_sent_and_reported_once(merchant);
}

#[track_caller]
fn assert_sent_and_reported_once(mut merchant: LitecoinMerchant<'_>) {
    let mut dice = Dice::new(11);
    for at in [KillPoint::OnceSent, KillPoint::WhileResponding, KillPoint::OnceStored] {
        for round in ROUNDS {
            let sent = round.map(|(kind, by)| match by {
                SentBy::Hand => send_by_hand(&mut merchant, kind, at == KillPoint::OnceStored),
                SentBy::Signer => send_by_signer(&mut merchant, kind, at),
            });
            kill_at_random_moments(&mut merchant, &mut dice);
            merchant.restart_and_sync();
            for (of, made) in &sent {
                let seen = merchant.wait_for_state(of, ["processing", "seen"]);
                assert_eq!(seen["onChain"]["txid"], made.txid.as_str());
            }
            merchant.payer.mine(CONFIRMATIONS - 1);
            kill_at_random_moments(&mut merchant, &mut dice);
            merchant.mine_and_sync(1);
            for (of, made) in &sent {
                merchant.assert_paid(of, &made.txid);
            }
            kill_at_random_moments(&mut merchant, &mut dice);
            merchant.restart_and_sync();
            for (of, made) in &sent {
                merchant.assert_paid(of, &made.txid);
                assert_eq!(merchant.signer_start_count(of), usize::from(of.by == SentBy::Signer));
                let received = merchant.node.call("getreceivedbyaddress", json!([of.to]));
                assert_eq!(crate::support::payer::parse_units(&received), of.units);
            }
        }
    }
    merchant.till.served.assert_audit_clean();
}
