//! The rule about types of `domain`: other modules import those that its root exports from the root, so that there is
//! one way to import a type.

use crate::names::UsedNames;
use crate::tree::Tree;
use std::collections::BTreeSet;

const ROOT: &str = "src/domain/mod.rs";

/// Finds paths through the modules of `domain` to a type that the root of `domain` exports.
pub fn long_paths_to_exported_types(tree: &Tree) -> Vec<String> {
    let Some(root) = tree.find_file(ROOT) else { return Vec::new() };
    let exported: BTreeSet<String> = UsedNames::from_file(root)
        .used
        .into_iter()
        .filter_map(|(path, _)| path.last().cloned())
        .collect();
    let domain = ["crate", "domain"].map(str::to_owned);
    let mut found = Vec::new();
    let files = ["src/", "tests/it/", "examples/"].iter().flat_map(|start| tree.rust_files(start));
    for file in files.filter(|file| !file.path.starts_with("src/domain/")) {
        for (path, line) in UsedNames::from_file(file).used {
            let is_type = |name: &String| name.starts_with(char::is_uppercase);
            let first_type = path.iter().position(is_type).filter(|at| *at > 2);
            let name = first_type.map(|at| &path[at]).filter(|name| exported.contains(*name));
            if path.starts_with(&domain)
                && let Some(name) = name
            {
                let message =
                    format!("`{}` is `domain::{name}`: import it from there", path.join("::"));
                found.push(file.finding_at(line, &message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::long_paths_to_exported_types;
    use crate::tree::assert_finds;

    #[test]
    fn paths_through_modules_to_exported_types_are_found() {
        let files = [
            ("src/domain/mod.rs", "pub mod time;\npub use time::Time;"),
            ("src/domain/time.rs", "pub struct Time;\npub const DAY_MS: i64 = 1;"),
            ("src/domain/sales.rs", "use crate::domain::time::Time;"),
            ("src/http/page.rs", "use crate::domain::Time;\nuse crate::domain::time::DAY_MS;"),
            ("src/http/form.rs", "use crate::domain::time::Time;"),
        ];
        assert_finds(long_paths_to_exported_types, &files, &["src/http/form.rs:1"]);
    }
}
