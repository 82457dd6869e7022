//! Tests of the guides: requests with their answers, and programs that check signatures.

mod base;
mod examples;
mod signatures;

use std::path::{Path, PathBuf};

/// A code block of a guide.
struct CodeBlock {
    /// Number of the line behind the opening fence, from 0.
    start: usize,
    /// Number of the line of the closing fence.
    end: usize,
    /// Text behind the opening fence: the language, and a label.
    info: String,
    text: String,
}

fn guide_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web/guides").join(name)
}

/// Returns the file names of all guides.
fn guide_names() -> Vec<String> {
    let files = std::fs::read_dir(guide_path("")).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

fn code_blocks(text: &str) -> Vec<CodeBlock> {
    let lines: Vec<&str> = text.lines().collect();
    let fences: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with("```")).collect();
    let blocks = fences.chunks(2).map(|pair| {
        let (start, end) = (pair[0] + 1, pair[1]);
        let info = lines[pair[0]].trim_start_matches('`').to_owned();
        CodeBlock { start, end, info, text: lines[start..end].join("\n") }
    });
    blocks.collect()
}
