//! Constraints of the tables reject invalid rows, whichever program writes the rows.

use crate::support::database::text_column;
use rusqlite::Connection;

/// Content of a new database file.
const TEMPLATE: &[u8] = include_bytes!("../../../sql/template.db");

/// Statements that insert one account, two invoices, a requested payout and a delivered webhook. The first invoice has a
/// quote and a payment with its ledger entries.
const ROWS: &str = "
insert into accounts (seq, id, name, status, fee_bps, settlement_enabled, customers_enabled, server_quota, payout_asset,
    payout_min, payout_daily_max, invoice_max, under_bps, over_bps, rate_spread_bps, ttl_seconds, checkout_lang,
    favorite_coins, address_lines, allowed_origins, legacy_secret, created_at)
  values (1, 'a', 'Shop', 'active', 100, 1, 1, 0, 'SOL', 0, 0, 1, 50, 50, 0, 60, 'en', '[]', '[]', '[]', 's', 0);
insert into invoices (seq, id, account, mode, status, amount, currency, waits_for, metadata, under_bps, over_bps, created_at,
    expires_at)
  values (1, 'i', 1, 'test', 'created', 100, 'EUR', '', '{}', 50, 50, 0, 1),
         (2, 'j', 1, 'test', 'created', 100, 'EUR', '', '{}', 50, 50, 0, 1);
insert into addresses (mode, pool, address, invoice) values ('test', 'evm', '0xa', 1);
insert into quotes (seq, invoice, rate_spread_bps, rate_evidence, asset, rate, rate_source, rate_at, amount_expected, address, given, created_at)
  values (1, 1, 0, '[]', 'ETH', '1', 'fixed', 0, '1', '0xa', 0, 0);
insert into observations (seq, mode, chain, txid, position, asset, address, amount, state, seen_at)
  values (1, 'test', 'ethereum', '0xt', 0, 'ETH', '0xa', '1', 'seen', 0);
insert into payments (seq, id, invoice, quote, observation, rate, rate_source, rate_at, rate_spread_bps, rate_evidence, value,
    on_time, was_confirmed, seen_at, created_at)
  values (1, 'p', 1, 1, 1, '1', 'fixed', 0, 0, '[]', 100, 1, 0, 0, 0);
insert into ledger (link, sale_fee_bps, seq, id, account, mode, currency, amount, kind, ref_type, ref_id, payment, created_at)
  values (zeroblob(33), 100, 1, 'l', 1, 'test', 'EUR', 100, 'sale', 'invoice', 'i', 1, 0);
insert into ledger (link, seq, id, account, mode, currency, amount, kind, ref_type, ref_id, payment, reverses, created_at)
  values (zeroblob(33), 2, 'm', 1, 'test', 'EUR', -100, 'adjustment', 'invoice', 'i', 1, 1, 0);
insert into destinations (seq, mode, chain, address) values (1, 'live', 'solana', 's');
insert into transfers (seq, id, kind, account, mode, status, currency, amount, asset, chain, to_address, destination,
    requested_at)
  values (1, 't', 'payout', 1, 'live', 'requested', 'EUR', 100, 'SOL', 'solana', 's', 1, 0);
insert into observations (seq, mode, chain, txid, position, asset, address, amount, state, seen_at)
  values (77, 'live', 'solana', 'st', 0, 'SOL', 's', '1', 'seen', 0);
insert into destination_outputs (observation, destination) values (77, 1);
insert into transfer_acts (transfer, kind, txid, source, at) values (1, 'entered', 'st', 'person', 0);
insert into transfer_proposals (transfer, observation) values (1, 77);
insert into transfer_reviews (seq, id, transfer, kind, txid, opened_at, problem)
  values (1, 'w', 1, 'gone', 'st', 0, 'it is gone');
insert into ledger (link, seq, id, account, mode, currency, amount, kind, ref_type, ref_id, transfer, created_at)
  values (zeroblob(33), 3, 'o', 1, 'live', 'EUR', -100, 'payout', 'payout', 't', 1, 0);
insert into balances values (1, 'test', 'EUR', 0, 100, 0, 0, 0, -100, 0);
insert into event_rows (seq, id, account, mode, type, object_id, created_at, content)
  values (1, 'evt_00000000000000008000000100000000', 1, 'test', 'invoice.created', 'i', 0, '{}');
insert into endpoints (seq, id, account, url, secret, format, enabled, created_at)
  values (1, 'e', 1, 'https://a/b', 's', 'event', 1, 0);
insert into webhook_urls (seq, url) values (1, 'https://a/b');
insert into webhook_queues (seq, account, origin, endpoint) values (1, 1, 'https://a', null), (2, 1, 'https://a', 1);
insert into deliveries (seq, id, event, endpoint, url, queue, state, attempts) values (1, 'd', 1, 1, 1, 2, 'delivered', 1);
insert into attempts (delivery, number, at, status, latency_ms, format, signed_at, service_signature, standard_signature)
  values (1, 1, 0, 200, 0, 'event', 5, 't=5,v1=a', 'v1,b');
insert into audit_log (seq, link, at, actor, action, detail) values (1, zeroblob(33), 0, 'a', 'file.restore', '{}');
insert into restored_logs values (1, 'ledger', 5, null);
insert into users (seq, id, email, password_hash, role, created_at) values (1, 'u', 'a@b', '$argon2id$', 'operator', 0);
";

/// Opens a new file with [`ROWS`].
pub fn file_with_rows(name: &str) -> Connection {
    let path = std::env::temp_dir().join(format!("coffer-schema-{name}-{}.db", std::process::id()));
    std::fs::write(&path, TEMPLATE).unwrap();
    let schema =
        text_column(&path, "select sql from sqlite_schema where sql is not null order by rowid");
    for suffix in ["", "-wal", "-shm"] {
        // The WAL and its index may be missing.
        let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
    }
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(&schema.join(";\n")).unwrap();
    conn.execute_batch("pragma foreign_keys = on").unwrap();
    conn.execute_batch(ROWS).unwrap();
    conn
}

/// Statements, each with the kind of the constraint that rejects it.
const REFUSED: [(&str, &str); 120] = [
    // A receiver has one queue.
    ("insert into webhook_queues (account, origin) values (1, 'https://a')", "UNIQUE"),
    ("insert into webhook_queues (account, origin, endpoint) values (1, 'https://a', 1)", "UNIQUE"),
    ("insert into webhook_queues (account, origin) values (1, '')", "CHECK"),
    ("insert into webhook_queues (account, origin) values (2, 'https://a')", "FOREIGN KEY"),
    ("insert into webhook_queues (account, origin, endpoint) values (1, 'https://a', 2)", "FOREIGN KEY"),
    // A sent request has both signatures, and the first names the signed time.
    ("update attempts set signed_at = 6", "CHECK"),
    ("update attempts set signed_at = null", "CHECK"),
    ("update attempts set service_signature = 'v1=a'", "CHECK"),
    ("update attempts set standard_signature = null", "CHECK"),
    ("update attempts set format = null", "CHECK"),
    // A restore is an entry of the audit log, with each log once.
    ("update restored_logs set copy_seq = -1", "CHECK"),
    ("update restored_logs set log = 'other'", "CHECK"),
    ("insert into restored_logs values (1, 'ledger', 6, 7)", "UNIQUE"),
    ("insert into restored_logs values (2, 'ledger', 6, 7)", "FOREIGN KEY"),
    // A transfer that was handed over has a start.
    ("update transfers set started_at = 1", "CHECK"),
    ("update transfers set started_by = 'a', started_at = 1", "CHECK"),
    // A confirmed invoice has a confirmation time, and other invoices have none.
    ("update invoices set status = 'confirmed', asset = 'ETH', rate = '1', amount_expected = '1',
        deposit_address = '0xa', picked_quote = 1", "CHECK"),
    ("update invoices set status = 'overpaid', asset = 'ETH', rate = '1', amount_expected = '1',
        deposit_address = '0xa', picked_quote = 1", "CHECK"),
    ("update invoices set confirmed_at = 1", "CHECK"),
    ("update invoices set status = 'cancelled'", "CHECK"),
    ("update invoices set status = 'detected'", "CHECK"),
    ("update invoices set status = 'paid'", "CHECK"),
    ("update invoices set asset = 'ETH', status = 'expired'", "CHECK"),
    ("update invoices set amount = 0", "CHECK"),
    ("update invoices set expires_at = created_at", "CHECK"),
    // An enabled second factor has a secret.
    ("update users set second_factor_secret = zeroblob(19)", "CHECK"),
    ("update users set second_factor_at = 1", "CHECK"),
    ("insert into used_steps values (1, -1)", "CHECK"),
    ("insert into used_steps values (2, 1)", "FOREIGN KEY"),
    ("insert into known_clients values (1, 1, zeroblob(31))", "CHECK"),
    ("insert into known_clients values (1, 2, zeroblob(32))", "FOREIGN KEY"),
    ("insert into recovery_codes values (zeroblob(31), 1)", "CHECK"),
    ("insert into recovery_codes values (zeroblob(32), 2)", "FOREIGN KEY"),
    // The available balance is the sum of sales, fees, payouts, refunds and adjustments.
    ("update balances set available = 1", "CHECK"),
    ("update balances set sales = -1, available = -101", "CHECK"),
    ("update balances set fees = 1, available = 1", "CHECK"),
    ("update balances set sales = 9223372036854775807 + 1", "cannot store REAL"),
    // A payment has one sale. A ledger entry is reversed at most once.
    ("insert into ledger (link, sale_fee_bps, id, account, mode, currency, amount, kind, ref_type, ref_id, payment, created_at)
        values (zeroblob(33), 100, 'n', 1, 'test', 'EUR', 100, 'sale', 'invoice', 'i', 1, 0)", "UNIQUE"),
    ("insert into ledger (link, id, account, mode, currency, amount, kind, ref_type, ref_id, payment, reverses, created_at)
        values (zeroblob(33), 'n', 1, 'test', 'EUR', -100, 'adjustment', 'invoice', 'i', 1, 1, 0)", "UNIQUE"),
    ("update ledger set amount = 0 where seq = 1", "CHECK"),
    ("update ledger set amount = -1 where seq = 1", "CHECK"),
    ("update ledger set kind = 'fee' where seq = 1", "CHECK"),
    ("update ledger set kind = 'fee' where seq = 2", "CHECK"),
    // An address has one owner. An owner has at most one address in a pool.
    ("insert into addresses (mode, pool, address, invoice) values ('test', 'evm', '0xa', 2)", "UNIQUE"),
    ("insert into addresses (mode, pool, address, invoice) values ('test', 'evm', '0xb', 1)", "UNIQUE"),
    // A payment is stored once. A confirmed payment has a confirmation time, and other payments have none.
    ("insert into observations (mode, chain, txid, position, asset, address, amount, state, seen_at)
        select mode, chain, txid, position, asset, '0xb', '2', state, seen_at from observations", "UNIQUE"),
    ("insert into payments (seq, id, invoice, quote, observation, rate, rate_source, rate_at, rate_spread_bps, rate_evidence,
        value, on_time, was_confirmed, seen_at, created_at) select 2, 'q', invoice, quote, observation, rate, rate_source,
        rate_at, rate_spread_bps, rate_evidence, value, on_time, was_confirmed, seen_at, created_at from payments", "UNIQUE"),
    ("update payments set observation = 9", "FOREIGN KEY"),
    ("update observations set state = 'confirmed'", "CHECK"),
    ("update observations set confirmed_at = 1", "CHECK"),
    ("update observations set state = 'gone'", "CHECK"),
    ("update observations set position = -1", "CHECK"),
    ("update observations set block_height = 1", "CHECK"),
    ("update observations set block_hash = 'h'", "CHECK"),
    ("update observations set spends = 'no JSON'", "CHECK"),
    // A payout is in live mode and has no invoice. A refund has an invoice. An account has one open payout.
    ("update transfers set mode = 'test'", "CHECK"),
    ("update transfers set invoice = 1", "CHECK"),
    ("update transfers set kind = 'refund'", "CHECK"),
    ("update transfers set invoice = 9, kind = 'refund'", "FOREIGN KEY"),
    ("insert into transfers (id, kind, account, mode, status, currency, amount, asset, chain, to_address, destination,
        requested_at) values ('u', 'payout', 1, 'live', 'requested', 'USD', 100, 'SOL', 'solana', 's', 1, 0)", "UNIQUE"),
    ("update transfers set destination = 9", "FOREIGN KEY"),
    ("update transfers set is_frozen = 1", "CHECK"),
    ("update transfers set has_exact_proposal = 2", "CHECK"),
    ("update transfers set sending = 'restored', released_at = 1", "CHECK"),
    ("insert into destinations (mode, chain, address) values ('live', 'solana', 's')", "UNIQUE"),
    // An output belongs to one destination, and a frozen one to a transfer.
    ("insert into destination_outputs (observation, destination) values (77, 1)", "UNIQUE"),
    ("update destination_outputs set is_frozen = 1", "CHECK"),
    ("update destination_outputs set transfer = 9", "FOREIGN KEY"),
    ("delete from destination_outputs", "FOREIGN KEY"),
    ("update transfer_acts set kind = 'attached'", "CHECK"),
    ("update transfer_acts set txid = ''", "CHECK"),
    ("update transfer_acts set source = 'node'", "CHECK"),
    // A review is open, or has an end with a decision of somebody. A person gives a reason.
    ("update transfer_reviews set kind = 'beyond_reach'", "CHECK"),
    ("update transfer_reviews set txid = null", "CHECK"),
    ("update transfer_reviews set ended_at = 1, ended_by = 'chain'", "CHECK"),
    ("update transfer_reviews set ended_at = 1, ended_by = 'chain', decision = 'adjusted'", "CHECK"),
    ("update transfer_reviews set ended_at = 1, ended_by = 'a', decision = 'resolved', reason = 'b'", "CHECK"),
    ("update transfer_reviews set ended_at = 1, ended_by = 'a', decision = 'cleared', reason = 'b'", "CHECK"),
    ("update transfer_reviews set kind = 'overpaid', ended_at = 1, ended_by = 'a', decision = 'adjusted', reason = 'b'",
        "CHECK"),
    ("insert into transfer_reviews (id, transfer, kind, txid, opened_at, problem) values ('x', 1, 'gone', 'st', 0, 'b')",
        "UNIQUE"),
    ("update transfers set amount = 0", "CHECK"),
    ("update transfers set currency = 'GBP'", "CHECK"),
    ("update transfers set status = 'sent'", "CHECK"),
    // An approved transfer has terms, a final transfer has an end time, and a paid transfer has a transaction.
    ("update transfers set rate = '1', amount_crypto = '1', network_fee = '0', rate_basis = 'market', network_fee_from = 'default',
        sent_by = 'hand'", "CHECK"),
    ("update transfers set approved_at = 1, rate = '1', amount_crypto = '1', network_fee = '0', rate_basis = 'market',
        network_fee_from = 'default', sent_by = 'hand'", "CHECK"),
    ("update transfers set status = 'approved', approved_at = 1, rate = '1', amount_crypto = '1', rate_basis = 'market',
        network_fee_from = 'default', sent_by = 'hand'", "CHECK"),
    ("update transfers set status = 'approved', approved_at = 1, rate = '1', amount_crypto = '1', network_fee = '0', rate_basis = 'market',
        network_fee_from = 'default'", "CHECK"),
    ("update transfers set status = 'approved', approved_at = 1, rate = '1', amount_crypto = '1', network_fee = '0', rate_basis = 'market',
        sent_by = 'hand'", "CHECK"),
    ("update transfers set status = 'approved', approved_at = 1, rate = '1', amount_crypto = '1', network_fee = '0',
        network_fee_from = 'default', sent_by = 'hand'", "CHECK"),
    // A payout has no payment whose rate it could take.
    ("update transfers set status = 'approved', approved_at = 1, rate = '1', amount_crypto = '1', network_fee = '0',
        rate_basis = 'received', network_fee_from = 'default', sent_by = 'hand'", "CHECK"),
    // The signer never sends accepted terms, and its part of the limit is at least the amount.
    ("update transfers set status = 'approved', approved_at = 1, rate = '1', amount_crypto = '1', network_fee = '0',
        rate_basis = 'market', network_fee_from = 'default', has_accepted_terms = 1, sent_by = 'signer', signer_at = 1,
        signer_amount = 100", "CHECK"),
    ("update transfers set status = 'approved', approved_at = 1, rate = '1', amount_crypto = '1', network_fee = '0',
        rate_basis = 'market', network_fee_from = 'default', sent_by = 'signer', signer_at = 1, signer_amount = 99", "CHECK"),
    ("update transfers set status = 'approved', approved_at = 1, rate = '1', amount_crypto = '1', network_fee = '0',
        rate_basis = 'market', network_fee_from = 'default', sent_by = 'signer', signer_at = 1", "CHECK"),
    ("update transfers set has_accepted_terms = 1", "CHECK"),
    ("update transfers set status = 'approved'", "CHECK"),
    ("update transfers set status = 'cancelled'", "CHECK"),
    ("update transfers set finalized_at = 1", "CHECK"),
    ("update transfers set status = 'paid', finalized_at = 1, approved_at = 1, rate = '1', amount_crypto = '1',
        network_fee = '0', rate_basis = 'market', network_fee_from = 'default', sent_by = 'hand'", "CHECK"),
    ("update transfers set status = 'processing', approved_at = 1, rate = '1', amount_crypto = '1', network_fee = '0', rate_basis = 'market',
        network_fee_from = 'default', sent_by = 'hand'", "CHECK"),
    ("update transfers set sending = 'running'", "CHECK"),
    // A transfer is booked at most once and returned to the balance at most once.
    ("insert into ledger (link, id, account, mode, currency, amount, kind, ref_type, ref_id, transfer, created_at)
        values (zeroblob(33), 'n', 1, 'live', 'EUR', -100, 'payout', 'payout', 't', 1, 0)", "UNIQUE"),
    ("update ledger set amount = 100 where seq = 3", "CHECK"),
    ("update ledger set kind = 'payout_reversal' where seq = 3", "CHECK"),
    ("update balances set reserved = -1", "CHECK"),
    ("insert into quotes (rate_spread_bps, rate_evidence, invoice, asset, rate, rate_source, rate_at, amount_expected, address, given, created_at)
        values (0, '[]', 9, 'ETH', '1', 'fixed', 0, '1', '0xa', 0, 0)", "FOREIGN KEY"),
    // An invoice has at most one quote for each coin. An invoice that waits for a chain is in live mode.
    ("insert into quotes (rate_spread_bps, rate_evidence, invoice, asset, rate, rate_source, rate_at, amount_expected, address, given, created_at)
        values (0, '[]', 1, 'ETH', '1', 'fixed', 0, '1', '0xb', 0, 0)", "UNIQUE"),
    ("update quotes set given = 2", "CHECK"),
    ("update invoices set waits_for = 'bitcoin'", "CHECK"),
    // A rate has a source.
    ("insert into quotes (rate_spread_bps, rate_evidence, invoice, asset, rate, rate_at, amount_expected, address, given, created_at)
        values (0, '[]', 1, 'LTC', '1', 0, '1', '0xa', 0, 0)", "NOT NULL"),
    ("insert into quotes (rate_spread_bps, rate_evidence, invoice, asset, rate, rate_source, amount_expected, address, given, created_at)
        values (0, '[]', 1, 'LTC', '1', 'fixed', '1', '0xa', 0, 0)", "NOT NULL"),
    ("update quotes set rate_source = ''", "CHECK"),
    ("update quotes set rate_spread_bps = 2001", "CHECK"),
    ("update quotes set rate_evidence = 'kraken'", "CHECK"),
    ("update payments set rate_spread_bps = -1", "CHECK"),
    ("update payments set rate_evidence = ''", "CHECK"),
    ("update accounts set rate_spread_bps = 2001", "CHECK"),
    // A row of `rate_figures` has a known source. A row of `rates_known` has a price currency.
    ("insert into rate_figures (coin, currency, source, rate, via, at) values ('BTC', 'EUR', 'kraken', '1', 'BTC/EUR', 0)",
        "FOREIGN KEY"),
    ("insert into rates_known (coin, currency, rate, rate_source, rate_at, rate_evidence)
        values ('BTC', 'GBP', '1', 'median', 0, '[]')", "CHECK"),
    ("update payments set rate_source = ''", "CHECK"),
    ("update payments set rate_at = null", "NOT NULL"),
];

#[test]
fn tables_reject_invalid_rows() {
    let conn = file_with_rows("refused");
    for (statement, by) in REFUSED {
        let refused = conn.execute(statement, []).unwrap_err().to_string();
        assert!(refused.contains(by), "{statement}: {refused}");
    }
}

/// The database accepts the rows of `ROWS` and valid changes of these rows. A statement of `REFUSED` therefore fails
/// only because of the tested constraint.
#[test]
fn tables_accept_valid_rows() {
    let conn = file_with_rows("taken");
    for statement in [
        "update observations set state = 'confirmed', confirmed_at = 1 where seq = 1",
        "update observations set block_height = 1, block_hash = 'h', spends = '[[\"t\", 0], \"a\"]' where seq = 1",
        "update payments set was_confirmed = 1",
        "update invoices set status = 'confirmed', asset = 'ETH', rate = '1', amount_expected = '1',
           deposit_address = '0xa', picked_quote = 1, confirmed_at = 1 where seq = 1",
        "update invoices set status = 'cancelled', cancelled_at = 1 where seq = 2",
        "insert into ledger (link, id, account, mode, currency, amount, kind, ref_type, ref_id, payment, reverses, created_at)
           values (zeroblob(33), 'n', 1, 'test', 'EUR', 100, 'adjustment', 'invoice', 'i', 1, 2, 0)",
        "insert into ledger (link, id, account, mode, currency, amount, kind, ref_type, ref_id, transfer, reverses, created_at)
           values (zeroblob(33), 'q', 1, 'live', 'EUR', 100, 'payout_reversal', 'payout', 't', 1, 3, 0)",
        "update transfers set status = 'approved', approved_at = 1, rate = '1', amount_crypto = '1', network_fee = '0', rate_basis = 'market',
           network_fee_from = 'default', sent_by = 'hand'",
        "update transfers set status = 'processing', handed_over_at = 1, started_by = 'a', started_at = 1,
           sending = 'running'",
        "update transfers set status = 'paid', sending = null, txid = 'x', txid_from = 'person', settled_by = 'chain',
           finalized_at = 1",
        "update destination_outputs set transfer = 1, settled = 1",
        "update destination_outputs set is_frozen = 1",
        "update transfer_reviews set ended_at = 1, ended_by = 'a', decision = 'adjusted', reason = 'b'",
        "update transfers set is_frozen = 1",
        "insert into transfers (id, kind, account, mode, status, currency, amount, asset, chain, to_address, destination,
           requested_at) values ('u', 'payout', 1, 'live', 'requested', 'USD', 100, 'SOL', 'solana', 's', 1, 0)",
        "insert into transfers (id, kind, account, mode, invoice, status, currency, amount, asset, chain, to_address,
           destination, requested_at) values ('v', 'refund', 1, 'test', 1, 'requested', 'EUR', 1, 'SOL', 'solana', 's', 1, 0)",
        "update balances set reserved = 5",
        "update balances set adjustments = 0, available = 100",
        "update balances set adjustments = -200, available = -100",
        "insert into addresses (mode, pool, address, invoice) values ('test', 'evm', '0xb', 2)",
        "update users set second_factor_secret = zeroblob(20)",
        "update users set second_factor_at = 1",
        "insert into used_steps values (1, 0)",
        "insert into recovery_codes values (zeroblob(32), 1)",
        "insert into known_clients values (1, 1, zeroblob(32))",
    ] {
        assert_eq!(conn.execute(statement, []), Ok(1), "{statement}");
    }
}
