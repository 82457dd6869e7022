//! Runs the signer, which sends approved payouts and refunds.

use super::command::CommandResult;
use super::command_job::CommandJob;
use crate::domain::fields::Fields;
use crate::domain::transfer::request::parse_txid;
use crate::domain::transfer::step::REASON_CHARS_MAX;
use crate::domain::{Refusal, Time, Transfer};
use crate::service::{Error, Service};
use serde_json::{Value, json};
use std::sync::Arc;

/// Maximum length, in characters, of a transaction id in a message. The id comes from a signer and may be invalid.
const ANSWER_CHARS_MAX: usize = 1000;
/// Reason used if a signer gives none.
const NO_REASON: &str = "the signer gave no reason";

/// Job that runs the signer for each transfer that waits to be sent.
pub struct SignerJob {
    /// Service that stores the transfers.
    pub service: Arc<Service>,
}

impl CommandJob for SignerJob {
    const NAME: &'static str = "send";
    type WorkItem = Transfer;

    async fn begin_next_item(&self, now: Time) -> Result<Option<Transfer>, Error> {
        let Some(next) = self.service.next_transfer_to_send(now)? else {
            return Ok(None);
        };
        let begun = self.service.begin_sending(now, next.kind, &next.id).await;
        begun.map(Some)
    }

    fn name_and_input(order: &Transfer) -> (String, Value) {
        let amount = order.terms.map(|terms| terms.amount_crypto);
        let input = json!({
            "id": order.id,
            "kind": order.kind,
            "asset": order.asset.id,
            "chain": order.asset.chain,
            "toAddress": order.to_address,
            "amount": amount.map(|amount| order.asset.format_units(amount)),
            "amountBaseUnits": amount.map(|amount| amount.0.to_string()),
        });
        (format!("{} {}", order.kind, order.id), input)
    }

    fn next_item_due_at(&self, now: Time) -> Result<Option<Time>, Error> {
        self.service.next_signer_retry(now)
    }

    async fn store_result(
        &self,
        now: Time,
        order: &Transfer,
        answered: &CommandResult,
    ) -> Result<(), Error> {
        let (service, kind, id) = (&self.service, order.kind, order.id.as_str());
        let outcome = answered
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|answer| parse_outcome(&Fields::new(answer)));
        match outcome {
            Ok(SignerOutcome::Sent(txid)) => {
                service.record_sent_transaction(now, kind, id, &txid).await.map(drop)
            }
            Ok(SignerOutcome::NotSent(reason, retry)) => {
                service.record_nothing_sent(now, kind, id, &reason, retry).await.map(drop)
            }
            Err(cause) => {
                log::error!(
                    "signer outcome unknown, check the chain by hand: {kind}={id} error={cause}"
                );
                service.record_unknown_outcome(now, kind, id, &cause).await
            }
        }
    }
}

/// The result of a signer that exited successfully.
#[derive(Debug, PartialEq, Eq)]
enum SignerOutcome {
    /// The transfer was sent in the transaction with this id.
    Sent(String),
    /// The transfer was not sent, for this reason. The flag is `true` if the signer may run again.
    NotSent(String, bool),
}

/// Parses `{"txid"}` or `{"sent": false, "retry"?, "reason"?}`. Any other answer is an error, because Coffer must not
/// guess whether the transfer was sent.
fn parse_outcome(answer: &Fields<'_>) -> Result<SignerOutcome, String> {
    let told = |refusal: Refusal| refusal.message;
    let text = answer.text("txid", 1..=ANSWER_CHARS_MAX).map_err(told)?;
    // The message quotes the transaction id of an invalid answer, so that a person can check that transaction.
    let kept = |problem: &str| {
        let text = text.map(|text| format!(": it answered the transaction {text:?}"));
        format!("{problem}{}", text.unwrap_or_default())
    };
    let refused = |refusal: Refusal| kept(&refusal.message);
    let retry = answer.flag("retry").map_err(refused)?.unwrap_or(false);
    match (text, answer.flag("sent").map_err(refused)?) {
        (Some(_), _) if retry => {
            Err(kept("it says both that it sent and that it is to be run again"))
        }
        (Some(text), None | Some(true)) => {
            parse_txid(text).map(SignerOutcome::Sent).map_err(refused)
        }
        (None, Some(false)) => {
            let reason = answer.text("reason", 1..=REASON_CHARS_MAX).map_err(told)?;
            let reason = reason.unwrap_or(NO_REASON).to_owned();
            Ok(SignerOutcome::NotSent(reason, retry))
        }
        (Some(_), Some(false)) => Err(kept("it says both that it sent and that it did not")),
        (None, None | Some(true)) => {
            Err("it says neither txid nor that nothing was sent".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fields, NO_REASON, SignerOutcome, parse_outcome};
    use serde_json::{Map, Value, json};

    fn parse_answer(answer: Value) -> Result<SignerOutcome, String> {
        let empty = Map::new();
        parse_outcome(&Fields::new(answer.as_object().unwrap_or(&empty)))
    }

    #[test]
    fn answers_of_sent_and_unsent_transfers_are_parsed() {
        let sent = |text: &str| Ok(SignerOutcome::Sent(text.to_owned()));
        let not = |text: &str| Ok(SignerOutcome::NotSent(text.to_owned(), false));
        assert_eq!(parse_answer(json!({ "txid": "0xa" })), sent("0xa"));
        assert_eq!(parse_answer(json!({ "txid": "0xa", "sent": true })), sent("0xa"));
        assert_eq!(parse_answer(json!({ "sent": false, "reason": "empty" })), not("empty"));
        assert_eq!(parse_answer(json!({ "sent": false })), not(NO_REASON));
        let again = json!({ "sent": false, "retry": true, "reason": "no node" });
        assert_eq!(parse_answer(again), Ok(SignerOutcome::NotSent("no node".to_owned(), true)));
    }

    #[test]
    fn invalid_answers_are_rejected() {
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
            assert!(parse_answer(answer.clone()).is_err(), "{answer}");
        }
    }

    #[test]
    fn rejected_transaction_id_is_quoted_in_the_error() {
        for answer in [
            json!({ "txid": "safe 7" }),
            json!({ "txid": "safe 7", "sent": false }),
            json!({ "txid": "safe 7", "retry": true }),
            json!({ "txid": "safe 7", "sent": "yes" }),
        ] {
            let cause = parse_answer(answer.clone()).err().unwrap_or_default();
            assert!(cause.contains("safe 7"), "{answer}: {cause}");
        }
    }
}
