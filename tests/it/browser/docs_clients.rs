//! Examples for the clients in the API reference: each is run in its language, and calls its operation with the example
//! of the OpenAPI document.

use crate::support::installation::Installation;
use crate::support::scratch::{Scratch, path_text};
use crate::support::{Shop, agent, send, tools};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Command;

/// Names that the examples use for what an earlier call returned.
const VARIABLES: [&str; 6] = ["invoice", "event", "customer", "deposit", "payout", "refund"];

/// Item of every list in the programs. An example prints it.
const ITEM: &str = r#""\"item\"\n""#;

/// Stand-ins for the clients, which print each call as a JSON array, and programs that run all examples of a folder.
const NODE: &str = "
export class Client {
  constructor(...given) { console.log(JSON.stringify(given)); return new Proxy({}, { get: (_, name) => call(name) }); }
}
const call = (name) => (...given) => {
  console.log(JSON.stringify([name, ...given]));
  return name.startsWith('list') ? (async function* () { yield ITEM; })() : Promise.resolve();
};
for (const name of NAMES) globalThis[name] = name;
";
const PYTHON: &str = "
import builtins, json, pathlib, sys, types
class Client:
    def __init__(self, *given):
        print(json.dumps(given))
    def __getattr__(self, name):
        return lambda *given: print(json.dumps((name, *given))) or [ITEM]
sys.modules['coffer_client'] = types.SimpleNamespace(Client=Client)
names = NAMES
for path in sorted(pathlib.Path(sys.argv[1]).glob('*.python')):
    exec(compile(path.read_text(), path.name, 'exec'), {name: name for name in names})
";
const PHP: &str = "<?php
namespace Coffer;
class Client {
    public function __construct(...$given) { echo json_encode($given, JSON_UNESCAPED_SLASHES), \"\\n\"; }
    public function __call($name, $given) {
        echo json_encode([$name, ...$given], JSON_UNESCAPED_SLASHES), \"\\n\";
        return [ITEM];
    }
}
foreach (NAMES as $name) { $$name = $name; }
foreach (glob($argv[1] . '/*.php') as $path) {
    require $path;
}
";

/// Returns the examples on the pages of the reference, by operation and language.
#[track_caller]
fn client_examples(page_of: impl Fn(&str) -> String) -> BTreeMap<(String, String), String> {
    let mut examples = BTreeMap::new();
    let first = page_of("/docs");
    for link in first.split("<h2><a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        let page = page_of(&format!("/{link}"));
        for article in page.split("<article class=\"card operation\" id=\"").skip(1) {
            let id = article.split('"').next().unwrap();
            for example in article.split("<details data-language=\"").skip(1) {
                let language = example.split('"').next().unwrap();
                let (_, source) = example.split_once("<code>").unwrap();
                let source = source.split("</code>").next().unwrap();
                let key = (id.to_owned(), language.to_owned());
                assert!(examples.insert(key, unescape(source)).is_none(), "{id}");
            }
        }
    }
    examples
}

fn unescape(html: &str) -> String {
    let pairs = [("&#34;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&#62;", ">"), ("&#38;", "&")];
    pairs.into_iter().fold(html.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Returns name and arguments of the call that each operation of a shop's server should show, by its id.
#[track_caller]
fn expected_calls(document: &Value) -> BTreeMap<String, Value> {
    let mut calls = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for operation in methods.as_object().unwrap().values() {
            let schemes = operation["security"].as_array().into_iter().flatten();
            if schemes.filter(|scheme| scheme.get("apiKey").is_some()).count() == 0 {
                continue;
            }
            let id = operation["operationId"].as_str().unwrap().to_owned();
            let mut call = vec![json!(id)];
            if path.contains('{') {
                let collection = path.split('/').nth(2).unwrap();
                call.push(json!(collection.trim_end_matches('s')));
            }
            let body = operation.pointer("/requestBody/content/application~1json/example");
            call.extend(body.cloned());
            calls.insert(id, Value::Array(call));
        }
    }
    calls
}

/// Runs a program and returns the JSON lines that it prints. Returns `None` if the program is not installed.
#[track_caller]
fn printed_lines(command: &mut Command) -> Option<Vec<Value>> {
    let output = tools::run_tool(command, "the examples for the clients")?;
    let text = String::from_utf8(output.stdout).unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{error}");
    let lines = text.lines().filter(|line| !line.is_empty());
    Some(lines.map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn client_examples_make_the_calls_of_the_document() {
    let shop = Shop::open();
    let examples = client_examples(|path| shop.get(path, None).expect(200).text);
    let calls = expected_calls(&shop.get("/v1/openapi.json", None).expect(200).json());
    assert_eq!(calls.len(), 22);
    let ids = examples.keys().map(|(id, _)| id.clone());
    assert_eq!(ids.collect::<std::collections::BTreeSet<_>>(), calls.keys().cloned().collect());
    let folder = Scratch::new();
    let names = json!(VARIABLES).to_string();
    let modules = folder.path("node_modules/coffer-client");
    std::fs::create_dir_all(&modules).unwrap();
    std::fs::write(modules.join("package.json"), r#"{"type":"module","main":"client.js"}"#)
        .unwrap();
    std::fs::write(modules.join("client.js"), NODE.replace("NAMES", &names).replace("ITEM", ITEM))
        .unwrap();
    std::fs::write(folder.path("all.py"), PYTHON.replace("NAMES", &names).replace("ITEM", ITEM))
        .unwrap();
    std::fs::write(folder.path("all.inc"), PHP.replace("NAMES", &names).replace("ITEM", ITEM))
        .unwrap();
    let mut modules = String::new();
    for ((id, language), source) in &examples {
        let (ending, start) = match language.as_str() {
            "node" => ("mjs", ""),
            "python" => ("python", ""),
            _ => ("php", "<?php\n"),
        };
        std::fs::write(folder.path(&format!("{id}.{ending}")), format!("{start}{source}")).unwrap();
        if language == "node" {
            modules.push_str(&format!("await import('./{id}.mjs');\n"));
        }
    }
    std::fs::write(folder.path("all.mjs"), modules).unwrap();
    let place = path_text(&folder.path("")).to_owned();
    for (language, program, arguments) in [
        ("node", "node", vec!["all.mjs"]),
        ("python", "python3", vec!["all.py", "."]),
        ("php", "php", vec!["all.inc", place.as_str()]),
    ] {
        let mut command = Command::new(program);
        let Some(lines) = printed_lines(command.args(arguments).current_dir(folder.path("")))
        else {
            continue;
        };
        let client = json!([shop.url(), "sk_test_sandbox"]);
        let expected = calls.iter().flat_map(|(id, call)| {
            let mut call = call.clone();
            if language == "python" {
                call[0] = snake_case(id).into();
            }
            let item = id.starts_with("list").then(|| json!("item"));
            [client.clone(), call].into_iter().chain(item)
        });
        assert_eq!(lines, expected.collect::<Vec<_>>(), "{language}");
    }
}

fn snake_case(id: &str) -> String {
    let words = id.split_inclusive(|letter: char| letter.is_lowercase()).map(|part| {
        let is_start = part.chars().next().is_some_and(char::is_uppercase);
        if is_start { format!("_{}", part.to_lowercase()) } else { part.to_owned() }
    });
    words.collect()
}

#[test]
fn client_examples_of_a_server_read_the_key_from_the_environment() {
    let (_served, running) = Installation::start_new(&[]);
    let page = |path: &str| send(&agent(), "GET", &format!("{}{path}", running.url), &[], "").text;
    let examples = client_examples(page);
    assert_eq!(examples.len(), 66);
    for ((id, language), source) in examples {
        let key = match language.as_str() {
            "node" => "process.env.SECRET_KEY",
            "python" => "os.environ[\"SECRET_KEY\"]",
            _ => "getenv('SECRET_KEY')",
        };
        assert!(source.contains(key) && source.contains(&running.url), "{id}: {source}");
        assert!(!source.contains("sandbox"), "{id}: {source}");
    }
}
