//! Compares the status function with the documented rules, written as a table.
//!
//! The inputs are every small combination and many random ones. The module `odd` has special cases.
//!
//! Invariant: the table follows the documentation and shares no arithmetic with the code under test.

#![expect(clippy::arithmetic_side_effects, clippy::panic, reason = "a test fails by panicking")]

mod odd;

use super::{
    Bps, Cents, InvoiceStatus, InvoiceTerms, PaymentFacts, PaymentState, Time, invoice_status,
};

/// Deadline of the test invoices, in milliseconds.
const EXPIRES: i64 = 2_000_000;
/// Price of the test invoices, in cents.
const DUE: i64 = 10_000;

/// Values of a payment in cents: zero, half the price, around both bounds of the 0.5 % tolerance, the price, double
/// the price.
const VALUES: [i64; 8] = [0, 5_000, 9_949, 9_950, 10_000, 10_050, 10_051, 20_000];
/// More values in cents, including those around the bounds of the largest tolerance.
const MORE_VALUES: [i64; 13] =
    [0, 1, 5_000, 7_999, 8_000, 9_949, 9_950, 10_000, 10_050, 10_051, 12_000, 12_001, 20_000];
const CANCELLED: [Option<i64>; 4] = [None, Some(EXPIRES - 5), Some(EXPIRES), Some(EXPIRES + 5)];
const TOLERANCES: [(u32, u32); 3] = [(0, 0), (50, 50), (2_000, 2_000)];

/// A payment: its state, whether it is on time, whether it was ever confirmed, its value in cents.
type PaymentInput = (PaymentState, bool, bool, i64);

/// One input of the status function.
#[derive(Clone, Debug)]
struct StatusCase {
    due: i64,
    under: u32,
    over: u32,
    expires: i64,
    cancelled: Option<i64>,
    quoted: bool,
    now: i64,
    payments: Vec<PaymentInput>,
}

/// Returns the status by the documented rules. From top to bottom, the first rule whose condition holds decides.
fn expected_status(case: &StatusCase) -> InvoiceStatus {
    let count = |wanted: fn(&PaymentInput) -> bool| {
        case.payments.iter().filter(|paid| wanted(paid)).count()
    };
    // The sum is in ten-thousandths of a cent, so that a tolerance in basis points is a whole number.
    let worth = |on_time: bool| {
        let mut sum: i128 = 0;
        for (state, in_time, _, value) in &case.payments {
            if *state == PaymentState::Confirmed && *in_time == on_time {
                sum += i128::from(*value) * 10_000;
            }
        }
        sum
    };
    let (c, l) = (worth(true), worth(false));
    let due = i128::from(case.due) * 10_000;
    let least = due - i128::from(case.due) * i128::from(case.under);
    let most = due + i128::from(case.due) * i128::from(case.over);
    let deadline = [case.cancelled, Some(case.expires)].into_iter().flatten().min();
    let past = deadline <= Some(case.now);
    let u = count(|paid| paid.0 == PaymentState::Seen && paid.1) > 0;
    let idle = count(|paid| paid.0 == PaymentState::Confirmed) == 0 && !u;
    let fell = count(|paid| paid.0 == PaymentState::Dropped && paid.2) > 0;
    let lost = count(|paid| paid.0 == PaymentState::Dropped && paid.1) > 0;
    let table = [
        (idle && case.cancelled.is_some(), InvoiceStatus::Cancelled),
        (idle && fell, InvoiceStatus::Failed),
        (idle && !past && case.quoted, InvoiceStatus::AwaitingPayment),
        (idle && !past, InvoiceStatus::Created),
        (idle && lost, InvoiceStatus::Failed),
        (idle, InvoiceStatus::Expired),
        (c >= least && c + l > most, InvoiceStatus::Overpaid),
        (c >= least, InvoiceStatus::Confirmed),
        (u, InvoiceStatus::Detected),
        (c + l >= least, InvoiceStatus::PaidLate),
        (true, InvoiceStatus::Underpaid),
    ];
    let row = table.iter().find(|(holds, _)| *holds);
    row.map_or(InvoiceStatus::Underpaid, |(_, status)| *status)
}

/// Returns the status by the code under test.
fn actual_status(case: &StatusCase) -> InvoiceStatus {
    let terms = InvoiceTerms {
        due: Cents(case.due),
        under: Bps(case.under),
        over: Bps(case.over),
        expires_at: Time(case.expires),
        cancelled_at: case.cancelled.map(Time),
        quoted: case.quoted,
    };
    let judged = |(state, on_time, was_confirmed, value): &PaymentInput| PaymentFacts {
        state: *state,
        on_time: *on_time,
        was_confirmed: *was_confirmed,
        value: Cents(*value),
    };
    let payments: Vec<PaymentFacts> = case.payments.iter().map(judged).collect();
    invoice_status(&terms, &payments, Time(case.now))
}

/// Asserts that the code agrees with the table, and increments the count of the expected status in `seen`.
fn assert_expected_status(case: &StatusCase, seen: &mut [usize]) {
    let expected = expected_status(case);
    assert_eq!(actual_status(case), expected, "{case:?}");
    let place = InvoiceStatus::ALL.iter().position(|status| *status == expected);
    if let Some(count) = place.and_then(|place| seen.get_mut(place)) {
        *count += 1;
    }
}

/// Returns every possible payment with the given values. A payment in state `confirmed` always has `was_confirmed`.
fn possible_payments(values: impl Fn(PaymentState) -> Vec<i64>) -> Vec<PaymentInput> {
    let mut found = Vec::new();
    for state in PaymentState::ALL {
        for on_time in [false, true] {
            for was_confirmed in [false, true] {
                if *state == PaymentState::Confirmed && !was_confirmed {
                    continue;
                }
                let worth = values(*state).into_iter();
                found.extend(worth.map(|value| (*state, on_time, was_confirmed, value)));
            }
        }
    }
    found
}

/// Returns every multiset of `size` payments, in the order of `kinds`.
fn multisets(kinds: &[PaymentInput], size: usize) -> Vec<Vec<PaymentInput>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for (at, first) in kinds.iter().enumerate() {
        for rest in multisets(kinds.get(at..).unwrap_or_default(), size - 1) {
            found.push([vec![*first], rest].concat());
        }
    }
    found
}

/// Asserts that the code agrees with the table for these payments and every combination of the other inputs.
fn assert_all_cases(payments: &[PaymentInput], seen: &mut [usize]) {
    for cancelled in CANCELLED {
        let deadline = cancelled.map_or(EXPIRES, |at| at.min(EXPIRES));
        for now in [deadline - 1, deadline, deadline + 1] {
            for (under, over) in TOLERANCES {
                for quoted in [false, true] {
                    let case = StatusCase {
                        due: DUE,
                        under,
                        over,
                        expires: EXPIRES,
                        cancelled,
                        quoted,
                        now,
                        payments: payments.to_vec(),
                    };
                    assert_expected_status(&case, seen);
                }
            }
        }
    }
}

#[test]
fn status_of_every_pair_of_payments_follows_the_table() {
    let kinds = possible_payments(|_| VALUES.to_vec());
    assert_eq!(kinds.len(), 80);
    let mut seen = [0; InvoiceStatus::ALL.len()];
    for payments in (0..=2).flat_map(|size| multisets(&kinds, size)) {
        assert_all_cases(&payments, &mut seen);
    }
    assert_eq!(seen.iter().sum::<usize>(), 3_321 * 72);
    assert!(seen.iter().all(|count| *count > 0), "each status comes: {seen:?}");
}

/// Unconfirmed payments add nothing to the sum, so two values are enough for them.
#[test]
fn status_of_every_three_payments_follows_the_table() {
    let kinds = possible_payments(|state| match state {
        PaymentState::Confirmed => VALUES.to_vec(),
        PaymentState::Seen | PaymentState::Dropped => vec![0, DUE],
    });
    assert_eq!(kinds.len(), 32);
    let mut seen = [0; InvoiceStatus::ALL.len()];
    for payments in multisets(&kinds, 3) {
        assert_all_cases(&payments, &mut seen);
    }
    assert_eq!(seen.iter().sum::<usize>(), 5_984 * 72);
}

/// Generator of random inputs that are the same on every machine (SplitMix64).
struct RandomInputs(u64);

impl RandomInputs {
    fn number_below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(sides).unwrap_or(1)).unwrap_or(0)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        match from.get(self.number_below(from.len())) {
            Some(picked) => *picked,
            None => panic!("nothing to pick from"),
        }
    }
}

#[test]
fn status_of_many_random_payments_follows_the_table() {
    let kinds = possible_payments(|_| MORE_VALUES.to_vec());
    let mut seen = [0; InvoiceStatus::ALL.len()];
    for seed in 1..=40 {
        let mut dice = RandomInputs(seed);
        for _ in 0..5_000 {
            // For 1, 3, 333 and 9 999 cents, no tolerance except 0 is a whole number of cents.
            let due = dice.pick(&[DUE, DUE, 1, 3, 333, 9_999, 5_000_000]);
            let scale = |(state, on_time, was, value): PaymentInput| {
                (state, on_time, was, value * due / DUE)
            };
            let size = 3 + dice.number_below(4);
            let case = StatusCase {
                due,
                under: dice.pick(&[0, 50, 2_000, 1, 33]),
                over: dice.pick(&[0, 50, 2_000, 1, 33]),
                expires: EXPIRES,
                cancelled: dice.pick(&CANCELLED),
                quoted: dice.number_below(2) == 0,
                now: EXPIRES - 7 + i64::try_from(dice.number_below(15)).unwrap_or(0),
                payments: (0..size).map(|_| scale(dice.pick(&kinds))).collect(),
            };
            assert_expected_status(&case, &mut seen);
        }
    }
    let rare = [InvoiceStatus::Created, InvoiceStatus::AwaitingPayment, InvoiceStatus::Expired];
    for (status, count) in InvoiceStatus::ALL.iter().zip(seen) {
        assert!(count > 100 || rare.contains(status), "{status} came {count} times");
    }
}
