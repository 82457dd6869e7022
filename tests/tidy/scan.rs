//! Rust source, split into code, string literals and comments, each piece with its line.
//!
//! Code is cut into words and single marks, so that spaces and line breaks never matter. It need not
//! be valid Rust, and nothing is parsed: what a piece means is for the rules to say.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A word, a number, a lifetime, a character literal with its quotes, or one mark.
    Code,
    /// What a string literal holds, without its quotes, simple escapes undone.
    Text,
    Comment,
}

#[derive(Debug)]
pub struct Token {
    pub kind: Kind,
    pub text: String,
    /// Where it begins, from 1.
    pub line: usize,
}

impl Token {
    pub fn is_word(&self) -> bool {
        self.kind == Kind::Code
            && self
                .text
                .starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

pub fn scan(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = source;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let (length, piece) = next(rest, first);
        if let Some((kind, text)) = piece {
            tokens.push(Token { kind, text, line });
        }
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

/// How long the next piece is, and what it is unless it is space.
fn next(rest: &str, first: char) -> (usize, Option<(Kind, String)>) {
    if first.is_whitespace() {
        return (first.len_utf8(), None);
    }
    if let Some((length, text)) = literal(rest) {
        return (length, Some((Kind::Text, text)));
    }
    let (kind, length) = if rest.starts_with("//") {
        (Kind::Comment, rest.find('\n').unwrap_or(rest.len()))
    } else if rest.starts_with("/*") {
        (Kind::Comment, block_comment(rest))
    } else if first == '\'' {
        (Kind::Code, quote(rest))
    } else if first.is_ascii_digit() {
        (Kind::Code, number(rest))
    } else {
        (Kind::Code, word(rest).max(first.len_utf8()))
    };
    (length, Some((kind, rest[..length].to_owned())))
}

fn word(rest: &str) -> usize {
    rest.find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len())
}

/// `1.5` is one number; `1..5` is three pieces.
fn number(rest: &str) -> usize {
    let whole = word(rest);
    match rest[whole..].strip_prefix('.') {
        Some(after) if after.starts_with(|c: char| c.is_ascii_digit()) => whole + 1 + word(after),
        _ => whole,
    }
}

/// A character literal, or a lifetime.
fn quote(rest: &str) -> usize {
    let mut inner = rest.chars().skip(1);
    match (inner.next(), inner.next()) {
        (Some('\\'), Some(escaped)) => {
            let from = 2 + escaped.len_utf8();
            rest[from..]
                .find('\'')
                .map_or(rest.len(), |end| from + end + 1)
        }
        (Some(one), Some('\'')) => one.len_utf8() + 2,
        _ => 1 + word(&rest[1..]),
    }
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// A string literal of any kind at the start of `rest`: its whole length, and what it holds.
fn literal(rest: &str) -> Option<(usize, String)> {
    let hashes = rest.trim_start_matches(['b', 'c', 'r']);
    let quoted = hashes.trim_start_matches('#');
    let body = quoted.strip_prefix('"')?;
    let raw = rest[..rest.len() - hashes.len()].contains('r');
    if !raw && hashes != quoted {
        return None;
    }
    let close = format!("\"{}", "#".repeat(hashes.len() - quoted.len()));
    let end = if raw {
        body.find(&close)
    } else {
        closing(body)
    }
    .unwrap_or(body.len());
    let text = if raw {
        body[..end].to_owned()
    } else {
        plain(&body[..end])
    };
    let length = rest.len() - body.len() + end + close.len();
    Some((length.min(rest.len()), text))
}

/// Where a literal with escapes ends.
fn closing(body: &str) -> Option<usize> {
    let mut escaped = false;
    body.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

fn plain(escaped: &str) -> String {
    let undone = [
        ("\\\n", "\n"),
        ("\\n", "\n"),
        ("\\r", "\r"),
        ("\\t", "\t"),
        ("\\\"", "\""),
    ];
    undone.iter().fold(escaped.to_owned(), |text, (from, to)| {
        text.replace(from, to)
    })
}

#[cfg(test)]
mod tests {
    use super::{Kind, scan};

    #[track_caller]
    fn pieces(source: &str, kind: Kind, expected: &[&str]) {
        let tokens = scan(source);
        let of_kind: Vec<&str> = tokens
            .iter()
            .filter(|token| token.kind == kind)
            .map(|token| token.text.as_str())
            .collect();
        assert_eq!(of_kind, expected, "{source}");
    }

    #[test]
    fn code_is_words_and_marks() {
        pieces(
            "a::b(1.5, 0..2, c_1)",
            Kind::Code,
            &[
                "a", ":", ":", "b", "(", "1.5", ",", "0", ".", ".", "2", ",", "c_1", ")",
            ],
        );
        pieces("é→x", Kind::Code, &["é", "→", "x"]);
    }

    #[test]
    fn lifetimes_are_not_characters() {
        pieces("&'a str", Kind::Code, &["&", "'a", "str"]);
        pieces(
            r"'{' '\'' '\u{7d}' '→' b'\\' 'x",
            Kind::Code,
            &["'{'", r"'\''", r"'\u{7d}'", "'→'", "b", r"'\\'", "'x"],
        );
        pieces(r#"'"' "text""#, Kind::Text, &["text"]);
    }

    #[test]
    fn literals_of_every_kind() {
        pieces(
            r#""a \" b" b"c" c"d\\" """#,
            Kind::Text,
            &["a \" b", "c", "d\\\\", ""],
        );
        pieces(
            r###"r"a\" r#"b"c"# br##"d"#e"##"###,
            Kind::Text,
            &["a\\", "b\"c", "d\"#e"],
        );
        pieces(
            r#""\n a\
            b" after"#,
            Kind::Code,
            &["after"],
        );
        pieces("r#type bcr", Kind::Code, &["r", "#", "type", "bcr"]);
        pieces("\"never closed", Kind::Text, &["never closed"]);
    }

    #[test]
    fn comments_hide_code_and_literals_hide_comments() {
        pieces(
            "a // \"b\"\nc /* d /* e */ f */ g",
            Kind::Code,
            &["a", "c", "g"],
        );
        pieces("a // b\nc", Kind::Comment, &["// b"]);
        pieces("\"// a\" /* \" */ b", Kind::Code, &["b"]);
    }

    #[test]
    fn lines_are_where_a_piece_begins() {
        let lines: Vec<usize> = scan("a\n\"b\n\n\" c\n// d\n/*\n*/ e")
            .iter()
            .map(|token| token.line)
            .collect();
        assert_eq!(lines, [1, 2, 4, 5, 6, 7]);
    }
}
