//! Bad answers and another certificate of a server with TLS lose no payment.

use super::refused::{SEEN, assert_books_match, chain_view, new_address, pay_during_bad_answers};
use super::{start_electrumx, start_shop};
use crate::support::electrum_proxy::{BadAnswer, ElectrumProxy};
use crate::support::polling;
use crate::support::tls_relay::TlsRelay;

#[test]
fn bad_answers_and_another_certificate_of_a_pinned_server_lose_no_payment() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    let relay = TlsRelay::start(liar.port(), 0);
    let (till, mut running, _) = start_shop(&relay.electrum_url());
    let cases = ["blockchain.scripthash.get_history", "blockchain.transaction.get"]
        .into_iter()
        .flat_map(|method| BadAnswer::ALL.map(|bad| (method, bad)));
    let wait = |about: &str, _| {
        assert!(polling::wait_until(|| liar.fault_count() >= 1), "{about}");
    };
    let mut paid = pay_during_bad_answers(&till, &running, &node, &liar, 1, cases, wait);
    // Another server answers at the port.
    let (port, pin) = (relay.port, relay.pin.clone());
    drop(relay);
    let other = TlsRelay::start(liar.port(), port);
    let to = new_address(&till, &running);
    node.pay(&to, "0.25");
    paid.push(to);
    let names_both = || {
        let problem = chain_view(&running)["problem"].as_str().unwrap_or_default().to_owned();
        problem.contains(&pin) && problem.contains(&other.pin)
    };
    assert!(polling::wait_until(names_both), "{}", chain_view(&running));
    till.served.wait_for_query_result(SEEN, &[&(paid.len() - 1).to_string()]);
    drop(other);
    assert!(running.process.close_input_and_wait());
    // The operator compares the new fingerprint, and pins it.
    let other = TlsRelay::start(liar.port(), 0);
    let mut till = till;
    till.replace_node(&format!("litecoin={}", other.electrum_url()));
    running = till.start();
    till.served.wait_for_query_result(SEEN, &[&paid.len().to_string()]);
    assert_books_match(&till, &node, &paid.iter().collect::<Vec<_>>());
    assert!(running.process.close_input_and_wait());
}
