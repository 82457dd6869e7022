//! Comparison of texts with the files in `tests/golden`. `COFFER_BLESS=1 cargo test --test it` rewrites the files.

use std::path::Path;

/// Asserts that a text equals a golden file, or writes the file if `COFFER_BLESS` is set.
#[track_caller]
pub fn assert_matches(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("COFFER_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let mut lines = kept.lines().zip(text.lines()).zip(1..);
    let differs = lines.find(|((kept, now), _)| kept != now);
    assert!(
        kept == text,
        "tests/golden/{name} differs, first in line {differs:?}; if that is meant: COFFER_BLESS=1 cargo test --test it",
    );
}
