//! The table of coins with minimum amounts and fixed rates. Amounts below the minimum are rejected.

use crate::support::{LIVE, Shop, TEST};
use serde_json::{Value, json};

/// Coins, each with id, symbol, chain, kind, decimals, minimum amount, and fixed rate in EUR.
pub const COINS: [(&str, &str, &str, &str, u32, &str, &str); 13] = [
    ("BTC", "BTC", "bitcoin", "native", 8, "0.00002", "60000"),
    ("LTC", "LTC", "litecoin", "native", 8, "0.01", "80"),
    ("DOGE", "DOGE", "dogecoin", "native", 8, "5", "0.2"),
    ("ETH", "ETH", "ethereum", "native", 18, "0.0003", "3000"),
    ("USDT-ERC20", "USDT", "ethereum", "erc20", 6, "1", "0.92"),
    ("USDC-ERC20", "USDC", "ethereum", "erc20", 6, "1", "0.92"),
    ("USDC-BASE", "USDC", "base", "erc20", 6, "1", "0.92"),
    ("USDC-POLYGON", "USDC", "polygon", "erc20", 6, "1", "0.92"),
    ("TRX", "TRX", "tron", "native", 6, "8", "0.12"),
    ("USDT-TRC20", "USDT", "tron", "trc20", 6, "1", "0.92"),
    ("SOL", "SOL", "solana", "native", 9, "0.005", "150"),
    ("USDC-SPL", "USDC", "solana", "spl", 6, "1", "0.92"),
    ("USDT-SPL", "USDT", "solana", "spl", 6, "1", "0.92"),
];

/// Returns a coin's price in USD for its price in EUR, at a rate of 1.08 USD per EUR.
fn eur_price_in_usd(euros: &str) -> &'static str {
    match euros {
        "60000" => "64800",
        "80" => "86.4",
        "0.2" => "0.216",
        "3000" => "3240",
        "0.92" => "0.9936",
        "0.12" => "0.1296",
        "150" => "162",
        other => unreachable!("{other} is no rate"),
    }
}

#[test]
fn coins_match_the_documentation() {
    let shop = Shop::open();
    for key in [TEST, LIVE] {
        let list = shop.get("/v1/currencies", Some(key)).expect(200).json();
        let mut listed = list["data"].as_array().unwrap().clone();
        assert_eq!(listed.len(), COINS.len());
        for (coin, (id, symbol, chain, kind, decimals, min, _)) in listed.iter_mut().zip(COINS) {
            let name = coin.as_object_mut().unwrap().remove("name").unwrap();
            assert!(name.as_str().is_some_and(|name| !name.is_empty()));
            let expected = json!({ "id": id, "symbol": symbol, "chain": chain, "kind": kind, "decimals": decimals,
                "minAmount": min });
            assert_eq!(*coin, expected);
        }
    }
    for (id, symbol, .., euros) in COINS {
        for (currency, rate) in [("EUR", euros), ("USD", eur_price_in_usd(euros))] {
            let invoice =
                shop.create_invoice("1000.00", json!({ "currency": currency, "asset": id }));
            let shown = ["asset", "assetSymbol", "rate"].map(|field| &invoice[field]);
            assert_eq!(shown, [id, symbol, rate]);
        }
    }
}

#[test]
fn amount_below_the_minimum_is_rejected() {
    let shop = Shop::open();
    // A price worth the minimum amount is accepted, and a price that is one cent lower is rejected.
    for (asset, least, less, expected) in [
        ("BTC", "1.20", "1.19", "0.00002"),
        ("LTC", "0.80", "0.79", "0.01"),
        ("DOGE", "1.00", "0.99", "5"),
        ("ETH", "0.90", "0.89", "0.0003"),
        ("TRX", "0.96", "0.95", "8"),
        ("SOL", "0.75", "0.74", "0.005"),
        ("USDC-BASE", "0.92", "0.91", "1"),
    ] {
        let pick = |amount: &str| {
            let id = shop.create_invoice(amount, json!({}))["id"].clone();
            let path = format!("/v1/invoices/{}/select", id.as_str().unwrap());
            shop.post(&path, Some(TEST), json!({ "asset": asset }))
        };
        assert_eq!(pick(least).expect(200).json()["amountExpected"], expected);
        pick(less).assert_error(400, "coin_unavailable", Some("asset"));
    }
}

#[test]
fn simulation_without_selection_uses_first_possible_coin() {
    let shop = Shop::open();
    for (amount, asset) in [("1.20", "BTC"), ("0.80", "LTC"), ("0.76", "SOL")] {
        let id = shop.create_invoice(amount, json!({}))["id"].clone();
        let path = format!("/v1/invoices/{}/simulate", id.as_str().unwrap());
        let paid = shop.post(&path, Some(TEST), json!({})).expect(200).json();
        assert_eq!((&paid["asset"], &paid["status"]), (&json!(asset), &json!("confirmed")));
    }
    let picked = shop.create_invoice("20.00", json!({ "asset": "LTC" }))["id"].clone();
    let path = format!("/v1/invoices/{}/simulate", picked.as_str().unwrap());
    let paid = shop.post(&path, Some(TEST), json!({ "asset": "BTC" }));
    assert_eq!(paid.expect(200).json()["asset"], "LTC", "the one that is picked");
}

#[test]
fn simulation_pays_the_due_amount() {
    let shop = Shop::open();
    let id = shop.create_invoice("1.00", json!({ "asset": "LTC" }))["id"].clone();
    let path = format!("/v1/invoices/{}/simulate", id.as_str().unwrap());
    let simulate = |body: Value| shop.post(&path, Some(TEST), body).expect(200).json();
    let almost = shop.pay(json!({ "invoice": id, "amount": "0.012375" }));
    shop.set_payment_state(&almost, "confirmed");
    let id = id.as_str().unwrap();
    assert_eq!(shop.get_invoice(id)["status"], "underpaid", "0.99 of 1.00");
    // 0.01 EUR is still due. The case `under` pays half of this amount, rounded up to a full cent.
    assert_eq!(simulate(json!({ "case": "under" }))["status"], "confirmed");
    // The simulation pays the full price of 0.0125 although the invoice is already paid, so the total is 0.025.
    assert_eq!(simulate(json!({ "case": "exact" }))["amountReceived"], "0.025");
    assert_eq!(simulate(json!({ "case": null }))["status"], "overpaid");
    let booked = shop.invoice_ledger(id, TEST).replace("fee -0.01, ", "");
    assert_eq!(booked, "sale 0.99, sale 0.01, sale 1.00, sale 1.00, fee -0.01");
    for body in ["[]", "null", "{", "7"] {
        let refused = shop.send("POST", &path, &[("X-API-Key", TEST)], body);
        refused.assert_error(400, "invalid_request", None);
    }
}
