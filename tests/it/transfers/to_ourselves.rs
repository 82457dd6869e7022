//! A transfer cannot pay a deposit address of the shop, and the destination of a transfer is never assigned as a
//! deposit address.

use crate::chain::till::TestnetShop;
use crate::operator::wallets::{EVM_XPUB, run_wallet_command};
use crate::support::anvil::Node;
use crate::support::audit_log::record_direct_writes;
use crate::support::installation::{Installation, RunningServer, approval_body};
use crate::support::surfpool::address_without_key;
use coffer::domain::WalletHints;
use coffer::domain::chain::Chain;
use coffer::domain::wallet::read;
use serde_json::{Value, json};

/// Derives the address of the wallet at an index.
fn wallet_address(index: u32) -> String {
    let wallet = read(Chain::Ethereum, EVM_XPUB, &WalletHints::default()).unwrap();
    wallet.receiving_branch().unwrap().derive_address(index).unwrap().address
}

/// Sets the payout address of a chain.
#[track_caller]
fn set_payout_address(
    served: &Installation,
    running: &RunningServer,
    chain: &str,
    to: &str,
) -> crate::support::Response {
    let path = format!("/dashboard/api/accounts/{}/payout-addresses/{chain}", served.account);
    running.operator_request("PUT", &path, &json!({ "address": to }))
}

#[test]
fn payout_address_cannot_be_a_next_wallet_address() {
    let served = Installation::new();
    let add = ["add", "evm", "--yes", "--next", "5"];
    run_wallet_command(&served.file, &add, EVM_XPUB).json_lines();
    let running = served.start(&[]);
    for chain in ["ethereum", "base"] {
        for index in [5, 6, 500, 1005] {
            let answer = set_payout_address(&served, &running, chain, &wallet_address(index));
            answer.assert_error(400, "invalid_request", Some("address"));
            assert!(
                answer.text.contains("is a deposit address of this service"),
                "{}",
                answer.text
            );
        }
        // Upper and lower case make no difference in these addresses.
        let small = wallet_address(7).to_ascii_lowercase();
        set_payout_address(&served, &running, chain, &small).assert_error(
            400,
            "invalid_request",
            Some("address"),
        );
        set_payout_address(&served, &running, chain, &wallet_address(1006)).expect(200);
    }
    // The range of reserved indexes moves with the next index of the wallet.
    served
        .open_file()
        .execute("update wallets set next_index = 6 where id is not null", [])
        .unwrap();
    set_payout_address(&served, &running, "ethereum", &wallet_address(1006)).assert_error(
        400,
        "invalid_request",
        Some("address"),
    );
}

#[test]
fn imported_addresses_and_destinations_are_disjoint() {
    let (served, running) = Installation::start_new(&[]);
    let (ours, theirs) = (
        "So11111111111111111111111111111111111111112",
        "4Nd1mYQZKXmxYkS8VqzuR8yGx1k9w5iP1zv2n7K8d3rT",
    );
    let import = |list: &[&str]| {
        let path = "/dashboard/api/pools/solana/addresses";
        running.operator_request("POST", path, &json!({ "addresses": list }))
    };
    import(&[ours]).expect(200);
    set_payout_address(&served, &running, "solana", ours).assert_error(
        400,
        "invalid_request",
        Some("address"),
    );
    set_payout_address(&served, &running, "solana", theirs).expect(200);
    let refused = import(&[&address_without_key(1), theirs]);
    refused.assert_error(400, "invalid_request", Some("addresses"));
    assert!(refused.text.contains("addresses[1]"), "{}", refused.text);
    let count = "select count(*) || '' from pool_addresses";
    served.wait_for_query_result(count, &["1"]);
}

#[test]
fn approval_checks_the_destination_again() {
    let (served, running) = Installation::start_new(&[]);
    // The address was set and the payout requested before the wallet was added.
    let id = served.request_payout_to(&running, ["ETH", "ethereum", &wallet_address(3)]);
    run_wallet_command(&served.file, &["add", "evm", "--yes"], EVM_XPUB).json_lines();
    let path = format!("/dashboard/api/payouts/{id}");
    let refused = running.operator_request("POST", &path, &approval_body());
    refused.assert_error(400, "invalid_request", Some("toAddress"));
    let reject = json!({ "action": "reject" });
    running.operator_request("POST", &path, &reject).expect(200);
    // The payout address is now invalid, so no further payout can be requested.
    let next = running.api_request("POST", "/v1/payouts", &json!({ "amount": "20.00" }));
    next.assert_error(400, "no_address", None);
}

#[test]
fn wallet_skips_a_payout_destination() {
    let Some(node) = Node::start(11_155_111, "skipping a payout destination") else {
        return;
    };
    let token = "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238";
    let till = TestnetShop::with_account_chain("ethereum", &node.url, "USDC-ERC20", token);
    // The test stores this payout address directly, as if it had been set when the wallet's next index was far lower.
    let conn = till.served.open_file();
    conn.execute(
        "insert into payout_addresses (account, chain, address, changed_at) values (1, 'base', ?1, 0)",
        [wallet_address(1)],
    )
    .unwrap();
    drop(conn);
    record_direct_writes(&till.served.file);
    let running = till.start();
    till.wait_for_rate("ethereum", "ETH");
    let given = |_: usize| till.create_invoice(&running, "ETH")["depositAddress"].clone();
    let addresses: Vec<Value> = (0..2).map(given).collect();
    assert_eq!(addresses, [json!(wallet_address(0)), json!(wallet_address(2))]);
    // An assigned deposit address is not a valid destination of a refund.
    let invoice = till.create_invoice(&running, "ETH");
    let path = format!("/dashboard/api/accounts/{}/refunds", till.served.account);
    let body = json!({ "invoice": invoice["id"], "asset": "ETH", "toAddress": wallet_address(0) });
    running.operator_request("POST", &path, &body).assert_error(
        400,
        "invalid_request",
        Some("toAddress"),
    );
    let audit = till.run_coffer(&["audit"]);
    assert!(audit.starts_with("nothing found"), "{audit}");
}
