//! Access rules: every route of the operator interface is called with every role.

use crate::support::operator_interface::{OTHER_ACCOUNT, OperatorInterface};
use coffer::http::{Auth, Route, routes};
use serde_json::{Value, json};

/// Returns the routes that require a session, with their minimum role.
fn session_routes() -> impl Iterator<Item = (&'static Route, String)> {
    routes(true).filter_map(|route| match route.auth() {
        Auth::Session(role) => Some((route, role.as_str().to_owned())),
        _ => None,
    })
}

/// Returns the path of the route on this account. The other ids in the path belong to no object.
fn account_path(route: &Route, account: &str) -> String {
    let path = route.path.replace("{account}", account);
    let segment = |segment: &str| match segment {
        "{chain}" => "solana".to_owned(),
        "{asset}" => "SOL".to_owned(),
        "{pool}" => "solana".to_owned(),
        other if other.starts_with('{') => "01a1fd55-7a80-7af2-9132-000000000000".to_owned(),
        other => other.to_owned(),
    };
    let segments: Vec<String> = path.split('/').map(segment).collect();
    segments.join("/")
}

#[test]
fn every_route_checks_role_and_account() {
    let interface = OperatorInterface::open();
    let before = interface.audit_entry_count();
    let (mut of_accounts, mut of_operators) = (0, 0);
    for (route, role) in session_routes() {
        let code = |cookie: &str, account: &str| {
            let path = account_path(route, account);
            let body = if route.method == "GET" { Value::Null } else { json!({}) };
            let answer = interface.send(cookie, route.method, &path, &body);
            (answer.status, answer.json()["error"].clone())
        };
        let name = route.operation;
        let nobody = (401, json!("unauthorized"));
        assert_eq!(code("", &interface.account), nobody, "{name}");
        assert_eq!(code("coffer_session=0", &interface.account), nobody, "{name}");
        if role == "operator" {
            of_operators += 1;
            let forbidden = (403, json!("forbidden"));
            assert_eq!(code(&interface.merchant, &interface.account), forbidden, "{name}");
            assert_eq!(code(&interface.merchant, OTHER_ACCOUNT), forbidden, "{name}");
        } else if route.path.contains("{account}") {
            of_accounts += 1;
            let nothing = (404, json!("not_found"));
            assert_eq!(code(&interface.merchant, OTHER_ACCOUNT), nothing, "{name}");
            assert_eq!(code(&interface.stranger, &interface.account), nothing, "{name}");
            assert_eq!(code(&interface.merchant, "x"), nothing, "{name}");
        }
    }
    assert!(of_accounts >= 20 && of_operators >= 10, "{of_accounts} {of_operators}");
    assert_eq!(interface.audit_entry_count(), before, "nothing was done");
}
