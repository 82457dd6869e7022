//! Names of fields in JSON, computed at compile time.

/// Name of a field in JSON, derived from its Rust name: `overlap_seconds` becomes `overlapSeconds`, and `r#type`
/// becomes `type`.
pub struct CamelCase {
    bytes: [u8; CamelCase::BYTES_MAX],
    length: usize,
}

impl CamelCase {
    const BYTES_MAX: usize = 40;

    /// Converts the Rust name of a field. A name of more than 40 bytes does not compile.
    #[expect(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        reason = "evaluated by the compiler, which refuses what overflows"
    )]
    pub const fn from_snake_case(name: &str) -> CamelCase {
        let name = name.as_bytes();
        let (mut bytes, mut length) = ([0; CamelCase::BYTES_MAX], 0);
        // A field whose name is a keyword of Rust is written like `r#type`.
        let mut at = if matches!(name, [b'r', b'#', ..]) { 2 } else { 0 };
        let mut is_first_of_word = false;
        while at < name.len() {
            if name[at] == b'_' {
                is_first_of_word = true;
            } else {
                let letter = name[at];
                bytes[length] = if is_first_of_word { letter.to_ascii_uppercase() } else { letter };
                is_first_of_word = false;
                length += 1;
            }
            at += 1;
        }
        CamelCase { bytes, length }
    }

    /// Returns the name as text.
    pub const fn as_str(&self) -> &str {
        let (name, _) = self.bytes.split_at(self.length);
        match std::str::from_utf8(name) {
            Ok(name) => name,
            Err(_) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CamelCase;

    #[test]
    fn name_in_json_has_no_underscores() {
        for (rust, json) in
            [("id", "id"), ("last4", "last4"), ("last_used_at", "lastUsedAt"), ("r#type", "type")]
        {
            assert_eq!(CamelCase::from_snake_case(rust).as_str(), json);
        }
    }
}
