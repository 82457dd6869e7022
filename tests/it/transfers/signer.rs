//! The signer command: its input, the effect of its response, and protection against sending a transfer twice.

use crate::support::installation::{ETHEREUM, Installation, program_start_count, signer_settings};
use serde_json::{Value, json};

/// Query for the state of the newest payout.
pub const STATE: &str =
    "select status || ' ' || ifnull(sending, '') from transfers order by seq desc limit 1";

/// Returns a signer that records its start, stores its input and runs a shell command. The command `answer` prints
/// the response.
pub fn signer_with_response(served: &Installation, answer: &str) -> String {
    let script = format!(
        "echo started >> {}\ncat > {}\n{answer}",
        served.path("noted").display(),
        served.path("read").display()
    );
    served.write_program("signer", &script)
}

/// Returns a signer that records the id of each transfer, and waits for the response that a test writes.
#[track_caller]
pub fn waiting_signer(served: &Installation) -> String {
    let folder = served.path("orders");
    std::fs::create_dir(&folder).unwrap();
    let script = format!(
        "cd {}; order=$(cat); id=${{order#*\\\"id\\\":\\\"}}; id=${{id%%\\\"*}}\n\
            mkfifo $id; echo $id >> started; exec cat $id",
        folder.display()
    );
    served.write_program("signer", &script)
}

/// Writes the response of [`waiting_signer`] for a transfer.
#[track_caller]
pub fn write_signer_response(served: &Installation, id: &str, text: &str) {
    std::fs::write(served.path("orders").join(id), text).unwrap();
}

/// Counts the starts of [`waiting_signer`] for a transfer.
pub fn signer_start_count(served: &Installation, id: &str) -> usize {
    let started = served.path("orders").join("started");
    let started = std::fs::read_to_string(started).unwrap_or_default();
    started.lines().filter(|line| *line == id).count()
}

/// Returns a payout as the merchant API shows it.
#[track_caller]
pub fn read_payout(served: &Installation, url: &str, id: &str) -> Value {
    let key = [("X-API-Key", served.key.as_str())];
    let url = format!("{url}/v1/payouts/{id}");
    let answer = crate::support::send(&crate::support::agent(), "GET", &url, &key, "");
    answer.expect(200).json()
}

#[test]
fn approved_payout_is_sent_once() {
    let served = Installation::new();
    let txid = format!("0x{}", "5a".repeat(32));
    let program = signer_with_response(&served, &format!(r#"echo '{{"txid": "{txid}"}}'"#));
    let running = served.start(&signer_settings(&program));
    let id = served.create_approved_payout_to(&running, ETHEREUM);
    served.wait_for_query_result(STATE, &["processing "]);
    let read: Value =
        serde_json::from_str(&std::fs::read_to_string(served.path("read")).unwrap()).unwrap();
    assert_eq!(
        read,
        json!({ "id": id, "kind": "payout", "asset": "ETH", "chain": "ethereum", "toAddress": ETHEREUM[2],
            "amount": "0.199", "amountBaseUnits": "199000000000000000" })
    );
    let seen = read_payout(&served, &running.url, &id);
    assert_eq!((&seen["status"], &seen["txid"]), (&json!("processing"), &json!(txid)));
    assert_eq!(program_start_count(&served.path("noted")), 1);
}

#[test]
fn unclear_signer_response_waits_for_a_person() {
    for (answer, state) in [
        (r#"echo '{"sent": false, "reason": "no funds"}'"#, "processing declined"),
        ("exit 1", "processing unknown"),
        ("echo '{}'", "processing unknown"),
        ("sleep 60", "processing unknown"),
    ] {
        let served = Installation::new();
        let program = signer_with_response(&served, answer);
        let settings = [&signer_settings(&program)[..], &["--command-timeout", "1s"]].concat();
        let running = served.start(&settings);
        let id = served.create_approved_payout_to(&running, ETHEREUM);
        assert_eq!(
            served.wait_for_query_result(STATE, &["processing declined", "processing unknown"]),
            state,
            "{answer}"
        );
        assert_eq!(program_start_count(&served.path("noted")), 1, "{answer}");
        let seen = read_payout(&served, &running.url, &id);
        assert_eq!(seen["status"], "processing");
        let path = format!("/dashboard/api/payouts/{id}");
        let body = json!({ "action": "pay", "reason": "found by looking" });
        let paid = running.operator_request("POST", &path, &body).expect(200).json();
        assert_eq!(paid["onChain"]["state"], "settled");
    }
}

#[test]
fn signer_killed_with_the_server_is_not_run_again() {
    let served = Installation::new();
    let fifo = served.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let program = signer_with_response(&served, &format!("cat {}", fifo.display()));
    let mut running = served.start(&signer_settings(&program));
    let id = served.create_approved_payout_to(&running, ETHEREUM);
    while program_start_count(&served.path("noted")) == 0 {
        std::thread::yield_now();
    }
    running.process.kill();
    // The signer sends its response after the server was killed.
    std::fs::write(&fifo, r#"{"txid": "sent-unheard"}"#).unwrap();
    let running = served.start(&signer_settings(&program));
    assert_eq!(served.wait_for_query_result(STATE, &["processing unknown"]), "processing unknown");
    let path = format!("/dashboard/api/payouts/{id}");
    let body = json!({ "action": "pay", "reason": "the signer sent it" });
    running.operator_request("POST", &path, &body).expect(200);
    assert_eq!(read_payout(&served, &running.url, &id)["status"], "paid");
    assert_eq!(program_start_count(&served.path("noted")), 1);
}
