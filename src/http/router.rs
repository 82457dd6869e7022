//! Finds the route of a path and a method in a tree of path segments.
//!
//! Invariant: a search takes one look-up for each segment, for any number of routes.

use super::route::{AnswerPolicy, ListenerRoutes, Route, UNRESTRICTED};
use hyper::Method;
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;

/// Tree of all routes, by the segments of their paths.
pub(super) struct Router {
    root: Node,
}

/// A node of the tree: the routes that end here, and the possible next segments.
#[derive(Default)]
struct Node {
    literals: BTreeMap<&'static str, Node>,
    param: Option<Box<Node>>,
    routes: Vec<(usize, &'static Route)>,
    /// Answer properties common to all routes at this node and below it.
    common: Option<AnswerPolicy>,
}

pub(super) enum RouteMatch {
    /// A route, its index, and the values of the path's parameters.
    Route(usize, &'static Route, Vec<String>),
    /// The path exists, but only with these methods.
    OtherMethods(String),
    Nothing,
}

impl Router {
    pub(super) fn new(
        routes: impl Iterator<Item = &'static Route>,
        scope: ListenerRoutes,
    ) -> Router {
        let mut root = Node::default();
        let served = routes.enumerate().filter(|(_, route)| scope.includes(route));
        for (number, route) in served {
            let mut node = &mut root;
            for segment in route.path.split('/').skip(1) {
                node.merge_form(route);
                node = if segment.starts_with('{') {
                    node.param.get_or_insert_default()
                } else {
                    node.literals.entry(segment).or_default()
                };
            }
            node.merge_form(route);
            node.routes.push((number, route));
        }
        Router { root }
    }

    /// Finds the route of a request. A HEAD request finds the route of GET.
    pub(super) fn find(&self, method: &Method, path: &str) -> RouteMatch {
        let Some((node, values)) = self.node(path) else {
            return RouteMatch::Nothing;
        };
        let wanted = if *method == Method::HEAD { "GET" } else { method.as_str() };
        match node.routes.iter().find(|(_, route)| route.method == wanted) {
            Some((number, route)) => RouteMatch::Route(*number, route, values),
            None if node.routes.is_empty() => RouteMatch::Nothing,
            None => RouteMatch::OtherMethods(node.methods()),
        }
    }

    /// Returns the methods of a path for the `Allow` header, separated by commas. Returns an empty text if no route
    /// has the path.
    pub(super) fn methods(&self, path: &str) -> String {
        self.node(path).map_or(String::new(), |(node, _)| node.methods())
    }

    /// Returns the first route of a path, of any method.
    pub(super) fn route_of(&self, path: &str) -> Option<&'static Route> {
        let (node, _) = self.node(path)?;
        node.routes.first().map(|(_, route)| *route)
    }

    /// Returns the form of an error answer for a path without a route. It is the common form of all routes below the
    /// path's longest known prefix.
    pub(super) fn error_form(&self, path: &str) -> AnswerPolicy {
        let mut node = Some(&self.root);
        let mut form = None;
        // A target that is not a path, for example `*` in `OPTIONS *`, has no segments and no page.
        let segments = path.strip_prefix('/').map(|path| path.split('/'));
        for segment in segments.into_iter().flatten() {
            let Some(here) = node else { break };
            form = here.common;
            let param = || here.param.as_deref().filter(|_| decode_param(segment).is_some());
            node = here.literals.get(segment).or_else(param);
        }
        let of_route = node.and_then(|node| node.routes.first());
        let of_route = of_route.map(|(_, route)| route.form);
        of_route.or(form).unwrap_or(UNRESTRICTED)
    }

    /// Returns the node of a path, and the values of the path's parameters.
    fn node(&self, path: &str) -> Option<(&Node, Vec<String>)> {
        let mut values = Vec::new();
        let mut node = &self.root;
        for segment in path.strip_prefix('/')?.split('/') {
            if let Some(next) = node.literals.get(segment) {
                node = next;
            } else {
                values.push(decode_param(segment)?);
                node = node.param.as_deref()?;
            }
        }
        Some((node, values))
    }
}

impl Node {
    /// Intersects the common properties with the properties of `route`.
    fn merge_form(&mut self, route: &Route) {
        let common = self.common.map_or(route.form, |form| form.intersection(route.form));
        self.common = Some(common);
    }

    fn methods(&self) -> String {
        let mut methods: Vec<&str> = self.routes.iter().map(|(_, route)| route.method).collect();
        if methods.contains(&"GET") {
            methods.push("HEAD");
        }
        methods.join(", ")
    }
}

/// Decodes a parameter segment, which must be non-empty UTF-8.
fn decode_param(segment: &str) -> Option<String> {
    if !segment.contains('%') {
        return (!segment.is_empty()).then(|| segment.to_owned());
    }
    let text = percent_decode_str(segment).decode_utf8().ok()?;
    Some(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::{ListenerRoutes, RouteMatch, Router};
    use crate::http::routes::routes;
    use hyper::Method;

    #[test]
    fn every_route_is_found_by_its_path() {
        let router = Router::new(routes(true), ListenerRoutes::All);
        for route in routes(true) {
            let path = route.path.replace("{id}", "a%20b").replace(['{', '}'], "");
            let method = Method::from_bytes(route.method.as_bytes()).unwrap_or_default();
            let found = router.find(&method, &path);
            assert!(
                matches!(found, RouteMatch::Route(_, other, _) if other.operation == route.operation),
                "{}",
                route.operation
            );
        }
    }

    #[test]
    fn unknown_path_has_the_error_form_of_its_neighbours() {
        let router = Router::new(routes(true), ListenerRoutes::All);
        let is = |path: &str| {
            let form = router.error_form(path);
            let kinds = [
                ("page", form.page.is_some()),
                ("private", form.is_private),
                ("shared", form.is_shared),
            ];
            let kinds = kinds.iter().filter(|(_, is)| *is).map(|(kind, _)| *kind);
            kinds.collect::<Vec<_>>().join(" ")
        };
        for (path, expected) in [
            ("/", "page private"),
            ("/nothing/here", ""),
            ("*", ""),
            ("/v1", ""),
            ("/v1/", "private"),
            ("/v1/public", "private"),
            ("/v1/public/", "private shared"),
            ("/v1/public/config", "private shared"),
            ("/v1/public/config/x", "private shared"),
            ("/v1/invoices/a/b/c", "private"),
            ("/v1/invoices/%ff", "private"),
            ("/reseller", ""),
            ("/reseller/x", "private"),
            ("/dashboard/api/x", "private"),
            ("/sandbox/x", ""),
            ("/metrics/x", ""),
            ("/checkout", ""),
            ("/checkout/", "page private"),
            ("/checkout/%ff", "page private"),
            ("/checkout/a/b/c", "page private"),
            ("/l/a", "page private"),
            ("/setup/x", "page private"),
            ("/widget.js", ""),
            ("/assets/a/b/c", ""),
        ] {
            assert_eq!(is(path), expected, "{path}");
        }
    }

    #[test]
    fn routes_of_one_path_share_an_answer_form() {
        for route in routes(true) {
            let form = Router::new(routes(true), ListenerRoutes::All).error_form(route.path);
            assert!(
                form.page.is_some() == route.form.page.is_some()
                    && form.is_private == route.form.is_private
                    && form.is_shared == route.form.is_shared,
                "{}",
                route.operation
            );
        }
    }

    #[test]
    fn unknown_path_differs_from_unknown_method() {
        let router = Router::new(routes(false), ListenerRoutes::All);
        for path in [
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
            assert!(matches!(router.find(&Method::GET, path), RouteMatch::Nothing), "{path}");
        }
        let found = router.find(&Method::DELETE, "/v1/invoices");
        assert!(matches!(found, RouteMatch::OtherMethods(methods) if methods == "POST, GET, HEAD"));
        assert!(matches!(router.find(&Method::HEAD, "/v1/merchant"), RouteMatch::Route(..)));
    }
}
