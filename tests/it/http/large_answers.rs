//! Large answers that nobody takes: of one account so many are in memory, over however many connections it asks.

use crate::support::polling;
use crate::support::{Shop, TEST};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;

/// So many of one account may be on their way.
const MAX: usize = 16;

/// A list that is larger than what the system takes for a client that reads nothing.
const LIST: &str = "/v1/invoices?limit=100";

/// Asks for the list, and takes no more than its first line.
#[track_caller]
fn ask(shop: &Shop) -> TcpStream {
    let mut stream = TcpStream::connect(shop.url().strip_prefix("http://").unwrap()).unwrap();
    let request = format!("GET {LIST} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {TEST}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut line = [0; 12];
    stream.read_exact(&mut line).unwrap();
    assert_eq!(&line, b"HTTP/1.1 200");
    stream
}

#[test]
fn one_account_has_sixteen_on_their_way() {
    let shop = Shop::open();
    let metadata = json!({ "metadata": { "note": "x".repeat(60_000) } });
    for _ in 0..100 {
        shop.invoice("1.00", metadata.clone());
    }
    let asking: Vec<TcpStream> = (0..MAX).map(|_| ask(&shop)).collect();
    let list = || shop.get(LIST, Some(TEST));
    list().assert_error(503, "overloaded", None);
    // Its small ones go on.
    shop.get("/v1/invoices?limit=1", Some(TEST)).expect(200);
    // Who is gone makes place, and who takes all of it.
    drop(asking);
    for _ in 0..MAX {
        assert!(polling::until(|| list().status != 503));
    }
    list().expect(200);
}
