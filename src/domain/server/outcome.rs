//! Outcomes of an order: the provisioner's result, or the operator's decision.
//!
//! Invariant: the outcome of an undocumented result is unknown.

use super::state::{OperatorStep, ProvisionerTask};
use crate::domain::fields::rule::choice;
use crate::domain::fields::{Fields, Keywords, Rule, input, text_rule};
use crate::domain::refusal::Refusal;
use serde_json::{Map, Value};

/// Longest address or reference from the provisioner, in characters.
const REFERENCE_CHARS_MAX: usize = 253;
const REASON_CHARS_MAX: usize = 500;
/// Reason that is shown if the provisioner gives none.
const NO_REASON: &str = "the provisioner gave no reason";

/// Result of a provisioner that exited successfully.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProvisionerResult {
    /// The provisioner did the task.
    Done {
        /// The provider's reference for the server.
        address: Option<String>,
        /// Reference of the server at the provider.
        provider_ref: Option<String>,
    },
    /// The provisioner did not do the task and left nothing behind. The text is its reason.
    Declined(String),
}

impl ProvisionerResult {
    /// Reads the JSON that a provisioner printed.
    ///
    /// For a creation: `{"address"?, "ref"?}` or `{"created": false, "reason"?}`. For a deletion: `{}` or
    /// `{"deleted": false, "reason"?}`.
    ///
    /// # Errors
    /// The first wrong field. The outcome is then unknown.
    pub fn parse(
        task: ProvisionerTask,
        answer: &Map<String, Value>,
    ) -> Result<ProvisionerResult, Refusal> {
        let fields = Fields::new(answer);
        let flag = match task {
            ProvisionerTask::Create => "created",
            ProvisionerTask::Delete => "deleted",
        };
        if fields.flag(flag)? == Some(false) {
            let reason = read_single_line_field(&fields, "reason", REASON_CHARS_MAX)?;
            return Ok(ProvisionerResult::Declined(reason.unwrap_or_else(|| NO_REASON.to_owned())));
        }
        Ok(ProvisionerResult::Done {
            address: read_single_line_field(&fields, "address", REFERENCE_CHARS_MAX)?,
            provider_ref: read_single_line_field(&fields, "ref", REFERENCE_CHARS_MAX)?,
        })
    }
}

input! {
    pub(crate) DecideServer, checked action, address, r#ref, reason; unknown refused {
        required action: OperatorStep =
            choice().required_or("must be given: one of activate, fail, delete, release"), "activate";
        /// With activate: address of the server.
        optional address: String = SingleLineRule(REFERENCE_CHARS_MAX), "203.0.113.7";
        /// With activate: reference of the provider.
        optional r#ref: String = SingleLineRule(REFERENCE_CHARS_MAX), "vm-17";
        /// With fail, which needs it: reason for the reseller.
        optional reason: String = SingleLineRule(REASON_CHARS_MAX);
    }
}

impl DecideServer {
    /// Reads a decision, and refuses a field that does not belong to its action.
    ///
    /// # Errors
    /// `invalid_request` that names the field.
    pub(crate) fn parse_decision(body: &Map<String, Value>) -> Result<DecideServer, Refusal> {
        let decision = DecideServer::read(body)?;
        let action = decision.action;
        let (activates, fails) = (action == OperatorStep::Activate, action == OperatorStep::Fail);
        for (name, is_given, fits) in [
            ("address", decision.address.is_some(), activates),
            ("ref", decision.r#ref.is_some(), activates),
            ("reason", decision.reason.is_some(), fails),
        ] {
            if is_given && !fits {
                return Err(Refusal::field(name, format!("is not allowed with {action}")));
            }
        }
        if fails && decision.reason.is_none() {
            return Err(Refusal::field("reason", "must be given: the reseller is told why"));
        }
        Ok(decision)
    }
}

/// Rule for a text of one line, with the largest number of characters.
struct SingleLineRule(usize);

impl Rule for SingleLineRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        read_single_line_field(&fields, name, self.0)
    }

    fn json_schema(&self) -> Keywords {
        let pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$";
        text_rule::text(1..=self.0).with_pattern(1, pattern).json_schema()
    }
}

/// Reads a text without control characters.
fn read_single_line_field(
    fields: &Fields<'_>,
    name: &str,
    chars_max: usize,
) -> Result<Option<String>, Refusal> {
    let Some(text) = fields.text(name, 1..=chars_max)? else {
        return Ok(None);
    };
    if text.chars().any(char::is_control) {
        return Err(Refusal::field(name, "must be one line of text"));
    }
    Ok(Some(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{DecideServer, NO_REASON, ProvisionerResult, ProvisionerTask};
    use serde_json::{Value, json};

    fn parse_result(task: ProvisionerTask, value: &Value) -> Option<ProvisionerResult> {
        ProvisionerResult::parse(task, value.as_object()?).ok()
    }

    #[test]
    fn provisioner_result_is_done_or_declined() {
        let done = |address: Option<&str>, provider_ref: Option<&str>| {
            Some(ProvisionerResult::Done {
                address: address.map(str::to_owned),
                provider_ref: provider_ref.map(str::to_owned),
            })
        };
        let declined = |reason: &str| Some(ProvisionerResult::Declined(reason.to_owned()));
        for (value, expected) in [
            (json!({}), done(None, None)),
            (json!({ "created": true, "more": 1 }), done(None, None)),
            (json!({ "address": "10.0.0.1", "ref": "vm-1" }), done(Some("10.0.0.1"), Some("vm-1"))),
            (json!({ "created": false, "reason": "no room" }), declined("no room")),
            (json!({ "created": false }), declined(NO_REASON)),
            (json!({ "created": "no" }), None),
            (json!({ "created": false, "reason": 7 }), None),
            (json!({ "address": ["10.0.0.1"] }), None),
            (json!({ "ref": "a\nb" }), None),
            (json!({ "ref": "x".repeat(254) }), None),
        ] {
            assert_eq!(parse_result(ProvisionerTask::Create, &value), expected, "{value}");
        }
        let kept = json!({ "deleted": false, "reason": "in use" });
        assert_eq!(parse_result(ProvisionerTask::Delete, &kept), declined("in use"));
        assert_eq!(parse_result(ProvisionerTask::Delete, &json!({})), done(None, None));
    }

    #[test]
    fn refused_decision_names_its_first_wrong_field() {
        let param = |value: Value| {
            let body = value.as_object().cloned().unwrap_or_default();
            DecideServer::parse_decision(&body).err()?.param
        };
        for (value, wrong) in [
            (json!({ "action": "activate", "address": "10.0.0.1", "ref": "a" }), None),
            (json!({ "action": "fail", "reason": "no room" }), None),
            (json!({ "action": "delete" }), None),
            (json!({ "action": "release" }), None),
            (json!({}), Some("action")),
            (json!({ "action": "explode" }), Some("action")),
            (json!({ "action": "fail" }), Some("reason")),
            (json!({ "action": "fail", "reason": "" }), Some("reason")),
            (json!({ "action": "delete", "reason": "x" }), Some("reason")),
            (json!({ "action": "release", "address": "x" }), Some("address")),
            (json!({ "action": "fail", "reason": "x", "ref": "x" }), Some("ref")),
            (json!({ "action": "activate", "address": "a\tb" }), Some("address")),
            (json!({ "action": "activate", "id": "x" }), Some("id")),
        ] {
            assert_eq!(param(value.clone()).as_deref(), wrong, "{value}");
        }
    }
}
