//! The page as HTML, well-formed as XML is.

use crate::model::{Condition, Figure, Finding, Section};

use super::text::{anchor, escape, prose};
use super::{Absent, Page, chart, mark, table};

const STYLE: &str = include_str!("page.css");

/// Nothing but the style sheet in the page is used, and no script: browsers keep it to that.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// The whole page.
pub(super) fn page(page: &Page) -> String {
    let title = escape(&page.title);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <link rel=\"icon\" href=\"data:,\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#page-main\">To the results</a>\n",
        escape(POLICY)
    );
    out += &format!("<header>\n<h1>{title}</h1>\n");
    for text in &page.lead {
        out += &format!("<p class=\"lead\">{}</p>\n", prose(text));
    }
    out += "</header>\n<div class=\"columns\">\n";
    out += &contents(page);
    out += "<main id=\"page-main\">\n";
    out += &setting(page);
    out += &summary(page);
    let mut number = 0;
    for part in &page.sections {
        out += &section(part, &mut number);
    }
    out += &absent(&page.absent);
    out + "</main>\n</div>\n</body>\n</html>\n"
}

fn contents(page: &Page) -> String {
    let mut out = String::from(
        "<nav id=\"page-contents\" aria-labelledby=\"page-contents-title\">\n\
         <h2 id=\"page-contents-title\">Contents</h2>\n<ol>\n",
    );
    let link = |to: &str, name: &str, source: &str| {
        let source = if source.is_empty() { "" } else { &format!(" <span>{source}</span>") };
        format!("<li><a href=\"#{to}\">{name}</a>{source}</li>\n")
    };
    if !page.machine.is_empty() || !page.settings.is_empty() {
        out += &link("page-setting", "Machine and settings", "");
    }
    if !page.summary.is_empty() || page.claims() != (0, 0) {
        out += &link("page-summary", "Findings", "");
    }
    for section in &page.sections {
        let (title, source) = (escape(&section.title), escape(&section.source));
        out += &link(&anchor(&section.experiment), &title, &source);
    }
    if !page.absent.is_empty() {
        out += &link("page-absent", "What is not here", "");
    }
    out + "</ol>\n</nav>\n"
}

/// The box of machine and settings.
fn setting(page: &Page) -> String {
    if page.machine.is_empty() && page.settings.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<section id=\"page-setting\" class=\"setting\">\n<h2>Machine and settings</h2>\n\
         <div class=\"pair\">\n",
    );
    for (name, conditions) in [("Machine", &page.machine), ("Settings", &page.settings)] {
        if !conditions.is_empty() {
            out += &format!("<div>\n<h3>{name}</h3>\n{}</div>\n", definitions("facts", conditions));
        }
    }
    out + "</div>\n</section>\n"
}

fn definitions(class: &str, conditions: &[Condition]) -> String {
    if conditions.is_empty() {
        return String::new();
    }
    let mut out = format!("<dl class=\"{class}\">\n");
    for Condition { name, value } in conditions {
        let (name, value) = (escape(name), prose(value));
        out += &format!("<div><dt>{name}</dt> <dd>{value}</dd></div>\n");
    }
    out + "</dl>\n"
}

fn summary(page: &Page) -> String {
    let (hold, fail) = page.claims();
    if page.summary.is_empty() && hold + fail == 0 {
        return String::new();
    }
    let mut out =
        String::from("<section id=\"page-summary\" class=\"summary\">\n<h2>Findings</h2>\n");
    if hold + fail > 0 {
        out += &format!(
            "<p class=\"tally\"><span class=\"yes\"><b>{hold}</b> {} here</span> \
             <span class=\"no\"><b>{fail}</b> {}</span></p>\n",
            if hold == 1 { "claim of the papers holds" } else { "claims of the papers hold" },
            if fail == 1 { "does not" } else { "do not" },
        );
    }
    out + &findings(&page.summary) + "</section>\n"
}

fn findings(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let mut out = String::from("<ul class=\"findings\">\n");
    for finding in findings {
        let class = match finding.holds {
            Some(true) => "yes",
            Some(false) => "no",
            None => "note",
        };
        let (mark, text) = (mark(finding), prose(&finding.text));
        out += &format!("<li class=\"{class}\"><span class=\"mark\">{mark}</span> {text}</li>\n");
    }
    out + "</ul>\n"
}

/// A section; `number` is that of the figure before it.
fn section(section: &Section, number: &mut usize) -> String {
    let id = anchor(&section.experiment);
    let mut out = format!(
        "<section id=\"{id}\" class=\"experiment\">\n<p class=\"source\">{}</p>\n\
         <h2>{} <a class=\"self\" href=\"#{id}\" aria-label=\"Link to this section\">#</a></h2>\n\
         <p>{}</p>\n",
        escape(&section.source),
        escape(&section.title),
        prose(&section.about)
    );
    for part in &section.figures {
        *number += 1;
        out += &figure(part, *number);
    }
    out += &format!(
        "<p class=\"end\"><code>{}</code> took {} and ended {}. \
         <a href=\"#page-contents\">Back to the contents</a></p>\n</section>\n",
        escape(&section.experiment),
        took(section.seconds),
        escape(&section.date)
    );
    out
}

/// A time in words.
fn took(seconds: f64) -> String {
    match seconds {
        _ if !seconds.is_finite() => "an unknown time".into(),
        _ if seconds < 120.0 => format!("{seconds:.1} s"),
        _ => format!("{:.0} min", seconds / 60.0),
    }
}

fn figure(figure: &Figure, number: usize) -> String {
    let id = anchor(&figure.id);
    let title = escape(&figure.title);
    let mut out = format!(
        "<figure id=\"{id}\" class=\"result\">\n<figcaption>\n\
         <h3><span class=\"nr\">Figure {number}.</span> {title} \
         <a class=\"self\" href=\"#{id}\" aria-label=\"Link to figure {number}\">#</a></h3>\n\
         <p>{}</p>\n{}</figcaption>\n",
        prose(&figure.caption),
        definitions("conditions", &figure.conditions)
    );
    if let Some(drawn) = &figure.chart {
        out += &chart::html(drawn, &id, &figure.title);
    }
    out += &findings(&figure.findings);
    out += &table::html(&figure.table, &figure.title);
    out + "</figure>\n"
}

fn absent(absent: &[Absent]) -> String {
    if absent.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<section id=\"page-absent\" class=\"absent\">\n<h2>What is not here</h2>\n<dl>\n",
    );
    for Absent { experiment, source, title, why } in absent {
        out += &format!(
            "<div><dt><b>{}</b> <span>{}</span> <code>{}</code></dt> <dd>{}</dd></div>\n",
            escape(title),
            escape(source),
            escape(experiment),
            prose(why)
        );
    }
    out + "</dl>\n<p class=\"end\"><a href=\"#page-contents\">Back to the contents</a></p>\n</section>\n"
}
