//! The table `customers`: customers of merchants, identified by the merchants' references.

use super::statement::statements;
use super::{StoreError, Tx};
use crate::domain::{Customer, Mode, Time};

statements! {
    row read(seq, account, mode, reference = "ref", created_at) -> Customer {
        Ok(Customer { seq, account, mode, reference, created_at })
    }

    /// Returns the customer of an account with this merchant's reference.
    pub fn by_ref(db, account: i64, mode: Mode, reference: &str) -> Option<Customer> =
        select "from customers where account = :account and mode = :mode and ref = :reference";

    /// Returns the customer with this `seq`, which must exist.
    pub fn by_seq(db, seq: i64) -> only Customer =
        select "from customers where seq = :seq" else("customer {seq} is missing");

    fn insert_row(tx, account: i64, mode: Mode, reference: &str, created_at: Time) -> i64 =
        "insert into customers (account, mode, ref, created_at) values (:account, :mode, :reference, :created_at)";
}

/// Inserts a customer.
pub fn insert(
    tx: &Tx<'_>,
    account: i64,
    mode: Mode,
    reference: &str,
    now: Time,
) -> Result<Customer, StoreError> {
    Ok(Customer {
        seq: insert_row(tx, account, mode, reference, now)?,
        account,
        mode,
        reference: reference.to_owned(),
        created_at: now,
    })
}
