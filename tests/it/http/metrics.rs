//! The address and the access rules of `/metrics`.

use crate::support::process::Process;
use crate::support::scratch::Scratch;
use crate::support::{Response, Shop, TEST, agent, polling, send};
use coffer::Config;
use std::net::SocketAddr;
use std::process::{Command, Output, Stdio};

const TOKEN: &str = "a-token-of-metrics";

/// Sends a GET request, optionally with an Authorization header.
fn get(address: SocketAddr, path: &str, authorization: Option<&str>) -> Response {
    let url = format!("http://{address}{path}");
    let headers: Vec<_> = authorization.map(|text| ("Authorization", text)).into_iter().collect();
    send(&agent(), "GET", &url, &headers, "")
}

fn metrics_config(own_listener: bool, token: Option<&str>) -> Config {
    Config {
        metrics_listen: own_listener.then(|| SocketAddr::from(([127, 0, 0, 1], 0))),
        metrics_token: token.map(|token| token.parse().unwrap()),
        ..Config::sandbox()
    }
}

#[test]
fn metrics_require_the_configured_token() {
    let shop = Shop::with_config(metrics_config(false, Some(TOKEN)));
    let read = |headers: &[(&str, &str)]| shop.send("GET", "/metrics", headers, "");
    for wrong in [
        "",
        "Bearer",
        "Bearer ",
        TOKEN,
        "Basic a-token-of-metrics",
        "Bearer a-token-of-metric",
        "Bearer a-token-of-metricsx",
        "Bearer A-token-of-metrics",
        "Bearer a-token-of-metrics a-token-of-metrics",
        &format!("Bearer {TEST}"),
    ] {
        let refused = read(&[("Authorization", wrong)]);
        refused.assert_error(401, "unauthorized", None);
        assert_eq!(refused.headers["www-authenticate"], "Bearer", "{wrong}");
        assert!(!refused.text.contains("coffer_"), "{}", refused.text);
    }
    read(&[]).assert_error(401, "unauthorized", None);
    read(&[("X-API-Key", TOKEN)]).assert_error(401, "unauthorized", None);
    let post = shop.send("POST", "/metrics", &[], "");
    post.assert_error(405, "method_not_allowed", None);
    for right in ["Bearer a-token-of-metrics", "bearer  a-token-of-metrics"] {
        let page = read(&[("Authorization", right)]).expect(200);
        assert!(page.text.contains("coffer_requests_total"));
    }
    shop.get("/livez", None).expect(200);
}

#[test]
fn metrics_listener_serves_only_metrics() {
    for token in [None, Some(TOKEN)] {
        let server = coffer::Server::start(metrics_config(true, token)).unwrap();
        let (main, metrics) = (server.listen(), server.metrics_listen().unwrap());
        assert!(main != metrics && metrics.port() != 0);
        let bearer = token.map(|token| format!("Bearer {token}"));
        get(main, "/livez", None).expect(200);
        let page = get(metrics, "/metrics", bearer.as_deref()).expect(200);
        let line = "coffer_requests_total{operation=\"livez\",status=\"2xx\"} 1";
        assert!(page.text.contains(line), "{}", page.text);
        if token.is_some() {
            get(metrics, "/metrics", None).assert_error(401, "unauthorized", None);
        }
        get(main, "/metrics", bearer.as_deref()).assert_error(404, "not_found", None);
        for path in [
            "/",
            "/livez",
            "/sandbox",
            "/v1/openapi.json",
            "/v1/invoices",
            "/metrics/",
            "/%6detrics",
            "//metrics",
            // The metrics address does not serve pages.
            "/checkout/x",
        ] {
            let answer = get(metrics, path, None);
            answer.assert_error(404, "not_found", None);
        }
        for (address, method, path, status) in [
            (metrics, "POST", "/sandbox/reset", 404),
            (metrics, "POST", "/sandbox/inbox/x", 404),
            (metrics, "PATCH", "/livez", 404),
            (metrics, "OPTIONS", "/v1/public/config", 404),
            (metrics, "POST", "/metrics", 405),
            (main, "POST", "/metrics", 404),
            (main, "OPTIONS", "/v1/public/config", 204),
        ] {
            let url = format!("http://{address}{path}");
            send(&agent(), method, &url, &[], "").expect(status);
        }
        // A request with a foreign host, as in DNS rebinding, gets no metrics.
        let url = format!("http://{metrics}/metrics");
        let evil = send(&agent(), "GET", &url, &[("Host", "evil.example")], "");
        evil.assert_error(403, "forbidden", None);
    }
}

#[test]
fn metrics_stay_on_the_main_listener_by_default() {
    let shop = Shop::open();
    shop.get("/metrics", None).expect(200);
    shop.send("GET", "/metrics", &[("Authorization", "Bearer any")], "").expect(200);
}

#[test]
fn log_contains_metrics_port_but_not_token() {
    let scratch = Scratch::new();
    let log = scratch.path("log");
    let errors: Stdio = std::fs::File::create(&log).unwrap().into();
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["sandbox", "--listen", "127.0.0.1:0", "--exit-with-parent"]);
    command.args(["--log", "trace", "--metrics-listen", "127.0.0.1:0"]);
    command.env("COFFER_METRICS_TOKEN", TOKEN);
    let mut process = Process::start_with_stderr(&mut command, errors);
    let ready = process.read_line();
    let logged = || std::fs::read_to_string(&log).unwrap();
    let said = "metrics served: url=http://";
    // The log is written asynchronously, so the test reads it until it contains the address.
    let mut address = None;
    let is_said = || {
        let logged = logged();
        let rest = logged.split_once(said).map(|(_, rest)| rest);
        let told = rest.and_then(|rest| rest.split_once("/metrics\n"));
        address = told.map(|(address, _)| address.parse().unwrap());
        address.is_some()
    };
    assert!(polling::wait_until(is_said));
    let address = address.unwrap();
    get(address, "/metrics", Some(&format!("Bearer {TOKEN}"))).expect(200);
    let wrong = get(address, "/metrics", Some(&format!("Bearer {TOKEN}-wrong")));
    wrong.assert_error(401, "unauthorized", None);
    assert!(process.close_input_and_wait());
    assert!(!logged().contains(TOKEN), "{}", logged());
    assert!(!ready.contains(TOKEN) && !wrong.text.contains(TOKEN));
    let shown = format!("{:?}", metrics_config(true, Some(TOKEN)));
    assert!(shown.contains("MetricsToken") && !shown.contains(TOKEN));
}

/// Runs the binary to its end, optionally with a token in its environment.
fn run_coffer(arguments: &[&str], token: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    let command = command.args(arguments);
    if let Some(token) = token {
        command.env("COFFER_METRICS_TOKEN", token);
    }
    command.output().unwrap()
}

#[test]
fn unprotected_public_metrics_are_rejected() {
    for token in ["", " ", "two words", "\u{f6}", &"x".repeat(201)] {
        let output = run_coffer(&["sandbox", "--listen", "127.0.0.1:0"], Some(token));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{token:?}");
        let words = "--metrics-token must have 1 to 200 printable ASCII characters";
        assert!(said.contains(words), "{said}");
        assert!(!said.contains("two words"), "{said}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (address, words) in [
        ("", "--metrics-listen : must be an address like"),
        ("nowhere", "--metrics-listen nowhere: must be an address like"),
        ("0.0.0.0:0", "with --allow-remote only"),
        (&taken, &taken),
    ] {
        let arguments = ["sandbox", "--listen", "127.0.0.1:0", "--metrics-listen", address];
        let output = run_coffer(&arguments, None);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{address}");
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn doctor_warns_about_public_metrics() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let doctor = |more: &[&str], token: Option<&str>| {
        let arguments = [&["doctor", "--file", file.to_str().unwrap()], more].concat();
        String::from_utf8(run_coffer(&arguments, token).stdout).unwrap()
    };
    let (fine, open) = ("ok: who can read /metrics", "/metrics is open to everybody");
    for (more, token) in [
        (&[][..], None),
        (&["--listen", "[::1]:8080"], None),
        (&["--listen", "0.0.0.0:8080"], Some(TOKEN)),
        (&["--listen", "0.0.0.0:8080", "--metrics-listen", "127.0.0.1:9090"], None),
        (&["--metrics-listen", "0.0.0.0:9090"], Some(TOKEN)),
    ] {
        let said = doctor(more, token);
        assert!(said.contains(fine) && !said.contains(open), "{said}");
    }
    for (more, address) in [
        (&["--listen", "0.0.0.0:8080"][..], "0.0.0.0:8080"),
        (&["--listen", "[::]:8080"], "[::]:8080"),
        (&["--metrics-listen", "192.0.2.1:9090"], "192.0.2.1:9090"),
    ] {
        let said = doctor(more, None);
        let words = format!("wrong: {open} who reaches {address}; mend: start `coffer serve` with");
        assert!(said.contains(&words), "{said}");
        assert!(!said.contains(fine), "{said}");
    }
}
