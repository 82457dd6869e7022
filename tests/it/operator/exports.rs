//! CSV exports: every row exactly once, and texts that spreadsheets do not execute.

use crate::support::TEST;
use crate::support::operator_interface::OperatorInterface;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

/// Returns the lines of an export in test mode, starting with the header.
#[track_caller]
fn export_lines(interface: &OperatorInterface, file: &str) -> Vec<String> {
    let answer = interface.request("GET", &format!("exports/{file}"), &Value::Null);
    let answer = answer.expect(200);
    assert_eq!(answer.headers["content-type"], "text/csv; charset=utf-8");
    assert!(answer.text.ends_with("\r\n"));
    let lines = answer.text.split_terminator("\r\n");
    lines.map(str::to_owned).collect()
}

#[test]
fn export_matches_the_operator_interface() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    shop.update_account(json!({ "feeBps": 100 }));
    let body = json!({
        "asset": "LTC", "orderId": "=1+1", "description": "a \"b\", c", "customerEmail": "ada@example.com",
    });
    let invoice = shop.create_invoice("20.00", body);
    let id = invoice["id"].as_str().unwrap();
    let payment = shop.pay(json!({ "invoice": id, "txid": "t1" }));
    shop.set_payment_state(&payment, "confirmed");
    let refund = shop.create_refund(id, Some("5.00"));
    let now = shop.now();
    let read = shop.get_invoice(id);
    let text = |name: &str| read[name].as_str().unwrap().to_owned();
    let (address, expires) = (text("depositAddress"), text("expiresAt"));
    assert_eq!(
        export_lines(&interface, "invoices.csv"),
        [
            "id,orderId,status,amount,currency,description,asset,rate,amountExpected,amountReceived,depositAddress,customerEmail,refundedAmount,createdAt,expiresAt,confirmedAt,cancelledAt,fee".to_owned(),
            format!("{id},'=1+1,confirmed,20.00,EUR,\"a \"\"b\"\", c\",LTC,80,0.25,0.25,{address},ada@example.com,5.00,{now},{expires},{now},,0.20"),
        ]
    );
    assert_eq!(
        export_lines(&interface, "payments.csv")[1..],
        [format!(
            "{payment},{id},'=1+1,confirmed,litecoin,LTC,t1,0,0.25,80,20.00,EUR,true,{now},{now},0.20"
        )]
    );
    let ledger = export_lines(&interface, "ledger.csv");
    let amounts: Vec<_> = ledger[1..].iter().map(|line| line.split(',').nth(2).unwrap()).collect();
    assert_eq!(amounts, ["20.00", "-0.20", "-5.00"], "numbers stay numbers");
    let refunds = export_lines(&interface, "refunds.csv");
    assert!(refunds[1].starts_with(&format!("{refund},{id},requested,5.00,EUR,litecoin,LTC,")));
    for file in ["payouts.csv", "deposits.csv"] {
        assert_eq!(export_lines(&interface, file).len(), 1, "{file}");
    }
    let file = interface.request("GET", "exports/ledger.csv", &Value::Null);
    assert_eq!(file.headers["content-disposition"], "attachment; filename=ledger-test.csv");
    interface.shop.advance("1s");
    let later = interface.shop.now();
    assert_eq!(export_lines(&interface, &format!("invoices.csv?from={later}")).len(), 1);
    assert_eq!(export_lines(&interface, &format!("invoices.csv?to={later}")).len(), 2);
    let live = interface.path("exports/invoices.csv").replace("test", "live");
    let live = interface.send(&interface.merchant, "GET", &live, &Value::Null);
    assert_eq!(live.expect(200).text.lines().count(), 1);
}

#[test]
fn export_takes_the_filters_of_the_list() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    shop.update_account(json!({ "customersEnabled": true }));
    let made = |amount: &str, body: Value| {
        shop.create_invoice(amount, body)["id"].as_str().unwrap().to_owned()
    };
    let chairs =
        made("20.00", json!({ "asset": "LTC", "description": "Chairs", "orderId": "xyz-1" }));
    let dollars = shop
        .post(
            "/v1/invoices",
            Some(TEST),
            json!({ "amount": "5.00", "currency": "USD", "metadata": { "chairs": 4 } }),
        )
        .expect(201)
        .id();
    // The byte limit of a search ends pieces of the export early.
    let large = json!({ "large": "x".repeat(60_000), "kind": "chairs=9" });
    let many: Vec<String> = (0..40).map(|_| made("1.00", json!({ "metadata": large }))).collect();
    let last = made("20.00", json!({ "customerEmail": "chairs@example.com" }));
    let payment = shop.pay(json!({ "invoice": chairs, "txid": "t1" }));
    shop.set_payment_state(&payment, "confirmed");
    let ids = |query: &str| {
        let lines = export_lines(&interface, query).into_iter().skip(1);
        lines.map(|line| line.split(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut expected = vec![chairs.clone()];
    expected.extend(many.iter().cloned());
    expected.push(last.clone());
    assert_eq!(ids("invoices.csv?text=CHAIRS"), expected, "as the list, without keys of metadata");
    assert_eq!(ids("invoices.csv?text=kind%3Dchairs%3D9"), many);
    assert_eq!(ids("invoices.csv?text=chairs@example"), [last.as_str()]);
    for text in [chairs.as_str(), "t1", "xyz-1"] {
        assert_eq!(ids(&format!("invoices.csv?text={text}")), [chairs.as_str()], "{text}");
    }
    assert_eq!(ids("invoices.csv?text=t1&status=created"), [""; 0]);
    assert_eq!(ids("invoices.csv?text=%00"), [""; 0]);
    assert_eq!(ids("invoices.csv?currency=USD"), [dollars.as_str()]);
    assert_eq!(ids("invoices.csv?status=confirmed"), [chairs.as_str()]);
    assert_eq!(ids("ledger.csv?currency=USD"), [""; 0]);
    assert_eq!(ids("ledger.csv?currency=EUR").len(), 2, "sale and fee");
    let refund = shop.create_refund(&chairs, Some("5.00"));
    assert_eq!(ids("refunds.csv?status=requested"), [refund]);
    for query in ["refunds.csv?status=paid", "refunds.csv?onChain=needs_review"] {
        assert_eq!(ids(query), [""; 0], "{query}");
    }
    for customer in ["ada", "bob"] {
        shop.create_addresses(TEST, customer).expect(201);
        let body = json!({ "asset": "BTC", "amount": "0.001" });
        shop.post(&format!("/v1/customers/{customer}/simulate"), Some(TEST), body).expect(201);
    }
    assert_eq!(ids("deposits.csv").len(), 2);
    let lines = export_lines(&interface, "deposits.csv?customer=ada");
    assert_eq!(lines.len(), 2);
    assert!(lines[1].contains(",ada,"), "{lines:?}");
}

#[test]
fn export_refuses_filters_of_other_lists() {
    let interface = OperatorInterface::open();
    for (query, param) in [
        ("payments.csv?status=confirmed", "status"),
        ("invoices.csv?status=paid", "status"),
        ("invoices.csv?currency=GBP", "currency"),
        ("deposits.csv?currency=EUR", "currency"),
        ("ledger.csv?text=x", "text"),
        ("invoices.csv?customer=ada", "customer"),
        ("invoices.csv?onChain=needs_review", "onChain"),
        ("payouts.csv?onChain=other", "onChain"),
    ] {
        interface.request("GET", &format!("exports/{query}"), &Value::Null).assert_error(
            400,
            "invalid_request",
            Some(param),
        );
    }
}

#[test]
fn exported_deposit_has_net_amount_and_currency() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    shop.update_account(json!({ "feeBps": 100, "customersEnabled": true }));
    shop.create_addresses(TEST, "ada").expect(201);
    let body = json!({ "asset": "BTC", "amount": "0.001" });
    shop.post("/v1/customers/ada/simulate", Some(TEST), body).expect(201);
    let lines = export_lines(&interface, "deposits.csv");
    assert!(
        lines[0].ends_with(",grossEur,feeEur,createdAt,confirmedAt,netEur,currency"),
        "{lines:?}"
    );
    let now = shop.now();
    assert!(lines[1].ends_with(&format!(",60.00,0.60,{now},{now},59.40,EUR")), "{lines:?}");
}

/// Inserts 10 000 invoices. 9 000 of them are test invoices of the account.
#[track_caller]
pub fn insert_many_invoices(interface: &OperatorInterface) {
    let invoice = interface.shop.create_invoice("1.00", json!({}));
    let conn = Connection::open(interface.shop.file()).unwrap();
    conn.execute_batch(
        "create temp table one as select * from invoices limit 1;
         create temp table many as
           with recursive n (n) as (select 2 union all select n + 1 from n where n < 10000) select n from n;
         create temp table made as select m.n as number, o.* from many m join one o;
         update made set seq = number, id = 'i' || number, mode = iif(number % 10 = 0, 'live', 'test');
         alter table made drop column number;
         insert into invoices select * from made;",
    )
    .unwrap();
    assert_eq!(invoice["status"], "created");
}

#[test]
fn export_contains_each_row_once_in_order() {
    let interface = OperatorInterface::open();
    insert_many_invoices(&interface);
    let lines = export_lines(&interface, "invoices.csv");
    let ids: Vec<_> =
        lines[2..].iter().map(|line| line.split(',').next().unwrap().to_owned()).collect();
    let expected: Vec<_> =
        (2..=10_000).filter(|number| number % 10 != 0).map(|number| format!("i{number}")).collect();
    assert_eq!(ids, expected);
}

#[test]
fn aborted_export_frees_its_slot() {
    let interface = OperatorInterface::open();
    insert_many_invoices(&interface);
    let host = interface.shop.url().trim_start_matches("http://").to_owned();
    let path = interface.path("exports/invoices.csv");
    // The server frees the slot of an aborted export when it notices the abort. Until then, it may reject a new
    // export, because the account has only ten slots.
    let mut begun = 0;
    while begun < 50 {
        let mut stream = TcpStream::connect(&host).unwrap();
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {host}\r\ncookie: {}\r\n\r\n",
            interface.operator
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut start = [0; 100];
        stream.read_exact(&mut start).unwrap();
        let is_refused = start.starts_with(b"HTTP/1.1 503 Service Unavailable");
        assert!(is_refused || start.starts_with(b"HTTP/1.1 200 OK"));
        begun += u32::from(!is_refused);
    }
    // Other reads and writes continue, and the server stops in time.
    let invoice = interface.shop.create_invoice("1.00", json!({}));
    let id = invoice["id"].as_str().unwrap();
    let read = interface.shop.get(&format!("/v1/invoices/{id}"), Some(TEST));
    read.expect(200);
}

#[test]
fn exports_check_access_and_name() {
    let interface = OperatorInterface::open();
    interface.assert_access("export", "GET", "exports/invoices.csv", false);
    for file in ["invoices", "users.csv", "invoices.json", ".csv"] {
        interface.request("GET", &format!("exports/{file}"), &Value::Null).assert_error(
            404,
            "not_found",
            None,
        );
    }
    for (query, param) in [("from=x", "from"), ("to=1", "to"), ("mode=both", "mode")] {
        let path = interface.path("exports/ledger.csv").replace("mode=test", query);
        interface.send_as_operator("GET", &path, &Value::Null).assert_error(
            400,
            "invalid_request",
            Some(param),
        );
    }
}

#[test]
fn export_escapes_formulas() {
    let interface = OperatorInterface::open();
    // Texts, each with its expected cell in the CSV file. A cell with a separator is quoted.
    let cases = [
        (";=1", "\";'=1\""),
        ("x;=1", "\"x;'=1\""),
        ("a;b;-1+2", "\"a;b;'-1+2\""),
        ("x; =1", "\"x;' =1\""),
        ("x\t@y", "\"x\t'@y\""),
        ("x|+y", "\"x|'+y\""),
        ("x\r=1", "\"x\r'=1\""),
        ("x\r\n\"=1", "\"x\r\n'\"\"=1\""),
        ("x\u{a0}=1", "x\u{a0}=1"),
        ("x;\u{a0}\u{feff}=1", "\"x;'\u{a0}\u{feff}=1\""),
        ("x;＝1", "\"x;'＝1\""),
        ("x;y=1", "\"x;y=1\""),
    ];
    for (text, _) in cases {
        interface.shop.create_invoice("1.00", json!({ "description": text }));
    }
    let file = interface.request("GET", "exports/invoices.csv", &Value::Null);
    let file = file.expect(200).text;
    for (text, cell) in cases {
        let cell = format!(",1.00,EUR,{cell},");
        assert!(file.contains(&cell), "{text:?}: {file}");
    }
}
