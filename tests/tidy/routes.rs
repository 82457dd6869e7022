//! Every operation is exercised: its path, or its name, is said somewhere in tests/it/.
//!
//! An operation is read from `operation: "…"`, or in `src/api` from `id: "…"`, and `path: "…"` in the same brackets.

use crate::scan::{Kind, Token};
use crate::tree::{File, Tree};

/// Where operations stand.
const TABLES: &[&str] = &["src/http/", "src/api/", "src/web/"];
const TESTS: &str = "tests/it/";
const OPERATION: &str = "operation";
const ID: &str = "id";
const PATH: &str = "path";

struct Route {
    operation: String,
    path: String,
    line: usize,
}

pub fn tested(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&[TABLES[0], TESTS]);
    let mut count = 0;
    for file in TABLES.iter().flat_map(|table| tree.rust(table)) {
        for route in routes(file) {
            count += 1;
            if !tree.rust(TESTS).any(|test| exercises(test, &route)) {
                found.push(file.at(
                    route.line,
                    &format!(
                        "no test in {TESTS} says `{}` or `{}`: write one that calls it",
                        route.operation, route.path
                    ),
                ));
            }
        }
    }
    if count == 0 {
        found.push(format!("{}: no operation is found there: one has `{OPERATION}: \"name\"` and `{PATH}: \"/path\"` in one pair of brackets", TABLES[0]));
    }
    found
}

fn exercises(test: &File, route: &Route) -> bool {
    let named = |token: &Token| token.kind != Kind::Comment && token.text == route.operation;
    let reached = |token: &Token| token.kind == Kind::Text && reaches(&token.text, &route.path);
    test.tokens
        .iter()
        .any(|token| named(token) || reached(token))
}

/// Whether some part of the text is this path. A `{…}` in the path stands for anything in one segment.
fn reaches(text: &str, path: &str) -> bool {
    let wanted: Vec<&str> = path.split('/').skip(1).collect();
    text.match_indices('/').any(|(at, _)| {
        let said = text[at + 1..]
            .split(['?', '#', ' ', '"'])
            .next()
            .unwrap_or_default();
        let said: Vec<&str> = said.split('/').collect();
        said.len() == wanted.len()
            && said
                .iter()
                .zip(&wanted)
                .all(|(said, wanted)| segment(said, wanted))
    })
}

fn segment(said: &str, wanted: &str) -> bool {
    match (wanted.find('{'), wanted.rfind('}')) {
        (Some(open), Some(close)) => {
            said.starts_with(&wanted[..open]) && said.ends_with(&wanted[close + 1..])
        }
        _ => said == wanted,
    }
}

/// The literals that stand directly in one pair of brackets, each with the field it is the value of.
type Group<'a> = Vec<(&'a str, &'a Token)>;

fn routes(file: &File) -> Vec<Route> {
    let tokens: Vec<&Token> = file
        .tokens
        .iter()
        .filter(|token| token.kind != Kind::Comment)
        .collect();
    let text = |at: Option<usize>| {
        at.and_then(|at| tokens.get(at))
            .map_or("", |token| token.text.as_str())
    };
    let mut found = Vec::new();
    let mut open: Vec<Group> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match (token.kind, token.text.as_str()) {
            (Kind::Code, "(" | "[" | "{") => open.push(Vec::new()),
            (Kind::Code, ")" | "]" | "}") => {
                found.extend(open.pop().and_then(|group| route(&group)))
            }
            (Kind::Text, _) => {
                let field = if text(at.checked_sub(1)) == ":" {
                    text(at.checked_sub(2))
                } else {
                    ""
                };
                if let Some(group) = open.last_mut() {
                    group.push((field, token));
                }
            }
            _ => {}
        }
    }
    found
}

fn route(group: &Group) -> Option<Route> {
    let field = |name: &str| group.iter().find(|(field, _)| *field == name);
    let (path, operation) = (field(PATH)?.1, field(OPERATION).or_else(|| field(ID))?.1);
    Some(Route {
        operation: operation.text.clone(),
        path: path.text.clone(),
        line: path.line,
    })
}

#[cfg(test)]
mod tests {
    use super::{reaches, routes, tested};
    use crate::tree::{Tree, finds};

    #[track_caller]
    fn reads(source: &str, expected: &[&str]) {
        let tree = Tree::of(&[("src/http/routes.rs", source)]);
        let all: Vec<String> = routes(&tree.files[0])
            .iter()
            .map(|route| format!("{} {}", route.operation, route.path))
            .collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn operations_are_read_from_their_fields() {
        reads(
            "const ROUTES: &[Route] = &[\n Route { method: GET, path: \"/v1/a\", tag: \"t\", operation: \"listA\", takes: &[(\"q\", 1)] },\n];",
            &["listA /v1/a"],
        );
        reads(
            "[Route { operation: \"getA\", path: \"/v1/a\" }]; fn t() { f(\"a\", \"/b\") }",
            &["getA /v1/a"],
        );
        reads("f(\"GET\", \"/v1/a\"); Param { path: \"/a\" }", &[]);
    }

    #[test]
    fn paths_are_reached_segment_by_segment() {
        assert!(reaches("/v1/a/{}/b", "/v1/a/{id}/b"));
        assert!(reaches("{url}/v1/a?limit=1", "/v1/a"));
        assert!(reaches("GET /v1/a HTTP/1.1", "/v1/a"));
        assert!(reaches("/v1/a/", "/v1/a/{id}"));
        assert!(reaches("/s/1.json", "/s/{id}.json"));
        assert!(!reaches("/v1/a/{id}", "/v1/a"));
        assert!(!reaches("/v1/ab", "/v1/a"));
        assert!(!reaches("/v1/a", "/v1/a/{id}"));
    }

    #[test]
    fn a_route_that_no_test_names_is_refused() {
        let table = (
            "src/http/v1.rs",
            "[R { operation: \"listA\", path: \"/v1/a\" },\n R { operation: \"getA\", path: \"/v1/a/{id}\" },\n R { operation: \"newA\", path: \"/v1/x\" }]",
        );
        finds(
            tested,
            &[
                table,
                ("tests/it/a.rs", "f(\"/v1/a\"); // getA\nf(\"newA\")"),
            ],
            &["src/http/v1.rs:2"],
        );
        finds(
            tested,
            &[table],
            &[
                "tests/it/",
                "src/http/v1.rs:1",
                "src/http/v1.rs:2",
                "src/http/v1.rs:3",
            ],
        );
        finds(
            tested,
            &[("src/http/a.rs", ""), ("tests/it/a.rs", "")],
            &["src/http/"],
        );
    }
}
