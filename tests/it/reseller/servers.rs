//! Orders of servers: valid orders, decisions, and a provisioner that never runs twice.

use crate::support::body_text;
use crate::support::installation::{Installation, program_start_count};
use crate::support::{Response, Shop, polling};
use serde_json::{Value, json};

const SERVERS: &str = "/reseller/servers";

impl Shop {
    /// Sends a request to the reseller interface with the sandbox's token.
    #[track_caller]
    fn reseller_request(&self, method: &str, path: &str, body: &Value) -> Response {
        let body = body_text(body);
        self.send(method, path, &[("Authorization", "Bearer rt_sandbox")], &body)
    }
}

pub fn order_body() -> Value {
    json!({ "type": "kvm", "hostname": "web-1.example.com", "cpu": 2, "ramMb": 2048, "diskGb": 20 })
}

#[test]
fn server_is_ordered_and_delivered_manually() {
    let shop = Shop::open();
    let placed = shop.reseller_request("POST", SERVERS, &order_body()).expect(201);
    let server = placed.json();
    assert_eq!((&server["object"], &server["status"]), (&json!("server"), &json!("queued")));
    let path = format!("/reseller/servers/{}", server["id"].as_str().unwrap());
    assert_eq!(shop.reseller_request("GET", &path, &Value::Null).expect(200).text, placed.text);
    let operator = shop.sign_in_operator();
    let listed = shop
        .session_request(&operator, "GET", "/dashboard/api/servers", &Value::Null)
        .expect(200)
        .json();
    assert_eq!(listed["data"][0]["id"], server["id"]);
    let decide = |body: Value| {
        let path = format!("/dashboard/api/servers/{}", server["id"].as_str().unwrap());
        shop.session_request(&operator, "POST", &path, &body)
    };
    decide(json!({ "action": "release" })).assert_error(409, "invalid_transition", None);
    let made = decide(json!({ "action": "activate", "address": "192.0.2.7", "ref": "vm-7" }));
    assert_eq!(made.expect(200).json()["status"], "active");
    let seen = shop.reseller_request("GET", &path, &Value::Null).expect(200).json();
    assert_eq!((&seen["status"], &seen["address"]), (&json!("active"), &json!("192.0.2.7")));
    assert!(seen["activatedAt"].is_string() && seen["ref"].is_null());
    shop.reseller_request("DELETE", &path, &Value::Null).expect(202);
    decide(json!({ "action": "delete" })).expect(200);
    let gone = shop.reseller_request("GET", &path, &Value::Null).expect(200).json();
    assert_eq!(gone["status"], "deleted");
    let again = shop.reseller_request("POST", SERVERS, &order_body()).expect(201).json();
    let path = format!("/reseller/servers/{}", again["id"].as_str().unwrap());
    let dropped = shop.reseller_request("DELETE", &path, &Value::Null).expect(200).json();
    assert_eq!(dropped["status"], "deleted", "it was never made");
    let account = listed["data"][0]["account"].as_str().unwrap();
    let path = format!("/dashboard/api/accounts/{account}/servers");
    let own = shop.session_request(&operator, "GET", &path, &Value::Null).expect(200).json();
    assert_eq!(own["data"].as_array().unwrap().len(), 2);
}

#[test]
fn invalid_order_is_rejected() {
    let shop = Shop::open();
    for (field, value) in [
        ("type", json!("lxc")),
        ("type", json!(null)),
        ("hostname", json!("-web")),
        ("hostname", json!("web_1")),
        ("hostname", json!("a..b")),
        ("hostname", json!("192.0.2.7")),
        ("hostname", json!("x".repeat(64))),
        ("hostname", json!("")),
        ("cpu", json!(0)),
        ("cpu", json!(33)),
        ("cpu", json!("2")),
        ("cpu", json!(1.5)),
        ("ramMb", json!(255)),
        ("ramMb", json!(131_073)),
        ("diskGb", json!(0)),
        ("diskGb", json!(2_049)),
        ("diskGb", json!(null)),
        ("more", json!(1)),
    ] {
        let mut body = order_body();
        body[field] = value;
        let refused = shop.reseller_request("POST", SERVERS, &body);
        refused.assert_error(400, "invalid_request", Some(field));
    }
    let listed = shop.reseller_request("GET", SERVERS, &Value::Null).expect(200).json();
    assert_eq!(listed["data"], json!([]));
    shop.update_account(json!({ "status": "suspended" }));
    let refused = shop.reseller_request("POST", SERVERS, &order_body());
    refused.assert_error(403, "account_not_active", None);
    for token in ["", "Bearer rt_other", "Bearer sk_test_sandbox", "Basic x"] {
        let refused = shop.send("GET", SERVERS, &[("Authorization", token)], "");
        refused.assert_error(401, "unauthorized", None);
    }
    let key = shop.send("GET", SERVERS, &[("X-API-Key", "sk_live_sandbox")], "");
    key.assert_error(401, "unauthorized", None);
    let nobody = "/reseller/servers/0199a0c4-5f3e-7c11-8a52-3d1d2f6b7a90";
    shop.reseller_request("GET", nobody, &Value::Null).assert_error(404, "not_found", None);
    shop.reseller_request("DELETE", nobody, &Value::Null).assert_error(404, "not_found", None);
}

#[test]
fn idempotency_key_orders_one_server() {
    let shop = Shop::open();
    let headers = [("Authorization", "Bearer rt_sandbox"), ("Idempotency-Key", "one")];
    let body = order_body().to_string();
    let first = shop.send("POST", SERVERS, &headers, &body).expect(201);
    assert_eq!(shop.send("POST", SERVERS, &headers, &body).expect(201).text, first.text);
    let mut other = order_body();
    other["cpu"] = json!(4);
    let conflict = shop.send("POST", SERVERS, &headers, &other.to_string());
    conflict.assert_error(409, "idempotency_conflict", Some("cpu"));
    let listed = shop.reseller_request("GET", SERVERS, &Value::Null).expect(200).json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
}

/// Writes a provisioner that records its start, its environment and its input, and then runs the shell command
/// `answer`.
fn write_provisioner(served: &Installation, answer: &str) -> String {
    let (noted, read) = (served.path("noted"), served.path("read"));
    let script = format!(
        "env | grep -v '^PWD=\\|^SHLVL=\\|^_=' > {env}\necho started >> {noted}\ncat > {read}\n{answer}",
        env = served.path("env").display(),
        noted = noted.display(),
        read = read.display()
    );
    served.write_program("provisioner", &script)
}

#[test]
fn provisioner_creates_and_removes_servers() {
    let served = Installation::new();
    let program = write_provisioner(&served, r#"echo '{"address": "192.0.2.9", "ref": "vm-9"}'"#);
    let running = served.start(&["--provisioner", &program]);
    let server = running.reseller_request("POST", SERVERS, &order_body()).expect(201).json();
    let status = "select status from servers";
    served.wait_for_query_result(status, &["active"]);
    let read: Value =
        serde_json::from_str(&std::fs::read_to_string(served.path("read")).unwrap()).unwrap();
    assert_eq!(
        read,
        json!({ "action": "create", "id": server["id"], "type": "kvm", "hostname": "web-1.example.com", "cpu": 2,
            "ramMb": 2048, "diskGb": 20 })
    );
    assert_eq!(std::fs::read_to_string(served.path("env")).unwrap(), "", "nothing of ours");
    let path = format!("/reseller/servers/{}", server["id"].as_str().unwrap());
    let seen = running.reseller_request("GET", &path, &Value::Null).expect(200).json();
    assert_eq!(seen["address"], "192.0.2.9");
    running.reseller_request("DELETE", &path, &Value::Null).expect(202);
    served.wait_for_query_result(status, &["deleted"]);
    let read: Value =
        serde_json::from_str(&std::fs::read_to_string(served.path("read")).unwrap()).unwrap();
    assert_eq!(read, json!({ "action": "delete", "id": server["id"], "ref": "vm-9" }));
    assert_eq!(program_start_count(&served.path("noted")), 2);
}

#[test]
fn unclear_provisioner_answer_needs_review() {
    for (answer, status) in [
        (r#"echo '{"created": false, "reason": "no room"}'"#, "failed"),
        ("exit 1", "provisioning"),
        ("echo rubbish", "provisioning"),
        ("head -c 100000 /dev/zero", "provisioning"),
        ("kill -9 $$", "provisioning"),
        ("sleep 60", "provisioning"),
    ] {
        let served = Installation::new();
        let program = write_provisioner(&served, answer);
        let running = served.start(&["--provisioner", &program, "--command-timeout", "1s"]);
        let server = running.reseller_request("POST", SERVERS, &order_body()).expect(201).json();
        let state = "select status || ' ' || ifnull(ordering, '') from servers";
        let ended = served.wait_for_query_result(state, &["failed ", "provisioning unknown"]);
        assert_eq!(ended.split(' ').next(), Some(status), "{answer}");
        assert_eq!(program_start_count(&served.path("noted")), 1, "{answer}");
        if status == "failed" {
            let path = format!("/reseller/servers/{}", server["id"].as_str().unwrap());
            let seen = running.reseller_request("GET", &path, &Value::Null).expect(200).json();
            assert_eq!(seen["failureReason"], "no room");
        } else {
            let path = format!("/dashboard/api/servers/{}", server["id"].as_str().unwrap());
            let body = json!({ "action": "fail", "reason": "looked: it is not there" });
            running.operator_request("POST", &path, &body).expect(200);
        }
    }
}

#[test]
fn interrupted_provisioner_is_not_run_again() {
    let served = Installation::new();
    let fifo = served.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let program = write_provisioner(&served, &format!("cat {}", fifo.display()));
    let mut running = served.start(&["--provisioner", &program]);
    running.reseller_request("POST", SERVERS, &order_body()).expect(201);
    assert!(polling::wait_until(|| program_start_count(&served.path("noted")) > 0));
    running.process.kill();
    // The provisioner completes, but the server that started it was killed and does not receive its answer.
    std::fs::write(&fifo, r#"{"address": "192.0.2.9"}"#).unwrap();
    let running = served.start(&["--provisioner", &program]);
    let state = "select status || ' ' || ifnull(ordering, '') from servers";
    assert_eq!(
        served.wait_for_query_result(state, &["provisioning unknown"]),
        "provisioning unknown"
    );
    let listed = running.operator_get("/dashboard/api/servers");
    assert_eq!(listed["data"][0]["command"], "unknown");
    assert_eq!(program_start_count(&served.path("noted")), 1);
}

#[test]
fn sandbox_runs_no_provisioner() {
    let served = Installation::new();
    let program = write_provisioner(&served, "echo '{}'");
    let mut config = coffer::Config::sandbox();
    config.provisioner = Some(coffer::worker::command::Program::parse(&program).unwrap());
    config.signer = config.provisioner.clone();
    let shop = Shop::with_config(config);
    shop.reseller_request("POST", SERVERS, &order_body()).expect(201);
    shop.fund_balance(crate::support::LIVE, "100.00", "EUR");
    let payout = shop.create_payout("20.00");
    shop.apply_actions("payouts", &payout, &["approve"]);
    shop.advance("1h");
    assert_eq!(program_start_count(&served.path("noted")), 0);
}
