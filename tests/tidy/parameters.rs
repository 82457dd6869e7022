//! The rule about tuples as parameters of functions.

use crate::scan::{Token, TokenKind};
use crate::tree::Tree;

const REPAIR: &str = "make the tuple several parameters, or use a type with named fields. For items of a list, call \
    the function in a closure that takes the tuple apart";

/// Finds functions with a parameter whose pattern is a tuple, or whose type is written as a tuple. A closure is not a
/// function, and a type alias of a tuple is not a tuple.
pub fn tuple_parameters(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for file in ["src/", "tests/", "examples/"].iter().flat_map(|start| tree.rust_files(start)) {
        let is_code = |token: &&Token| token.kind == TokenKind::Code;
        let code: Vec<&Token> = file.tokens.iter().filter(is_code).collect();
        for (at, pair) in code.windows(2).enumerate() {
            if pair[0].text != "fn" || !pair[1].is_word() {
                continue;
            }
            for parameter in parameters(&code[at + 2..]) {
                if is_tuple(parameter) || is_tuple(after_colon(parameter)) {
                    let message = format!("`{}` takes a tuple: {REPAIR}", pair[1].text);
                    found.push(file.finding_at(parameter[0].line, &message));
                }
            }
        }
    }
    found
}

/// Returns the parameters of a function. `code` starts after the name of the function.
fn parameters<'c>(code: &'c [&'c Token]) -> Vec<&'c [&'c Token]> {
    let starts_with =
        |code: &[&Token], text: &str| code.first().is_some_and(|one| one.text == text);
    let mut rest = code;
    if starts_with(rest, "<") {
        let last = own_tokens(&rest[1..]).last().copied().unwrap_or_default();
        rest = &rest[last + 2..];
    }
    if starts_with(rest, "(") { items(&rest[1..]) } else { Vec::new() }
}

/// Returns the items of a list that are separated by commas. `code` starts after the bracket that opens the list.
fn items<'c>(code: &'c [&'c Token]) -> Vec<&'c [&'c Token]> {
    let own = own_tokens(code);
    let (mut items, mut start) = (Vec::new(), 0);
    for at in own.iter().copied().filter(|at| code[*at].text == "," || Some(at) == own.last()) {
        items.push(&code[start..at]);
        start = at + 1;
    }
    items.retain(|item| !item.is_empty());
    items
}

/// Returns the indexes of the tokens of a list that are in no inner brackets. The last one is the bracket that closes
/// the list. `code` starts after the bracket that opens the list.
fn own_tokens(code: &[&Token]) -> Vec<usize> {
    let (mut own, mut depth) = (Vec::new(), 0_usize);
    for (at, token) in code.iter().enumerate() {
        let is_arrow = at > 0 && code[at - 1].text == "-";
        let opens = matches!(token.text.as_str(), "(" | "[" | "{" | "<");
        let closes = match token.text.as_str() {
            ")" | "]" | "}" => true,
            ">" => !is_arrow,
            _ => false,
        };
        if depth == 0 {
            own.push(at);
        }
        if closes && depth == 0 {
            break;
        }
        depth = depth + usize::from(opens) - usize::from(closes);
    }
    own
}

/// Returns the type of a parameter; empty if the parameter has none, such as `self`.
fn after_colon<'c>(parameter: &'c [&'c Token]) -> &'c [&'c Token] {
    let is_colon = |at: usize| parameter.get(at).is_some_and(|token| token.text == ":");
    let is_single =
        |at: &usize| is_colon(*at) && !is_colon(at + 1) && !is_colon(at.wrapping_sub(1));
    let colon = own_tokens(parameter).into_iter().find(is_single);
    colon.map_or(&[], |colon| &parameter[colon + 1..])
}

/// Returns `true` if a pattern or a type is a tuple or a reference to one.
fn is_tuple(code: &[&Token]) -> bool {
    let is_of_reference = |token: &&&Token| {
        matches!(token.text.as_str(), "&" | "mut") || token.text.starts_with('\'')
    };
    let referred = &code[code.iter().take_while(is_of_reference).count()..];
    referred.first().is_some_and(|first| first.text == "(") && items(&referred[1..]).len() > 1
}

#[cfg(test)]
mod tests {
    use super::tuple_parameters;
    use crate::tree::assert_finds;

    #[track_caller]
    fn assert_found(source: &str, is_found: bool) {
        let places = ["src/a.rs:1"];
        let places = if is_found { &places[..] } else { &[] };
        assert_finds(tuple_parameters, &[("src/a.rs", source)], places);
    }

    #[test]
    fn tuples_as_parameters_are_found() {
        for source in [
            "fn f((a, b): (A, B)) {}",
            "fn f(&self, c: C, (a, _): &Pair) {}",
            "fn f(a: (A, B)) {}",
            "fn f(mut a: (A, Vec<(B, C)>),) {}",
            "fn f(a: &(A, B)) {}",
            "fn f(&a: &'static mut (A, B)) {}",
            "fn f<T: Fn(A) -> B, const N: usize>(t: T, a: (T, B)) {}",
            "fn f(Point { x: a, y: b }: Point, c: (x::A, B)) {}",
            "impl T for A { fn f((a, b): (A, B)); }",
            "mod tests { async fn f((a, (b, c)): (A, (B, C))) {} }",
        ] {
            assert_found(source, true);
        }
    }

    #[test]
    fn other_parameters_are_not_found() {
        for source in [
            "fn f(a: A, b: B) -> (A, B) { g((a, b)) }",
            "fn f<T: Into<(A, B)>>(self, a: &[(A, B)], b: Option<(A, B)>) {}",
            "fn f(a: &mut (impl Read + Unpin), b: (), c: [(A, B); 2]) {}",
            "fn f(a: impl Fn((A, B)) -> C, b: fn((A, B)), c: Pair) {}",
            "fn f(Pair(a, b): Pair) { let g = |(a, b): (A, B)| a; }",
            "fn f(a: x::A<(A, B)>) {} // fn f((a, b): (A, B))",
            "const A: &str = \"fn f((a, b): (A, B))\";",
            "macro_rules! m { ($f:ident) => { fn $f(a: A) {} } }",
        ] {
            assert_found(source, false);
        }
    }

    #[test]
    fn every_parameter_is_found_in_each_folder() {
        let source = "fn f(\n    (a, b): (A, B),\n    c: C,\n    d: (D, E),\n) {}\n";
        let files = [("src/a.rs", source), ("tests/a.rs", source), ("examples/a.rs", source)];
        let places = ["src/a.rs:2", "src/a.rs:4", "tests/a.rs:2", "tests/a.rs:4"];
        let places = [&places[..], &["examples/a.rs:2", "examples/a.rs:4"]].concat();
        assert_finds(tuple_parameters, &files, &places);
    }
}
