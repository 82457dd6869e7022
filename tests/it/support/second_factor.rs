//! A production server with two operators, one of whom turns on the second factor.
//!
//! The clock is manual. The tests compute codes without Coffer's code.

use super::database::open_database;
use super::scratch::Scratch;
use super::{Response, agent, send};
use crate::support::body_text;
use bitcoin::hashes::hmac::{Hmac, HmacEngine};
use bitcoin::hashes::{Hash, HashEngine, sha1};
use coffer::clock::{ManualTime, TimeSource};
use coffer::domain::Time;
use coffer::http::PasswordLimits;
use coffer::service::users::passwords::Hasher;
use coffer::store::FileKind;
use coffer::{Config, Server};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

pub use super::sessions::SESSION;
pub const FACTOR: &str = "/dashboard/api/session/second-factor";
pub const CONFIRM: &str = "/dashboard/api/session/confirm";
pub const ANNA: &str = "anna@shop.test";
pub const BEN: &str = "ben@shop.test";
pub const PASSWORD: &str = "a long password";
pub const NULL: Value = Value::Null;
pub const STEP_MS: i64 = 30_000;
/// Initial time of the clock, in Unix milliseconds (2040).
pub const START_MS: i64 = 2_208_945_600_000;

/// A production server with two operators and a manual clock.
pub struct OperatorServer {
    pub server: Option<Server>,
    scratch: Scratch,
    time: Arc<ManualTime>,
    passed_ms: std::cell::Cell<i64>,
    /// Number of wrong passwords for one email, summed over all unknown clients, before sign-in is limited.
    shared_guesses_max: i64,
}

/// An operator with an active second factor.
pub struct FactorOwner {
    pub cookie: String,
    pub secret: String,
    pub recovery: Vec<String>,
}

impl OperatorServer {
    #[track_caller]
    pub fn open() -> OperatorServer {
        OperatorServer::with_guess_limit(40)
    }

    /// Starts a server. `guesses_of_all_max` is the number of wrong passwords for one email, summed over all unknown
    /// clients, before sign-in is limited.
    #[track_caller]
    pub fn with_guess_limit(guesses_of_all_max: i64) -> OperatorServer {
        static PASSWORD_HASH: OnceLock<String> = OnceLock::new();
        let hash = PASSWORD_HASH.get_or_init(|| Hasher::default().hash(PASSWORD).unwrap());
        let mut operators = OperatorServer {
            server: None,
            scratch: Scratch::new(),
            time: Arc::new(ManualTime::new(Time(START_MS))),
            passed_ms: std::cell::Cell::new(0),
            shared_guesses_max: guesses_of_all_max,
        };
        operators.start_server();
        for (id, email) in [("0001", ANNA), ("0002", BEN)] {
            let sql = "insert into users (id, email, password_hash, role, created_at) values (?1, ?2, ?3, 'operator', 0)";
            let id = format!("01a1fd55-7a80-7af2-9132-00000000{id}");
            operators.open_database().execute(sql, [&id, email, hash]).unwrap();
        }
        operators
    }

    /// Starts or restarts the server.
    #[track_caller]
    pub fn start_server(&mut self) {
        self.server = None;
        let config = Config {
            kind: FileKind::Production,
            file: Some(self.file()),
            time: TimeSource::Manual(Arc::clone(&self.time)),
            trusted_proxy: vec!["127.0.0.1/32".parse().unwrap()],
            password_limits: PasswordLimits {
                wait_ms_min: 900_000,
                shared_guesses_max: self.shared_guesses_max,
                ..PasswordLimits::default()
            },
            ..Config::sandbox()
        };
        self.server = Some(Server::start(config).unwrap());
    }

    pub fn open_database(&self) -> Connection {
        open_database(&self.file())
    }

    /// Returns the first value of an SQL query as text.
    #[track_caller]
    pub fn query_text(&self, sql: &str) -> String {
        let sql = format!("select ({sql}) || ''");
        self.open_database().query_row(&sql, [], |row| row.get(0)).unwrap()
    }

    pub fn advance_ms(&self, ms: i64) {
        self.time.advance(ms);
        self.passed_ms.set(self.passed_ms.get() + ms);
    }

    /// Changes the wall clock by this many milliseconds. A negative value sets the clock back.
    pub fn shift_wall_clock_ms(&self, ms: i64) {
        self.time.jump_wall_clock(ms);
        self.passed_ms.set(self.passed_ms.get() + ms);
    }

    /// Returns the code for this secret at a later time step. `steps` is the number of steps of 30 seconds from now.
    pub fn factor_code(&self, secret: &str, steps: i64) -> String {
        let ms = START_MS + self.passed_ms.get() + steps * STEP_MS;
        code_at_step(secret, ms / STEP_MS)
    }

    #[track_caller]
    pub fn request_from_address(
        &self,
        from: &str,
        cookie: &str,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Response {
        let url = format!("{}{path}", self.server.as_ref().unwrap().url());
        let headers = [("cookie", cookie), ("x-forwarded-for", from)];
        let body = body_text(body);
        send(&agent(), method, &url, &headers, &body)
    }

    #[track_caller]
    pub fn request(&self, cookie: &str, method: &str, path: &str, body: &Value) -> Response {
        self.request_from_address("192.0.2.1", cookie, method, path, body)
    }

    /// Signs in from this client address.
    #[track_caller]
    pub fn sign_in_from_address(&self, from: &str, email: &str, code: &Value) -> Response {
        let body = json!({ "email": email, "password": PASSWORD, "code": code });
        self.request_from_address(from, "", "POST", SESSION, &body)
    }

    #[track_caller]
    pub fn sign_in(&self, email: &str, code: &Value) -> Response {
        self.sign_in_from_address("192.0.2.1", email, code)
    }

    /// Signs in with only the password and returns the session cookie.
    #[track_caller]
    pub fn session_cookie(&self, email: &str) -> String {
        self.sign_in(email, &NULL).expect(201).session_cookie()
    }

    /// Turns on the second factor of the operator Anna.
    #[track_caller]
    pub fn turn_on_factor(&self) -> FactorOwner {
        let cookie = self.session_cookie(ANNA);
        let begun = self.request(&cookie, "POST", FACTOR, &NULL).expect(201).json();
        let secret = begun["secret"].as_str().unwrap().to_owned();
        let path = format!("{FACTOR}/confirm");
        let body = json!({ "code": self.factor_code(&secret, 0) });
        let on = self.request(&cookie, "POST", &path, &body).expect(200).json();
        let codes = on["codes"].as_array().unwrap().iter();
        let recovery = codes.map(|code| code.as_str().unwrap().to_owned());
        self.advance_ms(STEP_MS);
        FactorOwner { cookie, secret, recovery: recovery.collect() }
    }

    /// Returns actor, action and object of each audit log entry about second factors, oldest first.
    #[track_caller]
    pub fn factor_audit_entries(&self) -> String {
        self.query_text(
            "select group_concat(actor || ' ' || action || ' ' || object_id, '; ' order by seq) from audit_log \
             where action like 'user.second%' or action like 'user.recovery%'",
        )
    }

    /// Returns the path of the database.
    pub fn file(&self) -> PathBuf {
        self.scratch.path("shop.db")
    }
}

/// Computes the code of a time step by RFC 4226 and RFC 6238.
pub fn code_at_step(secret: &str, step: i64) -> String {
    let mut key = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for letter in secret.bytes() {
        let value = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".iter();
        let value = value.copied().position(|one| one == letter).unwrap();
        bits = bits << 5 | u32::try_from(value).unwrap();
        count += 5;
        if count >= 8 {
            count -= 8;
            key.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    assert_eq!(key.len(), 20);
    let mut engine = HmacEngine::<sha1::Hash>::new(&key);
    engine.input(&step.to_be_bytes());
    let hash = Hmac::<sha1::Hash>::from_engine(engine).to_byte_array();
    let at = usize::from(hash[19] & 0xf);
    let four: [u8; 4] = hash[at..at + 4].try_into().unwrap();
    format!("{:06}", (u32::from_be_bytes(four) & 0x7fff_ffff) % 1_000_000)
}

/// Returns a code that is not in this list.
pub fn code_not_in(not: &[String]) -> String {
    let codes = ["000000", "111111", "222222", "333333", "444444", "555555"];
    let mut codes = codes.iter().map(|code| (*code).to_owned());
    codes.find(|code| !not.contains(code)).unwrap()
}
