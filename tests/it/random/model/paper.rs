//! Coins, rates and amounts of the model. Amounts are computed in 128-bit integers with a single division.

/// A coin of the currencies list.
#[derive(Debug)]
pub struct Coin {
    pub id: &'static str,
    pub decimals: u32,
    /// Pool of the coin. An invoice has one address for all coins of a pool.
    pub pool: &'static str,
    min: i128,
    /// Price of one coin, in EUR cents.
    eur: i128,
}

const fn new_coin(
    id: &'static str,
    pool: &'static str,
    decimals: u32,
    min: i128,
    eur: i128,
) -> Coin {
    Coin { id, decimals, pool, min, eur }
}

/// All coins, in the order of the currencies list.
pub static COINS: [Coin; 13] = [
    new_coin("BTC", "bitcoin", 8, 2_000, 6_000_000),
    new_coin("LTC", "litecoin", 8, 1_000_000, 8_000),
    new_coin("DOGE", "dogecoin", 8, 500_000_000, 20),
    new_coin("ETH", "evm", 18, 300_000_000_000_000, 300_000),
    new_coin("USDT-ERC20", "evm", 6, 1_000_000, 92),
    new_coin("USDC-ERC20", "evm", 6, 1_000_000, 92),
    new_coin("USDC-BASE", "evm", 6, 1_000_000, 92),
    new_coin("USDC-POLYGON", "evm", 6, 1_000_000, 92),
    new_coin("TRX", "tron", 6, 8_000_000, 12),
    new_coin("USDT-TRC20", "tron", 6, 1_000_000, 92),
    new_coin("SOL", "solana", 9, 5_000_000, 15_000),
    new_coin("USDC-SPL", "solana", 6, 1_000_000, 92),
    new_coin("USDT-SPL", "solana", 6, 1_000_000, 92),
];

/// Returns 10 to the power of `power`.
fn power_of_ten(power: u32) -> i128 {
    10_i128.pow(power)
}

/// Divides two integers and rounds half to even.
pub fn divide_half_even(number: i128, by: i128) -> i128 {
    let (whole, rest) = (number / by, number % by);
    match (rest * 2).cmp(&by) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Greater => whole + 1,
        std::cmp::Ordering::Equal => whole + whole % 2,
    }
}

/// Returns the fee for a value, both in cents.
pub fn fee_cents(value: i128, bps: i128) -> i128 {
    divide_half_even(value * bps, 10_000)
}

impl Coin {
    /// Returns the rate as an integer, and the number of its decimals.
    fn rate(&self, currency: &str) -> (i128, u32) {
        match currency {
            "EUR" => (self.eur, 2),
            _ => (self.eur * 108, 4),
        }
    }

    pub fn rate_text(&self, currency: &str) -> String {
        let (rate, places) = self.rate(currency);
        format_decimal(rate, places)
    }

    /// Returns the value, in cents, of an amount in base units.
    pub fn value_cents(&self, units: i128, currency: &str) -> i128 {
        let (rate, places) = self.rate(currency);
        divide_half_even(units * rate * 100, power_of_ten(self.decimals + places))
    }

    /// Returns `true` if the exact value of an amount is at least one cent.
    pub fn is_worth_a_cent(&self, units: i128, currency: &str) -> bool {
        let (rate, places) = self.rate(currency);
        units * rate * 100 >= power_of_ten(self.decimals + places)
    }

    /// Returns the amount, in base units, for a price in cents.
    pub fn units_for_price(&self, cents: i128, currency: &str) -> i128 {
        let (rate, places) = self.rate(currency);
        let shown = self.decimals.min(8);
        let number = cents * power_of_ten(shown + places);
        let steps = (number + rate * 100 - 1) / (rate * 100);
        steps * power_of_ten(self.decimals - shown)
    }

    /// Returns `true` if a price in cents reaches the minimum of the coin.
    pub fn accepts_price(&self, cents: i128, currency: &str) -> bool {
        self.units_for_price(cents, currency) >= self.min
    }

    pub fn format_amount(&self, units: i128) -> String {
        format_decimal(units, self.decimals)
    }
}

/// Formats a decimal without trailing zeros.
fn format_decimal(number: i128, places: u32) -> String {
    let (whole, rest) = (number / power_of_ten(places), number % power_of_ten(places));
    let width = usize::try_from(places).unwrap();
    let rest = format!("{rest:0width$}");
    let rest = rest.trim_end_matches('0');
    match (places, rest) {
        (0, _) | (_, "") => whole.to_string(),
        (_, rest) => format!("{whole}.{rest}"),
    }
}

/// Formats cents with two decimals.
pub fn format_cents(number: i128) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let size = number.abs();
    format!("{sign}{}.{:02}", size / 100, size % 100)
}
