//! Splits Rust source into tokens: words, punctuation, string literals and comments, each with its line.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A word, a number, a lifetime, a character literal or a punctuation character.
    Code,
    /// The content of a string literal, as written between its quotes.
    Text,
    Comment,
}

#[derive(Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub text: String,
    /// Line of the token's first character, from 1.
    pub line: usize,
}

impl Token {
    pub fn is_word(&self) -> bool {
        let begins_word = |c: char| c.is_alphabetic() || c == '_';
        self.kind == TokenKind::Code && self.text.starts_with(begins_word)
    }
}

pub fn scan(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let (length, piece) = next_token(rest, first);
        if let Some((kind, text)) = piece {
            let text = text.to_owned();
            tokens.push(Token { kind, text, line });
        }
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

/// Returns the length of the next token with its kind and text. For white space, returns the length and `None`.
fn next_token(rest: &str, first: char) -> (usize, Option<(TokenKind, &str)>) {
    if first.is_whitespace() {
        return (first.len_utf8(), None);
    }
    if let Some((length, text)) = string_literal(rest) {
        return (length, Some((TokenKind::Text, text)));
    }
    let (kind, length) = if rest.starts_with("//") {
        (TokenKind::Comment, rest.find('\n').unwrap_or(rest.len()))
    } else if rest.starts_with("/*") {
        let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
        (TokenKind::Comment, end)
    } else if first == '\'' {
        (TokenKind::Code, literal_or_lifetime_length(rest))
    } else {
        (TokenKind::Code, word_length(rest).max(first.len_utf8()))
    };
    (length, Some((kind, &rest[..length])))
}

fn word_length(rest: &str) -> usize {
    rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
}

/// Returns the length of a character literal or a lifetime.
fn literal_or_lifetime_length(rest: &str) -> usize {
    if rest.starts_with("'\\") {
        return rest[3..].find('\'').map_or(rest.len(), |end| end + 4);
    }
    let one = rest[1..].chars().next().map_or(0, char::len_utf8);
    let is_character = rest[1 + one..].starts_with('\'');
    1 + if is_character { one + 1 } else { word_length(&rest[1..]) }
}

/// Returns the length and the content of a string literal of any kind at the start of `rest`.
fn string_literal(rest: &str) -> Option<(usize, &str)> {
    let after_prefix = rest.trim_start_matches(['b', 'c', 'r']);
    let quoted = after_prefix.trim_start_matches('#');
    let body = quoted.strip_prefix('"')?;
    let is_raw = rest[..rest.len() - after_prefix.len()].contains('r');
    let hashes = after_prefix.len() - quoted.len();
    if !is_raw && hashes > 0 {
        return None;
    }
    let mut is_escaped = false;
    let end = if is_raw {
        body.find(&format!("\"{}", "#".repeat(hashes)))
    } else {
        body.bytes().position(|byte| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        })
    };
    let text = &body[..end.unwrap_or(body.len())];
    let length = rest.len() - body.len() + text.len() + 1 + hashes;
    Some((length.min(rest.len()), text))
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, scan};

    #[track_caller]
    fn assert_tokens(source: &str, kind: TokenKind, expected: &[&str]) {
        let tokens = scan(source);
        let of_kind = tokens.iter().filter(|token| token.kind == kind);
        let texts: Vec<&str> = of_kind.map(|token| token.text.as_str()).collect();
        assert_eq!(texts, expected, "{source}");
    }

    #[test]
    fn code_is_split_into_words_and_punctuation() {
        assert_tokens("a::b(c_1)", TokenKind::Code, &["a", ":", ":", "b", "(", "c_1", ")"]);
        assert_tokens(
            "é→x &'a r#type",
            TokenKind::Code,
            &["é", "→", "x", "&", "'a", "r", "#", "type"],
        );
        assert_tokens(
            r"'{' '\'' '\u{7d}' 'x",
            TokenKind::Code,
            &["'{'", r"'\''", r"'\u{7d}'", "'x"],
        );
    }

    #[test]
    fn comment_signs_inside_literals_are_text() {
        assert_tokens(
            r#""a \" b" b"c" c"d\\" "" '"' "e""#,
            TokenKind::Text,
            &[r#"a \" b"#, "c", r"d\\", "", "e"],
        );
        assert_tokens(
            r###"r"a\" r#"b"c"# br##"d"#e"##"###,
            TokenKind::Text,
            &["a\\", "b\"c", "d\"#e"],
        );
        assert_tokens("\"// a\" b \"never closed", TokenKind::Code, &["b"]);
    }

    #[test]
    fn code_inside_comments_is_skipped() {
        assert_tokens("a // \"b\"\nc /* d */ e", TokenKind::Code, &["a", "c", "e"]);
        let lines = scan("a\n\"b\n\n\" c\n// d\n/*\n*/ e");
        let lines: Vec<usize> = lines.iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 2, 4, 5, 6, 7]);
    }
}
