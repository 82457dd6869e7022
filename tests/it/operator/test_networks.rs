//! A server with test networks: transfers go to addresses of the followed network, and every page shows TEST.

use crate::support::installation::{Installation, RunningServer};
use crate::support::{Response, agent, send};
use serde_json::json;

const MAINNET_ADDRESS: &str = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq";
const TESTNET_ADDRESS: &str = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";
const REGTEST_ADDRESS: &str = "bcrt1q6rz28mcfaxtmd6v789l9rrlrusdprr9pz3cppk";
const TESTNET_P2PKH: &str = "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn";
const EVM_ADDRESS: &str = "0x8ba1f109551bD432803012645Ac136ddd64DBA72";

/// Sets up a server file with chain cursors: bitcoin on this network, and `base` on its test network.
fn installation_following(network: &str) -> Installation {
    let served = Installation::new();
    let cursor = format!(
        "insert into chain_cursors (chain, network, height, hash, time, complete_height, complete_hash, head_height,
            head_time, stepped_at)
          values ('bitcoin', '{network}', 9, 'h', 0, 9, 'h', 9, 0, 0), ('base', '84532', 9, 'h', 0, 9, 'h', 9, 0, 0);
        insert into chain_blocks (chain, height, hash) values ('bitcoin', 9, 'h'), ('base', 9, 'h')"
    );
    served.open_file().execute_batch(&cursor).unwrap();
    served
}

fn put_payout_address(
    served: &Installation,
    running: &RunningServer,
    chain: &str,
    address: &str,
) -> Response {
    let path = format!("/dashboard/api/accounts/{}/payout-addresses/{chain}", served.account);
    running.operator_request("PUT", &path, &json!({ "address": address }))
}

#[test]
fn transfers_go_to_the_followed_network() {
    for (network, taken, refused) in [
        ("regtest", &[REGTEST_ADDRESS, TESTNET_P2PKH][..], &[MAINNET_ADDRESS, TESTNET_ADDRESS][..]),
        ("testnet4", &[TESTNET_ADDRESS, TESTNET_P2PKH], &[MAINNET_ADDRESS, REGTEST_ADDRESS]),
        ("main", &[MAINNET_ADDRESS], &[TESTNET_ADDRESS, REGTEST_ADDRESS, TESTNET_P2PKH]),
    ] {
        let served = installation_following(network);
        let running = served.start(&["--test-networks"]);
        let body = json!({ "amount": "20.00", "currency": "EUR" });
        let invoice = running.api_request("POST", "/v1/invoices", &body).expect(201).json();
        let refund = |address: &str| {
            let body = json!({ "invoice": invoice["id"], "asset": "BTC", "toAddress": address });
            let path = format!("/dashboard/api/accounts/{}/refunds", served.account);
            running.operator_request("POST", &path, &body)
        };
        for address in taken {
            put_payout_address(&served, &running, "bitcoin", address).expect(200);
            // The address is accepted, but the refund fails because nothing was paid.
            refund(address).assert_error(400, "invoice_not_refundable", None);
        }
        for address in refused {
            let put = put_payout_address(&served, &running, "bitcoin", address);
            put.assert_error(400, "invalid_request", Some("address"));
            refund(address).assert_error(400, "invalid_request", Some("toAddress"));
        }
        // The server accepts an address that is the same on all networks, and an address of a chain that it never
        // followed.
        put_payout_address(&served, &running, "base", EVM_ADDRESS).expect(200);
        let address = "rltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9puuzgkg";
        put_payout_address(&served, &running, "litecoin", address).expect(200);
        let page = send(&agent(), "GET", invoice["checkoutUrl"].as_str().unwrap(), &[], "");
        assert!(page.expect(200).text.contains("TEST"));
    }
}

#[test]
fn payout_to_address_of_another_network_is_rejected() {
    let served = installation_following("regtest");
    for (address, settings, problem) in [
        (MAINNET_ADDRESS, &["--test-networks"][..], Some("is not an address on bitcoin")),
        (REGTEST_ADDRESS, &["--test-networks"], None),
        (REGTEST_ADDRESS, &[], Some("is not an address on bitcoin")),
    ] {
        served
            .open_file()
            .execute_batch(&format!(
                "insert or replace into payout_addresses (account, chain, address, changed_at)
                   values (1, 'bitcoin', '{address}', 0);
                 update accounts set payout_asset = 'BTC'"
            ))
            .unwrap();
        let running = served.start(settings);
        let asked = running.api_request("POST", "/v1/payouts", &json!({ "amount": "20.00" }));
        match problem {
            Some(problem) => {
                asked.assert_error(400, "no_address", None);
                assert!(asked.text.contains(problem), "{}", asked.text);
            }
            // The request fails because of another check, not because of the address.
            None => assert!(!asked.text.contains("address"), "{}", asked.text),
        }
    }
}
