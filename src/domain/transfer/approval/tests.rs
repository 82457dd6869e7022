//! Tests of rates and fees in approvals: accepted, refused, and explicitly accepted ones.

use super::{
    ApprovalProposal, CoinMarket, FeeSource, FixedTerms, ProposedFee, Rate, Refusal, Time, Transfer,
};
use crate::domain::asset::{Asset, Mode};
use crate::domain::money::coin::Units;
use crate::domain::money::{Cents, Currency};
use crate::domain::rate::{FigureSource, RateFigure, RateQuote};
use crate::domain::time::MINUTE_MS;
use crate::domain::transfer::basis::{RateBasis, ReceivedCoins};
use crate::domain::transfer::inputs::MoveTransfer;
use crate::domain::transfer::request::TransferStepRequest;
use crate::domain::transfer::{SendingProgress, TransferKind, TransferStatus};
use serde_json::{Value, json};

const NOW: Time = Time(100 * MINUTE_MS);

/// Returns a requested refund of this many EUR cents, to be paid in LTC.
fn refund(cents: i64) -> Transfer {
    Transfer {
        seq: 1,
        id: "r".to_owned(),
        kind: TransferKind::Refund,
        account: 1,
        account_id: "a".to_owned(),
        mode: Mode::Live,
        invoice: Some((1, "i".to_owned())),
        status: TransferStatus::Requested,
        currency: Currency::Eur,
        amount: Cents(cents),
        asset: Asset::find("LTC").unwrap(),
        to_address: "x".to_owned(),
        destination: 0,
        terms: None,
        terms_source: None,
        sent_by: None,
        signer_share: None,
        txid: None,
        reason: None,
        failure_reason: None,
        sending: None,
        sending_progress: SendingProgress::default(),
        has_exact_proposal: false,
        released_at: None,
        is_frozen: false,
        requested_at: Time(0),
        requested_height: None,
        approved_at: None,
        finalized_at: None,
    }
}

/// Returns a proposal: 80 EUR for one LTC from two sources, `minutes_ago` minutes old, and a fee of 0.0001 LTC.
fn proposal(minutes_ago: i64, is_guarded: bool) -> ApprovalProposal {
    let at = NOW.plus_ms(minutes_ago.saturating_mul(-MINUTE_MS));
    let told = [(FigureSource::Kraken, "80.1"), (FigureSource::Coinbase, "79.9")];
    let figures = told.map(|(source, rate)| RateFigure {
        source,
        rate: rate.parse().unwrap(),
        via: String::new(),
        at,
    });
    let known = RateQuote::fixed("80".parse().unwrap(), at);
    ApprovalProposal {
        received: None,
        market: CoinMarket::new(figures.to_vec(), Some(known), NOW),
        fee: ProposedFee {
            amount: Units(10_000),
            source: FeeSource::Estimate,
            estimated_at: Some(NOW),
        },
        is_guarded,
        now: NOW,
    }
}

fn determine_terms(
    body: &Value,
    of: &Transfer,
    proposal: &ApprovalProposal,
) -> Result<FixedTerms, Refusal> {
    let mut body = body.as_object().unwrap().clone();
    body.insert("action".to_owned(), json!("approve"));
    let request = TransferStepRequest::from(MoveTransfer::read(&body).unwrap());
    request.approval.determine_terms(of, proposal)
}

/// Amount to send, rate, source of the fee, and the accepted fields.
type ApprovalSummary = (String, String, &'static str, Vec<&'static str>);

fn approval_summary(
    fixed: Result<FixedTerms, Refusal>,
) -> Result<ApprovalSummary, (Option<String>, String)> {
    let ltc = Asset::find("LTC").unwrap();
    let fixed = fixed.map_err(|refusal| (refusal.param, refusal.message))?;
    let (sent, rate) = (ltc.format_units(fixed.terms.amount_crypto), fixed.terms.rate.to_string());
    Ok((sent, rate, fixed.source.fee.as_str(), fixed.accepted_fields))
}

#[test]
fn requested_rate_must_be_near_the_fresh_market_rate() {
    let of = refund(4_000);
    let fresh = proposal(0, true);
    for (body, sent, rate, source, insisted) in [
        (json!({}), "0.4999", "80", "estimate", &[][..]),
        (json!({ "rate": "81.6" }), "0.49009607", "81.6", "estimate", &[]),
        (json!({ "rate": "78.40", "networkFee": "0.001" }), "0.50920408", "78.4", "given", &[]),
        (
            json!({ "rate": "81.60001", "acceptRate": true }),
            "0.49009601",
            "81.60001",
            "estimate",
            &["rate"],
        ),
        (json!({ "rate": "0.08", "acceptRate": true }), "499.9999", "0.08", "estimate", &["rate"]),
        // A rate that needs no acceptance is not listed as accepted.
        (
            json!({ "rate": "80", "acceptRate": true, "acceptFee": true }),
            "0.4999",
            "80",
            "estimate",
            &[],
        ),
        (json!({ "acceptRate": true }), "0.4999", "80", "estimate", &[]),
    ] {
        let found = approval_summary(determine_terms(&body, &of, &fresh)).unwrap();
        let expected = (sent.to_owned(), rate.to_owned(), source, insisted.to_vec());
        assert_eq!(found, expected, "{body}");
    }
}

#[test]
fn refusal_of_far_rate_shows_amounts_at_both_rates() {
    let of = refund(4_000);
    let fresh = proposal(0, true);
    let far =
        approval_summary(determine_terms(&json!({ "rate": "0.08" }), &of, &fresh)).unwrap_err();
    let message = "rate 0.08 is 99.9 % below the market rate of LTC in EUR, 80 (kraken 80.1, coinbase 79.9; 0 s old): \
        40.00 EUR would buy 500 LTC, not 0.5. Send a rate within 2 % of it, or acceptRate: true";
    assert_eq!(far, (Some("rate".to_owned()), message.to_owned()));
    for rate in ["78.3999999999", "81.6000000001", "80000"] {
        let (param, message) = approval_summary(determine_terms(
            &json!({ "rate": rate, "acceptRate": false }),
            &of,
            &fresh,
        ))
        .unwrap_err();
        assert_eq!(param.as_deref(), Some("rate"), "{message}");
    }
}

#[test]
fn any_rate_needs_acceptance_without_a_fresh_market_rate() {
    let of = refund(4_000);
    let stale = proposal(4, true);
    for body in [json!({}), json!({ "rate": "80" }), json!({ "acceptRate": true })] {
        let (param, message) = approval_summary(determine_terms(&body, &of, &stale)).unwrap_err();
        assert_eq!(param.as_deref(), Some("rate"), "{body}");
        let expected = "rate must be given together with acceptRate: true, as there is no fresh market rate of LTC in EUR: \
            rates of kraken, coinbase are older than 3 minutes; the newest known is 80 (the fixed table; 4 min old)";
        assert_eq!(message, expected);
    }
    let insisted = approval_summary(determine_terms(
        &json!({ "rate": "80", "acceptRate": true }),
        &of,
        &stale,
    ));
    assert_eq!(insisted.unwrap().3, ["rate"]);
}

#[test]
fn fee_above_a_quarter_needs_acceptance() {
    // The refund is 40 EUR ÷ 80 = 0.5 LTC, and a quarter of it is 0.125 LTC.
    let of = refund(4_000);
    let fresh = proposal(0, true);
    let fee = |fee: &str, accept: bool| json!({ "networkFee": fee, "acceptFee": accept });
    for (body, insisted) in [
        (fee("0.125", false), &[][..]),
        (fee("0.125", true), &[]),
        (fee("0.12500001", true), &["networkFee"]),
        (fee("0.49999999", true), &["networkFee"]),
    ] {
        assert_eq!(
            approval_summary(determine_terms(&body, &of, &fresh)).unwrap().3,
            insisted,
            "{body}"
        );
    }
    let (param, message) =
        approval_summary(determine_terms(&fee("0.12500001", false), &of, &fresh)).unwrap_err();
    assert_eq!(param.as_deref(), Some("networkFee"));
    assert_eq!(
        message,
        "networkFee is more than a quarter of the amount: 0.12500001 LTC (10.00 EUR) of 40.00 EUR. Send a smaller \
         networkFee, or acceptFee: true"
    );
    // Even an accepted fee must leave an amount to send.
    let (param, _) = approval_summary(determine_terms(&fee("0.5", true), &of, &fresh)).unwrap_err();
    assert_eq!(param.as_deref(), Some("networkFee"));
    // An estimated fee is checked like a fee in the request. 0.0001 LTC is more than a quarter of 0.02 EUR ÷ 80 =
    // 0.00025 LTC.
    let (param, _) = approval_summary(determine_terms(&json!({}), &refund(2), &fresh)).unwrap_err();
    assert_eq!(param.as_deref(), Some("networkFee"));
}

/// Returns a proposal for a refund: 21.74 USDC came in for 20.00 EUR at 0.92, and the market is at this rate now.
fn received_proposal(market: &str) -> ApprovalProposal {
    let mut proposal = proposal(0, true);
    let market = market.parse().unwrap();
    let told = [FigureSource::Kraken, FigureSource::Coinbase];
    let figures =
        told.map(|source| RateFigure { source, rate: market, via: String::new(), at: NOW });
    proposal.market = CoinMarket::new(figures.to_vec(), Some(RateQuote::fixed(market, NOW)), NOW);
    let rate = "0.92".parse().unwrap();
    let amount = Units(21_740_000);
    proposal.received = Some(ReceivedCoins { amount, value: Cents(2_000), rate });
    proposal
}

fn usdc_refund(cents: i64) -> Transfer {
    Transfer { asset: Asset::find("USDC-BASE").unwrap(), ..refund(cents) }
}

#[test]
fn refund_sends_the_share_of_what_came_in() {
    for market in ["0.46", "0.92", "1.84"] {
        let proposal = received_proposal(market);
        for (cents, gross) in [(2_000, "21.73913"), (500, "5.434782"), (1, "0.010869")] {
            let body = json!({ "networkFee": "0", "acceptFee": true });
            let fixed = determine_terms(&body, &usdc_refund(cents), &proposal).unwrap();
            let sent = usdc_refund(cents).asset.format_units(fixed.terms.amount_crypto);
            assert_eq!((sent.as_str(), fixed.source.basis), (gross, RateBasis::Received));
            assert!(!fixed.source.is_accepted, "{market}");
        }
    }
}

#[test]
fn more_coins_than_the_share_need_acceptance() {
    let of = usdc_refund(2_000);
    for (market, body, rate, insisted) in [
        // Fewer coins than the share need no acceptance.
        ("1.84", json!({ "basis": "market" }), "1.84", &[][..]),
        ("0.46", json!({ "basis": "market", "acceptRate": true }), "0.46", &["rate"]),
        (
            "0.4612",
            json!({ "basis": "market", "rate": "0.46", "acceptRate": true }),
            "0.46",
            &["rate"],
        ),
        ("0.46", json!({ "basis": "received" }), "0.92", &[]),
        ("0.46", json!({ "rate": "0.93" }), "0.93", &[]),
        ("0.46", json!({ "rate": "0.91", "acceptRate": true }), "0.91", &["rate"]),
    ] {
        let body = merged(&body, &json!({ "networkFee": "0" }));
        let fixed = determine_terms(&body, &of, &received_proposal(market)).unwrap();
        let found = (fixed.terms.rate.to_string(), fixed.accepted_fields.clone());
        assert_eq!(found, (rate.to_owned(), insisted.to_vec()), "{market} {body}");
        assert_eq!(fixed.source.is_accepted, !insisted.is_empty());
    }
    for (market, body, part) in [
        (
            "0.46",
            json!({ "basis": "market" }),
            "0.46 sends 43.47826 USDC for 20.00 EUR. 21.74 USDC came in",
        ),
        ("0.46", json!({ "rate": "0.919" }), "0.919 sends 21.762785 USDC"),
        ("0.46", json!({ "rate": "0.46" }), "0.46 is 50 % below the rate of what came in, 0.92"),
        ("0.46", json!({ "rate": "9.2" }), "9.2 is 900 % above the rate of what came in, 0.92"),
    ] {
        let body = merged(&body, &json!({ "networkFee": "0" }));
        let refused = determine_terms(&body, &of, &received_proposal(market)).unwrap_err();
        assert_eq!(refused.param.as_deref(), Some("rate"), "{body}");
        assert!(refused.message.starts_with(&format!("rate {part}")), "{}", refused.message);
    }
}

#[test]
fn rate_of_what_came_in_needs_no_market() {
    let mut proposal = received_proposal("0.46");
    proposal.market = CoinMarket::new(Vec::new(), None, NOW);
    let body = json!({ "networkFee": "0" });
    let fixed = determine_terms(&body, &usdc_refund(2_000), &proposal).unwrap();
    assert_eq!((fixed.terms.rate.to_string().as_str(), fixed.source.is_accepted), ("0.92", false));
    let market = json!({ "basis": "market" });
    let refused = determine_terms(&market, &usdc_refund(2_000), &proposal).unwrap_err();
    assert_eq!(refused.param.as_deref(), Some("rate"));
}

#[test]
fn basis_must_exist() {
    let none = proposal(0, true);
    let refused =
        determine_terms(&json!({ "basis": "received" }), &refund(2_000), &none).unwrap_err();
    assert_eq!(
        refused.message,
        "basis must be market: no confirmed payment of this invoice is in LTC"
    );
    let payout = Transfer { kind: TransferKind::Payout, invoice: None, ..refund(2_000) };
    for basis in ["received", "market"] {
        let refused = determine_terms(&json!({ "basis": basis }), &payout, &none).unwrap_err();
        assert_eq!(refused.message, "basis is allowed only for a refund");
    }
}

fn merged(body: &Value, more: &Value) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[test]
fn simulated_transfer_accepts_any_rate_and_fee() {
    let of = refund(4_000);
    let simulated = proposal(4, false);
    for body in [json!({}), json!({ "rate": "0.08" }), json!({ "networkFee": "0.4" })] {
        assert!(
            approval_summary(determine_terms(&body, &of, &simulated)).unwrap().3.is_empty(),
            "{body}"
        );
    }
}

#[test]
fn rate_is_a_plain_decimal() {
    for right in ["60000", "0.92", "0.0000000001", "007.50"] {
        assert!(super::parse_rate(right).is_ok(), "{right}");
    }
    for wrong in [
        "",
        "0",
        "0.0",
        "-1",
        "+1",
        "1e3",
        "1_000",
        ".5",
        "5.",
        "0.00000000001",
        " 1",
        "1,5",
        "99999999999999999999",
    ] {
        assert!(super::parse_rate(wrong).is_err(), "{wrong}");
    }
    let most: Rate = super::parse_rate("18446744073709551615").unwrap();
    assert!(
        determine_terms(&json!({ "rate": most.to_string() }), &refund(4_000), &proposal(0, true))
            .is_err()
    );
}
