//! Audit log entries for values that a test writes directly into the file.

use crate::file::audit::findings;
use coffer::domain::{ChainedLog, HashLink, HashedFields, HashedValue, LogHead};
use rusqlite::{Connection, named_params};
use serde_json::{Map, Value};
use std::path::Path;
use std::time::Duration;

/// Adds an audit log entry for every value that the audit reports as changed.
#[track_caller]
pub fn record_direct_writes(file: &Path) {
    let conn = Connection::open(file).unwrap();
    conn.busy_timeout(Duration::from_secs(10)).unwrap();
    let mut states = Map::new();
    for line in findings(file) {
        let Some(rest) = line.strip_prefix("rule 10: ") else {
            continue;
        };
        let (name, is) = rest.split_once(" is ").unwrap();
        let (name, link) = match is.split_once("of hash ") {
            Some((_, hash)) => (name.to_owned(), hash.split([';', ',']).next().unwrap().to_owned()),
            None => hash_link_of_pool(&conn, name.strip_prefix("pool ").unwrap()),
        };
        states.insert(name, Value::from(link));
    }
    if !states.is_empty() {
        append_audit_row(&conn, &Value::Object(states).to_string());
    }
}

/// Returns two texts for an audit log entry that covers all addresses of a pool: the name of the value and its hash
/// link.
fn hash_link_of_pool(conn: &Connection, pool: &str) -> (String, String) {
    let sql = "select seq, address from pool_addresses where pool = ?1 order by seq";
    let mut rows = conn.prepare(sql).unwrap();
    let rows = rows.query_map([pool], |row| Ok((row.get(0)?, row.get(1)?)));
    let rows: Vec<(i64, String)> = rows.unwrap().map(Result::unwrap).collect();
    let name = format!("pool {pool} {}-{}", rows[0].0, rows[rows.len() - 1].0);
    let mut form = HashedFields::default();
    for (_, address) in &rows {
        form.add("address", HashedValue::Text(address.as_bytes()));
    }
    let link = HashLink::hash_value(&name, &form).to_string();
    (name, link)
}

/// Appends a row to the audit log table.
fn append_audit_row(conn: &Connection, states: &str) {
    conn.execute_batch("begin immediate").unwrap();
    let last = "select seq, hex(link) from audit_log order by seq desc limit 1";
    let (seq, link) = conn
        .query_row(last, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))
        .unwrap();
    let head = format!("audit_log:{seq}:1:{}", link[2..].to_lowercase());
    let head: LogHead = head.parse().unwrap();
    let seq = seq + 1;
    let mut form = HashedFields::default();
    form.add("seq", HashedValue::Number(seq));
    form.add("at", HashedValue::Number(0));
    form.add("actor", HashedValue::Text(b"test"));
    form.add("action", HashedValue::Text(b"state.note"));
    form.add("account", HashedValue::Nothing);
    form.add("object_id", HashedValue::Nothing);
    form.add("detail", HashedValue::Text(b"{}"));
    form.add("states", HashedValue::Text(states.as_bytes()));
    let link = head.link.next_link(ChainedLog::AuditLog, &form);
    let link = [&[link.version][..], &link.hash].concat();
    conn.execute(
        "insert into audit_log (seq, link, at, actor, action, detail, states)
         values (:seq, :link, 0, 'test', 'state.note', '{}', :states)",
        named_params! { ":seq": seq, ":link": link, ":states": states },
    )
    .unwrap();
    conn.execute_batch("commit").unwrap();
}
