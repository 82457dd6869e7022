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

/// Sender of a transfer, with the amount that counts towards the signer's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// A person.
    Hand,
    /// The signer. This amount counts towards its limit.
    Signer(Cents),
}

impl Sender {
    /// Returns the sender without the amount.
    pub const fn sent_by(self) -> SentBy {
        match self {
            Sender::Hand => SentBy::Hand,
            Sender::Signer(_) => SentBy::Signer,
        }
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
    /// `true` if a person explicitly accepted an unusual rate or fee. The signer never sends such a transfer.
    pub is_accepted: bool,
    /// Chain of the transfer.
    pub chain: Chain,
    /// Largest sum that the signer may send in 24 hours, in each currency; `None` for no limit.
    pub limit: Option<Cents>,
    /// Sum of the transfers that were passed to the signer in the last 24 hours, without transfers whose amount is
    /// back in the balance.
    pub given: Cents,
    /// Amount of the transfer.
    pub amount: Cents,
    /// Worth of the coins to send, with the network fee, at the fresh market rate; `None` without a fresh rate.
    pub worth: Option<Cents>,
    /// Currency of `limit`, `given`, `amount` and `worth`.
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
        if self.is_accepted {
            return Some("an unusual rate or network fee was accepted for it".to_owned());
        }
        let limit = self.limit?;
        if self.worth.is_none() {
            let problem = "no fresh market rate tells what its coins are worth, for signerLimit";
            return Some(problem.to_owned());
        }
        let (given, counted, currency) = (self.given, self.counted(), self.currency);
        if given.plus(counted).is_ok_and(|total| total <= limit) {
            return None;
        }
        Some(format!(
            "the signer was given {given} {currency} of this account in the last 24 hours, and {counted} more \
             would pass signerLimit, {limit}"
        ))
    }

    /// Returns the amount that counts towards the limit: the amount of the transfer or the worth of its coins, whichever
    /// is larger.
    fn counted(&self) -> Cents {
        self.worth.map_or(self.amount, |worth| worth.max(self.amount))
    }

    /// Decides who sends the transfer: the requested sender, otherwise the signer if the conditions allow it,
    /// otherwise a person.
    ///
    /// # Errors
    /// `invalid_request` for `sentBy` if the signer is requested and may not send the transfer.
    pub fn choose_sender(&self, asked: Option<SentBy>) -> Result<Sender, Refusal> {
        match (asked, self.signer_obstacle()) {
            (Some(SentBy::Hand), _) | (None, Some(_)) => Ok(Sender::Hand),
            (Some(SentBy::Signer), Some(obstacle)) => {
                let problem = format!("must be hand: {obstacle}");
                Err(Refusal::field("sentBy", problem))
            }
            (Some(SentBy::Signer) | None, None) => Ok(Sender::Signer(self.counted())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cents, Chain, Currency, Sender, SenderConditions, SentBy};

    const OPEN: SenderConditions = SenderConditions {
        is_simulated: false,
        has_signer: true,
        has_node: true,
        is_accepted: false,
        chain: Chain::Litecoin,
        limit: Some(Cents(100_000)),
        given: Cents(0),
        amount: Cents(4_000),
        worth: Some(Cents(4_000)),
        currency: Currency::Eur,
    };

    #[test]
    fn signer_needs_all_conditions() {
        let limited = |given: i64, amount: i64, limit: Option<i64>| SenderConditions {
            given: Cents(given),
            amount: Cents(amount),
            worth: Some(Cents(amount / 2)),
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
            (
                SenderConditions { is_accepted: true, limit: None, ..OPEN },
                SentBy::Hand,
                "an unusual rate or network fee was accepted",
            ),
            // The larger of amount and worth counts.
            (SenderConditions { worth: Some(Cents(100_000)), ..OPEN }, SentBy::Signer, ""),
            (
                SenderConditions { worth: Some(Cents(100_001)), ..OPEN },
                SentBy::Hand,
                "1000.01 more would pass signerLimit, 1000.00",
            ),
            // Without a fresh rate, a limit cannot be checked.
            (SenderConditions { worth: None, ..OPEN }, SentBy::Hand, "no fresh market rate"),
            (SenderConditions { worth: None, limit: None, ..OPEN }, SentBy::Signer, ""),
        ] {
            assert_sender(&conditions, sent_by, obstacle);
        }
    }

    /// Asserts the default sender, and that a request for the signer is refused if there is an obstacle.
    #[track_caller]
    fn assert_sender(conditions: &SenderConditions, sent_by: SentBy, obstacle: &str) {
        let counted = conditions.worth.unwrap_or_default().max(conditions.amount);
        let sender = match sent_by {
            SentBy::Hand => Sender::Hand,
            SentBy::Signer => Sender::Signer(counted),
        };
        assert_eq!(conditions.choose_sender(None), Ok(sender), "{conditions:?}");
        assert_eq!(conditions.choose_sender(Some(SentBy::Hand)), Ok(Sender::Hand));
        match conditions.choose_sender(Some(SentBy::Signer)) {
            Ok(asked) => assert_eq!((asked, obstacle), (Sender::Signer(counted), "")),
            Err(refusal) => {
                assert_eq!(refusal.param.as_deref(), Some("sentBy"));
                assert!(!obstacle.is_empty(), "{conditions:?}");
                assert!(refusal.message.contains(obstacle), "{}", refusal.message);
            }
        }
    }
}
