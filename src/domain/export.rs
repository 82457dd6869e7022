//! Writes exports as CSV (RFC 4180), and defines the columns of each kind of export.
//!
//! An apostrophe before a formula prevents spreadsheets from evaluating the formula.
//!
//! Invariant: a CSV parser returns the original text of each cell, except for these apostrophes.

use super::asset::Asset;
use super::money::Cents;
use super::money::coin::Units;
use super::text_enum::text_enum;
use super::time::Time;

text_enum! {
    /// Kind of export.
    pub enum ExportKind {
        /// Invoices.
        Invoices = "invoices",
        /// Payments of invoices.
        Payments = "payments",
        /// Ledger entries.
        Ledger = "ledger",
        /// Payouts.
        Payouts = "payouts",
        /// Refunds.
        Refunds = "refunds",
        /// Deposits of customers.
        Deposits = "deposits",
    }
}

/// Format of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellFormat {
    /// Value that is written unchanged: an id, a state, a rate or a number.
    Plain,
    /// Text from callers. An apostrophe is put before each formula in the text.
    Text,
    /// Amount of fiat money, stored in cents.
    Cents,
    /// Amount of the coin in the row's column `asset`, stored in base units.
    Units,
    /// Time, stored in milliseconds since 1970.
    Time,
    /// Boolean, stored as 1 or 0.
    Flag,
}

/// Name of a column with its format.
pub type Column = (&'static str, CellFormat);

/// A value from the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// SQL `NULL`.
    Nothing,
    /// An integer.
    Number(i64),
    /// A text.
    Text(String),
}

use CellFormat::{Flag, Plain, Text, Units as InUnits};

const INVOICES: &[Column] = &[
    ("id", Plain),
    ("orderId", Text),
    ("status", Plain),
    ("amount", CellFormat::Cents),
    ("currency", Plain),
    ("description", Text),
    ("asset", Plain),
    ("rate", Plain),
    ("amountExpected", InUnits),
    ("amountReceived", InUnits),
    ("depositAddress", Plain),
    ("customerEmail", Text),
    ("refundedAmount", CellFormat::Cents),
    ("createdAt", CellFormat::Time),
    ("expiresAt", CellFormat::Time),
    ("confirmedAt", CellFormat::Time),
    ("cancelledAt", CellFormat::Time),
    ("fee", CellFormat::Cents),
];

const PAYMENTS: &[Column] = &[
    ("id", Plain),
    ("invoice", Plain),
    ("orderId", Text),
    ("state", Plain),
    ("chain", Plain),
    ("asset", Plain),
    ("txid", Text),
    ("position", Plain),
    ("amount", InUnits),
    ("rate", Plain),
    ("value", CellFormat::Cents),
    ("currency", Plain),
    ("onTime", Flag),
    ("seenAt", CellFormat::Time),
    ("confirmedAt", CellFormat::Time),
    ("fee", CellFormat::Cents),
];

const LEDGER: &[Column] = &[
    ("id", Plain),
    ("currency", Plain),
    ("amount", CellFormat::Cents),
    ("kind", Plain),
    ("refType", Plain),
    ("refId", Plain),
    ("feeBps", Plain),
    ("memo", Text),
    ("createdAt", CellFormat::Time),
];

const TRANSFERS: &[Column] = &[
    ("id", Plain),
    ("invoice", Plain),
    ("status", Plain),
    ("amount", CellFormat::Cents),
    ("currency", Plain),
    ("chain", Plain),
    ("asset", Plain),
    ("toAddress", Text),
    ("amountCrypto", InUnits),
    ("networkFeeCrypto", InUnits),
    ("rate", Plain),
    ("txid", Text),
    ("reason", Text),
    ("failureReason", Text),
    ("requestedAt", CellFormat::Time),
    ("approvedAt", CellFormat::Time),
    ("finalizedAt", CellFormat::Time),
];

const DEPOSITS: &[Column] = &[
    ("id", Plain),
    ("customer", Text),
    ("status", Plain),
    ("chain", Plain),
    ("asset", Plain),
    ("address", Plain),
    ("txid", Text),
    ("amountCrypto", InUnits),
    ("rate", Plain),
    ("grossEur", CellFormat::Cents),
    ("feeEur", CellFormat::Cents),
    ("createdAt", CellFormat::Time),
    ("confirmedAt", CellFormat::Time),
    ("netEur", CellFormat::Cents),
    ("currency", Plain),
];

impl ExportKind {
    /// Returns the columns, in the order of the cells in a row.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            ExportKind::Invoices => INVOICES,
            ExportKind::Payments => PAYMENTS,
            ExportKind::Ledger => LEDGER,
            ExportKind::Payouts | ExportKind::Refunds => TRANSFERS,
            ExportKind::Deposits => DEPOSITS,
        }
    }
}

/// Returns the header row: the names of the columns.
pub fn csv_header(export: ExportKind) -> String {
    let names: Vec<&str> = export.columns().iter().map(|(name, _)| *name).collect();
    format!("{}\r\n", names.join(","))
}

/// Appends one row to `out`.
pub fn write_row(columns: &[Column], cells: &[Cell], out: &mut String) {
    let of_row = columns.iter().zip(cells);
    let asset = of_row.clone().find_map(|((name, _), cell)| match cell {
        Cell::Text(id) if *name == "asset" => Asset::find(id),
        Cell::Text(_) | Cell::Nothing | Cell::Number(_) => None,
    });
    for (at, ((_, form), cell)) in of_row.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_quoted(&format_cell(*form, cell, asset), out);
    }
    out.push_str("\r\n");
}

fn format_cell(form: CellFormat, cell: &Cell, asset: Option<&Asset>) -> String {
    match (form, cell) {
        (_, Cell::Nothing) => String::new(),
        (CellFormat::Cents, Cell::Number(cents)) => Cents(*cents).to_string(),
        (CellFormat::Time, Cell::Number(at)) => Time(*at).to_string(),
        (Flag, Cell::Number(flag)) => (*flag != 0).to_string(),
        (_, Cell::Number(number)) => number.to_string(),
        (CellFormat::Units, Cell::Text(units)) => match (asset, units.parse()) {
            (Some(asset), Ok(amount)) => asset.format_units(Units(amount)),
            (None, _) | (_, Err(_)) => units.clone(),
        },
        (Text, Cell::Text(text)) => escape_formulas(text),
        (_, Cell::Text(text)) => text.clone(),
    }
}

/// Characters at which a spreadsheet may split a row instead of at commas, depending on its regional settings. Such a
/// spreadsheet may ignore our quotes.
const SEPARATORS: [char; 5] = [';', '\t', '\r', '\n', '|'];

/// Puts an apostrophe before each formula, at the start of the text and after each separator.
fn escape_formulas(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(SEPARATORS) {
        let is_odd_start = out.is_empty() && text.starts_with(['\t', '\r']);
        if is_odd_start || is_read_as_formula(piece) {
            out.push('\'');
        }
        out.push_str(piece);
    }
    out
}

/// Returns `true` if a spreadsheet reads the text as a formula. Spreadsheets skip some leading characters, and some
/// accept full-width forms of `=`, `+`, `-` and `@`.
fn is_read_as_formula(text: &str) -> bool {
    const BYTE_ORDER_MARK: char = '\u{feff}';
    let is_passed_over =
        |c: char| c.is_whitespace() || c.is_control() || c == '"' || c == BYTE_ORDER_MARK;
    text.trim_start_matches(is_passed_over)
        .starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
}

/// Appends a cell, in quotes if RFC 4180 requires them.
fn write_quoted(text: &str, out: &mut String) {
    if text.contains([',', '"']) || text.contains(SEPARATORS) {
        out.push('"');
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, CellFormat, ExportKind, csv_header, write_row};

    /// Returns the CSV row of these cells.
    fn csv_row(cells: &[(CellFormat, Cell)]) -> String {
        let mut columns: Vec<_> = cells.iter().map(|(form, _)| ("cell", *form)).collect();
        columns.push(("asset", CellFormat::Plain));
        let mut cells: Vec<_> = cells.iter().map(|(_, cell)| cell.clone()).collect();
        cells.push(Cell::Text("LTC".to_owned()));
        let mut out = String::new();
        write_row(&columns, &cells, &mut out);
        out
    }

    #[test]
    fn cells_are_quoted_when_needed() {
        for (text, written) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("", ""),
        ] {
            let cell = Cell::Text(text.to_owned());
            assert_eq!(csv_row(&[(CellFormat::Text, cell)]), format!("{written},LTC\r\n"));
        }
    }

    #[test]
    fn formulas_are_escaped_but_numbers_are_not() {
        for (text, written) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@x", "'@x"),
            ("\tx", "\"'\tx\""),
            ("\rx", "\"'\rx\""),
            ("\t=1", "\"'\t'=1\""),
            ("=a,b", "\"'=a,b\""),
            (" =1", "' =1"),
            ("\u{0}\u{1f}=1", "'\u{0}\u{1f}=1"),
            ("\"=1\"", "\"'\"\"=1\"\"\""),
            (";=1", "\";'=1\""),
            (";;=1;", "\";;'=1;\""),
            ("a\n=1", "\"a\n'=1\""),
            ("a\n\tb", "\"a\n\tb\""),
            ("a; b, -c", "\"a; b, -c\""),
            ("a;b", "\"a;b\""),
            ("＠x", "'＠x"),
            ("a=b", "a=b"),
            ("2026-11-21 +1", "2026-11-21 +1"),
        ] {
            let cell = Cell::Text(text.to_owned());
            assert_eq!(csv_row(&[(CellFormat::Text, cell)]), format!("{written},LTC\r\n"));
        }
        assert_eq!(csv_row(&[(CellFormat::Cents, Cell::Number(-150))]), "-1.50,LTC\r\n");
    }

    #[test]
    fn cell_formats_match_the_api() {
        let cells = [
            (CellFormat::Cents, Cell::Number(2000)),
            (CellFormat::Units, Cell::Text("25000000".to_owned())),
            (CellFormat::Time, Cell::Number(0)),
            (CellFormat::Flag, Cell::Number(1)),
            (CellFormat::Plain, Cell::Number(7)),
            (CellFormat::Cents, Cell::Nothing),
        ];
        assert_eq!(csv_row(&cells), "20.00,0.25,1970-01-01T00:00:00.000Z,true,7,,LTC\r\n");
    }

    #[test]
    fn coin_amounts_use_the_decimals_of_their_coin() {
        for export in ExportKind::ALL {
            let columns = export.columns();
            let has = |form: CellFormat| columns.iter().any(|(_, other)| *other == form);
            let names_coin = columns.iter().any(|(name, _)| *name == "asset");
            assert!(!has(CellFormat::Units) || names_coin, "{export}");
            assert!(csv_header(*export).starts_with("id,"));
        }
    }
}
