//! The texts for readers, README.md and the guides in `src/web/guides`: how long the first may be, and where their links lead.

use crate::tree::{File, Tree};

/// What somebody reads who has found this a minute ago. All else is for a guide.
const README_LINES_MAX: usize = 250;

/// Who reads them follows links, which are held.
const TEXTS: &[&str] = &["README.md", "src/web/guides/"];
const TEXTS_TOO: &[&str] = &["examples/"];

pub fn readme(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(&["README.md"]);
    let readme = tree.file("README.md");
    if let Some((file, lines)) = readme.map(|file| (file, file.text.lines().count()))
        && lines > README_LINES_MAX
    {
        found.push(file.at(lines, &format!(
            "{lines} lines, and {README_LINES_MAX} are the most: what a newcomer does not need is for a guide in src/web/guides"
        )));
    }
    for guide in tree.under("src/web/guides/") {
        let mut parts = guide.text.split("\n\n");
        let title = parts.next().unwrap_or_default().trim_start_matches("# ");
        let about = parts.next().unwrap_or_default();
        let row = format!("| [{title}]({}) | {about} |", guide.path);
        if !readme.is_some_and(|readme| readme.text.lines().any(|line| line == row)) {
            found.push(guide.at(
                1,
                &format!("README.md has no row for it among the guides: {row}"),
            ));
        }
    }
    found
}

/// Every relative link leads to a file or folder, and to a heading that is in it.
pub fn links(tree: &Tree) -> Vec<String> {
    let mut found = tree.need(TEXTS);
    let texts = TEXTS.iter().chain(TEXTS_TOO);
    for file in texts.flat_map(|start| tree.under(start)) {
        if !file.path.ends_with(".md") {
            continue;
        }
        for (line, link) in targets(&file.text) {
            if link.contains("://") {
                continue;
            }
            let (path, heading) = link.split_once('#').unwrap_or((&link, ""));
            let to = joined(&file.path, path);
            let is_folder = tree.under(&format!("{to}/")).next().is_some();
            let mend = match tree.file(&to) {
                Some(to)
                    if !heading.is_empty() && !headings(to).iter().any(|has| has == heading) =>
                {
                    "has no such heading"
                }
                Some(_) => continue,
                None if heading.is_empty() && (is_folder || tree.top.contains(&to)) => continue,
                None => "is no file here",
            };
            found.push(file.at(line, &format!("({link}): {to} {mend}: mend the link")));
        }
    }
    found
}

/// What links lead to, each with its line. What is code is none.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut is_block, mut is_code) = (false, false);
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
            continue;
        }
        if is_block {
            continue;
        }
        // Code in a line ends with its paragraph at the latest.
        is_code &= !line.trim().is_empty();
        let mut said = String::new();
        for (nth, part) in line.split('`').enumerate() {
            is_code ^= nth > 0;
            if !is_code {
                said.push_str(part);
            }
        }
        let links = said.split("](").skip(1);
        let links = links.filter_map(|rest| rest.split_once(')'));
        found.extend(links.map(|(link, _)| (at + 1, link.to_owned())));
    }
    found
}

/// The path of what a link in this file leads to. Without a path it is the file.
fn joined(from: &str, link: &str) -> String {
    if link.is_empty() {
        return from.to_owned();
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.trim_end_matches('/').split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Names of headings in links, as a forge and `src/build.rs` make them.
fn headings(file: &File) -> Vec<String> {
    let mut is_block = false;
    let mut found = Vec::new();
    for line in file.text.lines() {
        is_block ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if !is_block && heading.len() < line.len() && heading.starts_with(' ') {
            let said = heading.trim().to_lowercase();
            let kept = said
                .chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            found.push(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{links, readme};
    use crate::tree::finds;

    #[test]
    fn a_long_readme_and_a_guide_that_nobody_finds_are_refused() {
        let long = format!(
            "{}| [A](src/web/guides/a.md) | Of a. |\n",
            "a\n".repeat(250)
        );
        let files = [
            ("README.md", long.as_str()),
            ("src/web/guides/a.md", "# A\n\nOf a.\n\nB."),
            ("src/web/guides/b.md", ""),
        ];
        finds(readme, &files, &["README.md:251", "src/web/guides/b.md:1"]);
    }

    #[test]
    fn links_lead_to_files_and_headings() {
        let start = "[a](src/web/guides/a.md#b-c) [no](src/web/guides/b.md)\n`[no](x)` [`d`](src/web/guides/a.md#no)\n[folder](examples) [all](src/web/guides/)";
        let guide = "# A\n## B: `c`\n```\n# no\n[no](no)\n```\n[up](../../../README.md) [here](#b-c) [out](https://a.example/b)\n\n[no](#no) `one\n[no](no) two`";
        let files = [
            ("README.md", start),
            ("src/web/guides/a.md", guide),
            (
                "examples/README.md",
                "[no](src/web/guides/a.md) [is](../src/web/guides/a.md#a)",
            ),
        ];
        let places = [
            "README.md:1",
            "README.md:2",
            "src/web/guides/a.md:9",
            "examples/README.md:1",
        ];
        finds(links, &files, &places);
    }
}
