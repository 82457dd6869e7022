//! Receivers that hang at many origins must not delay other receivers of the same account or other accounts.

use crate::customers::addresses::create_second_account;
use crate::support::receiver::{Receiver, Reply};
use crate::support::{Response, Shop};
use coffer::Config;
use serde_json::json;
use std::net::SocketAddr;

/// Number of senders that one account may use for origins that are not known to be fast: a third of all senders.
const ACCOUNT_SENDERS: usize = 256;
/// Number of delivery queues that the webhook worker reads at most in one step.
const QUEUES_PER_STEP: usize = 4_096;

/// Starts a receiver that never responds. Returns the receiver and URLs of different origins that all lead to it.
fn start_hanging_origins(origins: usize) -> (Receiver, Vec<String>) {
    let receiver = Receiver::start_at(SocketAddr::from(([0; 4], 0)), |_, _| Reply::Hang);
    let port = receiver.url().rsplit(':').next().unwrap().to_owned();
    let url = |number: usize| format!("http://127.1.{}.{}:{port}", number / 250, number % 250);
    (receiver, (0..origins).map(url).collect())
}

/// Creates an invoice with a `webhookUrl`.
#[track_caller]
fn create_invoice(shop: &Shop, key: &str, url: &str) -> Response {
    let body = json!({ "amount": "20.00", "currency": "EUR", "webhookUrl": url });
    shop.post("/v1/invoices", Some(key), body).expect(201)
}

#[test]
fn hanging_origins_do_not_delay_fast_origins_or_accounts() {
    let shop = Shop::with_config(Config {
        // No hanging attempt times out during this test.
        webhook_timeout_ms: 600_000,
        ..Config::sandbox()
    });
    let (own, other) =
        (create_second_account(shop.file(), "test"), create_second_account(shop.file(), "test"));
    let quick = [(); 2].map(|()| Receiver::start_with_reply(Reply::Status(200)));
    for (key, quick) in [&own, &other].into_iter().zip(&quick) {
        create_invoice(&shop, key, &quick.url());
        quick.wait_for_requests(1);
    }
    let (hanging, urls) = start_hanging_origins(1_000);
    for url in &urls {
        create_invoice(&shop, &own, url);
    }
    hanging.wait_for_requests(ACCOUNT_SENDERS);
    for (key, quick) in [&own, &other].into_iter().zip(&quick) {
        create_invoice(&shop, key, &quick.url());
        quick.wait_for_requests(2);
    }
    // A new origin, a new endpoint, and another account's delivery to a hanging origin are served at once.
    let (new, endpoint) = (
        Receiver::start_with_reply(Reply::Status(200)),
        Receiver::start_with_reply(Reply::Status(200)),
    );
    create_invoice(&shop, &other, &new.url());
    new.wait_for_requests(1);
    shop.update_account(json!({ "endpoints": [{ "url": endpoint.url() }] }));
    shop.create_invoice("20.00", json!({ "webhookUrl": urls[0] }));
    endpoint.wait_for_requests(1);
    hanging.wait_for_requests(ACCOUNT_SENDERS + 1);
    assert_eq!(hanging.requests().len(), ACCOUNT_SENDERS + 1);
}

#[test]
fn new_origin_is_served_after_hanging_origins_time_out() {
    let shop = Shop::with_config(Config {
        // The timeout is long enough for the origin to count as slow.
        webhook_timeout_ms: 1_200,
        ..Config::sandbox()
    });
    let (hanging, urls) = start_hanging_origins(ACCOUNT_SENDERS + 20);
    for url in &urls {
        create_invoice(&shop, crate::support::TEST, url);
    }
    let new = Receiver::start_with_reply(Reply::Status(200));
    shop.create_invoice("20.00", json!({ "webhookUrl": new.url() }));
    new.wait_for_requests(1);
    hanging.wait_for_requests(urls.len());
    // Each URL is tried once before the server retries any URL.
    assert_eq!(hanging.requests().len(), urls.len());
}

#[test]
fn queues_beyond_one_worker_step_are_processed() {
    let shop = Shop::open();
    let refusing = Receiver::unused_address();
    let good = Receiver::start_with_reply(Reply::Status(200));
    shop.create_invoice("20.00", json!({ "webhookUrl": good.url() }));
    good.wait_for_requests(1);
    // Each of these queues has a delivery due in an hour.
    let queues = QUEUES_PER_STEP + 500;
    shop.execute_sql(&format!(
        "create temp table n as with recursive n (n) as (select 1 union all select n + 1 from n where n < {queues})
           select n, n + (select max(seq) from event_rows) as event from n;
         insert into event_rows (seq, id, account, mode, type, object_id, created_at, content)
           select n.event, printf('evt_%016x%08x%08x', 0, 0x80000000 | n.event, 0), account, mode, type, object_id, created_at, content
           from n, (select * from event_rows where seq = 1);
         insert into webhook_urls (url) values ('http://{refusing}/');
         insert into webhook_queues (account, origin) select 1, printf('https://shop%d.example', n) from n;
         insert into deliveries (id, event, url, queue, state, attempts, next_attempt_at)
           select printf('%032x', n), n.event, u.seq, q.seq, 'pending', 0, (select clock_frozen_at from file) + 3600000
           from n cross join webhook_urls u on u.url = 'http://{refusing}/'
             cross join webhook_queues q on q.account = 1 and q.origin = printf('https://shop%d.example', n);"
    ));
    // The queue of this URL is older than the inserted queues.
    for told in 2..10 {
        shop.create_invoice("20.00", json!({ "webhookUrl": good.url() }));
        good.wait_for_requests(told);
    }
    let tried = || {
        shop.query_text(
            "select cast(sum(attempts) as text) from deliveries where state = 'pending'",
        )
    };
    assert_eq!(tried(), "0");
    shop.advance("59m");
    assert_eq!(tried(), "0");
    shop.advance("1m");
    assert_eq!(tried(), queues.to_string());
    shop.create_invoice("20.00", json!({ "webhookUrl": good.url() }));
    good.wait_for_requests(10);
}
