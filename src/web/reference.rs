//! The fields of the API reference, `/docs`. `http` fills them from the OpenAPI documents.
//!
//! Invariant: every field is escaped when it is inserted.

use askama::Template;

/// Shell example that checks a signature.
pub const VERIFY_SHELL: &str = include_str!("docs/verify.sh");
/// Python example that checks a signature.
pub const VERIFY_PYTHON: &str = include_str!("docs/verify.py");
/// Node example that checks a signature.
pub const VERIFY_NODE: &str = include_str!("docs/verify.mjs");

/// The reference page.
#[derive(Template)]
#[template(path = "docs/reference.html", config = "src/web/askama.toml")]
pub struct Reference {
    /// Base URL of the server.
    pub url: String,
    /// `true` for a sandbox, whose keys are public.
    pub is_sandbox: bool,
    /// Operations, grouped by topic.
    pub groups: Vec<Group>,
    /// Headers of every webhook.
    pub webhook_headers: Vec<Field>,
    /// Webhooks.
    pub webhooks: Vec<Webhook>,
    /// Error codes.
    pub refusals: Vec<Refusal>,
    /// Objects in requests and responses.
    pub objects: Vec<Object>,
}

/// The operations of one topic.
pub struct Group {
    /// Fragment identifier on the page.
    pub id: String,
    /// Name.
    pub name: String,
    /// Description in one sentence.
    pub about: String,
    /// Operations.
    pub operations: Vec<Operation>,
}

/// One operation.
pub struct Operation {
    /// Name, also the fragment identifier on the page.
    pub id: String,
    /// HTTP method: GET, POST, PUT, PATCH or DELETE.
    pub method: String,
    /// Path, with parameters in braces.
    pub path: String,
    /// Description in one line.
    pub summary: String,
    /// Credential that the caller must present.
    pub caller: &'static str,
    /// Sandbox credential sent by examples: `secret`, `public`, `reseller`, `session` or empty.
    pub key: &'static str,
    /// Parameters in path, query and headers.
    pub parameters: Vec<Field>,
    /// Request body.
    pub body: Option<Body>,
    /// Successful responses.
    pub answers: Vec<Answer>,
    /// Error responses.
    pub refusals: Vec<Refused>,
    /// Example as a curl command.
    pub curl: String,
}

/// A field of a body, or a parameter.
pub struct Field {
    /// Name, with the names of the enclosing objects.
    pub name: String,
    /// Location of a parameter: path, query or header. Empty for a field.
    pub place: String,
    /// Type in words.
    pub kind: String,
    /// Names of the object types that the field may have.
    pub objects: Vec<String>,
    /// `true` if the field is required.
    pub is_required: bool,
    /// Description.
    pub about: String,
    /// Range, length and format.
    pub rules: Vec<String>,
    /// Introduction to `values`.
    pub values_are: &'static str,
    /// Allowed or known values, if they form a list.
    pub values: Vec<String>,
    /// Regular expression for the value.
    pub pattern: Option<String>,
}

/// A request body.
pub struct Body {
    /// Description.
    pub about: String,
    /// `true` if the body is required.
    pub is_required: bool,
    /// Fields.
    pub fields: Vec<Field>,
    /// Example in JSON.
    pub example: String,
}

/// A response.
pub struct Answer {
    /// HTTP status.
    pub status: String,
    /// Description.
    pub about: String,
    /// Kind of content: none, JSON, CSV or text.
    pub content: String,
    /// Name of the object in the response.
    pub object: Option<String>,
    /// Example in JSON.
    pub example: String,
}

/// The errors of an operation with one status.
pub struct Refused {
    /// HTTP status.
    pub status: String,
    /// Error codes.
    pub codes: Vec<String>,
}

/// A webhook.
pub struct Webhook {
    /// Event type.
    pub name: String,
    /// Description in one line.
    pub summary: String,
    /// Example of the body, in JSON.
    pub example: String,
}

/// An error code.
pub struct Refusal {
    /// Error code.
    pub code: String,
    /// HTTP status.
    pub status: String,
    /// Example of the message.
    pub message: String,
}

/// An object in requests or responses.
pub struct Object {
    /// Name.
    pub name: String,
    /// Description.
    pub about: String,
    /// Fields.
    pub fields: Vec<Field>,
}
