//! Every operation has a test: `tests/it` contains its name or its path.

use crate::tree::Tree;
use std::collections::BTreeSet;

const TESTS_FOLDER: &str = "tests/it/";

pub fn untested_routes(tree: &Tree) -> Vec<String> {
    let said = token_texts(tree);
    let all = coffer::http::routes(true).map(|route| (route.operation, route.path));
    let untested = all.filter(|(operation, path)| !is_tested(&said, operation, path));
    untested
        .map(|(operation, path)| {
            format!(
                "no test in {TESTS_FOLDER} says `{operation}` or `{path}`: write one that calls it"
            )
        })
        .collect()
}

/// Returns the text of every token in the tests.
fn token_texts(tree: &Tree) -> BTreeSet<&str> {
    let tokens = tree.rust_files(TESTS_FOLDER).flat_map(|file| file.program_tokens());
    tokens.map(|token| token.text.as_str()).collect()
}

fn is_tested(said: &BTreeSet<&str>, operation: &str, path: &str) -> bool {
    said.contains(operation) || said.iter().any(|text| contains_path(text, path))
}

/// Returns `true` if the text contains the path, in which `{…}` matches any part of one segment.
fn contains_path(text: &str, path: &str) -> bool {
    let expected: Vec<&str> = path.split('/').skip(1).collect();
    text.match_indices('/').any(|(at, _)| {
        let said = text[at + 1..].split(['?', '#', ' ', '"', '\\']).next();
        let said: Vec<&str> = said.unwrap_or_default().split('/').collect();
        let mut pairs = said.iter().zip(&expected);
        said.len() == expected.len()
            && pairs.all(|(said, expected)| segment_matches(said, expected))
    })
}

fn segment_matches(said: &str, expected: &str) -> bool {
    match (expected.split_once('{'), expected.rsplit_once('}')) {
        (Some((start, _)), Some((_, end))) => said.starts_with(start) && said.ends_with(end),
        _ => said == expected,
    }
}

#[cfg(test)]
mod tests {
    use super::{contains_path, is_tested, token_texts};
    use crate::tree::Tree;

    #[test]
    fn paths_match_segment_by_segment() {
        for (text, path) in [
            ("/v1/a/{}/b", "/v1/a/{id}/b"),
            ("{url}/v1/a?limit=1", "/v1/a"),
            ("GET /v1/a HTTP/1.1", "/v1/a"),
            ("/s/1.json", "/s/{id}.json"),
        ] {
            assert!(contains_path(text, path), "{text}");
        }
        for (text, path) in [
            ("/v1/a/{id}", "/v1/a"),
            ("/v1/ab", "/v1/a"),
            ("/v1/a", "/v1/a/{id}"),
            ("/v1/a/{id}/c/{id}", "/v1/a/{id}/b/{id}"),
        ] {
            assert!(!contains_path(text, path), "{text}");
        }
    }

    #[test]
    fn an_operation_is_tested_by_its_name_or_its_path() {
        let tree = Tree::from_files(&[("tests/it/a.rs", "f(\"/v1/a\"); // getA\nf(\"newA\")")]);
        let said = token_texts(&tree);
        assert!(is_tested(&said, "listA", "/v1/a"));
        assert!(is_tested(&said, "newA", "/v1/x"));
        assert!(!is_tested(&said, "getA", "/v1/a/{id}"));
    }
}
