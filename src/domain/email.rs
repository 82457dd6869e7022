//! Format of email addresses.
//!
//! Invariant: an accepted text is exactly one address, and contains no separator of address lists or mail headers.

const LABEL_CHARS_MAX: usize = 63;

/// Returns `true` if the text is one email address by the rule of HTML's `<input type=email>`.
///
/// Letters, digits and combining marks outside ASCII are allowed too (RFC 6531).
pub fn is_email(text: &str) -> bool {
    let is_local = |c: char| c.is_ascii_graphic() && !r#"()<>[],;:\"@"#.contains(c) || is_letter(c);
    text.split_once('@').is_some_and(|(local, host)| {
        !local.is_empty() && local.chars().all(is_local) && host.split('.').all(is_domain_label)
    })
}

/// Returns `true` for letters, digits and hyphens, without a hyphen at either end.
fn is_domain_label(label: &str) -> bool {
    (1..=LABEL_CHARS_MAX).contains(&label.chars().count())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.chars().all(|c| c == '-' || is_letter(c))
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Returns `true` for a mark that is part of a letter, although Unicode does not classify the mark as alphabetic.
///
/// Examples are accents, and marks of the Indic, Thai, Lao, Burmese and Khmer scripts.
fn is_combining_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}'
        | '\u{93c}' | '\u{94d}' | '\u{9bc}' | '\u{9cd}' | '\u{a3c}' | '\u{a4d}' | '\u{abc}' | '\u{acd}'
        | '\u{b3c}' | '\u{b4d}' | '\u{bcd}' | '\u{c4d}' | '\u{cbc}' | '\u{ccd}' | '\u{d4d}' | '\u{dca}'
        | '\u{e47}'..='\u{e4e}' | '\u{ec8}'..='\u{ecd}' | '\u{1037}' | '\u{1039}' | '\u{103a}' | '\u{17d2}')
}

#[cfg(test)]
mod tests {
    use super::is_email;

    #[test]
    fn valid_addresses_are_accepted() {
        for text in [
            "ada@example.com",
            "a@localhost",
            "a.b+c_d!#$%&'*/=?^`{|}~-@x-1.example",
            "j\u{fc}rgen@m\u{fc}ller.example",
            "ju\u{308}rgen@example.com",
            "\u{7528}\u{6237}@\u{4f8b}\u{5b50}.\u{5e7f}\u{544a}",
            "\u{938}\u{902}\u{92a}\u{930}\u{94d}\u{915}@\u{921}\u{93e}\u{91f}\u{93e}.\u{92d}\u{93e}\u{930}\u{924}",
        ] {
            assert!(is_email(text), "{text}");
        }
        let label = "l".repeat(63);
        assert!(is_email(&format!("a@{label}.example")));
        assert!(!is_email(&format!("a@l{label}.example")));
    }

    #[test]
    fn invalid_addresses_are_refused() {
        for text in [
            "",
            "ada",
            "@example.com",
            "ada@",
            "ada@@example.com",
            "ada@example.com@example.com",
            "ada@example.com,bob@example.com",
            "ada@example.com;bob@example.com",
            "ada@example.com bob@example.com",
            "ada,bob@example.com",
            "Ada <ada@example.com>",
            "<ada@example.com>",
            "mailto:ada@example.com",
            "\"ada lovelace\"@example.com",
            "ada(comment)@example.com",
            "ada\\@example.com",
            " ada@example.com",
            "ada@example.com\n",
            "ada@example.com\r\nBcc: bob@example.com",
            "a\tda@example.com",
            "ada@.example.com",
            "ada@example..com",
            "ada@example.com.",
            "ada@-example.com",
            "ada@example-.com",
            "ada@exa_mple.com",
            "ada@[127.0.0.1]",
            "ada@example.com:25",
            "a\u{200b}da@example.com",
            "a\u{202e}da@example.com",
            "a\u{a0}da@example.com",
            "ada\u{ff20}example.com",
            "ada@example\u{3002}com",
            "ada@ex\u{2044}ample.com",
            "a\0da@example.com",
        ] {
            assert!(!is_email(text), "{text:?}");
        }
    }
}
