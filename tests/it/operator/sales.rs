//! Sales of an account, by day and by period.

use crate::support::operator_interface::{OTHER_ACCOUNT, OperatorInterface};
use crate::support::{LIVE, TEST};
use serde_json::{Value, json};

#[test]
fn sales_are_grouped_by_utc_day() {
    let mut interface = OperatorInterface::open();
    interface.shop.fund_balance(TEST, "90.00", "EUR");
    interface.shop.fund_balance(TEST, "10.00", "EUR");
    interface.shop.fund_balance(TEST, "7.00", "USD");
    interface.advance("1d");
    interface.shop.fund_balance(TEST, "33.00", "EUR");
    let days = |interface: &OperatorInterface, at: usize| -> Vec<Value> {
        let sales = interface.account_summary(&interface.account, "test")["sales"][at].clone();
        let days = sales["days"].as_array().unwrap().iter();
        let mut told: Vec<Value> = days.filter(|day| day["count"] != 0).cloned().collect();
        told.push(json!([sales["currency"], sales["today"], sales["total"]]));
        told
    };
    let day = |found: &Value| found["day"].as_str().unwrap().to_owned();
    let euro = days(&interface, 0);
    let (first, second) = (day(&euro[0]), day(&euro[1]));
    assert!(first < second, "{first} {second}");
    assert_eq!(
        euro,
        [
            json!({ "day": first, "count": 2, "amount": "100.00", "percentOfHighest": 100 }),
            json!({ "day": second, "count": 1, "amount": "33.00", "percentOfHighest": 33 }),
            json!(["EUR", "33.00", "133.00"]),
        ]
    );
    assert_eq!(days(&interface, 1)[1], json!(["USD", "0.00", "7.00"]));
    let live = interface.account_summary(&interface.account, "live");
    assert_eq!(live["sales"][0]["total"], "0.00");
    let other = interface.account_summary(OTHER_ACCOUNT, "test");
    assert_eq!(other["sales"][0]["total"], "0.00");
    interface.advance("28d");
    assert_eq!(days(&interface, 0).len(), 3);
    interface.advance("1d");
    assert_eq!(days(&interface, 0)[0]["amount"], "33.00", "the 31st day is gone");
    assert_eq!(days(&interface, 1), [json!(["USD", "0.00", "0.00"])]);
}

impl OperatorInterface {
    /// Returns the sales of a period in test mode: one object for each of EUR and USD.
    #[track_caller]
    fn sales(&self, days: &str) -> [Value; 2] {
        let sales = self.get(&format!("sales?days={days}"));
        assert_eq!(sales["days"].to_string(), days);
        [sales["currencies"][0].clone(), sales["currencies"][1].clone()]
    }
}

/// Returns the bars with sales, each with its sum and its height.
fn filled_bars(sales: &Value) -> Vec<(String, u64)> {
    let bars = sales["bars"].as_array().unwrap().iter().filter(|bar| bar["count"] != 0);
    let bar = |bar: &Value| {
        (bar["amount"].as_str().unwrap().to_owned(), bar["percentOfAxis"].as_u64().unwrap())
    };
    bars.map(bar).collect()
}

#[test]
fn period_is_compared_with_the_period_before() {
    let mut interface = OperatorInterface::open();
    interface.assert_access("getSales", "GET", "sales", false);
    for wrong in ["0", "2", "91", "seven"] {
        let refused = interface.request("GET", &format!("sales?days={wrong}"), &Value::Null);
        refused.assert_error(400, "invalid_request", Some("days"));
    }
    // The steps below must not cross the end of an hour.
    let minute: u8 = interface.shop.now()[14..16].parse().unwrap();
    if minute > 50 {
        interface.shop.advance("15m");
    }
    interface.shop.fund_balance(TEST, "80.00", "EUR");
    interface.shop.fund_balance(TEST, "7.00", "USD");
    interface.shop.fund_balance(LIVE, "500.00", "EUR");
    interface.advance("7d");
    let [euro, dollar] = interface.sales("7");
    assert_eq!(
        (&euro["total"], &euro["before"]),
        (&json!("0.00"), &json!("0.00")),
        "not an hour ago"
    );
    interface.shop.advance("1h");
    interface.shop.fund_balance(TEST, "100.00", "EUR");
    let [euro, _] = interface.sales("7");
    assert_eq!((&euro["before"], &euro["beforeCount"]), (&json!("80.00"), &json!(1)));
    assert_eq!(euro["changePercent"], "-100.0", "only whole hours are compared");
    interface.shop.advance("1h");
    let [euro, _] = interface.sales("7");
    assert_eq!(euro["changePercent"], "+25.0");
    assert_eq!((&euro["total"], &euro["count"]), (&json!("100.00"), &json!(1)));
    assert_eq!(filled_bars(&euro), [("100.00".to_owned(), 100)]);
    assert_eq!((euro["bars"].as_array().unwrap().len(), &dollar["currency"]), (7, &json!("USD")));
    let labels: Vec<&Value> =
        euro["axis"].as_array().unwrap().iter().map(|value| &value["label"]).collect();
    assert_eq!(labels, ["0", "50", "100"]);
    let [euro, dollar] = interface.sales("30");
    assert_eq!(filled_bars(&euro), [("80.00".to_owned(), 80), ("100.00".to_owned(), 100)]);
    assert_eq!((&euro["total"], &euro["changePercent"]), (&json!("180.00"), &Value::Null));
    assert_eq!((&dollar["total"], euro["bars"].as_array().unwrap().len()), (&json!("7.00"), 30));
    assert_eq!(interface.sales("90")[0]["bars"].as_array().unwrap().len(), 90);
    assert_eq!(interface.sales("1")[0]["bars"].as_array().unwrap().len(), 24);
    let coins = [json!({
        "asset": "LTC", "symbol": "LTC", "count": 2, "amount": "180.00", "percentOfTotal": 100,
    })];
    assert_eq!(euro["coins"], json!(coins));
}

#[test]
fn sales_by_coin_include_deposits_and_stay_after_a_reorg() {
    let interface = OperatorInterface::open();
    interface.shop.fund_balance(TEST, "20.00", "EUR");
    let customer = "/v1/customers/anna";
    interface.shop.post(&format!("{customer}/addresses"), Some(TEST), json!({})).expect(201);
    let deposit = json!({ "asset": "SOL", "amount": "0.4" });
    interface.shop.post(&format!("{customer}/simulate"), Some(TEST), deposit).expect(201);
    let invoice = interface.shop.create_invoice("20.00", json!({ "asset": "BTC" }));
    let payment = interface.shop.pay(json!({ "invoice": invoice["id"] }));
    for state in ["confirmed", "orphaned", "confirmed"] {
        interface.shop.set_payment_state(&payment, state);
    }
    let coins = interface.sales("7")[0]["coins"].clone();
    let coins: Vec<_> = coins
        .as_array()
        .unwrap()
        .iter()
        .map(|coin| (coin["asset"].clone(), coin["amount"].clone(), coin["percentOfTotal"].clone()))
        .collect();
    let coin =
        |asset: &str, amount: &str, percent: u8| (json!(asset), json!(amount), json!(percent));
    assert_eq!(
        coins,
        [coin("SOL", "60.00", 60), coin("BTC", "20.00", 20), coin("LTC", "20.00", 20)]
    );
}
