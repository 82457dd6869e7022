//! Every path in the program is checked against the table of allowed uses, and modules do not use each other in a
//! cycle.
//!
//! Unit tests are excluded: they may use everything.

use crate::names::{ModulePath, UsedNames};
use crate::tree::{SourceFile, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Crates whose types every module may use.
const VALUES: &str = "serde serde_json time uuid";

/// Each top-level module, with the modules and the crates or parts of a crate that it may use.
const LAYERS: &[&str] = &[
    "domain | | VALUES base16ct base64 bech32 bs58 crc32fast curve25519_dalek hmac k256 qrcodegen ripemd rust_decimal \
     sha2 sha3 totp_rs",
    "render | domain | VALUES sha2",
    "store | domain | VALUES log r2d2 r2d2_sqlite rusqlite rustix scheduled_thread_pool tokio::sync",
    "service | domain render store | VALUES argon2 getrandom log",
    "api | domain render store service | VALUES percent_encoding",
    "http | api service render domain clock web | VALUES askama::Template http_body_util hyper hyper_util log percent_encoding \
     tokio tokio_rustls",
    "outbound | domain clock | VALUES lettre log percent_encoding rustls ureq webpki_roots",
    "chain | domain outbound clock | VALUES base16ct base64 k256 log ripemd rustls rustls_native_certs scrypt sha2 \
     ureq webpki_roots",
    "acme | domain | VALUES bytes http_body_util instant_acme log rcgen rustls tokio ureq",
    "worker | service render chain acme outbound domain clock | VALUES close_fds log rustix tokio",
    "clock | domain | rustix::time time",
    "web | domain | askama flate2",
    "config | domain | clap",
    "app | ANY | log rustix time tokio ureq",
    "cli | ANY | VALUES clap clap_complete env_logger indicatif log percent_encoding rustix::fs \
     rustix::io rustix::process rustix::termios tokio",
    "lib | app cli config domain |",
    "main | lib cli |",
];

/// Returns the three columns of each row of [`LAYERS`]: module, allowed modules and allowed crates.
pub fn layer_rows() -> impl Iterator<Item = [&'static str; 3]> {
    let part = |row: &'static str, at| row.split('|').nth(at).unwrap_or_default().trim();
    LAYERS.iter().map(move |row| [0, 1, 2].map(|at| part(row, at)))
}

pub fn forbidden_uses(tree: &Tree) -> Vec<String> {
    let known: Vec<&str> = layer_rows().map(|row| row[0]).collect();
    let dependencies = tree.dependencies().join(" ").replace('-', "_");
    let mut found = Vec::new();
    for file in tree.rust_files("src/") {
        let names = UsedNames::from_file(file);
        let own = names.home.first().map_or("lib", String::as_str);
        let Some([_, rooms, crates]) = layer_rows().find(|row| row[0] == own) else {
            found.push(file.finding_at(1, "a room without a row in LAYERS (tests/tidy/layers.rs)"));
            continue;
        };
        let mut seen = BTreeSet::new();
        for (path, line) in names.used {
            let (used, is_allowed) = if path[0] == "crate" {
                // An item at the root of the crate belongs to the module `lib`.
                let room = path.get(1).filter(|room| known.contains(&room.as_str()));
                let room = room.map_or("lib", String::as_str);
                let is_allowed = room == own || rooms == "ANY" || list_contains(rooms, room);
                (room.to_owned(), is_allowed)
            } else {
                let is_listed = |length: usize| list_contains(crates, &path[..length].join("::"));
                let is_allowed = (1..=path.len()).any(is_listed);
                (path.join("::"), is_allowed || !list_contains(&dependencies, &path[0]))
            };
            if !is_allowed && seen.insert(used.clone()) {
                found.push(file.finding_at(line, &format!(
                    "`{own}` may not use `{used}`: have a room do it that may, or change LAYERS (tests/tidy/layers.rs)"
                )));
            }
        }
    }
    found
}

/// Returns `true` if the list contains the name. The word `VALUES` in a list stands for the crates in [`VALUES`].
fn list_contains(list: &str, name: &str) -> bool {
    let is_in = |list: &str| list.split(' ').any(|one| one == name);
    is_in(list) || list.contains("VALUES") && is_in(VALUES)
}

/// Source location of one use, by the path of the using module and the path of the used module.
type ModuleUses = BTreeMap<(ModulePath, ModulePath), String>;

/// Finds the shortest cycle of uses between top-level modules, or between modules of `http`. A module and its
/// children count as one module.
pub fn circular_uses(tree: &Tree) -> Vec<String> {
    let names = tree.rust_files("src/").map(|file| (file, UsedNames::from_file(file)));
    let names: Vec<(&SourceFile, UsedNames)> = names.collect();
    let modules: BTreeSet<&ModulePath> = names.iter().map(|(_, names)| &names.home).collect();
    let (mut uses, mut found) = (ModuleUses::new(), Vec::new());
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
                uses.entry(pair).or_insert(file.finding_at(*line, ""));
            } else if *used == ["http"] && user.len() > 1 && path.len() > 2 {
                found
                    .push(file.finding_at(*line, "name the module inside http that has this item"));
            }
        }
    }
    let circle = |(user, _): &(ModulePath, ModulePath)| {
        find_use_chain(&uses, user, user, &mut BTreeSet::new())
    };
    let shortest = uses.keys().filter_map(circle).min_by_key(String::len);
    let mend = "a circle of uses: pass what one needs as an argument, or move it below the others";
    found.extend(shortest.map(|places| format!("{places}{mend}")));
    found
}

/// Returns the place of each use in a chain of uses that leads from one module to another, `None` if there is no
/// chain.
fn find_use_chain<'a>(
    uses: &'a ModuleUses,
    from: &ModulePath,
    to: &ModulePath,
    seen: &mut BTreeSet<&'a ModulePath>,
) -> Option<String> {
    let mut next = uses.iter().filter(|((user, _), _)| user == from);
    next.find_map(|((_, used), place)| {
        if used == to {
            return Some(place.clone());
        }
        let rest = seen.insert(used).then(|| find_use_chain(uses, used, to, seen))??;
        Some(format!("{place}{rest}"))
    })
}

#[cfg(test)]
mod tests {
    use super::{circular_uses, forbidden_uses};
    use crate::tree::assert_finds;

    const CARGO: &str = "\n[dependencies]\nhyper-util = \"1\"\nlog.version = \"1\"\nrusqlite = \"1\"\ntokio = \"1\"\n";

    #[track_caller]
    fn assert_found_at(path: &str, source: &str, lines: &[usize]) {
        let places: Vec<String> = lines.iter().map(|line| format!("{path}:{line}")).collect();
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        let rooms =
            ["src/app.rs", "src/cli.rs", "src/domain/x.rs", "src/store.rs", "src/web/a.css"];
        let rooms = rooms.map(|path| (path, ""));
        assert_finds(
            forbidden_uses,
            &[&rooms[..], &[("Cargo.toml", CARGO), (path, source)]].concat(),
            &places,
        );
    }

    #[test]
    fn use_of_forbidden_module_is_found_in_every_kind_of_path() {
        let money = "src/domain/money.rs";
        assert_found_at(money, "use crate::domain::asset;\nuse crate::{store::row};", &[2]);
        assert_found_at(money, "use super::asset;\nuse super::super::store;", &[2]);
        assert_found_at(
            "src/http/a.rs",
            "fn f() {\n crate::store::open();\n crate::store::open() }",
            &[2],
        );
        assert_found_at("src/http/a.rs", "use coffer::Server;", &[1]);
        assert_found_at(
            "src/http/a.rs",
            "// crate::store\nconst A: &str = \"crate::store::X\"; use crate::web;",
            &[],
        );
        assert_found_at("src/main.rs", "fn main() { coffer::cli::run() }", &[]);
        assert_found_at("src/cellar/a.rs", "", &[1]);
    }

    #[test]
    fn use_of_a_crate_in_a_forbidden_module_is_found() {
        assert_found_at("src/service/a.rs", "fn f(c: &rusqlite::Connection) {}", &[1]);
        assert_found_at(
            "src/service/a.rs",
            "#[cfg(test)] mod tests { use rusqlite::Connection; }",
            &[],
        );
        assert_found_at(
            "src/store/a.rs",
            "use tokio::sync::oneshot;\nuse tokio::{sync, time::sleep};",
            &[2],
        );
        assert_found_at("src/http/a.rs", "use hyper_util::rt::TokioIo; use log::info;", &[]);
        assert_found_at("src/domain/a.rs", "fn f() { log::info!(\"a\") }", &[1]);
    }

    #[test]
    fn circular_use_of_modules_is_found() {
        let files = [
            ("src/a.rs", "use crate::b::x;"),
            ("src/b/x.rs", "use super::y;"),
            ("src/b/y.rs", "use crate::c;"),
            ("src/c.rs", "use crate::d;\nuse crate::a;"),
            ("src/d.rs", ""),
        ];
        assert_finds(circular_uses, &files, &["src/a.rs:1"]);
    }

    #[test]
    fn circular_use_inside_http_is_found_in_every_kind_of_path() {
        for used in [
            "use super::routes::ROUTES;",
            "use crate::http::{error, routes};",
            "fn f() { crate::http::routes::all() }",
            "use super as http; fn f() { http::routes::all() }",
        ] {
            let files = [
                ("src/http/mod.rs", ""),
                ("src/http/state.rs", used),
                ("src/http/error.rs", ""),
                ("src/http/routes.rs", "use super::api::events;"),
                ("src/http/api/events.rs", "use crate::http::state::HttpState;"),
            ];
            assert_finds(circular_uses, &files, &["src/http/api/events.rs:1"]);
        }
        let files = [
            ("src/http/api.rs", ""),
            ("src/http/api/a.rs", "use super::b;"),
            ("src/http/api/b.rs", "use crate::http::api::a::x;"),
        ];
        assert_finds(circular_uses, &files, &["src/http/api/a.rs:1"]);
        let files =
            [("src/http/mod.rs", "pub use routes::all;"), ("src/http/state.rs", "use super::all;")];
        assert_finds(circular_uses, &files, &["src/http/state.rs:1"]);
    }

    #[test]
    fn module_and_its_children_count_as_one() {
        let files = [
            ("src/http/pages.rs", "mod link; use link::show; use super::reply;"),
            ("src/http/pages/link.rs", "use super::Page; use crate::http::reply::Reply;"),
            ("src/http/reply.rs", "#[cfg(test)] mod tests { use super::super::pages; }"),
            ("src/domain/a.rs", "use super::b;"),
            ("src/domain/b.rs", "use super::a;"),
        ];
        assert_finds(circular_uses, &files, &[]);
    }
}
