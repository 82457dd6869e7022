//! The project's files as text: from the disk for the rules, made up for their own tests.

use std::path::Path;

use crate::scan::{Kind, Token, scan};

/// One file. Only a Rust file has tokens.
pub struct File {
    pub path: String,
    pub text: String,
    pub tokens: Vec<Token>,
}

/// What the rules look at: names on the top level, and the files they care about, by path.
pub struct Tree {
    pub top: Vec<String>,
    pub files: Vec<File>,
}

const FOLDERS: &[&str] = &[".ci", "src", "sql", "tests", "examples"];
const PAGES: &[&str] = &["Cargo.toml", "README.md"];

impl Tree {
    /// The tree of this package.
    pub fn load() -> Tree {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = Vec::new();
        for path in FOLDERS.iter().chain(PAGES) {
            read(root, path, &mut files);
        }
        Tree {
            top: list(root),
            files,
        }
    }

    /// A made-up tree.
    pub fn of(files: &[(&str, &str)]) -> Tree {
        let top = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
        let mut top: Vec<String> = files.iter().map(|(path, _)| top(path)).collect();
        top.sort();
        top.dedup();
        Tree {
            top,
            files: files
                .iter()
                .map(|(path, text)| File::new(path, text))
                .collect(),
        }
    }

    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    pub fn under(&self, start: &str) -> impl Iterator<Item = &File> {
        self.files
            .iter()
            .filter(move |file| file.path.starts_with(start))
    }

    /// Rust files below a path, except the build script, which is not part of the program.
    pub fn rust(&self, start: &str) -> impl Iterator<Item = &File> {
        self.under(start)
            .filter(|file| file.path.ends_with(".rs") && file.path != "src/build.rs")
    }

    /// A complaint for each of the starts of a path that no file has: no rule holds of nothing.
    pub fn need(&self, starts: &[&str]) -> Vec<String> {
        let missing = |start: &&&str| self.under(start).next().is_none();
        let say = |start: &&str| {
            format!(
                "{start}: there is no such file yet, so this rule has nothing to hold; write it"
            )
        };
        starts.iter().filter(missing).map(say).collect()
    }

    /// The names under `[dependencies]`, each with its line.
    pub fn dependencies(&self) -> Vec<(String, usize)> {
        let mut found = Vec::new();
        let mut inside = false;
        let text = self.file("Cargo.toml").map_or("", |file| &file.text);
        for (line, said) in text.lines().enumerate() {
            if let Some(section) = said.trim().strip_prefix('[') {
                inside = section.trim_end_matches(']') == "dependencies";
                if let Some(name) = section.strip_prefix("dependencies.") {
                    found.push((name.trim_end_matches(']').to_owned(), line + 1));
                }
            } else if inside
                && !said.starts_with('#')
                && let Some((name, _)) = said.split_once(['=', '.'])
            {
                found.push((name.trim().to_owned(), line + 1));
            }
        }
        found
    }
}

impl File {
    fn new(path: &str, text: &str) -> File {
        let tokens = if path.ends_with(".rs") {
            scan(text)
        } else {
            Vec::new()
        };
        File {
            path: path.to_owned(),
            text: text.to_owned(),
            tokens,
        }
    }

    /// The modules this file stands in: `src/http/api/invoices.rs` is http, api, invoices.
    pub fn modules(&self) -> Vec<String> {
        let path = self.path.strip_prefix("src/").unwrap_or(&self.path);
        let mut parts: Vec<String> = path
            .trim_end_matches(".rs")
            .split('/')
            .map(str::to_owned)
            .collect();
        if matches!(
            parts.last().map(String::as_str),
            Some("mod" | "lib" | "main")
        ) {
            parts.pop();
        }
        parts
    }

    /// `src/store/open.rs` and `src/store.rs` are both the room store.
    pub fn room(&self) -> &str {
        let path = self.path.strip_prefix("src/").unwrap_or(&self.path);
        path.split(['/', '.']).next().unwrap_or_default()
    }

    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Token> {
        self.tokens.iter().filter(move |token| token.kind == kind)
    }

    pub fn code(&self) -> Vec<&Token> {
        self.of_kind(Kind::Code).collect()
    }

    /// The lines on which the code says this, however it is spaced and broken.
    pub fn says(&self, code: &str) -> Vec<usize> {
        let wanted = scan(code);
        let same = |here: &[&Token]| here.iter().zip(&wanted).all(|(a, b)| a.text == b.text);
        self.code()
            .windows(wanted.len())
            .filter(|here| same(here))
            .map(|here| here[0].line)
            .collect()
    }

    pub fn at(&self, line: usize, message: &str) -> String {
        format!("{}:{line}: {message}", self.path)
    }
}

/// A rule finds exactly this in a made-up tree: these places, and nothing more.
#[track_caller]
pub fn finds(rule: fn(&Tree) -> Vec<String>, files: &[(&str, &str)], places: &[&str]) {
    let all = rule(&Tree::of(files));
    let starts: Vec<&str> = all
        .iter()
        .map(|one| one.split(": ").next().unwrap_or_default())
        .collect();
    assert_eq!(starts, places, "{}", all.join("\n"));
}

fn list(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn read(root: &Path, path: &str, files: &mut Vec<File>) {
    let place = root.join(path);
    if place.is_dir() {
        for name in list(&place) {
            read(root, &format!("{path}/{name}"), files);
        }
    } else if let Ok(bytes) = std::fs::read(&place) {
        files.push(File::new(path, &String::from_utf8_lossy(&bytes)));
    }
}
