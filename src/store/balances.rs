//! The table `balances`: the running sums of the ledger.

use super::statement::statements;
use super::{StoreError, Tx};
use crate::domain::{Balance, Cents, Currency, LedgerKind, Mode, Total};
use rusqlite::named_params;

statements! {
    row read(currency, available, reserved, sales, fees, payouts, refunds) -> Balance {
        Ok(Balance {
            currency, available, reserved, sales, fees, payouts, refunds,
            pending: Total::ZERO,
        })
    }

    /// Returns the balances of an account in one mode. Sets `pending` to zero, and leaves out currencies without
    /// ledger entries.
    pub fn of_account(db, account: i64, mode: Mode) -> Vec<Balance> =
        select "from balances where account = :account and mode = :mode";

    fn add_to_sums() -> Statement = file "sql/balances/move.sql";

    fn insert_sums() -> Statement =
        "insert into balances (account, mode, currency, available, sales, fees, payouts, refunds, adjustments, reserved) \
            values (:account, :mode, :currency, :sales + :fees + :payouts + :refunds + :adjustments, :sales, :fees, :payouts, \
            :refunds, :adjustments, 0)";

    /// Adds an amount to the reserve for open payouts and refunds. A negative amount releases a reserve. The balance must
    /// exist.
    pub fn reserve(tx, account: i64, mode: Mode, currency: Currency, amount: Cents) =
        "update balances set reserved = reserved + :amount \
            where account = :account and mode = :mode and currency = :currency"
        else("account {account} has no balance to reserve from");
}

/// Adds the amount of a ledger entry to the running sums. The table rejects inconsistent sums.
pub(super) fn add_entry(
    tx: &Tx<'_>,
    account: i64,
    mode: Mode,
    currency: Currency,
    kind: LedgerKind,
    amount: Cents,
) -> Result<(), StoreError> {
    let (mut sales, mut fees, mut payouts, mut refunds, mut adjustments) = Default::default();
    let column: &mut Cents = match kind {
        LedgerKind::Sale => &mut sales,
        LedgerKind::Fee => &mut fees,
        LedgerKind::Payout | LedgerKind::PayoutReversal => &mut payouts,
        LedgerKind::Refund | LedgerKind::RefundReversal => &mut refunds,
        LedgerKind::Adjustment => &mut adjustments,
    };
    *column = amount;
    let params = named_params! {
        ":account": account, ":mode": mode, ":currency": currency, ":sales": sales, ":fees": fees, ":payouts": payouts,
        ":refunds": refunds, ":adjustments": adjustments,
    };
    // An upsert would fail: SQLite would first check a new row with this amount alone. For a reversal, the table
    // rejects such a row.
    if add_to_sums().run(tx, params)? { Ok(()) } else { insert_sums().run(tx, params) }
}
