//! Conversions between columns and types of `domain`.
//!
//! Invariant: a value that does not fit its type is an error, never a default.

use crate::domain::asset::Chain;
use crate::domain::{
    AccountStatus, Asset, AttachedState, Bps, Cents, ChainedLog, ClaimOutcome, CommandState,
    Currency, DeliveryState, DepositStatus, EventType, Evidence, FeeSource, FigureSource,
    InputSource, InvoiceStatus, KeyClass, LedgerKind, Mode, PaymentState, Rate, RateBasis,
    RateSource, RefType, ReviewDecision, ReviewKind, Role, ScriptType, SendingState, SentBy,
    ServerStatus, ServerType, SetAsideKind, SettledBy, Time, TransferActKind, TransferKind,
    TransferStatus, TxidSource, Units, UnmatchedReason, UnmatchedResolution, WalletNetwork,
    WebhookFormat,
};
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, Null, ToSql, ToSqlOutput, ValueRef};

/// Reader of the columns of a row, from first to last.
pub(super) struct Columns<'r> {
    row: &'r Row<'r>,
    next: usize,
}

impl<'r> Columns<'r> {
    pub(super) fn new(row: &'r Row<'r>) -> Columns<'r> {
        Columns { row, next: 0 }
    }

    pub(super) fn take<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let value = self.row.get(self.next);
        self.next = self.next.saturating_add(1);
        value
    }

    pub(super) fn take_remaining<T: FromSql>(&mut self) -> rusqlite::Result<Vec<T>> {
        let count = self.row.as_ref().column_count();
        let mut values = Vec::with_capacity(count.saturating_sub(self.next));
        while self.next < count {
            values.push(self.take()?);
        }
        Ok(values)
    }
}

/// Returns the error for a text that is not a valid value of its column's type.
pub(super) fn invalid_text_error(text: &str) -> FromSqlError {
    FromSqlError::Other(format!("unreadable value {text:?}").into())
}

/// Reads text columns with the [`FromStr`](std::str::FromStr) of their types.
macro_rules! read_as_text {
    ($($name:ty),+) => { $(
        impl rusqlite::types::FromSql for $name {
            fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                let text = value.as_str()?;
                text.parse().map_err(|_| $crate::store::row::invalid_text_error(text))
            }
        }
    )+ };
}

/// Reads and writes enumerations as text columns.
macro_rules! enum_as_text {
    ($($name:ty),+) => { $(
        $crate::store::row::read_as_text!($name);

        impl rusqlite::types::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(rusqlite::types::ToSqlOutput::from(self.as_str()))
            }
        }
    )+ };
}

pub(super) use {enum_as_text, read_as_text};

enum_as_text!(
    ReviewDecision,
    ReviewKind,
    SetAsideKind,
    TransferActKind,
    AttachedState,
    SettledBy,
    TxidSource,
    AccountStatus,
    KeyClass,
    Chain,
    Mode,
    EventType,
    WebhookFormat,
    LedgerKind,
    RefType,
    Currency,
    PaymentState,
    RateSource,
    FigureSource,
    InvoiceStatus,
    DeliveryState,
    DepositStatus,
    Role,
    TransferKind,
    TransferStatus,
    SendingState,
    SentBy,
    FeeSource,
    RateBasis,
    UnmatchedReason,
    UnmatchedResolution,
    ClaimOutcome,
    ServerType,
    ServerStatus,
    CommandState,
    ScriptType,
    WalletNetwork,
    ChainedLog
);
read_as_text!(Rate);

impl ToSql for Rate {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.to_string()))
    }
}

impl FromSql for Evidence {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str().map(Evidence::from_stored)
    }
}

impl ToSql for Evidence {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.as_str()))
    }
}

impl FromSql for Units {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        text.parse().map(Units).map_err(|_| invalid_text_error(text))
    }
}

impl ToSql for Units {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.to_string()))
    }
}

impl FromSql for &'static Asset {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        Asset::find(text).ok_or_else(|| invalid_text_error(text))
    }
}

/// Sources of the money of a transaction, read from JSON. Empty if the column is null.
pub(super) struct InputSources(pub(super) Vec<InputSource>);

impl FromSql for InputSources {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let Some(text) = value.as_str_or_null()? else {
            return Ok(InputSources(Vec::new()));
        };
        let unreadable = |error| FromSqlError::Other(format!("spends {text:?}: {error}").into());
        serde_json::from_str(text).map(InputSources).map_err(unreadable)
    }
}

/// Sources of the money of a transaction, to be stored as JSON. Null if empty.
pub(super) struct InputSourcesRef<'s>(pub(super) &'s [InputSource]);

impl ToSql for InputSourcesRef<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        if self.0.is_empty() {
            return Ok(ToSqlOutput::from(Null));
        }
        let json = serde_json::to_string(self.0);
        json.map(ToSqlOutput::from)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }
}

/// Reads and writes one-field types as integer columns.
macro_rules! as_integer {
    ($($name:ident($inner:ty)),+) => { $(
        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                <$inner>::column_result(value).map($name)
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(self.0))
            }
        }
    )+ };
}

as_integer!(Cents(i64), Time(i64), Bps(u32));
