//! Renders an operation as a curl command.
//!
//! Invariant: the command's shell quotes are balanced for any example.

use super::DocumentedServer;
use crate::http::route::Route;
use serde_json::Value;

/// Returns the curl command of an operation. `example` is the JSON body to send. An operation whose body is a file gets
/// a placeholder for its path.
pub(super) fn curl_command(
    server: &DocumentedServer<'_>,
    route: &Route,
    key: &str,
    example: Option<&Value>,
) -> String {
    let mut url = String::new();
    for (at, segment) in route.path.split('/').enumerate() {
        if at > 0 {
            url.push('/');
        }
        match segment.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) => {
                url.push('$');
                url.push_str(&name.to_ascii_uppercase());
            }
            None => url.push_str(segment),
        }
    }
    let mut command = format!("curl {}{url}", server.url);
    let is_usual = route.method == if example.is_some() { "POST" } else { "GET" };
    if !is_usual {
        command.push_str(&format!(" -X {}", route.method));
    }
    command.push_str(credentials_option(key, server.is_sandbox));
    if let Some(body) = example {
        command.push_str(&format!(" -d '{}'", body.to_string().replace('\'', r"'\''")));
    }
    if route.upload.is_some() {
        command.push_str(" --data-binary \"@$FILE\"");
    }
    command
}

/// Returns the curl option that sends credentials of the kind `key`. Returns an empty text if no credentials are
/// needed.
fn credentials_option(key: &str, is_sandbox: bool) -> &'static str {
    match (key, is_sandbox) {
        ("secret", true) => " -H 'X-API-Key: sk_test_sandbox'",
        ("secret", false) => " -H \"X-API-Key: $SECRET_KEY\"",
        ("public", true) => " -H 'X-API-Key: pk_test_sandbox'",
        ("public", false) => " -H \"X-API-Key: $PUBLIC_KEY\"",
        ("reseller", true) => " -H 'Authorization: Bearer rt_sandbox'",
        ("reseller", false) => " -H \"Authorization: Bearer $TOKEN\"",
        ("session", _) => " -b cookies.txt",
        _ => "",
    }
}
