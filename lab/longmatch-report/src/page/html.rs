//! The report as an HTML page.

use core::fmt::Write as _;

use crate::claim::{Claim, ClaimResult, Judgement};
use crate::model::{Column, Figure, Table, TableCell};
use crate::records::Records;
use crate::view::joined;

use super::number::short;
use super::section::{Section, counted, in_words, machine_in_a_line, sections, title};
use super::text::{anchor, escape, prose};
use super::{chart, summary, table};

const STYLE: &str =
    concat!(include_str!("colours.css"), include_str!("page.css"), include_str!("chart/chart.css"));

/// Content security policy: browsers load only the embedded style sheet, and run no script.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// Renders records as an HTML page.
pub fn html(records: &Records) -> String {
    let sections = sections(records);
    let tally = tally(&sections);
    let (measured, absent): (Vec<_>, Vec<_>) = sections.into_iter().partition(Section::is_measured);
    let title = escape(&title(records));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<link rel=\"icon\" href=\"data:,\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#page-main\">Skip to the results</a>\n<header>\n<h1>{title}</h1>\n<p class=\"lead\">{}</p>\n\
         </header>\n",
        escape(POLICY),
        chart::engine_colours(),
        escape(&machine_in_a_line(records)),
    );
    out += &summary::html(records);
    out += &tally;
    out += "<div class=\"columns\">\n";
    out += &contents(&measured);
    out += "<main id=\"page-main\">\n";
    let mut number = 0;
    for section in &measured {
        out += &section_html(section, &mut number);
    }
    out += &not_measured(&absent);
    out += &circumstances(records);
    out + "</main>\n</div>\n</body>\n</html>\n"
}

/// Renders the number of claims by verdict, and the claims that do not hold.
fn tally(sections: &[Section<'_>]) -> String {
    let [holds, fails, rest] = counted(sections);
    if holds + fails + rest == 0 {
        return String::new();
    }
    let mut out = format!(
        "<section id=\"page-claims\">\n<h2>The papers' claims</h2>\n<p class=\"tally\">\
         <span class=\"yes\"><b>{holds}</b> hold here</span> <span class=\"no\"><b>{fails}</b> do not hold</span> \
         <span class=\"note\"><b>{rest}</b> are not comparable</span></p>\n<ul class=\"findings\">\n"
    );
    for section in sections {
        for judged in
            section.claims.iter().filter(|(.., it)| it.verdict == ClaimResult::DoesNotHold)
        {
            out += &claim_html(judged, &section.experiment.source);
        }
    }
    out += "</ul>\n";
    let numbers = numbers(sections);
    if !numbers.rows.is_empty() {
        let title = "The papers' figures and ours";
        let table = table::html(&numbers, title);
        out += &format!(
            "<details><summary>{title}, whether or not the sentences hold</summary>\n{table}</details>\n"
        );
    }
    out + "</section>\n"
}

/// Builds the table of the sentences' verdicts and, apart from these, of the paper's figures beside ours.
fn numbers(sections: &[Section<'_>]) -> Table {
    let paper = "the paper's";
    let heads =
        ["sentence", "source", "here", "verdict", "of", "ours", paper, "ours / the paper's"];
    let column =
        |name| Column { name: String::from(name), paper: name == paper, ..Column::default() };
    let mut rows = Vec::new();
    for Section { experiment, claims, .. } in sections {
        for (claim, table, judgement) in claims {
            for it in &judgement.compared {
                let [low, high] = it.paper.map(short);
                let paper = if low == high { low } else { format!("{low} to {high}") };
                let (verdict, _) = in_words(judgement.verdict);
                let source = format!("{}, {}", experiment.source, claim.section);
                let ours = short(it.ours);
                let texts = [&*claim.text, &source, table, verdict, &it.name, &ours, &paper];
                let mut row: Vec<TableCell> = texts.map(|text| TableCell::Text(text.into())).into();
                row.push(TableCell::Number(it.distance(), 2));
                rows.push(row);
            }
        }
    }
    Table { columns: heads.map(column).into(), rows }
}

/// Renders a claim as a list item; `source` may be empty if the context states it.
fn claim_html((claim, table, judgement): &(&Claim, String, Judgement), source: &str) -> String {
    let (mark, class) = in_words(judgement.verdict);
    let here = if table.is_empty() { String::new() } else { format!(" ({})", escape(table)) };
    let beside = match judgement.beside() {
        it if it.is_empty() => it,
        it => format!(" <span class=\"beside\">{}.</span>", prose(&it)),
    };
    format!(
        "<li class=\"{class}\" title=\"{}\"><span class=\"mark\">{mark}</span> {} <small>{}</small> Here{here}: {}.{beside}</li>\n",
        escape(&claim.id),
        prose(&claim.text),
        escape(&joined([source, &claim.section], ", ")),
        prose(&judgement.reason)
    )
}

fn contents(measured: &[Section<'_>]) -> String {
    let mut out = String::from(
        "<nav id=\"page-contents\" aria-labelledby=\"page-contents-title\">\n\
         <h2 id=\"page-contents-title\">Contents</h2>\n<ol>\n",
    );
    for Section { experiment, .. } in measured {
        let (id, title, source) =
            (anchor(&experiment.name), escape(&experiment.title), escape(&experiment.source));
        let _ = writeln!(out, "<li><a href=\"#{id}\">{title}</a> <span>{source}</span></li>");
    }
    out + "<li><a href=\"#page-machine\">Machine and settings</a></li>\n</ol>\n</nav>\n"
}

fn section_html(section: &Section<'_>, number: &mut usize) -> String {
    let Section { experiment, outcome, figures, claims } = section;
    let id = anchor(&experiment.name);
    let mut out = format!(
        "<section id=\"{id}\" class=\"experiment\">\n<p class=\"source\">{}</p>\n\
         <h2>{} <a class=\"self\" href=\"#{id}\" aria-label=\"Link to this section\">#</a></h2>\n<p>{}</p>\n",
        escape(&experiment.source),
        escape(&experiment.title),
        prose(&experiment.about)
    );
    if !experiment.setting.is_empty() {
        let setting = prose(&experiment.setting);
        let _ = writeln!(out, "<p class=\"given\">The paper's setting: {setting}</p>");
    }
    if !claims.is_empty() {
        let items: String = claims.iter().map(|it| claim_html(it, "")).collect();
        let _ = writeln!(out, "<ul class=\"findings\">\n{items}</ul>");
    }
    for figure in figures {
        *number += 1;
        out += &figure_html(figure, *number);
    }
    let _ = writeln!(
        out,
        "<p class=\"end\"><code>{}</code> took {:.0} s and ended at {}. <a href=\"#page-contents\">Contents</a></p>\n</section>",
        escape(&experiment.name),
        outcome.seconds,
        escape(&outcome.date)
    );
    out
}

fn figure_html(figure: &Figure, number: usize) -> String {
    let (id, title) = (anchor(&figure.id), escape(&figure.title));
    let mut out = format!(
        "<figure id=\"{id}\" class=\"result\">\n<figcaption>\n<h3><span class=\"nr\">Figure {number}.</span> {title} \
         <a class=\"self\" href=\"#{id}\" aria-label=\"Link to figure {number}\">#</a></h3>\n<p>{}</p>\n</figcaption>\n",
        prose(&figure.caption)
    );
    if let Some(drawn) = &figure.chart {
        out += &chart::html(drawn, &id, &figure.title);
    }
    out += &table::html(&figure.table, &figure.title);
    if !figure.conditions.is_empty() {
        let list = definitions("conditions", &figure.conditions);
        let _ = writeln!(out, "<details><summary>Conditions</summary>\n{list}</details>");
    }
    out + "</figure>\n"
}

fn definitions(class: &str, pairs: &[(String, String)]) -> String {
    let mut out = format!("<dl class=\"{class}\">\n");
    for (name, value) in pairs {
        let _ = writeln!(out, "<div><dt>{}</dt> <dd>{}</dd></div>", escape(name), prose(value));
    }
    out + "</dl>\n"
}

fn not_measured(absent: &[Section<'_>]) -> String {
    if absent.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<section id=\"page-absent\" class=\"absent\">\n<h2>Not measured</h2>\n<dl>\n",
    );
    for Section { experiment, outcome, .. } in absent {
        let (title, source, why) =
            (escape(&experiment.title), escape(&experiment.source), prose(&outcome.absent));
        let _ = writeln!(
            out,
            "<div><dt><b>{title}</b> <span>{source}</span></dt> <dd>{why}</dd></div>"
        );
    }
    out + "</dl>\n</section>\n"
}

fn circumstances(records: &Records) -> String {
    let mut out = String::from(
        "<section id=\"page-machine\" class=\"setting\">\n<h2>Machine and settings</h2>\n<div class=\"pair\">\n",
    );
    for (name, pairs) in [("Machine", &records.run.machine), ("Settings", &records.run.inputs)] {
        let _ = writeln!(out, "<div>\n<h3>{name}</h3>\n{}</div>", definitions("facts", pairs));
    }
    out + "</div>\n<p>METHODOLOGY.md describes how rates are measured; BIAS.md lists the known biases.</p>\n</section>\n"
}
