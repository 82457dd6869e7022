//! Fields of the API reference page, `/docs`. `http` fills them from the OpenAPI documents.
//!
//! Invariant: every field is escaped when it is inserted.

use askama::Template;

/// Shell example that verifies a webhook signature.
pub const VERIFY_SHELL: &str = include_str!("docs/verify.sh");
/// Python example that verifies a webhook signature.
pub const VERIFY_PYTHON: &str = include_str!("docs/verify.py");
/// Node example that verifies a webhook signature.
pub const VERIFY_NODE: &str = include_str!("docs/verify.mjs");

/// Content of the API reference page.
#[derive(Template)]
#[template(path = "docs/reference.html", config = "src/web/askama.toml")]
pub struct Reference {
    /// Base URL of the server.
    pub url: String,
    /// `true` for a sandbox, whose keys are public.
    pub is_sandbox: bool,
    /// Operations of the server, grouped by topic.
    pub groups: Vec<Group>,
    /// Headers that every webhook delivery has.
    pub webhook_headers: Vec<Field>,
    /// Webhooks that the service sends.
    pub webhooks: Vec<Webhook>,
    /// Error codes of all operations.
    pub refusals: Vec<ErrorDoc>,
    /// Objects that requests and responses contain.
    pub objects: Vec<ObjectDoc>,
}

/// A group of operations with one topic.
pub struct Group {
    /// Fragment identifier of the group on the page.
    pub id: String,
    /// Name of the topic.
    pub name: String,
    /// Description of the topic in one sentence.
    pub about: String,
    /// Operations of the group.
    pub operations: Vec<OperationDoc>,
}

/// An operation in the API reference.
pub struct OperationDoc {
    /// Name of the operation, which is also its fragment identifier on the page.
    pub id: String,
    /// HTTP method: GET, POST, PUT, PATCH or DELETE.
    pub method: String,
    /// Path, with its parameters in braces.
    pub path: String,
    /// Description of the operation in one line.
    pub summary: String,
    /// Phrase for the credentials that the caller must send.
    pub caller: &'static str,
    /// Kind of credentials in the curl example: `secret`, `public`, `reseller`, `session` or empty.
    pub key: &'static str,
    /// Parameters of the path, the query and the headers.
    pub parameters: Vec<Field>,
    /// Request body, `None` for an operation without a body.
    pub body: Option<Body>,
    /// Successful responses of the operation.
    pub answers: Vec<ResponseDoc>,
    /// Error responses of the operation, grouped by status.
    pub refusals: Vec<ErrorGroup>,
    /// Example of a request as a curl command.
    pub curl: String,
}

/// A field of a body, or a parameter of an operation.
pub struct Field {
    /// Name, prefixed by the names of the enclosing objects.
    pub name: String,
    /// Location of a parameter: `path`, `query` or `header`. Empty for a field of a body.
    pub place: String,
    /// Type in words, for example `string or null`.
    pub kind: String,
    /// Names of the objects that the field may contain. The page links to these objects.
    pub objects: Vec<String>,
    /// `true` if the field is required.
    pub is_required: bool,
    /// Description of the field.
    pub about: String,
    /// Ranges, lengths and defaults, in words.
    pub rules: Vec<String>,
    /// Words that introduce `values`: `one of`, `such as` or `always`.
    pub values_are: &'static str,
    /// Allowed values or examples of values.
    pub values: Vec<String>,
    /// Regular expression that the value must match.
    pub pattern: Option<String>,
}

/// Request body of an operation.
pub struct Body {
    /// Description of the body.
    pub about: String,
    /// `true` if the body is required.
    pub is_required: bool,
    /// Fields of the body.
    pub fields: Vec<Field>,
    /// Example of the body, as JSON.
    pub example: String,
}

/// A successful response of an operation.
pub struct ResponseDoc {
    /// HTTP status, or `other` for all statuses that are not listed.
    pub status: String,
    /// Description of the response.
    pub about: String,
    /// Content type of the response, empty for a response without content.
    pub content: String,
    /// Name of the object in the response, if there is one.
    pub object: Option<String>,
    /// Example of the response, as JSON.
    pub example: String,
}

/// Error responses of an operation that have the same status.
pub struct ErrorGroup {
    /// HTTP status.
    pub status: String,
    /// Error codes with this status.
    pub codes: Vec<String>,
}

/// A webhook in the API reference.
pub struct Webhook {
    /// Event type of the webhook.
    pub name: String,
    /// Description of the webhook in one line.
    pub summary: String,
    /// Example of the webhook's body, as JSON.
    pub example: String,
}

/// An error code in the API reference.
pub struct ErrorDoc {
    /// Error code, as in the field `error` of the body.
    pub code: String,
    /// HTTP status of the error.
    pub status: String,
    /// Example of the error's message.
    pub message: String,
}

/// An object that requests or responses contain.
pub struct ObjectDoc {
    /// Name of the object.
    pub name: String,
    /// Description of the object.
    pub about: String,
    /// Fields of the object.
    pub fields: Vec<Field>,
}
