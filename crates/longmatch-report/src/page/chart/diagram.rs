//! Setups: stages as boxes, side by side in wide drawings and one below the other in narrow ones.

use crate::declaration::{Diagram, Flow, Stage};
use crate::page::text::{BOLD, shorten, width};

use super::drawing::{Draw, Drawing, Key};
use super::form::Form;
use super::svg::{Anchor, Svg};

/// Height of a line of text.
const LINE: f64 = 17.0;
/// Space inside a box, and between a name and its boxes.
const PAD: f64 = 10.0;
/// Length of an arrow between boxes that are one below the other.
const BELOW: f64 = 40.0;
/// Space below a flow.
const APART: f64 = 18.0;

impl Draw for Diagram {
    fn draw(&self, form: Form) -> Option<Drawing> {
        self.flows.first()?;
        let mut svg = Svg::of(form);
        let mut top = 0.0;
        for flow in self.flows {
            svg.text("group", Anchor::Start, (4.0, top + 14.0), flow.name);
            top += LINE + PAD;
            top = match form {
                Form::Wide => side_by_side(&mut svg, flow, top),
                Form::Narrow => one_below_the_other(&mut svg, flow, top),
            };
            top += APART;
        }
        Some(Drawing { height: top, body: svg.finish() })
    }

    fn keys(&self) -> Vec<Key> {
        Vec::new()
    }

    fn describe(&self) -> String {
        let flow = |flow: &Flow| {
            let stage = |stage: &Stage| match stage.lines {
                [] => stage.name.to_owned(),
                lines => format!("{} ({})", stage.name, lines.join(", ")),
            };
            let stages = flow.stages.iter().map(stage).collect::<Vec<_>>().join(", then ");
            format!("{}: {stages}.", flow.name)
        };
        let flows = self.flows.iter().map(flow).collect::<Vec<_>>().join(" ");
        format!("Drawing of setups. {flows}")
    }
}

/// Returns the height of the boxes of a flow, which are equally high.
fn height(flow: &Flow) -> f64 {
    let lines = flow.stages.iter().map(|stage| stage.lines.len()).max().unwrap_or(0);
    (lines + 1) as f64 * LINE + 1.5 * PAD
}

/// Draws a flow from left to right; returns its lower end.
fn side_by_side(svg: &mut Svg, flow: &Flow, top: f64) -> f64 {
    let size = Form::Wide.letters();
    let high = height(flow);
    let gaps: Vec<f64> = flow.stages.split_last().map_or_else(Vec::new, |(_, stages)| {
        let gap = |stage: &Stage| width(stage.forth, size).max(width(stage.back, size)) + 24.0;
        stages.iter().map(gap).collect()
    });
    let free = Form::Wide.width() - 8.0 - gaps.iter().sum::<f64>();
    let wide = (free / flow.stages.len().max(1) as f64).min(250.0);
    let mut left = 4.0;
    for (at, stage) in flow.stages.iter().enumerate() {
        stage_box(svg, stage, Form::Wide, (left, top), (wide, high));
        let Some(gap) = gaps.get(at) else { continue };
        let (from, to) = (left + wide + 4.0, left + wide + gap - 4.0);
        let middle = f64::midpoint(from, to);
        let rows = [
            (stage.forth, top + high * 0.35, [from, to]),
            (stage.back, top + high * 0.75, [to, from]),
        ];
        for (label, y, [from, to]) in rows.into_iter().filter(|(label, ..)| !label.is_empty()) {
            svg.text("note", Anchor::Middle, (middle, y - 7.0), label);
            arrow(svg, (from, y), (to, y));
        }
        left += wide + gap;
    }
    top + high
}

/// Draws a flow from top to bottom; returns its lower end.
fn one_below_the_other(svg: &mut Svg, flow: &Flow, mut top: f64) -> f64 {
    let (size, wide) = (Form::Narrow.letters(), 200.0);
    for (at, stage) in flow.stages.iter().enumerate() {
        let high = (stage.lines.len() + 1) as f64 * LINE + 1.5 * PAD;
        stage_box(svg, stage, Form::Narrow, (4.0, top), (wide, high));
        top += high;
        if at + 1 == flow.stages.len() {
            break;
        }
        let [above, below] = [top + 4.0, top + BELOW - 4.0];
        let rows =
            [(stage.forth, 30.0, [above, below], 0.0), (stage.back, 50.0, [below, above], LINE)];
        for (label, x, [from, to], down) in rows.into_iter().filter(|row| !row.0.is_empty()) {
            arrow(svg, (x, from), (x, to));
            let label = shorten(label, Form::Narrow.width() - 70.0, size);
            svg.text("note", Anchor::Start, (62.0, top + 16.0 + down), &label);
        }
        top += BELOW;
    }
    top
}

fn stage_box(svg: &mut Svg, stage: &Stage, form: Form, (left, top): (f64, f64), size: (f64, f64)) {
    let (letters, free) = (form.letters(), size.0 - 2.0 * PAD);
    svg.rect("stage", (left, top), size);
    let mut y = top + PAD + 8.0;
    let name = shorten(stage.name, free, letters * BOLD);
    svg.text("group", Anchor::Start, (left + PAD, y), &name);
    for line in stage.lines {
        y += LINE;
        svg.text("tick", Anchor::Start, (left + PAD, y), &shorten(line, free, letters));
    }
}

/// Draws a horizontal or vertical arrow.
fn arrow(svg: &mut Svg, from: (f64, f64), to: (f64, f64)) {
    let (dx, dy) = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
    svg.line("arrow", from, to);
    let head = match from.1 == to.1 {
        true => [(to.0 - 6.0 * dx, to.1 - 4.0), to, (to.0 - 6.0 * dx, to.1 + 4.0)],
        false => [(to.0 - 4.0, to.1 - 6.0 * dy), to, (to.0 + 4.0, to.1 - 6.0 * dy)],
    };
    svg.path("arrow", &head);
}
