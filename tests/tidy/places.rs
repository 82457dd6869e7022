//! What only one place may do: start a process, read the clock or the environment, name a status, use floats.

use crate::names::{Name, names};
use crate::scan::{Kind, Token};
use crate::tree::{File, Tree};

const CLOCK: &str = "src/clock.rs";
const CLOCK_READS: &[&str] = &[
    "SystemTime::now",
    "Instant::now",
    "UtcDateTime::now",
    "OffsetDateTime::now_utc",
    "OffsetDateTime::now_local",
    "Timestamp::now",
    "clock_gettime",
    "Uuid::now_v7",
];
/// SQL that reads the clock, spaces taken out. Without an argument these functions mean now.
const SQL_CLOCK_READS: &[&str] = &[
    "'now'",
    "current_timestamp",
    "current_date",
    "current_time",
    "unixepoch()",
    "datetime()",
    "julianday()",
];
const ENVIRONMENT: &[&str] = &[
    "var",
    "var_os",
    "vars",
    "vars_os",
    "set_var",
    "remove_var",
    "*",
];
/// Latency and metrics are measured, not owed.
const FLOATS_ALLOWED: &[&str] = &["src/domain/color.rs", "src/http/metrics.rs"];

pub fn processes(tree: &Tree) -> Vec<String> {
    let allowed: fn(&File) -> &[&str] = |file| match file.room() {
        "worker" => &["process"],
        "main" => &["process::exit", "process::ExitCode"],
        "cli" => &["process::id", "process::ExitCode"],
        _ => &[],
    };
    each_name(tree, |file, name| {
        // Importing the module alone does nothing yet.
        let named =
            name.path.len() > 2 && (name.starts("std::process") || name.starts("tokio::process"));
        (named && !allowed(file).iter().any(|part| name.has(part)))
            .then_some("only src/worker starts or ends a process (main may exit): ask a worker, or return the exit code up to main")
    })
}

pub fn environment(tree: &Tree) -> Vec<String> {
    each_name(tree, |file, name| {
        let reads = name.starts("std::env")
            && name
                .path
                .get(2)
                .is_some_and(|last| ENVIRONMENT.contains(&last.as_str()));
        // How long a test goes on is no setting.
        let is_test = file.path.ends_with("/tests.rs");
        (reads && !is_test && !matches!(file.room(), "config" | "main"))
            .then_some("only config.rs and main.rs read the environment: make it a line of SETTINGS and take the value as an argument")
    })
}

pub fn time(tree: &Tree) -> Vec<String> {
    let mend = "only src/clock.rs reads the time: take `now` as an argument, or ask the clock once per request or tick";
    let mut found = each_name(tree, |file, name| {
        (file.path != CLOCK && CLOCK_READS.iter().any(|read| name.has(read))).then_some(mend)
    });
    for file in tree.rust("src/").filter(|file| file.path != CLOCK) {
        found.extend(
            file.says(".elapsed(")
                .into_iter()
                .map(|line| file.at(line, mend)),
        );
        let texts = file.of_kind(Kind::Text);
        found.extend(
            texts
                .filter(|token| sql_reads_clock(&token.text))
                .map(|token| file.at(token.line, mend)),
        );
    }
    for file in tree
        .under("sql/")
        .filter(|file| file.path.ends_with(".sql"))
    {
        let bare = crate::sql::without_comments(&file.text);
        let lines = (1..)
            .zip(bare.lines())
            .filter(|(_, said)| sql_reads_clock(said));
        let mend = "SQL never reads the clock: bind the time as a parameter, such as :now";
        found.extend(lines.map(|(line, _)| file.at(line, mend)));
    }
    found
}

pub fn status_codes(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["src/"]);
    for file in tree.rust("src/").filter(|file| file.room() != "http") {
        found.extend(file.says("StatusCode").into_iter().map(|line| {
            file.at(line, "status codes are http's: return an outcome or an error that http maps to a status; a plain u16 will do for an answer from outside")
        }));
    }
    found
}

pub fn floats(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["src/"]);
    for file in tree
        .rust("src/")
        .filter(|file| !FLOATS_ALLOWED.contains(&file.path.as_str()))
    {
        let float =
            |text: &str| !text.starts_with("0x") && (text.contains("f64") || text.contains("f32"));
        let words = file.of_kind(Kind::Code).filter(|token| float(&token.text));
        found.extend(words.map(|token| {
            file.at(token.line, "no floats: money, rates and times are integers, computed in src/domain/money.rs; if this is no more than a measurement, add the file to FLOATS_ALLOWED in tests/tidy/places.rs")
        }));
    }
    found.dedup();
    found
}

/// Where the fixed rates stand, who asks for them, and what tests expect.
const FIXED_RATES: &[&str] = &[
    "src/domain/asset.rs",
    "src/service/rates.rs",
    "src/service/tests.rs",
];

pub fn fixed_rates(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["src/", "src/service/rates.rs"]);
    for file in tree
        .rust("src/")
        .filter(|file| !FIXED_RATES.contains(&file.path.as_str()))
    {
        let asks = |text: &str| text.starts_with("fixed_rate") || text.starts_with("test_rate");
        let words = file.of_kind(Kind::Code).filter(|token| asks(&token.text));
        found.extend(words.map(|token| {
            file.at(token.line, "only src/service/rates.rs asks for the fixed rates: ask it for the rate, and say what becomes of what has none")
        }));
    }
    found.dedup();
    found
}

fn sql_reads_clock(sql: &str) -> bool {
    let packed: String = sql.to_lowercase().split_whitespace().collect();
    SQL_CLOCK_READS.iter().any(|read| packed.contains(read))
}

/// One finding a line for the names in src/ that a rule refuses.
fn each_name(tree: &Tree, refuse: impl Fn(&File, &Name) -> Option<&'static str>) -> Vec<String> {
    let mut found = tree.need(&["src/"]);
    for file in tree.rust("src/") {
        found.extend(
            names(file)
                .iter()
                .filter_map(|name| Some(file.at(name.line, refuse(file, name)?))),
        );
    }
    found.dedup();
    found
}

/// What makes the JSON of resources, and what describes it.
const RENDERS: &[&str] = &["src/domain/render", "src/http/openapi"];

/// Where `json!` may make only a detail of the audit log. The commands of `worker` and `cli` read and print JSON of their
/// own, which is no resource; neither are a legacy body and the input of an order, which `domain` makes.
const RENDERS_NOT: &[&str] = &["src/service/", "src/http/"];
/// What stands before the `json!` of a detail: it is kept as it was said, each action has its own, and no view is made
/// of it but that of the audit log, which does not look inside.
const DETAILS: &[&[&str]] = &[&["let", "detail", "="], &["detail", ":", "&"]];

/// The envelopes of lists and pages, and the body of an error, which are of no resource.
const ENVELOPES: &[&str] = &["src/http/reply.rs", "src/http/error.rs"];

/// A resource says by its field `object` what it is, so that is said where resources are rendered, and nowhere else. What
/// says nothing is an answer all the same: no `json!` makes one, and no type that is serialized stands elsewhere.
pub fn resources(tree: &Tree) -> Vec<String> {
    let mend = "a resource's JSON is made here: give it a view in src/domain/render, which its GET, its list and its event share";
    let mut found = tree.need(&["src/"]);
    for file in tree.rust("src/") {
        if RENDERS.iter().any(|path| file.path.starts_with(path)) {
            continue;
        }
        let tokens: Vec<&Token> = file
            .tokens
            .iter()
            .filter(|token| token.kind != Kind::Comment)
            .collect();
        let makes = |pair: &&[&Token]| matches!(pair, [name, colon] if name.kind == Kind::Text && name.text == "object" && colon.text == ":");
        let pairs = tokens.windows(2).filter(makes);
        found.extend(pairs.map(|pair| file.at(pair[0].line, mend)));
        if RENDERS_NOT.iter().any(|path| file.path.starts_with(path)) {
            let lines = untyped(&file.path, &tokens).into_iter();
            found.extend(lines.map(|line| file.at(line, mend)));
        }
    }
    found.dedup();
    found
}

/// The lines where `json!` makes something else than a detail, or a type is serialized, outside tests; those too that give
/// `json!` another name.
fn untyped(path: &str, tokens: &[&Token]) -> Vec<usize> {
    if path.ends_with("/tests.rs") {
        return Vec::new();
    }
    let says = |at: usize, words: &[&str]| {
        let here = tokens.get(at..).unwrap_or_default().iter();
        here.take(words.len()).map(|token| &token.text).eq(words)
    };
    // What is tested stands before its tests.
    let tests = (0..tokens.len()).find(|at| says(*at, &["mod", "tests", "{"]));
    let is_detail = |at: usize| {
        let before = |words: &&&[&str]| {
            at.checked_sub(words.len())
                .is_some_and(|from| says(from, words))
        };
        DETAILS.iter().any(|words| before(&words))
    };
    let derives = |at: usize| says(at, &["Serialize", ")"]) || says(at, &["Serialize", ","]);
    (0..tests.unwrap_or(tokens.len()))
        .filter(|at| {
            let untyped =
                says(*at, &["json", "as"]) || says(*at, &["json", "!"]) && !is_detail(*at);
            untyped || derives(*at) && !ENVELOPES.contains(&path)
        })
        .filter_map(|at| Some(tokens.get(at)?.line))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{environment, fixed_rates, floats, processes, resources, status_codes, time};
    use crate::tree::finds;

    #[test]
    fn processes_are_the_workers() {
        let ends = "use std::process;\nfn f() { process::id(); process::exit(1) }";
        finds(processes, &[("src/main.rs", ends)], &["src/main.rs:2"]);
        finds(processes, &[("src/cli.rs", ends)], &["src/cli.rs:2"]);
        finds(
            processes,
            &[("src/app.rs", "use std::process::{Command,\n Stdio};")],
            &["src/app.rs:1", "src/app.rs:2"],
        );
        finds(
            processes,
            &[(
                "src/app.rs",
                "use std::process as p;\nfn f() { p::Command::new(\"a\"); }",
            )],
            &["src/app.rs:2"],
        );
        finds(
            processes,
            &[("src/worker/send.rs", "use std::process::Command; ")],
            &[],
        );
    }

    #[test]
    fn the_environment_is_the_settings() {
        let reads =
            "use std::env;\nconst A: &str = env!(\"A\");\nfn f() { env::var(\"A\"); env::args() }";
        finds(environment, &[("src/app.rs", reads)], &["src/app.rs:3"]);
        finds(
            environment,
            &[("src/app.rs", "use std::env::{temp_dir, vars};")],
            &["src/app.rs:1"],
        );
        finds(
            environment,
            &[
                ("src/config.rs", reads),
                ("src/main.rs", reads),
                ("src/app/tests.rs", reads),
            ],
            &[],
        );
    }

    #[test]
    fn the_time_is_the_clocks() {
        let reads = "use std::time::Instant as I;\nfn f() { I::now();\n t.elapsed();\n time::OffsetDateTime::now_utc() }";
        finds(
            time,
            &[("src/http/a.rs", reads)],
            &["src/http/a.rs:2", "src/http/a.rs:4", "src/http/a.rs:3"],
        );
        finds(time, &[("src/clock.rs", reads)], &[]);
        finds(
            time,
            &[(
                "src/a.rs",
                "const A: &str = \"select unixepoch( )\";\n// Instant::now()\nfn f(now: Time) {}",
            )],
            &["src/a.rs:1"],
        );
        let sql =
            "-- datetime('now')\nselect datetime( 'now' ),\n unixepoch(at), CURRENT_TIMESTAMP";
        finds(
            time,
            &[("src/a.rs", ""), ("sql/a/b.sql", sql)],
            &["sql/a/b.sql:2", "sql/a/b.sql:3"],
        );
    }

    #[test]
    fn statuses_are_https() {
        let source = "// StatusCode\nuse hyper::StatusCode;";
        finds(
            status_codes,
            &[("src/service/a.rs", source), ("src/http/a.rs", source)],
            &["src/service/a.rs:2"],
        );
    }

    #[test]
    fn the_fixed_rates_have_one_door() {
        let asks =
            "// fixed_rate\nfn f(a: &Asset) { a.fixed_rate(EUR);\n Asset::fixed_rate(a, EUR) }";
        finds(
            fixed_rates,
            &[
                ("src/domain/asset.rs", asks),
                ("src/service/rates.rs", asks),
                ("src/service/quotes.rs", asks),
            ],
            &["src/service/quotes.rs:2", "src/service/quotes.rs:3"],
        );
    }

    #[test]
    fn floats_are_for_measuring() {
        let source = "const A: u64 = 0xf64;\nfn f(a: f64) {}\nconst B: u64 = value.as_f64();\nlet c = 1_f32;";
        finds(
            floats,
            &[("src/domain/money.rs", source)],
            &[
                "src/domain/money.rs:2",
                "src/domain/money.rs:3",
                "src/domain/money.rs:4",
            ],
        );
        finds(floats, &[("src/http/metrics.rs", source)], &[]);
    }

    #[test]
    fn a_resource_is_rendered_in_its_place() {
        let made = "fn f() { json!({ \"id\": 1,\n \"object\": \"key\" }) }";
        let other = "// \"object\": \"key\"\nfn f() { g(\"object\", 1) }";
        finds(
            resources,
            &[
                ("src/service/keys.rs", made),
                ("src/service/other.rs", other),
                ("src/domain/render/keys.rs", made),
                ("src/http/openapi/keys.rs", made),
            ],
            &["src/service/keys.rs:2", "src/service/keys.rs:1"],
        );
    }

    #[test]
    fn an_answer_is_typed_and_a_detail_need_not_be() {
        let details =
            "fn f() { let detail = json!({ \"id\": 1 });\n g(Entry { detail: &json!({}) }) }";
        let answers = "// json!\nuse serde_json::json as j;\nfn f() { Reply::json(\n serde_json::json!({ \"count\": 1 })) }\nfn g() { let (by, detail) = (1,\n json!({})); }\n#[derive(Debug, Serialize)] struct A;";
        let tested = "fn f() { g(\"json!\") }\n#[cfg(test)]\n#[expect(a)]\nmod tests { fn f() { json!(1) } }";
        finds(
            resources,
            &[
                ("src/service/keys.rs", details),
                ("src/service/other.rs", answers),
                ("src/service/tests.rs", answers),
                ("src/http/a.rs", tested),
                ("src/http/openapi/keys.rs", answers),
                ("src/http/error.rs", "#[derive(Serialize)] struct Body;"),
                ("src/cli/server.rs", answers),
            ],
            &[
                "src/service/other.rs:2",
                "src/service/other.rs:4",
                "src/service/other.rs:6",
                "src/service/other.rs:7",
            ],
        );
    }
}
