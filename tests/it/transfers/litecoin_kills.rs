//! `kill -9` at every step of payouts and refunds on a real litecoind: each is sent once and reported once.

use super::litecoin_shop::{CONFIRMATIONS, Merchant, ROUNDS, Sender, Sent, node};
use crate::support::dice::Dice;
use crate::support::payer::SignedTransaction;
use serde_json::json;

/// Point at which the server is killed while a signer sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kill {
    /// After the signer sent, before it responds.
    Sent,
    /// While the signer responds.
    Answering,
    /// After the response was stored.
    Answered,
}

/// Kills the server and starts it again.
#[track_caller]
fn kill(merchant: &mut Merchant<'_>) {
    merchant.running.process.kill();
    merchant.start();
}

/// Sends by hand, with a kill after each step.
#[track_caller]
fn sent_by_hand(
    merchant: &mut Merchant<'_>,
    kind: &'static str,
    is_entered: bool,
) -> (Sent, SignedTransaction) {
    let sent = merchant.request((kind, Sender::Hand), None, None);
    kill(merchant);
    merchant.approve(&sent);
    kill(merchant);
    merchant.hand_over(&sent);
    kill(merchant);
    let made = merchant.payer.pay(&[(&sent.to, sent.units)]);
    if is_entered {
        merchant.enter(&sent, &made.txid);
    }
    (sent, made)
}

/// Sends by the signer, with a kill during its run.
#[track_caller]
fn sent_by_signer(
    merchant: &mut Merchant<'_>,
    kind: &'static str,
    at: Kill,
) -> (Sent, SignedTransaction) {
    let sent = merchant.request((kind, Sender::Signer), None, None);
    merchant.approve(&sent);
    merchant.hand_over(&sent);
    let made = merchant.payer.pay(&[(&sent.to, sent.units)]);
    let answer = format!(r#"{{"txid": "{}"}}"#, made.txid);
    match at {
        Kill::Sent => {
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
fn kill_anywhere(merchant: &mut Merchant<'_>, dice: &mut Dice) {
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
    is_sent_and_told_once(Merchant::open(&node));
}

#[test]
fn killed_server_with_electrum_sends_and_reports_a_transfer_once() {
    let Some(node) = node(&["-txindex=1"]) else {
        return;
    };
    let (merchant, _server) = Merchant::open_by_electrum(&node);
    is_sent_and_told_once(merchant);
}

#[track_caller]
fn is_sent_and_told_once(mut merchant: Merchant<'_>) {
    let mut dice = Dice::new(11);
    for at in [Kill::Sent, Kill::Answering, Kill::Answered] {
        for round in ROUNDS {
            let sent = round.map(|(kind, by)| match by {
                Sender::Hand => sent_by_hand(&mut merchant, kind, at == Kill::Answered),
                Sender::Signer => sent_by_signer(&mut merchant, kind, at),
            });
            kill_anywhere(&mut merchant, &mut dice);
            merchant.look();
            for (of, made) in &sent {
                let seen = merchant.until(of, ["processing", "seen"]);
                assert_eq!(seen["onChain"]["txid"], made.txid.as_str());
            }
            merchant.payer.mine(CONFIRMATIONS - 1);
            kill_anywhere(&mut merchant, &mut dice);
            merchant.mine(1);
            for (of, made) in &sent {
                merchant.is_paid(of, &made.txid);
            }
            kill_anywhere(&mut merchant, &mut dice);
            merchant.look();
            for (of, made) in &sent {
                merchant.is_paid(of, &made.txid);
                assert_eq!(merchant.starts(of), usize::from(of.by == Sender::Signer));
                let received = merchant.node.call("getreceivedbyaddress", json!([of.to]));
                assert_eq!(crate::support::payer::units(&received), of.units);
            }
        }
    }
    merchant.audited();
}
