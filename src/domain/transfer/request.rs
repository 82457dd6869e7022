//! Requested steps of a transfer, and checks of transaction ids in the form of their chain.

use super::approval::ApprovalRequest;
use super::inputs::{MoveTransfer, SandboxMoveTransfer, TXID_CHARS_MAX};
use super::step::{SimulatedChainState, TransferAction};
use crate::domain::address::encoding::Encoding;
use crate::domain::chain::Chain;
use crate::domain::refusal::Refusal;

/// A requested step of a transfer.
#[derive(Clone, Debug)]
pub struct TransferStepRequest {
    /// Action to take.
    pub action: TransferAction,
    /// Fields that belong to `approve` and `reassign`.
    pub approval: ApprovalRequest,
    /// Transaction id, in the spelling of the request.
    pub txid: Option<String>,
    /// Reason for the action.
    pub reason: Option<String>,
    /// `true` to mark the transfer as failed although it may have been sent.
    pub force: bool,
    /// `true` to count the transfer as paid although no chain confirmed it.
    pub unverified: bool,
    /// Id of the review that the action ends.
    pub review: Option<String>,
    /// State to simulate, in the sandbox.
    pub state: Option<SimulatedChainState>,
}

impl From<MoveTransfer> for TransferStepRequest {
    fn from(body: MoveTransfer) -> TransferStepRequest {
        TransferStepRequest {
            action: body.action,
            approval: ApprovalRequest {
                basis: body.basis,
                rate: body.rate,
                network_fee: body.network_fee,
                accepts_rate: body.accept_rate,
                accepts_fee: body.accept_fee,
                sent_by: body.sent_by,
            },
            txid: body.txid,
            reason: body.reason,
            force: body.force,
            unverified: body.unverified,
            review: body.review,
            state: None,
        }
    }
}

impl From<SandboxMoveTransfer> for TransferStepRequest {
    fn from(body: SandboxMoveTransfer) -> TransferStepRequest {
        TransferStepRequest {
            action: body.action,
            approval: ApprovalRequest::default(),
            txid: body.txid,
            reason: body.reason,
            force: false,
            unverified: false,
            review: None,
            state: body.state,
        }
    }
}

/// Reads a transaction id: printable ASCII without spaces.
///
/// # Errors
/// `invalid_request` for anything else.
pub fn parse_txid(text: &str) -> Result<String, Refusal> {
    let fits = (1..=TXID_CHARS_MAX).contains(&text.len());
    if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(text.to_owned())
    } else {
        let problem =
            format!("must be 1 to {TXID_CHARS_MAX} printable ASCII characters without spaces");
        Err(Refusal::field("txid", problem))
    }
}

/// Reads a transaction id in the form of a chain.
///
/// The form is 32 bytes in hexadecimal, with `0x` on EVM chains. On Solana, it is a signature of 64 bytes in base58.
///
/// # Errors
/// `invalid_request` that names the form.
pub fn parse_txid_on(chain: Chain, text: &str) -> Result<String, Refusal> {
    let canonical = chain.canonical_txid(text);
    let (fits, form) = match chain.row().encoding {
        Encoding::Utxo(_) | Encoding::Tron => {
            (is_hex_hash(&canonical), "64 hexadecimal digits".to_owned())
        }
        Encoding::Evm => (
            canonical.strip_prefix("0x").is_some_and(is_hex_hash),
            "0x and 64 hexadecimal digits".to_owned(),
        ),
        Encoding::Solana => (
            bs58::decode(&canonical).into_vec().is_ok_and(|bytes| bytes.len() == 64),
            "a signature of 64 bytes in base58".to_owned(),
        ),
    };
    if fits {
        return Ok(canonical);
    }
    let problem = format!("must be the id of a transaction on {chain}: {form}");
    Err(Refusal::field("txid", problem))
}

fn is_hex_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::{Chain, MoveTransfer, SandboxMoveTransfer, parse_txid, parse_txid_on};
    use crate::domain::refusal::Refusal;
    use serde_json::{Value, json};

    fn refused_field<T>(
        body: &Value,
        read: fn(&serde_json::Map<String, Value>) -> Result<T, Refusal>,
    ) -> Option<String> {
        read(body.as_object()?).err()?.param
    }

    #[test]
    fn transaction_id_is_printable() {
        assert!(parse_txid("0xabc").is_ok());
        for wrong in ["", "a b", "ä", "a\n", &"a".repeat(129)] {
            assert!(parse_txid(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn transaction_id_has_the_form_of_its_chain() {
        let hash = "AB".repeat(32);
        let read = |chain, text: &str| parse_txid_on(chain, text).ok();
        let lower = hash.to_ascii_lowercase();
        assert_eq!(read(Chain::Litecoin, &hash), Some(lower.clone()));
        assert_eq!(read(Chain::Base, &hash), Some(format!("0x{lower}")));
        assert_eq!(read(Chain::Tron, &hash), Some(lower.clone()));
        let signature = bs58::encode([7_u8; 64]).into_string();
        assert_eq!(read(Chain::Solana, &signature), Some(signature.clone()));
        for (chain, wrong) in [
            (Chain::Litecoin, "deadbeef"),
            (Chain::Litecoin, &signature),
            (Chain::Ethereum, "0xdeadbeef"),
            (Chain::Solana, &lower),
        ] {
            assert_eq!(read(chain, wrong), None, "{chain} {wrong}");
        }
    }

    #[test]
    fn fields_are_allowed_only_with_their_actions() {
        let wrong = [
            (json!({}), "action"),
            (json!({ "action": "chain", "state": "seen" }), "state"),
            (json!({ "action": "chain" }), "action"),
            (json!({ "action": "pay", "force": true }), "force"),
            (json!({ "action": "fail", "txid": "a" }), "txid"),
            (json!({ "action": "detach", "reason": "a" }), "reason"),
            (json!({ "action": "dismiss", "review": "a" }), "review"),
            (json!({ "action": "approve", "txid": "a" }), "txid"),
        ];
        for (body, param) in wrong {
            let refused = refused_field(&body, MoveTransfer::read);
            assert_eq!(refused.as_deref(), Some(param), "{body}");
        }
        for action in ["reassign", "detach", "dismiss", "resolve", "adjust"] {
            let refused = refused_field(&json!({ "action": action }), SandboxMoveTransfer::read);
            assert_eq!(refused.as_deref(), Some("action"), "{action}");
        }
        let seen = json!({ "action": "chain", "state": "seen" });
        assert_eq!(refused_field(&seen, SandboxMoveTransfer::read), None);
    }
}
