//! Large responses that clients do not read: an account may have only a limited number of them, over all its
//! connections.

use crate::support::{Shop, TEST, polling};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;

/// Maximum number of large responses in progress per account.
const LARGE_RESPONSES_MAX: usize = 16;

/// A list whose response does not fit into the socket buffers, so that it stays in progress until the client reads
/// it.
const LARGE_LIST_PATH: &str = "/v1/invoices?limit=100";

/// Requests the list, reads only the status line, and leaves the rest unread.
#[track_caller]
fn request_list(shop: &Shop) -> TcpStream {
    let mut stream = TcpStream::connect(shop.url().strip_prefix("http://").unwrap()).unwrap();
    let request =
        format!("GET {LARGE_LIST_PATH} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {TEST}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut line = [0; 12];
    stream.read_exact(&mut line).unwrap();
    assert_eq!(&line, b"HTTP/1.1 200");
    stream
}

#[test]
fn account_has_at_most_sixteen_large_responses() {
    let shop = Shop::open();
    let metadata = json!({ "metadata": { "note": "x".repeat(60_000) } });
    for _ in 0..100 {
        shop.create_invoice("1.00", metadata.clone());
    }
    let asking: Vec<TcpStream> = (0..LARGE_RESPONSES_MAX).map(|_| request_list(&shop)).collect();
    let list = || shop.get(LARGE_LIST_PATH, Some(TEST));
    list().assert_error(503, "overloaded", None);
    // The number of small responses is not limited.
    shop.get("/v1/invoices?limit=1", Some(TEST)).expect(200);
    // When a connection is closed or a response is complete, the account may request another large response.
    drop(asking);
    for _ in 0..LARGE_RESPONSES_MAX {
        assert!(polling::wait_until(|| list().status != 503));
    }
    list().expect(200);
}
