//! How many passes the machine disturbed, in words.

use super::model::{Condition, Figure, Row};
use super::show::{condition, thousands};

/// Passes of some rows, counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Count {
    /// Those that count.
    passes: u64,
    /// Those that were thrown away and repeated.
    repeated: u64,
    /// Those that count although disturbed.
    disturbed: u64,
}

impl Count {
    fn of<'r>(rows: impl Iterator<Item = &'r Row>) -> Self {
        rows.fold(Self::default(), |sum, row| Self {
            passes: sum.passes + row.passes,
            repeated: sum.repeated + row.repeated,
            disturbed: sum.disturbed + row.disturbed,
        })
    }
}

/// Says below each figure how many passes were repeated, and how many count although disturbed.
/// Figures of values that are no rates have no passes, and nothing is said there.
pub(crate) fn add_disturbances(figures: &mut [Figure], rows: &[Row]) {
    for figure in figures {
        let own = rows.iter().filter(|row| row.figure == figure.id);
        figure.conditions.extend(below_a_figure(Count::of(own)));
    }
}

fn below_a_figure(Count { passes, repeated, disturbed }: Count) -> Option<Condition> {
    let said = match (repeated, disturbed) {
        (0, 0) => format!("none of {}", thousands(passes)),
        _ => format!(
            "{} repeated; of the {} that count, {} disturbed in every attempt",
            thousands(repeated),
            thousands(passes),
            thousands(disturbed)
        ),
    };
    (passes > 0).then(|| condition("disturbed passes", said))
}

/// The same of all rows as a sentence of the summary; nothing where nothing was timed.
pub(crate) fn in_a_sentence(rows: &[&Row]) -> Option<String> {
    let Count { passes, repeated, disturbed } = Count::of(rows.iter().copied());
    (passes > 0).then(|| {
        format!(
            "{} passes count; {} of them although the machine was disturbed in every attempt. {} \
             attempts were repeated because of a disturbance.",
            thousands(passes),
            thousands(disturbed),
            thousands(repeated)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(figure: &str, passes: u64, repeated: u64, disturbed: u64) -> Row {
        Row { figure: figure.into(), passes, repeated, disturbed, ..Row::default() }
    }

    fn figure(id: &str) -> Figure {
        let (title, caption) = (String::new(), String::new());
        let (conditions, findings) = (Vec::new(), Vec::new());
        Figure {
            id: id.into(),
            title,
            caption,
            conditions,
            chart: None,
            table: <_>::default(),
            findings,
        }
    }

    #[test]
    fn both_counts_stand_below_their_figure() {
        let mut figures = ["calm", "busy", "counted"].map(figure);
        let rows = [
            row("busy", 1_000, 4, 0),
            row("calm", 10, 0, 0),
            row("busy", 10, 3, 2),
            row("counted", 0, 0, 0),
        ];
        add_disturbances(&mut figures, &rows);
        let said = figures.each_ref().map(|it| it.conditions.first().map(|it| &it.value[..]));
        let busy = "7 repeated; of the 1,010 that count, 2 disturbed in every attempt";
        assert_eq!(said, [Some("none of 10"), Some(busy), None]);
        assert_eq!(figures[0].conditions[0].name, "disturbed passes");
    }

    #[test]
    fn the_summary_has_both_counts() {
        let rows = [row("a", 1_000, 0, 0), row("b", 10, 3, 2)];
        let said = in_a_sentence(&rows.each_ref()).expect("there are passes");
        assert!(said.starts_with("1,010 passes count; 2 of them although"), "{said}");
        assert!(said.contains("3 attempts were repeated"), "{said}");
        assert_eq!(in_a_sentence(&[&row("a", 0, 0, 0)]), None);
    }
}
