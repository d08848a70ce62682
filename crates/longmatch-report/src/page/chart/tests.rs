//! Tests of the elements of charts.

use roxmltree::{Document, Node};

use super::drawing::*;
use super::form::Form;
use super::*;
use crate::model::{Axis, Bar, BarGroup, Bars, Chart, HeatMap, Lines, Point, Series};

fn axis(log: bool) -> Axis {
    Axis { name: "rate".into(), unit: "Mlps".into(), log }
}

/// Wraps the drawing of a chart in a document.
fn drawn(chart: &impl Draw, form: Form) -> String {
    let drawing = chart.draw(form).expect("the chart has a value");
    format!("<svg>{}</svg>", drawing.body)
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).expect("the attribute").parse().expect("a number")
}

fn of_class<'a>(document: &'a Document<'_>, class: &'static str) -> Vec<Node<'a, 'a>> {
    let has = |node: &Node<'_, '_>| {
        node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class))
    };
    document.descendants().filter(has).collect()
}

fn bar(name: &str, value: Option<f64>) -> Bar {
    Bar { name: name.into(), value, spread: None, paper: None, note: String::new() }
}

fn bars(log: bool, all: Vec<Bar>) -> Bars {
    Bars { value: axis(log), groups: vec![BarGroup { name: "group".into(), bars: all }] }
}

#[test]
fn bars_are_as_long_as_their_values() {
    let mut all = vec![bar("folio", Some(300.0)), bar("radix", Some(100.0)), bar("sail", None)];
    all[0].spread = Some([290.0, 310.0]);
    all[0].paper = Some(200.0);
    all[2].note = "refused".into();
    let chart = bars(false, all);
    for form in [Form::Wide, Form::Narrow] {
        let text = drawn(&chart, form);
        let document = Document::parse(&text).expect("well-formed");
        let lengths: Vec<f64> =
            of_class(&document, "bar").iter().map(|bar| number(*bar, "width")).collect();
        assert_eq!(lengths.len(), 2);
        assert!((lengths[0] / lengths[1] - 3.0).abs() < 0.01, "{lengths:?}");
        assert_eq!(of_class(&document, "whisker").len(), 3);
        assert_eq!(of_class(&document, "paper").len(), 1);
        let notes: Vec<_> = of_class(&document, "note").iter().map(|note| note.text()).collect();
        assert_eq!(notes, [Some("paper 200"), Some("refused")]);
        assert_eq!(of_class(&document, "c-folio").len(), 1);
        let named =
            ["folio", "radix", "sail"].map(|name| text.contains(&format!(">{name}</text>")));
        assert_eq!(named, [true; 3]);
    }
    assert_eq!(chart.keys().len(), 2);
    assert!(chart.describe().contains("The longest is folio with 300 Mlps"));
}

#[test]
fn bars_below_zero_and_logarithmic_ones_have_lengths_too() {
    let text = drawn(&bars(false, vec![bar("a", Some(-50.0)), bar("b", Some(50.0))]), Form::Wide);
    let document = Document::parse(&text).expect("well-formed");
    let drawn_bars = of_class(&document, "bar");
    let (below, above) = (drawn_bars[0], drawn_bars[1]);
    assert!((number(below, "x") + number(below, "width") - number(above, "x")).abs() < 0.11);
    let all = vec![bar("a", Some(1.0)), bar("b", Some(1000.0)), bar("c", Some(0.0))];
    let text = drawn(&bars(true, all), Form::Wide);
    let document = Document::parse(&text).expect("well-formed");
    let lengths: Vec<f64> =
        of_class(&document, "bar").iter().map(|bar| number(*bar, "width")).collect();
    assert!(lengths.len() == 2 && lengths[0] > 5.0 && lengths[1] > lengths[0], "{lengths:?}");
}

#[test]
fn thirty_bars_and_long_names_fit() {
    let all: Vec<Bar> = (0..30)
        .map(|at| bar(&format!("poptrie with a very long name of a variant {at}"), Some(at.into())))
        .collect();
    for form in [Form::Wide, Form::Narrow] {
        let drawing = bars(false, all.clone()).draw(form).expect("drawn");
        let text = format!("<svg>{}</svg>", drawing.body);
        let document = Document::parse(&text).expect("well-formed");
        let mut tops: Vec<f64> =
            of_class(&document, "bar").iter().map(|bar| number(*bar, "y")).collect();
        assert_eq!(tops.len(), 30);
        assert!(tops.windows(2).all(|pair| pair[1] - pair[0] >= 15.0));
        assert!(tops.pop().is_some_and(|top| top < drawing.height));
        assert!(form == Form::Narrow || text.contains("…</text>"));
        assert!(
            form == Form::Narrow
                || text.contains("<title>poptrie with a very long name of a variant 7: 7"),
            "all of it"
        );
    }
}

fn series(name: &str, points: &[(f64, f64)]) -> Series {
    let point = |(x, y): &(f64, f64)| Point { x: *x, y: *y, spread: Some([*y, *y + 1.0]) };
    Series { name: name.into(), dashed: false, points: points.iter().map(point).collect() }
}

#[test]
fn lines_have_marks_at_points_and_names_at_ends() {
    let series = vec![
        series("folio", &[(1.0, 0.0), (2.0, 50.0), (3.0, 100.0), (4.0, f64::NAN)]),
        Series { dashed: true, ..series("limit", &[(2.0, 80.0)]) },
        series("radix", &[]),
    ];
    let chart = Lines { x: axis(false), y: axis(false), series, steps: false };
    let text = drawn(&chart, Form::Wide);
    let document = Document::parse(&text).expect("well-formed");
    let marks = of_class(&document, "mark");
    // Four points, and one mark beside each of the two names.
    assert_eq!(marks.len(), 6);
    let heights: Vec<f64> = marks[..3].iter().map(|mark| number(*mark, "cy")).collect();
    let (first, second) = (heights[0] - heights[1], heights[1] - heights[2]);
    assert!((first - second).abs() < 0.11, "{heights:?}");
    assert_eq!(of_class(&document, "whisker").len(), 4 * 3);
    assert_eq!(of_class(&document, "line").len(), 2);
    assert!(text.contains(">folio</text>") && text.contains("dashed"));
    assert!(!drawn(&chart, Form::Narrow).contains(">folio</text>"), "the legend has it");
    assert_eq!(chart.keys().iter().filter(|key| key.narrow_only).count(), 2);
}

#[test]
fn distributions_are_steps_with_few_marks() {
    let points: Vec<(f64, f64)> =
        (1..=100).map(|at| (f64::from(at), f64::from(at) / 100.0)).collect();
    let mut line = series("sail", &points);
    line.points.iter_mut().for_each(|point| point.spread = None);
    let chart = Lines { x: axis(false), y: axis(false), series: vec![line], steps: true };
    let text = drawn(&chart, Form::Wide);
    let document = Document::parse(&text).expect("well-formed");
    assert_eq!(of_class(&document, "mark").len(), 3);
    let path = of_class(&document, "line")[0].attribute("d").expect("a path");
    assert_eq!(path.matches(['M', 'L']).count(), 199);
    assert!(chart.keys().iter().all(|key| !key.narrow_only));
}

#[test]
fn heat_maps_have_a_cell_for_each_count() {
    let names = |to: usize| (0..to).map(|at| at.to_string()).collect::<Vec<_>>();
    let mut chart = HeatMap {
        x: axis(false),
        y: axis(false),
        columns: names(33),
        rows: names(33),
        unit: "addresses".into(),
        cells: (0..33).map(|at| (at, at, 1u64 << (at % 32))).collect(),
    };
    for form in [Form::Wide, Form::Narrow] {
        let text = drawn(&chart, form);
        let document = Document::parse(&text).expect("well-formed");
        let cells: Vec<Node<'_, '_>> = document
            .descendants()
            .filter(|node| node.attribute("class").is_some_and(|class| class.starts_with('h')))
            .filter(|node| node.tag_name().name() == "rect")
            .collect();
        assert_eq!(cells.len(), 33);
        // The first column is on the left, the first row at the bottom.
        assert!(number(cells[0], "x") < number(cells[1], "x"));
        assert!(number(cells[0], "y") > number(cells[1], "y"));
        assert_eq!(cells[0].attribute("class"), Some("h0"));
        assert_eq!(cells[31].attribute("class"), Some("h9"));
    }
    assert_eq!(chart.keys().len(), 10);
    chart.cells = vec![(0, 0, 3), (1, 1, 40), (2, 2, 60)];
    let texts: Vec<String> = chart.keys().into_iter().map(|key| key.text).collect();
    assert_eq!(texts, ["2 – 4 addresses", "5 – 9", "10 – 19", "20 – 49", "50 – 99"]);
    chart.cells = vec![(0, 0, 0), (40, 0, 7)];
    assert!(chart.draw(Form::Wide).is_none());
}

#[test]
fn charts_without_values_have_a_message() {
    let chart = Chart::Bars(bars(false, vec![bar("a", None), bar("b", Some(f64::NAN))]));
    assert!(html(&chart, "id", "title").contains("No value to draw"));
}

#[test]
fn labels_are_thinned_evenly() {
    assert_eq!(every(&[10.0; 33], 20.0, 5.0), 1);
    assert_eq!(every(&[14.0; 33], 10.0, 5.0), 2);
    assert_eq!(every(&[14.0; 33], 1.0, 5.0), 20);
    assert_eq!(every(&[14.0; 33], 0.001, 5.0), 50);
    assert_eq!(every(&[], 1.0, 5.0), 1);
}
