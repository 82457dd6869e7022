//! Rules about the length and the header of files, the top level of the project, the list of modules in `src/lib.rs`,
//! and the reasons for dependencies.

use crate::layers::layer_rows;
use crate::tree::{SourceFile, Tree};

const FILE_LINES_MAX: usize = 400;

const TOP_LEVEL_NAMES: &str = "Cargo.lock Cargo.toml LICENSE README.md examples sql src tests";
const OPTIONAL_TOP_LEVEL_NAMES: &str = ".cargo .ci .git .gitignore .rustfmt.toml target";

/// The guide that gives a reason for each dependency.
const DEPENDENCIES_GUIDE: &str = "src/web/guides/working.md";

/// Finds files that are too long or lack a header. Clippy limits the length of functions.
pub fn misshapen_files(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    let end = |file: &SourceFile| file.path.rsplit('.').next().unwrap_or_default().to_owned();
    let is_code = |file: &&SourceFile| ["rs", "js", "mjs"].contains(&end(file).as_str());
    for file in tree.files.iter().filter(is_code) {
        let lines = file.text.lines().count();
        if lines > FILE_LINES_MAX {
            found.push(file.finding_at(lines, "too long: make it two files"));
        }
        if file.path.ends_with(".rs") && !file.text.starts_with("//!") {
            found.push(file.finding_at(1, "a file opens with `//!` and what it does"));
        }
    }
    found
}

pub fn unused_sql_files(tree: &Tree) -> Vec<String> {
    let is_used = |path: &str| {
        let literal = format!("{path}\"");
        tree.rust_files("src/").any(|file| file.text.contains(&literal))
    };
    let unused = tree.files_under("sql/").filter(|file| !is_used(&file.path));
    let say =
        |file: &SourceFile| file.finding_at(1, "nothing in src includes this file: delete it");
    unused.map(say).collect()
}

pub fn top_level_faults(tree: &Tree) -> Vec<String> {
    let is_missing = |name: &&str| !tree.top.iter().any(|entry| entry == name);
    // A server that is started in the project's folder leaves its database there.
    let is_known = |name: &&String| {
        format!(" {TOP_LEVEL_NAMES} {OPTIONAL_TOP_LEVEL_NAMES} ").contains(&format!(" {name} "))
            || name.contains(".db")
    };
    let missing = TOP_LEVEL_NAMES.split(' ').filter(is_missing);
    let mut found: Vec<String> = missing.map(|name| format!("{name}: missing")).collect();
    let strange = tree.top.iter().filter(|name| !is_known(name));
    found.extend(strange.map(|name| format!("{name}: move it into a folder")));
    found
}

pub fn modules_missing_in_crate_docs(tree: &Tree) -> Vec<String> {
    let lines = tree.file_text("src/lib.rs").lines();
    let map: String = lines.filter(|line| line.starts_with("//!")).collect();
    let rooms = layer_rows().map(|row| row[0]);
    rooms
        .filter(|room| *room != "lib" && !map.contains(&format!("`{room}`")))
        .map(|room| format!("src/lib.rs:1: the map does not name `{room}`"))
        .collect()
}

/// Finds paths in the map that lead to no module or item, and names after [`store`] that are no module of it. Names in
/// square brackets are links, which rustdoc checks.
pub fn unknown_names_in_crate_docs(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    let mut follows_store = false;
    for (line, text) in (1..).zip(tree.file_text("src/lib.rs").lines()) {
        let Some(text) = text.strip_prefix("//! ") else { continue };
        follows_store = text.contains("[`store`]:") || follows_store && text.starts_with("  ");
        let named = text.replace("[`", "[").replace("`]", "]");
        for name in named.split('`').skip(1).step_by(2) {
            let is_known = match name.rsplit_once("::") {
                Some((module, last)) => {
                    module_text(tree, name).is_some()
                        || module_text(tree, module).is_some_and(|text| text.contains(last))
                }
                None => !follows_store || module_text(tree, &format!("store::{name}")).is_some(),
            };
            if !is_known {
                found
                    .push(format!("src/lib.rs:{line}: the map names `{name}`, which is not there"));
            }
        }
    }
    found
}

/// Returns the text of a module's file.
fn module_text<'t>(tree: &'t Tree, path: &str) -> Option<&'t str> {
    let path = path.replace("::", "/");
    let files = [format!("src/{path}.rs"), format!("src/{path}/mod.rs")];
    files.iter().find(|file| tree.find_file(file).is_some()).map(|file| tree.file_text(file))
}

pub fn unexplained_dependencies(tree: &Tree) -> Vec<String> {
    let is_named = |name: &str| tree.file_text(DEPENDENCIES_GUIDE).contains(&format!("`{name}`"));
    let all = tree.dependencies().into_iter();
    all.filter(|name| !is_named(name))
        .map(|name| {
            format!("Cargo.toml: say in {DEPENDENCIES_GUIDE} why `{name}` is not written here")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{
        DEPENDENCIES_GUIDE, TOP_LEVEL_NAMES, layer_rows, misshapen_files,
        modules_missing_in_crate_docs, top_level_faults, unexplained_dependencies,
        unknown_names_in_crate_docs, unused_sql_files,
    };
    use crate::tree::assert_finds;

    #[test]
    fn long_files_and_missing_headers_are_found() {
        let tree = [
            ("src/a.rs", format!("//! a\n{}", "f();\n".repeat(400))),
            ("examples/a.rs", format!("\n//! a{}", "\n".repeat(390))),
            ("tests/browser/a.mjs", "a();\n".repeat(401)),
        ];
        let tree = tree.each_ref().map(|(path, text)| (*path, text.as_str()));
        let places = ["src/a.rs:401", "examples/a.rs:1", "tests/browser/a.mjs:401"];
        assert_finds(misshapen_files, &tree, &places);
    }

    #[test]
    fn unknown_and_missing_top_level_names_are_found() {
        let mut tree: Vec<(&str, &str)> =
            TOP_LEVEL_NAMES.split(' ').map(|name| (name, "")).collect();
        assert_finds(top_level_faults, &tree, &[]);
        tree.extend([("notes/a.md", ""), (".ci", ""), ("coffer.db-wal", "")]);
        assert_finds(top_level_faults, &tree[1..], &["Cargo.lock", "notes"]);
    }

    #[test]
    fn modules_missing_in_crate_docs_are_found() {
        let rooms = layer_rows().skip(1).map(|row| format!("//! `{}`\n", row[0]));
        let rooms: String = rooms.collect();
        let lib = format!("{rooms}// `domain`, domains\n");
        assert_finds(modules_missing_in_crate_docs, &[("src/lib.rs", &lib)], &["src/lib.rs:1"]);
    }

    #[test]
    fn unknown_names_in_crate_docs_are_found() {
        let map = "//! 1. `app::commits` wakes [`worker::none`], `app::gone` does not (`any`).\n\
            //! 2. `app::commits::hook`, `app::commits::other`.\n//! 3. [`store`]: `events` and\n//!    `attempts`.\n\
            //! 4. `attempts`.\n";
        let tree = [
            ("src/lib.rs", map),
            ("src/app/commits.rs", "fn hook() {}"),
            ("src/store/events.rs", ""),
        ];
        assert_finds(
            unknown_names_in_crate_docs,
            &tree,
            &["src/lib.rs:1", "src/lib.rs:2", "src/lib.rs:4"],
        );
    }

    #[test]
    fn unexplained_dependencies_are_found() {
        let cargo = "[package]\nname = \"a\"\n[dependencies]\n# why\nclap = \"4\"\nbs58.version = \"1\"\n\n[dev-dependencies]\nx = \"1\"\n";
        let tree = [("Cargo.toml", cargo), (DEPENDENCIES_GUIDE, "| `clap` | a |")];
        assert_finds(unexplained_dependencies, &tree, &["Cargo.toml"]);
    }

    #[test]
    fn unused_sql_files_are_found() {
        let source = "// sql/b/c.sql\nconst A: &str = include_str!(\"../../sql/a/b.sql\");";
        let tree = [("src/store/a.rs", source), ("sql/a/b.sql", ""), ("sql/b/c.sql", "")];
        assert_finds(unused_sql_files, &tree, &["sql/b/c.sql:1"]);
    }
}
