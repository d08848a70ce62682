//! Tests of whole pages: the sample against what is on record, and pages that mean harm.

use std::collections::HashSet;
use std::path::PathBuf;
use std::{env, fs};

use roxmltree::{Document, Node, ParsingOptions};

use super::*;
use crate::model::{
    Axis, Bar, BarGroup, Bars, BoxSeries, Boxes, Cell, Chart, Column, Figure, Heat, Lines, Point,
    Row, Series, Table,
};

/// Set, the tests write what is on record instead of comparing with it.
const BLESS: &str = "LONGMATCH_BLESS";

fn parsed(html: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(html, options).expect("the page is well-formed")
}

fn compare(name: &str, made: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/report").join(name);
    if env::var_os(BLESS).is_some() {
        fs::create_dir_all(path.parent().expect("a directory")).expect("writable");
        fs::write(&path, made).expect("writable");
        return;
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    if there == made {
        return;
    }
    let line = made.lines().zip(there.lines()).position(|(made, there)| made != there);
    let line = line.unwrap_or_else(|| made.lines().count().min(there.lines().count())) + 1;
    panic!(
        "testdata/report/{name} differs from line {line} on. If that is meant, look at the page, \
         run this test with {BLESS}=1 and commit the file."
    );
}

#[test]
fn the_sample_is_the_one_on_record() {
    let page = sample::page();
    compare("sample.html", &page.html());
    compare("sample.md", &page.markdown());
    compare("sample.ndjson", &ndjson(&page.sections));
    compare("sample.csv", &csv(&page.sections));
}

#[test]
fn the_sample_has_every_kind_of_chart_and_of_cell() {
    let page = sample::page();
    let figures: Vec<&Figure> = page.sections.iter().flat_map(|part| &part.figures).collect();
    let charts: HashSet<_> =
        figures.iter().filter_map(|part| part.chart.as_ref()).map(std::mem::discriminant).collect();
    assert_eq!(charts.len(), 4);
    let cells: HashSet<_> = figures
        .iter()
        .flat_map(|part| part.table.rows.concat())
        .map(|cell| std::mem::discriminant(&cell))
        .collect();
    assert_eq!(cells.len(), 6);
}

#[test]
fn a_page_can_be_stored_and_read_again() {
    let page = sample::page();
    let json = serde_json::to_string(&page).expect("it can be stored");
    let again: Page = serde_json::from_str(&json).expect("it can be read");
    assert_eq!(again.html(), page.html());
}

/// What every page keeps, whatever is in it.
fn keeps_its_form(html: &str) {
    let document = parsed(html);
    let elements = || document.descendants().filter(Node::is_element);
    let mut ids = HashSet::new();
    for id in elements().filter_map(|node| node.attribute("id")) {
        assert!(ids.insert(id), "the id {id} is there twice");
    }
    for node in elements() {
        if let Some(to) = node.attribute("href") {
            let inside = to.strip_prefix('#').is_some_and(|to| ids.contains(to));
            assert!(inside || to == "data:,", "{to} leads nowhere");
        }
        for id in node.attribute("aria-labelledby").unwrap_or_default().split_whitespace() {
            assert!(ids.contains(id), "nothing has the id {id}");
        }
        assert!(!node.attributes().any(|attribute| attribute.name().starts_with("on")));
        assert_eq!(node.attribute("src"), None);
        assert_ne!(node.tag_name().name(), "script");
    }
    let mut level = 0;
    for node in elements() {
        let name = node.tag_name().name();
        if let Some(next) = name.strip_prefix('h').and_then(|level| level.parse::<u32>().ok()) {
            assert!(next <= level + 1, "{name} comes after h{level}");
            level = next;
        }
    }
    let drawings = elements().filter(|node| node.attribute("role") == Some("img"));
    for drawing in drawings {
        let names: Vec<_> = drawing.children().map(|node| node.tag_name().name()).collect();
        assert!(names.contains(&"title") && names.contains(&"desc"), "{names:?}");
        inside_its_box(drawing);
    }
    for cell in elements().filter(|node| node.tag_name().name() == "th") {
        assert!(matches!(cell.attribute("scope"), Some("col" | "row")));
    }
}

/// Every coordinate lies in the view box.
fn inside_its_box(drawing: Node<'_, '_>) {
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let view = drawing.attribute("viewBox").expect("a view box");
    let view: Vec<f64> = view.split_whitespace().map(number).collect();
    for node in drawing.descendants().filter(Node::is_element) {
        let at = |name: &str| node.attribute(name).map(number);
        let width = at("width").unwrap_or(0.0);
        let height = at("height").unwrap_or(0.0);
        assert!(width >= 0.0 && height >= 0.0, "{node:?}");
        for x in ["x", "x1", "x2", "cx"].into_iter().filter_map(at) {
            assert!(x >= -6.0 && x + width <= view[2] + 6.0, "{x} of {} in {node:?}", view[2]);
        }
        for y in ["y", "y1", "y2", "cy"].into_iter().filter_map(at) {
            assert!(y >= 0.0 && y + height <= view[3], "{y} of {} in {node:?}", view[3]);
        }
    }
}

#[test]
fn the_sample_keeps_its_form() {
    let page = sample::page();
    let html = page.html();
    keeps_its_form(&html);
    let document = parsed(&html);
    for part in &page.sections {
        assert!(document.descendants().any(|node| node.attribute("id") == Some(&part.experiment)));
        for figure in &part.figures {
            let found =
                document.descendants().find(|node| node.attribute("id") == Some(&figure.id));
            let found = found.expect("every figure is there");
            let drawings = found.descendants().filter(|node| node.attribute("role") == Some("img"));
            assert_eq!(drawings.count(), if figure.chart.is_some() { 2 } else { 0 });
            let rows = found.descendants().filter(|node| node.tag_name().name() == "tr");
            assert_eq!(rows.count(), figure.table.rows.len() + 1);
        }
    }
}

#[test]
fn the_same_input_makes_the_same_bytes() {
    assert_eq!(sample::page().html(), sample::page().html());
}

#[test]
fn decimal_points_are_below_each_other() {
    let columns = ["engine", "rate"].map(|name| Column {
        name: name.into(),
        unit: String::new(),
        paper: name == "rate",
    });
    let rows = vec![
        vec![Cell::Text("a".into()), Cell::Number(12.0, 0)],
        vec![Cell::Text("b".into()), Cell::Spread(1.25, [1.0, 1.5], 2)],
        vec![Cell::Text("c".into()), Cell::Refused("too many".into())],
        vec![Cell::Text("d".into())],
    ];
    let html = table::html(&Table { columns: columns.into(), rows }, "x");
    let room = "12<span class=\"room\" aria-hidden=\"true\">.00</span>";
    assert!(html.contains(room), "{html}");
    assert!(html.contains("1.25<small>1.00–1.50</small>"), "{html}");
    assert!(html.contains("rate <span class=\"tag\">paper</span>"), "{html}");
    assert!(html.contains("<span class=\"refused\">too many</span>"), "{html}");
    assert_eq!(html.matches("class=\"none\"").count(), 1, "a missing cell is an empty one");
}

const NASTY: &str =
    "</style></svg><script>alert('1')</script> \"quoted\" & \u{1b}[31m | `x` \u{202e}";

fn nasty_axis(log: bool) -> Axis {
    Axis { name: NASTY.into(), unit: NASTY.into(), log }
}

const ODD: [f64; 9] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -1.0, 0.0, 1e-310, 3.0, 1e290];

fn nasty_charts(log: bool, name: &str) -> Vec<Chart> {
    let bar = |value: f64| Bar {
        name: name.into(),
        value: Some(value),
        spread: Some([value, f64::NAN]),
        paper: Some(value),
        note: name.into(),
    };
    let series = |at: usize| Series {
        name: format!("{name}{at}"),
        dashed: at.is_multiple_of(2),
        points: ODD.map(|odd| Point { x: odd, y: odd, spread: Some([odd; 2]) }).into(),
    };
    let lines = |steps| {
        Chart::Lines(Lines {
            x: nasty_axis(log),
            y: nasty_axis(log),
            series: (0..30).map(series).collect(),
            steps,
        })
    };
    vec![
        Chart::Bars(Bars {
            value: nasty_axis(log),
            groups: vec![BarGroup { name: name.into(), bars: ODD.map(bar).into() }],
        }),
        lines(false),
        lines(true),
        Chart::Boxes(Boxes {
            x: nasty_axis(log),
            y: nasty_axis(log),
            places: vec![name.into(); 4],
            series: vec![BoxSeries {
                name: name.into(),
                boxes: ODD.map(|odd| Some([odd; 5])).into(),
            }],
        }),
        Chart::Heat(Heat {
            x: nasty_axis(log),
            y: nasty_axis(log),
            columns: vec![name.into(); 3],
            rows: vec![name.into(); 3],
            unit: name.into(),
            cells: vec![(0, 0, u64::MAX), (2, 2, 1), (3, 0, 5), (0, usize::MAX, 5), (1, 1, 0)],
        }),
        Chart::Bars(Bars { value: nasty_axis(log), groups: Vec::new() }),
        Chart::Boxes(Boxes {
            x: nasty_axis(log),
            y: nasty_axis(log),
            places: Vec::new(),
            series: Vec::new(),
        }),
        Chart::Heat(Heat {
            x: nasty_axis(log),
            y: nasty_axis(log),
            columns: Vec::new(),
            rows: Vec::new(),
            unit: String::new(),
            cells: vec![(0, 0, 1)],
        }),
    ]
}

fn nasty_page() -> Page {
    let long = "long".repeat(2000);
    let mut figures = Vec::new();
    for (at, name) in [NASTY, long.as_str(), "", "東京 Größe"].into_iter().enumerate() {
        for log in [false, true] {
            for chart in nasty_charts(log, name) {
                let cell = |value: f64| Cell::Spread(value, [f64::NAN, value], 255);
                figures.push(Figure {
                    id: format!("nasty-{at}-{}", figures.len()),
                    title: name.into(),
                    caption: name.into(),
                    conditions: sample::conditions(&[(NASTY, NASTY), ("", "")]),
                    chart: Some(chart),
                    table: Table {
                        columns: vec![Column { name: name.into(), unit: name.into(), paper: true }],
                        rows: ODD.map(|odd| vec![cell(odd), Cell::Empty]).into(),
                    },
                    findings: vec![sample::finding(Some(false), NASTY)],
                });
            }
        }
    }
    figures.push(Figure { id: "no rows & no columns".into(), ..figures[0].clone() });
    if let Some(last) = figures.last_mut() {
        last.table = Table::default();
        last.chart = None;
    }
    let section = Section {
        experiment: "nasty \"section\"".into(),
        source: NASTY.into(),
        title: NASTY.into(),
        about: NASTY.into(),
        figures,
        records: vec![Row { table: NASTY.into(), value: Some(f64::NAN), ..Row::default() }],
        seconds: f64::NAN,
        date: NASTY.into(),
    };
    Page {
        title: NASTY.into(),
        lead: vec![NASTY.into(), long.clone()],
        machine: sample::conditions(&[(NASTY, NASTY)]),
        settings: Vec::new(),
        summary: vec![sample::finding(None, NASTY)],
        sections: vec![section],
        absent: vec![Absent { experiment: NASTY.into(), why: long, ..Absent::default() }],
    }
}

#[test]
fn no_text_and_no_number_breaks_a_page() {
    let page = nasty_page();
    let html = page.html();
    keeps_its_form(&html);
    assert!(!html.contains("NaN") && !html.contains("inf"), "no number that is none is shown");
    let markdown = page.markdown();
    assert!(!markdown.contains("<script") && !markdown.contains('\u{1b}'));
    for line in markdown.lines().filter(|line| line.starts_with('|')) {
        let bars = line.matches('|').count() - line.matches("\\|").count();
        assert_eq!(bars, 2, "one column: {line}");
    }
    // With one of these set, the browser can be asked about this page too.
    if let Some(path) = env::var_os("LONGMATCH_NASTY_PAGE") {
        fs::write(path, html).expect("writable");
    }
}

#[test]
fn a_page_of_nothing_is_a_page() {
    let page = Page::default();
    keeps_its_form(&page.html());
    assert_eq!(page.markdown(), "# \n");
}

#[test]
fn claims_are_counted_and_named() {
    let page = sample::page();
    let (hold, fail) = page.claims();
    assert_eq!((hold, fail), (5, 1));
    assert!(page.html().contains("<b>5</b> claims of the papers hold here"));
    assert!(page.markdown().contains("Claims of the papers: 5 hold here, 1 do not."));
}

/// The values of the custom properties of a part of the style sheet.
fn colours(css: &str) -> Vec<(String, [f64; 3])> {
    let mut out = Vec::new();
    for part in css.split(['{', ';', '}']) {
        let Some((name, value)) = part.trim().split_once(": #") else { continue };
        if let (Some(name), Ok(rgb)) = (name.strip_prefix("--"), u32::from_str_radix(value, 16)) {
            let channel = |shift: u32| {
                let c = f64::from((rgb >> shift) & 255) / 255.0;
                if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
            };
            out.push((name.to_owned(), [channel(16), channel(8), channel(0)]));
        }
    }
    out
}

/// The contrast of two colours as the WCAG has it.
fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let light = |[r, g, b]: [f64; 3]| 0.2126 * r + 0.7152 * g + 0.0722 * b;
    let (one, other) = (light(one), light(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn colours_stand_out_in_light_and_in_dark() {
    let css = include_str!("page.css");
    let (light, rest) =
        css.split_once("@media screen and (prefers-color-scheme: dark)").expect("both");
    let (dark, _) = rest.split_once("* {").expect("the end of the properties");
    for scheme in [light, dark] {
        let all = colours(scheme);
        let of = |name: &str| all.iter().find(|(known, _)| known == name).expect("there").1;
        for (text, ground) in [
            ("ink", "paper"),
            ("muted", "paper"),
            ("muted", "panel"),
            ("link", "paper"),
            ("link", "panel"),
            ("given", "given-bg"),
            ("muted", "given-bg"),
            ("yes", "paper"),
            ("no", "paper"),
        ] {
            let contrast = contrast(of(text), of(ground));
            assert!(contrast >= 4.5, "{text} on {ground}: {contrast:.2}");
        }
        let hues = css.match_indices(" { --c: var(--").map(|(at, found)| {
            let rest = &css[at + found.len()..];
            &rest[..rest.find(')').expect("the end")]
        });
        assert_eq!(hues.clone().count(), 15);
        for hue in hues {
            let contrast = contrast(of(hue), of("paper"));
            assert!(contrast >= 3.0, "{hue}: {contrast:.2}");
        }
    }
}
