//! `coffer audit`: it accepts a correct file and finds each fault that a test writes into a file.

use crate::support::command::{CommandOutput, coffer_output};
use crate::support::database::{copy_database, execute_sql};
use crate::support::scratch::Scratch;
use crate::support::{LIVE, Shop, TEST};
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;

/// Returns the findings of the audit, one line each.
#[track_caller]
pub fn findings(file: &Path) -> Vec<String> {
    let CommandOutput { code, printed, errors } = coffer_output(file, &["audit"]);
    let is_finding = |line: &&str| line.starts_with("rule ");
    let lines: Vec<String> = printed.lines().filter(is_finding).map(str::to_owned).collect();
    let is_clean = lines.is_empty() && printed.starts_with("nothing found in ");
    assert_eq!(code, Some(i32::from(!is_clean)), "{printed}{errors}");
    lines
}

/// Opens a sandbox whose file has rows in every table.
pub fn shop_with_every_feature() -> Shop {
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    shop.update_account(json!({ "endpoints": [{ "url": inbox }] }));
    shop.advance("1s");
    // The next statements create invoices that are expired, cancelled, underpaid, confirmed again after a reorg, and
    // failed after a reorg.
    shop.create_invoice("10.00", json!({ "ttlSeconds": 60, "webhookUrl": inbox }));
    let cancelled = shop.create_invoice("10.00", json!({ "asset": "BTC" }));
    shop.cancel_invoice(cancelled["id"].as_str().unwrap()).expect(200);
    let under = shop.create_invoice("20.00", json!({}));
    let path = format!("/v1/invoices/{}/simulate", under["id"].as_str().unwrap());
    shop.post(&path, Some(TEST), json!({ "case": "under" })).expect(200);
    for end in ["confirmed", "dropped"] {
        let invoice = shop.create_invoice("30.00", json!({ "asset": "ETH" }));
        let payment = shop.pay(json!({ "invoice": invoice["id"] }));
        for state in ["confirmed", "orphaned", end] {
            shop.set_payment_state(&payment, state);
            shop.advance("1s");
        }
    }
    // This payment is not confirmed yet.
    let invoice = shop.create_invoice("40.00", json!({ "asset": "LTC" }));
    shop.pay(json!({ "invoice": invoice["id"] }));
    // The payouts and refunds end in every final status.
    let funded = shop.fund_balance(LIVE, "500.00", "EUR");
    for end in [&["approve", "process", "pay"][..], &["approve", "fail"], &["reject"]] {
        let payout = shop.create_payout("25.00");
        shop.apply_actions("payouts", &payout, end);
        let refund = shop.create_refund(&funded, Some("30.00"));
        shop.apply_actions("refunds", &refund, end);
    }
    shop.create_payout("20.00");
    shop.create_refund(&funded, Some("5.00"));
    let path = "/v1/customers/anna/addresses";
    shop.post(path, Some(TEST), json!({})).expect(201);
    let path = "/v1/customers/anna/simulate";
    shop.update_account(json!({ "feeBps": 150 }));
    shop.post(path, Some(TEST), json!({ "asset": "SOL", "amount": "1.5" })).expect(201);
    shop.advance("2m");
    shop
}

/// A statement that corrupts the file, and the beginning of the resulting finding.
type PlantedFault = (&'static str, &'static str);

const FAULTS: [PlantedFault; 38] = [
    ("update balances set available = available + 1, sales = sales + 1", "rule 1: balances"),
    ("update balances set reserved = reserved + 1 where mode = 'live'", "rule 1: balances live EUR"),
    ("delete from ledger where seq = (select max(seq) from ledger where kind = 'sale')", "rule 2: "),
    ("update ledger set amount = amount + 100 where kind = 'sale' and mode = 'live'", "rule 2: payment"),
    ("insert into ledger (link, sale_fee_bps, id, account, mode, currency, amount, kind, ref_type, ref_id, payment, created_at)
        select zeroblob(33), 100, 'x', account, mode, currency, amount, kind, ref_type, ref_id, payment, created_at from ledger
        where kind = 'sale' and payment is not null limit 1", "rule 2: payment"),
    ("update ledger set amount = amount - 1 where kind = 'fee'", "rule 2: ledger"),
    ("update ledger set reverses = null where kind = 'adjustment'", "rule 2: ledger"),
    ("update ledger set amount = amount - 1 where kind = 'payout_reversal'", "rule 2: ledger"),
    ("update ledger set ref_id = 'elsewhere' where kind = 'refund'", "rule 2: ledger"),
    ("delete from ledger where kind = 'refund_reversal'", "rule 2: refund"),
    ("update observations set state = 'seen', confirmed_at = null where state = 'confirmed'", "rule 2: payment"),
    ("update invoices set status = 'failed' where status = 'expired'", "rule 3: invoice"),
    ("update invoices set status = 'confirmed', confirmed_at = 1 where status = 'underpaid'", "rule 3: invoice"),
    ("update invoices set status = 'expired' where status = 'detected'", "rule 3: invoice"),
    ("update invoices set amount_received = '1' where amount_received is not null", "rule 3: invoice"),
    ("update invoices set rate = rate, asset = 'DOGE' where asset = 'BTC'", "rule 3: invoice"),
    ("update invoices set refunded = refunded + 1 where refunded is not null", "rule 3: invoice"),
    ("update invoices set amount = amount * 2 where status = 'confirmed' and mode = 'test'", "rule 3: invoice"),
    ("delete from deliveries; delete from event_rows where type = 'invoice.expired'", "rule 4: invoice"),
    ("delete from deliveries; delete from event_rows where type = 'payout.paid'", "rule 4: payout"),
    ("delete from deliveries; delete from event_rows where type = 'deposit.confirmed'", "rule 4: deposit"),
    ("update event_rows set content = 'no JSON' where type = 'invoice.created'", "rule 4: event"),
    ("update event_rows set content = 'no JSON' where type = 'invoice.cancelled'", "rule 4: event"),
    ("update event_rows set content = json_set(content, '$.id', 'other') where mode = 'test'", "rule 4: event"),
    ("update event_rows set first = 1 where first > 1", "rule 4: event"),
    ("delete from deliveries where endpoint is not null", "rule 4: event"),
    ("delete from deliveries where endpoint is null", "rule 4: event"),
    ("update addresses set address = (select address from addresses where pool = 'solana') where pool = 'evm'",
        "rule 5: "),
    ("update observations set mode = 'live' where mode = 'test'", "rule 5: payment"),
    ("update observations set address = 'elsewhere'", "rule 5: payment"),
    ("update file set kind = 'production'", "rule 2: quote"),
    ("update file set kind = 'production' where kind = 'sandbox'", "rule 2: payment"),
    ("update quotes set rate_at = rate_at - 1", "rule 2: payment"),
    ("update payments set rate = '1' where on_time", "rule 2: payment"),
    ("update payments set was_confirmed = 0", "rule 5: payment"),
    ("update deposits set was_confirmed = 0", "rule 5: deposit"),
    ("update deposits set observation = (select observation from payments limit 1)", "rule 5: observation"),
    ("insert into observations (mode, chain, txid, position, asset, address, amount, state, seen_at)
        values ('test', 'bitcoin', 'nobodys', 0, 'BTC', 'a', '1', 'seen', 0)", "rule 5: observation"),
];

#[test]
fn audit_accepts_a_file_with_every_feature() {
    let shop = shop_with_every_feature();
    assert_eq!(findings(shop.file()), Vec::<String>::new(), "beside the running server");
    let scratch = Scratch::new();
    let copy = scratch.path("copy.db");
    std::fs::copy(shop.file(), &copy).unwrap();
    let missing = coffer_output(&scratch.path("none.db"), &["audit"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.errors.contains("none.db does not exist"));
}

#[test]
fn audit_finds_each_planted_fault() {
    let shop = shop_with_every_feature();
    let scratch = Scratch::new();
    let original = scratch.path("original.db");
    copy_database(shop.file(), &original);
    // Removes all constraints, so that SQL can insert each fault.
    let bare = Connection::open(&original).unwrap();
    let tables: Vec<(String, String)> = bare
        .prepare(
            "select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite%'",
        )
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    bare.execute_batch("pragma foreign_keys = off; drop view events").unwrap();
    for (table, _) in &tables {
        let copy = format!(
            "create table bare as select * from \"{table}\"; drop table \"{table}\"; alter table bare rename to \"{table}\""
        );
        bare.execute_batch(&copy).unwrap();
    }
    drop(bare);
    // Before a fault is inserted, the audit reports only the changed schema.
    let bare = findings(&original);
    assert!(bare.iter().all(|line| line.starts_with("rule 6: ")), "{bare:#?}");
    for (number, (fault, told)) in FAULTS.iter().enumerate() {
        let file = scratch.path(&format!("fault{number}.db"));
        std::fs::copy(&original, &file).unwrap();
        let conn = Connection::open(&file).unwrap();
        conn.execute_batch(fault).unwrap();
        assert!(conn.total_changes() > 0, "{fault} planted nothing");
        drop(conn);
        let found = findings(&file);
        assert!(found.iter().any(|line| line.starts_with(told)), "{fault}: {found:#?}");
    }
}

#[test]
fn open_invoice_up_to_an_hour_overdue_passes_audit() {
    let shop = Shop::open();
    shop.create_invoice("10.00", json!({ "ttlSeconds": 60 }));
    shop.create_invoice("10.00", json!({ "ttlSeconds": 60, "asset": "BTC" }));
    let scratch = Scratch::new();
    for (minutes, found) in [(0, 0), (1, 0), (60, 0), (61, 2)] {
        let copy = scratch.path(&format!("{minutes}.db"));
        copy_database(shop.file(), &copy);
        let seen = "update file set last_tick_at = (select max(expires_at) from invoices) + ?1";
        let copied = Connection::open(&copy).unwrap();
        copied.execute(seen, [minutes * 60_000]).unwrap();
        drop(copied);
        let findings = findings(&copy);
        assert_eq!(findings.len(), found, "{minutes}: {findings:#?}");
    }
}

#[test]
fn audit_finds_a_broken_reference_and_a_damaged_file() {
    let shop = shop_with_every_feature();
    let scratch = Scratch::new();
    let file = scratch.path("copy.db");
    copy_database(shop.file(), &file);
    execute_sql(&file, "pragma foreign_keys = off; delete from quotes");
    let found = findings(&file);
    assert!(found.iter().any(|line| line.contains("of payments")), "{found:#?}");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0xa5);
    std::fs::write(&file, bytes).unwrap();
    assert_ne!(coffer_output(&file, &["audit"]).code, Some(0));
}

#[test]
fn audit_names_damaged_pages() {
    let shop = shop_with_every_feature();
    let scratch = Scratch::new();
    let file = scratch.path("copy.db");
    copy_database(shop.file(), &file);
    let conn = Connection::open(&file).unwrap();
    let root =
        "select rootpage, page_size from sqlite_schema, pragma_page_size where name = 'ledger'";
    let place = conn.query_row(root, [], |row| Ok((row.get(0)?, row.get(1)?)));
    let (page, page_bytes): (u32, u32) = place.unwrap();
    drop(conn);
    let mut bytes = std::fs::read(&file).unwrap();
    let (page, page_bytes) = (page as usize, page_bytes as usize);
    bytes[(page - 1) * page_bytes..][..page_bytes].fill(0xa5);
    std::fs::write(&file, bytes).unwrap();
    let output = coffer_output(&file, &["audit"]);
    assert!(output.printed.starts_with("rule 6: the file is "), "{}", output.printed);
    assert_eq!(output.code, Some(1));
}
