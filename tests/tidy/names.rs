//! Finds the module paths that the code of a file uses. Each path starts at the root of this crate or of another
//! crate.

use crate::scan::Token;
use crate::tree::SourceFile;
use std::collections::BTreeMap;

pub type ModulePath = Vec<String>;

/// The paths that a file uses, and the path of its own module.
pub struct UsedNames {
    /// Path of the file's own module.
    pub home: ModulePath,
    /// Each used path, with its line.
    pub used: Vec<(ModulePath, usize)>,
    /// Each imported path, by its name in the file.
    imported: BTreeMap<String, ModulePath>,
}

impl UsedNames {
    pub fn from_file(file: &SourceFile) -> UsedNames {
        let code = file.program_tokens();
        let text = |at: usize| code.get(at).map_or("", |token| token.text.as_str());
        let mut names = UsedNames {
            home: module_path_of_file(file),
            used: Vec::new(),
            imported: BTreeMap::new(),
        };
        let mut at = 0;
        while at < code.len() {
            let before = |count: usize| at.checked_sub(count).and_then(|at| code.get(at));
            let is_colon = |count| before(count).is_some_and(|token| token.text == ":");
            let is_segment = |token: &&Token| token.is_word() || token.text == ">";
            let goes_on = is_colon(1) && is_colon(2) && before(3).is_some_and(is_segment);
            if text(at) == "use" && text(at + 1) != "<" {
                at = names.parse_import(&code, at + 1, &[]);
            } else if code[at].is_word() && !goes_on {
                let line = code[at].line;
                let mut path = vec![text(at).to_owned()];
                while text(at + 1) == ":"
                    && text(at + 2) == ":"
                    && code.get(at + 3).is_some_and(|next| next.is_word())
                {
                    at += 3;
                    path.push(text(at).to_owned());
                }
                if path.len() > 1 {
                    let path = names.resolve_path(&path);
                    names.used.push((path, line));
                }
            }
            at += 1;
        }
        names
    }

    /// Parses one `use` tree, and returns the index of the token that ends it.
    fn parse_import(&mut self, code: &[&Token], from: usize, start: &[String]) -> usize {
        let (mut path, mut alias) = (start.to_vec(), None);
        let mut at = from;
        while let Some(token) = code.get(at) {
            match token.text.as_str() {
                "{" => {
                    while code.get(at).is_some_and(|token| token.text != "}") {
                        at = self.parse_import(code, at + 1, &path);
                    }
                    return at + 1;
                }
                ";" | "," | "}" => break,
                "as" => alias = code.get(at + 1).map(|token| token.text.clone()),
                "self" if !path.is_empty() => {}
                _ if alias.is_some() || !token.is_word() => {}
                part => path.push(part.to_owned()),
            }
            at += 1;
        }
        if at > from
            && let Some(last) = path.last()
        {
            let alias = alias.unwrap_or_else(|| last.clone());
            let path = self.resolve_path(&path);
            self.used.push((path.clone(), code[from].line));
            self.imported.insert(alias, path);
        }
        at
    }

    fn resolve_path(&self, path: &[String]) -> ModulePath {
        let (first, rest) = path.split_at(1);
        let ups = path.iter().take_while(|part| *part == "super").count();
        let home = &self.home[..self.home.len().saturating_sub(ups)];
        let root = ["crate".to_owned()];
        match first[0].as_str() {
            "crate" | "coffer" => [&root[..], rest].concat(),
            "super" => [&root[..], home, &path[ups..]].concat(),
            "self" => [&root[..], home, rest].concat(),
            first => match self.imported.get(first) {
                Some(import) => [import, rest].concat(),
                None => path.to_vec(),
            },
        }
    }
}

/// Returns the path of a file's module: `src/http/pages/link.rs` is `http`, `pages`, `link`.
fn module_path_of_file(file: &SourceFile) -> ModulePath {
    let path = file.path.strip_prefix("src/").unwrap_or(&file.path);
    let path = path.trim_end_matches(".rs");
    let mut parts: ModulePath = path.split('/').map(str::to_owned).collect();
    parts.pop_if(|last| matches!(last.as_str(), "mod" | "lib"));
    parts
}

#[cfg(test)]
mod tests {
    use super::UsedNames;
    use crate::tree::Tree;

    #[track_caller]
    fn assert_paths_used(path: &str, source: &str, expected: &str) {
        let tree = Tree::from_files(&[(path, source)]);
        let names = UsedNames::from_file(&tree.files[0]);
        let all: Vec<String> = names.used.iter().map(|(path, _)| path.join("::")).collect();
        assert_eq!(all.join(" "), expected, "{source}");
    }

    #[test]
    fn nested_imports_are_expanded() {
        let source =
            "use std::{env as e, io::{self, Read,}, *}; use ::time::Date; use coffer::store;";
        let expected = "std::env std::io std::io::Read std time::Date crate::store";
        assert_paths_used("src/a.rs", source, expected);
        assert_paths_used("src/a.rs", "fn f() -> impl Sized + use<'_> { g() }", "");
    }

    #[test]
    fn paths_are_followed_through_imports() {
        let source = "use std::env as e; fn f() { e::var(1); Vec::<u8>::new(); <T>::b::c() }";
        assert_paths_used("src/a.rs", source, "std::env std::env::var");
        assert_paths_used("src/a.rs", "fn f(a: ::rusqlite::Row<'_>) {}", "rusqlite::Row");
        let source = "use crate::domain; fn f(a: rusqlite::Row<'_>) { domain::money::sum() }";
        assert_paths_used(
            "src/a.rs",
            source,
            "crate::domain rusqlite::Row crate::domain::money::sum",
        );
    }

    #[test]
    fn relative_paths_are_resolved() {
        let source = "use super::super::auth; use super::y::{Z}; self::w(); $crate::v();";
        let expected = "crate::http::auth crate::http::api::y::Z crate::http::api::x::w crate::v";
        assert_paths_used("src/http/api/x.rs", source, expected);
        assert_paths_used(
            "src/http/mod.rs",
            "use self::a; fn f() { a::b() }",
            "crate::http::a crate::http::a::b",
        );
    }
}
