//! Live addresses: derived from wallets on watched chains, and each index is used once.

use crate::invoices::idempotency::concurrent_responses;
use crate::operator::wallets::{EVM_XPUB, VPUB, XPUB, ZPUB, run_wallet_command};
use crate::process::serve::{ProductionFile, call, start_server};
use crate::support::audit::assert_audit_clean;
use crate::support::audit_log::record_direct_writes;
use crate::support::command::run_coffer;
use crate::support::database::{execute_sql, text_column};
use coffer::domain::WalletHints;
use coffer::domain::asset::Chain;
use coffer::domain::wallet::read;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

/// Key of the EVM wallet, encoded as a key of a test network.
const TPUB: &str = "tpubDDaRj4Gb7q8V1P8hETLKbMRQyWRAkL1Sph3mQdTFgJHQefHqXajb6sXWyvKfEQo46xJYKA29vMhEUsBgf7QpEYL17aJwAQ7NDb8koR13eMV";

/// Derives the address at an index of a key.
pub fn derive_address(chain: Chain, key: &str, index: u32) -> String {
    let wallet = read(chain, key, &WalletHints::default()).unwrap();
    let branch = wallet.receiving_branch().unwrap();
    branch.derive_address(index).unwrap().address
}

/// Creates a shop with customer addresses.
pub fn open_shop() -> ProductionFile {
    let shop = ProductionFile::new();
    let active = "update accounts set customers_enabled = 1, status = 'active'";
    execute_sql(&shop.file(), active);
    record_direct_writes(&shop.file());
    shop
}

/// Settings with the URLs of nodes that do not exist.
pub const NODES: [&str; 3] = [
    "--node=bitcoin=http://127.0.0.1:1",
    "--node=base=http://127.0.0.1:1",
    "--node=polygon=http://127.0.0.1:1",
];

/// Stores a cursor at the present time, so that the chain counts as watched.
#[track_caller]
pub fn set_watched(shop: &ProductionFile, chain: &str) {
    let network = match chain {
        "base" => "8453",
        "polygon" => "137",
        "solana" => "mainnet-beta",
        _ => "main",
    };
    execute_sql(
        &shop.file(),
        &format!(
            "insert into chains (mode, chain, scanned_to) values ('live', '{chain}', 0);
            insert into chain_cursors values ('{chain}', '{network}', 1, 'a', 0, 1, 'a', 1, 0, 0, null);
            insert into chain_blocks values ('{chain}', 1, 'a')"
        ),
    );
}

#[track_caller]
fn add_wallet(shop: &ProductionFile, chain: &str, key: &str) -> String {
    let added = run_wallet_command(&shop.file(), &["add", chain, "--yes"], key).json_lines();
    added[0]["id"].as_str().unwrap().to_owned()
}

/// Returns the live addresses of a customer, as pairs of chain family and address.
#[track_caller]
pub fn live_customer_addresses(
    shop: &ProductionFile,
    url: &str,
    reference: &str,
) -> Vec<(String, String)> {
    let path = format!("/v1/customers/{reference}/addresses");
    let made = call(url, &shop.live, "POST", &path, json!({})).expect(201);
    let made: Vec<Value> = serde_json::from_value(made.json()["addresses"].clone()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    made.iter().map(|made| (text(&made["family"]), text(&made["address"]))).collect()
}

pub fn address_entry(family: &str, address: String) -> (String, String) {
    (family.to_owned(), address)
}

#[test]
fn watched_chain_with_a_wallet_hands_out_addresses() {
    let shop = open_shop();
    let (_server, url) = start_server(&shop.file(), &NODES);
    let of = |reference: &str| live_customer_addresses(&shop, &url, reference);
    assert_eq!(of("early"), []);
    let bitcoin = add_wallet(&shop, "bitcoin", ZPUB);
    add_wallet(&shop, "evm", EVM_XPUB);
    assert_eq!(of("early"), [], "no chain is watched");
    // All EVM chains have the same address, so it is enough that one of them is watched.
    set_watched(&shop, "base");
    let evm = |index| address_entry("evm", derive_address(Chain::Ethereum, EVM_XPUB, index));
    let utxo = |index| address_entry("utxo", derive_address(Chain::Bitcoin, ZPUB, index));
    assert_eq!(of("early"), [evm(0)]);
    set_watched(&shop, "bitcoin");
    assert_eq!(of("early"), [evm(0), utxo(0)]);
    assert_eq!(of("ada"), [evm(1), utxo(1)]);
    assert_eq!(of("ada"), [evm(1), utxo(1)]);
    // A retired wallet assigns no new address. Customers keep their addresses.
    run_wallet_command(&shop.file(), &["retire", &bitcoin], "").json_lines();
    assert_eq!(of("bob"), [evm(2)]);
    assert_eq!(of("ada"), [evm(1), utxo(1)]);
    // The same wallet, added again, continues at its next index.
    let other = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
    assert_eq!(add_wallet(&shop, "bitcoin", other), bitcoin);
    assert_eq!(of("bob"), [evm(2), utxo(2)]);
    let lines = run_coffer(&shop.file(), &["wallet", "addresses", "--wallet", &bitcoin]);
    let expected: Vec<_> =
        (0..3).map(|index| format!("m/0/{index},{},,,{bitcoin}", utxo(index).1)).collect();
    assert_eq!(lines.lines().skip(1).collect::<Vec<_>>(), expected);
    let scripts =
        text_column(&shop.file(), "select hex(script) from addresses where pool = 'bitcoin'");
    assert!(scripts.iter().all(|script| script.starts_with("0014")), "{scripts:?}");
    assert_audit_clean(&shop.file());
}

#[test]
fn concurrent_requests_get_each_index_once_despite_kills() {
    let shop = open_shop();
    add_wallet(&shop, "bitcoin", ZPUB);
    set_watched(&shop, "bitcoin");
    let number = AtomicU32::new(0);
    let mut handed_out = BTreeSet::new();
    for _ in 0..4 {
        let (mut server, url) = start_server(&shop.file(), &NODES);
        for _ in 0..2 {
            let made = concurrent_responses(|| {
                let number = number.fetch_add(1, Ordering::SeqCst);
                let path = format!("/v1/customers/{number}/addresses");
                call(&url, &shop.live, "POST", &path, json!({}))
            });
            handed_out.extend(made.iter().map(|made| {
                let made = made.json()["addresses"][0]["address"].clone();
                made.as_str().unwrap().to_owned()
            }));
        }
        server.kill();
    }
    let expected: BTreeSet<_> =
        (0..400).map(|index| derive_address(Chain::Bitcoin, ZPUB, index)).collect();
    assert_eq!(handed_out, expected);
    assert_audit_clean(&shop.file());
}

#[test]
fn restore_and_wallet_list_show_the_next_index_and_gap_limit() {
    let shop = open_shop();
    let bitcoin = add_wallet(&shop, "bitcoin", ZPUB);
    let file = shop.file();
    // Moves the next index from 5000 to 7000. The wallet then has a gap of 2000 unpaid addresses.
    let args = ["add", "evm", "--yes", "--next"];
    run_wallet_command(&file, &[&args[..], &["5000"]].concat(), EVM_XPUB).json_lines();
    let added = run_wallet_command(&file, &[&args[..], &["7000"]].concat(), EVM_XPUB).json_lines();
    let evm = added[0]["id"].as_str().unwrap();
    set_watched(&shop, "bitcoin");
    let copy = file.with_extension("copy");
    let (mut server, url) = start_server(&file, &NODES);
    live_customer_addresses(&shop, &url, "early");
    run_coffer(&file, &["backup", copy.to_str().unwrap()]);
    live_customer_addresses(&shop, &url, "late");
    assert!(server.close_input_and_wait());
    let planned = run_coffer(&file, &["restore", copy.to_str().unwrap(), "--dry-run"]);
    let said = run_coffer(&file, &["restore", copy.to_str().unwrap(), "--force"]);
    let line = format!(
        "live bitcoin addresses go on from index 1002 of wallet {bitcoin}, which must scan with a gap limit of 1002 \
         (1 in the copy, 2 in the replaced file)\n\
         live evm addresses go on from index 8000 of wallet {evm}, which must scan with a gap limit of 3000 \
         (7000 in the copy, 7000 in the replaced file)\n"
    );
    assert!(said.contains(&line), "{said}");
    assert!(planned.contains(&line.replace(" go on", " would go on")), "{planned}");
    let (_server, url) = start_server(&file, &NODES);
    let made = live_customer_addresses(&shop, &url, "later");
    assert_eq!(made, [address_entry("utxo", derive_address(Chain::Bitcoin, ZPUB, 1002))]);
    let listed = run_wallet_command(&file, &["list"], "").json_lines();
    assert_eq!(listed[0]["nextIndex"], 1003);
    assert_eq!(listed[0]["gapLimit"], 1003);
    assert_audit_clean(&file);
}

#[test]
fn live_coin_requires_a_watched_chain() {
    let shop = open_shop();
    add_wallet(&shop, "evm", EVM_XPUB);
    set_watched(&shop, "base");
    let (_server, url) = start_server(&shop.file(), &NODES);
    let create = |asset: &str| {
        let order = json!({ "amount": "20.00", "currency": "EUR", "asset": asset });
        let made = call(&url, &shop.live, "POST", "/v1/invoices", order);
        made.expect(201).json()["warnings"][0].to_string()
    };
    for asset in ["ETH", "USDC-POLYGON", "BTC", "SOL"] {
        let warned = create(asset);
        assert!(warned.contains("is not configured for live payments"), "{warned}");
    }
    // The chain is watched and has a wallet, but the coin has no rate.
    let warned = create("USDC-BASE");
    assert!(warned.contains("has no fresh rate"), "{warned}");
    let none = "select address from addresses";
    assert_eq!(text_column(&shop.file(), none), Vec::<String>::new());
}

#[test]
fn wallet_added_after_a_restore_skips_possibly_used_indexes() {
    let shop = open_shop();
    set_watched(&shop, "bitcoin");
    let file = shop.file();
    let copy = file.with_extension("copy");
    run_coffer(&file, &["backup", copy.to_str().unwrap()]);
    let mut handed_out = Vec::new();
    for (restored, begins) in [(0, 0), (1, 1000), (2, 2000)] {
        let output = run_wallet_command(&file, &["add", "bitcoin", "--yes", "--next", "0"], ZPUB);
        let why = format!("it begins with index {begins}: this file is a copy that was restored");
        assert_eq!(output.errors.contains(&why), restored > 0, "{}", output.errors);
        let added = output.json_lines();
        assert_eq!(added[0]["nextIndex"], begins);
        // The owner's wallet program starts its scan at index 0. The program's gap limit must be at least the first
        // assigned index.
        assert_eq!(added[0]["gapLimit"], begins.max(20));
        let (mut server, url) = start_server(&file, &NODES);
        handed_out.extend(live_customer_addresses(&shop, &url, "ada"));
        assert!(server.close_input_and_wait());
        assert_audit_clean(&file);
        // Removes the wallet from the file before the next restore. The copy has no wallet either, and does not
        // record the first restore.
        execute_sql(&shop.file(), "delete from addresses; delete from wallets");
        run_coffer(&file, &["restore", copy.to_str().unwrap(), "--force"]);
    }
    let expected = [0, 1000, 2000]
        .map(|index| address_entry("utxo", derive_address(Chain::Bitcoin, ZPUB, index)));
    assert_eq!(handed_out, expected);
    // A next index above the minimum is accepted unchanged.
    let further = ["add", "bitcoin", "--yes", "--next", "7000"];
    let added = run_wallet_command(&file, &further, ZPUB).json_lines();
    assert_eq!(added[0]["nextIndex"], 7000);
}

#[test]
fn live_mode_uses_only_the_main_network_wallet() {
    let shop = open_shop();
    let file = shop.file();
    // A key of a test network may be added, but is not used.
    let to_test = "add bitcoin --yes --script wpkh --network test";
    let args: Vec<_> = to_test.split(' ').collect();
    let added = || run_wallet_command(&file, &args, TPUB).json_lines();
    assert_eq!(added()[0]["handsOut"], false);
    let main = add_wallet(&shop, "bitcoin", ZPUB);
    added();
    set_watched(&shop, "bitcoin");
    let (_server, url) = start_server(&file, &NODES);
    // Rejects a key of another network, and the main network's key in the encoding of a test network.
    let respelt = (VPUB, "network must be main");
    for (key, says) in [respelt, (TPUB, "this file follows bitcoin on main")] {
        let refused = run_wallet_command(&file, &args, key);
        assert_ne!(refused.code, Some(0));
        assert!(refused.errors.contains(says), "{}", refused.errors);
    }
    let listed = run_wallet_command(&file, &["list"], "").json_lines();
    let hands_out = |one: &Value| one["handsOut"] == true;
    assert_eq!(listed.iter().map(hands_out).collect::<Vec<_>>(), [false, true]);
    assert_eq!(listed[1]["id"], json!(main));
    let first = derive_address(Chain::Bitcoin, ZPUB, 0);
    assert_eq!(live_customer_addresses(&shop, &url, "ada"), [address_entry("utxo", first)]);
    // When the wallet is retired, the wallet of the test network does not replace it.
    run_wallet_command(&file, &["retire", &main], "").json_lines();
    assert_eq!(live_customer_addresses(&shop, &url, "bob"), []);
}

#[test]
fn last_added_wallet_is_used_even_if_the_clock_went_back() {
    let shop = open_shop();
    let file = shop.file();
    let first = add_wallet(&shop, "bitcoin", ZPUB);
    // Simulates a clock that was years ahead when the wallet was added.
    execute_sql(&shop.file(), "update wallets set added_at = added_at * 2 where id is not null");
    let args = ["add", "bitcoin", "--yes", "--script", "wpkh"];
    let second = run_wallet_command(&file, &args, EVM_XPUB).json_lines()[0]["id"].clone();
    let handing_out = || {
        let listed = run_wallet_command(&file, &["list"], "").json_lines();
        let of = listed.into_iter().filter(|one| one["handsOut"] == true);
        of.map(|one| one["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(handing_out(), slice::from_ref(&second));
    assert_eq!(add_wallet(&shop, "bitcoin", ZPUB), first);
    assert_eq!(handing_out(), [json!(first)]);
    run_wallet_command(&file, &args, EVM_XPUB).json_lines();
    assert_eq!(handing_out(), [second]);
}

#[test]
fn customer_lists_only_watched_chains() {
    let shop = open_shop();
    add_wallet(&shop, "evm", EVM_XPUB);
    set_watched(&shop, "base");
    let (_server, url) = start_server(&shop.file(), &NODES);
    let told = |key: &str, method: &str| {
        let path = "/v1/customers/ada/addresses";
        let answer = call(&url, key, method, path, json!({})).json();
        let families: Vec<Value> = serde_json::from_value(answer["addresses"].clone()).unwrap();
        let evm = families.into_iter().find(|one| one["family"] == "evm");
        evm.map(|evm| {
            let mut chains: BTreeSet<_> = BTreeSet::new();
            for asset in evm["assets"].as_array().unwrap() {
                chains.insert(asset["chainId"].as_str().unwrap().to_owned());
            }
            let ids: BTreeSet<String> = serde_json::from_value(evm["chainIds"].clone()).unwrap();
            assert_eq!(chains, ids);
            ids.into_iter().collect::<Vec<_>>()
        })
    };
    let expected = |chains: &[&str]| -> Option<Vec<String>> {
        Some(chains.iter().map(|&one| one.to_owned()).collect())
    };
    assert_eq!(told(&shop.live, "POST"), expected(&["base"]));
    assert_eq!(told(&shop.live, "GET"), expected(&["base"]));
    set_watched(&shop, "polygon");
    assert_eq!(told(&shop.live, "GET"), expected(&["base", "polygon"]));
    // The server no longer watches the chain.
    execute_sql(&shop.file(), "delete from chain_blocks; delete from chain_cursors");
    assert_eq!(told(&shop.live, "GET"), expected(&[]));
    // In test mode, every chain counts as watched.
    let all = told(&shop.test, "POST").unwrap();
    assert!(all.len() > 2 && all.contains(&"ethereum".to_owned()), "{all:?}");
}

#[test]
fn wallet_script_can_change_until_an_address_is_handed_out() {
    let shop = open_shop();
    let file = shop.file();
    set_watched(&shop, "bitcoin");
    let add = |script: &str| {
        run_wallet_command(&file, &["add", "bitcoin", "--yes", "--script", script], XPUB)
    };
    let [wrong, right] = ["pkh", "wpkh"].map(|script| add(script).json_lines()[0].clone());
    assert_eq!((&right["id"], &right["script"]), (&wrong["id"], &json!("wpkh")));
    let address = derive_address(Chain::Bitcoin, ZPUB, 0);
    assert_eq!(right["addresses"][0], json!(address));
    let (_server, url) = start_server(&file, &NODES);
    assert_eq!(live_customer_addresses(&shop, &url, "ada"), [address_entry("utxo", address)]);
    for script in ["pkh", "tr"] {
        let refused = add(script);
        assert_ne!(refused.code, Some(0));
        assert!(refused.errors.contains("script must be wpkh"), "{}", refused.errors);
    }
    let listed = run_wallet_command(&file, &["list"], "").json_lines();
    assert_eq!((listed.len(), &listed[0]["script"]), (1, &json!("wpkh")));
}
