//! Wallets on the command line and in the operator interface: they are added, retired and added again, and their
//! received payments are listed.

use crate::support::audit::assert_audit_clean;
use crate::support::command::{CommandOutput, coffer_output_with_input, run_coffer};
use crate::support::operator_interface::OperatorInterface;
use crate::support::scratch::Scratch;
use crate::support::{LIVE, Shop};
use serde_json::{Value, json};
use std::path::Path;

pub const ZPUB: &str = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
/// The key of [`ZPUB`] in the form for test networks.
pub const VPUB: &str = "vpub5YvMuJNjRSYon44z9QmCfdf8SqJRVNvz6m55Qy5iVjZQxDfUgtiQjnc7CC1fAbED2tAGCZRERUfvtn2DstZGU6HMns6dXXH2wujSc2wfi2x";
/// The key of [`ZPUB`] in the form `xpub`.
pub const XPUB: &str = "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V";
pub const EVM_XPUB: &str = "xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt";
const BITCOIN_ADDRESSES: [&str; 3] = [
    "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
    "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g",
    "bc1qp59yckz4ae5c4efgw2s5wfyvrz0ala7rgvuz8z",
];
const NULL: Value = Value::Null;
const WALLETS_PATH: &str = "/dashboard/api/wallets";
const WALLET_CHECK_PATH: &str = "/dashboard/api/wallets/check";
const OWN_ADDRESSES_PATH: &str = "/dashboard/api/own-addresses";

/// Runs `coffer wallet …` on a file with this standard input.
#[track_caller]
pub fn run_wallet_command(file: &Path, args: &[&str], input: &str) -> CommandOutput {
    coffer_output_with_input(file, &[&["wallet"], args].concat(), input)
}

#[test]
fn wallet_is_added_after_its_addresses_are_confirmed() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    for answer in ["", "\n", "no\n", "what?\n"] {
        let output = run_wallet_command(&file, &["add", "bitcoin"], &format!("{ZPUB}\n{answer}"));
        assert_eq!(output.code, Some(1));
        let said = output.errors;
        for address in BITCOIN_ADDRESSES {
            assert!(said.contains(address), "{said}");
        }
        assert!(said.contains("yes or no") && said.contains("not added"), "{said}");
        assert!(output.printed.is_empty());
    }
    let listed = || run_wallet_command(&file, &["list"], "").json_lines();
    assert_eq!(listed(), Vec::<Value>::new());
    let added =
        run_wallet_command(&file, &["add", "bitcoin"], &format!("{ZPUB}\nyes\n")).json_lines();
    let id = added[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(added[0]["addresses"], json!(BITCOIN_ADDRESSES));
    assert_eq!(added[0]["script"], "wpkh");
    assert_eq!([&added[0]["nextIndex"], &added[0]["gapLimit"]], [0, 20]);
    assert_eq!(listed(), added);
    // Every spelling of the key refers to the same wallet.
    let descriptor = format!("wpkh([73c5da0a/84h/0h/0h]{XPUB}/0/*)");
    for (key, args, next) in [
        (XPUB, &["--script", "wpkh", "--next", "7"][..], 7),
        (&descriptor, &["--next", "3", "--name", "Till"], 3),
        (ZPUB, &[], 3),
    ] {
        let args = [&["add", "bitcoin", "--yes"], args].concat();
        let again = run_wallet_command(&file, &args, key).json_lines();
        assert_eq!((&again[0]["id"], &again[0]["nextIndex"]), (&json!(id), &json!(next)));
    }
    // A retired wallet assigns no addresses until it is added again.
    let retired = run_wallet_command(&file, &["retire", &id], "").json_lines();
    assert!(retired[0]["retiredAt"].is_string() && retired[0]["handsOut"] == false);
    assert_eq!(run_wallet_command(&file, &["retire", &id], "").json_lines(), retired);
    let resumed = run_wallet_command(&file, &["add", "bitcoin", "--yes"], ZPUB).json_lines();
    assert!(resumed[0]["retiredAt"].is_null() && resumed[0]["handsOut"] == true);
    assert_eq!(resumed[0]["name"], "Till");
    assert_eq!(listed().len(), 1);
    let unknown =
        run_wallet_command(&file, &["retire", "01a1fd55-7a80-7af2-9132-000000000000"], "");
    assert!(unknown.errors.contains("no such wallet"));
    assert_audit_clean(&file);
}

#[test]
fn wallets_of_every_chain_list_their_addresses() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    for (chain, key, args) in [
        ("evm", EVM_XPUB, &[][..]),
        ("tron", EVM_XPUB, &["--next", "12"]),
        ("dogecoin", XPUB, &[]),
        ("litecoin", XPUB, &["--script", "tr"]),
    ] {
        let args = [&["add", chain, "--yes"], args].concat();
        run_wallet_command(&file, &args, key).json_lines();
    }
    let chains: Vec<_> = run_wallet_command(&file, &["list"], "")
        .json_lines()
        .iter()
        .map(|wallet| format!("{} {}", wallet["chain"].as_str().unwrap(), wallet["nextIndex"]))
        .collect();
    assert_eq!(chains, ["evm 0", "tron 12", "dogecoin 0", "litecoin 0"]);
    let own = ["own", "evm", "0x9858effd232b4033e47d90003d41ec34ecaeda94"];
    let declared = run_wallet_command(&file, &own, "").json_lines();
    assert_eq!(declared[0]["address"], "0x9858EfFD232B4033E47d90003D41EC34EcaEda94");
    for chain in ["evm", "ethereum", "base", "polygon"] {
        let again = run_wallet_command(&file, &["own", chain, own[2]], "").json_lines();
        let named = |of: &Value| (of["chain"].clone(), of["address"].clone());
        assert_eq!(named(&again[0]), named(&declared[0]));
    }
    let wrong = run_wallet_command(&file, &["own", "bitcoin", "bc1q"], "");
    assert!(wrong.errors.contains("not an address on bitcoin"), "{}", wrong.errors);
    let lines = run_coffer(&file, &["wallet", "addresses"]);
    assert_eq!(lines, "path,address,coin,amount,wallet\n");
}

#[test]
fn invalid_wallet_command_explains_the_right_form() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    for (args, input, says) in [
        (&["add", "bitcoin", "--yes"][..], XPUB, "script must be given"),
        (
            &["add", "solana", "--yes"],
            XPUB,
            "chain must be one of bitcoin, litecoin, dogecoin, evm, tron",
        ),
        (&["add", "evm", "--yes", "--script", "pkh"], EVM_XPUB, "script must be left out"),
        (&["add", "evm", "--yes", "--next", "-1"], EVM_XPUB, "unexpected argument"),
        (&["add", "evm", "--yes", "--next", "x"], EVM_XPUB, "next must be a whole number"),
        (
            &["add", "evm", "--yes", "--next", "2147483648"],
            EVM_XPUB,
            "next must be a whole number from 0 to 2147483647",
        ),
        (&["add", "evm", "--yes"], "\n \n", "key must be given on standard input"),
    ] {
        let output = run_wallet_command(&file, args, input);
        assert_ne!(output.code, Some(0), "{args:?}");
        assert!(output.errors.contains(says), "{args:?}: {}", output.errors);
    }
    assert!(!file.exists(), "a file was made for nothing");
}

#[test]
fn operator_adds_and_retires_wallets_and_changes_are_logged() {
    let interface = OperatorInterface::open();
    let send =
        |method: &str, path: &str, body: &Value| interface.send_as_operator(method, path, body);
    let body = json!({ "chain": "bitcoin", "key": ZPUB, "name": "Till", "next": 4 });
    let checked = send("POST", WALLET_CHECK_PATH, &body).expect(200).json();
    assert_eq!(checked["addresses"], json!(BITCOIN_ADDRESSES));
    assert_eq!(checked["wallet"], NULL);
    let listed = || send("GET", WALLETS_PATH, &NULL).expect(200).json()["data"].clone();
    assert_eq!(listed(), json!([]));
    let added = send("POST", WALLETS_PATH, &body).expect(201).json();
    let id = added["id"].as_str().unwrap().to_owned();
    assert_eq!(listed(), json!([added]));
    let spelt = json!({ "chain": "bitcoin", "key": XPUB, "script": "wpkh" });
    let checked = send("POST", WALLET_CHECK_PATH, &spelt).expect(200).json();
    assert_eq!(checked["wallet"], json!(id));
    assert_eq!(checked["nextIndex"], 4);
    let retired = send("POST", &format!("/dashboard/api/wallets/{id}/retire"), &NULL);
    assert!(retired.expect(200).json()["retiredAt"].is_string());
    let again = json!({ "chain": "bitcoin", "key": ZPUB });
    send("POST", WALLETS_PATH, &again).expect(201);
    let own = json!({ "chain": "tron", "address": "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH" });
    let declared = send("POST", OWN_ADDRESSES_PATH, &own).expect(201).json();
    let listed = send("GET", OWN_ADDRESSES_PATH, &NULL).expect(200).json();
    assert_eq!(listed["data"], json!([declared]));
    let noted = |action: &str| interface.shop.audit_entries(action);
    let by = |detail: Value| {
        let actor = "operator@sandbox.test".to_owned();
        [(actor, Some(id.clone()), detail)]
    };
    let added = |before: Value| json!({ "chain": "bitcoin", "script": "wpkh", "network": "main", "nextIndex": 4, "before": before });
    assert_eq!(noted("wallet.add"), by(added(NULL)));
    assert_eq!(noted("wallet.resume"), by(added(json!(4))));
    assert_eq!(noted("wallet.retire"), by(json!({ "nextIndex": 4 })));
    assert_eq!(noted("own_address.add").len(), 1);
}

/// Invalid request bodies that add a wallet, each with the field that the error names.
const INVALID_BODIES: [(&str, &str); 11] = [
    (r#"{"key": "Z"}"#, "chain"),
    (r#"{"chain": "bitcoin"}"#, "key"),
    (r#"{"chain": "bitcoin", "key": 1}"#, "key"),
    (r#"{"chain": "bitcoin", "key": "X"}"#, "script"),
    (r#"{"chain": "bitcoin", "key": "Z", "script": "p2sh"}"#, "script"),
    (r#"{"chain": "bitcoin", "key": "Z", "network": "test"}"#, "network"),
    (r#"{"chain": "bitcoin", "key": "Z", "next": 2147483648}"#, "next"),
    (r#"{"chain": "bitcoin", "key": "Z", "next": -1}"#, "next"),
    (r#"{"chain": "bitcoin", "key": "Z", "name": ""}"#, "name"),
    (r#"{"chain": "bitcoin", "key": "Z", "more": 1}"#, "more"),
    (r#"{"chain": "solana", "key": "Z"}"#, "chain"),
];

#[test]
fn invalid_or_forbidden_wallet_changes_nothing() {
    let interface = OperatorInterface::open();
    let send =
        |method: &str, path: &str, body: &Value| interface.send_as_operator(method, path, body);
    for (body, param) in INVALID_BODIES {
        let keys =
            body.replace("\"Z\"", &format!("\"{ZPUB}\"")).replace("\"X\"", &format!("\"{XPUB}\""));
        let body = serde_json::from_str(&keys).unwrap();
        for path in [WALLETS_PATH, WALLET_CHECK_PATH] {
            send("POST", path, &body).assert_error(400, "invalid_request", Some(param));
        }
    }
    for unknown in ["x", "01a1fd55-7a80-7af2-9132-000000000000"] {
        let retire = format!("/dashboard/api/wallets/{unknown}/retire");
        send("POST", &retire, &NULL).assert_error(404, "not_found", None);
        let addresses = format!("/dashboard/api/wallets/{unknown}/addresses.csv");
        send("GET", &addresses, &NULL).assert_error(404, "not_found", None);
    }
    for (method, path) in [
        ("GET", WALLETS_PATH),
        ("POST", WALLETS_PATH),
        ("POST", WALLET_CHECK_PATH),
        ("GET", OWN_ADDRESSES_PATH),
        ("POST", OWN_ADDRESSES_PATH),
    ] {
        let answer = interface.send(&interface.merchant, method, path, &NULL);
        answer.assert_error(403, "forbidden", None);
    }
    let listed = send("GET", WALLETS_PATH, &NULL).expect(200).json();
    assert_eq!(listed, json!({ "data": [] }));
}

#[test]
fn received_payments_of_a_wallet_are_listed_by_path_address_and_coin() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let send =
        |method: &str, path: &str, body: &Value| interface.send_as_operator(method, path, body);
    let body = json!({ "chain": "evm", "key": EVM_XPUB });
    let id = send("POST", WALLETS_PATH, &body).expect(201).id();
    // Two live invoices get addresses of the wallet. Payments in both coins go to the second address.
    let address = |shop: &Shop| {
        let order = json!({ "amount": "60.00", "currency": "EUR", "asset": "ETH" });
        let invoice = shop.post("/v1/invoices", Some(LIVE), order).expect(201).json();
        invoice["depositAddress"].as_str().unwrap().to_owned()
    };
    let [first, second] = [address(shop), address(shop)];
    let pay = |asset: &str, amount: &str| {
        let payment = json!({ "address": second, "asset": asset, "amount": amount });
        shop.post("/sandbox/payments", None, payment).expect(201).id()
    };
    pay("USDC-BASE", "7");
    pay("ETH", "0.01");
    pay("ETH", "0.005");
    let dropped = pay("ETH", "1");
    shop.post(&format!("/sandbox/payments/{dropped}"), None, json!({ "state": "dropped" }))
        .expect(200);
    let wallet = "(select seq from wallets where id is not null)";
    for (index, address) in [(3, &first), (30, &second)] {
        shop.execute_sql(&format!("update addresses set wallet = {wallet}, wallet_index = {index} where address = '{address}'"));
    }
    shop.execute_sql("update wallets set next_index = 33 where id is not null");
    let csv = |query: &str| {
        send("GET", &format!("/dashboard/api/wallets/{id}/addresses.csv{query}"), &NULL)
            .expect(200)
            .text
    };
    let funded = [
        format!("m/0/30,{second},ETH,0.015,{id}\r\n"),
        format!("m/0/30,{second},USDC-BASE,7,{id}\r\n"),
    ]
    .concat();
    let header = "path,address,coin,amount,wallet\r\n";
    assert_eq!(csv("?funded=true"), format!("{header}{funded}"));
    assert_eq!(csv(""), format!("{header}m/0/3,{first},,,{id}\r\n{funded}"));
    let listed = send("GET", WALLETS_PATH, &NULL).expect(200).json();
    // The first 30 addresses received no payment, so the gap limit is 31.
    assert_eq!(listed["data"][0]["gapLimit"], 31);
}
