//! Tests of the time at which invoices expire: compares the query for the next expiry with the expiry of each single
//! invoice.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::domain::Time;
use crate::domain::asset::Chain;
use crate::domain::scanned::awaited_chains;
use crate::domain::time::MINUTE_MS;
use crate::service::sandbox::chains::set_chain_lag;
use crate::service::tests::{NOW, block_on, request_without_key, seeded_service};
use crate::service::{Error, Requester, sandbox};
use crate::store::{Reader, audit, chains, invoices, quotes};
use serde_json::{Value, json};

#[test]
fn next_expiry_is_the_earliest_of_all_open_invoices() {
    let (service, _file) = seeded_service();
    let caller = service.authenticate(NOW, sandbox::SECRET_LIVE).unwrap();
    let test = service.authenticate(NOW, sandbox::SECRET_TEST).unwrap();
    let at = |minutes: i64| NOW.plus_ms(minutes * MINUTE_MS);
    for (number, coins) in [
        "BTC",
        "LTC",
        "BTC LTC",
        "",
        "ETH",
        "LTC ETH BTC",
        "SOL",
        "USDC-BASE ETH",
        "TRX BTC",
        "DOGE",
    ]
    .iter()
    .cycle()
    .take(40)
    .enumerate()
    {
        let scope = if number % 7 == 0 { &test } else { &caller };
        let ttl = (number * 37 % 23 + 1) * 60;
        let body = json!({ "amount": "200.00", "currency": "EUR", "ttlSeconds": ttl });
        let (requester, request) = (Requester::Key(scope.key_id()), request_without_key(&body));
        let made = block_on(service.create_invoice(NOW, scope, requester, request)).unwrap();
        let made: Value = serde_json::from_str(&made.body).unwrap();
        let id = made.get("id").and_then(Value::as_str).unwrap();
        for coin in coins.split_whitespace() {
            block_on(service.select_coin(NOW, scope, id, coin.to_owned())).unwrap();
        }
    }
    for (minutes, chain, lagging) in [
        (0, Chain::Bitcoin, true),
        (3, Chain::Ethereum, true),
        (6, Chain::Litecoin, true),
        (9, Chain::Ethereum, false),
        (12, Chain::Bitcoin, false),
        (15, Chain::Tron, true),
        (400, Chain::Solana, true),
    ] {
        let now = at(minutes);
        block_on(service.write(now, move |step| set_chain_lag(step, chain, lagging))).unwrap();
        let first = service.read(earliest_expiry).unwrap();
        assert_eq!(service.next_expiry().unwrap(), first, "after {minutes}");
        let later = at(minutes + 2);
        while block_on(service.expire_invoices(later)).unwrap() > 0 {}
        let first = service.read(earliest_expiry).unwrap();
        assert!(first.is_none_or(|first| first > later), "after {minutes}");
        assert_eq!(service.next_expiry().unwrap(), first, "after {minutes}");
    }
}

/// Returns the earliest expiry of open invoices, computed from each single invoice.
fn earliest_expiry(db: &Reader<'_>) -> Result<Option<Time>, Error> {
    let scanned = chains::lagging_chains(db)?;
    let mut first: Option<Time> = None;
    for seq in audit::invoice_seqs(db, 0, 1000)? {
        let invoice = invoices::by_seq(db, seq)?;
        if invoice.status.is_open() {
            let quotes = quotes::of_invoice(db, seq)?;
            let chains = awaited_chains(invoice.mode, &quotes, invoice.expires_at);
            let due_at = scanned.expires_at(&chains, invoice.expires_at);
            first = Some(first.map_or(due_at, |first| first.min(due_at)));
        }
    }
    Ok(first)
}
