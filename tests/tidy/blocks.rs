//! Paragraphs, list items and lists of README.md and the guides are short enough to be read at a glance.

use crate::tree::Tree;
use std::mem::take;

/// Maximum number of characters of a paragraph, as readers see it: four lines of 120.
const PARAGRAPH_MAX: usize = 480;
/// Maximum number of characters of a list item or a table cell: two lines of 120.
const ITEM_MAX: usize = 240;
/// Maximum number of items of a list.
const ITEMS_MAX: usize = 8;

/// A paragraph or list item that is still being read.
#[derive(Default)]
struct Block {
    line: usize,
    is_item: bool,
    text: String,
}

pub fn long_blocks(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for file in tree.files_under("README.md").chain(tree.files_under("src/web/guides/")) {
        let (mut is_code, mut items, mut block) = (false, 0, Block::default());
        for (at, line) in file.text.lines().chain([""]).enumerate() {
            let start = line.trim_start();
            let is_fence = start.starts_with("```");
            is_code ^= is_fence;
            let is_item = !is_code && is_list_item(start);
            let is_table = start.starts_with('|');
            if is_item || is_fence || is_table || start.is_empty() || start.starts_with('#') {
                let Block { line, is_item, text } = take(&mut block);
                let (name, max) =
                    if is_item { ("list item", ITEM_MAX) } else { ("paragraph", PARAGRAPH_MAX) };
                let length = shown_length(&text);
                if length > max {
                    let problem =
                        format!("this {name} has {length} characters; split it, at {max}");
                    found.push(format!("{}:{line}: {problem}", file.path));
                }
            }
            if is_code || is_fence || start.starts_with('#') {
                items = 0;
            } else if is_table {
                items = 0;
                for cell in start.replace("\\|", "").split('|') {
                    if shown_length(cell) > ITEM_MAX {
                        let problem = "this table cell is too long; move it below a heading";
                        found.push(format!("{}:{}: {problem}", file.path, at + 1));
                    }
                }
            } else if is_item {
                items += 1;
                if items == ITEMS_MAX + 1 {
                    let problem = format!("this list has over {ITEMS_MAX} items; make it a table");
                    found.push(format!("{}:{}: {problem}", file.path, at + 1));
                }
                block = Block { line: at + 1, is_item, text: start.to_owned() };
            } else if start.is_empty() {
                // A blank line between two items does not end their list.
            } else {
                if block.text.is_empty() {
                    block.line = at + 1;
                    items = if line == start { 0 } else { items };
                }
                block.text.push(' ');
                block.text.push_str(start);
            }
        }
    }
    found
}

/// Returns `true` for `- text` and `1. text`.
fn is_list_item(line: &str) -> bool {
    let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    line.starts_with("- ") || (number != line && number.starts_with(". "))
}

/// Returns the number of characters that readers see: without the targets of links and without marks.
fn shown_length(text: &str) -> usize {
    let mut parts = text.split("](");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    let shown: String = shown.chars().filter(|letter| !"[`*".contains(*letter)).collect();
    shown.split_whitespace().map(|word| word.chars().count() + 1).sum::<usize>().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::long_blocks;
    use crate::tree::assert_finds;

    #[test]
    fn paragraphs_items_cells_and_lists_are_short() {
        let word = |count: usize| "nine char ".repeat(count);
        let (fits, exceeds) = (word(48), word(49));
        let long = format!("# A {exceeds}\n\n{fits}\n{fits}\n\n```\n{exceeds}\n- {exceeds}\n```\n");
        let items = format!("- {}\n- {}\n  {}\n", word(23), word(23), word(2));
        let cells = format!("| {} | {} |\n", word(24), word(25));
        let linked = format!("{}[a](https://long.example/{})\n", word(47), "x".repeat(99));
        let lists = "1. one\n".repeat(8) + "\nText.\n\n" + &"- one\n".repeat(9);
        let files = [
            ("README.md", &*long),
            ("src/web/guides/a.md", &*items),
            ("src/web/guides/b.md", &*cells),
            ("src/web/guides/c.md", &*linked),
            ("src/web/guides/d.md", &*lists),
            ("examples/README.md", &*exceeds),
        ];
        let places = [
            "README.md:3",
            "src/web/guides/a.md:2",
            "src/web/guides/b.md:1",
            "src/web/guides/d.md:20",
        ];
        assert_finds(long_blocks, &files, &places);
    }
}
