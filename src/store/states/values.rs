//! Reads the values whose hashes are in the audit log.

use crate::domain::{Cell, HashLink, HashedFields, HashedValue};
use crate::store::statement::statements;
use crate::store::{Reader, StoreError};
use rusqlite::types::{ToSql, ToSqlOutput};

/// Kind of a value whose hashes are in the audit log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// An account with its limits and terms.
    Account,
    /// An API key.
    Key,
    /// A user.
    User,
    /// A wallet of live mode.
    Wallet,
    /// Payout address of an account on a chain.
    PayoutAddress,
    /// Whether live invoices and payouts are paused.
    Maintenance,
    /// A coin that is switched off.
    CoinOff,
    /// Number of confirmations that payments in a coin need.
    Confirmations,
    /// Network fee of a coin.
    NetworkFee,
    /// What a payout or refund sends, where, and why it counts as paid.
    Transfer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ValueKey {
    Number(i64),
    Text(String),
}

impl ToSql for ValueKey {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            ValueKey::Number(number) => number.to_sql(),
            ValueKey::Text(text) => text.to_sql(),
        }
    }
}

impl ValueKind {
    /// All kinds.
    pub const ALL: &'static [ValueKind] = &[
        ValueKind::Account,
        ValueKind::Key,
        ValueKind::User,
        ValueKind::Wallet,
        ValueKind::PayoutAddress,
        ValueKind::Maintenance,
        ValueKind::CoinOff,
        ValueKind::Confirmations,
        ValueKind::NetworkFee,
        ValueKind::Transfer,
    ];

    /// Passes the values with keys from `first` to `last` to `each`.
    fn each_between(
        self,
        db: &Reader<'_>,
        first: &ValueKey,
        last: &ValueKey,
        each: impl FnMut(ValueState),
    ) -> Result<(), StoreError> {
        match self {
            ValueKind::Account => each_account(db, first, last, each),
            ValueKind::Key => each_key(db, first, last, each),
            ValueKind::User => each_user(db, first, last, each),
            ValueKind::Wallet => each_wallet(db, first, last, each),
            ValueKind::PayoutAddress => each_payout_address(db, first, last, each),
            ValueKind::Maintenance => each_maintenance(db, first, last, each),
            ValueKind::CoinOff => each_coin_off(db, first, last, each),
            ValueKind::Confirmations => each_confirmations(db, first, last, each),
            ValueKind::NetworkFee => each_network_fee(db, first, last, each),
            ValueKind::Transfer => each_transfer(db, first, last, each),
        }
    }

    /// Returns a key below all keys of the kind, and a key above them.
    fn key_bounds(self) -> (ValueKey, ValueKey) {
        match self {
            ValueKind::Account
            | ValueKind::User
            | ValueKind::Wallet
            | ValueKind::PayoutAddress
            | ValueKind::Maintenance
            | ValueKind::Transfer => (ValueKey::Number(0), ValueKey::Number(i64::MAX)),
            ValueKind::Key
            | ValueKind::CoinOff
            | ValueKind::Confirmations
            | ValueKind::NetworkFee => {
                (ValueKey::Text(String::new()), ValueKey::Text("~".to_owned()))
            }
        }
    }
}

/// The name and the hash of a value in the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueState {
    /// Name in the audit log.
    pub name: String,
    /// Hash of the fields of the value.
    pub link: HashLink,
}

fn value_state(name: String, fields: &[(&str, Cell)]) -> ValueState {
    let mut form = HashedFields::default();
    for (name, cell) in fields {
        form.add(name, HashedValue::from(cell));
    }
    let link = HashLink::hash_value(&name, &form);
    ValueState { name, link }
}

/// Defines the query for values of a kind. The fields after the name are hashed.
macro_rules! hashed {
    ($each:ident = $read:ident($subject:literal, $($column:ident $(= $sql:literal)?),+ $(,)?) $text:literal) => {
        statements! {
            row $read(subject = $subject, $($column $(= $sql)?),+) -> ValueState {
                Ok(value_state(subject, &[$((stringify!($column), $column)),+]))
            }
            fn $each(db, first: &ValueKey, last: &ValueKey) -> each ValueState = select $text;
        }
    };
}

// The columns `favorite_coins` and `address_lines` are not hashed: they came later, and no money depends on them. A new
// field would change the recorded hash of every account.
hashed! {
    each_account = read_account(
        "'account ' || id", name, status, fee_bps, settlement_enabled, customers_enabled, payout_asset, invoice_max,
        payout_min, payout_daily_max, under_bps, over_bps, ttl_seconds, success_url, cancel_url, legacy_secret,
        branding_color, branding_logo_url, checkout_lang, allowed_origins, server_quota, rate_spread_bps, signer_max,
        created_at,
    ) "from accounts where seq between :first and :last order by seq"
}
hashed! {
    each_key = read_key(
        "'key ' || id", account, class, mode, hash = "hex(hash)", last4, created_at, revoked_at, expires_at,
    ) "from keys where id between :first and :last order by id"
}
hashed! {
    each_user = read_user(
        "'user ' || id", email, password_hash, role, account, created_at, disabled_at,
        second_factor_secret = "hex(second_factor_secret)", second_factor_at,
    ) "from users where seq between :first and :last order by seq"
}
hashed! {
    each_wallet = read_wallet(
        "'wallet ' || id", mode, pool, network, script, key = "hex(key)", chain_code = "hex(chain_code)", name,
        first_index, least_index, created_at, added_at, retired_at,
    ) "from wallets where id is not null and seq between :first and :last order by seq"
}
hashed! {
    each_payout_address = read_payout_address("format('payout_address %d %s', account, chain)", address, changed_at)
        "from payout_addresses where account between :first and :last order by account, chain"
}
hashed! {
    each_maintenance = read_maintenance("'maintenance'", maintenance) "from file where id between :first and :last"
}
hashed! {
    each_coin_off = read_coin_off("'coin_off ' || asset", since)
        "from coins_off where asset between :first and :last order by asset"
}
hashed! {
    each_confirmations = read_confirmations(
        "'confirmations ' || asset",
        tiers = "group_concat(format('%s:%s', ifnull(below, 'rest'), ifnull(confirmations, 'final')), ' ' \
            order by below is null, below)",
    ) "from confirmation_tiers where asset between :first and :last group by asset order by asset"
}
hashed! {
    each_network_fee = read_network_fee("'network_fee ' || asset", fee)
        "from network_fees where asset between :first and :last order by asset"
}
hashed! {
    each_transfer = read_transfer(
        "kind || ' ' || id", account, mode, invoice, currency, amount, asset, to_address, rate, network_fee,
        amount_crypto, rate_basis, has_accepted_terms, approved_at, settled_by, settled_reason, requested_at,
    ) "from transfers where seq between :first and :last order by seq"
}

statements! {
    fn each_pool_address(db, pool: &str, first: i64, last: i64) -> each (address: String) =
        "select address from pool_addresses \
            where pool = :pool and seq between :first and :last order by seq";

    fn pool_counts(db) -> Vec<(pool: String, count: i64)> =
        "select pool, count(*) as count from pool_addresses group by pool order by pool";

    fn count_in_range(db, pool: &str, first: i64, last: i64) -> (count: i64) =
        "select count(*) as count from pool_addresses \
            where pool = :pool and seq between :first and :last";
}

/// Passes every value of a kind to `each`.
pub fn each_value(
    db: &Reader<'_>,
    kind: ValueKind,
    each: impl FnMut(ValueState),
) -> Result<(), StoreError> {
    let (first, last) = kind.key_bounds();
    kind.each_between(db, &first, &last, each)
}

/// Returns the values of a kind with this key. An account's payout addresses all have the key of the account.
pub(super) fn values_with_key(
    db: &Reader<'_>,
    kind: ValueKind,
    key: &ValueKey,
) -> Result<Vec<ValueState>, StoreError> {
    let mut found = Vec::new();
    kind.each_between(db, key, key, |state| found.push(state))?;
    Ok(found)
}

/// Returns the hash of pool addresses. `first` and `last` are the `seq` of the first and last address.
pub fn pool_hash(
    db: &Reader<'_>,
    pool: &str,
    first: i64,
    last: i64,
) -> Result<HashLink, StoreError> {
    let mut form = HashedFields::default();
    each_pool_address(db, pool, first, last, |address| {
        form.add("address", HashedValue::Text(address.as_bytes()));
    })?;
    Ok(HashLink::hash_value(&super::pool_import_name(pool, first, last), &form))
}

/// Returns the number of addresses of each pool that are outside the given ranges.
///
/// `ends` has the pool and the `seq` of the first and last address of each range.
pub fn pool_counts_outside_ranges(
    db: &Reader<'_>,
    ends: &[(String, i64, i64)],
) -> Result<Vec<(String, i64)>, StoreError> {
    let mut counts = pool_counts(db)?;
    for (pool, count) in &mut counts {
        for (of, first, last) in ends.iter().filter(|(of, ..)| of == pool) {
            *count = count.saturating_sub(count_in_range(db, of, *first, *last)?);
        }
    }
    Ok(counts)
}
