//! SQL is in sql/: no statement in a string literal; one lower-case statement a file, each used; migrations in a row.

use crate::scan::Kind;
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
const MIGRATIONS: &str = "sql/migrations/";
const TEMPLATE: &str = "sql/template.db";

pub fn literals(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["src/"]);
    for file in tree.rust("src/") {
        let sql = file
            .of_kind(Kind::Text)
            .filter(|token| statement(&token.text, file.room() == "store"));
        found.extend(sql.map(|token| {
            file.at(token.line, "a statement in a string: move it to sql/<table>/<verb>.sql and include_str! that; if it is prose, begin it with another word")
        }));
    }
    found
}

fn statement(literal: &str, in_store: bool) -> bool {
    let text = literal
        .trim_start()
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
                "nothing in src/ includes it: write include_str! with a literal that ends in \"{}\", or delete the file",
                file.path
            )));
        }
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if file.path.ends_with(".sql") {
            found.extend(upper_case(file));
            if !migration && !MANY.contains(&name) {
                found.extend(second_statement(file));
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
    let mut found = Vec::new();
    for (line, said) in (1..).zip(bare.lines()) {
        let mut words = said.split(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some(word) = words.find(|word| KEYWORDS.contains(word)) {
            found.push(file.at(
                line,
                &format!(
                    "`{word}`: SQL is written in lower case, write `{}`",
                    word.to_lowercase()
                ),
            ));
        }
    }
    found
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
mod tests {
    use super::{files, literals, migrations};
    use crate::tree::finds;

    #[test]
    fn statements_are_not_in_literals() {
        let source = "const A: &str = \"\n  SELECT\n 1\";\n\nfn f() { g(\"selected\", r#\"update a set b\"#) }";
        finds(
            literals,
            &[("src/store/a.rs", source)],
            &["src/store/a.rs:1", "src/store/a.rs:5"],
        );
        let connection = "f(\"pragma x\");\nf(\"begin immediate\");\nf(\"begin;\");\nf(\"beginning\");\nf(\"begin to commit\");";
        finds(literals, &[("src/store/a.rs", connection)], &[]);
        finds(
            literals,
            &[("src/service/a.rs", connection)],
            &[
                "src/service/a.rs:1",
                "src/service/a.rs:2",
                "src/service/a.rs:3",
            ],
        );
    }

    #[test]
    fn files_are_used() {
        let source = "// sql/b/c.sql\nconst A: &str = include_str!(\"../../sql/a/b.sql\");";
        let sql = [
            ("src/store/a.rs", source),
            ("sql/a/b.sql", "select 1"),
            ("sql/b/c.sql", "select 1"),
            ("sql/template.db", "x"),
        ];
        finds(files, &sql, &["sql/b/c.sql:1"]);
    }

    #[test]
    fn files_are_one_statement_in_lower_case() {
        let one = |sql: &str, places: &[&str]| {
            finds(
                files,
                &[("src/a.rs", "f(\"sql/a.sql\")"), ("sql/a.sql", sql)],
                places,
            )
        };
        one(
            "-- SELECT; it\nselect 'FROM ;' as \"a;\" from x; -- ;\n",
            &[],
        );
        one("select 1\nFROM x", &["sql/a.sql:2"]);
        one("select 1;\nselect 2", &["sql/a.sql:1"]);
        let many = "insert into a select 1; delete from b;";
        finds(
            files,
            &[
                ("src/a.rs", "f(\"sql/seed.sql\")"),
                ("sql/seed.sql", many),
                ("sql/migrations/0001_a.sql", many),
            ],
            &[],
        );
    }

    #[test]
    fn migrations_are_in_a_row() {
        let (first, third) = (
            ("sql/migrations/0001_a.sql", ""),
            ("sql/migrations/0003_c.sql", ""),
        );
        finds(
            migrations,
            &[first, third],
            &["sql/migrations/0003_c.sql:1"],
        );
        finds(migrations, &[first], &[]);
        finds(migrations, &[("src/lib.rs", "")], &["sql/migrations/"]);
    }
}
