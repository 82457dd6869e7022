//! Names what is wrong in a path that no route has, if it is a doubled slash, a doubled `/v1` or an empty parameter.

use super::request::masked_path;
use super::route::Route;
use super::router::Router;
use crate::domain::{Refusal, RefusalCode};

/// Returns the path with every run of slashes as one, and with `/v1` once at its beginning. Returns `None` if the
/// path has neither of the two doubled.
pub(super) fn repaired_path(path: &str) -> Option<String> {
    let mut segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    let last = segments.pop().unwrap_or_default();
    segments.retain(|segment| !segment.is_empty());
    segments.push(last);
    while let ["v1", "v1", _, ..] = segments.as_slice() {
        segments.remove(0);
    }
    let repaired = format!("/{}", segments.join("/"));
    (repaired != path).then_some(repaired)
}

/// Returns the refusal of a path that no route has.
pub(super) fn unknown_path_refusal(router: &Router, path: &str) -> Refusal {
    match problem(router, path) {
        None => Refusal::not_found("path"),
        Some(problem) => {
            let message = format!("no such path: {} {problem}", masked_path(path));
            Refusal::new(RefusalCode::NotFound, message)
        }
    }
}

fn problem(router: &Router, path: &str) -> Option<String> {
    let repaired = repaired_path(path)?;
    let has_slashes = path.contains("//");
    if let Some(route) = router.route_of(&path.replace("//", "/-/")).filter(|_| has_slashes) {
        return Some(format!(
            "has nothing where {} has {}",
            route.path,
            empty_parameter(route, path)
        ));
    }
    let doubled = if has_slashes { "two slashes in a row" } else { "/v1 twice" };
    Some(match router.route_of(&repaired) {
        Some(_) => format!("has {doubled}; the path is {}", masked_path(&repaired)),
        None => format!("has {doubled}"),
    })
}

/// Returns the name of the route's first parameter that is empty in this path.
fn empty_parameter(route: &Route, path: &str) -> &'static str {
    let both = route.path.split('/').skip(1).zip(path.split('/').skip(1));
    let mut empty = both.filter(|(_, segment)| segment.is_empty()).map(|(name, _)| name);
    empty.next().unwrap_or_default()
}
