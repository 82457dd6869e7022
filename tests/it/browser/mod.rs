//! Pages in a real browser, and the API reference at `/docs`.
//!
//! Tests start in the order of their names. The longest test, `pages::all_browser_tests_pass`, is among the first.

mod docs;
mod docs_clients;
mod pages;
