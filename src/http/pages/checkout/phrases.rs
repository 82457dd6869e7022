//! Texts of the checkout page that depend on numbers or on the status.
//!
//! Invariant: each function is a pure function of its arguments.

use crate::domain::asset::Chain;
use crate::domain::confirmations::OnChain;
use crate::domain::{Depth, InvoiceStatus, Time, WaitRange};
use crate::web::templates::OutcomeKind;
use crate::web::words::{Words, fill};

/// Describes the number of confirmations of a payment. Returns `None` if the payment is confirmed or no longer on the
/// chain.
pub(super) fn confirmations_text(on_chain: &OnChain, words: &Words) -> Option<String> {
    let count = on_chain.confirmations?.to_string();
    Some(match on_chain.confirmations_needed? {
        Depth::Blocks(needed) => {
            fill(words.confirmations, &[("count", &count), ("needed", &needed.to_string())])
        }
        Depth::Final => fill(words.confirmations_final, &[("count", &count)]),
    })
}

/// Describes the usual time until a payment is confirmed.
pub(super) fn wait_text(wait: WaitRange, words: &Words) -> String {
    let most = wait.most_minutes.to_string();
    match (wait.least_minutes, wait.most_minutes) {
        (_, 0 | 1) => words.wait_soon.to_owned(),
        (0, _) => fill(words.wait_most, &[("most", &most)]),
        (least, _) => fill(words.wait_range, &[("least", &least.to_string()), ("most", &most)]),
    }
}

/// Returns the seconds from `now` to `then`, rounded up, or 0 if `then` has passed.
pub(super) fn seconds_between(now: Time, then: Time) -> i64 {
    let ms = then.0.saturating_sub(now.0).max(0);
    ms.saturating_add(999).checked_div(1000).unwrap_or_default()
}

/// Formats seconds as a clock does: `4:05`, `1:00:00`.
pub(super) fn clock_time(seconds: i64) -> String {
    let part = |unit: i64| seconds.checked_div(unit).unwrap_or_default();
    let rest = |unit: i64| part(unit).checked_rem(60).unwrap_or_default();
    let (hours, minutes, seconds) = (part(3600), rest(60), rest(1));
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// Returns the name of the mark of a chain's network in `coins/marks.svg`.
pub(super) const fn network_mark(chain: Chain) -> &'static str {
    match chain {
        Chain::Bitcoin => "btc",
        Chain::Litecoin => "ltc",
        Chain::Dogecoin => "doge",
        Chain::Ethereum => "eth",
        Chain::Base => "base",
        Chain::Polygon => "polygon",
        Chain::Tron => "trx",
        Chain::Solana => "sol",
    }
}

/// Returns the name of a chain's network for people, for example `Polygon`.
pub(super) fn network_name(chain: Chain) -> String {
    let mut letters = chain.as_str().chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Returns the icon, the heading and the sentence for a status. `seen` is `true` if a payment was seen. If a payment
/// was seen and the invoice is still unpaid, the payment came too late.
pub(super) fn describe_status(
    status: InvoiceStatus,
    seen: bool,
    words: &Words,
) -> (OutcomeKind, &'static str, &'static str) {
    let unpaid = |kind, title, note| (kind, title, if seen { words.seen_late_note } else { note });
    match status {
        InvoiceStatus::Created | InvoiceStatus::AwaitingPayment => {
            (OutcomeKind::Expired, words.waiting, words.waiting)
        }
        InvoiceStatus::Detected => (OutcomeKind::Confirming, words.seen_title, words.seen_note),
        InvoiceStatus::Confirmed => (OutcomeKind::Paid, words.paid_title, words.paid_note),
        InvoiceStatus::Overpaid => (OutcomeKind::Overpaid, words.paid_title, words.over_note),
        InvoiceStatus::Underpaid => (OutcomeKind::Short, words.short_title, words.short_note),
        InvoiceStatus::PaidLate => (OutcomeKind::Late, words.late_title, words.late_note),
        InvoiceStatus::Expired => {
            unpaid(OutcomeKind::Expired, words.expired_title, words.expired_note)
        }
        InvoiceStatus::Cancelled => {
            unpaid(OutcomeKind::Cancelled, words.cancelled_title, words.cancelled_note)
        }
        InvoiceStatus::Failed => unpaid(OutcomeKind::Failed, words.failed_title, words.failed_note),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Depth, OnChain, WaitRange, Words, clock_time, confirmations_text, network_name,
        seconds_between, wait_text,
    };
    use crate::domain::asset::Chain;
    use crate::domain::{Language, Time};

    #[test]
    fn durations_are_formatted_as_clock_times() {
        let shown = [(0, "0:00"), (59, "0:59"), (1_199, "19:59"), (3_600, "1:00:00")];
        for (seconds, expected) in shown.into_iter().chain([(86_399, "23:59:59")]) {
            assert_eq!(clock_time(seconds), expected);
        }
        let left = [(1_000, 1), (1_001, 2), (1, 1), (0, 0), (-5, 0)];
        for (ms, expected) in left {
            assert_eq!(seconds_between(Time(7), Time(7 + ms)), expected);
        }
        assert_eq!(seconds_between(Time(i64::MIN), Time(i64::MAX)), i64::MAX / 1000);
        assert_eq!(network_name(Chain::Polygon), "Polygon");
    }

    #[test]
    fn confirmations_are_described_in_words() {
        let words = Words::for_language(Language::English);
        let said = |count, needed| {
            let on_chain = OnChain {
                confirmations: Some(count),
                confirmations_needed: Some(needed),
                explorer_url: None,
            };
            confirmations_text(&on_chain, words).unwrap_or_default()
        };
        assert_eq!(said(0, Depth::Blocks(3)), "Confirmations: 0 of 3");
        let last = "Confirmations: 12, until the block is final";
        assert_eq!(said(12, Depth::Final), last);
        assert_eq!(confirmations_text(&OnChain::default(), words), None);
        let waits = [
            ((0, 1), "usually less than a minute"),
            ((0, 25), "usually up to 25 minutes"),
            ((10, 30), "usually 10 to 30 minutes"),
        ];
        for ((least_minutes, most_minutes), expected) in waits {
            assert_eq!(wait_text(WaitRange { least_minutes, most_minutes }, words), expected);
        }
    }
}
