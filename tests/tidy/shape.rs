//! The shape of the house: how long a file is, how it opens, what stands at the top, what the map and the table of dependencies list.

use std::collections::BTreeSet;

use crate::scan::{Kind, Token};
use crate::tree::{File, Tree};
use crate::words::has_phrase;

const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 70;
const SCRIPT_LINE_CHARS_MAX: usize = 120;
const ROOTS: &[&str] = &["src/", "tests/", "examples/"];
/// Where scripts of pages and of their tests are.
const SCRIPTS: &[&str] = &["src/web/", "tests/browser/"];

const TOP: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "examples",
    "sql",
    "src",
    "tests",
];
/// May be there, need not.
const TOP_TOO: &[&str] = &[".cargo", ".ci", ".git", ".gitignore", "target"];

/// The guide that says why each dependency is there.
const DEPENDENCIES: &str = "src/web/guides/working.md";

/// What the house was founded on; everything else has its reason in DEPENDENCIES.
const FOUNDING: &[&str] = &[
    "env_logger",
    "hmac",
    "http-body-util",
    "hyper",
    "hyper-util",
    "log",
    "r2d2",
    "r2d2_sqlite",
    "rusqlite",
    "rust_decimal",
    "serde",
    "serde_json",
    "sha2",
    "time",
    "tokio",
    "ureq",
    "uuid",
];

pub fn lengths(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(ROOTS);
    for file in ROOTS.iter().flat_map(|root| tree.rust(root)) {
        let lines = file.text.lines().count();
        if lines > FILE_LINES_MAX {
            found.push(file.at(lines, &format!(
                "{lines} lines, and {FILE_LINES_MAX} are the most: a file this long is two files, each with a name that says what is in it"
            )));
        }
        for (name, line, lines) in functions(file) {
            if lines > FUNCTION_LINES_MAX {
                found.push(file.at(line, &format!(
                    "`{name}` has {lines} lines, and {FUNCTION_LINES_MAX} are the most: give its steps functions of their own"
                )));
            }
        }
    }
    found
}

/// No formatter breaks the lines of scripts.
pub fn scripts(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(SCRIPTS);
    let is_script = |file: &&File| file.path.ends_with(".js") || file.path.ends_with(".mjs");
    let scripts = SCRIPTS.iter().flat_map(|folder| tree.under(folder));
    for file in scripts.filter(is_script) {
        let lines = file.text.lines().count();
        if lines > FILE_LINES_MAX {
            found.push(file.at(
                lines,
                &format!("{lines} lines, and {FILE_LINES_MAX} are the most: a script this long is two scripts"),
            ));
        }
        for (at, line) in file.text.lines().enumerate() {
            let chars = line.chars().count();
            if chars > SCRIPT_LINE_CHARS_MAX {
                found.push(file.at(
                    at + 1,
                    &format!("{chars} characters, and {SCRIPT_LINE_CHARS_MAX} are the most: break the line"),
                ));
            }
        }
    }
    found
}

/// Each function with a body: its name, the line of its `fn`, how many lines from there to its last brace.
fn functions(file: &File) -> Vec<(String, usize, usize)> {
    let code = file.code();
    let mut found = Vec::new();
    for (at, token) in code.iter().enumerate() {
        let name = code
            .get(at + 1)
            .filter(|name| token.text == "fn" && name.is_word());
        if let Some(name) = name
            && let Some(end) = body_end(&code[at..])
        {
            found.push((name.text.clone(), token.line, end - token.line + 1));
        }
    }
    found
}

/// The line of the brace that closes the first body, unless a `;` says that there is none.
fn body_end(code: &[&Token]) -> Option<usize> {
    let mut depth = 0;
    let mut braces = 0;
    for token in code {
        match token.text.as_str() {
            ";" if depth == 0 => return None,
            "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            "{" => {
                depth += 1;
                braces += 1;
            }
            "}" => {
                depth -= 1;
                braces -= 1;
                if depth == 0 && braces == 0 {
                    return Some(token.line);
                }
            }
            _ => {}
        }
    }
    None
}

pub fn openings(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(ROOTS);
    for file in ROOTS.iter().flat_map(|root| tree.rust(root)) {
        if !file.text.starts_with("//!") {
            found.push(file.at(1, "a file opens with `//!`: what lives here, what does not, the one thing that always holds"));
        }
    }
    found
}

/// What every folder of tests stands on.
const TESTS: &str = "tests/it/";
const TESTS_STAND_ON: &[&str] = &["main.rs", "support.rs"];

pub fn test_folders(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&[TESTS]);
    for file in tree.rust(TESTS) {
        let name = &file.path[TESTS.len()..];
        if !name.contains('/') && !TESTS_STAND_ON.contains(&name) {
            found.push(file.at(
                1,
                "tests stand in a folder by what they are about: move it into one of tests/it/*/",
            ));
        }
    }
    found
}

pub fn top_level(tree: &Tree) -> Vec<String> {
    let has = |name: &&&str| tree.top.iter().any(|entry| entry == **name);
    let missing = TOP.iter().filter(|name| !has(name));
    let mut found: Vec<String> = missing
        .map(|name| format!("{name}:1: it is missing from the top level, which is fixed: add it"))
        .collect();
    let known = |name: &str| TOP.contains(&name) || TOP_TOO.contains(&name) || name.contains(".db");
    found.extend(tree.top.iter().filter(|name| !known(name)).map(|name| {
        format!("{name}:1: the top level is fixed: move it into src, sql, tests or examples, or keep it outside the repository")
    }));
    found
}

pub fn map(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["src/lib.rs"]);
    let Some(lib) = tree.file("src/lib.rs") else {
        return found;
    };
    let docs: Vec<&str> = lib
        .of_kind(Kind::Comment)
        .map(|token| token.text.as_str())
        .filter(|text| text.starts_with("//!"))
        .collect();
    let docs = docs.join("\n");
    let rooms: BTreeSet<&str> = tree
        .under("src/")
        .map(File::room)
        .filter(|room| *room != "lib")
        .collect();
    for room in rooms.iter().filter(|room| !has_phrase(&docs, room)) {
        found.push(lib.at(
            1,
            &format!(
                "the map does not name `{room}`: say in the `//!` lines what that room is for"
            ),
        ));
    }
    found
}

pub fn dependencies(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["Cargo.toml", DEPENDENCIES]);
    let reasons = tree.file(DEPENDENCIES).map_or("", |file| &file.text);
    for (name, line) in tree.dependencies() {
        let row =
            |said: &str| said.trim_start().starts_with('|') && said.contains(&format!("`{name}`"));
        if !FOUNDING.contains(&name.as_str()) && !reasons.lines().any(row) {
            found.push(format!(
                "Cargo.toml:{line}: {DEPENDENCIES} has no row for `{name}`: say in its table of dependencies what it is for and why it is not written here, or do without"
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{
        DEPENDENCIES, TOP, dependencies, functions, lengths, map, openings, scripts, test_folders,
        top_level,
    };
    use crate::tree::{Tree, finds};

    #[test]
    fn long_files_and_functions_are_refused() {
        let long = format!("//! a\nfn f() {{\n{}}}\n", "g();\n".repeat(399));
        let short = format!("//! a\nfn f() {{\n{}}}\n", "g();\n".repeat(68));
        let files = [
            ("src/a.rs", long.as_str()),
            ("tests/a.rs", &short),
            ("examples/a.rs", ""),
        ];
        finds(lengths, &files, &["src/a.rs:402", "src/a.rs:2"]);
    }

    #[test]
    fn long_scripts_and_their_long_lines_are_refused() {
        let wide = format!("{}\n{}é\n", "é".repeat(120), "é".repeat(120));
        let files = [
            ("src/web/a.js", wide.as_str()),
            ("src/web/a.css", &wide),
            ("tests/browser/a.mjs", &"a();\n".repeat(401)),
        ];
        finds(
            scripts,
            &files,
            &["src/web/a.js:2", "tests/browser/a.mjs:401"],
        );
    }

    #[test]
    fn functions_end_at_their_own_brace() {
        let source = "trait A { fn a(&self) -> [u8; 2]; }\nfn b<'a>(x: fn(u8), y: [u8; { 2 }])\nwhere A: B {\n f('}', \"}\", // }\n {});\n}\nconst fn c() {}";
        let tree = Tree::of(&[("src/a.rs", source)]);
        assert_eq!(
            functions(&tree.files[0]),
            [("b".to_owned(), 2, 5), ("c".to_owned(), 7, 1)]
        );
    }

    #[test]
    fn files_say_what_they_are_for() {
        let files = [
            ("src/a.rs", "\n//! a"),
            ("tests/a.rs", "//! a"),
            ("examples/a.rs", "// a"),
            ("src/a.css", ""),
        ];
        finds(openings, &files, &["src/a.rs:1", "examples/a.rs:1"]);
    }

    #[test]
    fn the_top_level_is_what_it_is() {
        let mut files: Vec<(&str, &str)> = TOP.iter().map(|name| (*name, "")).collect();
        finds(top_level, &files, &[]);
        files.push(("notes/a.md", ""));
        files.push(("build.rs", ""));
        files.push(("docs/a.md", ""));
        files.push(("packaging/a", ""));
        files.push((".ci", ""));
        files.push(("coffer.db-wal", ""));
        let refused = [
            "Cargo.lock:1",
            "build.rs:1",
            "docs:1",
            "notes:1",
            "packaging:1",
        ];
        finds(top_level, &files[1..], &refused);
    }

    #[test]
    fn rooms_are_on_the_map() {
        let files = [
            ("src/lib.rs", "//! `app` is wiring; mapping\n// store\n"),
            ("src/app.rs", ""),
            ("src/store/a.rs", ""),
            ("src/map.rs", ""),
        ];
        finds(map, &files, &["src/lib.rs:1", "src/lib.rs:1"]);
    }

    #[test]
    fn dependencies_have_their_row() {
        let cargo = "[package]\nname = \"a\"\n[dependencies]\nserde = \"1\"\nclap = \"4\"\nbs58.version = \"1\"\n[dependencies.k256]\nversion = \"1\"\n[dev-dependencies]\nx = \"1\"\n";
        let reasons = "We use `clap`.\n| `bs58` | base 58 |\n";
        finds(
            dependencies,
            &[("Cargo.toml", cargo), (DEPENDENCIES, reasons)],
            &["Cargo.toml:5", "Cargo.toml:7"],
        );
    }

    #[test]
    fn tests_stand_in_folders() {
        let files = [
            ("tests/it/main.rs", ""),
            ("tests/it/coins.rs", ""),
            ("tests/it/coins/mod.rs", ""),
        ];
        finds(test_folders, &files, &["tests/it/coins.rs:1"]);
    }
}
