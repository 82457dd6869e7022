//! JSON of an account, its balances and its ledger.

use super::Rendered;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::{
    Account, AccountStatus, Balance, Cents, Currency, LedgerEntry, LedgerKind, Mode, RefType, Time,
    Total,
};
use serde_json::value::to_raw_value;

const FEE_BPS: Schema = schema!({ "type": "integer", "minimum": 0, "maximum": 10000 });

view! {
    /// The account that the key belongs to.
    pub(crate) MerchantView<'a> as "Merchant" {
        /// Account id.
        id: &'a str [Schema::UUID] = "01a1fd55-7a80-7af2-9132-9b2fc82e5efe";
        [flatten] rest: AccountFieldsView<'a>;
    }
}

view! {
    /// An account without its id.
    pub(crate) AccountFieldsView<'a> {
        /// Name of the merchant.
        name: &'a str = "Sandbox Shop";
        /// Whether the account may create invoices and be paid out.
        status: AccountStatus = "active";
        /// Fee in basis points.
        fee_bps: u32 [FEE_BPS] = 100;
        /// The same fee as a percentage.
        fee_percent: String [Schema::PRICE] = "1.00";
        /// Whether settlement is enabled; stored and shown only.
        settlement_enabled: bool = true;
        /// Whether customers may have static deposit addresses.
        customers_enabled: bool = true;
        /// URL of the mode's first enabled webhook endpoint; null if there is none.
        webhook_url: Option<&'a str> [Schema::Nullable(&Schema::URL)] = "http://127.0.0.1:8080/sandbox/inbox/shop";
        /// Coin of the payouts (asset id from currencies), set in the operator interface.
        payout_asset: &'static str [Schema::ASSET] = "SOL";
        /// Whether the key used is a live key.
        livemode: bool = false;
        /// One balance per currency, in the key's mode.
        balances: Vec<BalanceView> = [
            {
                "currency": "EUR", "available": "19.80", "pending": "0.00", "reserved": "0.00", "sales": "20.00",
                "fees": "-0.20", "payouts": "0.00", "refunds": "0.00"
            },
            {
                "currency": "USD", "available": "0.00", "pending": "0.00", "reserved": "0.00", "sales": "0.00",
                "fees": "0.00", "payouts": "0.00", "refunds": "0.00"
            }
        ];
        /// Creation time of the account, in UTC.
        created_at: Time = "2026-11-21T09:00:00.000Z";
    }
}

view! {
    /// The account in the events account.approved and account.suspended: every field of Merchant, and object.
    pub(crate) AccountView<'a> as "Account" {
        /// Account id.
        id: &'a str [Schema::UUID] = "01a1fd55-7a80-7af2-9132-9b2fc82e5efe";
        /// Always account.
        object: &'static str [schema!({ "type": "string", "const": "account" })] = "account";
        [flatten] rest: AccountFieldsView<'a>;
    }
    example differs {
        "livemode": true,
        "balances": [
            {
                "currency": "EUR", "available": "0.00", "pending": "0.00", "reserved": "0.00", "sales": "0.00",
                "fees": "0.00", "payouts": "0.00", "refunds": "0.00"
            },
            {
                "currency": "USD", "available": "0.00", "pending": "0.00", "reserved": "0.00", "sales": "0.00",
                "fees": "0.00", "payouts": "0.00", "refunds": "0.00"
            }
        ]
    }
}

view! {
    /// Balance in one currency and in the key's mode, after fees and open payouts.
    pub(crate) BalanceView as "Balance" {
        /// Currency of all amounts of this balance.
        currency: Currency = "EUR";
        /// Available for payout; negative if refunds or reversed payments took more than there was.
        available: Cents = "19.80";
        /// Expected net amount of invoices in status detected. It cannot be spent.
        pending: Total = "0.00";
        /// Open payouts and refunds; already subtracted from available.
        reserved: Cents = "0.00";
        /// Lifetime sum of sales.
        sales: Cents = "20.00";
        /// Lifetime sum of fees, negative.
        fees: Cents = "-0.20";
        /// Lifetime sum of payouts, negative; reversals of failed payouts added back.
        payouts: Cents = "0.00";
        /// Lifetime sum of refunds, negative; reversals of failed refunds added back.
        refunds: Cents = "0.00";
    }
}

view! {
    /// One booking on a balance.
    pub(crate) LedgerEntryView<'a> as "LedgerEntry" {
        /// Ledger entry id.
        id: &'a str [Schema::UUID] = "01a1fd72-0c90-780c-9aae-9b322bba2a38";
        /// Currency of the amount.
        currency: Currency = "EUR";
        /// Signed amount; fees and payouts are negative.
        amount: Cents = "20.00";
        /// Kind of the booking.
        kind: LedgerKind = "sale";
        /// Kind of the object that caused the entry.
        ref_type: RefType = "invoice";
        /// Id of the object that caused the entry; null if there is none.
        ref_id: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946";
        /// Fee of the entry in basis points; null if no fee applies.
        fee_bps: Option<u32> [Schema::Nullable(&FEE_BPS)] = null;
        /// Note.
        memo: Option<&'a str> = null;
        /// False when the entry belongs to test mode.
        livemode: bool = false;
        /// Time of the booking, in UTC.
        created_at: Time = "2026-11-21T09:31:12.400Z";
    }
}

impl<'a> AccountFieldsView<'a> {
    fn new(
        account: &'a Account,
        mode: Mode,
        webhook_url: Option<&'a str>,
        balances: &[Balance],
    ) -> AccountFieldsView<'a> {
        AccountFieldsView {
            name: &account.name,
            status: account.status,
            fee_bps: account.fee.0,
            fee_percent: account.fee.percent(),
            settlement_enabled: account.settlement_enabled,
            customers_enabled: account.customers_enabled,
            webhook_url,
            payout_asset: account.payout_asset.id,
            livemode: mode.is_live(),
            balances: balances.iter().map(BalanceView::from).collect(),
            created_at: account.created_at,
        }
    }
}

/// Returns the JSON of an account for `GET /v1/merchant`.
pub fn merchant(
    account: &Account,
    mode: Mode,
    webhook_url: Option<&str>,
    balances: &[Balance],
) -> Rendered {
    to_raw_value(&MerchantView {
        id: &account.id,
        rest: AccountFieldsView::new(account, mode, webhook_url, balances),
    })
}

/// Returns the JSON of an account for an `account.*` event: the JSON of `GET /v1/merchant`, with the additional field
/// `object`.
pub fn account_event(
    account: &Account,
    mode: Mode,
    webhook_url: Option<&str>,
    balances: &[Balance],
) -> Rendered {
    to_raw_value(&AccountView {
        id: &account.id,
        object: "account",
        rest: AccountFieldsView::new(account, mode, webhook_url, balances),
    })
}

impl From<&Balance> for BalanceView {
    fn from(of: &Balance) -> BalanceView {
        BalanceView {
            currency: of.currency,
            available: of.available,
            pending: of.pending,
            reserved: of.reserved,
            sales: of.sales,
            fees: of.fees,
            payouts: of.payouts,
            refunds: of.refunds,
        }
    }
}

/// Returns the JSON of a balance.
pub fn balance(balance: &Balance) -> Rendered {
    to_raw_value(&BalanceView::from(balance))
}

/// Returns the JSON of a ledger entry.
pub fn ledger_entry(entry: &LedgerEntry, mode: Mode) -> Rendered {
    to_raw_value(&LedgerEntryView {
        id: &entry.id,
        currency: entry.currency,
        amount: entry.amount,
        kind: entry.kind,
        ref_type: entry.ref_type,
        ref_id: entry.ref_id.as_deref(),
        fee_bps: entry.fee_bps.map(|bps| bps.0),
        memo: entry.memo.as_deref(),
        livemode: mode.is_live(),
        created_at: entry.created_at,
    })
}
