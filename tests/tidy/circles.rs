//! No circle: not between rooms, and not between the modules inside `http`.
//!
//! Where a file names something of another one, the two modules use each other at the level at which their paths part:
//! `http::api::events` that names `http::reply::Reply` lets `api` use `reply`, inside `http`. At each level these uses
//! go one way. A module and what is in it count as one. Tests are left out: they may look at everything.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::{imported, names};
use crate::tree::{File, Tree};

/// The levels that are looked at: that of rooms, and all from this one down.
const INSIDE: &str = "http";

/// Where one module of a level uses another: file and line.
type Places = BTreeMap<(String, String), (String, usize)>;

pub fn circles(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["src/"]);
    let modules = Modules::of(tree);
    let mut levels: BTreeMap<Vec<String>, Places> = BTreeMap::new();
    for file in tree.rust("src/") {
        let user = file.modules();
        for name in names(file).iter().filter(|name| !name.test) {
            let Some(used) = modules.of_path(&name.path) else {
                continue;
            };
            let shared = user.iter().zip(&used).take_while(|(a, b)| a == b).count();
            let level = user[..shared].to_vec();
            let is_held = level.first().is_none_or(|room| room == INSIDE);
            if let (true, Some(user), Some(used)) = (is_held, user.get(shared), used.get(shared)) {
                let places = levels.entry(level).or_default();
                let pair = (user.clone(), used.clone());
                places
                    .entry(pair)
                    .or_insert_with(|| (file.path.clone(), name.line));
            }
        }
    }
    for (level, places) in &levels {
        found.extend(shortest(places).map(|circle| told(level, &circle, places)));
    }
    found
}

/// Every module that is a file, and what its file brings in.
struct Modules(BTreeMap<Vec<String>, Vec<(String, Vec<String>)>>);

impl Modules {
    fn of(tree: &Tree) -> Modules {
        let files = tree.rust("src/");
        let module = |file: &File| (file.modules(), imported(file));
        Modules(files.map(module).collect())
    }

    /// The module that a path leads to, through what other modules hand on; none for what is not ours.
    fn of_path(&self, path: &[String]) -> Option<Vec<String>> {
        let mut path = path.strip_prefix(&["crate".to_owned()])?.to_vec();
        // What is handed on more often than this is not written by people.
        for _ in 0..8 {
            let length = (0..=path.len())
                .rev()
                .find(|length| self.0.contains_key(&path[..*length]))?;
            let (module, rest) = path.split_at(length);
            let handed_on = self.0[module]
                .iter()
                .find(|(name, meant)| rest.first() == Some(name) && meant[0] == "crate");
            match handed_on {
                Some((_, meant)) if meant[1..] != path => {
                    path = [&meant[1..], &rest[1..]].concat();
                }
                _ => return Some(module.to_vec()),
            }
        }
        None
    }
}

/// The shortest circle, its first module at both ends.
fn shortest(places: &Places) -> Option<Vec<String>> {
    let starts: BTreeSet<&String> = places.keys().map(|(user, _)| user).collect();
    let circles = starts
        .into_iter()
        .filter_map(|start| back_to(start, places));
    circles.min_by_key(Vec::len)
}

/// The shortest way from a module back to it.
fn back_to(start: &String, places: &Places) -> Option<Vec<String>> {
    let mut ways = vec![vec![start.clone()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let next = places.keys().filter(|(user, _)| Some(user) == way.last());
            for (_, used) in next {
                let way = [&way[..], std::slice::from_ref(used)].concat();
                if used == start {
                    return Some(way);
                }
                if seen.insert(used) {
                    longer.push(way);
                }
            }
        }
        ways = longer;
    }
    None
}

fn told(level: &[String], circle: &[String], places: &Places) -> String {
    let steps = circle.windows(2).map(|pair| {
        let (path, line) = &places[&(pair[0].clone(), pair[1].clone())];
        format!("{path}:{line}")
    });
    let steps: Vec<String> = steps.collect();
    let within = if level.is_empty() {
        "src".to_owned()
    } else {
        level.join("::")
    };
    format!(
        "{}: a circle in {within}: {} (by {}): let one of them take what it needs as an argument, or move what both use below them",
        steps[0],
        circle.join(" -> "),
        steps.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::circles;
    use crate::tree::{Tree, finds};

    #[test]
    fn a_circle_of_rooms_is_found() {
        let files = [
            ("src/lib.rs", "pub mod a; pub mod b; pub use a::Server;"),
            ("src/a.rs", "use crate::b::x;"),
            ("src/b/mod.rs", "mod y;"),
            ("src/b/y.rs", "use crate::c;"),
            ("src/c.rs", "\nfn f() { crate::Server::start() }"),
        ];
        finds(circles, &files, &["src/a.rs:1"]);
        let told = circles(&Tree::of(&files)).concat();
        assert!(
            told.contains(
                "a circle in src: a -> b -> c -> a (by src/a.rs:1, src/b/y.rs:1, src/c.rs:2)"
            ),
            "{told}"
        );
    }

    #[test]
    fn a_circle_inside_http_is_found_however_it_is_named() {
        for used in [
            "use super::routes::ROUTES;",
            "use crate::http::{error, routes};",
            "fn f() { crate::http::routes::all() }",
            "use super::all;",
            "use super as http; fn f() { http::all() }",
        ] {
            let files = [
                (
                    "src/http/mod.rs",
                    "mod front; mod routes; pub use routes::all;",
                ),
                ("src/http/front.rs", used),
                ("src/http/error.rs", ""),
                ("src/http/routes.rs", "use super::api::events;"),
                ("src/http/api/events.rs", "use crate::http::front::Front;"),
            ];
            finds(circles, &files, &["src/http/api/events.rs:1"]);
        }
    }

    #[test]
    fn a_circle_inside_a_folder_of_http_is_found() {
        let files = [
            ("src/http/api.rs", ""),
            ("src/http/api/a.rs", "use super::b;"),
            ("src/http/api/b.rs", "use crate::http::api::a::x;"),
        ];
        finds(circles, &files, &["src/http/api/a.rs:1"]);
    }

    #[test]
    fn a_module_and_what_is_in_it_are_one() {
        let files = [
            (
                "src/http/pages.rs",
                "mod link; use link::show; use super::reply;",
            ),
            (
                "src/http/pages/link.rs",
                "use super::Page; use crate::http::reply::Reply;",
            ),
            (
                "src/http/reply.rs",
                "#[cfg(test)] mod tests { use super::super::pages; }",
            ),
            ("src/domain/a.rs", "use super::b;"),
            ("src/domain/b.rs", "use super::a;"),
        ];
        finds(circles, &files, &[]);
    }
}
