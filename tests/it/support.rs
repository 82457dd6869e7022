//! Helpers of all integration tests: a sandbox with a client, and the modules for nodes, servers and processes.

pub mod anvil;
pub mod audit;
pub mod audit_log;
pub mod browser;
pub mod command;
pub mod database;
pub mod dice;
mod documented_errors;
pub mod electrum_proxy;
pub mod electrumx;
pub mod exchanges;
pub mod golden;
pub mod header_server;
pub mod installation;
mod invoice_state;
pub mod links;
pub mod litecoind;
pub mod operator_interface;
pub mod payer;
pub mod pebble;
pub mod polling;
pub mod ports;
pub mod process;
pub mod pty;
pub mod received;
pub mod receiver;
pub mod regtest;
pub mod resource;
pub mod rpc_proxy;
pub mod sandbox_file;
pub mod scratch;
pub mod second_factor;
pub mod sessions;
pub mod smtpd;
pub mod step_follower;
pub mod stream;
pub mod surfpool;
pub mod tls_relay;
pub mod tools;
mod transfers;
pub mod tron;

use coffer::{Config, Server};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Secret key of test mode.
pub const TEST: &str = "sk_test_sandbox";
/// Secret key of live mode, which the sandbox simulates.
pub const LIVE: &str = "sk_live_sandbox";

/// An HTTP response.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub text: String,
}

impl Response {
    /// Parses the body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// Returns the id of the object in the body.
    #[track_caller]
    pub fn id(&self) -> String {
        object_id(&self.json())
    }

    /// Returns the session cookie that the response sets.
    #[track_caller]
    pub fn session_cookie(&self) -> String {
        let set = &self.headers["set-cookie"];
        set.split(';').next().unwrap().to_owned()
    }

    /// Asserts the status and returns the response.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// Asserts that the response is an error with this status, code and field.
    #[track_caller]
    pub fn assert_error(&self, status: u16, code: &str, param: Option<&str>) {
        let body = self.json();
        assert_eq!(
            (self.status, &body["error"], body["param"].as_str()),
            (status, &json!(code), param),
            "{}",
            self.text
        );
        assert_eq!(body["requestId"], self.headers["x-request-id"]);
        assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()));
    }
}

/// A sandbox with a stopped clock, and a client for it.
pub struct Shop {
    server: Server,
    agent: ureq::Agent,
}

impl Shop {
    /// Starts a sandbox on a temporary file.
    #[track_caller]
    pub fn open() -> Shop {
        Shop::with_config(Config::sandbox())
    }

    /// Starts a sandbox with this configuration.
    #[track_caller]
    pub fn with_config(config: Config) -> Shop {
        let shop = Shop { server: Server::start(config).unwrap(), agent: agent() };
        shop.post("/sandbox/clock", None, json!({ "frozen": true })).expect(200);
        shop
    }

    /// Returns the base URL, without `/v1`.
    pub fn url(&self) -> &str {
        self.server.url()
    }

    /// Returns the path of the database. A test may open the database while the server runs.
    pub fn file(&self) -> &std::path::Path {
        self.server.file()
    }

    /// Sends a request. The body is sent unchanged.
    #[track_caller]
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        send(&self.agent, method, &format!("{}{path}", self.url()), headers, body)
    }

    /// Sends a GET request with a key.
    #[track_caller]
    pub fn get(&self, path: &str, key: Option<&str>) -> Response {
        self.send("GET", path, &auth_header(key), "")
    }

    /// Returns the entries of a list.
    #[track_caller]
    pub fn list_entries(&self, path: &str, key: &str) -> Vec<Value> {
        let list = self.get(path, Some(key)).expect(200).json();
        list["data"].as_array().unwrap().clone()
    }

    /// Returns the ids of the objects of a list.
    #[track_caller]
    pub fn list_ids(&self, path: &str, key: &str) -> Vec<String> {
        self.list_entries(path, key).iter().map(object_id).collect()
    }

    /// Sends a POST request with a key and a JSON body.
    #[track_caller]
    pub fn post(&self, path: &str, key: Option<&str>, body: Value) -> Response {
        self.send("POST", path, &auth_header(key), &body.to_string())
    }

    /// Updates the simulated account.
    #[track_caller]
    pub fn update_account(&self, body: Value) -> Response {
        self.send("PATCH", "/sandbox/account", &[], &body.to_string()).expect(200)
    }

    /// Advances the clock. All work that becomes due is done when this function returns.
    #[track_caller]
    pub fn advance(&self, span: &str) {
        self.post("/sandbox/clock", None, json!({ "advance": span })).expect(200);
    }

    /// Creates a test invoice in EUR. `more` has further fields.
    #[track_caller]
    pub fn create_invoice(&self, amount: &str, more: Value) -> Value {
        let body = with_fields(json!({ "amount": amount, "currency": "EUR" }), &more);
        self.post("/v1/invoices", Some(TEST), body).expect(201).json()
    }

    /// Returns the current state of a test invoice.
    #[track_caller]
    pub fn get_invoice(&self, id: &str) -> Value {
        self.get(&format!("/v1/invoices/{id}"), Some(TEST)).expect(200).json()
    }

    /// Returns the time of the sandbox clock.
    #[track_caller]
    pub fn now(&self) -> String {
        let state = self.get("/sandbox", None).expect(200).json();
        state["time"].as_str().unwrap().to_owned()
    }

    /// Cancels an invoice, as the operator interface does.
    #[track_caller]
    pub fn cancel_invoice(&self, id: &str) -> Response {
        self.send("POST", &format!("/sandbox/invoices/{id}/cancel"), &[], "")
    }

    /// Returns all webhook deliveries with their attempts, ordered by their events.
    #[track_caller]
    pub fn deliveries(&self) -> Vec<Value> {
        let (mut all, mut before) = (Vec::new(), String::new());
        loop {
            let path = format!("/sandbox/webhooks{before}");
            let page = self.get(&path, None).expect(200).json();
            let older = page["data"].as_array().unwrap().iter().cloned();
            all.splice(0..0, older);
            match page["nextBefore"].as_str() {
                Some(next) => before = format!("?before={next}"),
                None => return all,
            }
        }
    }

    /// Creates a payment on a simulated chain and returns the payment id.
    #[track_caller]
    pub fn pay(&self, body: Value) -> String {
        self.post("/sandbox/payments", None, body).expect(201).id()
    }

    /// Sets the state of a payment on its simulated chain.
    #[track_caller]
    pub fn set_payment_state(&self, payment: &str, state: &str) -> Value {
        let path = format!("/sandbox/payments/{payment}");
        self.post(&path, None, json!({ "state": state })).expect(200).json()
    }

    /// Returns the types of the events about an object, oldest first.
    #[track_caller]
    pub fn event_types(&self, object: &str, key: &str) -> Vec<String> {
        let path = format!("/v1/events?limit=200&object={object}");
        let events = self.get(&path, Some(key)).expect(200).json();
        let types = events["data"].as_array().unwrap().iter();
        types.map(|event| event["type"].as_str().unwrap().to_owned()).rev().collect()
    }
}

/// Returns the id of an object.
#[track_caller]
pub fn object_id(object: &Value) -> String {
    object["id"].as_str().unwrap().to_owned()
}

/// Returns the ids of the objects of a list.
#[track_caller]
pub fn object_ids(list: &Value) -> Vec<String> {
    list["data"].as_array().unwrap().iter().map(object_id).collect()
}

/// Returns the text of a request body. The text of `null` is empty.
pub fn body_text(body: &Value) -> String {
    if body.is_null() { String::new() } else { body.to_string() }
}

/// Returns an object with these further fields.
pub fn with_fields(mut object: Value, fields: &Value) -> Value {
    let fields = fields.as_object().unwrap().clone();
    object.as_object_mut().unwrap().extend(fields);
    object
}

/// Returns the header that contains the key.
fn auth_header(key: Option<&str>) -> Vec<(&str, &str)> {
    key.map(|key| ("X-API-Key", key)).into_iter().collect()
}

/// Returns a key or token with a wrong last letter.
pub fn with_typo(key: &str) -> String {
    let other = if key.ends_with('x') { 'y' } else { 'x' };
    format!("{}{other}", &key[..key.len() - 1])
}

/// Returns an HTTP client that keeps connections alive and accepts every status.
pub fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build().into()
}

/// Sends a request to any server.
#[track_caller]
pub fn send(
    agent: &ureq::Agent,
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    let mut request = ureq::http::Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(body.to_owned()).unwrap();
    let config = agent.configure_request(request).allow_non_standard_methods(true);
    let mut response = agent.run(config.build()).unwrap();
    let headers = response.headers().iter();
    let headers =
        headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    let answer = Response {
        status: response.status().as_u16(),
        headers: headers.collect(),
        text: response.body_mut().read_to_string().unwrap(),
    };
    documented_errors::assert_documented(method, url, &answer);
    answer
}
