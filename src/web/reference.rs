//! The fields of the reference, `/docs`: every operation, webhook, error and object, as a reader sees them.
//!
//! What lives here: one type for each part of the page. What does not: markup, which is in `docs/`, and what is told,
//! which `http` reads from the OpenAPI documents. What always holds: every field is escaped when it is put in.

use askama::Template;

/// Checks a signature by curl's neighbours in a shell.
pub const VERIFY_SHELL: &str = include_str!("docs/verify.sh");
/// Checks a signature in Python.
pub const VERIFY_PYTHON: &str = include_str!("docs/verify.py");
/// Checks a signature in Node.
pub const VERIFY_NODE: &str = include_str!("docs/verify.mjs");

/// The page.
#[derive(Template)]
#[template(path = "docs/reference.html", config = "src/web/askama.toml")]
pub struct Reference {
    /// The server's url.
    pub url: String,
    /// Is it a sandbox, whose keys everybody knows?
    pub is_sandbox: bool,
    /// The operations, by what they are about.
    pub groups: Vec<Group>,
    /// The headers of every webhook.
    pub webhook_headers: Vec<Field>,
    /// The webhooks.
    pub webhooks: Vec<Webhook>,
    /// What may go wrong.
    pub refusals: Vec<Refusal>,
    /// What operations are sent and answer with.
    pub objects: Vec<Object>,
}

/// Operations about one thing.
pub struct Group {
    /// What it is called in the address of the page.
    pub id: String,
    /// Its name.
    pub name: String,
    /// A sentence about it.
    pub about: String,
    /// Its operations.
    pub operations: Vec<Operation>,
}

/// One operation.
pub struct Operation {
    /// Its name, which is its place on the page.
    pub id: String,
    /// GET, POST, PUT, PATCH or DELETE.
    pub method: String,
    /// Its path, parameters in braces.
    pub path: String,
    /// One line about it.
    pub summary: String,
    /// What who calls it has to show.
    pub caller: &'static str,
    /// What of a sandbox's keys is sent with it: `secret`, `public`, `reseller`, `session` or nothing.
    pub key: &'static str,
    /// What stands in its path, its query and its headers.
    pub parameters: Vec<Field>,
    /// What it is sent.
    pub body: Option<Body>,
    /// How it answers where it does what it is asked.
    pub answers: Vec<Answer>,
    /// Its refusals.
    pub refusals: Vec<Refused>,
    /// It as a command.
    pub curl: String,
}

/// A field of a body, or a parameter.
pub struct Field {
    /// Its name, with the names of what it is in.
    pub name: String,
    /// Where a parameter stands: path, query or header; nothing for a field.
    pub place: String,
    /// Its type in words.
    pub kind: String,
    /// The objects that it may be.
    pub objects: Vec<String>,
    /// Must it be there?
    pub is_required: bool,
    /// What it is.
    pub about: String,
    /// Its range, its length, its form.
    pub rules: Vec<String>,
    /// What stands before `values`.
    pub values_are: &'static str,
    /// What it may be, where that is a list.
    pub values: Vec<String>,
    /// What it has to match.
    pub pattern: Option<String>,
}

/// The body of a request.
pub struct Body {
    /// What it is.
    pub about: String,
    /// Must it be there?
    pub is_required: bool,
    /// Its fields.
    pub fields: Vec<Field>,
    /// One, as JSON.
    pub example: String,
}

/// An answer.
pub struct Answer {
    /// Its status.
    pub status: String,
    /// What it means.
    pub about: String,
    /// What kind of thing is in it: nothing, JSON, CSV, text.
    pub content: String,
    /// The object in it.
    pub object: Option<String>,
    /// One, as JSON.
    pub example: String,
}

/// Refusals of an operation that have one status.
pub struct Refused {
    /// The status.
    pub status: String,
    /// The codes.
    pub codes: Vec<String>,
}

/// A webhook.
pub struct Webhook {
    /// The event's type.
    pub name: String,
    /// One line about it.
    pub summary: String,
    /// Its body, as JSON.
    pub example: String,
}

/// A code of an error.
pub struct Refusal {
    /// The code.
    pub code: String,
    /// The status that it goes with.
    pub status: String,
    /// What is said, for example.
    pub message: String,
}

/// What operations are sent or answer with.
pub struct Object {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Its fields.
    pub fields: Vec<Field>,
}
