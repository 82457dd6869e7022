//! The example signer for Ethereum: it sends each payment once, and answers every payment order, even if it sends
//! nothing.

use super::deploy_example_path;
use crate::support::anvil::{ADDRESS, KEY, Node};
use crate::support::installation::Installation;
use crate::support::scratch::Scratch;
use crate::support::tools;
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SKIPPED_TEST_NAME: &str = "the signer for Ethereum";
/// Chain id of Sepolia, a test network of Ethereum.
pub const CHAIN_ID: u64 = 11_155_111;
const TRANSFER_STATE_QUERY: &str =
    "select status || ' ' || ifnull(sending, '') from transfers order by seq desc limit 1";
/// An address without a known owner or balance.
const RECIPIENT_ADDRESS: &str = "0x1111111111111111111111111111111111111111";
/// Amount of an ETH payout, in wei.
const AMOUNT_WEI: u128 = 199_000_000_000_000_000;

/// The example signer with its settings.
pub struct Signer {
    python: String,
    settings: PathBuf,
    /// URL of the node.
    node: String,
}

impl Signer {
    /// Writes the settings, with these changes, into a folder. Returns `None` if eth-account is not installed.
    #[track_caller]
    pub fn set_up(folder: &Path, url: &str, changes: Value) -> Option<Signer> {
        let program = "import eth_account, sys; print(sys.executable)";
        let python = tools::tool_output("python3", &["-c", program], SKIPPED_TEST_NAME)?;
        let records = folder.join("records");
        std::fs::create_dir(&records).unwrap();
        let limit = json!({ "transfer": "1", "day": "10" });
        let limits = json!({ "ETH": limit, "USDC-ERC20": limit, "USDT-ERC20": limit });
        let mut settings = json!({ "rpc": url, "chainId": CHAIN_ID, "address": ADDRESS, "key": KEY,
            "records": records, "maxFeePerGasGwei": 100, "limits": limits });
        for (name, value) in changes.as_object().unwrap() {
            settings[name] = value.clone();
        }
        let path = folder.join("signer.json");
        std::fs::write(&path, settings.to_string()).unwrap();
        let signer = Signer { python, settings: path, node: url.to_owned() };
        signer.set_settings_mode(0o600);
        Some(signer)
    }

    #[track_caller]
    fn set_settings_mode(&self, mode: u32) {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&self.settings, mode).unwrap();
    }

    /// Returns the command of the signer, in the form of the setting `--signer`.
    pub fn command(&self) -> String {
        json!([self.python, deploy_example_path("signer-ethereum.py"), self.settings]).to_string()
    }

    /// Runs the signer without a server. Returns the parsed standard output, `None` if the signer fails.
    #[track_caller]
    fn run_signer(&self, order: &Value) -> Option<Value> {
        let mut command = Command::new(&self.python);
        let command = command.arg(deploy_example_path("signer-ethereum.py")).arg(&self.settings);
        let piped = command.env_clear().stdin(Stdio::piped());
        let piped = piped.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(order.to_string().as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let answer = || serde_json::from_slice(&output.stdout).unwrap();
        output.status.success().then(answer)
    }
}

/// Returns the signer's input for a payout of 0.199 ETH.
fn payout_order(number: u32) -> Value {
    json!({ "id": format!("0199a0c4-5f3e-7c11-8a52-{number:012x}"), "kind": "payout", "asset": "ETH",
        "chain": "ethereum", "toAddress": RECIPIENT_ADDRESS, "amount": "0.199", "amountBaseUnits": AMOUNT_WEI.to_string() })
}

/// Sends a payout and mines blocks until it is final. Returns its final state and the payout as the merchant sees it.
#[track_caller]
fn send_payout(
    served: &Installation,
    chain: &Node,
    signer: &Signer,
    asset: &str,
    settings: &[&str],
) -> (String, Value) {
    let node = format!("ethereum={}", signer.node);
    let command = signer.command();
    let own = ["--signer", &command, "--node", &node, "--test-networks"];
    let running = served.start(&[&own[..], settings].concat());
    let id = served.create_approved_payout_to(&running, [asset, "ethereum", RECIPIENT_ADDRESS]);
    let mut state =
        served.wait_for_query_result(TRANSFER_STATE_QUERY, &["processing ", "processing unknown"]);
    if state == "processing " {
        chain.mine(40);
        state = served.wait_for_query_result(TRANSFER_STATE_QUERY, &["paid "]);
    }
    let seen = running.api_request("GET", &format!("/v1/payouts/{id}"), &Value::Null);
    let seen = seen.expect(200).json();
    (state, seen)
}

/// Returns the folder that contains the installation's database file.
fn installation_folder(served: &Installation) -> PathBuf {
    served.file.parent().unwrap().to_owned()
}

#[test]
fn signer_pays_a_payout_once() {
    let Some(node) = Node::start(CHAIN_ID, SKIPPED_TEST_NAME) else {
        return;
    };
    let served = Installation::new();
    let Some(signer) = Signer::set_up(&installation_folder(&served), &node.url, json!({})) else {
        return;
    };
    let (state, seen) = send_payout(&served, &node, &signer, "ETH", &[]);
    assert_eq!(state, "paid ");
    assert_eq!((&seen["status"], &seen["amountCrypto"]), (&json!("paid"), &json!("0.199")));
    node.wait_for_success(&seen["txid"]);
    assert_eq!((node.balance(RECIPIENT_ADDRESS), node.transaction_count()), (AMOUNT_WEI, 1));
    // The signer gets the same order again.
    let mut same = payout_order(0);
    same["id"] = seen["id"].clone();
    let answer = signer.run_signer(&same);
    assert_eq!(answer, Some(json!({ "txid": seen["txid"] })));
    assert_eq!((node.balance(RECIPIENT_ADDRESS), node.transaction_count()), (AMOUNT_WEI, 1));
    // The signer rejects a different order with the same id.
    same["amount"] = json!("0.198");
    assert_eq!(signer.run_signer(&same), None);
    assert_eq!(node.transaction_count(), 1);
}

#[test]
fn signer_pays_a_token_payout() {
    let Some(node) = Node::start(CHAIN_ID, SKIPPED_TEST_NAME) else {
        return;
    };
    let token = node.deploy_token();
    let served = Installation::new();
    let tokens = json!({ "tokens": { "USDC-ERC20": token } });
    let Some(signer) = Signer::set_up(&installation_folder(&served), &node.url, tokens) else {
        return;
    };
    let contract = format!("USDC-ERC20={token}");
    let (state, seen) = send_payout(&served, &node, &signer, "USDC-ERC20", &["--token", &contract]);
    assert_eq!(state, "paid ");
    node.wait_for_success(&seen["txid"]);
    assert_eq!(node.token_balance(&token, RECIPIENT_ADDRESS), 199_000);
    assert_eq!(node.token_balance(&token, ADDRESS), 1_000_000_000 - 199_000);
}

/// Sets up a signer without a server, with these changes to its settings. Returns `None` if eth-account is not
/// installed.
#[track_caller]
fn set_up_without_server(
    scratch: &Scratch,
    node: &Node,
    changes: Value,
) -> Option<(Signer, PathBuf)> {
    let folder = scratch.path("signer");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    let signer = Signer::set_up(&folder, &node.url, changes)?;
    Some((signer, folder.join("records")))
}

/// Returns the number of recorded orders.
#[track_caller]
fn record_count(records: &Path) -> usize {
    let files = std::fs::read_dir(records).unwrap();
    let names = files.map(|file| file.unwrap().file_name());
    names.filter(|name| name.to_str().unwrap().ends_with(".json")).count()
}

#[test]
fn temporary_failure_is_answered_with_retry_and_not_recorded() {
    let (Some(node), scratch) = (Node::start(CHAIN_ID, SKIPPED_TEST_NAME), Scratch::new()) else {
        return;
    };
    let poor = json!({ "key": format!("0x{:064x}", 1),
        "address": "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf" });
    for (changes, reason) in [
        (poor, "there is not enough ETH to pay from"),
        (json!({ "rpc": "http://127.0.0.1:1" }), "the node cannot be reached"),
        (
            json!({ "maxFeePerGasGwei": "0.1" }),
            "the chain's fees are above the limit of this signer",
        ),
    ] {
        let Some((signer, records)) = set_up_without_server(&scratch, &node, changes) else {
            return;
        };
        let later = json!({ "sent": false, "retry": true, "reason": reason });
        for _ in 0..2 {
            assert_eq!(signer.run_signer(&payout_order(1)), Some(later.clone()), "{reason}");
        }
        assert_eq!(record_count(&records), 0, "{reason}");
    }
    assert_eq!((node.balance(RECIPIENT_ADDRESS), node.transaction_count()), (0, 0));
    // With valid settings, the signer pays the same order, because the earlier failures were not recorded.
    let (signer, records) = set_up_without_server(&scratch, &node, json!({})).unwrap();
    assert!(signer.run_signer(&payout_order(1)).unwrap()["txid"].is_string());
    assert_eq!((record_count(&records), node.balance(RECIPIENT_ADDRESS)), (1, AMOUNT_WEI));
}

#[test]
fn permanently_failed_order_keeps_its_answer() {
    let (Some(node), scratch) = (Node::start(CHAIN_ID, SKIPPED_TEST_NAME), Scratch::new()) else {
        return;
    };
    // Key of anvil's second default account.
    let other = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
    let token = |mut order: Value| {
        order["asset"] = json!("USDT-ERC20");
        order
    };
    for (changes, order, reason) in [
        (
            json!({ "key": other }),
            payout_order(1),
            "the signer's key is not the key of its address",
        ),
        (json!({ "key": "0x12" }), payout_order(1), "the signer's key is no private key"),
        (
            json!({ "chainId": 1 }),
            payout_order(1),
            "the node is of another chain than the settings",
        ),
        (json!({}), token(payout_order(1)), "this signer is not told which contract USDT-ERC20 is"),
        (
            json!({ "limits": {} }),
            payout_order(1),
            "this signer has no limits for ETH, so it sends none",
        ),
        (
            json!({ "limits": { "ETH": { "transfer": "0.198", "day": "10" } } }),
            payout_order(1),
            "0.199 ETH is above this signer's limit for one transfer, 0.198",
        ),
    ] {
        let Some((signer, records)) = set_up_without_server(&scratch, &node, changes) else {
            return;
        };
        let never = json!({ "sent": false, "reason": reason });
        for _ in 0..2 {
            assert_eq!(signer.run_signer(&order), Some(never.clone()));
        }
        assert_eq!(record_count(&records), 1, "{reason}");
    }
    assert_eq!((node.balance(RECIPIENT_ADDRESS), node.transaction_count()), (0, 0));
}

#[test]
fn daily_limit_is_enforced() {
    let (Some(node), scratch) = (Node::start(CHAIN_ID, SKIPPED_TEST_NAME), Scratch::new()) else {
        return;
    };
    let limits = json!({ "limits": { "ETH": { "transfer": "0.199", "day": "0.398" } } });
    let Some((signer, records)) = set_up_without_server(&scratch, &node, limits) else {
        return;
    };
    for number in 1..=2 {
        assert!(signer.run_signer(&payout_order(number)).unwrap()["txid"].is_string());
    }
    let reason = "0.199 ETH more would pass this signer's limit for 24 hours, 0.398";
    let refused = json!({ "sent": false, "reason": reason });
    assert_eq!(signer.run_signer(&payout_order(3)), Some(refused));
    assert!(signer.run_signer(&payout_order(1)).unwrap()["txid"].is_string(), "the same again");
    assert_eq!(node.balance(RECIPIENT_ADDRESS), 2 * AMOUNT_WEI);
    // Simulates that one day has passed since the first signature.
    let first = payout_order(1)["id"].as_str().unwrap().to_owned();
    let first =
        std::fs::File::options().write(true).open(records.join(format!("{first}.json"))).unwrap();
    let day = std::time::Duration::from_secs(24 * 60 * 60 + 1);
    first.set_modified(std::time::SystemTime::now() - day).unwrap();
    assert!(signer.run_signer(&payout_order(4)).unwrap()["txid"].is_string());
    assert_eq!(signer.run_signer(&payout_order(5)).unwrap()["sent"], false);
}

#[test]
fn world_readable_settings_are_rejected() {
    let Some(node) = Node::start(CHAIN_ID, SKIPPED_TEST_NAME) else {
        return;
    };
    let served = Installation::new();
    let Some(signer) = Signer::set_up(&installation_folder(&served), &node.url, json!({})) else {
        return;
    };
    signer.set_settings_mode(0o640);
    let (state, _) = send_payout(&served, &node, &signer, "ETH", &[]);
    assert_eq!(state, "processing unknown");
    assert_eq!((node.balance(RECIPIENT_ADDRESS), node.transaction_count()), (0, 0));
}

#[test]
fn lost_transaction_is_resubmitted_unchanged() {
    let Some(node) = Node::start(CHAIN_ID, SKIPPED_TEST_NAME) else {
        return;
    };
    let scratch = Scratch::new();
    let folder = scratch.path("signer");
    std::fs::create_dir(&folder).unwrap();
    let Some(signer) = Signer::set_up(&folder, &node.url, json!({})) else {
        return;
    };
    node.call_rpc("evm_setAutomine", json!([false]));
    let first = signer.run_signer(&payout_order(1)).unwrap();
    node.call_rpc("anvil_dropAllTransactions", json!([]));
    // The signer must not reuse the nonce of the lost transaction for the next order.
    let reason = "the node does not know an earlier transaction of this signer: a person has to look at that one";
    let later = json!({ "sent": false, "retry": true, "reason": reason });
    for _ in 0..2 {
        assert_eq!(signer.run_signer(&payout_order(2)), Some(later.clone()));
    }
    assert_eq!(signer.run_signer(&payout_order(1)), Some(first.clone()));
    let second = signer.run_signer(&payout_order(2)).unwrap();
    assert!(second["txid"].is_string() && second != first, "{second}");
    node.call_rpc("evm_mine", json!([]));
    node.wait_for_success(&first["txid"]);
    node.wait_for_success(&second["txid"]);
    assert_eq!((node.balance(RECIPIENT_ADDRESS), node.transaction_count()), (2 * AMOUNT_WEI, 2));
}
