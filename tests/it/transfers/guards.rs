//! Checks of an approval in live mode: its rate is compared with the market rate, and its network fee is limited.

use crate::chain::till::TestnetShop;
use crate::support::anvil::Node;
use crate::support::installation::{Installation, NO_RATES, RunningServer, SOLANA};
use crate::support::polling;
use crate::support::with_fields;
use serde_json::{Value, json};

/// Asset, chain and address of a payee. The address is that of Bitcoin's genesis block, which belongs to no shop in
/// these tests.
const BTC: [&str; 3] = ["BTC", "bitcoin", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"];
const EVM: &str = "0x8ba1f109551bD432803012645Ac136ddd64DBA72";

/// A shop with fixed rates, such as 150 for SOL and 50000 for BTC.
struct ApprovalShop {
    served: Installation,
    running: RunningServer,
}

impl ApprovalShop {
    #[track_caller]
    fn open() -> ApprovalShop {
        let served = Installation::new();
        let rates = served.path("rates.json");
        let text = r#"{"BTC": {"EUR": "50000"}, "SOL": {"EUR": "150"}, "ETH": {"EUR": "2000"}}"#;
        std::fs::write(&rates, text).unwrap();
        let rates = format!("fixed:{}", rates.display());
        let running = served.start(&["--rates", &rates]);
        served.wait_for_query_result("select count(*) || '' from rate_figures", &["3"]);
        ApprovalShop { served, running }
    }

    /// Requests a payout of 20.00 EUR and returns its path.
    #[track_caller]
    fn request_payout(&self, payee: [&str; 3]) -> String {
        let id = self.served.request_payout_to(&self.running, payee);
        format!("/dashboard/api/payouts/{id}")
    }

    /// Returns the terms that an approval without fields would set.
    #[track_caller]
    fn proposed_terms(&self, path: &str) -> Value {
        let id = path.rsplit('/').next().unwrap();
        let path = format!("/dashboard/api/accounts/{}/payouts/{id}", self.served.account);
        self.running.operator_get(&path)["approval"].clone()
    }

    /// Asserts that an approval with these fields is rejected because of `param`, and returns the error message.
    #[track_caller]
    fn approval_error(&self, path: &str, fields: &Value, param: &str) -> String {
        let answer = self.running.operator_request("POST", path, &approve_body(fields));
        answer.assert_error(400, "invalid_request", Some(param));
        answer.json()["message"].as_str().unwrap().to_owned()
    }

    /// Approves a payout with these fields and returns the payout.
    #[track_caller]
    fn approve_payout(&self, path: &str, fields: &Value) -> Value {
        let answer = self.running.operator_request("POST", path, &approve_body(fields));
        answer.expect(200).json()
    }

    /// Cancels a payout, so that another payout can be requested.
    #[track_caller]
    fn cancel_payout(&self, path: &str) {
        let cancel = json!({ "action": "cancel" });
        self.running.operator_request("POST", path, &cancel).expect(200);
    }

    /// Returns the detail of the newest audit entry.
    #[track_caller]
    fn newest_audit_detail(&self) -> Value {
        self.running.operator_get("/dashboard/api/audit-log?limit=1")["data"][0]["detail"].clone()
    }
}

fn approve_body(fields: &Value) -> Value {
    with_fields(json!({ "action": "approve" }), fields)
}

#[test]
fn approval_without_fields_uses_market_rate_and_coin_fee() {
    let shop = ApprovalShop::open();
    let path = shop.request_payout(SOLANA);
    let proposed = shop.proposed_terms(&path);
    assert_eq!(
        [
            &proposed["rate"],
            &proposed["rateSource"],
            &proposed["networkFeeCrypto"],
            &proposed["networkFeeFrom"],
            &proposed["networkFee"],
            &proposed["amountCrypto"],
            &proposed["sentBy"],
            &proposed["rateProblem"]
        ],
        [
            &json!("150"),
            &json!("file"),
            &json!("0.000005"),
            &json!("default"),
            &json!("0.00"),
            &json!("0.13332833"),
            &json!("hand"),
            &Value::Null
        ]
    );
    assert_eq!(proposed["rateFigures"][0]["source"], "file");
    assert_eq!(proposed["signerProblem"], "no signer is set, see --signer");
    let approved = shop.approve_payout(&path, &json!({}));
    assert_eq!(
        [
            &approved["rate"],
            &approved["networkFeeCrypto"],
            &approved["networkFeeFrom"],
            &approved["amountCrypto"],
            &approved["sentBy"]
        ],
        [
            &json!("150"),
            &json!("0.000005"),
            &json!("default"),
            &json!("0.13332833"),
            &json!("hand")
        ]
    );
    assert_eq!(shop.newest_audit_detail()["insistedOn"], json!([]));
    assert_eq!(shop.proposed_terms(&path), Value::Null, "the payout is approved");
}

#[test]
fn rate_far_from_the_market_needs_acceptance() {
    let shop = ApprovalShop::open();
    let path = shop.request_payout(BTC);
    let message = shop.approval_error(&path, &json!({ "rate": "50" }), "rate");
    for said in [
        "99.9 % below",
        "BTC in EUR, 50000 (file 50000;",
        "would buy 0.4 BTC, not 0.0004",
        "acceptRate: true",
    ] {
        assert!(message.contains(said), "{message}");
    }
    for rate in ["48999.99", "51000.01", "500000"] {
        shop.approval_error(&path, &json!({ "rate": rate }), "rate");
        shop.approval_error(
            &path,
            &json!({ "rate": rate, "acceptRate": false, "acceptFee": true }),
            "rate",
        );
    }
    shop.approval_error(&path, &json!({ "rate": "49000", "acceptRate": "yes" }), "acceptRate");
    let approved = shop.approve_payout(&path, &json!({ "rate": "49000" }));
    assert_eq!(approved["rate"], "49000");
    shop.cancel_payout(&path);
    let path = shop.request_payout(BTC);
    let approved = shop.approve_payout(&path, &json!({ "rate": "100000", "acceptRate": true }));
    assert_eq!(approved["rate"], "100000");
    assert_eq!(shop.newest_audit_detail()["insistedOn"], json!(["rate"]));
}

#[test]
fn rate_needs_acceptance_without_a_fresh_market_rate() {
    let (served, running) = Installation::start_new(&["--rates", NO_RATES]);
    let id = served.request_payout_to(&running, SOLANA);
    let shop = ApprovalShop { served, running };
    let path = format!("/dashboard/api/payouts/{id}");
    let proposed = shop.proposed_terms(&path);
    assert_eq!(
        [
            &proposed["rate"],
            &proposed["rateProblem"],
            &proposed["amountCrypto"],
            &proposed["networkFee"]
        ],
        [&Value::Null, &json!("no source has reported a rate"), &Value::Null, &Value::Null]
    );
    for fields in [json!({}), json!({ "rate": "150" }), json!({ "acceptRate": true })] {
        let message = shop.approval_error(&path, &fields, "rate");
        assert!(message.contains("no source has reported a rate"), "{message}");
    }
    let approved = shop.approve_payout(&path, &json!({ "rate": "150", "acceptRate": true }));
    assert_eq!(approved["amountCrypto"], "0.13332833");
}

#[test]
fn network_fee_comes_from_the_setting_and_is_limited() {
    let shop = ApprovalShop::open();
    let settings = "/dashboard/api/settings";
    let set = |fees: Value| {
        shop.running.operator_request("PUT", settings, &json!({ "networkFees": fees }))
    };
    for (fees, param) in [
        (json!({}), "networkFees"),
        (json!({ "XYZ": "1" }), "networkFees.XYZ"),
        (json!({ "SOL": 1 }), "networkFees.SOL"),
        (json!({ "SOL": "-1" }), "networkFees.SOL"),
        (json!({ "SOL": "0.0000000001" }), "networkFees.SOL"),
        (json!({ "SOL": "0.01", "BTC": "x" }), "networkFees.BTC"),
    ] {
        set(fees).assert_error(400, "invalid_request", Some(param));
    }
    let read = || shop.running.operator_get(settings);
    assert_eq!(read()["networkFees"]["SOL"], json!({ "amount": "0.000005", "source": "default" }));
    set(json!({ "SOL": "0.01" })).expect(200);
    assert_eq!(read()["networkFees"]["SOL"], json!({ "amount": "0.01", "source": "setting" }));
    assert_eq!(shop.newest_audit_detail()["networkFees"]["SOL"]["amount"], "0.01");
    let path = shop.request_payout(SOLANA);
    let approved = shop.approve_payout(&path, &json!({}));
    assert_eq!(
        [&approved["networkFeeCrypto"], &approved["networkFeeFrom"]],
        [&json!("0.01"), &json!("setting")]
    );
    shop.cancel_payout(&path);
    set(json!({ "SOL": null })).expect(200);
    assert_eq!(read()["networkFees"]["SOL"]["source"], "default");
    let path = shop.request_payout(SOLANA);
    // The limit of the network fee is a quarter of 20 EUR. At 150 EUR for one SOL, 5 EUR are 0.033333333 SOL.
    let message = shop.approval_error(&path, &json!({ "networkFee": "0.033333334" }), "networkFee");
    assert!(
        message
            .contains("more than a quarter of the amount: 0.033333334 SOL (5.00 EUR) of 20.00 EUR"),
        "{message}"
    );
    let near = json!({ "networkFee": "0.033333333" });
    let approved = shop.approve_payout(&path, &near);
    assert_eq!(
        [&approved["networkFeeFrom"], &approved["amountCrypto"]],
        [&json!("given"), &json!("0.1")]
    );
    shop.cancel_payout(&path);
    // The network fee in the settings of a coin has the same limit as the field of an approval.
    set(json!({ "SOL": "0.1" })).expect(200);
    let path = shop.request_payout(SOLANA);
    shop.approval_error(&path, &json!({}), "networkFee");
    shop.approve_payout(&path, &json!({ "acceptFee": true }));
    assert_eq!(shop.newest_audit_detail()["insistedOn"], json!(["networkFee"]));
}

#[test]
fn approval_uses_the_node_fee_estimate() {
    let Some(node) = Node::start(11_155_111, "the estimate of a network fee") else {
        return;
    };
    let till = TestnetShop::with_account_chain(
        "ethereum",
        &node.url,
        "USDC-ERC20",
        "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238",
    );
    let running = till.start();
    till.wait_for_rate("ethereum", "ETH");
    let price = node.call_rpc_number("eth_gasPrice", json!([]));
    let shop = ApprovalShop { served: till.served, running };
    let whole = |wei: u128| coffer::domain::Units(wei).to_decimal_text(18);
    let path = shop.request_payout(["ETH", "ethereum", EVM]);
    let estimated = || shop.proposed_terms(&path)["networkFeeFrom"] == "estimate";
    assert!(polling::wait_until(estimated), "{}", shop.proposed_terms(&path));
    let proposed = shop.proposed_terms(&path);
    assert_eq!(proposed["networkFeeCrypto"], whole(price * 21_000));
    assert!(proposed["networkFeeAt"].is_string(), "{proposed}");
    let approved = shop.approve_payout(&path, &json!({}));
    assert_eq!(
        [&approved["networkFeeCrypto"], &approved["networkFeeFrom"]],
        [&proposed["networkFeeCrypto"], &json!("estimate")]
    );
    shop.cancel_payout(&path);
    // The fee in ETH is converted to USDC by the rates 2000 for ETH and 1 for USDC, and rounded up to six decimals.
    let path = shop.request_payout(["USDC-ERC20", "ethereum", EVM]);
    let approved = shop.approve_payout(&path, &json!({}));
    let micro = (price * 65_000 * 2_000).div_ceil(10_u128.pow(12));
    let fee = coffer::domain::Units(micro).to_decimal_text(6);
    assert_eq!(
        [&approved["networkFeeCrypto"], &approved["networkFeeFrom"]],
        [&json!(fee), &json!("estimate")]
    );
    shop.cancel_payout(&path);
    let path = shop.request_payout(["ETH", "ethereum", EVM]);
    let approved = shop.approve_payout(&path, &json!({ "networkFee": "0" }));
    assert_eq!(approved["networkFeeFrom"], "given");
}

#[test]
fn sandbox_approvals_need_no_acceptance() {
    let interface = crate::support::operator_interface::OperatorInterface::open();
    let invoice = interface.shop.fund_balance(crate::support::TEST, "100.00", "EUR");
    let own = interface.shop.get_invoice(&invoice)["depositAddress"].clone();
    let body = json!({ "invoice": invoice, "amount": "1.00", "toAddress": own });
    let refund = interface.request("POST", "refunds", &body).expect(201).json();
    let id = refund["id"].as_str().unwrap();
    let opened = interface.get(&format!("refunds/{id}"));
    assert_eq!(
        [
            &opened["approval"]["rate"],
            &opened["approval"]["sentBy"],
            &opened["approval"]["networkFeeFrom"]
        ],
        [&json!("80"), &json!("hand"), &json!("default")]
    );
    let path = format!("/dashboard/api/refunds/{id}");
    let step = |body: Value| interface.send_as_operator("POST", &path, &body);
    step(json!({ "action": "approve", "sentBy": "signer" })).assert_error(
        400,
        "invalid_request",
        Some("sentBy"),
    );
    let far = json!({ "action": "approve", "rate": "8000", "networkFee": "0.0001" });
    let approved = step(far).expect(200).json();
    assert_eq!([&approved["rate"], &approved["sentBy"]], [&json!("8000"), &json!("hand")]);
    // A merchant does not see the operator's warnings.
    let merchants = interface.request_as_merchant("GET", &format!("refunds/{id}"), &Value::Null);
    assert_eq!(merchants.expect(200).json()["approval"], Value::Null);
}
