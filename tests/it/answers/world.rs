//! A sandbox with one object of each kind and credentials of all callers.

use super::case::{Credential, RequestCase};
use super::document::Operation;
use super::objects::SeededObjects;
use crate::support::operator_interface::{OTHER_ACCOUNT, OperatorInterface};
use crate::support::{LIVE, Response, TEST};
use serde_json::{Value, json};

/// A valid id that no object has.
const UNUSED_ID: &str = "01a1fd55-7a80-7af2-9132-000000000000";

pub struct SeededSandbox {
    pub interface: OperatorInterface,
    objects: SeededObjects,
    foreign_key: String,
}

/// Owner of the objects in the path of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Own,
    /// The ids in the path belong to no object.
    Unknown,
    /// The objects in the path belong to another account, not to that of the caller.
    Foreign,
}

impl SeededSandbox {
    #[track_caller]
    pub fn open() -> SeededSandbox {
        let mut interface = OperatorInterface::open();
        let set = json!({ "set": "2099-01-01T00:00:00.000Z" });
        interface.shop.post("/sandbox/clock", None, set).expect(200);
        interface.sign_in_again();
        let objects = SeededObjects::create(&interface);
        let path = format!("/dashboard/api/accounts/{OTHER_ACCOUNT}/keys");
        let body = json!({ "class": "secret", "mode": "test" });
        let key = interface.send_as_operator("POST", &path, &body);
        SeededSandbox {
            foreign_key: key.json()["key"].as_str().unwrap().to_owned(),
            objects,
            interface,
        }
    }

    /// Returns a valid body of the operation, `None` if the operation has no body.
    pub fn valid_body(&self, operation: &Operation) -> Option<Value> {
        let mut body = match operation.id.as_str() {
            "createUser" => {
                json!({ "email": "ben@shop.test", "password": "a long password", "role": "operator" })
            }
            "changeOwnPassword" => {
                json!({ "password": "sandbox", "newPassword": "staple correct horse" })
            }
            "resendSince" => {
                json!({ "since": "2098-12-31T09:00:00.000Z", "endpoint": self.objects.ids["endpoints"] })
            }
            "selectCoin" => json!({ "asset": "BTC" }),
            "sandboxClock" => json!({ "advance": "1s" }),
            _ => operation.example.clone()?,
        };
        for name in ["invoice", "invoiceId"] {
            let is_to_pay =
                matches!(operation.id.as_str(), "sandboxPutPayment" | "createCheckoutSession");
            let id =
                if is_to_pay { &self.objects.invoice_open } else { &self.objects.invoice_paid };
            if let Some(value) = body.get_mut(name) {
                *value = json!(id);
            }
        }
        Some(body)
    }

    /// Prepares the sandbox so that the operation can succeed.
    pub fn prepare_sandbox_for(&self, operation: &Operation) {
        let shop = &self.interface.shop;
        match operation.id.as_str() {
            // An account may have one open payout only, so the existing payout is rejected first.
            "createPayout" | "createAccountPayout" => {
                let path = format!("/sandbox/payouts/{}", self.objects.ids["payouts"]);
                shop.post(&path, None, json!({ "action": "reject" }));
            }
            // Only a reset of the sandbox clears the count of failed sign-ins. The caller restores the file after the
            // reset.
            "signIn"
            | "confirmSecondFactor"
            | "endSecondFactor"
            | "confirmPassword"
            | "changeOwnPassword"
            | "setUp" => {
                shop.post("/sandbox/reset", None, json!({})).expect(200);
            }
            _ => (),
        }
    }

    pub fn send(&self, operation: &Operation, case: &RequestCase, owner: Owner) -> Response {
        let live = operation.path.contains("payout") && operation.path.contains("/v1/")
            || operation.id == "createAccountPayout"
            || operation.id == "getAccountPayout";
        let mut path = self.request_path(operation, case, owner);
        let mode = if live { "mode=live" } else { "mode=test" };
        let has_mode =
            operation.query.iter().any(|name| name == "mode") && !case.query.starts_with("mode");
        let query: Vec<&str> = [if has_mode { mode } else { "" }, &case.query]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        if !query.is_empty() {
            path = format!("{path}?{}", query.join("&"));
        }
        let mut headers = Vec::new();
        let credential = self.credential_header(operation, case.credential, owner, live);
        if let Some((name, value)) = &credential {
            headers.push((*name, value.as_str()));
        }
        if let Some(key) = &case.idempotency_key {
            headers.push(("Idempotency-Key", key));
        }
        self.interface.shop.send(&operation.method, &path, &headers, &case.body)
    }

    fn credential_header(
        &self,
        operation: &Operation,
        credential: Credential,
        owner: Owner,
        is_live: bool,
    ) -> Option<(&'static str, String)> {
        let scheme = operation.scheme.as_deref()?;
        let cookie = |value: &str| ("cookie", value.to_owned());
        let key = |value: &str| ("x-api-key", value.to_owned());
        let interface = &self.interface;
        Some(match (credential, scheme) {
            (Credential::Absent, _) => return None,
            (Credential::Right, "session") if owner == Owner::Foreign => {
                cookie(&interface.stranger)
            }
            (Credential::Right, "session") => cookie(&interface.operator),
            (Credential::Other, "session") => cookie(&interface.merchant),
            (Credential::Unknown, "session") => cookie("coffer_session=unknown"),
            (Credential::Right, "reseller") => ("authorization", "Bearer rt_sandbox".to_owned()),
            (Credential::Other, "reseller") => ("authorization", format!("Bearer {TEST}")),
            (Credential::Unknown, "reseller") => ("authorization", "Bearer rt_unknown".to_owned()),
            (Credential::Right, "publicKey") => key("pk_test_sandbox"),
            (Credential::Other, "publicKey") => key(TEST),
            (Credential::Right, _) if owner == Owner::Foreign => key(&self.foreign_key),
            (Credential::Right, _) => key(if is_live { LIVE } else { TEST }),
            (Credential::Other, _) => key("pk_test_sandbox"),
            (Credential::Unknown, _) => key("sk_test_unknown"),
        })
    }

    fn request_path(&self, operation: &Operation, case: &RequestCase, owner: Owner) -> String {
        let mut collection = "";
        let parts = operation.path.split('/').map(|part| {
            let before = std::mem::replace(&mut collection, part);
            match part {
                "{account}" if owner == Owner::Unknown => UNUSED_ID.to_owned(),
                "{account}" => self.interface.account.clone(),
                part if !part.starts_with('{') => part.to_owned(),
                _ if case.id.is_some() => case.id.unwrap_or_default().to_owned(),
                _ if owner == Owner::Unknown => UNUSED_ID.to_owned(),
                _ => self.object_id(operation, before),
            }
        });
        parts.collect::<Vec<_>>().join("/")
    }

    fn object_id(&self, operation: &Operation, collection: &str) -> String {
        let is_open = matches!(
            operation.id.as_str(),
            "selectCoin"
                | "simulatePayment"
                | "cancelInvoice"
                | "cancelAccountInvoice"
                | "sandboxCancelInvoice"
        );
        match collection {
            "invoices" if is_open => self.objects.invoice_open.clone(),
            "invoices" => self.objects.invoice_paid.clone(),
            _ => self.objects.ids[collection].clone(),
        }
    }
}
