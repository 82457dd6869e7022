//! The modules of `service` stand in one order, and each uses only those below it. Counted are paths, also those that
//! the root of `service` exports again, and calls of methods that `service` defines on its structs.
//!
//! Unit tests are excluded: they may use everything.

use crate::names::UsedNames;
use crate::scan::Token;
use crate::tree::{SourceFile, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// The modules of `service`, the highest first. Each uses only those that stand below it.
const ORDER: &[&str] = &[
    // What works on a whole file.
    "sandbox",
    "pruning",
    "backup",
    "audit",
    "mail",
    // What a block means: gives each observation to its owner.
    "chains",
    "checkout",
    "simulated_payments",
    "deposits",
    "observations",
    // Money that comes in.
    "links",
    "invoices",
    "intake",
    "quotes",
    "settle",
    "summary",
    // Money that goes out.
    "payouts",
    "refunds",
    "sending",
    "transfers",
    "approval",
    // Addresses to which money comes.
    "customers",
    "pools",
    "derived_addresses",
    "destination_check",
    "wallets",
    // Chains that are followed.
    "confirmations",
    "followed",
    "rates",
    // Who may do what.
    "users",
    "reseller",
    "accounts",
    "servers",
    "keys",
    // Books.
    "adjustments",
    "endpoints",
    "webhooks",
    "events",
    "idempotency",
    "matches",
    "activity",
    "audit_log",
    "lookups",
    "callers",
    // What everything uses.
    "certificate",
    "clock",
    "faults",
    "page",
    "cache",
    "step",
    "error",
];

/// Name of the root module of `service`, which every other module may use.
const ROOT: &str = "mod";

/// Returns the module of `service` that a file belongs to: `src/service/mail/sales.rs` is of `mail`.
fn room_of_file(file: &SourceFile) -> &str {
    let path = file.path.strip_prefix("src/service/").unwrap_or(&file.path);
    path.split('/').next().unwrap_or(path).trim_end_matches(".rs")
}

/// Returns the number of modules below this one.
fn height_of(room: &str) -> Option<usize> {
    ORDER.iter().rev().position(|one| *one == room)
}

/// Returns the names of the methods that a file defines.
fn methods_of_file<'f>(code: &[&'f Token]) -> Vec<&'f str> {
    let text = |at: usize| code.get(at).map_or("", |token| token.text.as_str());
    let mut found = Vec::new();
    for (at, token) in code.iter().enumerate() {
        if token.text != "fn" {
            continue;
        }
        let Some(name) = code.get(at + 1) else { continue };
        let open = (at + 2..code.len()).find(|at| text(*at) == "(");
        let has_self = open.is_some_and(|open| {
            (open + 1..=open + 4).take_while(|at| text(*at) != ")").any(|at| text(at) == "self")
        });
        if has_self {
            found.push(name.text.as_str());
        }
    }
    found
}

/// Returns the module from which the root of `service` exports each name again.
fn exported_names(root: &SourceFile) -> BTreeMap<String, String> {
    let used = UsedNames::from_file(root).used.into_iter();
    let exported = used.filter_map(|(path, _)| match &path[..] {
        [room, .., name] => Some((name.clone(), room.clone())),
        [_] | [] => None,
    });
    exported.filter(|(_, room)| height_of(room).is_some()).collect()
}

/// Finds uses of a module of `service` by one that does not stand above it.
pub fn upward_uses(tree: &Tree) -> Vec<String> {
    let files: Vec<(&SourceFile, Vec<&Token>)> =
        tree.rust_files("src/service/").map(|file| (file, file.program_tokens())).collect();
    let mut owners: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, code) in &files {
        for name in methods_of_file(code) {
            owners.entry(name).or_default().insert(room_of_file(file));
        }
    }
    let roots = files.iter().filter(|(file, _)| room_of_file(file) == ROOT);
    let exported: BTreeMap<String, String> =
        roots.flat_map(|(file, _)| exported_names(file)).collect();
    let mut found = BTreeSet::new();
    for (file, code) in &files {
        let own = room_of_file(file);
        if own == ROOT || code.is_empty() {
            continue;
        }
        let Some(height) = height_of(own) else {
            found.insert(file.finding_at(
                1,
                "a module of `service` without a place in ORDER (tests/tidy/rooms.rs)",
            ));
            continue;
        };
        let mut check = |used: &str, line: usize, what: &str| {
            let is_below =
                used == own || used == ROOT || height_of(used).is_none_or(|of| of < height);
            if !is_below {
                found.insert(file.finding_at(line, &format!(
                    "`{own}` may not use `{used}` ({what}): it does not stand below in ORDER (tests/tidy/rooms.rs)"
                )));
            }
        };
        for (path, line) in UsedNames::from_file(file).used {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            if let ["crate", "service", used, rest @ ..] = &path[..] {
                match exported.get(*used) {
                    Some(room) => check(room, line, used),
                    None => check(used, line, rest.first().unwrap_or(used)),
                }
            }
        }
        for (at, token) in code.iter().enumerate() {
            let is_call = at > 1
                && code[at - 1].text == "."
                && code.get(at + 1).is_some_and(|next| next.text == "(");
            let receiver = if is_call { code[at - 2].text.as_str() } else { "" };
            if !matches!(receiver, "self" | "service") {
                continue;
            }
            let name = token.text.as_str();
            if let Some(rooms) =
                owners.get(name).filter(|rooms| !rooms.contains(own) && !rooms.contains(ROOT))
            {
                rooms.iter().for_each(|used| check(used, token.line, name));
            }
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::upward_uses;
    use crate::tree::assert_finds;

    const LOW: &str = "src/service/pools.rs";
    const HIGH: &str = "src/service/quotes.rs";

    #[track_caller]
    fn assert_found(low: &str, high: &str, places: &[&str]) {
        assert_finds(upward_uses, &[(HIGH, high), (LOW, low)], places);
    }

    #[test]
    fn paths_to_higher_modules_are_found() {
        let high = "use crate::service::pools::take;\npub fn offer() { take() }";
        assert_found("pub fn take() {}", high, &[]);
        let low = "use super::quotes::offer;\npub fn take() { offer() }";
        assert_found(low, high, &["src/service/pools.rs:1"]);
        let low = "pub fn take() {\n    crate::service::quotes::offer()\n}";
        assert_found(low, high, &["src/service/pools.rs:2"]);
        let low = "pub fn take() {}\n#[cfg(test)]\nmod tests {\n    use crate::service::quotes::offer;\n}";
        assert_found(low, high, &[]);
    }

    #[test]
    fn names_that_the_root_exports_again_are_found() {
        let root =
            ("src/service/mod.rs", "mod pools;\nmod quotes;\npub use quotes::{Offer, Price};");
        let low = (LOW, "use super::Price;\nfn take(price: Price) {}");
        assert_finds(upward_uses, &[root, low], &["src/service/pools.rs:1"]);
        let low = (LOW, "fn take(price: crate::service::Price) {}");
        assert_finds(upward_uses, &[root, low], &["src/service/pools.rs:1"]);
        let high = (HIGH, "use super::Offer;");
        assert_finds(upward_uses, &[root, high], &[]);
    }

    #[test]
    fn calls_of_methods_of_higher_modules_are_found() {
        let high = "impl Service {\n    fn offer(&self) { self.take() }\n}";
        assert_found("impl Service {\n    fn take(self: &Arc<Self>) {}\n}", high, &[]);
        let low = "fn take(step: &Step) {\n    step.service.offer()\n}";
        assert_found(low, high, &["src/service/pools.rs:2"]);
        let low = "impl Service {\n    fn take(&self) {\n        self.offer()\n    }\n}";
        assert_found(low, high, &["src/service/pools.rs:3"]);
        // The method of another struct.
        assert_found("fn take(list: &List) {\n    list.offer()\n}", high, &[]);
    }

    #[test]
    fn modules_without_a_place_are_found() {
        let new = ("src/service/vault.rs", "pub fn open() {}");
        assert_finds(upward_uses, &[new], &["src/service/vault.rs:1"]);
    }
}
