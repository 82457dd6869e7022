//! Every operation is exercised: `tests/it` says its name or its path.

use std::collections::BTreeSet;

use crate::tree::Tree;

const TESTS: &str = "tests/it/";

pub fn routes(tree: &Tree) -> Vec<String> {
    let said = texts(tree);
    let all = coffer::http::routes(true).map(|route| (route.operation, route.path));
    let untested = all.filter(|(operation, path)| !is_tested(&said, operation, path));
    untested
        .map(|(operation, path)| {
            format!("no test in {TESTS} says `{operation}` or `{path}`: write one that calls it")
        })
        .collect()
}

/// Returns the words and texts of the tests.
fn texts(tree: &Tree) -> BTreeSet<&str> {
    let tokens = tree.rust(TESTS).flat_map(|file| file.program());
    tokens.map(|token| token.text.as_str()).collect()
}

fn is_tested(said: &BTreeSet<&str>, operation: &str, path: &str) -> bool {
    said.contains(operation) || said.iter().any(|text| reaches(text, path))
}

/// Returns `true` if the text has this path, in which `{…}` stands for anything in one segment.
fn reaches(text: &str, path: &str) -> bool {
    let start = path.split('{').next().unwrap_or_default();
    let end = path.rsplit('}').next().unwrap_or_default();
    text.split(['?', '#', ' ', '"', '\\']).any(|word| {
        let said = word.find(start).map_or("", |at| &word[at..]);
        said.ends_with(end) && said.matches('/').count() == path.matches('/').count()
    })
}

#[cfg(test)]
mod tests {
    use super::{is_tested, reaches, texts};
    use crate::tree::Tree;

    #[test]
    fn paths_are_reached_segment_by_segment() {
        for (text, path) in [
            ("/v1/a/{}/b", "/v1/a/{id}/b"),
            ("{url}/v1/a?limit=1", "/v1/a"),
            ("GET /v1/a HTTP/1.1", "/v1/a"),
            ("/s/1.json", "/s/{id}.json"),
        ] {
            assert!(reaches(text, path), "{text}");
        }
        for (text, path) in [
            ("/v1/a/{id}", "/v1/a"),
            ("/v1/ab", "/v1/a"),
            ("/v1/a", "/v1/a/{id}"),
        ] {
            assert!(!reaches(text, path), "{text}");
        }
    }

    #[test]
    fn an_operation_is_tested_by_its_name_or_its_path() {
        let tree = Tree::of(&[("tests/it/a.rs", "f(\"/v1/a\"); // getA\nf(\"newA\")")]);
        let said = texts(&tree);
        assert!(is_tested(&said, "listA", "/v1/a"));
        assert!(is_tested(&said, "newA", "/v1/x"));
        assert!(!is_tested(&said, "getA", "/v1/a/{id}"));
    }
}
