//! Invariants of the invoices in a database file (rules 1 to 5 of `coffer audit`), checked with SQL only.

use coffer::domain::status::invoice_status;
use coffer::domain::{Bps, Cents, InvoiceStatus, InvoiceTerms, PaymentFacts, Time};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::path::Path;

/// Messages, each with a query that returns a row only if the invariant is broken.
const BROKEN_INVARIANT_QUERIES: [(&str, &str); 13] = [
    (
        "a balance that is not the sum of its ledger",
        "select b.account, b.mode, b.currency from balances b where b.available <> (select sum(l.amount) from ledger l
           where l.account = b.account and l.mode = b.mode and l.currency = b.currency)
         or b.sales <> (select ifnull(sum(l.amount), 0) from ledger l where l.account = b.account
           and l.mode = b.mode and l.currency = b.currency and l.kind = 'sale')
         or b.fees <> (select ifnull(sum(l.amount), 0) from ledger l where l.account = b.account
           and l.mode = b.mode and l.currency = b.currency and l.kind = 'fee')
         or b.adjustments <> (select ifnull(sum(l.amount), 0) from ledger l where l.account = b.account
           and l.mode = b.mode and l.currency = b.currency and l.kind = 'adjustment')
         or b.available <> b.sales + b.fees + b.payouts + b.refunds + b.adjustments",
    ),
    (
        "a ledger without its balance",
        "select l.seq from ledger l where not exists (select 1 from balances b where b.account = l.account
           and b.mode = l.mode and b.currency = l.currency)",
    ),
    (
        "a payment without exactly its sale, or with more than one fee",
        "select p.id from payments p where
           (select count(*) from ledger l where l.payment = p.seq and l.kind = 'sale' and l.amount = p.value)
             <> (p.was_confirmed and p.value > 0)
           or (select count(*) from ledger l where l.payment = p.seq and l.kind = 'sale') > 1
           or (select count(*) from ledger l where l.payment = p.seq and l.kind = 'fee') > 1",
    ),
    (
        "a payment that was never confirmed and is booked",
        "select p.id from payments p join ledger l on l.payment = p.seq where not p.was_confirmed",
    ),
    (
        "a payment whose entries do not add up to what stands",
        "select p.id from payments p join observations o on o.seq = p.observation
         where (select ifnull(sum(l.amount), 0) from ledger l where l.payment = p.seq)
           <> iif(o.state = 'confirmed', (select ifnull(sum(l.amount), 0) from ledger l where l.payment = p.seq
             and l.kind in ('sale', 'fee')), 0)",
    ),
    (
        "an adjustment that does not take back an entry of its own payment",
        "select l.seq from ledger l left join ledger r on r.seq = l.reverses where l.kind = 'adjustment' and
           (r.seq is null or r.payment is not l.payment or r.amount <> -l.amount or r.account <> l.account
             or r.mode <> l.mode or r.currency <> l.currency or r.ref_id <> l.ref_id or r.seq >= l.seq)",
    ),
    (
        "a sale or fee that takes something back, or an entry taken back twice",
        "select l.seq from ledger l where l.kind in ('sale', 'fee') and l.reverses is not null
         union all select reverses from ledger where reverses is not null group by reverses having count(*) > 1",
    ),
    (
        "an entry that is not of its payment's invoice, account, mode and currency",
        "select l.seq from ledger l join payments p on p.seq = l.payment join invoices i on i.seq = p.invoice
         where l.ref_id <> i.id or l.ref_type <> 'invoice' or l.account <> i.account or l.mode <> i.mode
           or l.currency <> i.currency",
    ),
    (
        "a payment that is not of its invoice's mode, or not of its quote",
        "select p.id from payments p join observations o on o.seq = p.observation join invoices i on i.seq = p.invoice
           join quotes q on q.seq = p.quote
         where o.mode <> i.mode or q.invoice <> i.seq or q.asset <> o.asset or q.address <> o.address",
    ),
    (
        "an event of another account or mode than its invoice",
        "select e.id from events e left join invoices i on i.id = e.object_id
         where i.seq is null or e.account <> i.account or e.mode <> i.mode",
    ),
    (
        "an address of two owners",
        "select address from addresses group by address having count(distinct invoice) > 1",
    ),
    (
        "a quote or invoice whose address is not its own",
        "select q.seq from quotes q where not exists (select 1 from addresses a join invoices i on i.seq = a.invoice
           where a.address = q.address and a.invoice = q.invoice and a.mode = i.mode)
         union all select i.seq from invoices i where i.deposit_address is not null and not exists
           (select 1 from addresses a where a.address = i.deposit_address and a.invoice = i.seq)",
    ),
    (
        "an event without exactly its deliveries",
        "select e.id from events e join invoices i on i.id = e.object_id where
           (select count(*) from deliveries d where d.event = e.seq) <> (i.webhook_url is not null)
           + (select count(*) from endpoints n where n.account = e.account and n.removed_at is null
             and ifnull(n.mode, e.mode) = e.mode
             and (n.types is null or exists (select 1 from json_each(n.types) t where t.value = e.type)))",
    ),
];

/// Opens the file read-only while the server runs.
fn open_file(file: &Path) -> Connection {
    Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

/// Returns the payment id and the transaction id of the last payment. The response of a simulated payment does not
/// contain these ids.
pub fn last_payment(file: &Path) -> (String, String) {
    let sql = "select p.id, o.txid from payments p join observations o on o.seq = p.observation order by p.seq desc limit 1";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    open_file(file).query_row(sql, [], read).unwrap()
}

/// Asserts that all invariants hold.
#[track_caller]
pub fn assert_invariants(file: &Path, now: Time) {
    let conn = open_file(file);
    for (wrong, sql) in BROKEN_INVARIANT_QUERIES {
        let mut found = conn.prepare(sql).unwrap();
        let found = found.query_map([], |row| row.get::<_, rusqlite::types::Value>(0)).unwrap();
        let found: Vec<_> = found.map(Result::unwrap).collect();
        assert!(found.is_empty(), "{wrong}: {found:?}");
    }
    let sql = "select last_tick_at from file";
    let tick = Time(conn.query_row(sql, [], |row| row.get(0)).unwrap());
    assert_statuses(&conn, now, tick);
    assert_events(&conn);
}

/// Returns the payments of an invoice.
fn payments(conn: &Connection, invoice: i64) -> Vec<PaymentFacts> {
    let sql =
        "select o.state, p.on_time, p.was_confirmed, p.value from payments p join observations o on o.seq = p.observation
         where p.invoice = ?1 order by p.seq";
    let mut rows = conn.prepare(sql).unwrap();
    let rows = rows.query_map([invoice], |row| {
        Ok(PaymentFacts {
            state: row.get::<_, String>(0)?.parse().unwrap(),
            on_time: row.get(1)?,
            was_confirmed: row.get(2)?,
            value: Cents(row.get(3)?),
        })
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// Asserts that each stored status is right at the current time `now` and at `tick`, the last tick time in the file.
fn assert_statuses(conn: &Connection, now: Time, tick: Time) {
    let sql = "select seq, status, amount, under_bps, over_bps, expires_at, cancelled_at, picked_quote is not null,
        confirmed_at is not null from invoices";
    let mut rows = conn.prepare(sql).unwrap();
    let rows = rows.query_map([], |row| {
        let terms = InvoiceTerms {
            due: Cents(row.get(2)?),
            under: Bps(row.get(3)?),
            over: Bps(row.get(4)?),
            expires_at: Time(row.get(5)?),
            cancelled_at: row.get::<_, Option<i64>>(6)?.map(Time),
            quoted: row.get(7)?,
        };
        let stored: InvoiceStatus = row.get::<_, String>(1)?.parse().unwrap();
        Ok((row.get::<_, i64>(0)?, stored, terms, row.get::<_, bool>(8)?))
    });
    for (seq, stored, terms, is_confirmed) in rows.unwrap().map(Result::unwrap) {
        let payments = payments(conn, seq);
        for at in [now, tick] {
            assert_eq!(invoice_status(&terms, &payments, at), stored, "invoice {seq} at {at}");
        }
        assert_eq!(stored.is_paid(), is_confirmed, "invoice {seq}");
    }
}

/// Asserts that each event body agrees with its row, and that the last event of an invoice shows the invoice's
/// status. Two consecutive events show the same status only after a confirmed payment.
fn assert_events(conn: &Connection) {
    let sql = "select e.id, e.type, e.mode, e.object_id, e.body, i.status,
          not exists (select 1 from events n where n.object_id = e.object_id and n.seq > e.seq)
        from events e join invoices i on i.id = e.object_id order by e.seq";
    let mut rows = conn.prepare(sql).unwrap();
    let mut rows = rows.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let text = |at: usize| row.get::<_, String>(at).unwrap();
        let body: Value = serde_json::from_str(&text(4)).unwrap();
        let object = &body["data"]["object"];
        assert_eq!((&body["id"], &body["type"]), (&Value::from(text(0)), &Value::from(text(1))));
        assert_eq!(object["id"], text(3));
        assert_eq!(body["livemode"], text(2) == "live");
        assert_eq!(object["livemode"], body["livemode"]);
        let status = object["status"].as_str().unwrap();
        if text(1) != "invoice.created" {
            assert_eq!(text(1), format!("invoice.{status}"));
        }
        let (is_last, stored) = (row.get::<_, bool>(6).unwrap(), text(5));
        if is_last && stored != "awaiting_payment" {
            assert_eq!(status, stored, "{body}");
        }
    }
}
