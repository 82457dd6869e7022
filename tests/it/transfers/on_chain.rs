//! Payouts and refunds settled by the simulated chains of the sandbox.

use crate::support::object_ids;
use crate::support::{LIVE, Shop};
use serde_json::{Value, json};

/// Creates an approved payout or refund, and returns its id.
#[track_caller]
fn create_approved_transfer(shop: &Shop, kind: &str) -> String {
    let invoice = shop.fund_balance(LIVE, "1000.00", "EUR");
    let id = match kind {
        "payouts" => shop.create_payout("20.00"),
        _ => shop.create_refund(&invoice, None),
    };
    shop.apply_actions(kind, &id, &["approve"]);
    id
}

/// Moves the transaction of a transfer to this state on the simulated chain.
#[track_caller]
fn simulate_transaction(shop: &Shop, kind: &str, id: &str, state: &str) -> Value {
    let body = json!({ "action": "chain", "state": state });
    let answer = shop.post(&format!("/sandbox/{kind}/{id}"), None, body);
    answer.expect(200).json()
}

/// Returns a transfer as the operator interface shows it.
#[track_caller]
fn read_transfer(shop: &Shop, kind: &str, id: &str) -> Value {
    let cookie = shop.sign_in_operator();
    let path = format!("/dashboard/api/{kind}");
    let list = shop.send("GET", &path, &[("cookie", &cookie)], "");
    let list = list.expect(200).json();
    let all = list["data"].as_array().unwrap();
    all.iter().find(|one| one["id"] == id).unwrap().clone()
}

/// Returns status, chain state, and problem of a transfer.
#[track_caller]
fn transfer_state(shop: &Shop, kind: &str, id: &str) -> [String; 3] {
    let seen = read_transfer(shop, kind, id);
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let on_chain = &seen["onChain"];
    [text(&seen["status"]), text(&on_chain["state"]), text(&on_chain["problem"])]
}

/// Applies an operator's action to a transfer.
#[track_caller]
fn apply_action(shop: &Shop, kind: &str, id: &str, body: &Value) -> crate::support::Response {
    let cookie = shop.sign_in_operator();
    let path = format!("/dashboard/api/{kind}/{id}");
    shop.send("POST", &path, &[("cookie", &cookie)], &body.to_string())
}

#[test]
fn transaction_is_seen_then_settles() {
    for kind in ["payouts", "refunds"] {
        let shop = Shop::open();
        let id = create_approved_transfer(&shop, kind);
        assert_eq!(simulate_transaction(&shop, kind, &id, "seen")["status"], "processing");
        let [_, seen_state, problem] = transfer_state(&shop, kind, &id);
        assert_eq!(seen_state, "seen", "{problem}");
        assert!(shop.event_types(&id, LIVE).is_empty());
        let paid = simulate_transaction(&shop, kind, &id, "confirmed");
        assert_eq!(paid["status"], "paid");
        let told = [format!("{}.paid", &kind[..kind.len() - 1])];
        assert_eq!(shop.event_types(&id, LIVE), told);
        assert_eq!(transfer_state(&shop, kind, &id), ["paid", "settled", ""]);
        // Moving the transaction to the same state again changes nothing.
        assert_eq!(simulate_transaction(&shop, kind, &id, "confirmed"), paid);
        assert_eq!(shop.event_types(&id, LIVE), told);
        shop.assert_audit_clean();
    }
}

#[test]
fn transaction_of_wrong_amount_or_destination_is_reviewed() {
    for kind in ["payouts", "refunds"] {
        for (case, wrong) in [("short", " pays "), ("other_address", "pays another address")] {
            let shop = Shop::open();
            let id = create_approved_transfer(&shop, kind);
            simulate_transaction(&shop, kind, &id, case);
            let [status, found, problem] = transfer_state(&shop, kind, &id);
            assert_eq!([&*status, &*found], ["processing", "needs_review"]);
            assert!(problem.contains(wrong), "{problem}");
            let home = shop.sign_in_operator();
            let home = shop.send("GET", "/dashboard/api/summary", &[("cookie", &home)], "");
            assert_eq!(home.expect(200).json()["transfersToReview"], 1);
            // The correct transaction settles the transfer.
            assert_eq!(simulate_transaction(&shop, kind, &id, "confirmed")["status"], "paid");
            shop.assert_audit_clean();
        }
    }
}

#[test]
fn dropped_transaction_waits_and_returns() {
    for kind in ["payouts", "refunds"] {
        let shop = Shop::open();
        let id = create_approved_transfer(&shop, kind);
        simulate_transaction(&shop, kind, &id, "seen");
        simulate_transaction(&shop, kind, &id, "dropped");
        assert_eq!(transfer_state(&shop, kind, &id)[1], "waiting");
        shop.advance("5h59m");
        assert_eq!(transfer_state(&shop, kind, &id)[1], "waiting");
        shop.advance("1m");
        let [status, found, problem] = transfer_state(&shop, kind, &id);
        assert_eq!([&*status, &*found], ["processing", "needs_review"]);
        assert!(problem.ends_with("was in the mempool and is gone"), "{problem}");
        simulate_transaction(&shop, kind, &id, "confirmed");
        assert_eq!(transfer_state(&shop, kind, &id), ["paid", "settled", ""]);
        shop.assert_audit_clean();
    }
}

#[test]
fn lost_paid_transaction_is_reviewed_until_it_returns_or_is_reversed() {
    for kind in ["payouts", "refunds"] {
        let shop = Shop::open();
        let id = create_approved_transfer(&shop, kind);
        simulate_transaction(&shop, kind, &id, "confirmed");
        let before = shop.balance_fields(LIVE, "EUR");
        simulate_transaction(&shop, kind, &id, "dropped");
        let gone = read_transfer(&shop, kind, &id);
        assert_eq!(gone["status"], "paid");
        assert_eq!(gone["onChain"]["state"], "needs_review");
        assert_eq!(gone["reviews"][0]["kind"], "gone");
        simulate_transaction(&shop, kind, &id, "confirmed");
        assert_eq!(transfer_state(&shop, kind, &id), ["paid", "settled", ""]);
        simulate_transaction(&shop, kind, &id, "dropped");
        let review = read_transfer(&shop, kind, &id)["reviews"][0]["id"].clone();
        for wrong in [
            json!({ "action": "adjust", "review": review }),
            json!({ "action": "adjust", "review": "x", "reason": "gone" }),
        ] {
            apply_action(&shop, kind, &id, &wrong).expect(400);
        }
        let resolved = json!({ "action": "resolve", "review": review, "reason": "fine" });
        apply_action(&shop, kind, &id, &resolved).assert_error(
            409,
            "invalid_transition",
            Some("action"),
        );
        assert_eq!(shop.balance_fields(LIVE, "EUR"), before);
        let adjusted = json!({ "action": "adjust", "review": review, "reason": "never arrived" });
        let after = apply_action(&shop, kind, &id, &adjusted).expect(200).json();
        assert_eq!(after["status"], "paid");
        assert_ne!(shop.balance_fields(LIVE, "EUR"), before);
        // A repeated request changes nothing.
        apply_action(&shop, kind, &id, &adjusted).expect(409);
        shop.assert_audit_clean();
    }
}

#[test]
fn confirmation_after_a_reversal_books_the_amount_again() {
    for kind in ["payouts", "refunds"] {
        let shop = Shop::open();
        let id = create_approved_transfer(&shop, kind);
        simulate_transaction(&shop, kind, &id, "confirmed");
        let paid = shop.balance_fields(LIVE, "EUR");
        let newest = || read_transfer(&shop, kind, &id)["reviews"][0].clone();
        let adjust = |review: &Value| {
            let body = json!({ "action": "adjust", "review": review["id"], "reason": "lost" });
            apply_action(&shop, kind, &id, &body).expect(200);
        };
        for _ in 0..2 {
            simulate_transaction(&shop, kind, &id, "dropped");
            let gone = newest();
            assert_eq!((&gone["kind"], &gone["endedAt"]), (&json!("gone"), &json!(null)));
            adjust(&gone);
            let booked_back = shop.balance_fields(LIVE, "EUR");
            assert_ne!(booked_back, paid);
            // When the transaction is in the mempool again, the interface offers no second reversal.
            simulate_transaction(&shop, kind, &id, "seen");
            assert_eq!(newest()["id"], gone["id"]);
            simulate_transaction(&shop, kind, &id, "confirmed");
            let arrived = newest();
            assert_eq!((&arrived["kind"], &arrived["endedAt"]), (&json!("arrived"), &json!(null)));
            assert_eq!(transfer_state(&shop, kind, &id)[1], "needs_review");
            adjust(&arrived);
            assert_eq!(transfer_state(&shop, kind, &id), ["paid", "settled", ""]);
        }
        assert_eq!(read_transfer(&shop, kind, &id)["reviews"].as_array().unwrap().len(), 4);
        shop.assert_audit_clean();
    }
}

#[test]
fn payment_of_an_ended_transfer_is_reviewed_once() {
    for kind in ["payouts", "refunds"] {
        let shop = Shop::open();
        let id = create_approved_transfer(&shop, kind);
        simulate_transaction(&shop, kind, &id, "seen");
        apply_action(&shop, kind, &id, &json!({ "action": "fail", "force": true })).expect(200);
        simulate_transaction(&shop, kind, &id, "confirmed");
        let review = read_transfer(&shop, kind, &id)["reviews"][0]["id"].clone();
        let adjusted = json!({ "action": "adjust", "review": review, "reason": "it arrived" });
        apply_action(&shop, kind, &id, &adjusted).expect(200);
        // Booked out and in no block any more: gone until it is in a block again.
        simulate_transaction(&shop, kind, &id, "seen");
        assert_eq!(transfer_state(&shop, kind, &id)[1], "needs_review");
        simulate_transaction(&shop, kind, &id, "confirmed");
        let reviews = read_transfer(&shop, kind, &id)["reviews"].clone();
        let ends = [0, 1].map(|at: usize| [&reviews[at]["kind"], &reviews[at]["decision"]]);
        assert_eq!(ends, [["gone", "cleared"], ["arrived", "adjusted"]], "{reviews}");
        shop.assert_audit_clean();
    }
}

#[test]
fn late_transaction_is_not_resolved_by_a_reason_alone() {
    for kind in ["payouts", "refunds"] {
        let shop = Shop::open();
        let id = create_approved_transfer(&shop, kind);
        simulate_transaction(&shop, kind, &id, "seen");
        shop.apply_actions(kind, &id, &["fail"]);
        simulate_transaction(&shop, kind, &id, "confirmed");
        let arrived = read_transfer(&shop, kind, &id)["reviews"][0].clone();
        assert_eq!(arrived["kind"], "arrived", "{arrived}");
        let resolve = json!({ "action": "resolve", "review": arrived["id"], "reason": "fine" });
        apply_action(&shop, kind, &id, &resolve).assert_error(
            409,
            "invalid_transition",
            Some("action"),
        );
    }
}

#[test]
fn output_is_released_when_another_transaction_pays_its_transfer() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(LIVE, "1000.00", "EUR");
    let (first, second) =
        (shop.create_refund(&invoice, Some("20.00")), shop.create_refund(&invoice, Some("20.00")));
    for id in [&first, &second] {
        shop.apply_actions("refunds", id, &["approve", "process"]);
    }
    let txid = simulate_transaction(&shop, "refunds", &first, "confirmed")["txid"].clone();
    assert_eq!(read_transfer(&shop, "refunds", &first)["status"], "paid");
    simulate_transaction(&shop, "refunds", &second, "seen");
    let own = read_transfer(&shop, "refunds", &second)["txid"].clone();
    let word = json!({ "action": "pay", "reason": "inside an exchange", "txid": "an-order" });
    apply_action(&shop, "refunds", &second, &word).expect(200);
    let counted = |txid: &Value| {
        let counted = "select ifnull((select t.id from transfers t where t.seq = s.transfer), '-') \
            from destination_outputs s join observations o on o.seq = s.observation where o.txid = ";
        crate::support::database::text_column(
            shop.file(),
            &format!("{counted}'{}'", txid.as_str().unwrap()),
        )
    };
    assert_eq!(counted(&txid), [first]);
    assert_eq!(counted(&own), ["-"]);
    shop.assert_audit_clean();
}

#[test]
fn review_lists_contain_only_open_reviews() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(LIVE, "1000.00", "EUR");
    let cookie = shop.sign_in_operator();
    let get = |path: &str| {
        let answer = shop.send("GET", path, &[("cookie", &cookie)], "");
        answer.expect(200).json()
    };
    let payout = shop.create_payout("20.00");
    shop.apply_actions("payouts", &payout, &["approve"]);
    let refunds = [(); 3].map(|()| {
        let id = shop.create_refund(&invoice, Some("20.00"));
        shop.apply_actions("refunds", &id, &["approve"]);
        id
    });
    simulate_transaction(&shop, "payouts", &payout, "seen");
    for id in &refunds[1..] {
        simulate_transaction(&shop, "refunds", id, "short");
    }
    let account = get("/dashboard/api/accounts")["data"][0]["id"].clone();
    let of_account = format!("/dashboard/api/accounts/{}", account.as_str().unwrap());
    for prefix in ["/dashboard/api", &of_account] {
        let ids = |kind: &str, query: &str| {
            let page = get(&format!("{prefix}/{kind}?onChain=needs_review{query}"));
            (object_ids(&page), page["nextBefore"].clone())
        };
        assert_eq!(ids("payouts", "").0, Vec::<String>::new());
        let newest = [refunds[2].clone(), refunds[1].clone()];
        assert_eq!(ids("refunds", ""), (newest.to_vec(), Value::Null));
        let (page, next) = ids("refunds", "&limit=1");
        assert_eq!((page, next.clone()), (newest[..1].to_vec(), json!(refunds[2])));
        let before = format!("&limit=1&before={}", next.as_str().unwrap());
        assert_eq!(ids("refunds", &before), (newest[1..].to_vec(), Value::Null));
        assert_eq!(ids("refunds", "&status=paid").0, Vec::<String>::new());
        assert_eq!(ids("refunds", "&mode=test").0, Vec::<String>::new());
    }
    let summary = get("/dashboard/api/summary");
    let counts = ["transfersToReview", "payoutsToReview", "refundsToReview"];
    assert_eq!(counts.map(|name| summary[name].clone()), [2, 0, 2].map(Value::from));
    let wrong = shop.send("GET", "/dashboard/api/refunds?onChain=seen", &[("cookie", &cookie)], "");
    wrong.assert_error(400, "invalid_request", Some("onChain"));
}
