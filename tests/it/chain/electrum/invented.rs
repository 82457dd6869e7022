//! A server invents an unsigned transaction that spends the input of a real payment. The payment is never dropped.

use super::{start_electrumx, start_shop};
use crate::chain::till::TestnetShop;
use crate::support::electrum_proxy::{ElectrumFault, ElectrumProxy};
use crate::support::litecoind::Litecoind;
use crate::support::polling;
use serde_json::{Value, json};

/// A signed payment that is not sent yet, and an unsigned transaction that spends the same output.
struct Payment {
    signed: String,
    txid: String,
    invention: ElectrumFault,
    invented: String,
}

impl Payment {
    #[track_caller]
    fn create(node: &Litecoind, to: &str) -> Payment {
        let unspent = node.call("listunspent", json!([1]));
        let coin = &unspent[0];
        let inputs = json!([{ "txid": coin["txid"], "vout": coin["vout"] }]);
        let own = node.new_address("bech32");
        let raw = |amount: &str| {
            let all: f64 = coin["amount"].to_string().parse().unwrap();
            let paid: f64 = amount.parse().unwrap();
            let change = format!("{:.8}", all - paid - 0.001);
            let raw =
                node.call("createrawtransaction", json!([inputs, { to: amount, &own: change }]));
            raw.as_str().unwrap().to_owned()
        };
        let txid = |raw: &str| {
            let read = node.call("decoderawtransaction", json!([raw]));
            read["txid"].as_str().unwrap().to_owned()
        };
        let (real, unsigned) = (raw("0.25"), raw("0.26"));
        let signed = node.call("signrawtransactionwithwallet", json!([real]));
        let signed = signed["hex"].as_str().unwrap().to_owned();
        let (txid, invented) = (txid(&signed), txid(&unsigned));
        let invention =
            ElectrumFault::Replaces { real: txid.clone(), by: invented.clone(), raw: unsigned };
        Payment { signed, txid, invention, invented }
    }
}

/// Asserts that the payment was never dropped, and that the invented transaction is not known.
#[track_caller]
fn assert_never_dropped(till: &TestnetShop, payment: &Payment) {
    let known =
        format!("select count(*) || '' from observations where txid = '{}'", payment.invented);
    till.served.wait_for_query_result(&known, &["0"]);
    let failed = "select count(*) || '' from events where type = 'invoice.failed'";
    till.served.wait_for_query_result(failed, &["0"]);
    till.served.assert_audit_clean();
}

/// Plays the invention behind these servers. The proxy lies about a payment before it was seen, and after that.
#[track_caller]
fn play(node: &Litecoind, liar: &ElectrumProxy, urls: &str, lies_at_first: bool) {
    let (till, mut running, to) = start_shop(urls);
    let payment = Payment::create(node, &to);
    let state = format!("select state from observations where txid = '{}'", payment.txid);
    if lies_at_first {
        liar.inject(payment.invention.clone());
    }
    node.call("sendrawtransaction", json!([payment.signed]));
    if !lies_at_first {
        till.served.wait_for_query_result(&state, &["seen"]);
        liar.inject(payment.invention.clone());
        // Another payment to the address makes the shop read its history again.
        node.pay(&to, "0.01");
    }
    assert!(polling::wait_until(|| liar.fault_count() >= 2));
    till.served.wait_for_query_result(&state, &["seen"]);
    node.mine(12);
    till.served.wait_for_query_result(&state, &["confirmed"]);
    liar.inject(ElectrumFault::None);
    running.operator_request("GET", "/readyz", &Value::Null).expect(200);
    assert!(running.process.close_input_and_wait());
    assert_never_dropped(&till, &payment);
}

#[test]
fn unsigned_spend_that_one_of_two_servers_invents_drops_no_payment() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    for lies_at_first in [true, false] {
        let liar = ElectrumProxy::start(server.port);
        let (honest, lying) = (server.url(), liar.url());
        play(&node, &liar, &format!("{lying},{honest}"), lies_at_first);
        let liar = ElectrumProxy::start(server.port);
        play(&node, &liar, &format!("{honest},{}", liar.url()), lies_at_first);
    }
}

#[test]
fn unsigned_spend_that_the_only_server_invents_drops_no_payment() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    play(&node, &liar, &liar.url(), false);
}
