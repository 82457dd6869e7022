//! Renders an operation as calls of the clients for Node, Python and PHP.
//!
//! Invariant: each example is valid source text for any declared example and any URL.

use super::DocumentedServer;
use crate::http::auth::Auth;
use crate::http::route::Route;
use crate::web::reference::ClientExample;
use serde_json::Value;

#[derive(Clone, Copy)]
enum Language {
    Node,
    Python,
    Php,
}

/// Returns the examples of an operation of a shop's server. `body` is the declared example of the request's body.
/// Returns nothing for other operations, because the clients do not have them.
pub(super) fn client_examples(
    server: &DocumentedServer<'_>,
    route: &Route,
    body: Option<&Value>,
) -> Vec<ClientExample> {
    if route.auth() != Auth::Secret || !route.path.starts_with("/v1/") {
        return Vec::new();
    }
    let languages = [
        ("node", "Node", Language::Node),
        ("python", "Python", Language::Python),
        ("php", "PHP", Language::Php),
    ];
    let examples = languages.map(|(id, name, language)| ClientExample {
        language: id,
        name,
        source: language.render_call(server, route.operation, &path_variables(route.path), body),
    });
    examples.into()
}

/// Returns a name for each parameter of the path: the singular of the collection in front of it.
fn path_variables(path: &str) -> Vec<&str> {
    let segments: Vec<&str> = path.split('/').collect();
    let pairs = segments.windows(2).filter_map(|pair| match pair {
        [collection, parameter] if parameter.starts_with('{') => {
            Some(collection.strip_suffix('s').unwrap_or(collection))
        }
        _ => None,
    });
    pairs.collect()
}

impl Language {
    /// Renders a program that makes a client and calls the operation. An operation that lists is read item by item.
    fn render_call(
        self,
        server: &DocumentedServer<'_>,
        operation: &str,
        variables: &[&str],
        body: Option<&Value>,
    ) -> String {
        let variables = variables.iter().map(|name| match self {
            Language::Php => format!("${name}"),
            Language::Node | Language::Python => (*name).to_owned(),
        });
        let body = body.map(|body| self.render_value(body, ""));
        let arguments: Vec<String> = variables.chain(body).collect();
        let arguments = arguments.join(", ");
        let url = self.render_text(server.url);
        let is_list = operation.starts_with("list");
        match self {
            Language::Node => {
                let key = match server.is_sandbox {
                    true => "'sk_test_sandbox'",
                    false => "process.env.SECRET_KEY",
                };
                let call = match is_list {
                    true => format!(
                        "for await (const item of client.{operation}({arguments})) {{\n  console.log(item);\n}}"
                    ),
                    false => format!("const answer = await client.{operation}({arguments});"),
                };
                format!(
                    "import {{ Client }} from 'coffer-client';\n\nconst client = new Client({url}, {key});\n{call}"
                )
            }
            Language::Python => {
                let (import, key) = match server.is_sandbox {
                    true => ("", "\"sk_test_sandbox\""),
                    false => ("import os\n", "os.environ[\"SECRET_KEY\"]"),
                };
                let operation = snake_case(operation);
                let call = match is_list {
                    true => {
                        format!("for item in client.{operation}({arguments}):\n    print(item)")
                    }
                    false => format!("answer = client.{operation}({arguments})"),
                };
                format!(
                    "{import}from coffer_client import Client\n\nclient = Client({url}, {key})\n{call}"
                )
            }
            Language::Php => {
                let key = match server.is_sandbox {
                    true => "'sk_test_sandbox'",
                    false => "getenv('SECRET_KEY')",
                };
                let call = match is_list {
                    true => format!(
                        "foreach ($client->{operation}({arguments}) as $item) {{\n    print_r($item);\n}}"
                    ),
                    false => format!("$answer = $client->{operation}({arguments});"),
                };
                format!("$client = new Coffer\\Client({url}, {key});\n{call}")
            }
        }
    }

    /// Renders a JSON value as a literal. `indent` is the indentation of the line that it begins on.
    fn render_value(self, value: &Value, indent: &str) -> String {
        let unit = match self {
            Language::Node => "  ",
            Language::Python | Language::Php => "    ",
        };
        let inner = format!("{indent}{unit}");
        match (value, self) {
            (Value::Null, Language::Python) => "None".to_owned(),
            (Value::Bool(true), Language::Python) => "True".to_owned(),
            (Value::Bool(false), Language::Python) => "False".to_owned(),
            (Value::Null | Value::Bool(_) | Value::Number(_), _) => value.to_string(),
            (Value::String(text), _) => self.render_text(text),
            (Value::Array(items), _) => {
                let items = items.iter().map(|item| self.render_value(item, &inner));
                self.render_items(&items.collect::<Vec<_>>(), ["[", "]"], [indent, &inner])
            }
            (Value::Object(fields), _) => {
                let fields = fields.iter().map(|(name, value)| {
                    format!("{}{}", self.render_name(name), self.render_value(value, &inner))
                });
                let brackets = match self {
                    Language::Php => ["[", "]"],
                    Language::Node | Language::Python => ["{", "}"],
                };
                self.render_items(&fields.collect::<Vec<_>>(), brackets, [indent, &inner])
            }
        }
    }

    /// Renders items between brackets: each on a line, and a single one on the line of the brackets.
    fn render_items(
        self,
        items: &[String],
        [open, close]: [&str; 2],
        [outer, inner]: [&str; 2],
    ) -> String {
        match (items, self) {
            ([], _) => format!("{open}{close}"),
            ([item], Language::Node) if open == "{" => format!("{{ {item} }}"),
            ([item], _) => format!("{open}{item}{close}"),
            _ => {
                let lines: String = items.iter().map(|item| format!("{inner}{item},\n")).collect();
                format!("{open}\n{lines}{outer}{close}")
            }
        }
    }

    /// Renders the name of a field, with what separates it from the value.
    fn render_name(self, name: &str) -> String {
        let mut letters = name.chars();
        let is_identifier = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
            && letters.all(|letter| letter.is_ascii_alphanumeric());
        match self {
            Language::Node if is_identifier => format!("{name}: "),
            Language::Node | Language::Python => format!("{}: ", self.render_text(name)),
            Language::Php => format!("{} => ", self.render_text(name)),
        }
    }

    /// Renders a text. Single quotes in PHP, because double quotes insert variables there.
    fn render_text(self, text: &str) -> String {
        let is_plain =
            !text.contains(|letter: char| matches!(letter, '\'' | '\\') || letter.is_control());
        match self {
            Language::Php => format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'")),
            Language::Node if is_plain => format!("'{text}'"),
            // A JSON string is a string literal in both languages.
            Language::Node | Language::Python => Value::from(text).to_string(),
        }
    }
}

/// Returns the Python name of an operation: `create_invoice` for `createInvoice`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::Language;
    use serde_json::json;

    #[test]
    fn hostile_texts_stay_literals() {
        let value = json!({ "it's": "\"$x\" \\ {y}\n</code>", "n": [null, true, 15] });
        assert_eq!(
            Language::Node.render_value(&value, ""),
            "{\n  \"it's\": \"\\\"$x\\\" \\\\ {y}\\n</code>\",\n  n: [\n    null,\n    true,\n    15,\n  ],\n}"
        );
        assert_eq!(
            Language::Python.render_value(&value, ""),
            "{\n    \"it's\": \"\\\"$x\\\" \\\\ {y}\\n</code>\",\n    \"n\": [\n        None,\n        True,\n        15,\n    ],\n}"
        );
        assert_eq!(
            Language::Php.render_value(&value, ""),
            "[\n    'it\\'s' => '\"$x\" \\\\ {y}\n</code>',\n    'n' => [\n        null,\n        true,\n        15,\n    ],\n]"
        );
    }
}
