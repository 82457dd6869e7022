//! Which paths a file names: imports, and paths in the code, followed through the file's own imports.
//!
//! `use std::env as e; e::var("A")` names `std::env` and `std::env::var`. What is ours comes out as
//! `crate::room::…`, from `coffer::`, `self::` and `super::` too.

use crate::scan::Token;
use crate::tree::File;

pub struct Name {
    pub path: Vec<String>,
    pub line: usize,
    /// Named under `#[cfg(test)]`, or in a file that is called tests.rs.
    pub test: bool,
}

impl Name {
    /// Whether the path has these parts, one after the other, anywhere.
    pub fn has(&self, parts: &str) -> bool {
        let parts: Vec<&str> = parts.split("::").collect();
        self.path.windows(parts.len()).any(|here| here == parts)
    }

    pub fn starts(&self, parts: &str) -> bool {
        let mut path = self.path.iter();
        parts
            .split("::")
            .all(|part| path.next().is_some_and(|own| own == part))
    }
}

/// A path as written, and the module it is written in.
struct Written {
    path: Vec<String>,
    home: Vec<String>,
    line: usize,
    test: bool,
    /// The name it has from here on, if this is an import or a module's declaration.
    known_as: Option<String>,
    /// It is `mod x`, which names nothing but its own child.
    declares: bool,
}

/// Marks a path that began with `::`, which never names anything local.
const GLOBAL: &str = "::";

pub fn names(file: &File) -> Vec<Name> {
    let written = written(file);
    let imports: Vec<&Written> = written
        .iter()
        .filter(|one| one.known_as.is_some())
        .collect();
    let used = written.iter().filter(|one| !one.declares);
    used.map(|one| Name {
        path: resolve(one, &imports),
        line: one.line,
        test: one.test,
    })
    .collect()
}

/// What the names mean that a file brings in at its top, by `use`: what others reach through it.
pub fn imported(file: &File) -> Vec<(String, Vec<String>)> {
    let written = written(file);
    let imports: Vec<&Written> = written
        .iter()
        .filter(|one| one.known_as.is_some() && one.home == file.modules())
        .collect();
    let uses = imports.iter().filter(|one| !one.declares);
    let meant = uses.map(|one| {
        let name = one.known_as.clone().unwrap_or_default();
        (name, resolve(one, &imports))
    });
    meant.collect()
}

fn resolve(written: &Written, imports: &[&Written]) -> Vec<String> {
    let mut path = written.path.clone();
    let mut home = written.home.clone();
    // An import may lean on another import; a chain longer than this is not written by people.
    for _ in 0..8 {
        let first = path.first().cloned().unwrap_or_default();
        let rest = path.get(1..).unwrap_or_default().to_vec();
        match first.as_str() {
            GLOBAL => return rest,
            "crate" | "coffer" => return join(&["crate".to_owned()], &rest),
            "self" => return join(&join(&["crate".to_owned()], &home), &rest),
            "super" => {
                home.pop();
                path = if rest.first().is_some_and(|part| part == "super") {
                    rest
                } else {
                    join(&["self".to_owned()], &rest)
                };
                continue;
            }
            _ => {}
        }
        let import = imports
            .iter()
            .find(|import| import.known_as.as_ref() == Some(&first));
        match import {
            Some(import) if import.path.first() != Some(&first) => {
                path = join(&import.path, &rest);
                home.clone_from(&import.home);
            }
            _ => break,
        }
    }
    path
}

fn join(start: &[String], end: &[String]) -> Vec<String> {
    [start, end].concat()
}

fn written(file: &File) -> Vec<Written> {
    let code = file.code();
    let text = |at: usize| code.get(at).map_or("", |token| token.text.as_str());
    let whole_is_test = file.path.ends_with("/tests.rs");
    let mut found = Vec::new();
    let mut scope = Scope {
        home: file.modules(),
        ..Scope::default()
    };
    let mut at = 0;
    while at < code.len() {
        scope.step(&code[at..]);
        let from = found.len();
        let mut taken = 1;
        if text(at) == "use" && text(at + 1) != "<" {
            taken += imports(&code[at + 1..], &[], &mut found);
        } else if text(at) == "mod" && matches!(text(at + 2), ";" | "{") {
            // Inside its braces a module is already `self`.
            let parts = if text(at + 2) == "{" {
                &["self"][..]
            } else {
                &["self", text(at + 1)]
            };
            let path = parts.iter().map(|part| (*part).to_owned()).collect();
            let module = Written::new(path, code[at].line, Some(text(at + 1)));
            found.push(Written {
                declares: true,
                ..module
            });
        } else if let Some((path, length)) = path(&code, at) {
            found.push(Written::new(path, code[at].line, None));
            taken = length;
        }
        for one in &mut found[from..] {
            one.home.clone_from(&scope.home);
            one.test = whole_is_test || scope.test_from.is_some();
        }
        at += taken;
    }
    found
}

impl Written {
    fn new(path: Vec<String>, line: usize, known_as: Option<&str>) -> Written {
        let known_as = known_as.map(str::to_owned);
        Written {
            path,
            home: Vec::new(),
            line,
            test: false,
            known_as,
            declares: false,
        }
    }
}

/// Where in the file we are: the modules around us, and whether `#[cfg(test)]` covers it.
#[derive(Default)]
struct Scope {
    home: Vec<String>,
    /// How many brackets of any kind are open.
    depth: usize,
    /// The depth at which each module inside the file began.
    modules: Vec<usize>,
    /// The depth at which the item under `#[cfg(test)]` began.
    test_from: Option<usize>,
}

impl Scope {
    fn step(&mut self, rest: &[&Token]) {
        let text = |at: usize| rest.get(at).map_or("", |token| token.text.as_str());
        match text(0) {
            "#" if (1..5).map(text).eq(["[", "cfg", "(", "test"]) => {
                self.test_from.get_or_insert(self.depth);
            }
            "mod" if text(2) == "{" => {
                self.home.push(text(1).to_owned());
                self.modules.push(self.depth);
            }
            "(" | "[" | "{" => self.depth += 1,
            ")" | "]" => self.depth = self.depth.saturating_sub(1),
            "}" => {
                self.depth = self.depth.saturating_sub(1);
                if self.modules.pop_if(|from| *from == self.depth).is_some() {
                    self.home.pop();
                }
                self.test_from.take_if(|from| *from >= self.depth);
            }
            ";" => {
                self.test_from.take_if(|from| *from == self.depth);
            }
            _ => {}
        }
    }
}

/// One tree of a `use`, up to the mark that ends it; how many pieces it took.
fn imports(code: &[&Token], start: &[String], found: &mut Vec<Written>) -> usize {
    let mut path = start.to_vec();
    let mut known_as = None;
    let mut at = 0;
    while let Some(token) = code.get(at) {
        match token.text.as_str() {
            "{" => {
                while code
                    .get(at)
                    .is_some_and(|token| matches!(token.text.as_str(), "{" | ","))
                {
                    at += 1 + imports(&code[at + 1..], &path, found);
                }
                return at + 1;
            }
            ";" | "," | "}" => break,
            ":" if path.is_empty() => path.push(GLOBAL.to_owned()),
            // `$crate` in a macro is `crate`.
            ":" | "$" => {}
            "as" => known_as = code.get(at + 1).map(|token| token.text.as_str()),
            _ if known_as.is_some() => {}
            part => path.push(part.to_owned()),
        }
        at += 1;
    }
    if path.last().is_some_and(|part| part == "self") && path.len() > 1 {
        path.pop();
    }
    // A list may end in a comma, and then nothing is named after it.
    if path.len() > start.len() || code.first().is_some_and(|token| token.text == "self") {
        let line = code.first().map_or(0, |token| token.line);
        let known_as = known_as
            .or(path.last().map(String::as_str))
            .map(str::to_owned);
        found.push(Written::new(path, line, known_as.as_deref()));
    }
    at
}

/// A path of two parts or more that begins here, and how many pieces it takes.
fn path(code: &[&Token], at: usize) -> Option<(Vec<String>, usize)> {
    let text = |at: usize| code.get(at).map_or("", |token| token.text.as_str());
    let colons = |at: usize| text(at) == ":" && text(at + 1) == ":";
    let word = |at: usize| code.get(at).is_some_and(|token| token.is_word());
    let mut path = Vec::new();
    if !word(at) || !(colons(at + 1) && word(at + 3) || at > 1 && colons(at - 2)) {
        return None;
    }
    if at > 1 && colons(at - 2) {
        // After a word or a `>` this is the end of a path such as `<T>::new`, else the start of `::time`.
        let before = at.checked_sub(3).map_or("", text);
        let arrow = before == ">" && at > 3 && matches!(text(at - 4), "=" | "-");
        if at > 2 && (word(at - 3) || before == ">") && !arrow {
            return None;
        }
        path.push(GLOBAL.to_owned());
    }
    let mut end = at;
    path.push(text(end).to_owned());
    while colons(end + 1) && word(end + 3) {
        end += 3;
        path.push(text(end).to_owned());
    }
    Some((path, end + 1 - at))
}

#[cfg(test)]
mod tests {
    use super::names;
    use crate::tree::Tree;

    #[track_caller]
    fn named(path: &str, source: &str, expected: &[&str]) {
        let tree = Tree::of(&[(path, source)]);
        let say = |name: &super::Name| {
            format!(
                "{}{}",
                name.path.join("::"),
                if name.test { " (test)" } else { "" }
            )
        };
        let all: Vec<String> = names(&tree.files[0]).iter().map(say).collect();
        assert_eq!(all, expected, "{source}");
    }

    #[test]
    fn imports_are_spread() {
        let source =
            "use std::{env as e, io::{self, Read,}, *}; use ::time::Date; use coffer::store;";
        named(
            "src/a.rs",
            source,
            &[
                "std::env",
                "std::io",
                "std::io::Read",
                "std::*",
                "time::Date",
                "crate::store",
            ],
        );
        named("src/a.rs", "fn f() -> impl Sized + use<'_> { g() }", &[]);
    }

    #[test]
    fn paths_are_followed_through_imports() {
        named(
            "src/a.rs",
            "use std::env as e; fn f() { e::var(1); Vec::<u8>::new(); <T>::b::c() }",
            &["std::env", "std::env::var"],
        );
        named(
            "src/a.rs",
            "fn f(a: ::time::Date) -> ::uuid::Uuid { rusqlite::Row::get::<a::B>(x) }",
            &["time::Date", "uuid::Uuid", "rusqlite::Row::get", "a::B"],
        );
        named(
            "src/a.rs",
            "use crate::domain; use domain::money; fn f() { money::sum() }",
            &[
                "crate::domain",
                "crate::domain::money",
                "crate::domain::money::sum",
            ],
        );
    }

    #[test]
    fn ours_is_found_from_where_it_is_written() {
        named(
            "src/http/api/x.rs",
            "use super::super::auth; use super::y::{Z}; self::w();",
            &[
                "crate::http::auth",
                "crate::http::api::y::Z",
                "crate::http::api::x::w",
            ],
        );
        named(
            "src/http/mod.rs",
            "mod time; fn f() { time::now() } mod b { use super::super::store; }",
            &["crate::http::time::now", "crate::store"],
        );
    }

    #[test]
    fn tests_end_where_their_item_ends() {
        let source = "#[cfg(test)] use a::b; use a::c; #[cfg(test)] mod tests { fn f() { a::d(); } } use a::e;";
        named(
            "src/a.rs",
            source,
            &["a::b (test)", "a::c", "a::d (test)", "a::e"],
        );
        named("src/a.rs", "#[cfg(not(test))] use a::b;", &["a::b"]);
        named("src/a/tests.rs", "use a::b;", &["a::b (test)"]);
    }
}
