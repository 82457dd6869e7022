//! Fields of the API reference: its first page, `/docs`, and the pages of its topics. `http` fills them from the
//! declarations of the operations.
//!
//! Invariant: every field is escaped when it is inserted.

use askama::Template;

/// First page of the API reference: the topics with their headings.
#[derive(Template)]
#[template(path = "docs/index.html", config = "src/web/askama.toml")]
pub struct ReferenceIndex<'a> {
    /// Base URL of the server.
    pub url: &'a str,
    /// `true` for a sandbox, whose keys are public.
    pub is_sandbox: bool,
    /// Topics of the reference.
    pub topics: &'a [Topic],
}

/// Page of a topic.
#[derive(Template)]
#[template(path = "docs/topic.html", config = "src/web/askama.toml")]
pub struct TopicPage<'a> {
    /// `true` for a sandbox, whose operations can be tried on the page.
    pub is_sandbox: bool,
    /// Topics of the reference.
    pub topics: &'a [Topic],
    /// Topic of this page.
    pub topic: &'a Topic,
}

/// A topic of the API reference, which has a page of its own.
pub struct Topic {
    /// Name in the URL, and fragment identifier on the first page.
    pub id: String,
    /// Name of the topic.
    pub name: &'static str,
    /// Description of the topic in one sentence.
    pub about: &'static str,
    /// Content of the topic's page.
    pub content: Content,
}

/// Content of a topic's page.
pub enum Content {
    /// Operations of one resource.
    Operations(Vec<OperationDoc>),
    /// Webhooks that the service sends.
    Webhooks {
        /// Headers that every delivery has.
        headers: Vec<Field>,
        /// Webhooks, by event type.
        events: Vec<Webhook>,
    },
    /// Error codes of all operations.
    Errors(Vec<ErrorDoc>),
    /// Objects that requests and responses contain.
    Objects(Vec<ObjectDoc>),
}

/// A heading of a topic's page.
pub struct Entry<'a> {
    /// Fragment identifier on the topic's page.
    pub id: String,
    /// HTTP method of an operation, else empty.
    pub method: &'a str,
    /// Path of an operation, else the name.
    pub name: &'a str,
    /// Description in one line.
    pub summary: &'a str,
    /// Names of parameters and fields, separated by spaces. The search finds an entry by them.
    pub words: String,
}

impl Topic {
    /// Returns the operations of the topic.
    #[must_use]
    pub fn operations(&self) -> &[OperationDoc] {
        match &self.content {
            Content::Operations(operations) => operations,
            Content::Webhooks { .. } | Content::Errors(_) | Content::Objects(_) => &[],
        }
    }

    /// Returns the headings of the topic's page.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry<'_>> {
        match &self.content {
            Content::Operations(operations) => operations.iter().map(operation_entry).collect(),
            Content::Webhooks { events, .. } => {
                let entries = events.iter().map(|event| Entry {
                    id: format!("webhook-{}", event.name),
                    method: "",
                    name: event.name,
                    summary: &event.summary,
                    words: String::new(),
                });
                entries.collect()
            }
            Content::Errors(errors) => {
                let entries = errors.iter().map(|error| Entry {
                    id: format!("error-{}", error.code),
                    method: "",
                    name: error.code,
                    summary: &error.message,
                    words: error.status.clone(),
                });
                entries.collect()
            }
            Content::Objects(objects) => {
                let entries = objects.iter().map(|object| Entry {
                    id: format!("object-{}", object.name),
                    method: "",
                    name: &object.name,
                    summary: &object.about,
                    words: field_names(&object.fields),
                });
                entries.collect()
            }
        }
    }
}

fn operation_entry(operation: &OperationDoc) -> Entry<'_> {
    let fields = operation.body.as_ref().map(|body| field_names(&body.fields));
    let parameters = field_names(&operation.parameters);
    Entry {
        id: operation.id.to_owned(),
        method: operation.method,
        name: operation.path,
        summary: operation.summary,
        words: format!("{} {parameters} {}", operation.id, fields.unwrap_or_default()),
    }
}

fn field_names(fields: &[Field]) -> String {
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    names.join(" ")
}

/// An operation in the API reference.
pub struct OperationDoc {
    /// Name of the operation, which is also its fragment identifier on the page.
    pub id: &'static str,
    /// HTTP method: GET, POST, PUT, PATCH or DELETE.
    pub method: &'static str,
    /// Path, with its parameters in braces.
    pub path: &'static str,
    /// Description of the operation in one line.
    pub summary: &'static str,
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
    /// The same request in the languages of the clients. Empty for an operation that no client has.
    pub clients: Vec<ClientExample>,
}

/// Example of a request in the language of a client.
pub struct ClientExample {
    /// Identifier of the language: `node`, `python` or `php`.
    pub language: &'static str,
    /// Name of the language.
    pub name: &'static str,
    /// Source text.
    pub source: String,
}

/// A field of a body, or a parameter of an operation.
pub struct Field {
    /// Name, prefixed by the names of the enclosing objects.
    pub name: String,
    /// Location of a parameter: `path`, `query` or `header`. Empty for a field of a body.
    pub place: &'static str,
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
    pub about: &'static str,
    /// Content type of the response, empty for a response without content.
    pub content: &'static str,
    /// Name of the object in the response, if there is one.
    pub object: Option<&'static str>,
    /// Example of the response, as JSON.
    pub example: String,
}

/// Error responses of an operation that have the same status.
pub struct ErrorGroup {
    /// HTTP status.
    pub status: String,
    /// Error codes with this status.
    pub codes: Vec<&'static str>,
}

/// A webhook in the API reference.
pub struct Webhook {
    /// Event type of the webhook.
    pub name: &'static str,
    /// Description of the webhook in one line.
    pub summary: String,
    /// Example of the webhook's body, as JSON.
    pub example: String,
}

/// An error code in the API reference.
pub struct ErrorDoc {
    /// Error code, as in the field `error` of the body.
    pub code: &'static str,
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
