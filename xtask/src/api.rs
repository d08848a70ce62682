//! `cargo xtask api`: the public items of the library as one list, compared with `testdata/api/longmatch.txt`.
//!
//! The list comes from the pages of rustdoc, which know what is public and how it is written. A change of the library's
//! interface then shows in review as a change of the list. A second check counts items without an example.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::steps::{CommandResult, OutputMode, StepResult, Steps};
use crate::workspace::{FEATURES, cargo, root, target};

/// The list's file, relative to the repository's root.
const GOLDEN: &str = "testdata/api/longmatch.txt";

/// Builds the documentation and compares or rewrites the list; returns whether it is unchanged.
///
/// # Errors
/// If the documentation cannot be built or read, or the file not be written.
pub fn run(mode: OutputMode) -> CommandResult {
    let mut steps = Steps::default();
    steps.command("documentation", &mut cargo(&format!("doc {FEATURES} --no-deps")));
    if mode == OutputMode::Write && !steps.has_failed() {
        let items = items(&pages())?;
        let file = root().join(GOLDEN);
        fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
        fs::write(&file, listing(&items))?;
        println!("{} items are listed in {GOLDEN}", count(&items));
        return Ok(true);
    }
    run_steps(&mut steps);
    Ok(steps.finish())
}

/// Runs both checks as steps, on documentation that is built.
pub fn run_steps(steps: &mut Steps) {
    steps.step("public items", || or_failed(compare()));
    steps.step("examples of public items", || or_failed(examples()));
}

fn or_failed(result: Result<StepResult, Box<dyn Error>>) -> StepResult {
    result.unwrap_or_else(|error| StepResult::Failed(error.to_string()))
}

/// The directory of the library's pages.
fn pages() -> PathBuf {
    target().join("doc/longmatch")
}

/// A page: a type, a trait, a function or a constant, with what belongs to it.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    /// The kind and the path, such as `struct longmatch::Table`.
    name: String,
    /// The declaration.
    declaration: String,
    /// Whether the page has an example anywhere.
    example: bool,
    entries: Vec<Entry>,
}

/// A method, a variant, an associated item or the head of an implementation.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    head: bool,
    signature: String,
    example: bool,
}

/// Compares the list with the file.
fn compare() -> Result<StepResult, Box<dyn Error>> {
    let items = items(&pages())?;
    let found = listing(&items);
    let known = fs::read_to_string(root().join(GOLDEN)).unwrap_or_default();
    println!("{} lines, {} in {GOLDEN}", found.lines().count(), known.lines().count());
    if found == known {
        return Ok(StepResult::Passed);
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (known.lines().collect(), found.lines().collect());
    old.iter().filter(|line| !new.contains(line)).for_each(|line| println!("- {line}"));
    new.iter().filter(|line| !old.contains(line)).for_each(|line| println!("+ {line}"));
    Ok(StepResult::Failed("the public items differ: `cargo xtask api --bless` accepts them".into()))
}

/// Fails if a page has no example, and prints how many methods have none of their own.
fn examples() -> Result<StepResult, Box<dyn Error>> {
    let items = items(&pages())?;
    let without: Vec<_> = items.iter().filter(|page| !page.example).collect();
    without.iter().for_each(|page| println!("without an example: {}", page.name));
    let methods = || items.iter().flat_map(|page| &page.entries).filter(|entry| !entry.head);
    let own = methods().filter(|entry| entry.example).count();
    println!(
        "{} pages; {own} of {} methods have an example of their own",
        items.len(),
        methods().count()
    );
    Ok(match without.len() {
        0 => StepResult::Passed,
        n => StepResult::Failed(format!("{n} public items have no example")),
    })
}

/// The pages that `all.html` lists, in order of their names.
fn items(pages: &Path) -> Result<Vec<Page>, Box<dyn Error>> {
    let all = fs::read_to_string(pages.join("all.html"))?;
    let list = all.split_once("all-items").map_or("", |(_, list)| list);
    let mut items = Vec::new();
    for link in list.split("<a href=\"").skip(1) {
        let Some((file, _)) = link.split_once('"') else { continue };
        if let Some(name) = name(file) {
            items.push(page(name, &fs::read_to_string(pages.join(file))?));
        }
    }
    if items.is_empty() {
        return Err(format!("no item is listed in {}", pages.join("all.html").display()).into());
    }
    items.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(items)
}

/// `engine/poptrie/struct.Poptrie.html` as `struct longmatch::engine::poptrie::Poptrie`.
fn name(file: &str) -> Option<String> {
    let (path, page) = file.rsplit_once('/').unwrap_or(("", file));
    let (kind, name) = page.strip_suffix(".html")?.split_once('.')?;
    let module: String =
        path.split('/').filter(|it| !it.is_empty()).map(|it| format!("{it}::")).collect();
    Some(format!("{kind} longmatch::{module}{name}"))
}

/// How rustdoc marks an example in Rust; drawings of bits and other text have another class.
const EXAMPLE: &str = "rust-example-rendered";

/// Reads the page of an item.
fn page(name: String, html: &str) -> Page {
    // What the compiler derives for every type follows, and for traits the types that have them.
    let ends = ["id=\"synthetic-implementations\"", "id=\"foreign-impls\"", "id=\"implementors\""];
    let end = ends.iter().filter_map(|end| html.find(end)).min().unwrap_or(html.len());
    let html = &html[..end];
    let declaration = html.split_once("item-decl\"><code>").map_or("", |(_, rest)| rest);
    let declaration = text(declaration.split_once("</code>").map_or("", |(it, _)| it));
    let example = html.contains(EXAMPLE);
    let sections = html.split("<section id=\"").skip(1);
    Page { name, declaration, example, entries: sections.filter_map(entry).collect() }
}

/// Reads a section, which begins after `<section id="`; `None` for what an implementation of a trait repeats.
fn entry(section: &str) -> Option<Entry> {
    let (_, rest) = section.split_once("class=\"")?;
    let (class, rest) = rest.split_once('"')?;
    let head = class == "impl";
    if !head && !["method", "variant", "associatedconstant", "associatedtype"].contains(&class) {
        return None;
    }
    let (_, code) = rest.split_once("code-header\">")?;
    let end = ["</h3>", "</h4>", "</section>"].iter().filter_map(|end| code.find(end)).min()?;
    let example = !head && code[end..].contains(EXAMPLE);
    Some(Entry { head, signature: text(&code[..end]), example })
}

/// The text of HTML, in one line.
fn text(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            'ⓘ' => {}
            _ if !inside => text.push(c),
            _ => {}
        }
    }
    for (entity, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, character);
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The list: a line for each page and each of its entries.
fn listing(items: &[Page]) -> String {
    let mut list = String::new();
    for page in items {
        let _ = writeln!(list, "{}\n    {}", page.name, page.declaration);
        for entry in &page.entries {
            let indent = if entry.head { "    " } else { "        " };
            let _ = writeln!(list, "{indent}{}", entry.signature);
        }
    }
    list
}

/// The number of pages and entries.
fn count(items: &[Page]) -> usize {
    items.iter().map(|page| 1 + page.entries.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r##"<pre class="rust item-decl"><code>pub struct Table&lt;T&gt; { <span>/* private */</span> }</code></pre>
        <section id="impl-Table%3CT%3E" class="impl"><h3 class="code-header">impl&lt;T&gt; <a href="x">Table</a>&lt;T&gt;</h3></section>
        <section id="method.new" class="method"><h4 class="code-header">pub fn <a>new</a>() -&gt; Self</h4></section>
        <div class="docblock"><pre class="rust rust-example-rendered">Table::new()</pre></div>
        <section id="method.len" class="method"><h4 class="code-header">pub fn <a>len</a>(&amp;self)
            -&gt; usize</h4></section>
        <section id="method.fmt" class="method trait-impl"><h4 class="code-header">fn fmt()</h4></section>
        <h2 id="synthetic-implementations"></h2>
        <section id="impl-Send" class="impl"><h3 class="code-header">impl Send</h3></section>"##;

    #[test]
    fn a_page_has_its_declaration_and_its_own_methods() {
        let page = page("struct longmatch::Table".into(), PAGE);
        assert_eq!(
            listing(&[page]),
            "struct longmatch::Table\n    pub struct Table<T> { /* private */ }\n    impl<T> Table<T>\n        \
             pub fn new() -> Self\n        pub fn len(&self) -> usize\n"
        );
    }

    #[test]
    fn examples_belong_to_the_method_before_them() {
        let page = page(String::new(), PAGE);
        let methods = page.entries.iter().filter(|entry| !entry.head).map(|entry| entry.example);
        assert_eq!((page.example, methods.collect::<Vec<_>>()), (true, vec![true, false]));
    }

    #[test]
    fn files_are_named_by_their_paths() {
        assert_eq!(name("struct.Table.html").as_deref(), Some("struct longmatch::Table"));
        assert_eq!(
            name("engine/trait.Lookup.html").as_deref(),
            Some("trait longmatch::engine::Lookup")
        );
        assert_eq!(name("index.html"), None);
    }
}
