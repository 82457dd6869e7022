//! Reads and changes a file of environment variables in the format of systemd's `EnvironmentFile=`.
//!
//! Source: systemd.exec(5), `EnvironmentFile=`. No shell reads the file, so `$` and backquotes have no meaning.

use std::ops::Range;

/// A file of environment variables.
///
/// A change keeps comments, other variables and lines that systemd ignores.
pub struct EnvFile {
    text: String,
    assignments: Vec<Assignment>,
}

struct Assignment {
    name: String,
    value: String,
    /// Bytes of the assignment in the text, without the line end.
    range: Range<usize>,
}

impl EnvFile {
    /// Parses the text of a file. Like systemd, ignores lines without an assignment and names that no variable has.
    pub fn parse(text: &str) -> EnvFile {
        let mut scanner = Scanner { text, at: 0 };
        let mut assignments = Vec::new();
        while let Some(next) = scanner.next_entry() {
            assignments.extend(next.filter(|found| is_variable_name(&found.name)));
        }
        EnvFile { text: text.to_owned(), assignments }
    }

    /// Returns the variables in the order of the file. Of two assignments of one name the later one counts.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.assignments.iter().map(|one| (one.name.as_str(), one.value.as_str()))
    }

    /// Returns the value of a variable.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.variables().filter(|(found, _)| *found == name).last().map(|(_, value)| value)
    }

    /// Sets a variable where it is assigned last, or at the end of the file. The value must not contain control
    /// characters.
    pub fn set(&mut self, name: &str, value: &str) {
        let line = format!("{name}={}", quote(value));
        let last = self.assignments.iter().rfind(|one| one.name == name);
        let text = match last.map(|one| one.range.clone()) {
            Some(range) => self.replace_range(range, &line),
            None if self.text.is_empty() || self.text.ends_with('\n') => {
                format!("{}{line}\n", self.text)
            }
            None => format!("{}\n{line}\n", self.text),
        };
        *self = EnvFile::parse(&text);
    }

    /// Removes every assignment of a variable, with its line.
    pub fn remove(&mut self, name: &str) {
        while let Some(one) = self.assignments.iter().find(|one| one.name == name) {
            let range = one.range.clone();
            let text = self.replace_range(range.start..range.end.saturating_add(1), "");
            *self = EnvFile::parse(&text);
        }
    }

    /// Returns the text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn replace_range(&self, range: Range<usize>, by: &str) -> String {
        let before = self.text.get(..range.start).unwrap_or_default();
        let after = self.text.get(range.end..).unwrap_or_default();
        format!("{before}{by}{after}")
    }
}

fn is_variable_name(name: &str) -> bool {
    let is_of_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(is_of_name)
}

/// Quotes a value where systemd or a shell would read it differently.
fn quote(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,@%+=~[]".contains(c);
    if value.chars().all(is_plain) {
        return value.to_owned();
    }
    if !value.contains(['\'', '\\']) {
        return format!("'{value}'");
    }
    let escape = |c: char| match c {
        '"' | '\\' | '`' | '$' => format!("\\{c}"),
        _ => c.to_string(),
    };
    format!("\"{}\"", value.chars().map(escape).collect::<String>())
}

struct Scanner<'a> {
    text: &'a str,
    /// Number of bytes that are read.
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let found = self.peek()?;
        self.at = self.at.saturating_add(found.len_utf8());
        Some(found)
    }

    /// Reads until a line end, which remains, or the end of the text.
    fn skip_line(&mut self) {
        while self.peek().is_some_and(|c| !is_line_end(c)) {
            self.next();
        }
    }

    /// Reads one assignment or one line without an assignment; `None` at the end of the text.
    fn next_entry(&mut self) -> Option<Option<Assignment>> {
        while self.peek().is_some_and(is_blank) {
            self.next();
        }
        let start = self.at;
        if matches!(self.peek()?, '#' | ';') {
            self.skip_line();
            return Some(None);
        }
        while self.peek().is_some_and(|c| c != '=' && !is_line_end(c)) {
            self.next();
        }
        let name = self.text.get(start..self.at).unwrap_or_default().trim_end_matches(is_blank);
        if self.next() != Some('=') {
            return Some(None);
        }
        let name = name.to_owned();
        let value = self.read_value();
        Some(Some(Assignment { name, value, range: start..self.at }))
    }

    /// Reads a value. Quoted parts and a rest without quotes may follow each other.
    fn read_value(&mut self) -> String {
        let mut value = String::new();
        loop {
            while self.peek().is_some_and(|c| is_blank(c) && !is_line_end(c)) {
                self.next();
            }
            match self.peek() {
                Some('\'') => self.read_single_quoted(&mut value),
                Some('"') => self.read_double_quoted(&mut value),
                Some(c) if !is_line_end(c) => {
                    self.read_unquoted(&mut value);
                    return value;
                }
                Some(_) | None => return value,
            }
        }
    }

    /// Reads to the closing quotation mark. A backslash has no meaning.
    fn read_single_quoted(&mut self, value: &mut String) {
        self.next();
        value.extend(std::iter::from_fn(|| self.next().filter(|c| *c != '\'')));
    }

    /// Reads to the closing quotation mark. A backslash removes a line end and keeps `"`, `\`, a backquote and `$`.
    fn read_double_quoted(&mut self, value: &mut String) {
        self.next();
        while let Some(c) = self.next().filter(|c| *c != '"') {
            match c {
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(escaped @ ('"' | '\\' | '`' | '$')) => value.push(escaped),
                    Some(other) => value.extend(['\\', other]),
                },
                _ => value.push(c),
            }
        }
    }

    /// Reads to the end of the line, without blanks at the end. A backslash keeps the next character and removes a line
    /// end. Quotation marks have no meaning.
    fn read_unquoted(&mut self, value: &mut String) {
        let mut kept = value.len();
        while let Some(c) = self.peek().filter(|c| !is_line_end(*c)) {
            self.next();
            match c {
                '\\' => {
                    value.extend(self.next().filter(|escaped| !is_line_end(*escaped)));
                    kept = value.len();
                }
                _ => {
                    value.push(c);
                    if !is_blank(c) {
                        kept = value.len();
                    }
                }
            }
        }
        value.truncate(kept);
    }
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t') || is_line_end(c)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::EnvFile;

    /// Text of a file, and its variables as systemd 252 reads them.
    const READ_BY_SYSTEMD: &[(&str, &[(&str, &str)])] = &[
        ("", &[]),
        ("A=b\n# c\n; d\n\n e = f \nno assignment\n1A=b\nA-B=c\n=d\n", &[("A", "b"), ("e", "f")]),
        ("A=\nB=  \nC", &[("A", ""), ("B", "")]),
        ("A='b c' \nB=\"d e\"\n", &[("A", "b c"), ("B", "d e")]),
        ("A='b'\"c\" d 'e'\n", &[("A", "bcd 'e'")]),
        (r#"A='\n$b' "#, &[("A", r"\n$b")]),
        (r#"A="\"\\\$\`\n""#, &[("A", r#""\$`\n"#)]),
        ("A=b\\\nc\\ \\\\\nB=d\n", &[("A", "bc \\"), ("B", "d")]),
        ("A='b\nc'\nB=\"d\\\ne\"\n", &[("A", "b\nc"), ("B", "de")]),
        (
            "A=[\"/bin/true\", \"a b\", \"c&d;e#f\", \"$$\"]",
            &[("A", r#"["/bin/true", "a b", "c&d;e#f", "$$"]"#)],
        ),
        ("A='b", &[("A", "b")]),
        ("A=b\r\nB=c", &[("A", "b"), ("B", "c")]),
    ];

    #[test]
    fn variables_are_those_that_systemd_reads() {
        for (text, expected) in READ_BY_SYSTEMD {
            let file = EnvFile::parse(text);
            assert_eq!(file.variables().collect::<Vec<_>>(), *expected, "{text}");
        }
    }

    #[test]
    fn change_keeps_every_other_line() {
        let mut file = EnvFile::parse("# one\nA=1\nB='2\n3' \nno assignment\nA=4\n#C=5");
        assert_eq!(file.value("A"), Some("4"));
        file.set("A", "x y");
        file.set("C", "6");
        assert_eq!(file.text(), "# one\nA=1\nB='2\n3' \nno assignment\nA='x y'\n#C=5\nC=6\n");
        file.remove("A");
        file.remove("absent");
        assert_eq!(file.text(), "# one\nB='2\n3' \nno assignment\n#C=5\nC=6\n");
        file.remove("C");
        file.set("B", "");
        assert_eq!(file.text(), "# one\nB=\nno assignment\n#C=5\n");
    }

    #[test]
    fn every_value_is_read_back_as_it_was_set() {
        let parts =
            ["a", " ", "'", "\"", "\\", "$", "`", "#", ";", "=", "&", "é", "https://u:p@h/?k=v"];
        for first in parts {
            for second in parts {
                for third in parts {
                    let value = format!("{first}{second}{third}");
                    let mut file = EnvFile::parse("A=1\nB=2\n");
                    file.set("A", &value);
                    assert_eq!(file.value("A"), Some(value.as_str()), "{}", file.text());
                    assert_eq!(EnvFile::parse(file.text()).value("B").unwrap(), "2");
                }
            }
        }
    }
}
