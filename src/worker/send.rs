//! Runs the signer, which sends approved payouts and refunds.

use super::command::Answered;
use super::command_job::CommandJob;
use crate::domain::fields::Fields;
use crate::domain::refusal::Refusal;
use crate::domain::time::Time;
use crate::domain::transfer::Transfer;
use crate::domain::transfer::request::txid;
use crate::domain::transfer::step::REASON_CHARS_MAX;
use crate::service::{Error, Service};
use serde_json::{Value, json};
use std::sync::Arc;

/// Maximum number of characters kept of a transaction id in an answer, even if the id is not valid.
const ANSWER_CHARS_MAX: usize = 1000;
/// Reason used if a signer gives none.
const NO_REASON: &str = "the signer gave no reason";

/// Job that runs the signer for each transfer that waits to be sent.
pub struct Send {
    /// Service that stores the transfers.
    pub service: Arc<Service>,
}

impl CommandJob for Send {
    const NAME: &'static str = "send";
    type Order = Transfer;

    async fn begin(&self, now: Time) -> Result<Option<Transfer>, Error> {
        let Some(next) = self.service.to_send(now, 1)?.into_iter().next() else {
            return Ok(None);
        };
        let begun = self.service.begin_sending(now, next.kind, &next.id).await;
        begun.map(Some)
    }

    fn describe(order: &Transfer) -> (String, Value) {
        let amount = order.terms.map(|terms| terms.amount_crypto);
        let input = json!({
            "id": order.id,
            "kind": order.kind,
            "asset": order.asset.id,
            "chain": order.asset.chain,
            "toAddress": order.to_address,
            "amount": amount.map(|amount| order.asset.text(amount)),
            "amountBaseUnits": amount.map(|amount| amount.0.to_string()),
        });
        (format!("{} {}", order.kind, order.id), input)
    }

    fn due(&self, now: Time) -> Result<Option<Time>, Error> {
        self.service.next_retry(now)
    }

    async fn end(&self, now: Time, order: &Transfer, answered: &Answered) -> Result<(), Error> {
        let (service, kind, id) = (&self.service, order.kind, order.id.as_str());
        let outcome = answered
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|answer| outcome(&Fields::of(answer)));
        match outcome {
            Ok(Outcome::Sent(txid)) => service.sent(now, kind, id, &txid).await.map(drop),
            Ok(Outcome::NotSent(reason, retry)) => {
                let told = (reason.as_str(), retry);
                service.not_sent(now, kind, id, told).await.map(drop)
            }
            Err(cause) => {
                log::error!(
                    "signer outcome unknown, check the chain by hand: {kind}={id} error={cause}"
                );
                service.sending_unknown(now, kind, id, &cause).await
            }
        }
    }
}

/// The result of a signer that exited successfully.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// Sent, in the transaction with this id.
    Sent(String),
    /// Not sent, for this reason. `true` if the signer may run again.
    NotSent(String, bool),
}

/// Parses `{"txid"}` or `{"sent": false, "retry"?, "reason"?}`. Any other answer is an error, because nothing may be
/// guessed.
fn outcome(answer: &Fields<'_>) -> Result<Outcome, String> {
    let told = |refusal: Refusal| refusal.message;
    let text = answer.text("txid", 1..=ANSWER_CHARS_MAX).map_err(told)?;
    // An answer that cannot be attached is kept for a person to read.
    let kept = |problem: &str| {
        let text = text.map(|text| format!(": it answered the transaction {text:?}"));
        format!("{problem}{}", text.unwrap_or_default())
    };
    let refused = |refusal: Refusal| kept(&refusal.message);
    let retry = answer.flag("retry").map_err(refused)?.unwrap_or(false);
    match (text, answer.flag("sent").map_err(refused)?) {
        (Some(_), _) if retry => Err(kept(
            "it says both that it sent and that it is to be run again",
        )),
        (Some(text), None | Some(true)) => txid(text).map(Outcome::Sent).map_err(refused),
        (None, Some(false)) => {
            let reason = answer.text("reason", 1..=REASON_CHARS_MAX).map_err(told)?;
            let reason = reason.unwrap_or(NO_REASON).to_owned();
            Ok(Outcome::NotSent(reason, retry))
        }
        (Some(_), Some(false)) => Err(kept("it says both that it sent and that it did not")),
        (None, None | Some(true)) => {
            Err("it says neither txid nor that nothing was sent".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fields, NO_REASON, Outcome, outcome};
    use serde_json::{Map, Value, json};

    fn read(answer: Value) -> Result<Outcome, String> {
        let empty = Map::new();
        outcome(&Fields::of(answer.as_object().unwrap_or(&empty)))
    }

    #[test]
    fn an_answer_says_what_was_sent_or_that_nothing_was() {
        let sent = |text: &str| Ok(Outcome::Sent(text.to_owned()));
        let not = |text: &str| Ok(Outcome::NotSent(text.to_owned(), false));
        assert_eq!(read(json!({ "txid": "0xa" })), sent("0xa"));
        assert_eq!(read(json!({ "txid": "0xa", "sent": true })), sent("0xa"));
        assert_eq!(
            read(json!({ "sent": false, "reason": "empty" })),
            not("empty")
        );
        assert_eq!(read(json!({ "sent": false })), not(NO_REASON));
        let again = json!({ "sent": false, "retry": true, "reason": "no node" });
        assert_eq!(
            read(again),
            Ok(Outcome::NotSent("no node".to_owned(), true))
        );
    }

    #[test]
    fn anything_else_is_no_answer() {
        for answer in [
            json!({}),
            json!({ "sent": true }),
            json!({ "txid": "" }),
            json!({ "txid": "a b" }),
            json!({ "txid": 7 }),
            json!({ "txid": "0xa", "sent": false }),
            json!({ "sent": "no" }),
            json!({ "retry": true }),
            json!({ "txid": "0xa", "retry": true }),
            json!({ "sent": false, "retry": 1 }),
            json!({ "sent": false, "reason": 7 }),
        ] {
            assert!(read(answer.clone()).is_err(), "{answer}");
        }
    }

    #[test]
    fn transaction_that_cannot_be_attached_is_kept() {
        for answer in [
            json!({ "txid": "safe 7" }),
            json!({ "txid": "safe 7", "sent": false }),
            json!({ "txid": "safe 7", "retry": true }),
            json!({ "txid": "safe 7", "sent": "yes" }),
        ] {
            let cause = read(answer.clone()).err().unwrap_or_default();
            assert!(cause.contains("safe 7"), "{answer}: {cause}");
        }
    }
}
