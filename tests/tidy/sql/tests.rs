//! What the rules of SQL find in made-up trees.

use super::{columns, files, literals, migrations};
use crate::tree::finds;

const LONG: &str = "select a\nfrom b\nwhere c\nand d";

#[test]
fn statements_are_not_in_literals() {
    let source =
        "const A: &str = \"\n  SELECT\n 1\";\n\nfn f() { g(\"selected\", r#\"update a set b\"#) }";
    finds(
        literals,
        &[("src/store/a.rs", source)],
        &["src/store/a.rs:1", "src/store/a.rs:5"],
    );
    let tested = "rows! {\n fn read(a) -> A { Ok(A { a }) }\n A = select \"from a\";\n B = whole \"select a from b\";\n}\nconst C: &str = \"select c\";";
    finds(
        literals,
        &[("src/store/a.rs", tested)],
        &["src/store/a.rs:6"],
    );
    finds(
        literals,
        &[("src/service/a.rs", tested)],
        &["src/service/a.rs:4", "src/service/a.rs:6"],
    );
    let untested = "const A: Query<i64> = Query::new(text!(file \"sql/a.sql\"), read);";
    finds(
        literals,
        &[
            ("src/store/a.rs", untested),
            ("src/store/exports.rs", untested),
        ],
        &["src/store/a.rs:1", "src/store/a.rs:1"],
    );
    let faults = "commands! {\n A = \"DELETE from a where b = 'SET;'\";\n B = \"delete from a; delete from b\";\n}\nvalues! {\n C(a: i64) = \"select count(*) as a from b\";\n D(a: i64) = \"select t.* from t\";\n}";
    finds(
        literals,
        &[("src/store/a.rs", faults)],
        &["src/store/a.rs:2", "src/store/a.rs:3", "src/store/a.rs:7"],
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
fn columns_have_names() {
    let source = "f(|row| row.get(0));\nf(|row| row.get::<_, i64>(1)?);\nf(row.get(\"a\"));\nlist.get(at + 1);";
    finds(
        columns,
        &[("src/store/a.rs", source), ("src/http/a.rs", source)],
        &["src/store/a.rs:1", "src/store/a.rs:2"],
    );
}

#[test]
fn files_are_used() {
    let source = "// sql/b/c.sql\nconst A: &str = include_str!(\"../../sql/a/b.sql\");";
    let sql = [
        ("src/store/a.rs", source),
        ("sql/a/b.sql", LONG),
        ("sql/b/c.sql", LONG),
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
        "-- SELECT; it\nselect 'FROM ;' as \"a;\"\nfrom x\nwhere y\nand z; -- ;\n",
        &[],
    );
    one("select 1\nFROM x\nwhere y\nand z", &["sql/a.sql:2"]);
    one("select 1;\nselect 2\nfrom x\nwhere y", &["sql/a.sql:1"]);
    one("-- a\n-- b\nselect 1\nfrom x\nwhere y", &["sql/a.sql:1"]);
    one("select x.*,\n1\nfrom x\nwhere y", &["sql/a.sql:1"]);
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
