//! Addresses that no wallet has, and addresses that may belong to another chain, are not destinations: neither when
//! they are set nor at the approval.

use crate::support::command::coffer_output_with_input;
use crate::support::installation::{Installation, approval_body};
use crate::support::surfpool::address_without_key;
use crate::support::{LIVE, Response, Shop};
use coffer::domain::Asset;
use coffer::domain::asset::ASSETS;
use coffer::domain::chain::Chain;
use coffer::domain::token::CONTRACTS;
use serde_json::{Value, json};

/// Burn address of EVM chains, and the first and the last precompiled contract.
const UNUSABLE_EVM: [&str; 4] = [
    "0x000000000000000000000000000000000000dEaD",
    "0x000000000000000000000000000000000000dead",
    "0x0000000000000000000000000000000000000001",
    "0x0000000000000000000000000000000000000009",
];
/// Programs of Solana: token, Token-2022, associated token and system.
const UNUSABLE_SOLANA: [&str; 4] = [
    "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
    "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
    "11111111111111111111111111111111",
];
/// Zero address of Tron.
const UNUSABLE_TRON: [&str; 1] = ["T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb"];
/// One script address of litecoin, in its old and its new form.
const OLD_LITECOIN: &str = "3EUyNhvqZcLiNVskD2sjV9c4KMPgUsMve6";
const NEW_LITECOIN: &str = "MLh7gbLoWjC9B19eJus5JnrTe3z8YkMsNd";
/// The same on test networks.
const OLD_TEST_LITECOIN: &str = "2N63BSSrsB4r4aHWHtAVc76bKXhbrFCmUsd";
const NEW_TEST_LITECOIN: &str = "QZPwZTj7CAu9iUGLWGXdBo2kg63gBauR6x";
const OLD_FORM_HINT: &str = "give the M or ltc1 form (it may be a bitcoin address)";
const OLD_TEST_FORM_HINT: &str = "give the Q, tltc1 or rltc1 form (it may be a bitcoin address)";

/// Returns the addresses to which no coin of a chain may be sent. Tokens of all chains with such addresses are among
/// them.
fn unusable_addresses(chain: Chain) -> Vec<&'static str> {
    let of_pool = |id: &str| {
        Asset::find(id).is_some_and(|asset| asset.chain.address_pool() == chain.address_pool())
    };
    let contracts = CONTRACTS.iter().filter(|row| of_pool(row.asset)).map(|row| row.address);
    let more: &[&str] = match chain {
        Chain::Ethereum | Chain::Base | Chain::Polygon => &UNUSABLE_EVM,
        Chain::Solana => &UNUSABLE_SOLANA,
        Chain::Tron => &UNUSABLE_TRON,
        Chain::Litecoin => &[OLD_LITECOIN],
        Chain::Bitcoin | Chain::Dogecoin => &[],
    };
    contracts.chain(more.iter().copied()).collect()
}

/// Asserts that a response refuses a field, with a message that contains `hint`.
#[track_caller]
fn assert_field_refused(answer: &Response, field: &str, hint: &str) {
    answer.assert_error(400, "invalid_request", Some(field));
    let message = answer.json()["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with(field) && message.contains(hint), "{message}");
}

/// Walks every coin and every address of its chain's family.
#[test]
fn refund_to_an_unusable_address_is_refused_for_every_coin() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(LIVE, "100.00", "EUR");
    let (account, operator) = account_and_operator(&shop);
    let path = format!("/dashboard/api/accounts/{account}/refunds");
    let mut refused = 0;
    for asset in &ASSETS {
        for address in unusable_addresses(asset.chain) {
            let body = json!({ "invoice": invoice, "asset": asset.id, "toAddress": address });
            let answers = [
                shop.post("/sandbox/refunds", None, body.clone()),
                shop.send("POST", &path, &[("cookie", &operator)], &body.to_string()),
            ];
            for answer in answers {
                answer.assert_error(400, "invalid_request", Some("toAddress"));
                refused += 1;
            }
        }
    }
    assert!(refused > 100, "{refused}");
    assert_eq!(shop.get_live_refunds(), json!([]), "nothing was stored");
    for (address, hint) in [(OLD_LITECOIN, OLD_FORM_HINT), (OLD_TEST_LITECOIN, OLD_TEST_FORM_HINT)]
    {
        let body = json!({ "invoice": invoice, "toAddress": address });
        assert_field_refused(&shop.post("/sandbox/refunds", None, body), "toAddress", hint);
    }
    for address in [NEW_LITECOIN, NEW_TEST_LITECOIN] {
        let body = json!({ "invoice": invoice, "amount": "1.00", "toAddress": address });
        shop.post("/sandbox/refunds", None, body).expect(201);
    }
    // Bitcoin's own addresses of these forms are accepted.
    for address in [OLD_LITECOIN, OLD_TEST_LITECOIN] {
        let body =
            json!({ "invoice": invoice, "amount": "1.00", "asset": "BTC", "toAddress": address });
        shop.post("/sandbox/refunds", None, body).expect(201);
    }
}

#[test]
fn refusal_names_the_coin_and_what_to_give() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(LIVE, "100.00", "EUR");
    for (asset, address, hint) in [
        // The contract of USDC on Ethereum, for another chain and another coin.
        (
            "USDC-BASE",
            "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",
            "is the contract of USDC-ERC20: coins sent to it are lost. Give an address of a wallet",
        ),
        ("ETH", "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "is the contract of USDC-BASE"),
        ("USDT-TRC20", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "is the contract of USDT-TRC20"),
        ("SOL", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "is the mint of USDC-SPL"),
        ("USDC-SPL", UNUSABLE_SOLANA[1], "is Solana's Token-2022 program"),
        ("ETH", UNUSABLE_EVM[1], "is a burn address"),
        ("ETH", UNUSABLE_EVM[3], "is the precompiled contract 9 of EVM chains"),
    ] {
        let body = json!({ "invoice": invoice, "asset": asset, "toAddress": address });
        assert_field_refused(&shop.post("/sandbox/refunds", None, body), "toAddress", hint);
    }
}

#[test]
fn payout_address_is_not_set_to_an_unusable_address() {
    let (served, running) = Installation::start_new(&[]);
    let path = |chain: Chain| {
        format!("/dashboard/api/accounts/{}/payout-addresses/{chain}", served.account)
    };
    for chain in Chain::ALL {
        for address in unusable_addresses(*chain) {
            let body = json!({ "address": address });
            let answer = running.operator_request("PUT", &path(*chain), &body);
            answer.assert_error(400, "invalid_request", Some("address"));
        }
    }
    let count = "select count(*) || '' from payout_addresses";
    served.wait_for_query_result(count, &["0"]);
    let old = json!({ "address": OLD_LITECOIN });
    let answer = running.operator_request("PUT", &path(Chain::Litecoin), &old);
    assert_field_refused(&answer, "address", OLD_FORM_HINT);
    let new = json!({ "address": NEW_LITECOIN });
    running.operator_request("PUT", &path(Chain::Litecoin), &new).expect(200);
    let bitcoin = running.operator_request("PUT", &path(Chain::Bitcoin), &old);
    bitcoin.expect(200);
}

#[test]
fn old_litecoin_form_is_refused_on_test_networks() {
    let served = Installation::new();
    served
        .open_file()
        .execute_batch(
            "insert into chain_cursors (chain, network, height, hash, time, complete_height, complete_hash,
                head_height, head_time, stepped_at) values ('litecoin', 'regtest', 9, 'h', 0, 9, 'h', 9, 0, 0);
             insert into chain_blocks (chain, height, hash) values ('litecoin', 9, 'h')",
        )
        .unwrap();
    let running = served.start(&["--test-networks"]);
    let path = format!("/dashboard/api/accounts/{}/payout-addresses/litecoin", served.account);
    let put =
        |address: &str| running.operator_request("PUT", &path, &json!({ "address": address }));
    assert_field_refused(&put(OLD_TEST_LITECOIN), "address", OLD_TEST_FORM_HINT);
    put(NEW_TEST_LITECOIN).expect(200);
    // A key's address has one form only, which litecoin's test networks share with bitcoin's.
    put("mzYpQmSAGYWWyTLiLGbGaG8T3rHdjNcV11").expect(200);
}

#[test]
fn sandbox_payout_address_is_not_set_to_an_unusable_address() {
    let shop = Shop::open();
    let before = shop.get("/sandbox", None).expect(200).json()["account"].clone();
    for asset in &ASSETS {
        for address in unusable_addresses(asset.chain) {
            let body = json!({ "payoutAsset": asset.id, "payoutAddress": address }).to_string();
            let answer = shop.send("PATCH", "/sandbox/account", &[], &body);
            answer.assert_error(400, "invalid_request", Some("payoutAddress"));
        }
    }
    assert_eq!(shop.get("/sandbox", None).expect(200).json()["account"], before);
}

/// Each address is stored directly, as if it had been set before its coin was listed.
#[test]
fn approval_refuses_a_stored_unusable_address() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(LIVE, "100.00", "EUR");
    let (_, operator) = account_and_operator(&shop);
    for (asset, address, hint) in [
        (
            "USDC-BASE",
            "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
            "is the contract of USDC-ERC20",
        ),
        ("ETH", UNUSABLE_EVM[0], "is a burn address"),
        ("USDT-TRC20", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "is the contract of USDT-TRC20"),
        ("SOL", "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB", "is the mint of USDT-SPL"),
        ("USDC-SPL", UNUSABLE_SOLANA[0], "is Solana's token program"),
        ("LTC", OLD_LITECOIN, OLD_FORM_HINT),
    ] {
        let body = json!({ "invoice": invoice, "amount": "1.00", "asset": asset });
        let refund = shop.post("/sandbox/refunds", None, body).expect(201).json();
        let id = refund["id"].as_str().unwrap();
        store_destination(&shop, id, address);
        let requested = shop.get(&format!("/v1/refunds/{id}"), Some(LIVE)).expect(200).json();
        let balance = shop.balance_fields(LIVE, "EUR");
        let approve = json!({ "action": "approve" });
        let path = format!("/dashboard/api/refunds/{id}");
        for answer in [
            shop.post(&format!("/sandbox/refunds/{id}"), None, approve.clone()),
            shop.send("POST", &path, &[("cookie", &operator)], &approve.to_string()),
        ] {
            assert_field_refused(&answer, "toAddress", hint);
            let end = "Reject this refund and request one to another address";
            assert!(answer.text.contains(end), "{}", answer.text);
        }
        let read = shop.get(&format!("/v1/refunds/{id}"), Some(LIVE)).expect(200).json();
        assert_eq!((read, shop.balance_fields(LIVE, "EUR")), (requested, balance));
        shop.apply_actions("refunds", id, &["reject"]);
    }
}

#[test]
fn payout_to_a_stored_unusable_address_is_refused() {
    let (served, running) = Installation::start_new(&[]);
    let usable = "0x8ba1f109551bD432803012645Ac136ddd64DBA72";
    let id = served.request_payout_to(&running, ["ETH", "ethereum", usable]);
    let file = served.open_file();
    let set = "update transfers set to_address = ?1 where id = ?2";
    file.execute(set, [UNUSABLE_EVM[0], &id]).unwrap();
    let path = format!("/dashboard/api/payouts/{id}");
    let refused = running.operator_request("POST", &path, &approval_body());
    assert_field_refused(&refused, "toAddress", "is a burn address");
    assert!(refused.text.contains("Reject this payout"), "{}", refused.text);
    let status = format!("select status from transfers where id = '{id}'");
    served.wait_for_query_result(&status, &["requested"]);
    running.operator_request("POST", &path, &json!({ "action": "reject" })).expect(200);
    // The next request reads the payout address itself.
    file.execute("update payout_addresses set address = ?1", [UNUSABLE_EVM[0]]).unwrap();
    let next = running.api_request("POST", "/v1/payouts", &json!({ "amount": "20.00" }));
    next.assert_error(400, "no_address", None);
    assert!(next.text.contains("the payout address is a burn address"), "{}", next.text);
}

#[test]
fn pool_import_refuses_mints_and_programs() {
    let (served, running) = Installation::start_new(&[]);
    for address in unusable_addresses(Chain::Solana) {
        let list = [address_without_key(1), address.to_owned()];
        let path = "/dashboard/api/pools/solana/addresses";
        let answer = running.operator_request("POST", path, &json!({ "addresses": list }));
        answer.assert_error(400, "invalid_request", Some("addresses"));
        assert!(answer.text.contains("addresses[1] is "), "{}", answer.text);
        let import = ["pool", "import", "solana", "-"];
        let output = coffer_output_with_input(&served.file, &import, &list.join("\n"));
        assert_ne!(output.code, Some(0), "{address}");
        assert!(output.errors.contains("line 2 is "), "{address}: {}", output.errors);
    }
    served.wait_for_query_result("select count(*) || '' from pool_addresses", &["0"]);
}

/// Returns the id of the account, and the session cookie of the operator.
fn account_and_operator(shop: &Shop) -> (String, String) {
    let merchant = shop.get("/v1/merchant", Some(LIVE)).expect(200).json();
    let id = merchant["id"].as_str().unwrap().to_owned();
    (id, shop.sign_in_operator())
}

/// Stores the destination of a refund directly.
fn store_destination(shop: &Shop, id: &str, address: &str) {
    shop.execute_sql(&format!("update transfers set to_address = '{address}' where id = '{id}'"));
}

impl Shop {
    /// Returns all refunds in live mode.
    #[track_caller]
    fn get_live_refunds(&self) -> Value {
        self.get("/v1/refunds", Some(LIVE)).expect(200).json()["data"].clone()
    }
}
