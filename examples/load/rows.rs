//! Rows as Coffer writes them, read from a file of Coffer and copied with new ids.
//!
//! Invariant: compared programs write the same values into the same tables with the same indexes.

use crate::process::Place;
use crate::{Failure, wire};
use rusqlite::types::Value;
use rusqlite::{Connection, ToSql, params_from_iter};
use std::net::TcpListener;
use std::path::Path;
use uuid::Uuid;

/// A file of Coffer with one invoice, its event and its delivery.
const SEED: &str = "seed.db";
/// Body of an invoice creation. The nine digits differ.
const BODY: &str = r#"{"amount":"49.90","currency":"EUR","orderId":"order-000000000","description":"Two tickets","customerEmail":"ada@shop.example","metadata":{"cart":"c-1815","seats":[12,13]}}"#;
/// Order number of the template invoice. No other invoice reaches it.
const SEED_ORDER: usize = 999_999_999;
/// Time that a copied invoice stays open, longer than the benchmark.
const OPEN_MS: i64 = 86_400_000;

/// Opens files as Coffer does.
pub mod open {
    use rusqlite::Connection;
    use std::time::Duration;

    /// Sets up a connection like Coffer's writer.
    pub fn prepare(conn: &Connection, synchronous: &str) -> rusqlite::Result<()> {
        conn.busy_timeout(Duration::from_secs(30))?;
        conn.pragma_update(None, "mmap_size", 1_i64 << 30)?;
        conn.pragma_update(None, "temp_store", "memory")?;
        conn.pragma_update(None, "foreign_keys", true)?;
        conn.pragma_update(None, "synchronous", synchronous)
    }
}

/// Returns bodies of invoice creations with different orders.
pub fn bodies() -> impl Fn(usize) -> String {
    let (before, after) = BODY.split_once("000000000").unwrap_or((BODY, ""));
    move |number| format!("{before}{number:09}{after}")
}

/// Returns bodies of invoice creations with a selected coin.
pub fn bodies_with_coin() -> impl Fn(usize) -> String {
    let body = bodies();
    move |number| body(number).replacen('{', r#"{"asset":"BTC","#, 1)
}

/// Starts a receiver that accepts connections and never responds, so that deliveries are stored but sending costs
/// nothing.
pub fn silent_receiver() -> Result<(TcpListener, String), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/", listener.local_addr()?);
    Ok((listener, url))
}

/// A row of a table and its insert statement.
struct Row {
    insert: String,
    columns: Vec<String>,
    values: Vec<Value>,
}

impl Row {
    /// Reads the newest row of a table.
    fn newest(conn: &Connection, table: &str) -> Result<Row, Failure> {
        let mut statement =
            conn.prepare(&format!("select * from {table} order by rowid desc limit 1"))?;
        let names: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
        let mut found = statement.query([])?;
        let row = found.next()?.ok_or("the file has no row to copy")?;
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for (at, name) in names.into_iter().enumerate() {
            if name != "seq" {
                columns.push(name);
                values.push(row.get(at)?);
            }
        }
        let marks = vec!["?"; columns.len()].join(", ");
        let insert = format!("insert into {table} ({}) values ({marks})", columns.join(", "));
        Ok(Row { insert, columns, values })
    }

    /// Returns the values with some of them replaced.
    fn with(&self, changes: &[(&str, Value)]) -> Vec<Value> {
        let mut values = self.values.clone();
        for (name, value) in changes {
            for (column, place) in self.columns.iter().zip(&mut values) {
                if column == name {
                    *place = value.clone();
                }
            }
        }
        values
    }

    /// Inserts a row with another value in one column.
    fn insert_with(
        &self,
        conn: &Connection,
        values: &[Value],
        changed: &str,
        to: impl ToSql,
    ) -> rusqlite::Result<()> {
        let mut statement = conn.prepare_cached(&self.insert)?;
        for (at, (column, value)) in (1..).zip(self.columns.iter().zip(values)) {
            if column == changed {
                statement.raw_bind_parameter(at, &to)?;
            } else {
                statement.raw_bind_parameter(at, value)?;
            }
        }
        statement.raw_execute().map(drop)
    }

    fn text(&self, name: &str) -> String {
        let found = self.columns.iter().zip(&self.values);
        match found.into_iter().find(|(column, _)| *column == name) {
            Some((_, Value::Text(text))) => text.clone(),
            _ => String::new(),
        }
    }
}

/// The rows that one invoice creation writes.
pub struct Rows {
    invoice: Row,
    event: Row,
    delivery: Row,
}

/// The rows of another creation, ready to be inserted.
pub struct Copy {
    invoice: Vec<Value>,
    event: Vec<Value>,
    delivery: Vec<Value>,
}

impl Rows {
    /// Makes Coffer create a file with one invoice, and reads its rows.
    pub fn from_coffer(place: &Place) -> Result<Rows, Failure> {
        let (_receiver, url) = silent_receiver()?;
        let server = place.coffer(Some(SEED))?;
        server.tell(&url)?;
        let request = wire::request("POST", "/v1/invoices", &bodies()(SEED_ORDER));
        wire::ask(server.address, &request)?;
        drop(server);
        Rows::read(&place.file(SEED))
    }

    /// Reads the rows of a file of Coffer.
    pub fn read(file: &Path) -> Result<Rows, Failure> {
        let conn = Connection::open(file)?;
        conn.execute_batch("pragma wal_checkpoint(truncate)")?;
        let mut invoice = Row::newest(&conn, "invoices")?;
        let made_at = |row: &Row| {
            let at = row.columns.iter().zip(&row.values);
            let found = at.into_iter().find(|(column, _)| *column == "created_at");
            found.map(|(_, value)| value.clone())
        };
        if let Some(Value::Integer(at)) = made_at(&invoice) {
            invoice.values = invoice.with(&[("expires_at", Value::Integer(at + OPEN_MS))]);
        }
        Ok(Rows {
            invoice,
            event: Row::newest(&conn, "event_rows")?,
            delivery: Row::newest(&conn, "deliveries")?,
        })
    }

    /// Creates a copy of the template file.
    pub fn file(place: &Place, name: &str) -> Result<(), Failure> {
        place.remove(name);
        std::fs::copy(place.file(SEED), place.file(name))?;
        Ok(())
    }

    /// Creates a copy of the template file whose deliveries are done.
    pub fn delivered(mut self) -> Rows {
        let made = [
            ("state", Value::Text("delivered".to_owned())),
            ("attempts", Value::Integer(1)),
            ("next_attempt_at", Value::Null),
        ];
        self.delivery.values = self.delivery.with(&made);
        self
    }

    /// Returns the rows of another creation with this order.
    pub fn copy(&self, order: &str) -> Copy {
        let id = Uuid::now_v7().to_string();
        let object = self
            .event
            .text("content")
            .replace(&self.event.text("object_id"), &id)
            .replace(&self.invoice.text("order_id"), order);
        Copy {
            invoice: self.invoice.with(&[
                ("id", Value::Text(id.clone())),
                ("order_id", Value::Text(order.to_owned())),
            ]),
            event: self
                .event
                .with(&[("object_id", Value::Text(id)), ("content", Value::Text(object))]),
            delivery: self.delivery.with(&[("id", Value::Text(Uuid::now_v7().to_string()))]),
        }
    }
}

impl Copy {
    /// Inserts the three rows.
    pub fn insert(&self, rows: &Rows, conn: &Connection) -> rusqlite::Result<()> {
        conn.prepare_cached(&rows.invoice.insert)?.execute(params_from_iter(&self.invoice))?;
        let last = "select ifnull(max(seq), 0) from event_rows";
        let seq: i64 = conn.prepare_cached(last)?.query_row([], |row| row.get(0))?;
        let seq = seq + 1;
        let id = format!("evt_{:016x}{:08x}{:08x}", 0, 0x8000_0000 | seq, 0);
        rows.event.insert_with(conn, &self.event, "id", id)?;
        rows.delivery.insert_with(conn, &self.delivery, "event", seq)
    }

    /// Returns the id of the invoice.
    pub fn id(&self) -> &str {
        match self.invoice.first() {
            Some(Value::Text(id)) => id,
            _ => "",
        }
    }

    /// Returns the response of a creation, about the body of the event.
    pub fn answer(&self) -> String {
        let texts = self.event.iter().filter_map(|value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.max_by_key(|text| text.len()).unwrap_or_default().to_owned()
    }
}
