//! Invoices in the operator interface: search, details and cancellation.

use crate::support::object_id;
use crate::support::object_ids;
use crate::support::operator_interface::OperatorInterface;
use crate::support::{LIVE, TEST};
use serde_json::{Value, json};

#[test]
fn search_finds_metadata_values() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let made =
        |metadata: Value| object_id(&shop.create_invoice("10.00", json!({ "metadata": metadata })));
    let shoes =
        made(json!({ "basket": "Red Shoes", "size": "42", "note": "100% caf\u{e9} \"x\"" }));
    let hats = made(json!({ "basket": "Red Hats", "Red Shoes": "no" }));
    let gift = made(json!({ "gift": true, "n": 7, "d\u{e9}j\u{e0} \"vu\"": "a=b" }));
    let none = made(json!({}));
    let found = |text: &str| object_ids(&interface.get(&format!("invoices?text={text}")));
    for text in
        ["red+shoes", "ed+Sho", "caf%C3%A9+%22x", "100%25+c", "size%3D42", "basket%3DRed+Shoes"]
    {
        assert_eq!(found(text), std::slice::from_ref(&shoes), "{text}");
    }
    assert_eq!(found("red"), [hats.clone(), shoes]);
    assert_eq!(found("Red+Shoes%3Dno"), [hats]);
    for text in ["gift%3Dtrue", "n%3D7", "d%C3%A9j%C3%A0+%22vu%22%3Da%3Db", "a%3Db"] {
        assert_eq!(found(text), std::slice::from_ref(&gift), "{text}");
    }
    // A search for a metadata key alone, for JSON syntax or for a pattern finds nothing.
    for text in ["size", "%22basket%22", "%7B", "size%3D4", "size%3D4_", "%00", "red%00", "R_d"] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
    assert_eq!(found(&none), [none]);
}

#[test]
fn search_finds_metadata_numbers_and_keys_with_special_characters() {
    let interface = OperatorInterface::open();
    let numbers = ["12345678901234567890", "19.90", "1e+3", "-0", "0.10000000000000000000001"];
    let made = numbers.map(|number| {
        let body = format!(
            "{{\"amount\":\"10.00\",\"currency\":\"EUR\",\"metadata\":{{\"is \\\"it\\\"?\":[{{\"x=y\":{number}}}]}}}}"
        );
        let key = [("X-API-Key", TEST)];
        let invoice = interface.shop.send("POST", "/v1/invoices", &key, &body);
        let invoice = invoice.expect(201);
        assert!(invoice.text.contains(&format!(":{number}}}")), "{}", invoice.text);
        object_id(&invoice.json())
    });
    let found = |text: &str| {
        let text = text.replace('=', "%3D").replace('+', "%2B");
        object_ids(&interface.get(&format!("invoices?text={text}")))
    };
    for (number, made) in numbers.iter().zip(&made) {
        let made = std::slice::from_ref(made);
        assert_eq!(found(&format!("x=y={number}")), made, "{number}");
        if number.len() > 2 {
            assert_eq!(found(number), made, "{number}");
        }
    }
    assert_eq!(found("1E+3"), [made[2].clone()]);
    for text in ["x=y=19.9", "x=y", "y=19.90", "x=y=1000", "19.900", "=19.90", "x=y="] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

#[test]
fn search_has_a_byte_limit_per_page_and_continues() {
    let interface = OperatorInterface::open();
    let wanted =
        object_id(&interface.shop.create_invoice("10.00", json!({ "orderId": "the first" })));
    create_large_invoices(&interface);
    for search in ["text=he+first", "text=he+first&status=created"] {
        let page = interface.get(&format!("invoices?{search}"));
        assert_eq!(object_ids(&page), [""; 0]);
        let before = page["nextBefore"].as_str().unwrap();
        let page = interface.get(&format!("invoices?{search}&before={before}"));
        assert_eq!(object_ids(&page), std::slice::from_ref(&wanted));
        assert_eq!(page["nextBefore"], Value::Null);
    }
}

/// Creates invoices with so much metadata that a page of a text search ends among them.
fn create_large_invoices(interface: &OperatorInterface) {
    let metadata = json!({ "large": "x".repeat(60_000) });
    for _ in 0..40 {
        interface.shop.create_invoice("10.00", json!({ "metadata": metadata }));
    }
}

/// Returns the ids of each page of a search that are not empty, until the last page.
fn pages_of(interface: &OperatorInterface, query: &str) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut before = String::new();
    loop {
        let page = interface.get(&format!("invoices?{query}{before}"));
        let ids = object_ids(&page);
        if !ids.is_empty() {
            pages.push(ids);
        }
        match page["nextBefore"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => return pages,
        }
    }
}

#[test]
fn search_returns_whole_order_id_and_email_first() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let made = |order: &str, email: &str| {
        let body = json!({ "orderId": order, "customerEmail": email });
        object_id(&shop.create_invoice("10.00", body))
    };
    let whole = made("order-1", "Ada@Example.com");
    let longer = made("order-10", "ada@example.com.au");
    let newer = made("x-order-1", "ADA@example.com");
    create_large_invoices(&interface);
    let newest = made("order-11", "ada@example.com");
    let (whole, longer, newer, newest) = (&whole, &longer, &newer, &newest);
    let page = interface.get("invoices?text=order-1");
    assert_eq!(object_ids(&page), [whole.as_str()], "found in the first page");
    assert_eq!(page["hasMore"], true, "others contain it");
    let expected = [vec![whole], vec![newest], vec![newer, longer]];
    let pages = pages_of(&interface, "text=order-1");
    assert_eq!(pages.iter().map(|page| page.iter().collect()).collect::<Vec<Vec<_>>>(), expected);
    let expected = [vec![newest, newer, whole], vec![longer]];
    let pages = pages_of(&interface, "text=ada@example.com");
    assert_eq!(pages.iter().map(|page| page.iter().collect()).collect::<Vec<Vec<_>>>(), expected);
    let all: Vec<_> =
        pages_of(&interface, "text=ada@example.com&limit=1").into_iter().flatten().collect();
    assert_eq!(all.iter().collect::<Vec<_>>(), [newest, newer, whole, longer]);
    assert_eq!(pages_of(&interface, "text=order-1&status=confirmed"), Vec::<Vec<String>>::new());
    assert_eq!(pages_of(&interface, "text=order-1&currency=USD"), Vec::<Vec<String>>::new());
    for before in ["parts:", "partsx", "parts:01a1fd70-f1c0-72d6-a3de-4fa0dcc29946"] {
        let path = format!("invoices?text=order-1&before={before}");
        interface.request("GET", &path, &Value::Null).assert_error(
            400,
            "invalid_request",
            Some("before"),
        );
    }
}

#[test]
fn search_finds_invoices_by_every_attribute() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let plain = object_id(&shop.create_invoice("10.00", json!({})));
    let ordered = object_id(&shop.create_invoice(
        "20.00",
        json!({ "orderId": "A_1%", "description": "Two blue chairs", "customerEmail": "ada@example.com" }),
    ));
    shop.advance("1m");
    let later = shop.now();
    let body = json!({ "amount": "5.00", "currency": "USD", "asset": "LTC" });
    let dollars = shop.post("/v1/invoices", Some(TEST), body).expect(201);
    let dollars = dollars.json();
    let paid = object_id(&dollars);
    shop.pay(json!({ "invoice": paid, "txid": "abcd1234" }));
    let found = |query: &str| object_ids(&interface.get(&format!("invoices?{query}")));
    assert_eq!(found("limit=50"), [paid.clone(), ordered.clone(), plain.clone()]);
    for text in ["A_1%25", "a_1", "blue+CHAIRS", "ada@example", &ordered, &ordered[10..30]] {
        assert_eq!(found(&format!("text={text}")), std::slice::from_ref(&ordered), "{text}");
    }
    let address = dollars["depositAddress"].as_str().unwrap();
    for text in [address, "abcd1234"] {
        assert_eq!(found(&format!("text={text}")), std::slice::from_ref(&paid), "{text}");
    }
    for text in ["A%251", "abcd123", "A_2", "%25"] {
        let expected = if text == "%25" { vec![ordered.clone()] } else { vec![] };
        assert_eq!(found(&format!("text={text}")), expected, "{text}");
    }
    assert_eq!(found("currency=USD"), std::slice::from_ref(&paid));
    assert_eq!(found("status=detected"), std::slice::from_ref(&paid));
    assert_eq!(found("status=detected&currency=EUR"), [""; 0]);
    assert_eq!(found("status=created"), [ordered.clone(), plain.clone()]);
    assert_eq!(found(&format!("from={later}")), std::slice::from_ref(&paid));
    assert_eq!(found(&format!("to={later}")), [ordered, plain]);
    let path = format!("/dashboard/api/accounts/{}/invoices", interface.account);
    let live = interface.send(&interface.merchant, "GET", &path, &Value::Null);
    assert_eq!(object_ids(&live.expect(200).json()), [""; 0], "live by default");
}

#[test]
fn next_page_continues_after_the_last_invoice() {
    let interface = OperatorInterface::open();
    let mut made: Vec<String> =
        (0..5).map(|_| object_id(&interface.shop.create_invoice("10.00", json!({})))).collect();
    made.reverse();
    let mut page = interface.get("invoices?limit=2&status=created");
    let mut seen = object_ids(&page);
    while page["hasMore"] == true {
        // An invoice that is created between two requests does not shift the pages.
        interface.shop.create_invoice("10.00", json!({}));
        let before = page["nextBefore"].as_str().unwrap();
        page = interface.get(&format!("invoices?limit=2&status=created&before={before}"));
        seen.extend(object_ids(&page));
    }
    assert_eq!(seen, made);
    assert_eq!(page["nextBefore"], Value::Null);
    let live = json!({ "amount": "1.00", "currency": "EUR" });
    let live = object_id(&interface.shop.post("/v1/invoices", Some(LIVE), live).expect(201).json());
    for (query, param) in [
        (format!("before={live}"), "before"),
        ("before=x".to_owned(), "before"),
        ("limit=0".to_owned(), "limit"),
        ("limit=201".to_owned(), "limit"),
        ("status=paid".to_owned(), "status"),
        ("from=yesterday".to_owned(), "from"),
        ("to=2026-11-21".to_owned(), "to"),
        ("text=".to_owned(), "text"),
    ] {
        let refused = interface.request("GET", &format!("invoices?{query}"), &Value::Null);
        refused.assert_error(400, "invalid_request", Some(param));
    }
}

#[test]
fn invoice_details_are_complete() {
    let interface = OperatorInterface::open();
    let urls = json!({
        "asset": "BTC", "redirectUrl": "https://shop.example/thanks", "cancelUrl": "https://shop.example/cart",
    });
    let invoice = object_id(&interface.shop.create_invoice("100.00", urls));
    let select = format!("/v1/invoices/{invoice}/select");
    interface.shop.post(&select, Some(TEST), json!({ "asset": "LTC" })).expect(200);
    let payment = interface.shop.pay(json!({ "invoice": invoice, "asset": "LTC", "amount": "1" }));
    interface.shop.set_payment_state(&payment, "confirmed");
    let detail = interface.get(&format!("invoices/{invoice}"));
    assert_eq!(detail["invoice"], interface.shop.get_invoice(&invoice));
    assert_eq!(detail["redirectUrl"], "https://shop.example/thanks");
    assert_eq!(detail["cancelUrl"], "https://shop.example/cart");
    assert_eq!(
        detail["sums"],
        json!({
            "due": "100.00", "paidFrom": "99.50", "paidUpTo": "100.50", "confirmedOnTime": "80.00",
            "unconfirmedOnTime": "0.00", "confirmedLate": "0.00",
        })
    );
    let quotes = detail["quotes"].as_array().unwrap().iter();
    let quotes: Vec<_> = quotes.map(|quote| (&quote["asset"], &quote["picked"])).collect();
    assert_eq!(quotes, [(&json!("BTC"), &json!(false)), (&json!("LTC"), &json!(true))]);
    let paid = &detail["payments"][0];
    assert_eq!(
        (&paid["id"], &paid["state"], &paid["value"], &paid["onTime"]),
        (&json!(payment), &json!("confirmed"), &json!("80.00"), &json!(true))
    );
}

#[test]
fn open_invoice_is_cancelled_once_and_logged() {
    let interface = OperatorInterface::open();
    let invoice = object_id(&interface.shop.create_invoice("10.00", json!({})));
    let cancel = interface.path(&format!("invoices/{invoice}/cancel"));
    let cancelled = interface.send(&interface.merchant, "POST", &cancel, &Value::Null);
    assert_eq!(cancelled.expect(200).json()["status"], "cancelled");
    let again = interface.send_as_operator("POST", &cancel, &Value::Null);
    again.assert_error(409, "invoice_not_cancellable", None);
    let by = ("merchant@sandbox.test", "invoice.cancel");
    assert_eq!(interface.audit_entries(&invoice), [(by.0.to_owned(), by.1.to_owned())]);
    assert_eq!(
        interface.shop.event_types(&invoice, TEST),
        ["invoice.created", "invoice.cancelled"]
    );
}

#[test]
fn invoices_are_visible_to_their_account_only() {
    let interface = OperatorInterface::open();
    let invoice = object_id(&interface.shop.create_invoice("10.00", json!({})));
    for (operation, method, rest) in [
        ("searchInvoices", "GET", "invoices".to_owned()),
        ("getInvoiceDetail", "GET", format!("invoices/{invoice}")),
        ("getInvoiceTimeline", "GET", format!("invoices/{invoice}/timeline")),
        ("cancelAccountInvoice", "POST", format!("invoices/{invoice}/cancel")),
    ] {
        interface.assert_access(operation, method, &rest, false);
        if rest.contains(&invoice) {
            // The invoice is not found in the other mode or on the other account.
            let live = interface.path(&rest).replace("mode=test", "mode=live");
            let other = interface
                .path(&rest)
                .replace(&interface.account, crate::support::operator_interface::OTHER_ACCOUNT);
            for (cookie, path) in [(&interface.operator, live), (&interface.stranger, other)] {
                let nothing = interface.send(cookie, method, &path, &Value::Null);
                nothing.assert_error(404, "not_found", None);
            }
        }
    }
    assert_eq!(interface.shop.get_invoice(&invoice)["status"], "created");
}
