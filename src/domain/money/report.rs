//! Sums of reports: shares, changes and the values of a chart's axis.

use super::Total;

/// One hundred cents.
const UNIT: i128 = 100;

impl Total {
    /// Returns the percentage that this sum is of `whole`, rounded down, from 0 to 100; 0 if `whole` is zero.
    pub fn percent_of(self, whole: Total) -> u8 {
        let share = self.0.saturating_mul(100);
        let share = share.checked_div(whole.0).unwrap_or(0);
        u8::try_from(share.clamp(0, 100)).unwrap_or(0)
    }

    /// Returns the change from `before` to this sum in percent, with a sign and one decimal: `+12.5`, `-3.0`, `0.0`.
    /// Rounds half away from zero. `None` if `before` is not above zero.
    pub fn change_percent(self, before: Total) -> Option<String> {
        if before <= Total::ZERO {
            return None;
        }
        let change = self.minus(before).0;
        let size = i128::try_from(change.unsigned_abs()).unwrap_or(i128::MAX);
        // Twice the tenths of a percent, so that halves are rounded up.
        let twice = size.saturating_mul(2000).checked_div(before.0)?;
        let tenths = twice.saturating_add(1) / 2;
        let sign = match (tenths, change < 0) {
            (0, _) => "",
            (_, true) => "-",
            (_, false) => "+",
        };
        Some(format!("{sign}{}.{}", tenths / 10, tenths.rem_euclid(10)))
    }

    /// Returns the highest value of a chart's axis for values up to this sum: 1, 2 or 5 with zeros, and at least 1.00.
    pub fn axis_end(self) -> Total {
        let mut power = UNIT;
        loop {
            for factor in [1, 2, 5] {
                let end = power.saturating_mul(factor);
                if end >= self.0 || end == i128::MAX {
                    return Total(end);
                }
            }
            power = power.saturating_mul(10);
        }
    }

    /// Returns the values 0, one half and the whole of an axis that ends at this sum. Without decimals where all three
    /// are whole.
    pub fn axis_labels(self) -> [String; 3] {
        let values = [Total::ZERO, Total(self.0 / 2), self];
        let are_whole = values.iter().all(|value| value.0.rem_euclid(UNIT) == 0);
        values.map(|value| match are_whole {
            true => (value.0 / UNIT).to_string(),
            false => value.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cents, Total};

    fn total(cents: i64) -> Total {
        Total::from(Cents(cents))
    }

    #[test]
    fn change_has_sign_and_one_decimal() {
        for (now, before, text) in [
            (11_250, 10_000, Some("+12.5")),
            (9_700, 10_000, Some("-3.0")),
            (10_000, 10_000, Some("0.0")),
            (0, 10_000, Some("-100.0")),
            (10_004, 10_000, Some("0.0")),
            (10_005, 10_000, Some("+0.1")),
            (1, 3, Some("-66.7")),
            (5, 0, None),
            (5, -5, None),
        ] {
            assert_eq!(total(now).change_percent(total(before)).as_deref(), text, "{now} {before}");
        }
        let most = total(i64::MAX).change_percent(total(1));
        assert!(most.is_some_and(|text| text.starts_with("+9223372036854775806")));
    }

    #[test]
    fn axis_ends_at_a_round_value() {
        for (cents, labels) in [
            (0, ["0.00", "0.50", "1.00"]),
            (100, ["0.00", "0.50", "1.00"]),
            (101, ["0", "1", "2"]),
            (201, ["0.00", "2.50", "5.00"]),
            (501, ["0", "5", "10"]),
            (1_234_500, ["0", "10000", "20000"]),
        ] {
            assert_eq!(total(cents).axis_end().axis_labels(), labels, "{cents}");
        }
        let most: Total = [Cents(i64::MAX), Cents(i64::MAX)].into_iter().sum();
        assert!(most.axis_end() >= most);
    }

    #[test]
    fn share_is_rounded_down_and_bounded() {
        for (part, whole, percent) in [(1, 3, 33), (3, 3, 100), (-1, 3, 0), (4, 3, 100), (1, 0, 0)]
        {
            assert_eq!(total(part).percent_of(total(whole)), percent, "{part} {whole}");
        }
    }
}
