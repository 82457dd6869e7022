//! The operator interface of a sandbox with two accounts and a signed-in user for each role.

use super::database::query_value;
use super::{LIVE, Response, Shop};
use crate::support::body_text;
use rusqlite::Connection;
use serde_json::Value;

/// Id of the second account.
pub const OTHER_ACCOUNT: &str = "01a1fd55-7a80-7af2-9132-9b2fc82e5efe";

/// Resources of an account that live and test mode share.
const RESOURCES_WITHOUT_MODES: [&str; 9] = [
    "endpoints",
    "first-steps",
    "keys",
    "legacy-secret",
    "payout-addresses",
    "receipts",
    "reseller-tokens",
    "servers",
    "status",
];

/// A sandbox, the id of its account, and three session cookies: of the operator, of the account's user, and of the
/// other account's user.
pub struct OperatorInterface {
    pub shop: Shop,
    pub account: String,
    pub operator: String,
    pub merchant: String,
    pub stranger: String,
}

impl OperatorInterface {
    #[track_caller]
    pub fn open() -> OperatorInterface {
        OperatorInterface::with_shop(Shop::open())
    }

    /// Adds the second account and two users to this sandbox.
    #[track_caller]
    pub fn with_shop(shop: Shop) -> OperatorInterface {
        let conn = Connection::open(shop.file()).unwrap();
        // Adds the second account, and a user of each account with the operator's password.
        conn.execute_batch(&format!(
            "create temp table copied as select * from accounts;
             update copied set seq = 2, id = '{OTHER_ACCOUNT}';
             insert into accounts select * from copied;
             insert into users (id, email, password_hash, role, account, created_at)
               select 'm', 'merchant@sandbox.test', password_hash, 'merchant', 1, 0 from users limit 1;
             insert into users (id, email, password_hash, role, account, created_at)
               select 's', 'stranger@sandbox.test', password_hash, 'merchant', 2, 0 from users limit 1;"
        ))
        .unwrap();
        let merchant = shop.get("/v1/merchant", Some(LIVE)).expect(200).json();
        OperatorInterface {
            account: merchant["id"].as_str().unwrap().to_owned(),
            operator: shop.sign_in_operator(),
            merchant: shop.sign_in("merchant@sandbox.test"),
            stranger: shop.sign_in("stranger@sandbox.test"),
            shop,
        }
    }

    /// Advances the clock, and signs all users in again.
    #[track_caller]
    pub fn advance(&mut self, span: &str) {
        self.shop.advance(span);
        self.sign_in_again();
    }

    /// Signs all users in again, because a session lasts only twelve hours.
    #[track_caller]
    pub fn sign_in_again(&mut self) {
        self.operator = self.shop.sign_in_operator();
        self.merchant = self.shop.sign_in("merchant@sandbox.test");
        self.stranger = self.shop.sign_in("stranger@sandbox.test");
    }

    /// Returns the path of an account resource, in test mode if the resource has modes.
    pub fn path(&self, rest: &str) -> String {
        let path = format!("/dashboard/api/accounts/{}/{rest}", self.account);
        if RESOURCES_WITHOUT_MODES.contains(&rest.split(['/', '?']).next().unwrap()) {
            return path;
        }
        let sign = if rest.contains('?') { '&' } else { '?' };
        format!("{path}{sign}mode=test")
    }

    /// Sends a request with a session cookie.
    #[track_caller]
    pub fn send(&self, cookie: &str, method: &str, path: &str, body: &Value) -> Response {
        let body = body_text(body);
        self.shop.send(method, path, &[("cookie", cookie)], &body)
    }

    /// Gets an account resource in test mode as the operator.
    #[track_caller]
    pub fn get(&self, rest: &str) -> Value {
        self.get_path(&self.path(rest))
    }

    /// Reads from this path as the operator, and returns the JSON body.
    #[track_caller]
    pub fn get_path(&self, path: &str) -> Value {
        self.send_as_operator("GET", path, &Value::Null).expect(200).json()
    }

    /// Sends a request to this path as the operator.
    #[track_caller]
    pub fn send_as_operator(&self, method: &str, path: &str, body: &Value) -> Response {
        self.send(&self.operator, method, path, body)
    }

    /// Sends a request for the account in test mode as the operator.
    #[track_caller]
    pub fn request(&self, method: &str, rest: &str, body: &Value) -> Response {
        self.send_as_operator(method, &self.path(rest), body)
    }

    /// Returns actor and action of each audit log entry about the object with this id.
    #[track_caller]
    pub fn audit_entries(&self, id: &str) -> Vec<(String, String)> {
        let conn = Connection::open(self.shop.file()).unwrap();
        let mut rows = conn
            .prepare("select actor, action from audit_log where object_id = ?1 and account = 1 order by seq")
            .unwrap();
        let rows = rows.query_map([id], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// Sends a request for the account in test mode as the account's user.
    #[track_caller]
    pub fn request_as_merchant(&self, method: &str, rest: &str, body: &Value) -> Response {
        self.send(&self.merchant, method, &self.path(rest), body)
    }

    /// Returns the number of audit log entries.
    #[track_caller]
    pub fn audit_entry_count(&self) -> i64 {
        query_value(self.shop.file(), "select count(*) from audit_log")
    }

    /// Asserts the access rules of an operation. The status is 401 without a session, and 404 for an unknown account.
    /// If `operator_only` is `true`, the users of both accounts get 403. Otherwise, the user of the other account
    /// gets 404.
    #[track_caller]
    pub fn assert_access(&self, operation: &str, method: &str, rest: &str, operator_only: bool) {
        let path = self.path(rest);
        let code = |cookie: &str, path: &str| {
            let answer = self.send(cookie, method, path, &Value::Null);
            (answer.status, answer.json()["error"].clone())
        };
        let forbidden = (403, Value::from("forbidden"));
        let nothing = (404, Value::from("not_found"));
        if operator_only {
            assert_eq!(code(&self.merchant, &path), forbidden, "{operation}");
            assert_eq!(code(&self.stranger, &path), forbidden, "{operation}");
        } else {
            assert_eq!(code(&self.stranger, &path), nothing, "{operation}");
        }
        let other = path.replace(&self.account, "01a1fd55-7a80-7af2-9132-000000000000");
        assert_eq!(code(&self.operator, &other), nothing, "{operation}");
        let nobody = (401, Value::from("unauthorized"));
        assert_eq!(code("coffer_session=none", &path), nobody, "{operation}");
    }
}
