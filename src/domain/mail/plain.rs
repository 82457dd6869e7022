//! Makes texts of shops and payers safe in a message: one line, of limited length, that programs show as plain text.

/// Returns the text as one line of at most `chars_max` characters. Control characters, line separators and runs of
/// spaces become one space. Invisible characters that change the direction or hide text are removed. A longer text
/// ends in `…`.
pub fn single_line(text: &str, chars_max: usize) -> String {
    let shown = text.chars().filter(|c| !is_invisible(*c));
    let spaced: String = shown.map(|c| if is_break(c) { ' ' } else { c }).collect();
    let mut line = String::new();
    for word in spaced.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.chars().count() <= chars_max {
        return line;
    }
    let mut cut: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// Returns the text as [`single_line`], with spaces where a mail program would find a link: in `https://`, and behind
/// the dot of `shop.example`.
pub fn line_without_links(text: &str, chars_max: usize) -> String {
    // Invisible characters are removed first, because they could stand between a dot and a name.
    let line = single_line(text, usize::MAX);
    let mut plain = String::new();
    let mut rest = line.chars().peekable();
    let mut before = ' ';
    while let Some(c) = rest.next() {
        plain.push(c);
        let next = rest.peek().copied().unwrap_or(' ');
        let is_name = (is_dot(c) || c == '@') && before.is_alphanumeric() && next.is_alphabetic();
        let is_scheme = c == ':' && next == '/';
        if is_name || is_scheme {
            plain.push(' ');
        }
        before = c;
    }
    single_line(&plain, chars_max)
}

/// Returns `true` for the dot, and for characters that mail programs and browsers read as one in a name (IDNA).
fn is_dot(c: char) -> bool {
    matches!(c, '.' | '\u{3002}' | '\u{ff0e}' | '\u{ff61}')
}

/// Returns `true` for characters that end a line or that terminals and mail programs act on.
fn is_break(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Returns `true` for formatting characters without a width: direction marks, joiners, tags and the byte order mark.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::{line_without_links, single_line};

    #[test]
    fn hostile_text_becomes_one_plain_line() {
        for (text, expected) in [
            ("Two tickets", "Two tickets"),
            ("  a \t b  ", "a b"),
            ("Hi\r\nBcc: eve@evil.example\r\n\r\n<b>x</b>", "Hi Bcc: eve@evil.example <b>x</b>"),
            ("a\u{0}b\u{7f}c\u{85}d\u{1b}[31m", "a b c d [31m"),
            ("a\u{2028}b\u{2029}c", "a b c"),
            ("\u{202e}fdp.exe\u{202c}\u{200b}\u{feff}", "fdp.exe"),
            ("Zażółć 用户 🎟", "Zażółć 用户 🎟"),
            ("", ""),
        ] {
            assert_eq!(single_line(text, 200), expected, "{text:?}");
        }
        assert_eq!(single_line(&"é".repeat(200), 200).chars().count(), 200);
        let cut = single_line(&"é".repeat(201), 200);
        assert_eq!((cut.chars().count(), cut.ends_with("é…")), (200, true));
        assert_eq!(single_line("one two", 5), "one…");
        assert_eq!(single_line("ab", 0), "…");
    }

    #[test]
    fn text_contains_nothing_that_programs_link() {
        for (text, expected) in [
            ("see https://evil.example/a", "see https: //evil. example/a"),
            ("www.evil.com", "www. evil. com"),
            ("mail eve@evil.com", "mail eve@ evil. com"),
            ("evil\u{3002}com", "evil\u{3002} com"),
            ("Size 1.5, No. 7, 3.50 EUR", "Size 1.5, No. 7, 3.50 EUR"),
            ("evil.\u{200b}com", "evil. com"),
        ] {
            assert_eq!(line_without_links(text, 200), expected, "{text:?}");
        }
    }
}
