//! Long reads: searches, exports and summaries do not block other users, and one user can run only a limited number
//! at once.

use crate::support::operator_interface::OperatorInterface;
use crate::support::{Response, TEST, agent, polling, send};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Barrier;

/// Number of invoices. One search request examines at most 50 000 of them.
const INVOICE_COUNT: u32 = 60_000;

/// Inserts many invoices into an account. Returns the id of the oldest one, which is paid.
#[track_caller]
fn insert_invoices(interface: &OperatorInterface) -> String {
    let more = json!({ "asset": "LTC", "orderId": "needle" });
    let oldest = interface.shop.create_invoice("1.00", more)["id"].as_str().unwrap().to_owned();
    interface.shop.pay(json!({ "invoice": oldest, "txid": "the-needle" }));
    interface.shop.create_invoice("1.00", json!({ "orderId": "hay" }));
    interface.shop.execute_sql(&format!(
        "create temp table made as
           with recursive n (n) as (select 3 union all select n + 1 from n where n < {INVOICE_COUNT})
           select n.n as number, o.* from n join (select * from invoices where order_id = 'hay') o;
         update made set seq = number, id = printf('01a1fd55-7a80-7af2-8000-%012d', number), order_id = 'hay ' || number;
         alter table made drop column number;
         insert into invoices select * from made;"
    ));
    // On a slow machine, the inserts lock the file so long that the server rejects writes for a while.
    let takes_writes = || interface.shop.get("/readyz", None).status == 200;
    assert!(polling::wait_until(takes_writes));
    oldest
}

#[track_caller]
fn search_invoices(interface: &OperatorInterface, query: &str) -> Value {
    interface.get(&format!("invoices?{query}"))
}

fn invoice_ids(page: &Value) -> Vec<&str> {
    let data = page["data"].as_array().unwrap().iter();
    data.map(|invoice| invoice["id"].as_str().unwrap()).collect()
}

#[test]
fn search_continues_on_the_next_page_and_finds_all() {
    let interface = OperatorInterface::open();
    let oldest = insert_invoices(&interface);
    // A whole orderId is on a page of its own, before the parts.
    for (query, expected) in
        [("text=NEEDL", 2), ("text=needle&status=detected", 2), ("text=needle&currency=EUR", 3)]
    {
        let mut pages = 0;
        let mut before = String::new();
        let mut found = Vec::new();
        loop {
            let page = search_invoices(&interface, &format!("{query}{before}"));
            found.extend(invoice_ids(&page).into_iter().map(str::to_owned));
            pages += 1;
            assert_eq!(page["hasMore"], json!(page["nextBefore"].is_string()));
            let Some(next) = page["nextBefore"].as_str() else {
                break;
            };
            before = format!("&before={next}");
        }
        assert_eq!(found, [oldest.as_str()], "{query}");
        assert_eq!(pages, expected, "{query}");
    }
    // A search for an exact value, such as an address, finds even the oldest invoice with one request.
    let address = interface.shop.get_invoice(&oldest)["depositAddress"].clone();
    for text in [oldest.as_str(), address.as_str().unwrap(), "the-needle"] {
        let page = search_invoices(&interface, &format!("text={text}"));
        assert_eq!((invoice_ids(&page), &page["hasMore"]), (vec![oldest.as_str()], &json!(false)));
        let page = search_invoices(&interface, &format!("text={text}&currency=USD"));
        assert_eq!((invoice_ids(&page), &page["hasMore"]), (vec![], &json!(false)));
    }
    // Pages of a filtered list contain each match exactly once.
    let mut before = String::new();
    let mut all = BTreeSet::new();
    let mut count = 0;
    loop {
        let page = search_invoices(&interface, &format!("text=hay+59&limit=200{before}"));
        for id in invoice_ids(&page) {
            all.insert(id.to_owned());
            count += 1;
        }
        let Some(next) = page["nextBefore"].as_str() else {
            break;
        };
        before = format!("&before={next}");
    }
    let expected = (3..=INVOICE_COUNT).filter(|number| number.to_string().starts_with("59"));
    assert_eq!((all.len(), count), (expected.clone().count(), expected.count()));
}

#[test]
fn searches_of_one_user_do_not_block_others() {
    let interface = OperatorInterface::open();
    insert_invoices(&interface);
    let (shop, at_once) = (&interface.shop, Barrier::new(24));
    let path = format!("{}{}", shop.url(), interface.path("invoices?text=nowhere"));
    let headers = [("cookie", interface.merchant.as_str())];
    let searched = || -> Vec<Response> {
        let agent = agent();
        at_once.wait();
        (0..3).map(|_| send(&agent, "GET", &path, &headers, "")).collect()
    };
    let answers: Vec<Response> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..24).map(|_| scope.spawn(searched)).collect();
        for _ in 0..30 {
            shop.create_invoice("1.00", json!({}));
            shop.get("/livez", None).expect(200);
            shop.get("/v1/balances", Some(TEST)).expect(200);
            interface.get("summary");
        }
        let ended = all.into_iter().map(|one| one.join().unwrap());
        ended.collect::<Vec<_>>().concat()
    });
    let (made, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert!(made.len() >= 10 && !refused.is_empty(), "{} made", made.len());
    for answer in refused {
        answer.assert_error(503, "overloaded", None);
        assert!(answer.headers["retry-after"].parse::<u32>().unwrap() >= 1);
    }
}

/// Requests an export, reads only the status line, and leaves the rest unread.
#[track_caller]
fn request_export(interface: &OperatorInterface, cookie: &str) -> (TcpStream, String) {
    let address = interface.shop.url().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let path = interface.path("exports/invoices.csv");
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\ncookie: {cookie}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    (stream, String::from_utf8_lossy(&status[9..]).into_owned())
}

#[test]
fn unread_exports_do_not_block_others() {
    let interface = OperatorInterface::open();
    insert_invoices(&interface);
    let shop = &interface.shop;
    let unread: Vec<_> = (0..10).map(|_| request_export(&interface, &interface.merchant)).collect();
    assert!(unread.iter().all(|(_, status)| status == "200"));
    let export = |cookie: &str| {
        let path = interface.path("exports/ledger.csv");
        interface.send(cookie, "GET", &path, &Value::Null)
    };
    export(&interface.merchant).assert_error(503, "overloaded", None);
    // Other users, and other requests of the same user, are not delayed.
    export(&interface.operator).expect(200);
    for _ in 0..20 {
        shop.create_invoice("1.00", json!({}));
        shop.get("/livez", None).expect(200);
        let search = interface.request_as_merchant("GET", "invoices?text=hay+9", &Value::Null);
        search.expect(200);
        interface.request_as_merchant("GET", "summary", &Value::Null).expect(200);
    }
    export(&interface.merchant).assert_error(503, "overloaded", None);
    drop(unread);
    assert!(polling::wait_until(|| export(&interface.merchant).status == 200));
}
