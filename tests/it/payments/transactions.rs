//! Transactions with several outputs on the simulated chain. Each output keeps one row through all changes of state.

use super::operator::FOREIGN;
use crate::support::{Shop, TEST};
use serde_json::{Value, json};

const PATH: &str = "/sandbox/payments";

/// Five outputs of one transaction, worth 60.00 EUR each: two to one invoice, one to another, one to a customer, and
/// one to a foreign address.
struct FiveOutputs {
    shop: Shop,
    invoices: [String; 2],
    outputs: Value,
    /// Ids of the five payments after the newest change.
    payments: Vec<String>,
}

impl FiveOutputs {
    #[track_caller]
    fn create() -> FiveOutputs {
        let shop = Shop::open();
        shop.create_addresses(TEST, "ada").expect(201);
        let invoices = ["120.00", "60.00"].map(|amount| {
            let invoice = shop.create_invoice(amount, json!({ "asset": "BTC" }));
            invoice["id"].as_str().unwrap().to_owned()
        });
        let of_second = shop.get_invoice(&invoices[1])["depositAddress"].clone();
        let customer = shop.customer_address(TEST, "ada", "utxo");
        let outputs = json!([
            { "invoice": invoices[0], "amount": "0.001" },
            { "invoice": invoices[0] },
            { "address": of_second, "asset": "BTC", "amount": "0.001" },
            { "address": customer, "amount": "0.001" },
            { "address": FOREIGN, "asset": "BTC", "amount": "0.001" },
        ]);
        let mut five = FiveOutputs { shop, invoices, outputs, payments: Vec::new() };
        let seen = five.resend_transaction("one", 201);
        let seen = seen.as_array().unwrap().iter();
        five.payments = seen.map(|one| one["id"].as_str().unwrap().to_owned()).collect();
        five
    }

    /// Sends the transaction again with this id.
    #[track_caller]
    fn resend_transaction(&self, txid: &str, status: u16) -> Value {
        let body = json!({ "txid": txid, "outputs": self.outputs });
        self.shop.post(PATH, None, body).expect(status).json()["data"].clone()
    }

    /// Sends this request for each of the five payments.
    #[track_caller]
    fn change_each_payment_state(&mut self, body: &Value) {
        for payment in &mut self.payments {
            let path = format!("{PATH}/{payment}");
            let moved = self.shop.post(&path, None, body.clone()).expect(200).json();
            *payment = moved["id"].as_str().unwrap().to_owned();
        }
    }

    /// Returns transaction, position and state of each observation, and the number of rows that refer to the
    /// observation.
    fn observation_rows(&self) -> String {
        self.shop.query_text(
            "select group_concat(concat_ws(' ', txid, position, state, owners), ', ') from (
               select o.txid, o.position, o.state, (select count(*) from payments where observation = o.seq)
                 + (select count(*) from deposits where observation = o.seq)
                 + (select count(*) from unmatched_payments where observation = o.seq)
                 + (select count(*) from own_transfers where observation = o.seq) as owners
               from observations o order by o.seq)",
        )
    }

    /// Asserts the status of both invoices, the deposit status, and the available balance.
    #[track_caller]
    fn assert_state(&self, statuses: [&str; 2], deposit: &str, available: &str) {
        let deposits = self.shop.get("/v1/deposits", Some(TEST)).expect(200).json();
        let balances = self.shop.get("/v1/balances", Some(TEST)).expect(200).json();
        assert_eq!(
            (
                [0, 1].map(|at| self.shop.get_invoice(&self.invoices[at])["status"].clone()),
                &deposits["data"][0]["status"],
                &balances["data"][0]["available"],
            ),
            (statuses.map(Value::from), &json!(deposit), &json!(available))
        );
        self.shop.assert_audit_clean();
    }
}

/// Returns the expected result of [`FiveOutputs::observation_rows`] for the five outputs.
fn expected_rows(txid: &str, state: &str) -> String {
    let rows: Vec<_> = (0..5).map(|position| format!("{txid} {position} {state} 1")).collect();
    rows.join(", ")
}

#[test]
fn each_of_five_outputs_keeps_one_row() {
    let mut five = FiveOutputs::create();
    assert_eq!(five.observation_rows(), expected_rows("one", "seen"));
    five.assert_state(["detected", "detected"], "detected", "0.00");
    // A repeated transaction changes nothing.
    let again = five.resend_transaction("one", 200);
    let ids = again.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap());
    assert_eq!(Vec::from_iter(ids), five.payments);
    five.change_each_payment_state(&json!({ "state": "replaced", "txid": "two" }));
    let rows = format!("{}, {}", expected_rows("one", "dropped"), expected_rows("two", "seen"));
    assert_eq!(five.observation_rows(), rows);
    five.assert_state(["detected", "detected"], "detected", "0.00");
    five.change_each_payment_state(&json!({ "state": "confirmed" }));
    five.assert_state(["confirmed", "confirmed"], "confirmed", "237.60");
    five.change_each_payment_state(&json!({ "state": "orphaned" }));
    five.assert_state(["detected", "detected"], "detected", "0.00");
    five.shop.advance("1h");
    five.change_each_payment_state(&json!({ "state": "confirmed" }));
    five.assert_state(["confirmed", "confirmed"], "confirmed", "237.60");
    let rows =
        format!("{}, {}", expected_rows("one", "dropped"), expected_rows("two", "confirmed"));
    assert_eq!(five.observation_rows(), rows);
    five.resend_transaction("two", 200);
    assert_eq!(five.observation_rows(), rows);
    let booked = five.shop.invoice_ledger(&five.invoices[0], TEST);
    let once = "sale 60.00, fee -0.60";
    let back = "adjustment -60.00, adjustment 0.60";
    let restored = "adjustment 60.00, adjustment -0.60";
    assert_eq!(booked, [once, once, back, back, restored, restored].join(", "));
    let seen = five.shop.query_text("select group_concat(reason) from unmatched_payments");
    assert_eq!(seen, "unknown_address,unknown_address");
}

#[test]
fn output_keeps_its_requested_position() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("100.00", json!({ "asset": "LTC" }));
    let output = |position: Value| json!({ "invoice": invoice["id"], "amount": "0.1", "position": position });
    let put = |outputs: Value| shop.post(PATH, None, json!({ "txid": "t", "outputs": outputs }));
    let seen = put(json!([output(json!(7)), output(json!(3))])).expect(201).json();
    let known = put(json!([output(json!(3)), output(json!(8))])).expect(201).json();
    assert_eq!(known["data"][0], seen["data"][1]);
    let positions =
        "select group_concat(position) from (select position from observations order by seq)";
    assert_eq!(shop.query_text(positions), "7,3,8");
    // A request without a position uses the stored position of its payment. A new payment gets the next free
    // position.
    let one = |body: Value| shop.post(PATH, None, body);
    one(json!({ "invoice": invoice["id"], "txid": "t" })).expect(200);
    one(json!({ "address": "tltc1q33fggyev8st5a7yfdgkwqfsww53vmrm9kljdp9", "asset": "LTC", "amount": "1", "txid": "t" })).expect(201);
    assert_eq!(shop.query_text(positions), "7,3,8,9");
    shop.assert_audit_clean();
}

#[test]
fn zero_output_is_skipped() {
    let shop = Shop::open();
    let open = shop.create_invoice("60.00", json!({}));
    let nothing = json!({ "invoice": open["id"], "asset": "BTC", "amount": "0" });
    let none = shop.post(PATH, None, json!({ "txid": "t", "outputs": [nothing] }));
    assert_eq!(none.expect(200).json(), json!({ "data": [] }));
    // An output of zero BTC selects BTC as the coin of the invoice. In the second transaction, the output after the
    // zero output has position 1.
    let picked = shop.get_invoice(open["id"].as_str().unwrap());
    assert_eq!((&picked["status"], &picked["asset"]), (&json!("awaiting_payment"), &json!("BTC")));
    let pays = json!({ "invoice": open["id"] });
    let body = json!({ "txid": "t", "outputs": [nothing, pays] });
    let put = shop.post(PATH, None, body).expect(201).json();
    assert_eq!(put["data"].as_array().unwrap().len(), 1);
    assert_eq!(
        shop.query_text("select concat(position, ' ', amount) from observations"),
        "1 100000"
    );
    shop.assert_audit_clean();
}

#[test]
fn invalid_transaction_is_rejected_as_a_whole() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("100.00", json!({ "asset": "LTC" }));
    let pays = json!({ "invoice": invoice["id"], "amount": "0.1" });
    let on_bitcoin = json!({ "address": FOREIGN, "asset": "BTC", "amount": "1" });
    let at = |position: Value| json!({ "invoice": invoice["id"], "amount": "0.1", "position": position });
    for (outputs, param) in [
        (json!([]), "outputs"),
        (json!("x"), "outputs"),
        (json!(vec![pays.clone(); 201]), "outputs"),
        (json!([pays, 1]), "outputs"),
        (json!([pays, on_bitcoin]), "outputs"),
        (json!([pays, at(json!(0))]), "position"),
        (json!([at(json!(-1))]), "position"),
        (json!([at(json!(0.5))]), "position"),
        (json!([at(json!(2_147_483_648_u32))]), "position"),
        (json!([pays, { "invoice": invoice["id"], "txid": "t" }]), "txid"),
        (json!([pays, { "amount": "1" }]), "invoice"),
        (json!([pays, { "address": FOREIGN }]), "address"),
    ] {
        let answer = shop.post(PATH, None, json!({ "outputs": outputs }));
        answer.assert_error(400, "invalid_request", Some(param));
    }
    let body = json!({ "outputs": [pays], "amount": "1" });
    shop.post(PATH, None, body).assert_error(400, "invalid_request", Some("amount"));
    // A different output at the position of a stored output is rejected.
    let body = |output: &Value| json!({ "txid": "t", "outputs": [output] });
    shop.post(PATH, None, body(&pays)).expect(201);
    let other = shop.create_invoice("50.00", json!({ "asset": "LTC" }));
    let other = json!({ "invoice": other["id"] });
    shop.post(PATH, None, body(&other)).assert_error(400, "invalid_request", Some("position"));
    assert_eq!(shop.query_text("select cast(count(*) as text) from observations"), "1");
    shop.assert_audit_clean();
}

#[test]
fn transfers_within_the_shop_book_nothing() {
    let mut five = FiveOutputs::create();
    five.change_each_payment_state(&json!({ "state": "confirmed" }));
    five.assert_state(["confirmed", "confirmed"], "confirmed", "237.60");
    // The shop sends the coins of the first invoice to the address of another invoice and to a foreign address.
    let shop = &five.shop;
    let other = shop.create_invoice("60.00", json!({ "asset": "BTC" }));
    let outputs = json!([
        { "invoice": other["id"] },
        { "address": FOREIGN, "asset": "BTC", "amount": "0.5" },
    ]);
    let swept = |spends: &[&String]| {
        let body = json!({ "outputs": outputs, "spends": spends });
        shop.post(PATH, None, body).expect(201).json()["data"].clone()
    };
    let own = swept(&[&five.payments[0]]);
    assert_eq!([&own[0]["state"], &own[1]["state"]], ["own", "own"]);
    for state in ["confirmed", "orphaned", "dropped", "seen"] {
        let moved = shop.set_payment_state(own[0]["id"].as_str().unwrap(), state);
        assert_eq!([&moved["id"], &moved["state"]], [&own[0]["id"], &own[0]["state"]]);
    }
    let instead = shop.set_payment_state(own[0]["id"].as_str().unwrap(), "replaced");
    assert_eq!(instead["state"], "own", "the transaction spends the same outputs");
    assert_eq!(shop.get_invoice(other["id"].as_str().unwrap())["status"], "awaiting_payment");
    five.assert_state(["confirmed", "confirmed"], "confirmed", "237.60");
    // The payment comes from a foreign address. It becomes a transfer within the shop (state `own`) only when this
    // address is declared as the shop's own.
    let strange = swept(&[&five.payments[4]]);
    assert_eq!([&strange[0]["state"], &strange[1]["state"]], ["seen", "unmatched"]);
    let declared = format!(
        "insert into own_addresses (mode, pool, address, created_at) values ('test', 'bitcoin', '{FOREIGN}', 0)"
    );
    shop.execute_sql(&declared);
    let own = swept(&[&five.payments[4]]);
    assert_eq!([&own[0]["state"], &own[1]["state"]], ["own", "own"]);
    // On account-based chains, a payment is a transfer within the shop if the sender's address belongs to the shop.
    let paid = shop.create_invoice("100.00", json!({ "asset": "ETH" }));
    let paid = shop.pay(json!({ "invoice": paid["id"] }));
    let gas = shop.create_invoice("100.00", json!({ "asset": "USDC-BASE" }));
    let body = json!({ "outputs": [{ "invoice": gas["id"] }], "spends": [paid] });
    let gas = shop.post(PATH, None, body).expect(201).json();
    assert_eq!(gas["data"][0]["state"], "own");
    // A transfer within the shop that pays an invoice in ETH also selects ETH as the coin of the invoice.
    let open = shop.create_invoice("100.00", json!({}));
    let body = json!({ "outputs": [{ "invoice": open["id"], "asset": "ETH" }], "spends": [paid] });
    shop.post(PATH, None, body).expect(201);
    let open = shop.get_invoice(open["id"].as_str().unwrap());
    assert_eq!((&open["status"], &open["asset"]), (&json!("awaiting_payment"), &json!("ETH")));
    for spends in [json!(["x"]), json!([1]), json!("x"), json!(vec![paid.clone(); 201])] {
        let body = json!({ "outputs": outputs, "spends": spends });
        shop.post(PATH, None, body).assert_error(400, "invalid_request", Some("spends"));
    }
    shop.assert_audit_clean();
}
