//! Fields of every resource: types, nullable fields and enumeration values, in responses and in the OpenAPI document.

mod documented;

use crate::support::operator_interface::OperatorInterface;
use crate::support::resource::ResourceShape;
use crate::support::{LIVE, Shop, TEST, links};
use documented::{BALANCE, CURRENCY, EVENT, INVOICE, LEDGER_ENTRY, MERCHANT, PAYOUT, REFUND};
use serde_json::{Value, json};

#[test]
fn openapi_schemas_match_documented_fields() {
    let shop = Shop::open();
    let document = shop.get("/v1/openapi.json", None).expect(200).json();
    for (name, fields) in [
        ("Invoice", INVOICE),
        ("Payout", PAYOUT),
        ("Refund", REFUND),
        ("Merchant", MERCHANT),
        ("Balance", BALANCE),
        ("LedgerEntry", LEDGER_ENTRY),
        ("Currency", CURRENCY),
        ("Event", EVENT),
    ] {
        let schema = &document["components"]["schemas"][name];
        ResourceShape::parse(fields).assert_schema(schema);
    }
}

/// Creates an invoice from a payment link, and live invoices with and without the optional fields.
#[track_caller]
fn create_invoices_of_all_origins(shop: &Shop) {
    let link = links::LinkClient::sign_in(shop)
        .create_test_link(json!({ "name": "Tea", "amount": "2.00", "currency": "EUR" }));
    let path = format!("/l/{}", link["id"].as_str().unwrap());
    assert_eq!(shop.submit(&path, &[], "").status, 303);
    let order = json!({ "amount": "3.00", "currency": "USD", "orderId": "a", "description": "Tea",
        "customerEmail": "ada@example.com", "metadata": { "a": 1 } });
    shop.post("/v1/invoices", Some(LIVE), order).expect(201);
    shop.fund_balance(LIVE, "10.00", "USD");
}

#[test]
fn invoice_fields_match_documentation_in_every_status() {
    let shop = Shop::open();
    create_invoices_of_all_origins(&shop);
    let quoted = || shop.create_invoice("20.00", json!({ "asset": "LTC" }))["id"].clone();
    let text = |id: Value| id.as_str().unwrap().to_owned();
    let (late, failing, cancelled) = (quoted(), quoted(), text(quoted()));
    shop.cancel_invoice(&cancelled).expect(200);
    quoted();
    let payment = shop.pay(json!({ "invoice": failing }));
    shop.set_payment_state(&payment, "dropped");
    shop.advance("20m");
    let payment = shop.pay(json!({ "invoice": late }));
    shop.set_payment_state(&payment, "confirmed");
    for case in ["exact", "under", "over"] {
        let id = text(quoted());
        let body = json!({ "case": case });
        shop.post(&format!("/v1/invoices/{id}/simulate"), Some(TEST), body).expect(200);
        if case == "over" {
            shop.create_refund(&id, Some("1.00"));
        }
    }
    shop.pay(json!({ "invoice": quoted() }));
    quoted();
    shop.create_invoice("20.00", json!({}));
    let mut resource = ResourceShape::parse(INVOICE);
    for key in [TEST, LIVE] {
        for invoice in shop.list_entries("/v1/invoices?limit=100", key) {
            resource.assert_matches(&invoice);
            let is_paid = ["confirmed", "overpaid"].map(|status| invoice["status"] == status);
            assert_eq!(invoice["paid"], is_paid.contains(&true), "{invoice}");
            assert_eq!(invoice["livemode"], key == LIVE);
        }
    }
    resource.assert_nulls_and_flags_seen();
    resource.assert_values_seen("status");
    resource.assert_values_seen("currency");
}

#[test]
fn payout_and_refund_fields_match_documentation_in_every_status() {
    let shop = Shop::open();
    let live = shop.fund_balance(LIVE, "1000.00", "EUR");
    let test = shop.fund_balance(TEST, "1000.00", "USD");
    for way in [&["reject"][..], &["cancel"], &["approve", "fail"], &["approve", "process", "pay"]]
    {
        shop.apply_actions("payouts", &shop.create_payout("20.00"), way);
    }
    let id = shop.create_payout("20.00");
    let (mut payouts, mut refunds) = (ResourceShape::parse(PAYOUT), ResourceShape::parse(REFUND));
    for action in ["approve", "process", "fail"] {
        for payout in shop.list_entries("/v1/payouts", LIVE) {
            payouts.assert_matches(&payout);
        }
        let body = json!({ "action": action, "reason": (action == "fail").then_some("No") });
        shop.post(&format!("/sandbox/payouts/{id}"), None, body).expect(200);
    }
    for payout in shop.list_entries("/v1/payouts", LIVE) {
        payouts.assert_matches(&payout);
    }
    for way in [
        &[][..],
        &["approve"],
        &["approve", "process"],
        &["approve", "process", "pay"],
        &["approve", "fail"],
        &["reject"],
        &["cancel"],
    ] {
        shop.apply_actions("refunds", &shop.create_refund(&test, Some("1.00")), way);
    }
    let body = json!({ "invoice": live, "amount": "1.00", "reason": "Late" });
    let refund = shop.post("/sandbox/refunds", None, body).expect(201).json();
    let path = format!("/sandbox/refunds/{}", refund["id"].as_str().unwrap());
    let body = json!({ "action": "cancel", "reason": "Not late" });
    shop.post(&path, None, body).expect(200);
    for refund in [TEST, LIVE].iter().flat_map(|key| shop.list_entries("/v1/refunds", key)) {
        refunds.assert_matches(&refund);
    }
    refunds.assert_values_seen("currency");
    for resource in [payouts, refunds] {
        resource.assert_nulls_and_flags_seen();
        resource.assert_values_seen("status");
    }
}

#[test]
fn merchant_and_balance_fields_match_documentation() {
    let shop = Shop::open();
    let (mut merchant, mut balance) =
        (ResourceShape::parse(MERCHANT), ResourceShape::parse(BALANCE));
    let ends = [
        json!({ "status": "pending", "customersEnabled": false, "settlementEnabled": false }),
        json!({ "status": "rejected", "endpoints": [{ "url": "http://127.0.0.1:9/" }] }),
        json!({ "status": "suspended", "customersEnabled": true, "settlementEnabled": true, "feeBps": 5 }),
        json!({ "status": "active" }),
    ];
    for end in ends {
        shop.update_account(end);
        for key in [TEST, LIVE] {
            let read = shop.get("/v1/merchant", Some(key)).expect(200).json();
            merchant.assert_matches(&read);
            let balances = shop.list_entries("/v1/balances", key);
            assert_eq!(read["balances"], json!(balances));
            let currencies: Vec<&Value> = balances.iter().map(|one| &one["currency"]).collect();
            assert_eq!(currencies, ["EUR", "USD"]);
            balances.iter().for_each(|one| balance.assert_matches(one));
        }
    }
    merchant.assert_nulls_and_flags_seen();
    merchant.assert_values_seen("status");
    assert_eq!(shop.get("/v1/merchant", Some(TEST)).json()["feePercent"], "0.05");
}

#[test]
fn ledger_entry_fields_match_documentation_for_every_kind() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let correction = json!({ "currency": "EUR", "amount": "-1.00", "memo": "By hand" });
    interface.request("POST", "adjustments", &correction).expect(201);
    shop.create_addresses(TEST, "ada").expect(201);
    let deposit = json!({ "asset": "BTC", "amount": "0.01" });
    shop.post("/v1/customers/ada/simulate", Some(TEST), deposit).expect(201);
    let invoice = shop.fund_balance(LIVE, "500.00", "EUR");
    shop.fund_balance(LIVE, "500.00", "USD");
    shop.apply_actions("payouts", &shop.create_payout("20.00"), &["reject"]);
    shop.apply_actions("refunds", &shop.create_refund(&invoice, Some("1.00")), &["reject"]);
    let mut resource = ResourceShape::parse(LEDGER_ENTRY);
    for key in [TEST, LIVE] {
        for entry in shop.list_entries("/v1/ledger?limit=200", key) {
            resource.assert_matches(&entry);
            let is_negative = ["fee", "payout", "refund"].map(|kind| entry["kind"] == kind);
            if entry["kind"] != "adjustment" {
                let starts = entry["amount"].as_str().unwrap().starts_with('-');
                assert_eq!(starts, is_negative.contains(&true), "{entry}");
            }
            let fee = if entry["kind"] == "fee" { json!(100) } else { Value::Null };
            assert_eq!(entry["feeBps"], fee, "the fee of a fee: {entry}");
        }
    }
    resource.assert_nulls_and_flags_seen();
    for name in ["currency", "kind", "refType"] {
        resource.assert_values_seen(name);
    }
}

#[test]
fn currency_fields_match_documentation() {
    let shop = Shop::open();
    let mut resource = ResourceShape::parse(CURRENCY);
    for coin in shop.list_entries("/v1/currencies", TEST) {
        resource.assert_matches(&coin);
    }
    resource.assert_values_seen("kind");
}

#[test]
fn customer_address_fields_match_documentation() {
    let shop = Shop::open();
    let made = shop.create_addresses(TEST, "ada").expect(201).json();
    ResourceShape::parse("customer =ada\n conversion object\n addresses list")
        .assert_matches(&made);
    ResourceShape::parse("provider text\n target text\n feesPaidBy text")
        .assert_matches(&made["conversion"]);
    let family = "family solana|evm|tron|utxo\n chainIds list\n address text\n assets list";
    let (mut family, mut asset) = (
        ResourceShape::parse(family),
        ResourceShape::parse("id text\n symbol text\n chainId text\n kind text"),
    );
    for entry in made["addresses"].as_array().unwrap() {
        family.assert_matches(entry);
        for coin in entry["assets"].as_array().unwrap() {
            asset.assert_matches(coin);
            let chains = entry["chainIds"].as_array().unwrap();
            assert!(chains.contains(&coin["chainId"]), "{entry}");
        }
    }
    family.assert_values_seen("family");
}

#[test]
fn event_fields_match_documentation_for_every_type() {
    let shop = Shop::open();
    shop.update_account(json!({ "status": "suspended" }));
    shop.update_account(json!({ "status": "active" }));
    let invoice = shop.fund_balance(LIVE, "500.00", "EUR");
    for end in [&["approve", "fail"][..], &["approve", "process", "pay"]] {
        shop.apply_actions("payouts", &shop.create_payout("20.00"), end);
        shop.apply_actions("refunds", &shop.create_refund(&invoice, Some("1.00")), end);
    }
    let quoted = || shop.create_invoice("20.00", json!({ "asset": "LTC" }))["id"].clone();
    let paid = |amount: &str| {
        let payment = shop.pay(json!({ "invoice": quoted(), "amount": amount }));
        shop.set_payment_state(&payment, "confirmed");
        payment
    };
    for amount in ["0.25", "0.5", "0.1"] {
        paid(amount);
    }
    shop.set_payment_state(&paid("0.25"), "dropped");
    shop.cancel_invoice(quoted().as_str().unwrap()).expect(200);
    shop.create_addresses(TEST, "ada").expect(201);
    let deposit = json!({ "asset": "BTC", "amount": "0.01" });
    shop.post("/v1/customers/ada/simulate", Some(TEST), deposit).expect(201);
    let late = quoted();
    shop.advance("20m");
    let late = shop.pay(json!({ "invoice": late }));
    shop.set_payment_state(&late, "confirmed");
    let mut resource = ResourceShape::parse(EVENT);
    for key in [TEST, LIVE] {
        for event in shop.list_entries("/v1/events?limit=200", key) {
            resource.assert_matches(&event);
            assert_eq!(event["livemode"], key == LIVE);
            let kind = event["type"].as_str().unwrap();
            // The filter by event type accepts every type.
            let of_type = shop.list_entries(&format!("/v1/events?limit=200&type={kind}"), key);
            assert!(of_type.contains(&event) && of_type.iter().all(|one| one["type"] == kind));
            let object = &event["data"]["object"]["object"];
            let named = kind.split('.').next().unwrap();
            assert!(object == named || (object.is_null() && named == "payout"), "{event}");
        }
    }
    resource.assert_nulls_and_flags_seen();
    resource.assert_values_seen("type");
}

#[test]
fn checkout_session_fields_match_documentation() {
    let shop = Shop::open();
    let mut config = ResourceShape::parse(
        "merchant text\n livemode flag\n branding object\n currencies list\n checkoutLang text\n coins list\n widgetUrl uri",
    );
    let mut branding = ResourceShape::parse("color text or null\n logoUrl uri or null");
    let mut coin = ResourceShape::parse("id text\n symbol text\n name text\n chain text");
    for key in ["pk_test_sandbox", "pk_live_sandbox"] {
        let told = shop.get("/v1/public/config", Some(key)).expect(200).json();
        config.assert_matches(&told);
        branding.assert_matches(&told["branding"]);
        told["coins"].as_array().unwrap().iter().for_each(|one| coin.assert_matches(one));
        shop.execute_sql(
            "update accounts set branding_color = '#aa00ff', branding_logo_url = 'https://shop.example/logo.png'",
        );
    }
    config.assert_nulls_and_flags_seen();
    branding.assert_nulls_and_flags_seen();
    let statuses = INVOICE.lines().find_map(|line| line.trim().strip_prefix("status "));
    assert_eq!(statuses.unwrap().split('|').count(), 10);
    let mut session = ResourceShape::parse(
        "invoiceId uuid\n token text\n checkoutUrl uri\n status created|awaiting_payment\n expiresAt time",
    );
    for asset in [Value::Null, json!("LTC")] {
        let invoice = shop.create_invoice("20.00", json!({ "asset": asset }));
        let body = json!({ "invoiceId": invoice["id"] });
        let begun = shop.post("/v1/public/checkout-sessions", Some("pk_test_sandbox"), body);
        session.assert_matches(&begun.expect(200).json());
    }
    session.assert_values_seen("status");
}

#[test]
fn error_fields_match_documentation() {
    let shop = Shop::open();
    let bare = shop.get("/v1/invoices/x", Some(TEST)).expect(404).json();
    let mut error = ResourceShape::parse("error text\n message text\n requestId text");
    error.assert_matches(&bare);
    let named = shop.get("/v1/invoices?limit=0", Some(TEST)).expect(400).json();
    let mut error = ResourceShape::parse("error text\n message text\n param text\n requestId text");
    error.assert_matches(&named);
}
