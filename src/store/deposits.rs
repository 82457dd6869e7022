//! The table `deposits`: payments of customers outside invoices.
//!
//! Invariant: the state of a deposit on its chain is stored only in the row of its observation.

use super::statement::statements;
use super::{Reader, StoreError};
use crate::domain::{Deposit, Mode, PaymentState, RateQuote, ResourceKind};

statements! {
    row read(
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

    /// Returns the deposit with this id, whatever its account.
    pub fn by_id(db, id: &str) -> Option<Deposit> =
        select "from deposits d join customers c on c.seq = d.customer \
            join observations o on o.seq = d.observation \
            where d.id = :id";

    /// Returns the deposit that belongs to an observation.
    pub fn of_observation(db, observation: i64) -> Option<Deposit> =
        select "from deposits d join customers c on c.seq = d.customer \
            join observations o on o.seq = d.observation \
            where d.observation = :observation";

    /// Returns the next `limit` deposits of all accounts whose `seq` is greater than `after`.
    pub fn list_after(db, after: i64, limit: u32) -> Vec<Deposit> =
        select "from deposits d join customers c on c.seq = d.customer \
            join observations o on o.seq = d.observation \
            where d.seq > :after order by d.seq limit :limit";

    fn list_of_account(db, account: i64, mode: Mode, limit: u32) -> Vec<Deposit> =
        select "from deposits d join customers c on c.seq = d.customer \
            join observations o on o.seq = d.observation \
            where d.account = :account and d.mode = :mode order by d.seq desc limit :limit";

    fn list_of_customer(db, account: i64, mode: Mode, reference: &str, limit: u32) -> Vec<Deposit> =
        select "from deposits d join customers c on c.seq = d.customer \
            join observations o on o.seq = d.observation \
            where d.account = :account and d.mode = :mode and c.account = :account and c.mode = :mode \
            and c.ref = :reference order by d.seq desc limit :limit";

    /// Inserts a newly detected deposit, and returns its `seq`.
    pub fn insert(tx, deposit: &Deposit) -> i64 = insert into deposits {
        id: deposit.id, account: deposit.account, mode: deposit.mode, customer: deposit.customer,
        observation: deposit.observation, rate: deposit.quoted.rate, rate_source: deposit.quoted.source,
        rate_at: deposit.quoted.at, rate_spread_bps: deposit.quoted.spread, rate_evidence: deposit.quoted.evidence,
        fixed_at: deposit.fixed_at, gross: deposit.gross, fee: deposit.fee, was_confirmed: false,
        created_at: deposit.created_at,
    } noting { tx.note_resource_change(Some(deposit.account), deposit.mode, ResourceKind::Deposits); };

    /// Stores the rate, the value and the fee of a deposit, and whether it is confirmed.
    ///
    /// # Errors
    /// [`StoreError`] if the deposit was confirmed before.
    pub fn save_terms(tx, deposit: &Deposit) =
        file "sql/deposits/fix.sql"
        with {
            seq: deposit.seq, rate: deposit.quoted.rate, rate_source: deposit.quoted.source, rate_at: deposit.quoted.at,
            fixed_at: deposit.fixed_at, gross: deposit.gross, fee: deposit.fee, was_confirmed: deposit.was_confirmed,
            rate_spread_bps: deposit.quoted.spread, rate_evidence: deposit.quoted.evidence,
        }
        else("deposit {} was confirmed before", deposit.seq)
        noting { tx.note_resource_change(Some(deposit.account), deposit.mode, ResourceKind::Deposits); };

    /// Deletes a deposit whose assignment to its customer a person has undone.
    ///
    /// # Errors
    /// [`StoreError`] if the deposit was confirmed before.
    pub fn remove(tx, deposit: &Deposit) =
        "delete from deposits where seq = :seq and was_confirmed = 0"
        with { seq: deposit.seq }
        else("deposit {} was confirmed before", deposit.seq)
        noting { tx.note_resource_change(Some(deposit.account), deposit.mode, ResourceKind::Deposits); };
}

/// Returns the newest deposits of an account. With `customer`, only those of the customer with this reference.
pub fn list(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    customer: Option<&str>,
    limit: u32,
) -> Result<Vec<Deposit>, StoreError> {
    match customer {
        None => list_of_account(db, account, mode, limit),
        Some(reference) => list_of_customer(db, account, mode, reference, limit),
    }
}
