//! SQL is in src/store, in the macros that test it, and in sql/ where it is longer; one lower-case statement each, its
//! columns named on both sides; each file used; migrations in a row.

use crate::scan::{Kind, Token};
use crate::tree::{File, Tree};

/// How a literal begins that is a statement.
const STATEMENTS: &[&str] = &[
    "select ",
    "insert ",
    "replace into ",
    "update ",
    "delete from ",
    "create table ",
    "create index ",
    "create unique ",
    "create trigger ",
    "create view ",
    "alter table ",
    "drop table ",
    "drop index ",
];
/// The same, for what src/store may say itself: the connection's own affairs.
const CONNECTION: &[&str] = &[
    "pragma ",
    "savepoint ",
    "release ",
    "rollback to ",
    "begin immediate",
    "begin deferred",
    "begin exclusive",
    "begin transaction",
];
const KEYWORDS: &[&str] = &[
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "FROM",
    "WHERE",
    "INTO",
    "VALUES",
    "SET",
    "JOIN",
    "ORDER",
    "GROUP",
    "LIMIT",
    "RETURNING",
    "CREATE",
    "TABLE",
    "INDEX",
    "BEGIN",
    "COMMIT",
];
/// Files that hold more than one statement.
const MANY: &[&str] = &["reset.sql", "seed.sql"];
/// The macros of src/store/statement.rs: each statement in them is prepared by a test, against the fresh schema.
const MACROS: &[&str] = &["commands", "values", "rows"];
/// What makes a statement by itself, and the files that may: they test what they make.
const MAKERS: &[&str] = &["text!", "Query::new", "Statement::new"];
const MAY_MAKE: &[&str] = &[
    "src/store/statement.rs",
    "src/store/statement/functions.rs",
    "src/store/statement/macros.rs",
    "src/store/statement/text.rs",
    "src/store/exports.rs",
    "src/store/file.rs",
];
/// A statement of so many lines is no file.
const SHORT_LINES: usize = 3;
const MIGRATIONS: &str = "sql/migrations/";
const TEMPLATE: &str = "sql/template.db";

pub fn literals(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["src/"]);
    for file in tree.rust("src/") {
        let in_store = file.room() == "store";
        if in_store && !MAY_MAKE.contains(&file.path.as_str()) {
            let lines = MAKERS.iter().flat_map(|maker| file.says(maker));
            found.extend(lines.map(|line| {
                file.at(
                    line,
                    "a statement without a test: make it with `commands!`, `values!` or `rows!`",
                )
            }));
        }
        let mut tested_until = 0;
        for (at, token) in file.tokens.iter().enumerate() {
            if at >= tested_until && in_store {
                tested_until = end_of_macro(&file.tokens[at..]).map_or(0, |end| at + end);
            }
            if token.kind != Kind::Text {
                continue;
            }
            if at < tested_until {
                found.extend(
                    faults(&token.text)
                        .iter()
                        .map(|fault| file.at(token.line, fault)),
                );
            } else if statement(&token.text, in_store) {
                found.push(file.at(token.line, "a statement in a string: in src/store it stands in `commands!`, `values!` or `rows!`, which test it, and a long one in sql/<table>/<verb>.sql, which they include; if it is prose, begin it with another word"));
            }
        }
    }
    found
}

/// How long one of the macros is that begins here.
fn end_of_macro(tokens: &[Token]) -> Option<usize> {
    let says = |token: &Token, text: &str| token.kind == Kind::Code && token.text == text;
    let [name, mark, open, ..] = tokens else {
        return None;
    };
    if !MACROS.iter().any(|known| says(name, known)) || !says(mark, "!") || !says(open, "{") {
        return None;
    }
    let mut depth = 0;
    let end = tokens[2..].iter().position(|token| {
        depth += i32::from(says(token, "{")) - i32::from(says(token, "}"));
        depth == 0
    });
    end.map(|end| end + 2)
}

pub fn columns(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["src/store/"]);
    for file in tree.rust("src/store/") {
        let code = file.code();
        for (at, token) in code
            .iter()
            .enumerate()
            .filter(|(_, token)| token.text == "get")
        {
            let said = |after: usize| code.get(at + after).map_or("", |next| &next.text);
            let open = match said(1) {
                ":" => code[at..].iter().position(|next| next.text == "("),
                "(" => Some(1),
                _ => None,
            };
            let value = open.map_or("", |open| said(open + 1));
            if value.starts_with(|c: char| c.is_ascii_digit()) {
                found.push(file.at(
                    token.line,
                    "a column by its number: read it in `rows!` or `values!`, or by its name",
                ));
            }
        }
    }
    found
}

/// What is wrong with the text of a statement.
fn faults(text: &str) -> Vec<String> {
    let bare = without_quotes(text);
    let second = bare
        .contains(';')
        .then(|| "one statement, and no `;`".to_owned());
    let found = [upper_case_word(&bare), second, star(&bare)];
    found.into_iter().flatten().collect()
}

/// Columns that are not named.
fn star(bare: &str) -> Option<String> {
    let text: String = bare.split_whitespace().collect::<Vec<_>>().join(" ");
    (text.contains("select *") || text.contains(".*"))
        .then(|| "`*`: a statement names the columns that it asks for".to_owned())
}

fn statement(literal: &str, in_store: bool) -> bool {
    let text = literal
        .trim()
        .to_lowercase()
        .replace(char::is_whitespace, " ");
    let begins = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    let whole = text.trim_end_matches([' ', ';']);
    begins(STATEMENTS) || !in_store && (begins(CONNECTION) || whole == "begin")
}

pub fn files(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["sql/", "src/"]);
    let literals: Vec<&str> = tree
        .rust("src/")
        .flat_map(|file| file.of_kind(Kind::Text))
        .map(|token| token.text.as_str())
        .collect();
    for file in tree.under("sql/").filter(|file| file.path != TEMPLATE) {
        let migration = file.path.starts_with(MIGRATIONS);
        if !migration && !literals.iter().any(|literal| includes(literal, &file.path)) {
            found.push(file.at(1, &format!(
                "nothing in src/ includes it: name it in `commands!`, `values!` or `rows!` with `file \"{}\"`, or delete the file",
                file.path
            )));
        }
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if file.path.ends_with(".sql") {
            found.extend(upper_case(file));
            if !migration && !MANY.contains(&name) {
                found.extend(second_statement(file));
                found.extend(short(file));
                found.extend(star(&without_quotes(&file.text)).map(|fault| file.at(1, &fault)));
            }
        }
    }
    found
}

/// Whether a literal is this path, reached from anywhere.
fn includes(literal: &str, path: &str) -> bool {
    literal
        .strip_suffix(path)
        .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn upper_case(file: &File) -> Vec<String> {
    let bare = without_quotes(&file.text);
    let lines = (1..).zip(bare.lines());
    lines
        .filter_map(|(line, said)| Some(file.at(line, &upper_case_word(said)?)))
        .collect()
}

fn upper_case_word(bare: &str) -> Option<String> {
    let mut words = bare.split(|c: char| !c.is_alphanumeric() && c != '_');
    let word = words.find(|word| KEYWORDS.contains(word))?;
    Some(format!(
        "`{word}`: SQL is written in lower case, write `{}`",
        word.to_lowercase()
    ))
}

fn short(file: &File) -> Option<String> {
    let bare = without_comments(&file.text);
    let lines = bare.lines().filter(|line| !line.trim().is_empty()).count();
    (lines <= SHORT_LINES).then(|| {
        file.at(1, "a short statement stands in src/store beside the functions that use it, in `commands!`, `values!` or `rows!`")
    })
}

fn second_statement(file: &File) -> Option<String> {
    let bare = without_quotes(&file.text);
    let (first, second) = bare.split_once(';')?;
    let line = first.matches('\n').count() + 1;
    (!second.trim().is_empty()).then(|| {
        file.at(
            line,
            "one statement a file, and nothing after its `;`: give the next one a file of its own",
        )
    })
}

pub fn migrations(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&[MIGRATIONS]);
    for (number, file) in (1..).zip(tree.under(MIGRATIONS)) {
        let name = &file.path[MIGRATIONS.len()..];
        if !name.starts_with(&format!("{number:04}_")) || !name.ends_with(".sql") {
            found.push(file.at(1, &format!(
                "migrations are numbered in a row and this is number {number}: name it {number:04}_what_it_does.sql"
            )));
        }
    }
    found
}

/// SQL with spaces in place of its comments, so that every line keeps its number.
pub fn without_comments(sql: &str) -> String {
    blank(sql, false)
}

fn without_quotes(sql: &str) -> String {
    blank(sql, true)
}

fn blank(sql: &str, quotes_too: bool) -> String {
    let mut bare = String::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let (length, keep) = if rest.starts_with("--") {
            (rest.find('\n').unwrap_or(rest.len()), false)
        } else if rest.starts_with("/*") {
            (rest.find("*/").map_or(rest.len(), |end| end + 2), false)
        } else if matches!(first, '\'' | '"' | '`') {
            // A doubled quote reads as two literals side by side, which is as good.
            (
                rest[1..].find(first).map_or(rest.len(), |end| end + 2),
                !quotes_too,
            )
        } else {
            (first.len_utf8(), true)
        };
        let piece = &rest[..length];
        bare.extend(
            piece
                .chars()
                .map(|c| if keep || c == '\n' { c } else { ' ' }),
        );
        rest = &rest[length..];
    }
    bare
}

#[cfg(test)]
mod tests;
