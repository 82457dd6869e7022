//! Logs of a real contract on an anvil. A Tron node returns the same logs, but without the prefix `0x`.

use super::fixtures::{ONE, OTHER, TWO, payment_summaries, read_payments};
use crate::support::anvil::{ADDRESS, Node as Anvil, address_word};
use crate::support::tron::{Action, Node as Standin, PAYER, TOKEN, to_hex};
use coffer::domain::address::account_bytes;
use coffer::domain::asset::Chain;
use serde_json::Value;

/// Removes the `0x` from a hexadecimal value of anvil.
#[track_caller]
fn strip_hex_prefix(value: &Value) -> String {
    value.as_str().unwrap().trim_start_matches("0x").to_owned()
}

/// Returns the logs of a transaction. [`TOKEN`] replaces the address of the deployed token.
#[track_caller]
fn token_logs(anvil: &Anvil, txid: &Value) -> Vec<(String, Vec<String>, String)> {
    let receipt = anvil.wait_for_success(txid);
    let logs = receipt["logs"].as_array().unwrap().iter();
    let logs = logs.map(|log| {
        let topics = log["topics"].as_array().unwrap().iter().map(strip_hex_prefix);
        (to_hex(&TOKEN), topics.collect(), strip_hex_prefix(&log["data"]))
    });
    logs.collect()
}

#[test]
fn position_of_a_real_contract_log_is_its_index() {
    let Some(anvil) = Anvil::start(728_126_428, "logs of a real contract, for Tron") else {
        return;
    };
    let token = anvil.deploy_token();
    let to = |account: [u8; 20]| format!("0x{}", to_hex(&account));
    let number = |number: u128| format!("{number:064x}");
    let one = anvil.pay_token(&token, &to(ONE), 20_000_000);
    let words = [
        number(64),
        number(96 + 32 * 3),
        number(3),
        address_word(&to(OTHER)),
        address_word(&to(ONE)),
        address_word(&to(TWO)),
        number(3),
        number(1),
        number(2),
        number(3),
    ];
    let several = anvil.call_contract(&token, "batch(address[],uint256[])", &words, 0);
    let node = Standin::start();
    let sent = [&one, &several].map(|txid| {
        let call = Action::token_transfer(TOKEN, PAYER, ONE, 1);
        let Action::Call { from, contract, data, steps, .. } = call else {
            unreachable!("a token is called");
        };
        node.send(Action::Call { from, contract, data, logs: token_logs(&anvil, txid), steps })
    });
    node.mine(1);
    let from = account_bytes(Chain::Ethereum, ADDRESS).unwrap();
    let id = |at: usize| sent[at].clone();
    let asset = "USDT-TRC20";
    let expected = vec![
        (asset, id(0), 1, ONE, 20_000_000, from),
        (asset, id(1), 2, ONE, 2, from),
        (asset, id(1), 3, TWO, 3, from),
    ];
    let height = node.height();
    assert_eq!(payment_summaries(&read_payments(&node, height, height)), expected);
}
