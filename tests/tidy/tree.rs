//! The project's files as text, read from the disk for the rules. Tests of the rules use made-up files.

use crate::scan::{Token, TokenKind, scan};
use std::path::Path;

/// A file of the project. Only Rust and SQL files have tokens. Each line of SQL is one text token.
pub struct SourceFile {
    pub path: String,
    pub text: String,
    pub tokens: Vec<Token>,
}

/// Names of the files and folders at the top level, and the files that the rules read. The build script is excluded,
/// because it is not part of the program.
pub struct Tree {
    pub top: Vec<String>,
    pub files: Vec<SourceFile>,
}

const READ_PATHS: &[&str] = &["src", "sql", "tests", "examples", "Cargo.toml", "README.md"];

impl Tree {
    /// Reads the files of this project from the disk.
    pub fn load() -> Tree {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = Vec::new();
        for path in READ_PATHS {
            read_files(root, path, &mut files);
        }
        let top = entry_names(root);
        Tree { top, files }
    }

    /// Returns a tree of made-up files.
    pub fn from_files(files: &[(&str, &str)]) -> Tree {
        let top = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
        Tree {
            top: files.iter().map(|(path, _)| top(path)).collect(),
            files: files.iter().map(|(path, text)| SourceFile::new(path, text)).collect(),
        }
    }

    pub fn find_file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Returns the text of a file, empty if it is missing.
    pub fn file_text(&self, path: &str) -> &str {
        self.find_file(path).map_or("", |file| &file.text)
    }

    pub fn files_under(&self, start: &str) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(move |file| file.path.starts_with(start))
    }

    pub fn rust_files(&self, start: &str) -> impl Iterator<Item = &SourceFile> {
        self.files_under(start).filter(|file| file.path.ends_with(".rs"))
    }

    /// Returns the names of the crates under `[dependencies]`.
    pub fn dependencies(&self) -> Vec<&str> {
        let section = self.file_text("Cargo.toml").split("\n[dependencies]\n").nth(1);
        let section = section.and_then(|text| text.split("\n[").next());
        let rows = section.unwrap_or_default().lines();
        rows.filter(|row| !row.starts_with('#'))
            .filter_map(|row| Some(row.split_once(['=', '.'])?.0.trim()))
            .collect()
    }
}

impl SourceFile {
    fn new(path: &str, text: &str) -> SourceFile {
        let line = |(at, text): (usize, &str)| Token {
            kind: TokenKind::Text,
            text: text.split("--").next().unwrap_or_default().to_owned(),
            line: at + 1,
        };
        let tokens = match path.rsplit('.').next() {
            Some("rs") => scan(text),
            Some("sql") => text.lines().enumerate().map(line).collect(),
            _ => Vec::new(),
        };
        SourceFile { path: path.to_owned(), text: text.to_owned(), tokens }
    }

    /// Returns the tokens without comments and, in `src`, without the unit tests at the end of the file.
    pub fn program_tokens(&self) -> Vec<&Token> {
        let is_code = |token: &&Token| token.kind != TokenKind::Comment;
        let mut code: Vec<&Token> = self.tokens.iter().filter(is_code).collect();
        if self.path.starts_with("src/") {
            let text = |token: &&Token| token.text.clone();
            let is_start = |here: &[&Token]| here.iter().map(text).eq(["mod", "tests", "{"]);
            let end = code.windows(3).position(is_start).unwrap_or(code.len());
            let is_apart = self.path.contains("/tests");
            code.truncate(if is_apart { 0 } else { end });
        }
        code
    }

    pub fn finding_at(&self, line: usize, message: &str) -> String {
        format!("{}:{line}: {message}", self.path)
    }
}

/// Asserts that a rule finds these places in a made-up tree, and nothing more.
#[track_caller]
pub fn assert_finds(rule: fn(&Tree) -> Vec<String>, files: &[(&str, &str)], places: &[&str]) {
    let all = rule(&Tree::from_files(files));
    let starts = all.iter().map(|one| one.split(": ").next().unwrap_or_default());
    assert_eq!(starts.collect::<Vec<_>>(), places, "{}", all.join("\n"));
}

fn entry_names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    entries.map(name).collect()
}

fn read_files(root: &Path, path: &str, files: &mut Vec<SourceFile>) {
    let place = root.join(path);
    if place.is_dir() {
        for name in entry_names(&place) {
            read_files(root, &format!("{path}/{name}"), files);
        }
    } else if let Ok(bytes) = std::fs::read(&place)
        && path != "src/build.rs"
    {
        files.push(SourceFile::new(path, &String::from_utf8_lossy(&bytes)));
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[track_caller]
    fn assert_program_tokens(path: &str, source: &str, expected: &str) {
        let tree = Tree::from_files(&[(path, source)]);
        let texts: Vec<&str> =
            tree.files[0].program_tokens().iter().map(|token| token.text.as_str()).collect();
        assert_eq!(texts.join(" "), expected, "{source}");
    }

    #[test]
    fn program_tokens_omit_unit_tests() {
        assert_program_tokens(
            "src/a.rs",
            "a // b\n\"c\"\n#[cfg(test)]\nmod tests { d }",
            "a c # [ cfg ( test ) ]",
        );
        assert_program_tokens("src/a/tests.rs", "a", "");
        assert_program_tokens("tests/it/tests.rs", "a", "a");
    }
}
