//! An operator claims payments that contracts sent: the operator enters their transaction ids. The node returns no
//! traces, so the server cannot see these payments.

use super::evm::fixtures::{error_response, start_changing_proxy};
use crate::operator::wallets::{EVM_XPUB, run_wallet_command};
use crate::support::anvil::{ADDRESS, Node, address_word};
use crate::support::command::run_coffer;
use crate::support::installation::{Installation, RunningServer};
use crate::support::receiver::Receiver;
use crate::support::{Response, agent, send};
use serde_json::{Value, json};

const FOREIGN: &str = "0x1111111111111111111111111111111111111111";
/// Price of an invoice: 0.01 ether, in wei.
const PRICE_WEI: u128 = 10_000_000_000_000_000;
const CLAIMS: &str = "/dashboard/api/chains/ethereum/claims";

/// A shop on an Ethereum test network whose node returns no traces.
struct ClaimShop {
    anvil: Node,
    blind: Receiver,
    served: Installation,
    rates: String,
}

impl ClaimShop {
    fn open() -> Option<ClaimShop> {
        let anvil = Node::start(11_155_111, "claims of contract payments")?;
        let blind = start_changing_proxy(&anvil, |method, _, answer| match method {
            "trace_block" => error_response(-32601, "Method not found"),
            _ => answer,
        });
        let served = Installation::new();
        let rates = served.path("rates.json");
        std::fs::write(&rates, r#"{"ETH": {"EUR": "2000", "USD": "2200"}}"#).unwrap();
        run_wallet_command(&served.file, &["add", "evm", "--yes"], EVM_XPUB).json_lines();
        Some(ClaimShop { rates: format!("fixed:{}", rates.display()), anvil, blind, served })
    }

    /// Starts the server with this node and waits until it has read the final blocks.
    #[track_caller]
    fn start(&self, node: &str) -> RunningServer {
        let node = format!("ethereum={node}");
        let running =
            self.served.start(&["--rates", &self.rates, "--test-networks", "--node", &node]);
        let last = self.anvil.height().saturating_sub(8);
        let read = format!(
            "select (exists (select 1 from chain_cursors where complete_height >= {last})) || \
                (exists (select 1 from rate_figures)) || (exists (select 1 from claims where outcome is null))"
        );
        self.served.wait_for_query_result(&read, &["110"]);
        running
    }

    #[track_caller]
    fn create_invoice(&self, running: &RunningServer) -> Value {
        let body = json!({ "amount": "20.00", "currency": "EUR", "asset": "ETH" });
        running.api_request("POST", "/v1/invoices", &body).expect(201).json()
    }

    #[track_caller]
    fn status(&self, invoice: &Value) -> String {
        let sql = "select status from invoices where id = ?1";
        let id = invoice["id"].as_str().unwrap();
        self.served.open_file().query_row(sql, [id], |row| row.get(0)).unwrap()
    }

    /// Returns transaction, position, amount and state of each observation, as text.
    #[track_caller]
    fn observations(&self) -> String {
        let sql =
            "select coalesce(group_concat(position || ' ' || amount || ' ' || state, ', '), '')
            from (select * from observations order by txid, position)";
        self.served.open_file().query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

fn post_claim(running: &RunningServer, body: &Value) -> Response {
    running.operator_request("POST", CLAIMS, body)
}

/// Returns the outcome and reason of each claim, newest first.
#[track_caller]
fn claim_outcomes(running: &RunningServer) -> Vec<(String, String)> {
    let listed = running.operator_request("GET", CLAIMS, &Value::Null).expect(200);
    let listed = listed.json()["data"].clone();
    let text = |claim: &Value, field: &str| claim[field].as_str().unwrap_or_default().to_owned();
    let all = listed.as_array().unwrap().iter();
    all.map(|claim| (text(claim, "outcome"), text(claim, "reason"))).collect()
}

/// Sends three transactions: a contract pays the first invoice, one transaction fails, and one is not final. Returns
/// two invoices and the transactions.
///
/// The server cannot see the payment of the contract, but reports an unexplained balance.
#[track_caller]
fn send_unseen_payments(shop: &ClaimShop) -> ([Value; 2], [Value; 3]) {
    let (anvil, blind) = (&shop.anvil, shop.blind.url());
    let sender = anvil.deploy_forwarder();
    let mut running = shop.start(&blind);
    let invoices = [(); 2].map(|()| shop.create_invoice(&running));
    let one = invoices[0]["depositAddress"].as_str().unwrap();
    running.process.kill();
    drop(running);
    let paid = anvil.call_contract(&sender, "delegate(address)", &[address_word(one)], PRICE_WEI);
    let failed = json!({
        "from": ADDRESS, "to": sender, "data": "0xdeadbeef", "gas": "0x200000", "value": "0x1",
    });
    let failed = anvil.call_rpc("eth_sendTransaction", json!([failed]));
    assert_eq!(anvil.wait_for_receipt(&failed)["status"], "0x0");
    anvil.mine(20);
    let young = anvil.pay(FOREIGN, 1);
    let mut running = shop.start(&blind);
    running.process.kill();
    drop(running);
    // The server compared the balances before it read the blocks of the payments. This SQL makes the server compare
    // them again.
    let looks = "update balance_walks set looked_at = 0";
    assert_eq!(shop.served.open_file().execute(looks, []), Ok(1));
    let running = shop.start(&blind);
    assert_eq!(shop.status(&invoices[0]), "awaiting_payment");
    assert_eq!(shop.observations(), "");
    let alarm = "select group_concat(address || ' ' || balance || ' ' || known) from unexplained";
    let told = format!("{one} {PRICE_WEI} 0");
    shop.served.wait_for_query_result(alarm, &[&told]);
    let shown = running.first_chain();
    let unexplained = &shown["unexplained"][0];
    assert_eq!(unexplained["balanceCrypto"], "0.01", "{shown}");
    let problem = shown["problem"].as_str().unwrap();
    assert!(problem.contains("see unexplained"), "{shown}");
    (invoices, [paid, failed, young])
}

/// Rescans with a node without traces, then with a node with traces. Asserts that the stored observation stays the
/// same.
#[track_caller]
fn assert_rescans_keep_observation(shop: &ClaimShop, seen: &str) {
    for node in [&shop.blind.url(), &shop.anvil.url] {
        let running = shop.start(node);
        let came = claim_outcomes(&running);
        assert_eq!(came[0].0, "refused", "{came:?}");
        run_coffer(&shop.served.file, &["rescan", "ethereum", "--from", "1"]);
        drop(running);
        let running = shop.start(node);
        let open = "select count(*) || '' from rescans where ended_at is null";
        shop.served.wait_for_query_result(open, &["0"]);
        drop(running);
        assert_eq!(shop.observations(), seen);
        shop.served.assert_audit_clean();
    }
    let met = "select met_position || '' from claims where outcome = 'recorded'";
    shop.served.wait_for_query_result(met, &["1000000"]);
}

#[test]
fn claimed_contract_payment_is_booked_once() {
    let Some(shop) = ClaimShop::open() else {
        return;
    };
    let blind = shop.blind.url();
    let (invoices, [paid, failed, young]) = send_unseen_payments(&shop);
    let [one, two] = invoices.each_ref().map(|invoice| &invoice["depositAddress"]);
    let of = |txid: &Value, address: &Value| json!({ "txid": txid, "address": address, "amount": "0.01" });
    let right = of(&paid, one);
    let mut running = shop.start(&blind);
    let asked = post_claim(&running, &right).expect(201).json();
    assert_eq!(asked["outcome"], Value::Null);
    post_claim(&running, &right).assert_error(409, "invalid_transition", None);
    let unknown = json!(format!("0x{:064x}", 7));
    // The last of these claims names an address that the transaction did not pay.
    for wrong in [of(&failed, one), of(&unknown, one), of(&young, one), of(&paid, two)] {
        post_claim(&running, &wrong).expect(201);
    }
    running.process.kill();
    drop(running);
    let mut running = shop.start(&blind);
    let came = claim_outcomes(&running);
    let parts = ["so much more cannot have", "final", "knows no such", "failed in block", ""];
    assert_eq!(came.len(), parts.len(), "{came:?}");
    for ((outcome, reason), part) in came.iter().zip(parts) {
        assert_eq!(outcome == "recorded", part.is_empty(), "{came:?}");
        assert!(reason.contains(part), "{came:?}");
    }
    let first = "select status from invoices order by seq limit 1";
    shop.served.wait_for_query_result(first, &["confirmed"]);
    let seen = format!("1500000 {PRICE_WEI} confirmed");
    assert_eq!(shop.observations(), seen);
    assert_eq!(shop.status(&invoices[1]), "awaiting_payment");
    let alarms = "select count(*) || '' from unexplained";
    shop.served.wait_for_query_result(alarms, &["0"]);
    shop.served.assert_audit_clean();
    // The first claim booked the payment, so the same claim is rejected. A claim for a second payment is accepted,
    // but the transaction has no second payment of this amount to this address.
    post_claim(&running, &right).assert_error(409, "invalid_transition", None);
    let mut again = right.clone();
    again["ordinal"] = 2.into();
    post_claim(&running, &again).expect(201);
    running.process.kill();
    drop(running);
    assert_rescans_keep_observation(&shop, &seen);
    let noted = "select count(*) || '' from audit_log where action in ('claim.ask', 'claim.end')";
    shop.served.wait_for_query_result(noted, &["12"]);
}

#[test]
fn error_of_an_invalid_claim_names_the_invalid_field() {
    let Some(shop) = ClaimShop::open() else {
        return;
    };
    let running = shop.start(&shop.blind.url());
    let invoice = shop.create_invoice(&running);
    let txid = format!("0x{:064x}", 7);
    let right = json!({ "txid": txid, "address": invoice["depositAddress"], "amount": "0.01" });
    for (field, value) in [
        ("txid", Value::Null),
        ("txid", json!("0x1")),
        ("txid", json!("z".repeat(66))),
        ("address", json!("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq")),
        ("address", json!("0x1111111111111111111111111111111111111111")),
        ("amount", json!("0")),
        ("amount", json!("-1")),
        ("amount", json!("0.0000000000000000001")),
        ("amount", json!("1e3")),
        ("amount", json!(1)),
        ("ordinal", json!(0)),
        ("ordinal", json!(1001)),
        ("asset", json!("USDC-ERC20")),
        ("more", json!(1)),
    ] {
        let mut body = right.clone();
        body[field] = value;
        post_claim(&running, &body).assert_error(400, "invalid_request", Some(field));
    }
    for chain in ["base", "bitcoin"] {
        let path = format!("/dashboard/api/chains/{chain}/claims");
        let answer = running.operator_request("POST", &path, &right);
        answer.assert_error(400, "invalid_request", Some("chain"));
    }
    for (method, body) in [("GET", &Value::Null), ("POST", &right)] {
        let answer = running.operator_request(method, "/dashboard/api/chains/none/claims", body);
        answer.assert_error(404, "not_found", None);
        let url = format!("{}{CLAIMS}", running.url);
        let body = right.to_string();
        let body = if method == "GET" { "" } else { &body };
        send(&agent(), method, &url, &[], body).assert_error(401, "unauthorized", None);
    }
    assert!(claim_outcomes(&running).is_empty());
}
