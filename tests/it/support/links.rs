//! Requests of a signed-in user for the payment links of an account.

use super::{Response, Shop, TEST};
use serde_json::Value;

/// A signed-in user and an account with payment links.
pub struct LinkClient<'a> {
    pub shop: &'a Shop,
    pub cookie: String,
    pub account: String,
}

impl LinkClient<'_> {
    /// Signs in the sandbox operator for the sandbox account.
    #[track_caller]
    pub fn sign_in(shop: &Shop) -> LinkClient<'_> {
        let merchant = shop.get("/v1/merchant", Some(TEST)).expect(200).json();
        LinkClient {
            shop,
            cookie: shop.sign_in_operator(),
            account: merchant["id"].as_str().unwrap().to_owned(),
        }
    }

    /// Returns a client with the same session for another account.
    pub fn for_account(&self, account: &str) -> LinkClient<'_> {
        LinkClient { shop: self.shop, cookie: self.cookie.clone(), account: account.to_owned() }
    }

    #[track_caller]
    fn send(&self, method: &str, path: &str, body: &str) -> Response {
        self.shop.send(method, path, &[("cookie", &self.cookie)], body)
    }

    /// Requests a new link in a mode.
    #[track_caller]
    pub fn create(&self, mode: &str, body: &Value) -> Response {
        let path = format!("/dashboard/api/accounts/{}/payment-links?mode={mode}", self.account);
        self.send("POST", &path, &body.to_string())
    }

    /// Creates a link in test mode.
    #[track_caller]
    pub fn create_test_link(&self, body: Value) -> Value {
        self.create("test", &body).expect(201).json()
    }

    /// Requests a page of links.
    #[track_caller]
    pub fn list(&self, query: &str) -> Response {
        let path = format!("/dashboard/api/accounts/{}/payment-links?{query}", self.account);
        self.send("GET", &path, "")
    }

    /// Requests one link of a mode.
    #[track_caller]
    pub fn get(&self, mode: &str, id: &str) -> Response {
        self.send("GET", &format!("{}?mode={mode}", self.link_path(id)), "")
    }

    /// Updates a link of test mode.
    #[track_caller]
    pub fn update(&self, link: &Value, body: Value) -> Response {
        let path = self.link_path(link["id"].as_str().unwrap());
        self.send("PATCH", &format!("{path}?mode=test"), &body.to_string())
    }

    /// Sends the form of the link's public page.
    #[track_caller]
    pub fn submit(&self, link: &Value) -> Response {
        self.shop.submit(&format!("/l/{}", link["id"].as_str().unwrap()), &[], "")
    }

    /// Creates an invoice on the link's public page, and returns its id.
    #[track_caller]
    pub fn create_invoice(&self, link: &Value) -> String {
        let answer = self.submit(link).expect(303);
        answer.headers["location"].split(['/', '?']).nth(2).unwrap().to_owned()
    }

    /// Returns the link with its present uses.
    #[track_caller]
    pub fn read(&self, link: &Value) -> Value {
        self.get("test", link["id"].as_str().unwrap()).expect(200).json()
    }

    /// Returns the path of an operation on a link, in a mode.
    pub fn path_below(&self, link: &Value, rest: &str, mode: &str) -> String {
        let path = self.link_path(link["id"].as_str().unwrap());
        format!("{path}/{rest}?mode={mode}")
    }

    fn link_path(&self, id: &str) -> String {
        format!("/dashboard/api/accounts/{}/payment-links/{id}", self.account)
    }
}
