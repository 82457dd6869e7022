//! Constraints of the tables of customers, their addresses and their deposits.

use crate::file::refused_rows::file_with_rows;

/// Statements that insert a customer with an address, a confirmed deposit with its sale, an imported address, and an
/// unmatched payment.
const ROWS: &str = "
insert into customers (seq, account, mode, ref, created_at) values (1, 1, 'test', 'ada', 0);
insert into addresses (mode, pool, address, customer) values ('test', 'evm', '0xc', 1);
insert into pool_addresses (pool, address, state, imported_at) values ('solana', 's', 'free', 0);
insert into observations (seq, mode, chain, txid, position, asset, address, amount, state, seen_at, confirmed_at)
  values (2, 'test', 'base', '0xt', 0, 'USDC-BASE', '0xc', '1', 'confirmed', 0, 0),
         (3, 'test', 'base', '0xt', 1, 'USDC-BASE', '0xd', '1', 'seen', 0, null);
insert into deposits (seq, id, account, mode, customer, observation, rate, rate_source, rate_at, rate_spread_bps, rate_evidence,
    fixed_at, gross, fee, was_confirmed, created_at)
  values (1, 'd', 1, 'test', 1, 2, '1', 'fixed', 0, 0, '[]', 0, 100, 1, 1, 0);
insert into ledger (link, sale_fee_bps, id, account, mode, currency, amount, kind, ref_type, ref_id, deposit, created_at)
  values (zeroblob(33), 100, 'ds', 1, 'test', 'EUR', 100, 'sale', 'deposit', 'd', 1, 0);
insert into ledger (link, id, account, mode, currency, amount, kind, ref_type, ref_id, fee_bps, deposit, created_at)
  values (zeroblob(33), 'df', 1, 'test', 'EUR', -1, 'fee', 'deposit', 'd', 100, 1, 0);
insert into unmatched_payments (id, observation, reason) values ('u', 3, 'unknown_address');
";

/// Statements, each with the kind of the constraint that rejects it.
const REFUSED: [(&str, &str); 41] = [
    // A reference is unique in its account and mode.
    ("insert into customers (account, mode, ref, created_at) values (1, 'test', 'ada', 1)", "UNIQUE"),
    ("insert into customers (account, mode, ref, created_at) values (1, 'test', '', 1)", "CHECK"),
    ("insert into customers (account, mode, ref, created_at) values (9, 'test', 'bob', 1)", "FOREIGN KEY"),
    // An address has one owner, an invoice or a customer. An owner has one address per pool.
    ("insert into addresses (mode, pool, address, invoice) values ('test', 'evm', '0xc', 2)", "UNIQUE"),
    ("insert into addresses (mode, pool, address, customer) values ('test', 'evm', '0xa', 1)", "UNIQUE"),
    ("insert into addresses (mode, pool, address, customer) values ('test', 'evm', '0xd', 1)", "UNIQUE"),
    ("insert into addresses (mode, pool, address, invoice, customer) values ('test', 'tron', 'T', 1, 1)", "CHECK"),
    ("insert into addresses (mode, pool, address) values ('test', 'tron', 'T')", "CHECK"),
    ("insert into addresses (mode, pool, address, customer) values ('test', 'tron', 'T', 9)", "FOREIGN KEY"),
    // An imported address exists once, and its state is free, assigned or retired.
    ("insert into pool_addresses (pool, address, state, imported_at) values ('solana', 's', 'free', 1)", "UNIQUE"),
    ("update pool_addresses set state = 'gone'", "CHECK"),
    ("update pool_addresses set state = 'assigned'", "CHECK"),
    ("update pool_addresses set state = 'assigned', account = 1", "CHECK"),
    ("update pool_addresses set account = 1, assigned_at = 0", "CHECK"),
    // A deposit exists once and belongs to an observed payment.
    ("insert into deposits (seq, id, account, mode, customer, observation, rate, rate_source, rate_at, rate_spread_bps,
        rate_evidence, fixed_at, gross, fee, was_confirmed, created_at) select 2, 'e', account, mode, customer, observation,
        rate, rate_source, rate_at, rate_spread_bps, rate_evidence, fixed_at, gross, fee, was_confirmed, created_at from deposits", "UNIQUE"),
    ("update deposits set observation = 9", "FOREIGN KEY"),
    ("update deposits set was_confirmed = 2", "CHECK"),
    ("update deposits set rate_spread_bps = 2001", "CHECK"),
    ("update deposits set rate_evidence = 'x'", "CHECK"),
    ("update deposits set fee = 101", "CHECK"),
    ("update deposits set fee = -1", "CHECK"),
    ("update deposits set customer = 9", "FOREIGN KEY"),
    // A rate has a source and is fixed after confirmation.
    ("update deposits set rate_source = ''", "CHECK"),
    ("update deposits set rate_source = null", "NOT NULL"),
    ("update deposits set rate_at = null", "NOT NULL"),
    ("update deposits set fixed_at = null", "CHECK"),
    // A deposit has one sale and one fee.
    ("insert into ledger (link, sale_fee_bps, id, account, mode, currency, amount, kind, ref_type, ref_id, deposit, created_at)
        values (zeroblob(33), 100, 'n', 1, 'test', 'EUR', 100, 'sale', 'deposit', 'd', 1, 0)", "UNIQUE"),
    ("insert into ledger (link, id, account, mode, currency, amount, kind, ref_type, ref_id, fee_bps, deposit, created_at)
        values (zeroblob(33), 'n', 1, 'test', 'EUR', -1, 'fee', 'deposit', 'd', 100, 1, 0)", "UNIQUE"),
    // An unmatched payment exists once, has the owner of its address, and is resolved with a note.
    ("insert into unmatched_payments select 2, 'v', observation, reason, account, invoice, outcome, resolved_at, note,
        return_txid from unmatched_payments", "UNIQUE"),
    ("update unmatched_payments set observation = 9", "FOREIGN KEY"),
    ("update unmatched_payments set reason = 'unquoted_coin'", "CHECK"),
    ("update unmatched_payments set reason = 'dust', account = 1", "CHECK"),
    ("update unmatched_payments set account = 1, invoice = 1", "CHECK"),
    ("update unmatched_payments set reason = 'too_large', invoice = 1", "CHECK"),
    ("update unmatched_payments set resolved_at = 1", "CHECK"),
    ("update unmatched_payments set note = 'x'", "CHECK"),
    ("update unmatched_payments set outcome = 'assigned'", "CHECK"),
    ("update unmatched_payments set outcome = 'lost', resolved_at = 1, note = 'x'", "CHECK"),
    ("update unmatched_payments set outcome = 'dismissed', resolved_at = 1", "CHECK"),
    ("update unmatched_payments set outcome = 'returned', resolved_at = 1, note = 'x'", "CHECK"),
    ("update unmatched_payments set outcome = 'dismissed', resolved_at = 1, note = 'x', return_txid = 't'", "CHECK"),
];

#[test]
fn customer_tables_reject_invalid_rows() {
    let conn = file_with_rows("customers-refused");
    conn.execute_batch(ROWS).unwrap();
    for (statement, by) in REFUSED {
        let outcome = conn.execute(statement, []);
        let refused =
            outcome.map_or_else(|error| error.to_string(), |rows| format!("{rows} taken"));
        assert!(refused.contains(by), "{statement}: {refused}");
    }
}

/// The database accepts the rows of `ROWS` and valid changes of these rows. A statement of `REFUSED` therefore fails
/// only because of the tested constraint.
#[test]
fn customer_tables_accept_valid_rows() {
    let conn = file_with_rows("customers-taken");
    conn.execute_batch(ROWS).unwrap();
    for statement in [
        "insert into customers (account, mode, ref, created_at) values (1, 'live', 'ada', 1)",
        "insert into addresses (mode, pool, address, customer) values ('test', 'tron', 'T', 1)",
        "update pool_addresses set state = 'assigned', account = 1, assigned_at = 0",
        "update deposits set was_confirmed = 0, fee = 100",
        "update deposits set fixed_at = null where was_confirmed = 0",
        "update unmatched_payments set reason = 'unquoted_coin', account = 1, invoice = 1",
        "update unmatched_payments set outcome = 'dismissed', resolved_at = 1, note = 'sent back'",
        "update unmatched_payments set outcome = 'returned', note = null, return_txid = 't'",
        "update unmatched_payments set outcome = 'assigned', return_txid = null",
    ] {
        assert_eq!(conn.execute(statement, []), Ok(1), "{statement}");
    }
}
