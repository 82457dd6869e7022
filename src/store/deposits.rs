//! The table `deposits`.
//!
//! What always holds: a deposit's state on its chain is in the row of its observation, and is read from there.

use super::statement::{commands, rows};
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Mode;
use crate::domain::deposit::Deposit;
use crate::domain::payment::PaymentState;
use crate::domain::rate::RateQuote;
use rusqlite::named_params;

rows! {
    fn read(
        d.seq, d.id, d.account, d.mode, d.customer, customer_ref = "c.ref", d.observation, o.asset, o.address,
        o.txid, o.position, o.amount, d.rate, d.rate_source, d.rate_at, d.rate_spread_bps, d.rate_evidence, d.fixed_at,
        d.gross, d.fee,
        o.state: PaymentState, d.was_confirmed, d.created_at, o.confirmed_at,
    ) -> Deposit {
        Ok(Deposit {
            seq, id, account, mode, customer, customer_ref, observation, asset, address, txid, position, amount,
            quoted: RateQuote {
                rate, source: rate_source, at: rate_at, spread: rate_spread_bps, evidence: rate_evidence,
            },
            fixed_at, gross, fee, status: state.into(), was_confirmed, created_at, confirmed_at,
        })
    }

    /// The deposit with this id, whoever's it is: for those who act for no caller, or look whose it is.
    pub fn by_id(db, id: &str) -> Option<Deposit> =
        select "from deposits d join customers c on c.seq = d.customer \
            join observations o on o.seq = d.observation \
            where d.id = :id";

    /// The deposit that an observation came to.
    pub fn of_observation(db, observation: i64) -> Option<Deposit> =
        select "from deposits d join customers c on c.seq = d.customer \
            join observations o on o.seq = d.observation \
            where d.observation = :observation";

    /// The next deposits after this one, whoever's they are.
    pub fn after(db, after: i64, limit: u32) -> Vec<Deposit> =
        select "from deposits d join customers c on c.seq = d.customer \
            join observations o on o.seq = d.observation \
            where d.seq > :after order by d.seq limit :limit";

    LIST = select "from deposits d join customers c on c.seq = d.customer \
        join observations o on o.seq = d.observation \
        where d.account = :account and d.mode = :mode order by d.seq desc limit :limit";

    LIST_OF_CUSTOMER = select "from deposits d join customers c on c.seq = d.customer \
        join observations o on o.seq = d.observation \
        where d.account = :account and d.mode = :mode and c.account = :account and c.mode = :mode and c.ref = :ref \
        order by d.seq desc limit :limit";
}

commands! {
    /// Adds a deposit that was just detected; its `seq`.
    pub fn insert(tx, deposit: &Deposit) -> i64 =
        file "sql/deposits/insert.sql"
        with {
            id: deposit.id, account: deposit.account, mode: deposit.mode, customer: deposit.customer,
            observation: deposit.observation, rate: deposit.quoted.rate, rate_source: deposit.quoted.source,
            rate_at: deposit.quoted.at, rate_spread_bps: deposit.quoted.spread,
            rate_evidence: deposit.quoted.evidence, fixed_at: deposit.fixed_at, gross: deposit.gross,
            fee: deposit.fee, created_at: deposit.created_at,
        };

    FIX = file "sql/deposits/fix.sql";

    REMOVE = "delete from deposits where seq = :seq and was_confirmed = 0";
}

/// Notes at which rate and value a deposit is fixed, with which fee, and whether it has been confirmed; it must never have
/// been confirmed before.
pub fn fix(tx: &Tx<'_>, deposit: &Deposit) -> Result<(), StoreError> {
    let params = named_params! {
        ":seq": deposit.seq, ":rate": deposit.quoted.rate, ":rate_source": deposit.quoted.source,
        ":rate_at": deposit.quoted.at, ":fixed_at": deposit.fixed_at, ":gross": deposit.gross, ":fee": deposit.fee,
        ":was_confirmed": deposit.was_confirmed, ":rate_spread_bps": deposit.quoted.spread,
        ":rate_evidence": deposit.quoted.evidence,
    };
    FIX.change_one(tx, params, || {
        format!("deposit {} was confirmed before", deposit.seq)
    })
}

/// The newest deposits, of one customer where one is named.
pub fn list(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    customer: Option<&str>,
    limit: u32,
) -> Result<Vec<Deposit>, StoreError> {
    match customer {
        None => {
            let params = named_params! { ":account": account, ":mode": mode, ":limit": limit };
            LIST.all(db, params)
        }
        Some(reference) => {
            let params = named_params! { ":account": account, ":mode": mode, ":ref": reference, ":limit": limit };
            LIST_OF_CUSTOMER.all(db, params)
        }
    }
}

/// Removes a deposit that was given to its customer; it must never have been confirmed.
pub fn remove(tx: &Tx<'_>, deposit: &Deposit) -> Result<(), StoreError> {
    REMOVE.change_one(tx, named_params! { ":seq": deposit.seq }, || {
        format!("deposit {} was confirmed before", deposit.seq)
    })
}
