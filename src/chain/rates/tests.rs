//! Tests each source over real sockets, with its documented response.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod broken;

use super::{CoinFigure, FigureSource, RateClient, RatesError, Time, Upstream};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

const NOW: Time = Time(1_711_356_400_000);

/// Documented response of Kraken, shortened.
const KRAKEN: &str = r#"{"error":[],"result":{
    "XXBTZEUR":{"a":["60010.20000","1","1.000"],"b":["60010.10000","12","12.000"],"c":["60000.10000","0.00200000"],
      "v":["2071.77990748","3456.27572256"],"p":["8960.80495","8912.04839"],"t":[8853,16464],"l":["8882.6","8700.0"],
      "h":["9078.00000","9078.00000"],"o":"8887.80000"},
    "XXBTZUSD":{"a":["65000.30000","1","1.000"],"b":["65000.10000","1","1.000"],"c":["1","0.1"]},
    "XETHZEUR":{"a":["3001","1","1"],"b":["3000","1","1"]},"XLTCZUSD":{"a":["88.5","1","1"],"b":["87.5","1","1"]},
    "XDGEUR":{"a":["0.1412346","1","1"],"b":["0.1412345","1","1"]},"SOLEUR":{"a":["150.01","1","1"],"b":["150.01","1","1"]},
    "USDTEUR":{"a":["0.93","1","1"],"b":["0.91","1","1"]},"USDTZUSD":{"a":["0.9999","1","1"],"b":["0.9997","1","1"]},
    "USDCUSD":{"a":["1.0002","1","1"],"b":["1","1","1"]},"ZEURZUSD":{"a":["1.1001","1","1"],"b":["1.0999","1","1"]},
    "PEPEUSD":{"a":[],"b":[]}}}"#;
/// Response of Coinbase for one coin.
const COINBASE: &str = r#"{"data":{"currency":"COIN","rates":{"AED":"239.58","EUR":"60001.5","USD":"65001.25","ZWL":"322.3"}}}"#;
const BINANCE: &str = r#"[{"symbol":"BTCEUR","price":"59999.90000000"},{"symbol":"BTCUSDT","price":"66000.00000000"},
    {"symbol":"LTCUSDT","price":"88.00000000"},{"symbol":"USDCUSDT","price":"1.00010000"},
    {"symbol":"EURUSDT","price":"1.10000000"},{"symbol":"LTCBTC","price":"0.00133"}]"#;
const COINGECKO: &str = r#"{"bitcoin":{"eur":60000.12345678901,"usd":67187.3358936566,"last_updated_at":1711356300},
    "dogecoin":{"eur":1.4e-1,"usd":0.15,"last_updated_at":1711356399},"tether":{"eur":0.92}}"#;

/// Starts a server that runs until the test ends. `answer` computes the response from the number of the request and
/// from the requested path.
fn start_server(
    answer: impl Fn(usize, &str) -> Vec<u8> + Send + 'static,
) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (asked, asks) = channel();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().map_while(Result::ok).enumerate() {
            answer_request(stream, &asked, |path| answer(number, path));
        }
    });
    (base, asks)
}

fn answer_request(mut stream: TcpStream, asked: &Sender<String>, answer: impl Fn(&str) -> Vec<u8>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let first = lines.next().and_then(Result::ok).unwrap_or_default();
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    while lines.next().and_then(Result::ok).is_some_and(|line| !line.is_empty()) {}
    // The message cannot be sent if the test has dropped the receiver of the paths. The client may close the
    // connection early.
    let _ = asked.send(path.clone());
    let _ = stream.write_all(&answer(&path));
}

/// Returns an HTTP response that closes the connection.
fn http_response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    )
    .into_bytes()
}

/// Returns the documented response of a source.
fn documented_response(source: FigureSource, path: &str) -> Vec<u8> {
    let body = match source {
        FigureSource::Kraken => KRAKEN.to_owned(),
        FigureSource::Coinbase => {
            COINBASE.replace("COIN", path.rsplit('=').next().unwrap_or_default())
        }
        FigureSource::Binance => BINANCE.to_owned(),
        FigureSource::Coingecko | FigureSource::File => COINGECKO.to_owned(),
    };
    http_response("200 OK", "", &body)
}

fn fetch_from(source: FigureSource, base: String) -> Result<Vec<CoinFigure>, RatesError> {
    RateClient::new(2_000).fetch(&Upstream { source, base }, NOW)
}

/// Requests rates from a source that always sends this response.
fn fetch_with_response(
    source: FigureSource,
    answer: Vec<u8>,
) -> Result<Vec<CoinFigure>, RatesError> {
    let (base, _) = start_server(move |_, _| answer.clone());
    fetch_from(source, base)
}

fn format_rates(told: Vec<CoinFigure>) -> Vec<String> {
    let each = told.into_iter().map(|told| {
        let CoinFigure { coin, currency, figure } = told;
        let age_s = NOW.since_ms(figure.at) / 1_000;
        format!("{coin} {currency} {} {} {age_s}", figure.rate, figure.via)
    });
    each.collect()
}

#[test]
fn documented_responses_are_parsed() {
    for (source, expected, first) in [
        (
            FigureSource::Kraken,
            &[
                "BTC EUR 60010.15 BTC/EUR 0",
                "BTC USD 65000.2 BTC/USD 0",
                "LTC EUR 80 LTC/USD by EUR/USD 0",
                "LTC USD 88 LTC/USD 0",
                "DOGE EUR 0.14123455 DOGE/EUR 0",
                "ETH EUR 3000.5 ETH/EUR 0",
                "USDT EUR 0.92 USDT/EUR 0",
                "USDT USD 0.9998 USDT/USD 0",
                "USDC EUR 0.9091818182 USDC/USD by EUR/USD 0",
                "USDC USD 1.0001 USDC/USD 0",
                "SOL EUR 150.01 SOL/EUR 0",
            ] as &[&str],
            "/0/public/Ticker?pair=XBTEUR,XBTUSD,LTCEUR,LTCUSD,XDGEUR,XDGUSD,ETHEUR,ETHUSD,USDTEUR,USDTUSD,USDCEUR,USDCUSD,TRXEUR,TRXUSD,SOLEUR,SOLUSD,EURUSD",
        ),
        (
            FigureSource::Binance,
            &[
                "BTC EUR 59999.9 BTC/EUR 0",
                "LTC EUR 80 LTC/USDT by EUR/USDT 0",
                "USDT EUR 0.9090909091 EUR/USDT 0",
                "USDC EUR 0.9091818182 USDC/USDT by EUR/USDT 0",
            ],
            "/api/v3/ticker/price?symbols=%5B%22BTCEUR%22%2C%22LTCEUR%22%2C%22DOGEEUR%22%2C%22ETHEUR%22%2C%22TRXEUR%22%2C%22SOLEUR%22%2C%22BTCUSDT%22%2C%22LTCUSDT%22%2C%22DOGEUSDT%22%2C%22ETHUSDT%22%2C%22USDCUSDT%22%2C%22TRXUSDT%22%2C%22SOLUSDT%22%2C%22EURUSDT%22%5D",
        ),
        (
            FigureSource::Coingecko,
            &[
                "BTC EUR 60000.123456789 BTC/EUR 100",
                "BTC USD 67187.3358936566 BTC/USD 100",
                "DOGE EUR 0.14 DOGE/EUR 1",
                "DOGE USD 0.15 DOGE/USD 1",
                "USDT EUR 0.92 USDT/EUR 0",
            ],
            "/api/v3/simple/price?ids=bitcoin,litecoin,dogecoin,ethereum,tether,usd-coin,tron,solana&vs_currencies=eur,usd&include_last_updated_at=true&precision=full",
        ),
    ] {
        let (base, asks) = start_server(move |_, path| documented_response(source, path));
        assert_eq!(format_rates(fetch_from(source, base).unwrap()), expected, "{source}");
        assert_eq!(asks.recv().unwrap(), first);
    }
    let (base, asks) = start_server(|_, path| documented_response(FigureSource::Coinbase, path));
    let told = format_rates(fetch_from(FigureSource::Coinbase, base).unwrap());
    assert_eq!(told.len(), 16);
    assert_eq!(told.first().unwrap(), "BTC EUR 60001.5 BTC/EUR 0");
    assert_eq!(told.last().unwrap(), "SOL USD 65001.25 SOL/USD 0");
    assert_eq!(asks.try_iter().count(), 8);
}

#[test]
fn missing_pair_does_not_affect_others() {
    for (source, gone) in [
        (
            FigureSource::Kraken,
            http_response("200 OK", "", r#"{"error":["EQuery:Unknown asset pair"]}"#),
        ),
        (
            FigureSource::Binance,
            http_response("400 Bad Request", "", r#"{"code":-1121,"msg":"Invalid symbol."}"#),
        ),
    ] {
        let (base, asks) = start_server(move |number, path| match number {
            0 => gone.clone(),
            _ => documented_response(source, path),
        });
        assert!(fetch_from(source, base).unwrap().len() >= 4);
        assert!(!asks.try_iter().last().unwrap().contains('?'), "{source}");
    }
    // The server rejects the pair in both requests, so the source fails.
    let gone = http_response("200 OK", "", r#"{"error":["EQuery:Unknown asset pair"]}"#);
    let failure = fetch_with_response(FigureSource::Kraken, gone).unwrap_err();
    assert_eq!(failure.problem, "answered an error: EQuery:Unknown asset pair");
    let unknown = http_response("400 Bad Request", "", r#"{"errors":[{"id":"invalid_request"}]}"#);
    let (base, _) = start_server(move |number, path| match number {
        6 => unknown.clone(),
        _ => documented_response(FigureSource::Coinbase, path),
    });
    assert_eq!(fetch_from(FigureSource::Coinbase, base).unwrap().len(), 14);
}

#[test]
fn invalid_price_rejects_the_whole_response() {
    for (source, price, side) in [
        (FigureSource::Kraken, "60010.20000", "ask "),
        (FigureSource::Kraken, "60010.10000", "bid "),
        (FigureSource::Coinbase, "60001.5", ""),
        (FigureSource::Binance, "59999.90000000", ""),
        (FigureSource::Coingecko, "60000.12345678901", ""),
    ] {
        for wrong in ["0", "-60000", "1e400", "6e-400", "0.0", "123456789012345678901234567890123"]
        {
            let (base, _) = start_server(move |_, path| {
                let answer = String::from_utf8(documented_response(source, path)).unwrap();
                let (_, body) = answer.split_once("\r\n\r\n").unwrap();
                http_response("200 OK", "", &body.replace(price, wrong))
            });
            let failure = fetch_from(source, base).unwrap_err();
            assert!(
                failure.problem.starts_with(&format!("the {side}price of BTC in EUR is")),
                "{source} {wrong}: {failure:?}"
            );
        }
    }
}
