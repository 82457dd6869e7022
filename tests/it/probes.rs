//! What machines ask of the process itself, without a key.

use crate::support::Shop;

#[test]
fn a_running_server_says_how_it_is_and_what_it_offers() {
    let shop = Shop::open();
    for path in ["/livez", "/readyz"] {
        let answer = shop.get(path, None).expect(200);
        assert_eq!(answer.text, "ok\n");
        assert_eq!(answer.headers["content-type"], "text/plain");
    }
    let counters = shop.get("/metrics", None).expect(200).text;
    let counted = "coffer_requests_total{operation=\"livez\",status=\"2xx\"} 1";
    assert!(counters.lines().any(|line| line == counted), "{counters}");
    let document = shop.get("/v1/openapi.json", None).expect(200);
    assert_eq!(document.text, coffer::http::document(shop.url(), true));
}
