//! Every path in the program is checked against the table of allowed uses, and no modules use each other in a circle.
//!
//! Unit tests are excluded: they may use everything.

use crate::names::{Names, Path};
use crate::tree::{File, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Types that carry values between rooms.
const VALUES: &str = "serde serde_json time uuid";

/// Each room, with the rooms that it may use and the crates or parts of a crate that it may use.
const LAYERS: &[&str] = &[
    "domain | | VALUES base64 bech32 bs58 crc32fast curve25519_dalek hmac k256 qrcodegen ripemd rust_decimal \
     sha2 sha3 totp_rs",
    "store | domain | VALUES log r2d2 r2d2_sqlite rusqlite rustix scheduled_thread_pool tokio::sync",
    "service | domain store | VALUES argon2 getrandom log",
    "api | domain store service | VALUES percent_encoding",
    "http | api service domain clock web | VALUES askama::Template http_body_util hyper hyper_util log percent_encoding \
     tokio",
    "outbound | domain | VALUES log ureq",
    "chain | domain outbound clock | VALUES base64 log rustls rustls_native_certs scrypt sha2 ureq webpki_roots",
    "worker | service chain outbound domain clock | VALUES close_fds log rustix tokio",
    "clock | domain | rustix::time time",
    "web | domain | askama flate2",
    "config | domain | clap",
    "app | ANY | log rustix time tokio ureq",
    "cli | ANY | VALUES clap clap_complete env_logger indicatif log rustix::termios tokio",
    "lib | app cli config domain |",
    "main | lib cli |",
];

/// Returns name, rooms and crates of each row of [`LAYERS`].
pub fn rows() -> impl Iterator<Item = [&'static str; 3]> {
    let part = |row: &'static str, at| row.split('|').nth(at).unwrap_or_default().trim();
    LAYERS
        .iter()
        .map(move |row| [0, 1, 2].map(|at| part(row, at)))
}

pub fn layers(tree: &Tree) -> Vec<String> {
    let known: Vec<&str> = rows().map(|row| row[0]).collect();
    let dependencies = tree.dependencies().join(" ").replace('-', "_");
    let mut found = Vec::new();
    for file in tree.rust("src/") {
        let names = Names::of(file);
        let own = names.home.first().map_or("lib", String::as_str);
        let Some([_, rooms, crates]) = rows().find(|row| row[0] == own) else {
            found.push(file.at(1, "a room without a row in LAYERS (tests/tidy/layers.rs)"));
            continue;
        };
        let mut seen = BTreeSet::new();
        for (path, line) in names.used {
            let (used, is_allowed) = if path[0] == "crate" {
                // An item at the root of the crate belongs to `lib`.
                let room = path.get(1).filter(|room| known.contains(&room.as_str()));
                let room = room.map_or("lib", String::as_str);
                let is_allowed = room == own || rooms == "ANY" || has(rooms, room);
                (room.to_owned(), is_allowed)
            } else {
                let is_listed = |length: usize| has(crates, &path[..length].join("::"));
                let is_allowed = (1..=path.len()).any(is_listed);
                (path.join("::"), is_allowed || !has(&dependencies, &path[0]))
            };
            if !is_allowed && seen.insert(used.clone()) {
                found.push(file.at(line, &format!(
                    "`{own}` may not use `{used}`: have a room do it that may, or change LAYERS (tests/tidy/layers.rs)"
                )));
            }
        }
    }
    found
}

/// Returns `true` if the list contains the name, also by its word `VALUES`.
fn has(list: &str, name: &str) -> bool {
    let is_in = |list: &str| list.split(' ').any(|one| one == name);
    is_in(list) || list.contains("VALUES") && is_in(VALUES)
}

/// Place where a module uses a neighboring module, by the paths of both modules.
type Uses = BTreeMap<(Path, Path), String>;

/// Finds the shortest circle of uses between rooms, or between modules of `http`. A module and its children count as
/// one.
pub fn circles(tree: &Tree) -> Vec<String> {
    let names = tree.rust("src/").map(|file| (file, Names::of(file)));
    let names: Vec<(&File, Names)> = names.collect();
    let modules: BTreeSet<&Path> = names.iter().map(|(_, names)| &names.home).collect();
    let (mut uses, mut found) = (Uses::new(), Vec::new());
    for (file, names) in &names {
        let user = &names.home;
        for (path, line) in names.used.iter().filter(|(path, _)| path[0] == "crate") {
            let is_module = |length: &usize| modules.contains(&path[1..*length].to_vec());
            let length = (1..=path.len()).rev().find(is_module).unwrap_or(1);
            let used = &path[1..length];
            let pairs = user.iter().zip(used);
            let shared = pairs.take_while(|(one, other)| one == other).count();
            let is_held = shared == 0 || user[0] == "http";
            if is_held && shared < user.len().min(used.len()) {
                let pair = (user[..=shared].to_vec(), used[..=shared].to_vec());
                uses.entry(pair).or_insert(file.at(*line, ""));
            } else if *used == ["http"] && user.len() > 1 && path.len() > 2 {
                found.push(file.at(*line, "name the module inside http that has this item"));
            }
        }
    }
    let circle = |(user, _): &(Path, Path)| way(&uses, user, user, &mut BTreeSet::new());
    let shortest = uses.keys().filter_map(circle).min_by_key(String::len);
    let mend = "a circle of uses: pass what one needs as an argument, or move it below the others";
    found.extend(shortest.map(|places| format!("{places}{mend}")));
    found
}

/// Returns the places of a chain of uses from one module to another, `None` if there is no chain.
fn way<'a>(
    uses: &'a Uses,
    from: &Path,
    to: &Path,
    seen: &mut BTreeSet<&'a Path>,
) -> Option<String> {
    let mut next = uses.iter().filter(|((user, _), _)| user == from);
    next.find_map(|((_, used), place)| {
        if used == to {
            return Some(place.clone());
        }
        let rest = seen.insert(used).then(|| way(uses, used, to, seen))??;
        Some(format!("{place}{rest}"))
    })
}

#[cfg(test)]
mod tests {
    use super::{circles, layers};
    use crate::tree::finds;

    const CARGO: &str = "\n[dependencies]\nhyper-util = \"1\"\nlog.version = \"1\"\nrusqlite = \"1\"\ntokio = \"1\"\n";

    #[track_caller]
    fn refused(path: &str, source: &str, lines: &[usize]) {
        let places: Vec<String> = lines.iter().map(|line| format!("{path}:{line}")).collect();
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        let rooms = [
            "src/app.rs",
            "src/cli.rs",
            "src/domain/x.rs",
            "src/store.rs",
            "src/web/a.css",
        ];
        let rooms = rooms.map(|path| (path, ""));
        finds(
            layers,
            &[&rooms[..], &[("Cargo.toml", CARGO), (path, source)]].concat(),
            &places,
        );
    }

    #[test]
    fn another_room_is_refused_however_it_is_named() {
        let money = "src/domain/money.rs";
        refused(
            money,
            "use crate::domain::asset;\nuse crate::{store::row};",
            &[2],
        );
        refused(money, "use super::asset;\nuse super::super::store;", &[2]);
        refused(
            "src/http/a.rs",
            "fn f() {\n crate::store::open();\n crate::store::open() }",
            &[2],
        );
        refused("src/http/a.rs", "use coffer::Server;", &[1]);
        refused(
            "src/http/a.rs",
            "// crate::store\nconst A: &str = \"crate::store::X\"; use crate::web;",
            &[],
        );
        refused("src/main.rs", "fn main() { coffer::cli::run() }", &[]);
        refused("src/cellar/a.rs", "", &[1]);
    }

    #[test]
    fn a_crate_is_refused_outside_its_rooms() {
        refused(
            "src/service/a.rs",
            "fn f(c: &rusqlite::Connection) {}",
            &[1],
        );
        refused(
            "src/service/a.rs",
            "#[cfg(test)] mod tests { use rusqlite::Connection; }",
            &[],
        );
        refused(
            "src/store/a.rs",
            "use tokio::sync::oneshot;\nuse tokio::{sync, time::sleep};",
            &[2],
        );
        refused(
            "src/http/a.rs",
            "use hyper_util::rt::TokioIo; use log::info;",
            &[],
        );
        refused("src/domain/a.rs", "fn f() { log::info!(\"a\") }", &[1]);
    }

    #[test]
    fn a_circle_of_rooms_is_found() {
        let files = [
            ("src/a.rs", "use crate::b::x;"),
            ("src/b/x.rs", "use super::y;"),
            ("src/b/y.rs", "use crate::c;"),
            ("src/c.rs", "use crate::d;\nuse crate::a;"),
            ("src/d.rs", ""),
        ];
        finds(circles, &files, &["src/a.rs:1"]);
    }

    #[test]
    fn a_circle_inside_http_is_found_however_it_is_named() {
        for used in [
            "use super::routes::ROUTES;",
            "use crate::http::{error, routes};",
            "fn f() { crate::http::routes::all() }",
            "use super as http; fn f() { http::routes::all() }",
        ] {
            let files = [
                ("src/http/mod.rs", ""),
                ("src/http/front.rs", used),
                ("src/http/error.rs", ""),
                ("src/http/routes.rs", "use super::api::events;"),
                ("src/http/api/events.rs", "use crate::http::front::Front;"),
            ];
            finds(circles, &files, &["src/http/api/events.rs:1"]);
        }
        let files = [
            ("src/http/api.rs", ""),
            ("src/http/api/a.rs", "use super::b;"),
            ("src/http/api/b.rs", "use crate::http::api::a::x;"),
        ];
        finds(circles, &files, &["src/http/api/a.rs:1"]);
        let files = [
            ("src/http/mod.rs", "pub use routes::all;"),
            ("src/http/front.rs", "use super::all;"),
        ];
        finds(circles, &files, &["src/http/front.rs:1"]);
    }

    #[test]
    fn a_module_and_its_children_are_one() {
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
