//! The server is killed at every step of payouts and refunds on a real litecoind: each is sent once and reported
//! once.

use super::litecoin_shop::{
    CONFIRMATIONS, LitecoinMerchant, LitecoinTransfer, ROUNDS, Sender, node,
};
use crate::support::dice::Dice;
use crate::support::payer::SignedTransaction;
use serde_json::json;

/// Moment at which the server is killed while a signer sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kill {
    /// After the signer sent the transaction, before it responds.
    LitecoinTransfer,
    /// While the signer responds.
    Answering,
    /// After the response was stored.
    Answered,
}

/// Kills the server and starts it again.
#[track_caller]
fn kill(merchant: &mut LitecoinMerchant<'_>) {
    merchant.running.process.kill();
    merchant.start();
}

/// Sends by hand, with a kill after each step.
#[track_caller]
fn send_by_hand(
    merchant: &mut LitecoinMerchant<'_>,
    kind: &'static str,
    is_entered: bool,
) -> (LitecoinTransfer, SignedTransaction) {
    let sent = merchant.request((kind, Sender::Hand), None, None);
    kill(merchant);
    merchant.approve(&sent);
    kill(merchant);
    merchant.start_processing(&sent);
    kill(merchant);
    let made = merchant.payer.pay(&[(&sent.to, sent.units)]);
    if is_entered {
        merchant.enter(&sent, &made.txid);
    }
    (sent, made)
}

/// Sends by the signer, with a kill during its run.
#[track_caller]
fn send_by_signer(
    merchant: &mut LitecoinMerchant<'_>,
    kind: &'static str,
    at: Kill,
) -> (LitecoinTransfer, SignedTransaction) {
    let sent = merchant.request((kind, Sender::Signer), None, None);
    merchant.approve(&sent);
    merchant.start_processing(&sent);
    let made = merchant.payer.pay(&[(&sent.to, sent.units)]);
    let answer = format!(r#"{{"txid": "{}"}}"#, made.txid);
    match at {
        Kill::LitecoinTransfer => {
            kill(merchant);
            merchant.answer(&sent, &answer);
        }
        Kill::Answering => {
            merchant.answer(&sent, &answer);
            kill(merchant);
        }
        Kill::Answered => {
            merchant.enter(&sent, &made.txid);
            kill(merchant);
        }
    }
    (sent, made)
}

/// Starts the server and kills it at random moments.
#[track_caller]
fn kill_anywhere(merchant: &mut LitecoinMerchant<'_>, dice: &mut Dice) {
    for _ in 0..2 {
        kill(merchant);
        for _ in 0..dice.roll(2_000) {
            std::thread::yield_now();
        }
    }
}

#[test]
fn killed_server_sends_and_reports_a_transfer_once() {
    let Some(node) = node(&[]) else { return };
    assert_sent_and_reported_once(LitecoinMerchant::open(&node));
}

#[test]
fn killed_server_with_electrum_sends_and_reports_a_transfer_once() {
    let Some(node) = node(&["-txindex=1"]) else {
        return;
    };
    let (merchant, _server) = LitecoinMerchant::open_by_electrum(&node);
    assert_sent_and_reported_once(merchant);
}

#[track_caller]
fn assert_sent_and_reported_once(mut merchant: LitecoinMerchant<'_>) {
    let mut dice = Dice::new(11);
    for at in [Kill::LitecoinTransfer, Kill::Answering, Kill::Answered] {
        for round in ROUNDS {
            let sent = round.map(|(kind, by)| match by {
                Sender::Hand => send_by_hand(&mut merchant, kind, at == Kill::Answered),
                Sender::Signer => send_by_signer(&mut merchant, kind, at),
            });
            kill_anywhere(&mut merchant, &mut dice);
            merchant.restart_and_read();
            for (of, made) in &sent {
                let seen = merchant.wait_until(of, ["processing", "seen"]);
                assert_eq!(seen["onChain"]["txid"], made.txid.as_str());
            }
            merchant.payer.mine(CONFIRMATIONS - 1);
            kill_anywhere(&mut merchant, &mut dice);
            merchant.mine(1);
            for (of, made) in &sent {
                merchant.assert_paid(of, &made.txid);
            }
            kill_anywhere(&mut merchant, &mut dice);
            merchant.restart_and_read();
            for (of, made) in &sent {
                merchant.assert_paid(of, &made.txid);
                assert_eq!(merchant.starts(of), usize::from(of.by == Sender::Signer));
                let received = merchant.node.call("getreceivedbyaddress", json!([of.to]));
                assert_eq!(crate::support::payer::units(&received), of.units);
            }
        }
    }
    merchant.audited();
}
