//! Tests each source with broken responses: rejected, truncated, too long, too slow, or not as documented.

use super::{
    NOW, documented_response, fetch_from, fetch_with_response, http_response, start_server,
};
use crate::chain::rates::{ANSWER_BYTES_MAX, RateClient, Upstream};
use crate::domain::FigureSource;
use std::io::{Read, Write};
use std::net::TcpListener;

#[test]
fn undocumented_response_is_rejected_with_reason() {
    for source in FigureSource::PUBLIC {
        for (body, problem) in [
            ("", "not as documented"),
            ("null", "not as documented"),
            ("[1]", "not as documented"),
            ("maintenance", "not as documented"),
            (r#"{"error":"#, "not as documented"),
        ] {
            let failure =
                fetch_with_response(source, http_response("200 OK", "", body)).unwrap_err();
            assert!(failure.problem.contains(problem), "{source} {body}: {failure:?}");
        }
        for status in ["403 Forbidden", "451 Unavailable", "500 Oops", "503 Busy"] {
            let failure = fetch_with_response(source, http_response(status, "", "{}")).unwrap_err();
            assert_eq!(failure.problem, format!("answered {}", &status[..3]), "{source}");
        }
        let moved = http_response("302 Found", "Location: http://127.0.0.1:9/\r\n", "");
        let failure = fetch_with_response(source, moved).unwrap_err();
        assert_eq!(failure.problem, "answered 302, a redirect, which is not followed");
    }
}

/// Invalid response bodies with status 200, and the expected errors.
const NOT_AS_DOCUMENTED: [(FigureSource, &str, &str); 20] = [
    (
        FigureSource::Kraken,
        r#"{"error":["EService:Unavailable"]}"#,
        "answered an error: EService:Unavailable",
    ),
    (
        FigureSource::Kraken,
        r#"{"error":[],"result":{"XXBTZEUR":{"a":[60000],"b":["60000"]}}}"#,
        "the answer is not as documented",
    ),
    (
        FigureSource::Kraken,
        r#"{"error":[],"result":{"XXBTZEUR":{"c":["60000","1"],"b":["60000"]}}}"#,
        "the answer is not as documented: missing field `a`",
    ),
    (
        FigureSource::Kraken,
        r#"{"error":[],"result":{"XXBTZEUR":{"a":["60000"],"b":null}}}"#,
        "the answer is not as documented: invalid type: null",
    ),
    (
        FigureSource::Kraken,
        r#"{"error":[],"result":{"XXBTZEUR":{"a":[],"b":["60000"]}}}"#,
        "the ask price of BTC in EUR is \"\", not a positive number",
    ),
    (
        FigureSource::Kraken,
        r#"{"error":[],"result":{"XXBTZEUR":{"a":["0.00000"],"b":["0.00000"]}}}"#,
        "the ask price of BTC in EUR is \"0.00000\", not a positive number",
    ),
    (
        FigureSource::Kraken,
        r#"{"error":[],"result":{"XXBTZEUR":{"a":["60000"],"b":["60000.1"]}}}"#,
        "the ask price of BTC in EUR is 60000 and the bid price 60000.1, which have no middle",
    ),
    (
        FigureSource::Kraken,
        r#"{"error":[],"result":{"XXBTZEUR":{"a":["79228162514264337593543950335"],"b":["1"]}}}"#,
        "the ask price of BTC in EUR is 79228162514264337593543950335 and the bid price 1, which have no middle",
    ),
    (FigureSource::Kraken, r#"{"error":[],"result":{}}"#, "the answer has no price of any coin"),
    (
        FigureSource::Coinbase,
        r#"{"data":{"currency":"BTC","rates":{"EUR":60000}}}"#,
        "the answer is not as documented",
    ),
    (
        FigureSource::Coinbase,
        r#"{"data":{"currency":"ETH","rates":{"EUR":"1"}}}"#,
        "asked for BTC, it answered for \"ETH\"",
    ),
    (
        FigureSource::Coinbase,
        r#"{"errors":[{"id":"internal"}]}"#,
        "the answer is not as documented",
    ),
    (
        FigureSource::Binance,
        r#"{"code":-1003,"msg":"Too much"}"#,
        "answered an error: -1003 Too much",
    ),
    (
        FigureSource::Binance,
        r#"[{"symbol":"BTCEUR","price":60000}]"#,
        "the answer is not as documented",
    ),
    (FigureSource::Binance, "[]", "the answer has no price of any coin"),
    (
        FigureSource::Coingecko,
        r#"{"status":{"error_code":1020,"error_message":"no"}}"#,
        "answered an error: {\"error_code\":1020",
    ),
    (
        FigureSource::Coingecko,
        r#"{"error":"coin not found"}"#,
        "answered an error: \"coin not found\"",
    ),
    (
        FigureSource::Coingecko,
        r#"{"bitcoin":{"eur":"60000"}}"#,
        "the answer is not as documented: BTC",
    ),
    (FigureSource::Coingecko, r#"{"bitcoin":{"eur":null}}"#, "the answer has no price of any coin"),
    (FigureSource::Coingecko, "{}", "the answer has no price of any coin"),
];

#[test]
fn source_error_is_reported_for_any_status() {
    for (source, body, problem) in NOT_AS_DOCUMENTED {
        let failure = fetch_with_response(source, http_response("200 OK", "", body)).unwrap_err();
        assert!(failure.problem.starts_with(problem), "{source} {body}: {failure:?}");
    }
    let busy = r#"{"code":-1003,"msg":"Too much"}"#;
    let failure =
        fetch_with_response(FigureSource::Binance, http_response("200 OK", "", busy)).unwrap_err();
    assert_eq!(failure.retry_after_s, Some(0));
}

#[test]
fn rate_limit_sets_the_pause_that_the_source_requests() {
    for (status, header, pause_s) in [
        ("429 Too Many Requests", "Retry-After: 90\r\n", 90),
        ("429 Too Many Requests", "", 0),
        ("418 Teapot", "Retry-After: 999999999\r\n", 3_600),
        ("429 Too Many Requests", "Retry-After: soon\r\n", 0),
    ] {
        for source in FigureSource::PUBLIC {
            let failure =
                fetch_with_response(source, http_response(status, header, "")).unwrap_err();
            assert_eq!(failure.retry_after_s, Some(pause_s), "{source}");
        }
    }
    let busy = http_response("200 OK", "", r#"{"error":["EAPI:Rate limit exceeded"]}"#);
    assert_eq!(fetch_with_response(FigureSource::Kraken, busy).unwrap_err().retry_after_s, Some(0));
    let refused = fetch_with_response(
        FigureSource::Kraken,
        http_response("500 Oops", "Retry-After: 9\r\n", ""),
    )
    .unwrap_err();
    assert_eq!(refused.retry_after_s, None);
}

#[test]
fn truncated_oversized_or_endless_response_is_rejected() {
    for source in FigureSource::PUBLIC {
        // The response has fewer bytes than its `Content-Length`.
        let (base, _) = start_server(move |_, path| {
            let mut answer = documented_response(source, path);
            answer.truncate(answer.len().saturating_sub(9));
            answer
        });
        let failure = fetch_from(source, base).unwrap_err();
        assert!(failure.problem.starts_with("the answer broke off"), "{failure:?}");
        // The response is valid, but has too much white space before it.
        let huge = " ".repeat(usize::try_from(ANSWER_BYTES_MAX).unwrap());
        let failure =
            fetch_with_response(source, http_response("200 OK", "", &format!("{huge}{{}}")))
                .unwrap_err();
        assert_eq!(failure.problem, "the answer is larger than 2 MiB");
        // The server sends a header line that does not end.
        let endless = "X: ".to_owned() + &"y".repeat(300_000);
        assert!(fetch_with_response(source, http_response("200 OK", &endless, "{}")).is_err());
        // No server listens on this port.
        let failure = fetch_from(source, "http://127.0.0.1:1".to_owned()).unwrap_err();
        assert_eq!(failure.retry_after_s, None);
    }
}

#[test]
fn slow_response_ends_at_the_time_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let dripping = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
        stream.write_all(head).unwrap();
        // The server reads until the client closes the connection.
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    });
    let client = RateClient::new(100);
    let failure = client.fetch(&Upstream { source: FigureSource::Binance, base }, NOW);
    assert!(failure.unwrap_err().problem.contains("broke off"));
    drop(client);
    dripping.join().unwrap();
}
