//! A step as somebody asks for it.
//!
//! Invariant: a field that does not go with the action is refused, because somebody meant something by it.

use super::approval::{APPROVAL_FIELDS, ApprovalRequest};
use super::step::{ChainCase, REASON_CHARS_MAX, TransferAction};
use crate::domain::address::Encoding;
use crate::domain::chain::Chain;
use crate::domain::fields::Fields;
use crate::domain::refusal::Refusal;
use serde_json::{Map, Value};

/// The longest transaction id.
pub const TXID_CHARS_MAX: usize = 128;

/// Fields that the operator interface takes.
pub const OPERATOR_FIELDS: [&str; 11] = [
    "action",
    "rate",
    "acceptRate",
    "networkFee",
    "acceptFee",
    "sentBy",
    "txid",
    "reason",
    "force",
    "unverified",
    "review",
];
/// Fields that the sandbox's controls take.
pub const SANDBOX_FIELDS: [&str; 4] = ["action", "txid", "reason", "state"];

/// A step as somebody asks for it.
#[derive(Clone, Debug)]
pub struct MoveRequest {
    /// The action.
    pub action: TransferAction,
    /// Fields of `approve` and `reassign`.
    pub approval: ApprovalRequest,
    /// A transaction, as it was written.
    pub txid: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Put the amount back although it may have been sent.
    pub force: bool,
    /// Count it as paid although no chain was asked.
    pub unverified: bool,
    /// Id of a review.
    pub review: Option<String>,
    /// Case of a simulated chain.
    pub state: Option<ChainCase>,
}

impl MoveRequest {
    /// Reads a request for one of these actions, with these fields.
    ///
    /// # Errors
    /// `invalid_request` that names the field.
    pub fn parse(
        body: &Map<String, Value>,
        actions: &[TransferAction],
        known: &[&str],
    ) -> Result<MoveRequest, Refusal> {
        let fields = Fields::of(body);
        fields.only(known)?;
        let action = action(&fields, actions)?;
        let mut stray = known
            .iter()
            .filter(|name| **name != "action" && !goes_with(action, name));
        if let Some(name) = stray.find(|name| fields.get(name).is_some()) {
            let problem = format!("does not go with action \"{action}\"");
            return Err(Refusal::field(name, problem));
        }
        let text = |name: &str, chars_max: usize| {
            let text = fields.text(name, 1..=chars_max)?;
            Ok::<_, Refusal>(text.map(str::to_owned))
        };
        let flag = |name: &str| Ok::<_, Refusal>(fields.flag(name)?.unwrap_or(false));
        Ok(MoveRequest {
            action,
            approval: ApprovalRequest::parse(&fields)?,
            txid: text("txid", TXID_CHARS_MAX)?,
            reason: text("reason", REASON_CHARS_MAX)?,
            force: flag("force")?,
            unverified: flag("unverified")?,
            review: text("review", 64)?,
            state: fields.choice("state")?,
        })
    }
}

fn action(fields: &Fields<'_>, actions: &[TransferAction]) -> Result<TransferAction, Refusal> {
    let texts: Vec<&str> = actions.iter().map(|action| action.as_str()).collect();
    let wrong = || Refusal::field("action", format!("must be one of {}", texts.join(", ")));
    let action = match fields.choice::<TransferAction>("action") {
        Ok(action) => action.ok_or_else(wrong)?,
        Err(_) => return Err(wrong()),
    };
    Some(action)
        .filter(|action| actions.contains(action))
        .ok_or_else(wrong)
}

/// Returns `true` if a field goes with an action.
fn goes_with(action: TransferAction, name: &str) -> bool {
    match action {
        TransferAction::Approve => APPROVAL_FIELDS.contains(&name),
        TransferAction::Reassign | TransferAction::Release => name == "sentBy",
        TransferAction::Process | TransferAction::Detach => false,
        TransferAction::Pay => ["txid", "reason", "unverified"].contains(&name),
        TransferAction::Fail => ["reason", "force"].contains(&name),
        TransferAction::Reject | TransferAction::Cancel => name == "reason",
        TransferAction::Dismiss => name == "txid",
        TransferAction::Resolve | TransferAction::Adjust => ["review", "reason"].contains(&name),
        TransferAction::Chain => name == "state",
    }
}

/// Reads a transaction id: printable ASCII without spaces.
///
/// # Errors
/// `invalid_request` for anything else.
pub fn txid(text: &str) -> Result<String, Refusal> {
    let fits = (1..=TXID_CHARS_MAX).contains(&text.len());
    if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(text.to_owned())
    } else {
        let problem =
            format!("must be 1 to {TXID_CHARS_MAX} printable ASCII characters without spaces");
        Err(Refusal::field("txid", problem))
    }
}

/// Reads a transaction id in the form of a chain: 32 bytes in hexadecimal, with `0x` on EVM chains; on Solana a signature of
/// 64 bytes in base58.
///
/// # Errors
/// `invalid_request` that names the form.
pub fn txid_on(chain: Chain, text: &str) -> Result<String, Refusal> {
    let canonical = chain.canonical_txid(text);
    let (fits, form) = match chain.row().encoding {
        Encoding::Utxo(_) | Encoding::Tron => {
            (is_hash(&canonical), "64 hexadecimal digits".to_owned())
        }
        Encoding::Evm => (
            canonical.strip_prefix("0x").is_some_and(is_hash),
            "0x and 64 hexadecimal digits".to_owned(),
        ),
        Encoding::Solana => (
            bs58::decode(&canonical)
                .into_vec()
                .is_ok_and(|bytes| bytes.len() == 64),
            "a signature of 64 bytes in base58".to_owned(),
        ),
    };
    if fits {
        return Ok(canonical);
    }
    let problem = format!("must be the id of a transaction on {chain}: {form}");
    Err(Refusal::field("txid", problem))
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::super::step::{OF_OPERATOR, OF_SANDBOX};
    use super::{
        Chain, MoveRequest, OPERATOR_FIELDS, SANDBOX_FIELDS, TransferAction, txid, txid_on,
    };
    use serde_json::{Value, json};

    fn refused(body: &Value, (actions, known): (&[TransferAction], &[&str])) -> Option<String> {
        let body = body.as_object()?;
        MoveRequest::parse(body, actions, known).err()?.param
    }

    #[test]
    fn transaction_id_is_printable() {
        assert!(txid("0xabc").is_ok());
        for wrong in ["", "a b", "ä", "a\n", &"a".repeat(129)] {
            assert!(txid(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn transaction_id_has_the_form_of_its_chain() {
        let hash = "AB".repeat(32);
        let read = |chain, text: &str| txid_on(chain, text).ok();
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
    fn fields_go_with_their_actions_only() {
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
            let refused = refused(&body, (&OF_OPERATOR, &OPERATOR_FIELDS));
            assert_eq!(refused.as_deref(), Some(param), "{body}");
        }
        for action in ["reassign", "detach", "dismiss", "resolve", "adjust"] {
            let refused = refused(&json!({ "action": action }), (&OF_SANDBOX, &SANDBOX_FIELDS));
            assert_eq!(refused.as_deref(), Some("action"), "{action}");
        }
        let seen = json!({ "action": "chain", "state": "seen" });
        assert_eq!(refused(&seen, (&OF_SANDBOX, &SANDBOX_FIELDS)), None);
    }
}
