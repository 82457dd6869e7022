//! Reads `NO_COLOR` and `TERM`.

use std::ffi::OsString;

/// Features of the terminal that output may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalFeatures {
    /// Whether the terminal supports control codes for the cursor and for colours.
    pub is_able: bool,
    /// Whether colours may be printed.
    pub colours: bool,
}

/// Returns the features that the environment allows.
pub fn terminal_features() -> TerminalFeatures {
    read_features(|name| std::env::var_os(name))
}

/// Reads `NO_COLOR` and `TERM` with `env`. `NO_COLOR` is ignored if it is empty (<https://no-color.org>). An empty
/// `TERM` means `dumb`.
fn read_features(env: fn(&str) -> Option<OsString>) -> TerminalFeatures {
    let given = |name| env(name).filter(|value| !value.is_empty());
    let is_able = given("TERM").is_some_and(|term| term != "dumb");
    TerminalFeatures { is_able, colours: is_able && given("NO_COLOR").is_none() }
}

#[cfg(test)]
mod tests {
    use super::{TerminalFeatures, read_features};

    fn expected_features(is_able: bool, colours: bool) -> TerminalFeatures {
        TerminalFeatures { is_able, colours }
    }

    #[test]
    fn no_color_and_dumb_term_disable_colours() {
        let none = read_features(|_| None);
        assert_eq!(none, expected_features(false, false));
        let dumb = read_features(|name| (name == "TERM").then(|| "dumb".into()));
        assert_eq!(dumb, expected_features(false, false));
        let able = read_features(|name| match name {
            "TERM" => Some("xterm-256color".into()),
            _ => Some("".into()),
        });
        assert_eq!(able, expected_features(true, true));
        let plain = read_features(|_| Some("1".into()));
        assert_eq!(plain, expected_features(true, false));
    }
}
