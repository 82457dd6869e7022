//! Links in README.md, the guides and the examples lead to files and headings that exist.

use crate::tree::{SourceFile, Tree};

const CHECKED_PATHS: &[&str] = &["README.md", "src/web/guides/", "examples/"];

pub fn broken_links(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    let texts = CHECKED_PATHS.iter().flat_map(|start| tree.files_under(start));
    for file in texts.filter(|file| file.path.ends_with(".md")) {
        // Text between backticks, within a line or in a block, is code and is skipped.
        let prose: String = file.text.split('`').step_by(2).collect();
        let links = prose.split("](").skip(1);
        let links = links.filter_map(|rest| rest.split_once(')'));
        for (link, _) in links.filter(|(link, _)| !link.contains("://")) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let to = resolve_link(&file.path, path);
            let is_folder = tree.files_under(&format!("{to}/")).next().is_some();
            let is_right = match tree.find_file(&to) {
                Some(to) => {
                    heading.is_empty() || heading_anchors(to).iter().any(|has| has == heading)
                }
                None => heading.is_empty() && (is_folder || tree.top.contains(&to)),
            };
            if !is_right {
                found.push(format!("{}: ({link}) leads to no file or heading", file.path));
            }
        }
    }
    found
}

/// Returns the path that a link in this file leads to: the file itself if the link has no path.
fn resolve_link(from: &str, link: &str) -> String {
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

/// Returns the anchors of the headings, in the form that GitHub and `src/build.rs` generate.
fn heading_anchors(file: &SourceFile) -> Vec<String> {
    let prose = file.text.split("```").step_by(2).flat_map(str::lines);
    let titles = prose.filter(|line| line.starts_with('#'));
    let titles = titles.filter_map(|line| line.trim_start_matches('#').strip_prefix(' '));
    let name = |title: &str| -> String {
        let title = title.trim().to_lowercase().replace(' ', "-");
        title.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
    };
    titles.map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::broken_links;
    use crate::tree::assert_finds;

    #[test]
    fn links_lead_to_files_and_headings() {
        let readme = "[a](src/web/guides/a.md#b-c) [no](src/web/guides/b.md)\n`[no](x)` [`d`](src/web/guides/a.md#no)\n[folder](examples) [all](src/web/guides/)";
        let guide = "# A\n## B: `c`\n```\n# no\n[no](no)\n```\n[up](../../../README.md) [here](#b-c) [out](https://a.example/b)\n\n[no](#no) `one\n[no](no) two`";
        let example = "[no](src/web/guides/a.md) [is](../src/web/guides/a.md#a)";
        let files = [
            ("README.md", readme),
            ("src/web/guides/a.md", guide),
            ("examples/README.md", example),
        ];
        let places = ["README.md", "README.md", "src/web/guides/a.md", "examples/README.md"];
        assert_finds(broken_links, &files, &places);
    }
}
