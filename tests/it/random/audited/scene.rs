//! A shop with two accounts, the objects created in it, and the connections.

use crate::support::audit_log::record_direct_writes;
use crate::support::command::run_coffer_json;
use crate::support::dice::Dice;
use crate::support::operator_interface::OTHER_ACCOUNT;
use crate::support::{LIVE, Response, Shop, TEST, agent, send};
use coffer::Config;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Mutex;

/// Maximum number of remembered objects of a kind. Operations choose from these objects.
const REMEMBERED_MAX: usize = 300;
/// Maximum number of remembered transfers. The number is small so that new transfers soon replace ended ones, which
/// accept no operation.
const TRANSFERS_REMEMBERED_MAX: usize = 8;

/// An account, and test or live mode.
#[derive(Clone, Debug)]
pub(super) struct AccountMode {
    /// Id of the account.
    pub(super) account: String,
    /// Secret key of the account.
    pub(super) key: String,
    pub(super) mode: &'static str,
}

/// Created objects of one kind: for each, the index of its [`AccountMode`], and its id or address.
pub(super) struct CreatedObjects {
    most: usize,
    known: Mutex<Vec<(usize, String)>>,
}

impl CreatedObjects {
    const fn new(most: usize) -> CreatedObjects {
        let known = Mutex::new(Vec::new());
        CreatedObjects { most, known }
    }

    /// Remembers an object. If the maximum is reached, the new object replaces a random one.
    pub(super) fn add(&self, side: usize, thing: &str, dice: &mut Dice) {
        let mut things = self.known.lock().unwrap();
        if things.len() < self.most {
            things.push((side, thing.to_owned()));
        } else {
            things[dice.roll(self.most)] = (side, thing.to_owned());
        }
    }

    /// Returns a random object: the index of its [`AccountMode`], and its id or address.
    pub(super) fn pick_random(&self, dice: &mut Dice) -> Option<(usize, String)> {
        let things = self.known.lock().unwrap();
        (!things.is_empty()).then(|| things[dice.roll(things.len())].clone())
    }
}

/// A shop, and the objects that all connections share.
pub(super) struct AuditedShop {
    pub(super) shop: Shop,
    pub(super) sides: Vec<AccountMode>,
    cookie: Mutex<String>,
    pub(super) invoices: CreatedObjects,
    pub(super) payments: CreatedObjects,
    pub(super) addresses: CreatedObjects,
    pub(super) payouts: CreatedObjects,
    pub(super) refunds: CreatedObjects,
}

impl AuditedShop {
    /// Opens a shop with two accounts that have all features.
    #[track_caller]
    pub(super) fn open(file: &Path) -> AuditedShop {
        let shop = Shop::with_config(Config { file: Some(file.to_owned()), ..Config::sandbox() });
        let inbox = format!("{}/sandbox/inbox/shop", shop.url());
        shop.update_account(json!({ "endpoints": [{ "url": inbox }] }));
        Connection::open(file)
            .unwrap()
            .execute_batch(&format!(
                "create temp table copied as select * from accounts;
                 update copied set seq = 2, id = '{OTHER_ACCOUNT}';
                 insert into accounts select * from copied;
                 insert into payout_addresses select 2, chain, address, changed_at from payout_addresses;
                 insert into endpoints (id, account, url, secret, format, enabled, created_at)
                   select 'second', 2, url, secret, 'legacy', 1, created_at from endpoints where removed_at is null;"
            ))
            .unwrap();
        record_direct_writes(file);
        let first = shop.get("/v1/merchant", Some(LIVE)).expect(200).json();
        let side = |account: &str, key: String, mode| AccountMode {
            account: account.to_owned(),
            key,
            mode,
        };
        let other = |mode| {
            let create = ["key", "create", OTHER_ACCOUNT, "--sandbox", "--mode", mode];
            let made = run_coffer_json(file, &create);
            side(OTHER_ACCOUNT, made["key"].as_str().unwrap().to_owned(), mode)
        };
        let account = first["id"].as_str().unwrap();
        let sides = vec![
            side(account, TEST.to_owned(), "test"),
            side(account, LIVE.to_owned(), "live"),
            other("test"),
            other("live"),
        ];
        let cookie = Mutex::new(shop.sign_in_operator());
        AuditedShop {
            shop,
            sides,
            cookie,
            invoices: CreatedObjects::new(REMEMBERED_MAX),
            payments: CreatedObjects::new(REMEMBERED_MAX),
            addresses: CreatedObjects::new(REMEMBERED_MAX),
            payouts: CreatedObjects::new(TRANSFERS_REMEMBERED_MAX),
            refunds: CreatedObjects::new(TRANSFERS_REMEMBERED_MAX),
        }
    }
}

/// A connection with its own random number generator.
pub(super) struct Caller<'a> {
    pub(super) scene: &'a AuditedShop,
    pub(super) dice: Dice,
    agent: ureq::Agent,
    place: String,
    doing: &'static str,
    last: String,
}

impl<'a> Caller<'a> {
    pub(super) fn new(scene: &'a AuditedShop, seed: u64, number: u64) -> Caller<'a> {
        let place = format!("seed {seed}, connection {number}");
        let seed = seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(number);
        Caller {
            scene,
            dice: Dice::new(seed),
            agent: agent(),
            place,
            doing: "",
            last: String::new(),
        }
    }

    /// Sets the name of the current operation for failure messages.
    pub(super) fn set_operation_name(&mut self, doing: &'static str) {
        (self.doing, self.last) = (doing, String::new());
    }

    /// Returns the index of a random [`AccountMode`].
    pub(super) fn random_account_mode(&mut self) -> usize {
        self.dice.roll(self.scene.sides.len())
    }

    /// Sends a request with a JSON body, or with an empty body if the body is null.
    pub(super) fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Response {
        self.last = format!("{method} {path} {body}");
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let url = format!("{}{path}", self.scene.shop.url());
        send(&self.agent, method, &url, headers, &text)
    }

    /// Sends a request with the secret key of an account in a mode.
    pub(super) fn send_as_merchant(
        &mut self,
        side: usize,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Response {
        let key = &self.scene.sides[side].key;
        self.send(method, path, &[("X-API-Key", key)], body)
    }

    /// Sends a request to the sandbox interface, without a key.
    pub(super) fn send_to_sandbox(&mut self, method: &str, path: &str, body: &Value) -> Response {
        self.send(method, path, &[], body)
    }

    /// Sends a request as the operator. Signs in again if the session has ended.
    pub(super) fn send_as_operator(&mut self, method: &str, path: &str, body: &Value) -> Response {
        let cookie = self.scene.cookie.lock().unwrap().clone();
        let answer = self.send(method, path, &[("cookie", &cookie)], body);
        if answer.status != 401 {
            return answer;
        }
        let mut present = self.scene.cookie.lock().unwrap();
        if *present == cookie {
            *present = self.scene.shop.sign_in_operator();
        }
        let cookie = present.clone();
        drop(present);
        self.send(method, path, &[("cookie", &cookie)], body)
    }

    /// Sends an operator request about an account in a mode.
    pub(super) fn send_about_account(
        &mut self,
        side: usize,
        method: &str,
        rest: &str,
        body: &Value,
    ) -> Response {
        let AccountMode { account, mode, .. } = &self.scene.sides[side];
        let sign = if rest.contains('?') { '&' } else { '?' };
        let path = format!("/dashboard/api/accounts/{account}/{rest}{sign}mode={mode}");
        self.send_as_operator(method, &path, body)
    }
}

impl Drop for Caller<'_> {
    #[expect(clippy::print_stderr, reason = "where a failure happened is shown")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}, {}: {}", self.place, self.doing, self.last);
        }
    }
}

/// Returns the field `id` of the response if the request created an object.
pub(super) fn created_id(answer: &Response) -> Option<String> {
    let made = (answer.status < 300).then(|| answer.json())?;
    made["id"].as_str().map(str::to_owned)
}
