//! Progress on a terminal: a rescan by the server.

use super::terminal::{COFFER, run_piped};
use crate::support::polling;
use crate::support::pty::Terminal;
use crate::support::scratch::{Scratch, path_text};
use rusqlite::Connection;

#[test]
fn rescan_wait_reports_its_end() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let made = run_piped(&["account", "create", "Shop", "--file", path_text(&file)]);
    assert!(made.status.success());
    let followed =
        "insert into chain_cursors values ('bitcoin', 'main', 9, 'h', 0, 9, 'h', 9, 0, 0, null)";
    let conn = Connection::open(&file).unwrap();
    conn.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    conn.execute_batch(followed).unwrap();
    let rescan = [COFFER, "rescan", "bitcoin", "--file", path_text(&file), "--wait", "--from", "3"];
    for (end, code, said) in [
        ("", 0, "bitcoin was read again from block 3 on"),
        ("update chain_cursors set stopped = 'gone'", 1, "bitcoin is stopped: gone"),
        (
            "insert into rescans (chain, from_height, next_height, asked_at) values ('bitcoin', 1, 1, 0)",
            1,
            "another rescan of bitcoin was ordered, from block 1 on",
        ),
    ] {
        conn.execute_batch("update rescans set ended_at = 1 where ended_at is null; update chain_cursors set stopped = null").unwrap();
        let shown = std::thread::scope(|scope| {
            let waits = scope.spawn(|| Terminal::standard().run(&rescan));
            let ordered = "select count(*) from rescans where ended_at is null and from_height = 3";
            let is_ordered =
                || conn.query_row(ordered, [], |row| row.get::<_, i64>(0)).unwrap() > 0;
            assert!(polling::wait_until(|| is_ordered() || waits.is_finished()));
            // The test simulates that the server ends the rescan.
            let ended = format!(
                "begin immediate; update rescans set ended_at = 1 where ended_at is null; {end}; commit"
            );
            conn.execute_batch(&ended).unwrap();
            waits.join().unwrap()
        });
        let Some(shown) = shown else {
            return;
        };
        assert_eq!(shown.code, code, "{shown:?}");
        assert!(shown.visible_lines().join("\n").contains(said), "{shown:?}");
    }
}
