//! Sales of an account by day.

use crate::support::TEST;
use crate::support::operator_interface::{OTHER_ACCOUNT, OperatorInterface};
use serde_json::{Value, json};

#[test]
fn sales_are_grouped_by_utc_day() {
    let mut interface = OperatorInterface::open();
    interface.shop.fund_balance(TEST, "90.00", "EUR");
    interface.shop.fund_balance(TEST, "10.00", "EUR");
    interface.shop.fund_balance(TEST, "7.00", "USD");
    interface.shop.advance("1d");
    interface.sign_in_again();
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
    interface.shop.advance("28d");
    interface.sign_in_again();
    assert_eq!(days(&interface, 0).len(), 3);
    interface.shop.advance("1d");
    interface.sign_in_again();
    assert_eq!(days(&interface, 0)[0]["amount"], "33.00", "the 31st day is gone");
    assert_eq!(days(&interface, 1), [json!(["USD", "0.00", "0.00"])]);
}
