//! Edits by a person with write access to the file. `coffer audit` reports every edit.

use super::audit::{findings, shop_with_every_feature};
use crate::support::audit::assert_audit_clean;
use crate::support::command::run_coffer;
use crate::support::database::copy_database;
use crate::support::scratch::Scratch;
use rusqlite::Connection;

/// Edits a copy of a file that has rows in every table, and asserts an audit finding with this beginning and end.
#[track_caller]
fn assert_edit_found(edit: &str, begin: &str, end: &str) {
    let shop = shop_with_every_feature();
    let scratch = Scratch::new();
    let file = scratch.path("edited.db");
    copy_database(shop.file(), &file);
    assert_audit_clean(&file);
    let conn = Connection::open(&file).unwrap();
    conn.execute_batch("pragma foreign_keys = off").unwrap();
    conn.execute_batch(edit).unwrap();
    assert!(conn.total_changes() > 0, "{edit} changed nothing");
    drop(conn);
    let found = findings(&file);
    assert!(
        found.iter().any(|line| line.starts_with(begin) && line.ends_with(end)),
        "{edit}: {found:#?}"
    );
}

#[test]
fn edited_amount_of_an_approved_transfer_is_found() {
    let edit = "update transfers set amount_crypto = amount_crypto || '0' where status = 'paid' and kind = 'refund'";
    assert_edit_found(edit, "rule 8: refund ", "less the fee");
}

#[test]
fn edited_amount_and_rate_of_an_approved_transfer_are_found() {
    // The edit pays 25.00 EUR at 1.50 EUR per SOL, instead of 150 EUR per SOL.
    let edit = "update transfers set amount_crypto = '16666661666', rate = '1.5' where status = 'failed' and kind = 'payout'";
    assert_edit_found(edit, "rule 10: payout ", "by the newest row of the audit log about it");
}

#[test]
fn edited_destination_of_an_approved_transfer_is_found() {
    let edit = "update transfers set to_address = '11111111111111111111111111111112' where kind = 'payout'";
    assert_edit_found(edit, "rule 10: payout ", "by the newest row of the audit log about it");
}

#[test]
fn destination_edited_in_paid_transfer_and_audit_rows_is_found() {
    let edit = "update audit_log set detail = replace(detail, (select to_address from transfers where kind = 'payout'), 'elsewhere');
        update transfers set to_address = 'elsewhere' where kind = 'payout'";
    assert_edit_found(edit, "rule 4: payout ", "as it is stored");
}

#[test]
fn edited_settlement_of_a_paid_transfer_is_found() {
    let edit =
        "update transfers set settled_by = 'person', settled_reason = 'fine' where status = 'paid'";
    assert_edit_found(edit, "rule 10: refund ", "by the newest row of the audit log about it");
}

#[test]
fn payout_without_an_approval_in_the_audit_log_is_found() {
    let edit = "delete from audit_log where action = 'payout.approve'";
    assert_edit_found(edit, "rule 8: payout ", "approved by an entry of the audit log");
}

#[test]
fn payout_that_the_audit_log_requests_for_another_account_is_found() {
    let edit = "update audit_log set account = 7777 where action = 'payout.request'";
    assert_edit_found(edit, "rule 8: payout ", "payout.request of account number Some(7777)");
}

#[test]
fn undone_assignment_without_an_entry_of_the_audit_log_excuses_no_event() {
    let edit = "update invoices set assignment_undone_at = 5;
        update event_rows set content = json_set(content, '$.amountReceived', '0.0099')
          where type = 'invoice.confirmed' and mode = 'test'";
    assert_edit_found(edit, "rule 4: invoice ", "the sum of payments that came to it");
}

#[test]
fn deleted_refund_with_its_ledger_rows_is_found() {
    let refund = "(select max(seq) from transfers where kind = 'refund')";
    let edit = format!(
        "update balances set refunds = refunds + 500, available = available + 500, reserved = reserved - 500
          where mode = 'live' and currency = 'EUR';
        update invoices set refunded = refunded - 500 where refunded is not null;
        delete from ledger where transfer = {refund}; delete from transfers where seq = {refund}"
    );
    assert_edit_found(&edit, "rule 8: audit log entry ", "of a payout or refund of this file");
}

#[test]
fn deleted_fees_with_adjusted_balances_are_found() {
    let edit = "update balances set available = available - fees, fees = 0; delete from ledger where kind = 'fee'";
    assert_edit_found(edit, "rule 2: ledger ", "basis points");
}

#[test]
fn emptied_audit_log_is_found() {
    assert_edit_found("delete from audit_log", "rule 8: payout ", "requested once");
}

#[test]
fn rate_edited_in_quote_payment_and_invoice_is_found() {
    let invoice = "(select seq from invoices where status = 'confirmed' and mode = 'test' limit 1)";
    let edit = format!(
        "update quotes set rate = '2999' where invoice = {invoice};
        update payments set rate = '2999' where invoice = {invoice};
        update invoices set rate = '2999' where seq = {invoice}"
    );
    assert_edit_found(&edit, "rule 4: invoice ", "rate, address and amount of one of its quotes");
}

#[test]
fn edited_amount_in_the_event_of_an_invoice_is_found() {
    let edit = "update event_rows set content = json_set(content, '$.amount', '31.00') where type = 'invoice.confirmed' and mode = 'test'";
    assert_edit_found(edit, "rule 4: invoice ", "as it is stored");
}

#[test]
fn edited_amount_received_in_the_event_of_an_invoice_is_found() {
    let edit = "update event_rows set content = json_set(content, '$.amountReceived', '0.0099') where type = 'invoice.confirmed' and mode = 'test'";
    assert_edit_found(edit, "rule 4: invoice ", "the sum of payments that came to it");
}

#[test]
fn edited_amount_in_the_event_of_a_refund_is_found() {
    let edit = "update event_rows set content = json_set(content, '$.amountCrypto', '9') where type = 'refund.paid'";
    assert_edit_found(edit, "rule 4: refund ", "as it is stored");
}

#[test]
fn edited_amount_in_the_event_of_a_deposit_is_found() {
    let edit = "update event_rows set content = json_set(content, '$.grossEur', '9.00') where type = 'deposit.confirmed'";
    assert_edit_found(edit, "rule 4: deposit ", "as it is stored");
}

#[test]
fn replaced_address_of_an_open_invoice_is_found() {
    let edit =
        "update observations set address = 'ltc1qelsewhere' where asset = 'LTC' and state = 'seen';
        update quotes set address = 'ltc1qelsewhere' where asset = 'LTC';
        update addresses set address = 'ltc1qelsewhere' where pool = 'litecoin';
        update invoices set deposit_address = 'ltc1qelsewhere' where asset = 'LTC';
        update event_rows set content = json_set(content, '$.depositAddress', 'ltc1qelsewhere')
          where seq in (select seq from events where body like '%\"asset\":\"LTC\"%')";
    assert_edit_found(edit, "rule 5: address ltc1qelsewhere ", "which that wallet derives there");
}

#[test]
fn audit_derives_addresses_unless_disabled() {
    let shop = shop_with_every_feature();
    for (more, last) in [
        (&[][..], " addresses derived again in "),
        (&["--skip-addresses"], "addresses not derived again"),
    ] {
        let printed = run_coffer(shop.file(), &[&["audit"], more].concat());
        assert!(printed.contains(last), "{printed}");
    }
}
