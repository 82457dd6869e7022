//! Payments on a real node: their coins, senders, positions and blocks.

use super::fixtures::{
    CHAINS, EvmScene, ONE, OTHER, TWO, WatchedAccounts, collect_payments, decode_account,
    evm_client, payment_summary,
};
use crate::support::anvil::{ADDRESS, Node as Anvil, address_word};
use coffer::chain::tokens::Tokens;
use coffer::chain::{Node, NodeError};
use coffer::domain::asset::Chain;
use coffer::domain::token::contract_address;
use coffer::domain::{Asset, Time};
use serde_json::json;

/// Signature of the token's function that pays several addresses at once.
const BATCH: &str = "batch(address[],uint256[])";

#[test]
fn coin_and_token_are_seen_at_one_address() {
    for (at, (chain, id, asset)) in CHAINS.into_iter().enumerate() {
        let Some(scene) = EvmScene::open(at) else {
            return;
        };
        let (anvil, mut node) = (&scene.anvil, scene.client());
        assert_eq!(node.network(), Ok(id.to_string()));
        let before = anvil.height();
        let coin = anvil.pay(&ONE.to_lowercase(), 7);
        let token = anvil.pay_token(&scene.token, ONE, 1_500_000);
        let head = node.head().unwrap();
        assert_eq!(head.block.height, before + 2);
        let blocks = node.blocks(before + 1, before + 2, &scene.ours).unwrap();
        assert_eq!(blocks.len(), 2, "{chain}");
        assert_eq!(blocks[1].parent, blocks[0].block.hash);
        assert_eq!((&blocks[1].block, blocks[1].time), (&head.block, head.time));
        let parent = node.block_hash_at(before).unwrap();
        assert_eq!(parent.as_deref(), Some(blocks[0].parent.as_str()));
        assert!(blocks.iter().all(|block| block.spent.is_empty()));
        let came: Vec<_> =
            blocks.iter().flat_map(|block| &block.received).map(payment_summary).collect();
        let token = (asset, token.as_str().unwrap(), 1, ONE, 1_500_000, ADDRESS);
        if chain == Chain::Ethereum {
            let coin = ("ETH", coin.as_str().unwrap(), 0, ONE, 7, ADDRESS);
            assert_eq!(came, [coin, token]);
            assert_eq!(node.has_traces(), Some(true));
        } else {
            // On chains other than Ethereum, the shop does not accept the native coin, so only the token payment is
            // detected.
            assert_eq!(came, [token], "{chain}");
            assert_eq!(node.has_traces(), None);
        }
    }
}

#[test]
fn main_network_accepts_only_the_issuers_token_contract() {
    let Some(anvil) = Anvil::start(1, "contracts of the main network") else {
        return;
    };
    let token = anvil.deploy_token();
    let usdt = Asset::find("USDT-ERC20").and_then(|asset| contract_address(asset, "1")).unwrap();
    let code = anvil.call_rpc("eth_getCode", json!([token, "latest"]));
    anvil.call_rpc("anvil_setCode", json!([usdt, code]));
    let txid = anvil.call_contract(
        usdt,
        "claim(address,uint256)",
        &[address_word(ONE), format!("{:064x}", 5)],
        0,
    );
    anvil.pay_token(&token, ONE, 9);
    let mut node = evm_client(Chain::Ethereum, &anvil.url, Tokens::new());
    assert_eq!(node.network(), Ok("1".to_owned()));
    let blocks = node.blocks(1, anvil.height(), &WatchedAccounts::from_addresses(&[ONE])).unwrap();
    let blocks = collect_payments(blocks);
    let came: Vec<_> = blocks.iter().map(payment_summary).collect();
    let expected = ("USDT-ERC20", txid.as_str().unwrap(), 1, ONE, 5, ADDRESS);
    assert_eq!(came, [expected]);

    let tokens = Tokens::from([("USDC-ERC20", token.clone())]);
    let mut node = evm_client(Chain::Ethereum, &anvil.url, tokens);
    let refused = "it is of the main network, on which no setting says where USDC-ERC20 is";
    let refused = NodeError::Wrong(refused.to_owned());
    assert_eq!(node.network(), Err(refused.clone()));
    assert_eq!(node.head(), Err(refused));
}

#[test]
fn foreign_and_failed_transfers_are_ignored() {
    let Some(scene) = EvmScene::open(0) else {
        return;
    };
    let anvil = &scene.anvil;
    let unlisted = anvil.deploy_token();
    let before = anvil.height();
    anvil.pay(OTHER, 1);
    anvil.pay(ONE, 0);
    anvil.pay_token(&scene.token, OTHER, 1);
    anvil.pay_token(&scene.token, TWO, 0);
    anvil.pay_token(&unlisted, ONE, 1_000_000);
    let failed = anvil.call_contract(
        &scene.token,
        "fail(address,uint256)",
        &[address_word(ONE), format!("{:064x}", 3)],
        0,
    );
    // This payment fails, because the sender has too few tokens.
    let poor = anvil.pay_token(&scene.token, ONE, 2_000_000_000);
    for txid in [&failed, &poor] {
        let receipt = anvil.wait_for_receipt(txid);
        assert_eq!((&receipt["status"], &receipt["logs"]), (&json!("0x0"), &json!([])));
    }
    // The token contract rejects coins, so the transaction fails and its value returns to the sender.
    let address = decode_account(&scene.token);
    let refused = anvil.pay(&scene.token, 5);
    assert_eq!(anvil.wait_for_receipt(&refused)["status"], "0x0");
    assert_eq!(scene.payments_from(before + 1), []);
    let blocks = scene.client().blocks(before + 1, anvil.height(), &WatchedAccounts(vec![address]));
    assert_eq!(collect_payments(blocks.unwrap()), []);
}

#[test]
fn amount_above_the_maximum_is_skipped() {
    let Some(scene) = EvmScene::open(0) else {
        return;
    };
    let anvil = &scene.anvil;
    let before = anvil.height();
    let claim = |words: &str| {
        let words = [address_word(ONE), words.to_owned()];
        anvil.call_contract(&scene.token, "claim(address,uint256)", &words, 0)
    };
    claim(&"f".repeat(64));
    claim(&format!("{:0>64}", format!("1{}", "0".repeat(32))));
    let most = claim(&format!("{:0>64}", "f".repeat(32)));
    let came = scene.payments_from(before + 1);
    let came: Vec<_> = came.iter().map(payment_summary).collect();
    let most = (scene.asset, most.as_str().unwrap(), 1, ONE, u128::MAX, ADDRESS);
    assert_eq!(came, [most]);
}

#[test]
fn position_is_the_log_index_within_its_transaction() {
    let Some(scene) = EvmScene::open(0) else {
        return;
    };
    let anvil = &scene.anvil;
    let before = anvil.height();
    // Arguments of the call: offsets of the lists, their lengths, and their items. The recipients are a foreign
    // address, `ONE`, `TWO`, and `ONE` again.
    let number = |number: u128| format!("{number:064x}");
    let to = [OTHER, ONE, TWO, ONE].map(address_word);
    let values = [1, 20, 300, 4000].map(number);
    let head = [64, 224, 4].map(number);
    let words = [head.as_slice(), &to, &[number(4)], &values].concat();
    let (first, second) = anvil.mine_in_one_block(|| {
        let first = anvil.pay_token(&scene.token, ONE, 5);
        (first, anvil.call_contract(&scene.token, BATCH, &words, 0))
    });
    assert_eq!(anvil.height(), before + 1);
    let logs = &anvil.wait_for_success(&second)["logs"];
    assert_eq!(logs[1]["logIndex"], "0x2", "log indexes count over the block: {logs}");
    let came = scene.payments_from(before + 1);
    let came: Vec<_> = came.iter().map(payment_summary).collect();
    let (asset, first, second) = (scene.asset, first.as_str().unwrap(), second.as_str().unwrap());
    let expected = [
        (asset, first, 1, ONE, 5, ADDRESS),
        (asset, second, 2, ONE, 20, ADDRESS),
        (asset, second, 3, TWO, 300, ADDRESS),
        (asset, second, 4, ONE, 4000, ADDRESS),
    ];
    assert_eq!(came, expected);
}

#[test]
fn positions_do_not_depend_on_the_block() {
    let Some(scene) = EvmScene::open(0) else {
        return;
    };
    let (anvil, mut node) = (&scene.anvil, scene.client());
    let before = anvil.height();
    let (coin, token) =
        anvil.mine_in_one_block(|| (anvil.pay(ONE, 3), anvil.pay_token(&scene.token, TWO, 4)));
    let once = scene.read_blocks(before + 1, before + 1);
    let hash = &once[0].block.hash;
    assert_eq!(once[0].received.len(), 2);
    for txid in [&coin, &token] {
        let block = node.block_of_transaction(txid.as_str().unwrap()).unwrap();
        assert_eq!(block.as_ref(), Some(&once[0].block));
    }
    let kept =
        [&coin, &token].map(|txid| anvil.call_rpc("eth_getRawTransactionByHash", json!([txid])));

    // A reorg replaces the block by a block without these transactions.
    anvil.call_rpc("anvil_reorg", json!([1, []]));
    assert_eq!(anvil.height(), before + 1);
    assert_ne!(node.block_hash_at(before + 1).unwrap().as_ref(), Some(hash));
    assert_eq!(scene.payments_from(before + 1), []);
    for txid in [&coin, &token] {
        assert_eq!(node.block_of_transaction(txid.as_str().unwrap()), Ok(None));
    }

    // The transactions are confirmed again, each in a separate block.
    for raw in kept {
        let txid = anvil.call_rpc("eth_sendRawTransaction", json!([raw]));
        anvil.wait_for_success(&txid);
    }
    let again = collect_payments(scene.read_blocks(before + 2, anvil.height()));
    assert_eq!(again, once[0].received);
    let block = node.block_of_transaction(token.as_str().unwrap()).unwrap();
    assert_eq!(block.map(|block| block.height), Some(before + 3));
}

#[test]
fn head_reports_the_final_block() {
    let Some(scene) = EvmScene::open(1) else {
        return;
    };
    let mut node = scene.client();
    assert_eq!(node.head().unwrap().finalized, Some(0));
    scene.anvil.mine(20);
    let head = node.head().unwrap();
    let height = scene.anvil.height();
    assert_eq!((head.block.height, head.finalized), (height, Some(height - 8)));
    assert!(head.is_complete && head.time > Time(1_700_000_000_000));
    assert_eq!(node.block_hash_at(height + 1), Ok(None));
    assert_eq!(node.blocks(height, height + 1, &scene.ours), Err(NodeError::Behind));
    assert_eq!(node.blocks(height + 1, height, &scene.ours), Ok(Vec::new()));
    for nothing in ["", "0x", "nonsense", &format!("0x{}", "1".repeat(64))] {
        assert_eq!(node.block_of_transaction(nothing), Ok(None), "{nothing}");
    }
}

#[test]
fn watching_more_accounts_finds_the_same_payments() {
    for at in 0..2 {
        let Some(scene) = EvmScene::open(at) else {
            return;
        };
        let anvil = &scene.anvil;
        let before = anvil.height();
        for units in 1..=4 {
            anvil.pay_token(&scene.token, [OTHER, ONE][usize::from(units % 2 == 0)], units);
            anvil.pay(TWO, units);
        }
        let few = scene.read_blocks(before + 1, anvil.height());
        let many = WatchedAccounts::with_extra_accounts(&[ONE, TWO], 1000);
        let many = scene.client().blocks(before + 1, anvil.height(), &many).unwrap();
        let count = if at == 0 { 2 + 4 } else { 2 };
        assert_eq!(collect_payments(few.clone()).len(), count);
        assert_eq!(many, few);
        let none = scene.client().blocks(before + 1, anvil.height(), &WatchedAccounts(Vec::new()));
        assert_eq!(collect_payments(none.unwrap()), []);
    }
}
