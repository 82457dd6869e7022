//! Confirmations of a payment on real nodes: the checkout page, the invoice, its timeline and the deposit must agree.

use super::till::TestnetShop;
use crate::operator::wallets::{EVM_XPUB, run_wallet_command};
use crate::support::anvil::Node;
use crate::support::body_text;
use crate::support::installation::RunningServer;
use crate::support::litecoind::Litecoind;
use crate::support::{agent, send};
use serde_json::{Value, json};

const NULL: Value = Value::Null;

/// A shop, its running server, and its chain.
struct ConfirmationShop<'t> {
    till: &'t TestnetShop,
    chain: &'static str,
    running: RunningServer,
}

impl<'t> ConfirmationShop<'t> {
    #[track_caller]
    fn open(till: &'t TestnetShop, chain: &'static str, symbol: &str) -> ConfirmationShop<'t> {
        let running = till.start();
        till.wait_for_rate(chain, symbol);
        ConfirmationShop { till, chain, running }
    }

    #[track_caller]
    fn create_invoice(&self, price: &str, currency: &str, asset: &str) -> Value {
        let body = json!({
            "amount": price, "currency": currency, "asset": asset, "webhookUrl": self.till.receiver.url(),
        });
        let made = self.call("POST", "/v1/invoices", &body);
        assert_eq!(made["warnings"], NULL, "{made}");
        made
    }

    #[track_caller]
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = body_text(body);
        self.till.call_api(&self.running, method, path, &body)
    }

    /// Restarts the server, which polls at its start, and waits until it has read the block at this height.
    #[track_caller]
    fn restart_and_sync(&mut self, height: u32) {
        self.running.process.kill();
        self.running = self.till.start();
        let chain = self.chain;
        let query = format!("select height || '' from chain_cursors where chain = '{chain}'");
        self.till.served.wait_for_query_result(&query, &[&height.to_string()]);
    }

    /// Returns the checkout page of an invoice.
    #[track_caller]
    fn checkout_page(&self, invoice: &Value) -> String {
        let url = invoice["checkoutUrl"].as_str().unwrap();
        let path = url.split_once("/checkout/").unwrap().1;
        let url = format!("{}/checkout/{path}", self.running.url);
        send(&agent(), "GET", &url, &[], "").expect(200).text
    }

    #[track_caller]
    fn operator_invoice_view(&self, invoice: &Value, what: &str) -> Value {
        let (account, id) = (&self.till.served.account, invoice["id"].as_str().unwrap());
        let path = format!("/dashboard/api/accounts/{account}/invoices/{id}{what}");
        self.running.operator_get(&path)
    }

    /// Asserts the number of confirmations, and the number needed, in each view that shows the only payment of an
    /// invoice.
    #[track_caller]
    fn assert_confirmations(&self, invoice: &Value, count: u32, needed: Value) {
        let payment = self.operator_invoice_view(invoice, "")["payments"][0].clone();
        let both =
            |of: &Value| [&of["confirmations"], &of["confirmationsNeeded"]].map(Value::clone);
        assert_eq!(both(&payment), [json!(count), needed.clone()], "{payment}");
        let text = match &needed {
            Value::Number(needed) => format!("{count} of {needed} confirmations"),
            _ if count == 1 => "1 confirmation, until its block is final".to_owned(),
            _ => format!("{count} confirmations, until its block is final"),
        };
        let page = self.checkout_page(invoice);
        assert!(page.contains(" · usually "), "{page}");
        let on_page = match &needed {
            Value::Number(needed) => format!("Confirmations: {count} of {needed}"),
            _ => format!("Confirmations: {count}, until the block is final"),
        };
        assert!(page.contains(&on_page), "{page}");
        assert!(page.contains(payment["txid"].as_str().unwrap()), "{page}");
        assert!(page.contains("http-equiv=\"refresh\""), "{page}");
        let told = self.payment_steps(invoice);
        let last = told.last().unwrap();
        assert_eq!(both(&last["payment"]), both(&payment));
        let words = last["text"].as_str().unwrap();
        assert!(words.ends_with(&format!("; {text}")), "{words}");
    }

    /// Returns the payment steps in the timeline of an invoice.
    #[track_caller]
    fn payment_steps(&self, invoice: &Value) -> Vec<Value> {
        let timeline = self.operator_invoice_view(invoice, "/timeline")["data"].clone();
        let told = timeline.as_array().unwrap().iter();
        told.filter(|entry| entry["kind"] == "payment").cloned().collect()
    }

    /// Returns status, confirmations and needed confirmations of each deposit.
    #[track_caller]
    fn deposits(&self) -> Vec<Value> {
        let listed = self.call("GET", "/v1/deposits", &NULL)["data"].clone();
        let one = |of: &Value| {
            let path = format!("/v1/deposits/{}", of["id"].as_str().unwrap());
            assert_eq!(&self.call("GET", &path, &NULL), of);
            json!([of["status"], of["confirmations"], of["confirmationsNeeded"]])
        };
        listed.as_array().unwrap().iter().map(one).collect()
    }

    /// Asserts that the invoice is confirmed and that its views no longer show a number of confirmations.
    #[track_caller]
    fn assert_paid(&self, invoice: &Value) {
        self.till.wait_for_event("invoice.confirmed", invoice);
        let payment = self.operator_invoice_view(invoice, "")["payments"][0].clone();
        assert_eq!(payment["state"], "confirmed");
        for of in [&payment, &self.payment_steps(invoice).last().unwrap()["payment"]] {
            assert_eq!([&of["confirmations"], &of["confirmationsNeeded"]], [&NULL; 2]);
        }
        let page = self.checkout_page(invoice);
        assert!(!page.contains("confirmation"), "{page}");
        assert!(!page.contains("http-equiv=\"refresh\""), "{page}");
    }
}

#[test]
fn litecoin_needs_3_confirmations_or_12_for_a_large_price() {
    let Some(node) = Litecoind::start(&[], "confirmations in litecoin") else {
        return;
    };
    node.mine(101);
    let till = TestnetShop::with_utxo_chain("litecoin", &node.url());
    let mut counter = ConfirmationShop::open(&till, "litecoin", "LTC");
    let [small, large] =
        ["20.00", "2500.00"].map(|price| counter.create_invoice(price, "EUR", "LTC"));
    for invoice in [&small, &large] {
        let text = |name: &str| invoice[name].as_str().unwrap();
        node.pay(text("depositAddress"), text("amountExpected"));
    }
    counter.restart_and_sync(101);
    for (invoice, needed) in [(&small, 3), (&large, 12)] {
        till.wait_for_event("invoice.detected", invoice);
        counter.assert_confirmations(invoice, 0, json!(needed));
    }
    node.mine(1);
    counter.restart_and_sync(102);
    counter.assert_confirmations(&small, 1, json!(3));
    counter.assert_confirmations(&large, 1, json!(12));
    assert!(counter.checkout_page(&small).contains("TEST."));
    let payment = counter.operator_invoice_view(&small, "")["payments"][0].clone();
    assert_eq!(payment["explorerUrl"], NULL, "explorers of the main network are not linked");
    node.mine(1);
    counter.restart_and_sync(103);
    counter.assert_confirmations(&small, 2, json!(3));
    node.mine(1);
    counter.restart_and_sync(104);
    counter.assert_paid(&small);
    counter.assert_confirmations(&large, 3, json!(12));
    assert_eq!(counter.operator_invoice_view(&large, "")["testNetwork"], "regtest");
    node.mine(8);
    counter.restart_and_sync(112);
    counter.assert_confirmations(&large, 11, json!(12));
    node.mine(1);
    counter.restart_and_sync(113);
    counter.assert_paid(&large);
    assert_confirmation_setting_applies(&node, &mut counter, &small);
    drop(counter);
    till.served.assert_audit_clean();
}

#[track_caller]
fn assert_confirmation_setting_applies(
    node: &Litecoind,
    counter: &mut ConfirmationShop<'_>,
    paid: &Value,
) {
    let set = |counter: &ConfirmationShop<'_>, confirmations: u32| {
        let body = json!({ "confirmations": { "LTC": [{ "confirmations": confirmations }] } });
        let answer = counter.running.operator_request("PUT", "/dashboard/api/settings", &body);
        answer.expect(200);
    };
    let invoice = counter.create_invoice("20.00", "EUR", "LTC");
    node.pay(invoice["depositAddress"].as_str().unwrap(), "0.25");
    node.mine(4);
    // The operator requires more confirmations than this test mines.
    set(counter, 200);
    counter.restart_and_sync(117);
    counter.till.wait_for_event("invoice.detected", &invoice);
    counter.assert_confirmations(&invoice, 4, json!(200));
    let payment = counter.operator_invoice_view(paid, "")["payments"][0].clone();
    assert_eq!(payment["state"], "confirmed", "the confirmed payment stays confirmed");
    set(counter, 5);
    counter.assert_confirmations(&invoice, 4, json!(5));
    set(counter, 4);
    // The poll after the restart confirms the payment, although no block was added.
    counter.restart_and_sync(117);
    counter.assert_paid(&invoice);
}

#[test]
fn ethereum_waits_for_finality_if_price_or_pending_sum_is_large() {
    let Some(node) = Node::start(1, "confirmations on ethereum") else {
        return;
    };
    let till = TestnetShop::new(&["--node", &format!("ethereum={}", node.url)]);
    run_wallet_command(&till.served.file, &["add", "evm", "--yes"], EVM_XPUB).json_lines();
    let mut counter = ConfirmationShop::open(&till, "ethereum", "ETH");
    let account = format!("/dashboard/api/accounts/{}", till.served.account);
    let enabled = json!({ "customersEnabled": true });
    counter.running.operator_request("PATCH", &account, &enabled).expect(200);
    let small = counter.create_invoice("20.00", "EUR", "ETH");
    let large = counter.create_invoice("2500.00", "EUR", "ETH");
    let families = counter.call("POST", "/v1/customers/ada/addresses", &NULL);
    let customer = families["addresses"][0]["address"].as_str().unwrap().to_owned();
    let first = node.height();
    for (invoice, milli) in [(&small, 10), (&large, 1250)] {
        let address = invoice["depositAddress"].as_str().unwrap();
        node.pay(address, milli * 10_u128.pow(15));
    }
    let txid = node.pay(&customer, 2 * 10_u128.pow(17));
    counter.restart_and_sync(first + 3);
    for invoice in [&small, &large] {
        till.wait_for_event("invoice.detected", invoice);
    }
    counter.assert_confirmations(&small, 3, json!(6));
    counter.assert_confirmations(&large, 2, json!("final"));
    assert_eq!(counter.deposits(), [json!(["detected", 1, 12])]);
    let listed = counter.call("GET", "/v1/deposits", &NULL)["data"][0].clone();
    let url = format!("https://etherscan.io/tx/{}", txid.as_str().unwrap());
    assert_eq!(listed["explorerUrl"], url);
    let payment = counter.operator_invoice_view(&small, "")["payments"][0].clone();
    let url = format!("https://etherscan.io/tx/{}", payment["txid"].as_str().unwrap());
    assert_eq!(payment["explorerUrl"], url);
    let page = counter.checkout_page(&small);
    assert!(page.contains(&format!("href=\"{url}\"")), "{page}");
    // The shop allows test networks, but the node is on the main network.
    assert!(!page.contains("TEST."), "{page}");
    assert_eq!(counter.operator_invoice_view(&small, "")["testNetwork"], NULL);
    // This payment of 1.2 ETH adds 2400 EUR. The sum of the customer's unconfirmed payments is now so large that each
    // payment must be final.
    node.pay(&customer, 12 * 10_u128.pow(17));
    assert_confirmed_when_final(&node, &mut counter, first, [&small, &large]);
    drop(counter);
    till.served.assert_audit_clean();
}

#[track_caller]
fn assert_confirmed_when_final(
    node: &Node,
    counter: &mut ConfirmationShop<'_>,
    first: u32,
    [small, large]: [&Value; 2],
) {
    counter.restart_and_sync(first + 4);
    let both = [json!(["detected", 1, "final"]), json!(["detected", 2, "final"])];
    assert_eq!(counter.deposits(), both);
    node.mine(2);
    counter.restart_and_sync(first + 6);
    counter.assert_paid(small);
    node.mine(3);
    counter.restart_and_sync(first + 9);
    counter.assert_confirmations(large, 8, json!("final"));
    node.mine(1);
    counter.restart_and_sync(first + 10);
    counter.assert_paid(large);
    node.mine(2);
    counter.restart_and_sync(first + 12);
    let confirmed = "select group_concat(state) from (select state from observations)";
    counter
        .till
        .served
        .wait_for_query_result(confirmed, &["confirmed,confirmed,confirmed,confirmed"]);
    assert_eq!(
        counter.deposits(),
        [json!(["confirmed", NULL, NULL]), json!(["confirmed", NULL, NULL])]
    );
}
