//! Who may use whom: the one table of it, held against every path that a file in src/ names.
//!
//! Code under `#[cfg(test)]` may use any crate, but no other room than the code beside it.

use std::collections::BTreeSet;

use crate::names::names;
use crate::tree::{File, Tree};

/// One room: the rooms and the crates (or parts of a crate) that it may name, besides itself.
struct Layer {
    room: &'static str,
    rooms: &'static [&'static str],
    crates: &'static [&'static [&'static str]],
}

const ANY: &str = "any room";
/// Types that carry values between rooms.
const VALUES: &[&str] = &["serde", "serde_json", "time", "uuid"];
const RULES: &[&str] = &[
    "base64",
    "bech32",
    "bs58",
    "crc32fast",
    "curve25519_dalek",
    "hmac",
    "k256",
    "qrcodegen",
    "ripemd",
    "rust_decimal",
    "sha2",
    "sha3",
    "totp_rs",
];
const HYPER: &[&str] = &[
    "http_body_util",
    "hyper",
    "hyper_util",
    "percent_encoding",
    "tokio",
];
const SQLITE: &[&str] = &["rusqlite"];
const POOL: &[&str] = &["r2d2", "r2d2_sqlite", "scheduled_thread_pool"];
const LOG: &[&str] = &["log"];

const LAYERS: &[Layer] = &[
    Layer {
        room: "domain",
        rooms: &[],
        crates: &[VALUES, RULES],
    },
    Layer {
        room: "store",
        rooms: &["domain"],
        crates: &[VALUES, SQLITE, POOL, LOG, &["rustix", "tokio::sync"]],
    },
    Layer {
        room: "service",
        rooms: &["domain", "store"],
        crates: &[VALUES, LOG, &["argon2", "getrandom"]],
    },
    Layer {
        room: "api",
        rooms: &["domain", "store", "service"],
        crates: &[VALUES, &["percent_encoding"]],
    },
    Layer {
        room: "http",
        rooms: &["api", "service", "domain", "clock", "web"],
        crates: &[VALUES, HYPER, LOG, &["askama::Template"]],
    },
    Layer {
        room: "outbound",
        rooms: &["domain"],
        crates: &[VALUES, LOG, &["ureq"]],
    },
    Layer {
        room: "chain",
        rooms: &["domain", "outbound", "clock"],
        crates: &[
            VALUES,
            LOG,
            &[
                "base64",
                "rustls",
                "rustls_native_certs",
                "scrypt",
                "sha2",
                "ureq",
                "webpki_roots",
            ],
        ],
    },
    Layer {
        room: "worker",
        rooms: &["service", "chain", "outbound", "domain", "clock"],
        crates: &[VALUES, LOG, &["close_fds", "rustix", "tokio"]],
    },
    Layer {
        room: "clock",
        rooms: &["domain"],
        crates: &[LOG, &["rustix::time", "time", "tokio"]],
    },
    Layer {
        room: "web",
        rooms: &["domain"],
        crates: &[&["askama", "flate2"]],
    },
    Layer {
        room: "config",
        rooms: &["domain"],
        crates: &[VALUES, LOG, &["clap"]],
    },
    Layer {
        room: "app",
        rooms: &[ANY],
        crates: &[
            VALUES,
            RULES,
            HYPER,
            SQLITE,
            LOG,
            &["env_logger", "getrandom", "rustix", "ureq"],
        ],
    },
    Layer {
        room: "cli",
        rooms: &[ANY],
        crates: &[
            VALUES,
            LOG,
            &[
                "clap",
                "clap_complete",
                "env_logger",
                "indicatif",
                "rustix::termios",
                "tokio",
            ],
        ],
    },
    // The map, and the face for in-process use.
    Layer {
        room: "lib",
        rooms: &["app", "cli", "config", "domain"],
        crates: &[],
    },
    Layer {
        room: "main",
        rooms: &["lib", "app", "cli", "config"],
        crates: &[LOG, &["env_logger"]],
    },
];

impl Layer {
    fn crates(&self) -> impl Iterator<Item = &'static str> {
        self.crates.iter().copied().flatten().copied()
    }
}

pub fn layers(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["src/", "Cargo.toml"]);
    let rooms: BTreeSet<&str> = tree.under("src/").map(File::room).collect();
    let crates: BTreeSet<String> = tree
        .dependencies()
        .iter()
        .map(|(name, _)| name.replace('-', "_"))
        .collect();
    for file in tree.rust("src/") {
        match LAYERS.iter().find(|layer| layer.room == file.room()) {
            Some(layer) => found.extend(strays(file, layer, &rooms, &crates)),
            None => found.push(file.at(1, &format!(
                "`{}` is a room that no rule knows: give it a line in LAYERS (tests/tidy/layers.rs) and in src/lib.rs, or move this file into a room that is there",
                file.room()
            ))),
        }
    }
    found
}

/// What a file names that its room may not, each once.
fn strays(
    file: &File,
    layer: &Layer,
    rooms: &BTreeSet<&str>,
    crates: &BTreeSet<String>,
) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for name in names(file) {
        let Some(first) = name.path.first() else {
            continue;
        };
        let second = name.path.get(1).map_or("", String::as_str);
        let (what, fine, may) = if first == "crate" {
            // What the crate's root itself holds is lib's.
            let room = if rooms.contains(second) {
                second
            } else {
                "lib"
            };
            let fine =
                room == layer.room || layer.rooms.contains(&room) || layer.rooms.contains(&ANY);
            (room.to_owned(), fine, layer.rooms.join(", "))
        } else if crates.contains(first) {
            let fine = name.test || layer.crates().any(|allowed| name.starts(allowed));
            (
                name.path[..name.path.len().min(2)].join("::"),
                fine,
                layer.crates().collect::<Vec<_>>().join(", "),
            )
        } else {
            continue;
        };
        if !fine && seen.insert(what.clone()) {
            found.push(file.at(name.line, &format!(
                "`{}` may not use `{what}`, only [{may}]: have one of these do it and hand over the result, or, where the house itself changed, change LAYERS in tests/tidy/layers.rs and the map in src/lib.rs",
                layer.room
            )));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::layers;
    use crate::tree::finds;

    const CARGO: (&str, &str) = (
        "Cargo.toml",
        "[dependencies]\nhyper-util = \"1\"\nlog.version = \"1\"\nrusqlite = \"1\"\ntokio = \"1\"\nargon2 = \"1\"\n",
    );
    const LIB: (&str, &str) = (
        "src/lib.rs",
        "mod domain; pub mod store; pub use app::Server;",
    );

    #[track_caller]
    fn holds(path: &str, source: &str, places: &[&str]) {
        let rooms = [
            CARGO,
            LIB,
            ("src/app.rs", ""),
            ("src/domain/x.rs", ""),
            ("src/store.rs", ""),
            ("src/web/a.css", ""),
        ];
        let files: Vec<(&str, &str)> = rooms
            .into_iter()
            .filter(|room| room.0 != path)
            .chain([(path, source)])
            .collect();
        finds(layers, &files, places);
    }

    #[test]
    fn another_room_is_refused_however_it_is_named() {
        holds(
            "src/domain/money.rs",
            "use crate::domain::asset;\nuse crate::{store::row};",
            &["src/domain/money.rs:2"],
        );
        holds(
            "src/domain/money.rs",
            "use super::asset;\nuse super::super::store;",
            &["src/domain/money.rs:2"],
        );
        holds(
            "src/http/api.rs",
            "fn f() {\n crate::store::open();\n crate::store::open() }",
            &["src/http/api.rs:2"],
        );
        holds(
            "src/http/api.rs",
            "use coffer::Server;",
            &["src/http/api.rs:1"],
        );
        holds(
            "src/http/api.rs",
            "// use crate::store;\nconst A: &str = r#\"crate::store::X\"#; use crate::web;",
            &[],
        );
        holds(
            "src/store/row.rs",
            "#[cfg(test)] mod tests { use crate::app; }",
            &["src/store/row.rs:1"],
        );
        holds("src/main.rs", "fn main() { coffer::cli::run() }", &[]);
        holds(
            "src/lib.rs",
            "pub mod store;\npub use store::Pool;",
            &["src/lib.rs:2"],
        );
    }

    #[test]
    fn a_crate_is_refused_outside_its_rooms() {
        holds(
            "src/service/a.rs",
            "fn f(c: &rusqlite::Connection) {}",
            &["src/service/a.rs:1"],
        );
        holds(
            "src/service/a.rs",
            "#[cfg(test)] mod tests { use rusqlite::Connection; }",
            &[],
        );
        holds(
            "src/store/row.rs",
            "use tokio::sync::oneshot;\nuse tokio::{sync, time::sleep};",
            &["src/store/row.rs:2"],
        );
        holds(
            "src/http/a.rs",
            "use hyper_util::rt::TokioIo; use log::info;",
            &[],
        );
        holds(
            "src/domain/a.rs",
            "fn f() { log::info!(\"a\") }",
            &["src/domain/a.rs:1"],
        );
        holds(
            "src/domain/a.rs",
            "use argon2::Argon2;",
            &["src/domain/a.rs:1"],
        );
    }

    #[test]
    fn a_room_without_a_line_is_refused() {
        holds("src/cellar/a.rs", "", &["src/cellar/a.rs:1"]);
    }
}
