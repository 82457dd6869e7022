//! Upgrade of payouts and refunds from version 21. In that version, a transfer was paid as soon as a transaction id
//! was entered. Transfers in every state are upgraded and continued.

use super::audit::findings;
use super::old_files::{call, downgraded_copy, start_on_file, text_column};
use crate::support::scratch::Scratch;
use crate::support::{LIVE, Shop};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// State of the signer in the old file.
#[derive(Clone, Copy)]
enum OldSignerState {
    /// The signer was not started.
    Silent,
    /// The signer was running when the process ended. The next start sets its outcome to unknown.
    Running,
    /// The outcome is unknown, and the audit log says so.
    Unknown,
    /// The outcome has been unknown since the file was restored.
    Restored,
}

/// A transfer of version 21: its steps, the state of its signer, and the expected columns after the upgrade. The
/// columns are status, signer state, source of the transaction id, basis of the settlement, and 1 if the transfer was
/// handed over for sending.
type TransferCase = (&'static [&'static str], OldSignerState, &'static str);

const CASES: [TransferCase; 14] = [
    (&[], OldSignerState::Silent, "requested - - - 0"),
    (&[], OldSignerState::Restored, "requested restored - - 0"),
    (&["approve"], OldSignerState::Silent, "approved - - - 0"),
    (&["approve"], OldSignerState::Restored, "approved restored - - 0"),
    (&["approve", "process"], OldSignerState::Silent, "processing - - - 1"),
    (&["approve", "process"], OldSignerState::Running, "processing running - - 1"),
    (&["approve", "process"], OldSignerState::Unknown, "processing unknown - - 1"),
    (&["approve", "process"], OldSignerState::Restored, "processing restored - - 1"),
    (&["approve", "process", "pay"], OldSignerState::Silent, "paid - person unchecked 1"),
    (&["approve", "process", "fail"], OldSignerState::Silent, "failed - - - 1"),
    (&["approve", "fail"], OldSignerState::Silent, "failed - - - 0"),
    (&["reject"], OldSignerState::Silent, "rejected - - - 0"),
    (&["cancel"], OldSignerState::Silent, "cancelled - - - 0"),
    (&["approve", "cancel"], OldSignerState::Silent, "cancelled - - - 0"),
];

const UPGRADED_TRANSFERS_QUERY: &str = "select concat_ws(' ', status, ifnull(sending, '-'), ifnull(txid_from, '-'), \
    ifnull(settled_by, '-'), handed_over_at is not null) from transfers order by seq";

/// Creates a file of version 21 with one transfer for each case, and returns its path and the transfer ids.
#[track_caller]
fn create_old_file(
    scratch: &Scratch,
    kind: &str,
    cases: &[TransferCase],
) -> (PathBuf, Vec<String>) {
    let shop = Shop::open();
    let invoice = shop.fund_balance(LIVE, "1000.00", "EUR");
    let made = cases.iter().map(|(steps, ..)| {
        let id = match kind {
            "payouts" => shop.create_payout("20.00"),
            _ => shop.create_refund(&invoice, Some("20.00")),
        };
        shop.apply_actions(kind, &id, steps);
        id
    });
    let ids: Vec<String> = made.collect();
    let file = scratch.path(&format!("{}-{kind}.db", ids[0]));
    let old = downgraded_copy(shop.file(), &file, 21);
    for ((_, state, _), id) in cases.iter().zip(&ids) {
        let sending = match state {
            OldSignerState::Silent => continue,
            OldSignerState::Running => "running",
            OldSignerState::Unknown | OldSignerState::Restored => "unknown",
        };
        let set = "update transfers set sending = ?2 where id = ?1";
        assert_eq!(old.execute(set, [id, sending]), Ok(1));
        if !matches!(state, OldSignerState::Restored) {
            let by = "update audit_log set actor = 'signer command' where object_id = ?1 and action like '%.process'";
            assert_eq!(old.execute(by, [id]), Ok(1));
        }
        if matches!(state, OldSignerState::Unknown) {
            let noted = "insert into audit_log (at, actor, action, account, object_id, detail) \
                select at, actor, replace(action, 'process', 'unknown'), account, object_id, '{}' \
                from audit_log where object_id = ?1 and action like '%.process'";
            assert_eq!(old.execute(noted, [id]), Ok(1));
        }
    }
    drop(old);
    (file, ids)
}

#[track_caller]
fn assert_upgraded(file: &Path, cases: &[TransferCase]) {
    assert_eq!(findings(file), Vec::<String>::new(), "before");
    let (mut process, _) = start_on_file(file);
    assert!(process.close_input_and_wait());
    let expected: Vec<_> = cases.iter().map(|(.., expected)| *expected).collect();
    assert_eq!(text_column(file, UPGRADED_TRANSFERS_QUERY), expected);
    let attached = "select count(*) || '' from transfers where (txid is null) <> (attached_at is null) \
        or (txid is not null and attached_at <> finalized_at)";
    assert_eq!(text_column(file, attached), ["0"]);
    assert_eq!(findings(file), Vec::<String>::new(), "after");
}

#[test]
fn refund_of_each_state_is_upgraded() {
    let scratch = Scratch::new();
    let (file, ids) = create_old_file(&scratch, "refunds", &CASES);
    assert_upgraded(&file, &CASES);
    assert_transfers_usable(&file, &ids);
}

#[test]
fn payout_of_each_state_is_upgraded() {
    // An account has at most one open payout, so each case has its own file.
    for case in CASES {
        let scratch = Scratch::new();
        let (file, _) = create_old_file(&scratch, "payouts", &[case]);
        assert_upgraded(&file, &[case]);
    }
}

/// Asserts that each transfer accepts only the actions of its state. Held transfers can be released, open transfers
/// can be ended, and final transfers do not change.
#[track_caller]
fn assert_transfers_usable(file: &Path, ids: &[String]) {
    let (mut process, url) = start_on_file(file);
    let act = |place: usize, action: &str| {
        let path = format!("/sandbox/refunds/{}", ids[place]);
        call(&url, "POST", &path, LIVE, &json!({ "action": action }))
    };
    for (place, steps) in [
        (0, &["approve", "process", "pay"][..]),
        (1, &["release", "approve", "process", "pay"]),
        (2, &["process", "pay"]),
        (3, &["release", "process", "pay"]),
        (4, &["pay"]),
        (6, &["fail"]),
        (7, &["pay"]),
    ] {
        if steps[0] == "release" {
            act(place, steps[1]).assert_error(409, "invalid_transition", Some("action"));
        } else {
            act(place, "release").assert_error(409, "invalid_transition", Some("action"));
        }
        let ended =
            steps.iter().fold(Value::Null, |_, action| act(place, action).expect(200).json());
        let end = if place == 6 { "failed" } else { "paid" };
        assert_eq!(ended["status"], end, "{place}");
    }
    // A transfer cannot be paid while its signer is running. The next start sets the outcome of the signer to
    // unknown.
    act(5, "pay").assert_error(409, "invalid_transition", Some("action"));
    for place in 8..ids.len() {
        for action in ["process", "pay", "fail", "release"] {
            act(place, action).assert_error(409, "invalid_transition", Some("action"));
        }
    }
    assert!(process.close_input_and_wait());
    assert_eq!(findings(file), Vec::<String>::new());
}
