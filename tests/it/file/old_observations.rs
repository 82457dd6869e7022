//! Files in which payments, deposits and payments that matched nothing stood for themselves: all of it is brought over to
//! observations, and gone on from.
//!
//! `tests/golden/files/v2_chains.db` was made by the second version: a sandbox in both modes, with payments and deposits in
//! every state, some of nothing, some in one transaction, and payments that matched nothing. `v3.db`: see `old_files`.

use crate::file::audit::findings;
use crate::file::old_files::{call, column, opened};
use crate::support::TEST;
use crate::support::scratch::Scratch;
use serde_json::json;

/// The old files.
const OLD: [&str; 2] = ["v2_chains", "v3"];

/// What is read of the old file, and what has to be the same in the new one.
const BROUGHT_OVER: [[&str; 2]; 3] = [
    [
        "select concat_ws(' ', p.seq, p.id, p.invoice, p.quote, p.mode, p.chain, p.asset, p.txid, p.position, p.amount,
           q.address, p.rate, p.value, p.on_time, p.state, p.was_confirmed, p.seen_at, p.confirmed_at, p.created_at)
         from payments p join quotes q on q.seq = p.quote order by p.seq",
        "select concat_ws(' ', p.seq, p.id, p.invoice, p.quote, o.mode, o.chain, o.asset, o.txid, o.position, o.amount,
           o.address, p.rate, p.value, p.on_time, o.state, p.was_confirmed, p.seen_at, o.confirmed_at, p.created_at)
         from payments p join observations o on o.seq = p.observation order by p.seq",
    ],
    [
        "select concat_ws(' ', seq, id, account, mode, customer, chain, asset, address, txid, position, amount, rate, gross,
           fee, iif(status = 'detected', 'seen', status), was_confirmed, created_at, confirmed_at)
         from deposits order by seq",
        "select concat_ws(' ', d.seq, d.id, d.account, d.mode, d.customer, o.chain, o.asset, o.address, o.txid, o.position,
           o.amount, d.rate, d.gross, d.fee, o.state, d.was_confirmed, d.created_at, o.confirmed_at)
         from deposits d join observations o on o.seq = d.observation order by d.seq",
    ],
    [
        "select concat_ws(' ', seq, id, mode, chain, asset, txid, position, address, amount, reason, account, invoice, seen_at,
           resolved_at, note) from unmatched_payments order by seq",
        "select concat_ws(' ', u.seq, u.id, o.mode, o.chain, o.asset, o.txid, o.position, o.address, o.amount, u.reason,
           u.account, u.invoice, o.seen_at, u.resolved_at, u.note)
         from unmatched_payments u join observations o on o.seq = u.observation order by u.seq",
    ],
];

#[test]
fn what_was_seen_is_brought_over() {
    OLD.into_iter().for_each(is_brought_over);
}

#[track_caller]
fn is_brought_over(version: &str) {
    let scratch = Scratch::new();
    let [file, old] = ["file.db", "old.db"].map(|name| scratch.old_file(version, name));
    let (mut process, _) = opened(&file);
    assert!(process.close());
    assert_eq!(findings(&file), Vec::<String>::new());
    for [before, after] in BROUGHT_OVER {
        let (before, after) = (column(&old, before), column(&file, after));
        assert!(before.len() > 3, "{before:?}");
        assert_eq!(after, before);
    }
    let kept = ["ledger", "invoice_steps", "events", "invoices", "addresses"];
    for table in kept {
        let count = format!("select cast(count(*) as text) from {table}");
        assert_eq!(column(&file, &count), column(&old, &count), "{table}");
    }
}

#[test]
fn what_was_seen_is_gone_on_from() {
    OLD.into_iter().for_each(is_gone_on_from);
}

#[track_caller]
fn is_gone_on_from(version: &str) {
    let scratch = Scratch::new();
    let [file, old] = ["file.db", "old.db"].map(|name| scratch.old_file(version, name));
    let (mut process, url) = opened(&file);
    let ids = "select id from payments union all select id from deposits union all select id from unmatched_payments";
    // Whatever its state was: it is gone, then seen, confirmed, reorganised away and confirmed again.
    for id in column(&old, ids) {
        let path = format!("/sandbox/payments/{id}");
        let step = |state: &str| call(&url, "POST", &path, TEST, &json!({ "state": state }));
        // Those that are gone already are not dropped again.
        let _ = step("dropped");
        for state in ["seen", "confirmed", "orphaned", "confirmed"] {
            step(state).expect(200);
        }
    }
    assert_eq!(findings(&file), Vec::<String>::new());
    let not_confirmed = "select txid from observations where state <> 'confirmed'";
    assert_eq!(column(&file, not_confirmed), Vec::<String>::new());
    // A transaction of then is known.
    let nobody = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";
    let again = json!({ "address": nobody, "asset": "BTC", "amount": "0.5", "txid": format!("shared-{TEST}") });
    call(&url, "POST", "/sandbox/payments", TEST, &again).expect(200);
    assert!(process.close());
    assert_eq!(findings(&file), Vec::<String>::new());
}
