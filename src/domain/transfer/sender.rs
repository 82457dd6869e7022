//! Sender of a transfer: a person, or the signer within the account's limit.
//!
//! Invariant: the signer is chosen only if the service has a signer, the chain has a node, and the account's limit is
//! not exceeded.

use crate::domain::asset::Chain;
use crate::domain::money::{Cents, Currency};
use crate::domain::refusal::Refusal;
use crate::domain::text_enum::text_enum;

text_enum! {
    /// Sender of an approved transfer.
    pub enum SentBy {
        /// A person, with a wallet.
        Hand = "hand",
        /// The signer command.
        Signer = "signer",
    }
}

/// Conditions under which the signer may send a transfer.
#[derive(Clone, Copy, Debug)]
pub struct SenderConditions {
    /// `true` if the transfer moves no real money. The signer command is never run for such a transfer.
    pub is_simulated: bool,
    /// `true` if the service was started with a signer.
    pub has_signer: bool,
    /// `true` if the chain has a node.
    pub has_node: bool,
    /// Chain of the transfer.
    pub chain: Chain,
    /// Largest sum that the signer may send in 24 hours, in each currency; `None` for no limit.
    pub limit: Option<Cents>,
    /// Sum of the transfers that were passed to the signer in the last 24 hours, without transfers whose amount is
    /// back in the balance.
    pub given: Cents,
    /// Amount of the transfer.
    pub amount: Cents,
    /// Currency of `limit`, `given` and `amount`.
    pub currency: Currency,
}

impl SenderConditions {
    /// Returns the reason why the signer may not send the transfer; `None` if it may.
    pub fn signer_obstacle(&self) -> Option<String> {
        if self.is_simulated {
            return Some("nothing real is sent here".to_owned());
        }
        if !self.has_signer {
            return Some("no signer is set, see --signer".to_owned());
        }
        if !self.has_node {
            let chain = self.chain;
            return Some(format!("{chain} has no node, see --node"));
        }
        let limit = self.limit?;
        let total = self.given.plus(self.amount);
        if total.is_ok_and(|total| total <= limit) {
            return None;
        }
        let SenderConditions { given, amount, currency, .. } = self;
        Some(format!(
            "the signer was given {given} {currency} of this account in the last 24 hours, and {amount} more \
             would pass signerLimit, {limit}"
        ))
    }

    /// Decides who sends the transfer: the requested sender, otherwise the signer if the conditions allow it,
    /// otherwise a person.
    ///
    /// # Errors
    /// `invalid_request` for `sentBy` if the signer is requested and may not send the transfer.
    pub fn choose_sender(&self, asked: Option<SentBy>) -> Result<SentBy, Refusal> {
        match (asked, self.signer_obstacle()) {
            (Some(SentBy::Hand), _) | (None, Some(_)) => Ok(SentBy::Hand),
            (Some(SentBy::Signer), Some(obstacle)) => {
                let problem = format!("must be hand: {obstacle}");
                Err(Refusal::field("sentBy", problem))
            }
            (Some(SentBy::Signer) | None, None) => Ok(SentBy::Signer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cents, Chain, Currency, SenderConditions, SentBy};

    const OPEN: SenderConditions = SenderConditions {
        is_simulated: false,
        has_signer: true,
        has_node: true,
        chain: Chain::Litecoin,
        limit: Some(Cents(100_000)),
        given: Cents(0),
        amount: Cents(4_000),
        currency: Currency::Eur,
    };

    #[test]
    fn signer_needs_all_conditions() {
        let limited = |given: i64, amount: i64, limit: Option<i64>| SenderConditions {
            given: Cents(given),
            amount: Cents(amount),
            limit: limit.map(Cents),
            ..OPEN
        };
        for (conditions, sent_by, obstacle) in [
            (OPEN, SentBy::Signer, ""),
            (
                SenderConditions { is_simulated: true, ..OPEN },
                SentBy::Hand,
                "nothing real is sent here",
            ),
            (SenderConditions { has_signer: false, ..OPEN }, SentBy::Hand, "no signer is set"),
            (SenderConditions { has_node: false, ..OPEN }, SentBy::Hand, "litecoin has no node"),
            // A sum equal to the limit is allowed.
            (limited(0, 100_000, Some(100_000)), SentBy::Signer, ""),
            (limited(96_000, 4_000, Some(100_000)), SentBy::Signer, ""),
            (limited(0, 100_001, Some(100_000)), SentBy::Hand, "would pass signerLimit, 1000.00"),
            (limited(96_000, 4_001, Some(100_000)), SentBy::Hand, "was given 960.00 EUR"),
            (limited(0, 1, Some(0)), SentBy::Hand, "would pass signerLimit, 0.00"),
            (limited(i64::MAX, 1, Some(i64::MAX)), SentBy::Hand, "would pass"),
            (limited(i64::MAX, i64::MAX, None), SentBy::Signer, ""),
        ] {
            assert_sender(&conditions, sent_by, obstacle);
        }
    }

    /// Asserts the default sender, and that a request for the signer is refused if there is an obstacle.
    #[track_caller]
    fn assert_sender(conditions: &SenderConditions, sent_by: SentBy, obstacle: &str) {
        assert_eq!(conditions.choose_sender(None), Ok(sent_by), "{conditions:?}");
        assert_eq!(conditions.choose_sender(Some(SentBy::Hand)), Ok(SentBy::Hand));
        match conditions.choose_sender(Some(SentBy::Signer)) {
            Ok(asked) => assert_eq!((asked, obstacle), (SentBy::Signer, "")),
            Err(refusal) => {
                assert_eq!(refusal.param.as_deref(), Some("sentBy"));
                assert!(!obstacle.is_empty(), "{conditions:?}");
                assert!(refusal.message.contains(obstacle), "{}", refusal.message);
            }
        }
    }
}
