//! Tests of the elements of charts.

use roxmltree::{Document, Node};

use super::drawing::*;
use super::svg::Form;
use super::*;
use crate::model::{Axis, Bar, Bars, Chart, Lines, Point, Series};

fn axis() -> Axis {
    Axis { name: "rate".into(), unit: "Mlps".into(), log: false }
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

/// The numbers of an attribute of the elements of a class.
fn numbers(document: &Document<'_>, class: &'static str, attribute: &str) -> Vec<f64> {
    of_class(document, class).iter().map(|node| number(*node, attribute)).collect()
}

fn bar(name: &str, value: Option<f64>) -> Bar {
    let (group, name) = ("group".into(), name.into());
    Bar { group, name, value, spread: None, paper: None, note: String::new() }
}

fn bars(bars: Vec<Bar>) -> Bars {
    Bars { value: axis(), bars }
}

#[test]
fn bars_are_as_long_as_their_values() {
    let mut all = vec![bar("folio", Some(300.0)), bar("radix", Some(100.0)), bar("sail", None)];
    all[0].spread = Some([290.0, 310.0]);
    all[0].paper = Some(200.0);
    all[2].note = "refused".into();
    let chart = bars(all);
    for form in [Form::Wide, Form::Narrow] {
        let text = drawn(&chart, form);
        let document = Document::parse(&text).expect("well-formed");
        let lengths = numbers(&document, "bar", "width");
        assert_eq!(lengths.len(), 2);
        assert!((lengths[0] / lengths[1] - 3.0).abs() < 0.01, "{lengths:?}");
        let counts = ["whisker", "paper", "c-folio"].map(|class| of_class(&document, class).len());
        assert_eq!(counts, [3, 1, 1]);
        let notes: Vec<_> = of_class(&document, "note").iter().map(|note| note.text()).collect();
        assert_eq!(notes, [Some("paper 200"), Some("refused")]);
        for name in ["folio", "radix", "sail"] {
            assert!(text.contains(&format!(">{name}</text>")), "{name}");
        }
    }
    assert_eq!(chart.keys().len(), 2);
    assert!(chart.describe().contains("The longest is folio with 300 Mlps"));
}

#[test]
fn bars_below_zero_end_at_zero() {
    let text = drawn(&bars(vec![bar("a", Some(-50.0)), bar("b", Some(50.0))]), Form::Wide);
    let document = Document::parse(&text).expect("well-formed");
    let (lefts, widths) = (numbers(&document, "bar", "x"), numbers(&document, "bar", "width"));
    assert!((lefts[0] + widths[0] - lefts[1]).abs() < 0.11);
}

#[test]
fn thirty_bars_and_long_names_fit() {
    let name = |at: u32| format!("poptrie with a very long name of a variant {at}");
    let chart = bars((0..30).map(|at| bar(&name(at), Some(at.into()))).collect());
    for form in [Form::Wide, Form::Narrow] {
        let text = drawn(&chart, form);
        let document = Document::parse(&text).expect("well-formed");
        let tops = numbers(&document, "bar", "y");
        assert_eq!(tops.len(), 30);
        assert!(tops.windows(2).all(|pair| pair[1] - pair[0] >= 15.0));
        assert!(chart.draw(form).is_some_and(|it| tops[29] < it.height));
        assert!(form == Form::Narrow || text.contains("…</text>"));
        assert!(form == Form::Narrow || text.contains(&format!("<title>{}: 7", name(7))), "whole");
    }
}

fn series(name: &str, points: &[(f64, f64)]) -> Series {
    let point = |(x, y): &(f64, f64)| Point { x: *x, y: *y, spread: Some([*y, *y + 1.0]) };
    Series { name: name.into(), dashed: false, points: points.iter().map(point).collect() }
}

#[test]
fn lines_have_marks_at_points_and_names_at_ends() {
    let series = vec![
        series("folio", &[(1.0, 0.0), (2.0, 50.0), (3.0, 100.0)]),
        Series { dashed: true, ..series("limit", &[(2.0, 80.0)]) },
    ];
    let chart = Lines { x: axis(), y: axis(), series, steps: false };
    let text = drawn(&chart, Form::Wide);
    let document = Document::parse(&text).expect("well-formed");
    // Four points, and one mark beside each of the two names.
    assert_eq!(of_class(&document, "mark").len(), 6);
    let heights: Vec<f64> =
        of_class(&document, "mark")[..3].iter().map(|mark| number(*mark, "cy")).collect();
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
    let points = (1..=100).map(|at| (f64::from(at), f64::from(at) / 100.0)).collect::<Vec<_>>();
    let mut line = series("sail", &points);
    line.points.iter_mut().for_each(|point| point.spread = None);
    let chart = Lines { x: axis(), y: axis(), series: vec![line], steps: true };
    let text = drawn(&chart, Form::Wide);
    let document = Document::parse(&text).expect("well-formed");
    assert_eq!(of_class(&document, "mark").len(), 3);
    let path = of_class(&document, "line")[0].attribute("d").expect("a path");
    assert_eq!(path.matches(['M', 'L']).count(), 199);
    assert!(chart.keys().iter().all(|key| !key.narrow_only));
}

#[test]
fn charts_without_values_have_a_message() {
    let chart = Chart::Bars(bars(vec![bar("a", None)]));
    assert!(html(&chart, "id", "title").contains("No value to draw"));
}
