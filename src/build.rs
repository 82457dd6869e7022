//! Build script: compresses the files that the server sends, and renders the guides as pages.
//!
//! Invariant: the binary contains these files only in compressed form (`web::packed`). The paths of assets contain a
//! version that changes with any byte of any asset, so that browsers may cache assets forever.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::io::{Error, Write as _};
use std::path::Path;
use std::{env, fs};

/// Directory of the files that pages load.
const ASSETS: &str = "src/web/assets";

/// Directory of the script that shops load from a fixed path. It is sent as it is, so that shops can compare it.
const WIDGET: &str = "widget";

/// Texts of the customer pages, one file for each language.
const LANGUAGES: &str = "src/web/languages";

/// Guides in Markdown, which are also readable on GitHub and similar sites.
const GUIDES: &str = "src/web/guides";

/// File that lists the guides in the order of the documentation pages.
const README: &str = "README.md";

/// Template of a guide page.
const GUIDE: &str = "src/web/docs/guide.html";
const HEAD: &str = "src/web/docs/head.html";

/// Style sheet inserted into every page.
const STYLE: &str = "src/web/style.css";

/// Number of hexadecimal digits of the version of all assets.
const VERSION_DIGITS: usize = 16;

fn main() -> Result<(), Error> {
    println!("cargo::rerun-if-changed=src/build.rs");
    let variable = |name: &str| env::var(name).map_err(Error::other);
    let (root, out) = (variable("CARGO_MANIFEST_DIR")?, variable("OUT_DIR")?);
    let (root, out) = (Path::new(&root), Path::new(&out));
    write_assets(root, out)?;
    write_languages(root, out)
}

/// Compresses the files that pages load, and writes their table to `OUT_DIR/assets.rs`.
fn write_assets(root: &Path, out: &Path) -> Result<(), Error> {
    println!("cargo::rerun-if-changed={ASSETS}");
    println!("cargo::rerun-if-changed={STYLE}");
    let mut version = Sha256::new();
    let mut table = String::new();
    for folder in file_names(&root.join(ASSETS))? {
        for file in file_names(&root.join(ASSETS).join(&folder))? {
            let path = root.join(ASSETS).join(&folder).join(&file);
            let bytes = fs::read(&path)?;
            for part in [folder.as_bytes(), file.as_bytes(), &bytes] {
                version.update(part.len().to_le_bytes());
                version.update(part);
            }
            let packed = out.join(format!("{folder}-{file}.gz"));
            let is_script = file.ends_with(".js") && folder != WIDGET;
            let sent = if is_script {
                without_comments(&bytes)?
            } else if file.ends_with(".css") {
                minify_style(str::from_utf8(&bytes).map_err(Error::other)?).into_bytes()
            } else {
                bytes
            };
            compress(&sent, &packed)?;
            let line = format!(
                "{{ folder: {folder:?}, name: {file:?}, packed: Packed(include_bytes!({packed:?})) }}"
            );
            writeln!(table, "StaticFile {line},").map_err(Error::other)?;
        }
    }
    let version = hex(&version.finalize());
    let version = version.get(..VERSION_DIGITS).unwrap_or_default();
    let count = table.lines().count();
    let style = minify_style(&fs::read_to_string(root.join(STYLE))?);
    fs::write(out.join("style.css"), &style)?;
    let style = STANDARD.encode(Sha256::digest(style));
    let text = format!(
        "/// Version of all of them together.\npub const VERSION: &str = {version:?};\n\
         /// Hash by which a policy names the style of every page.\npub const STYLE_HASH: &str = \"sha256-{style}\";\n\
         /// Every file that pages load.\npub static ASSETS: [StaticFile; {count}] = [\n{table}];\n"
    );
    fs::write(out.join("assets.rs"), text)?;
    write_guides(root, out, version)
}

/// Removes the comments of a script, which are a quarter of its compressed size. Line numbers stay the same.
///
/// Only a comment at the start of a line is removed. A line of a template literal that starts like a comment is an error.
fn without_comments(script: &[u8]) -> Result<Vec<u8>, Error> {
    let script = str::from_utf8(script).map_err(Error::other)?;
    let mut out = String::with_capacity(script.len());
    let (mut is_inside, mut is_template) = (false, false);
    for line in script.lines() {
        let start = line.trim_start();
        let is_comment = is_inside || start.starts_with("/*") || start.starts_with("//");
        if is_comment && is_template {
            return Err(Error::other(format!("a template literal contains a comment: {line}")));
        }
        if !is_comment {
            is_template ^= !line.matches('`').count().is_multiple_of(2);
        }
        if is_inside || start.starts_with("/*") {
            let end = start.split_once("*/");
            is_inside = end.is_none();
            out.push_str(end.map_or("", |(_, code)| code.trim_start()));
        } else if !start.starts_with("//") {
            out.push_str(line);
        }
        out.push('\n');
    }
    if is_inside { Err(Error::other("a comment has no end")) } else { Ok(out.into_bytes()) }
}

/// Removes comments, line ends and needless spaces from a style sheet. Checkout pages contain theirs uncompressed.
fn minify_style(text: &str) -> String {
    let mut style = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        style.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    style.push_str(rest);
    let style: String = style.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let needless = [
        (" { ", "{"),
        ("; }", "}"),
        (" }", "}"),
        ("} ", "}"),
        ("; ", ";"),
        (": ", ":"),
        (", ", ","),
    ];
    needless.iter().fold(style, |style, (from, to)| style.replace(from, to))
}

/// Compresses the texts of each language to `OUT_DIR/<language>.txt.gz`.
fn write_languages(root: &Path, out: &Path) -> Result<(), Error> {
    println!("cargo::rerun-if-changed={LANGUAGES}");
    for file in file_names(&root.join(LANGUAGES))? {
        let text = fs::read(root.join(LANGUAGES).join(&file))?;
        compress(&text, &out.join(format!("{file}.gz")))?;
    }
    Ok(())
}

fn compress(bytes: &[u8], to: &Path) -> Result<(), Error> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    fs::write(to, encoder.finish()?)
}

/// Returns the file names in a directory, sorted.
fn file_names(folder: &Path) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().into_string();
        names.push(name.map_err(|name| Error::other(format!("{name:?} is no UTF-8")))?);
    }
    names.sort();
    Ok(names)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A guide: file name without extension, title, the sentence below the title, and the whole text.
struct Guide {
    name: String,
    title: String,
    about: String,
    text: String,
}

/// Renders and compresses each guide, and writes the table of guides to `OUT_DIR/guides.rs`.
fn write_guides(root: &Path, out: &Path, version: &str) -> Result<(), Error> {
    for path in [GUIDES, README, GUIDE, HEAD] {
        println!("cargo::rerun-if-changed={path}");
    }
    let guides = read_guides(root)?;
    let frame = fs::read_to_string(root.join(GUIDE))?;
    let head = fs::read_to_string(root.join(HEAD))?;
    let frame = frame.replace("{% include \"docs/head.html\" %}\n", &head);
    let frame = frame.replace("{{ crate::web::VERSION }}", version);
    let frame = frame.replace("{{ root }}", "../");
    let mut table = String::new();
    for guide in &guides {
        let Guide { name, title, about, text } = guide;
        let page = frame.replace("{{ title }}", &format!("{}: Coffer", escape_html(title)));
        let page = page.replace("{{ guides }}", render_contents(&guides, guide).trim());
        let headings = headings(name, text)?;
        let page = page.replace("{{ text }}", render_text(text, &headings).trim());
        let packed = out.join(format!("guide-{name}.gz"));
        compress(page.as_bytes(), &packed)?;
        let line = format!(
            "{{ name: {name:?}, title: {title:?}, about: {about:?}, headings: &{:?}, page: Packed(include_bytes!({packed:?})) }}",
            headings.iter().map(|heading| (&heading.id, &heading.text)).collect::<Vec<_>>()
        );
        writeln!(table, "Guide {line},").map_err(Error::other)?;
    }
    let count = guides.len();
    let text =
        format!("/// Every guide, in order.\npub static GUIDES: [Guide; {count}] = [\n{table}];\n");
    fs::write(out.join("guides.rs"), text)
}

/// Reads the guides, in the order in which the README lists them in a table.
fn read_guides(root: &Path) -> Result<Vec<Guide>, Error> {
    let readme = fs::read_to_string(root.join(README))?;
    let files = file_names(&root.join(GUIDES))?;
    let mut guides = Vec::new();
    for row in readme.lines().filter(|line| line.starts_with("| [")) {
        let link =
            row.split_once("](src/web/guides/").and_then(|(_, rest)| rest.split_once(".md)"));
        let Some((name, _)) = link else { continue };
        let text = fs::read_to_string(root.join(GUIDES).join(format!("{name}.md")))?;
        let parts: Vec<&str> = text.splitn(3, "\n\n").collect();
        let [title, about, _] = parts.as_slice() else {
            return Err(Error::other(format!("{name}.md: a title, a sentence, and then the rest")));
        };
        guides.push(Guide {
            name: name.to_owned(),
            title: title.trim_start_matches("# ").to_owned(),
            about: (*about).to_owned(),
            text,
        });
    }
    match files.len() == guides.len() {
        true => Ok(guides),
        false => {
            Err(Error::other(format!("{README} lists {} guides of {}", guides.len(), files.len())))
        }
    }
}

/// Renders the list of all guides, with the current guide marked.
fn render_contents(guides: &[Guide], shown: &Guide) -> String {
    let mut list = String::new();
    for guide in guides {
        list.push_str(&format!("- [{}]({})\n", guide.title, guide.name));
    }
    let link = format!("<a href=\"{}\"", shown.name);
    markdown_to_html(&list).replace(&link, &format!("{link} aria-current=\"page\""))
}

/// A heading below the title of a guide.
struct Heading {
    is_section: bool,
    id: String,
    text: String,
}

/// Returns the headings below the title. Each must have an id of its own, so that a link leads to it.
fn headings(name: &str, text: &str) -> Result<Vec<Heading>, Error> {
    let mut found: Vec<Heading> = Vec::new();
    for line in text.split("```").step_by(2).flat_map(str::lines) {
        let section = line.strip_prefix("## ");
        let Some(heading) = section.or_else(|| line.strip_prefix("### ")) else { continue };
        let (id, text) = (heading_id(heading), heading.replace('`', ""));
        if found.iter().any(|other| other.id == id) {
            return Err(Error::other(format!("{name}.md has two headings {text:?}")));
        }
        found.push(Heading { is_section: section.is_some(), id, text });
    }
    Ok(found)
}

/// Renders a guide: title, first paragraph, table of contents, and the rest.
fn render_text(text: &str, headings: &[Heading]) -> String {
    let html = markdown_to_html(text);
    let mut list = String::new();
    for Heading { is_section, id, text } in headings {
        list.push_str(&format!("{}- [{text}](#{id})\n", if *is_section { "" } else { "  " }));
    }
    let contents = format!(
        "</p>\n<nav class=\"contents\" aria-label=\"On this page\">\n{}</nav>\n",
        markdown_to_html(&list)
    );
    match headings.len() {
        0 => html,
        _ => html.replacen("</p>\n", &contents, 1),
    }
}

/// Converts Markdown to HTML. Headings get ids and link to themselves, and links to guides become links to pages. Each table cell has the
/// name of its column, because a phone shows the cells of a row below each other. Markup in the Markdown is escaped.
#[expect(clippy::too_many_lines, reason = "one arm for each kind of event")]
fn markdown_to_html(text: &str) -> String {
    let events: Vec<Event<'_>> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    let mut columns: Vec<String> = Vec::new();
    let (mut is_head, mut column, mut left_out) = (false, 0, Vec::new());
    let mut shown = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let markup = |markup: String| Event::Html(markup.into());
        // Returns the text from this Markdown event to the end of the heading or table cell.
        let said = || -> String {
            let rest = events.iter().skip(at).take_while(|event| {
                !matches!(event, Event::End(TagEnd::Heading(_) | TagEnd::TableCell))
            });
            rest.filter_map(|event| match event {
                Event::Text(text) | Event::Code(text) => Some(&**text),
                _ => None,
            })
            .collect()
        };
        shown.push(match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let id = heading_id(&said());
                markup(format!("<{level} id=\"{id}\"><a href=\"#{id}\">"))
            }
            Event::End(TagEnd::Heading(level)) => markup(format!("</a></{level}>\n")),
            Event::Start(Tag::CodeBlock(_)) => markup("<pre tabindex=\"0\"><code>".to_owned()),
            Event::End(TagEnd::CodeBlock) => markup("</code></pre>\n".to_owned()),
            Event::Start(Tag::Table(_)) => {
                columns.clear();
                markup("<div class=\"table\"><table>\n".to_owned())
            }
            Event::End(TagEnd::Table) => markup("</tbody></table></div>\n".to_owned()),
            Event::Start(Tag::TableHead) => {
                is_head = true;
                markup("<thead><tr>".to_owned())
            }
            Event::End(TagEnd::TableHead) => {
                is_head = false;
                markup("</tr></thead>\n<tbody>\n".to_owned())
            }
            Event::Start(Tag::TableRow) => {
                column = 0;
                markup("<tr>".to_owned())
            }
            Event::End(TagEnd::TableRow) => markup("</tr>\n".to_owned()),
            Event::Start(Tag::TableCell) if is_head => {
                columns.push(said());
                markup(if said().is_empty() { "<td>" } else { "<th scope=\"col\">" }.to_owned())
            }
            Event::End(TagEnd::TableCell) if is_head => {
                let was_empty = columns.last().is_some_and(String::is_empty);
                markup(if was_empty { "</td>" } else { "</th>" }.to_owned())
            }
            Event::Start(Tag::TableCell) => {
                let name = columns.get(column).filter(|name| column > 0 && !name.is_empty());
                column = column.saturating_add(1);
                markup(name.map_or("<td>".to_owned(), |name| {
                    format!("<td data-label=\"{}\">", escape_html(name))
                }))
            }
            Event::End(TagEnd::TableCell) => markup("</td>".to_owned()),
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text.clone()),
            // A linked file that is not a guide has no page, so its path is shown instead of a link.
            Event::Start(Tag::Link { dest_url, .. }) if dest_url.starts_with("../") => {
                let path = dest_url.trim_start_matches("../");
                left_out.push(path.split('#').next().unwrap_or_default().to_owned());
                markup(String::new())
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                left_out.push(String::new());
                markup(format!("<a href=\"{}\">", escape_html(&dest_url.replace(".md", ""))))
            }
            Event::End(TagEnd::Link) => match left_out.pop() {
                Some(path) if !path.is_empty() => {
                    markup(format!(" (<code>{}</code>)", escape_html(&path)))
                }
                _ => markup("</a>".to_owned()),
            },
            event => event.clone(),
        });
    }
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, shown.into_iter());
    html
}

/// Returns the id of a heading for links, in the form that GitHub uses.
fn heading_id(heading: &str) -> String {
    let heading = heading.to_lowercase();
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

fn escape_html(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('"', "&quot;")
}
