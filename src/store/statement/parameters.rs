//! Where a statement's parameters are.
//!
//! What does not live here: binding them. What always holds: SQLite numbers the names of a statement as they are numbered
//! here, in the order in which each is met first; the test of every statement compares the two.

/// The most names that a statement has.
const NAMES_MAX: usize = 32;

/// The names of a statement, each from its colon on, in the order of their numbers. It has no addresses in it: what has none
/// is read from the binary, and takes no memory before.
pub(in crate::store) struct Names {
    /// Where in the text each begins and ends.
    places: [(u16, u16); NAMES_MAX],
    count: usize,
}

impl Names {
    /// The names in a text. The compiler reads it, so that nobody does when the statement is run.
    #[expect(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        reason = "it is evaluated for constants only: where an index or a sum were wrong, they would not compile"
    )]
    pub(in crate::store) const fn of(sql: &str) -> Names {
        let text = sql.as_bytes();
        assert!(text.len() <= u16::MAX as usize, "too long a statement");
        let mut names = Names {
            places: [(0, 0); NAMES_MAX],
            count: 0,
        };
        let mut at = 0;
        while at < text.len() {
            let start = at;
            at += 1;
            match text[start] {
                quote @ (b'\'' | b'"') => {
                    while text[at] != quote {
                        at += 1;
                    }
                    at += 1;
                }
                b'-' if at < text.len() && text[at] == b'-' => {
                    while at < text.len() && text[at] != b'\n' {
                        at += 1;
                    }
                }
                b':' => {
                    while at < text.len() && (text[at].is_ascii_alphanumeric() || text[at] == b'_')
                    {
                        at += 1;
                    }
                    if !names.has(text, start, at) {
                        names.places[names.count] = (start as u16, at as u16);
                        names.count += 1;
                    }
                }
                _ => {}
            }
        }
        names
    }

    /// Is the name known that is at this place of the text?
    #[expect(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::as_conversions,
        reason = "as for `of`, which alone asks"
    )]
    const fn has(&self, text: &[u8], start: usize, end: usize) -> bool {
        let mut index = 0;
        while index < self.count {
            let known = self.places[index].0 as usize;
            let mut same = 0;
            if self.places[index].1 as usize - known == end - start {
                while same < end - start && text[known + same] == text[start + same] {
                    same += 1;
                }
            }
            if same == end - start {
                return true;
            }
            index += 1;
        }
        false
    }

    /// The names in the text that they were read from, in order.
    #[cfg(test)]
    pub(in crate::store) fn all<'t>(&self, sql: &'t str) -> impl Iterator<Item = &'t str> {
        let places = self.places.iter().take(self.count);
        places.filter_map(|(start, end)| sql.get(usize::from(*start)..usize::from(*end)))
    }

    /// How many there are.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// The number of the name that is bound at this place, from 0 on: mostly they are bound in their order.
    pub(super) fn number(&self, sql: &str, name: &str, place: usize) -> Option<usize> {
        let is_here = |(start, end): &(u16, u16)| {
            sql.as_bytes().get(usize::from(*start)..usize::from(*end)) == Some(name.as_bytes())
        };
        let index = if self.places.get(place).is_some_and(is_here) {
            place
        } else {
            self.places.iter().position(is_here)?
        };
        Some(index.saturating_add(1))
    }
}
