//! `coffer doctor --live`, the health check of containers and supervisors.

use crate::support::process::start_sandbox;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;

/// Runs `coffer doctor --live`, and returns the exit code, standard output and standard error.
fn run_live_check(listen: &str, more: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    let command = command.args(["doctor", "--live", "--listen", listen]);
    let output = command.args(more).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    (code, text(output.stdout), text(output.stderr))
}

/// Starts a listener that sends these bytes to one client.
fn start_listener(answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        assert!(stream.read(&mut request).unwrap() > 0);
        stream.write_all(answer).unwrap();
    });
    address
}

#[test]
fn running_server_is_live_and_stopped_server_is_not() {
    let (mut server, url) = start_sandbox("127.0.0.1:0", &[]);
    let address = url.strip_prefix("http://").unwrap();
    let port = address.rsplit_once(':').unwrap().1;
    let all = format!("0.0.0.0:{port}");
    for listen in [address, &all] {
        let (code, printed, said) = run_live_check(listen, &[]);
        assert_eq!((code, printed, said), (0, format!("ok: server at {address}\n"), String::new()));
    }
    let (code, printed, _) = run_live_check(address, &["--json"]);
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, &printed["data"][0]["ok"]), (0, &true.into()));
    assert!(server.interrupt_and_wait());
    let (code, printed, said) = run_live_check(address, &[]);
    assert_eq!(code, 1, "{printed}");
    let expected = format!("wrong: nothing answers at {address}: ");
    assert!(printed.starts_with(&expected), "{printed}");
    assert_eq!(said, "coffer: 1 to look after\n");
}

#[test]
fn server_with_other_response_is_not_live() {
    let address = start_listener(b"HTTP/1.1 503 Service Unavailable\r\n\r\nno").to_string();
    let (code, printed, _) = run_live_check(&address, &[]);
    let expected = format!("wrong: {address} is not ready: 503 Service Unavailable; mend: ");
    assert!(code == 1 && printed.starts_with(&expected), "{printed}");
    for answer in [&b""[..], b"SSH-2.0-OpenSSH_9.2\r\n", b"\xff\xfe 200 \n"] {
        let address = start_listener(answer).to_string();
        let (code, printed, _) = run_live_check(&address, &[]);
        let expected = format!("wrong: nothing answers at {address}: it is not an HTTP response; ");
        assert!(code == 1 && printed.starts_with(&expected), "{printed}");
    }
}

#[test]
fn invalid_address_error_names_the_option() {
    let (code, _, said) = run_live_check("127.0.0.1:0", &[]);
    assert_eq!(code, 1);
    assert_eq!(said, "coffer: --listen must name the port of the server that is asked, not 0\n");
    let (code, _, said) = run_live_check("127.0.0.1:1", &["--accept-clock"]);
    assert_eq!(code, 2);
    assert!(said.contains("'--live' cannot be used with '--accept-clock'"));
}
