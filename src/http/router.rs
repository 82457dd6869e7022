//! From a path and a method to the route.
//!
//! What lives here: a tree of path segments made from ROUTES. What always holds: finding a route costs one step for
//! each segment, however many routes there are.

use super::route::Route;
use hyper::Method;
use percent_encoding::percent_decode_str;
use std::collections::HashMap;

/// Every route, by path.
pub(super) struct Router {
    root: Node,
}

/// What may follow one segment.
#[derive(Default)]
struct Node {
    literals: HashMap<&'static str, Node>,
    param: Option<Box<Node>>,
    routes: Vec<(usize, &'static Route)>,
}

/// What a path and a method lead to.
pub(super) enum Found {
    /// A route, its number among all, and the values of the path's parameters.
    Route(usize, &'static Route, Vec<String>),
    /// The path exists with these methods only.
    OtherMethods(String),
    /// No such path.
    Nothing,
}

impl Router {
    /// Makes the tree.
    pub(super) fn new(routes: impl Iterator<Item = &'static Route>) -> Router {
        let mut root = Node::default();
        for (number, route) in routes.enumerate() {
            let mut node = &mut root;
            for segment in route.path.split('/').skip(1) {
                node = if segment.starts_with('{') {
                    node.param.get_or_insert_default()
                } else {
                    node.literals.entry(segment).or_default()
                };
            }
            node.routes.push((number, route));
        }
        Router { root }
    }

    /// Finds the route of a request; HEAD is answered by GET's.
    pub(super) fn find(&self, method: &Method, path: &str) -> Found {
        let Some((node, values)) = self.node(path) else {
            return Found::Nothing;
        };
        let wanted = if *method == Method::HEAD {
            "GET"
        } else {
            method.as_str()
        };
        match node.routes.iter().find(|(_, route)| route.method == wanted) {
            Some((number, route)) => Found::Route(*number, route, values),
            None if node.routes.is_empty() => Found::Nothing,
            None => Found::OtherMethods(node.methods()),
        }
    }

    /// The methods of a path with commas between them, as `Allow` lists them; none where there is no such path.
    pub(super) fn methods(&self, path: &str) -> String {
        self.node(path)
            .map_or(String::new(), |(node, _)| node.methods())
    }

    /// Where a path leads, and the values of its parameters.
    fn node(&self, path: &str) -> Option<(&Node, Vec<String>)> {
        let mut values = Vec::new();
        let mut node = &self.root;
        for segment in path.strip_prefix('/')?.split('/') {
            if let Some(next) = node.literals.get(segment) {
                node = next;
            } else {
                values.push(decode(segment)?);
                node = node.param.as_deref()?;
            }
        }
        Some((node, values))
    }
}

impl Node {
    fn methods(&self) -> String {
        let methods: Vec<&str> = self.routes.iter().map(|(_, route)| route.method).collect();
        methods.join(", ")
    }
}

/// A segment that can be a parameter: not empty, and UTF-8 once decoded.
fn decode(segment: &str) -> Option<String> {
    let text = percent_decode_str(segment).decode_utf8().ok()?;
    (!text.is_empty()).then(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::{Found, Router};
    use crate::http::routes::routes;
    use hyper::Method;

    #[test]
    fn every_route_finds_itself() {
        let router = Router::new(routes(true));
        for route in routes(true) {
            let path = route.path.replace("{id}", "a%20b").replace(['{', '}'], "");
            let method = Method::from_bytes(route.method.as_bytes()).unwrap_or_default();
            let found = router.find(&method, &path);
            assert!(
                matches!(found, Found::Route(_, other, _) if other.operation == route.operation),
                "{}",
                route.operation
            );
        }
    }

    #[test]
    fn what_is_not_there_is_told_apart() {
        let router = Router::new(routes(false));
        for path in [
            "/",
            "/v1",
            "/v1/",
            "/v1/invoices/",
            "/v1/invoices/x/y",
            "/v1//invoices",
            "/sandbox",
            "*",
            "elsewhere/v1/invoices",
            "/v1/invoices/%ff",
        ] {
            assert!(
                matches!(router.find(&Method::GET, path), Found::Nothing),
                "{path}"
            );
        }
        let found = router.find(&Method::DELETE, "/v1/invoices");
        assert!(matches!(found, Found::OtherMethods(methods) if methods == "POST, GET"));
        assert!(matches!(
            router.find(&Method::HEAD, "/v1/merchant"),
            Found::Route(..)
        ));
    }
}
