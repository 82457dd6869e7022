//! Code and texts that are allowed in one place only, and markers of unfinished work, which are not allowed.

use crate::names::UsedNames;
use crate::scan::{Token, TokenKind, scan};
use crate::tree::{SourceFile, Tree};

/// A rule that forbids the code in `pieces` in files whose path begins with one of `within`, but not with one of
/// `except`. Each list is separated by spaces.
struct PlacementRule {
    pieces: &'static str,
    within: &'static str,
    except: &'static str,
    mend: &'static str,
}

/// Rules about code outside unit tests. The rules about the clock, the environment, processes and floats are in
/// `.ci/clippy.toml`.
const CODE_RULES: &[PlacementRule] = &[
    PlacementRule {
        pieces: "StatusCode",
        within: "src/",
        except: "src/http/",
        mend: "return an outcome or an error that src/http maps to a status",
    },
    PlacementRule {
        pieces: "fixed_rate fixed_rate_eur",
        within: "src/",
        except: "src/domain/asset.rs src/service/rates.rs",
        mend: "ask src/service/rates.rs: a live invoice is not priced with a fixed rate",
    },
    PlacementRule {
        pieces: "\"object\": Serialize",
        within: "src/service/ src/http/",
        except: "src/http/openapi src/http/reply.rs",
        mend: "give the resource a view in src/domain/render, which its GET, its list and its event share",
    },
    PlacementRule {
        pieces: "Statement::new Query::new text! query! get(0 get(1 get(2",
        within: "src/store/",
        except: "src/store/statement src/store/audit.rs src/store/doctor.rs src/store/exports.rs src/store/file.rs",
        mend: "declare the statement in `statements!`, which tests it and names its columns",
    },
    PlacementRule {
        pieces: "target_arch target_endian target_pointer_width",
        within: "src/",
        except: "",
        mend: "write it for every machine: CI compiles for arm64 only before a release (.ci/run)",
    },
];

/// Rules on parts of string literals and SQL, in lower case and without white space.
const TEXT_RULES: &[PlacementRule] = &[
    PlacementRule {
        pieces: "<html <div <p> <form <!doctype </",
        within: "src/",
        except: "",
        mend: "markup is a file under src/web",
    },
    PlacementRule {
        pieces: "'now' current_time current_date unixepoch() datetime() julianday()",
        within: "src/ sql/",
        except: "",
        mend: "SQL never reads the clock: bind the time as a parameter",
    },
];

/// Beginnings of SQL statements, in lower case.
const STATEMENT_STARTS: &str =
    "select |insert into |insert or |replace into |update |delete from |create |alter table |drop ";
/// Beginnings of statements about a connection, which any file of `src/store` may run.
const CONNECTION_STATEMENT_STARTS: &str = "pragma |savepoint |rollback to |begin immediate";

const SLEEP_CALLS: &[&str] = &["thread::sleep", "time::sleep", "park_timeout"];
const SQL_MACROS: &[&str] = &["statements"];
const UNFINISHED_MARKERS: &[&str] = &["TODO", "FIXME", "XXX", " for now"];

impl PlacementRule {
    fn applies_to(&self, file: &SourceFile) -> bool {
        let begins =
            |starts: &str| starts.split_whitespace().any(|start| file.path.starts_with(start));
        begins(self.within) && !begins(self.except)
    }
}

pub fn misplaced_code(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for file in &tree.files {
        let program = file.program_tokens();
        for rule in CODE_RULES.iter().filter(|rule| rule.applies_to(file)) {
            for piece in rule.pieces.split(' ') {
                let lines = lines_containing(&program, piece).into_iter();
                found.extend(
                    lines.map(|line| file.finding_at(line, &format!("`{piece}`: {}", rule.mend))),
                );
            }
        }
    }
    found
}

pub fn misplaced_texts(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for file in &tree.files {
        let program = file.program_tokens().into_iter();
        for token in program.filter(|token| token.kind == TokenKind::Text) {
            let text: String = token.text.to_lowercase().split_whitespace().collect();
            let broken = TEXT_RULES.iter().find(|rule| {
                rule.applies_to(file) && rule.pieces.split(' ').any(|piece| text.contains(piece))
            });
            found.extend(broken.map(|rule| file.finding_at(token.line, rule.mend)));
        }
    }
    found
}

pub fn sleeps_in_tests(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    let tests = tree.rust_files("tests/it/");
    for file in tests.filter(|file| file.path != "tests/it/support/polling.rs") {
        let used = UsedNames::from_file(file).used.into_iter();
        let sleeps =
            used.filter(|(path, _)| SLEEP_CALLS.iter().any(|end| path.join("::").ends_with(end)));
        found.extend(sleeps.map(|(_, line)| {
            file.finding_at(line, "move the clock and settle(), or look until it has happened")
        }));
    }
    found
}

/// Finds SQL outside `src/store`, or outside the macro `statements`.
pub fn misplaced_statements(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for file in tree.rust_files("src/") {
        let in_store = file.path.starts_with("src/store/");
        let mut depth = 0_usize;
        for (at, token) in file.tokens.iter().enumerate() {
            let text = token.text.trim().to_lowercase().replace('\n', " ");
            let begins = |starts: &str| starts.split('|').any(|start| text.starts_with(start));
            let before = |count| at.checked_sub(count).map_or("", |at| &*file.tokens[at].text);
            let is_macro = before(1) == "!" && SQL_MACROS.contains(&before(2));
            match (token.kind, token.text.as_str()) {
                (TokenKind::Code, "{") if is_macro || depth > 0 => depth += 1,
                (TokenKind::Code, "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            let is_statement =
                begins(STATEMENT_STARTS) || !in_store && begins(CONNECTION_STATEMENT_STARTS);
            if token.kind == TokenKind::Text && is_statement && !(in_store && depth > 0) {
                found.push(file.finding_at(token.line, "SQL stands in src/store, in `statements!`, or in sql/<table>/<verb>.sql; begin prose with another word"));
            }
        }
    }
    found
}

/// Finds markers of unfinished work. Clippy rejects `todo!`, `unimplemented!` and `dbg!`.
pub fn unfinished_work_markers(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for file in tree.rust_files("") {
        let is_comment = |token: &&Token| token.kind == TokenKind::Comment;
        let (comments, code): (Vec<&Token>, Vec<&Token>) = file.tokens.iter().partition(is_comment);
        let is_open =
            |token: &&&Token| UNFINISHED_MARKERS.iter().any(|mark| token.text.contains(mark));
        let lines = comments.iter().filter(is_open).map(|token| token.line);
        let lines = lines.chain(lines_containing(&code, "#[ignore"));
        found.extend(lines.map(|line| file.finding_at(line, "unfinished: do it, or leave it out")));
    }
    found
}

/// Returns the lines that contain this code, regardless of white space.
fn lines_containing(tokens: &[&Token], code: &str) -> Vec<usize> {
    let piece = scan(code);
    let is_same =
        |(one, other): (&&Token, &Token)| one.kind == other.kind && one.text == other.text;
    let is_piece = |here: &&[&Token]| here.iter().zip(&piece).all(is_same);
    let here = tokens.windows(piece.len()).filter(is_piece);
    here.map(|here| here[0].line).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        CODE_RULES, TEXT_RULES, misplaced_code, misplaced_statements, misplaced_texts,
        sleeps_in_tests, unfinished_work_markers,
    };
    use crate::TREE;
    use crate::tree::{Tree, assert_finds};

    #[test]
    fn rules_name_files_that_exist() {
        for rule in CODE_RULES.iter().chain(TEXT_RULES) {
            for start in rule.within.split_whitespace().chain(rule.except.split_whitespace()) {
                assert!(TREE.files_under(start).next().is_some(), "{start}");
            }
        }
    }

    #[track_caller]
    fn assert_found_at(rule: fn(&Tree) -> Vec<String>, path: &str, source: &str, lines: &[usize]) {
        let at: Vec<String> = lines.iter().map(|line| format!("{path}:{line}")).collect();
        assert_finds(rule, &[(path, source)], &at.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn status_codes_are_in_http() {
        let source = "// StatusCode\nuse hyper::StatusCode;";
        assert_found_at(misplaced_code, "src/service/a.rs", source, &[2]);
        assert_found_at(misplaced_code, "src/http/a.rs", source, &[]);
    }

    #[test]
    fn fixed_rates_are_read_in_one_place() {
        let source = "fn f(a: &Asset) {\n a.fixed_rate(EUR) }\n#[cfg(test)] mod tests { fn g() { a.fixed_rate(EUR) } }";
        assert_found_at(misplaced_code, "src/service/quotes.rs", source, &[2]);
        assert_found_at(misplaced_code, "src/service/rates.rs", source, &[]);
    }

    #[test]
    fn resource_rendered_outside_the_renderer_is_found() {
        let source = "#[derive(Debug,\n Serialize)] struct A;\nfn f() { json!({ \"id\": 1,\n \"object\": \"key\" }) }";
        assert_found_at(misplaced_code, "src/http/keys.rs", source, &[4, 2]);
        assert_found_at(misplaced_code, "src/service/keys.rs", source, &[4, 2]);
        assert_found_at(misplaced_code, "src/domain/render/keys.rs", source, &[]);
        assert_found_at(misplaced_code, "src/http/a.rs", "fn f() { g(\"object\", 1) }", &[]);
    }

    #[test]
    fn query_built_without_the_macro_is_found() {
        let source = "const A: Query<i64> =\n Query::new(text!(file \"sql/a.sql\"), read);";
        assert_found_at(misplaced_code, "src/store/a.rs", source, &[2, 2]);
        assert_found_at(misplaced_code, "src/store/exports.rs", source, &[]);
    }

    #[test]
    fn code_for_one_machine_is_found() {
        let source =
            "#[cfg(target_os = \"linux\")]\nfn f() {}\n#[cfg(target_arch = \"x86_64\")]\nfn g() {}";
        assert_found_at(misplaced_code, "src/a.rs", source, &[3]);
    }

    #[test]
    fn tests_do_not_sleep() {
        let source = "use tokio::time::{sleep, timeout};\nfn f() { std::thread::park_timeout(a) }";
        assert_found_at(sleeps_in_tests, "tests/it/a.rs", source, &[1, 2]);
        assert_found_at(sleeps_in_tests, "tests/it/support/polling.rs", source, &[]);
        assert_found_at(sleeps_in_tests, "examples/shop.rs", source, &[]);
        let source =
            "use std::thread as t;\nuse std::{thread::{\nsleep as rest}};\nfn f() { t::sleep(a) }";
        assert_found_at(sleeps_in_tests, "tests/it/a.rs", source, &[3, 4]);
    }

    #[test]
    fn markup_in_rust_strings_is_found() {
        let source =
            "// <p>\nf(\"<!DOCTYPE html>\");\nf(r#\"a</b>\"#);\nf(\"a < b\", \"<parent>\");";
        assert_found_at(misplaced_texts, "src/http/pages.rs", source, &[2, 3]);
        assert_found_at(misplaced_texts, "src/web/a.html", "<html>", &[]);
    }

    #[test]
    fn sql_never_reads_the_clock() {
        let sql = "-- 'now'\nselect datetime( 'now' ),\n unixepoch(at), CURRENT_TIMESTAMP";
        assert_found_at(misplaced_texts, "sql/a/b.sql", sql, &[2, 3]);
        assert_found_at(misplaced_texts, "src/service/a.rs", "f(\"unixepoch( )\")", &[1]);
    }

    #[test]
    fn code_has_no_markers_of_unfinished_work() {
        let source = "// TODO: x\n/* it\n FIXME */\n// it holds for now\n/// xxx\nf(\"XXX\");\n#[cfg(test)]\n#[ignore = \"slow\"]\nfn f() {}";
        let places = ["src/a.rs:1", "src/a.rs:2", "src/a.rs:4", "src/a.rs:8"];
        assert_finds(unfinished_work_markers, &[("src/a.rs", source)], &places);
    }

    #[test]
    fn statements_are_in_the_macro_of_store() {
        let source =
            "f(\"\n  SELECT\n 1\");\n\nf(\"selected\", r#\"update a set b\"#, \"pragma x\");";
        assert_found_at(misplaced_statements, "src/store/a.rs", source, &[1, 5]);
        assert_found_at(misplaced_statements, "src/api/a.rs", source, &[1, 5, 5]);
        let source = "statements! {\n row a(b) -> B { f(\"}\") }\n fn c(db) -> Vec<B> = \"select b\";\n}\nlet c = \"select c\";";
        assert_found_at(misplaced_statements, "src/store/a.rs", source, &[5]);
        assert_found_at(misplaced_statements, "src/service/a.rs", source, &[3, 5]);
    }
}
