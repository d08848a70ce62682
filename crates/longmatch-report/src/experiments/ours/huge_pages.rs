//! Huge pages on and off.

use longmatch::EngineKind;

use crate::desk::row_about;
use crate::desk::{Desk, Entrant, Field, Measured, rate_cell};
use crate::experiment::{Absence, Experiment};
use crate::huge::{Backing, Pages, within};
use crate::inputs::Named;
use crate::model::{Cell, Column, Figure, Finding, Row};
use crate::show::{MIB, about_rates, column, number, rate_bars, ratio, remark, table, text};
use longmatch_bench::BenchFamily;
use longmatch_bench::Mode;
use longmatch_bench::Traffic;

pub(super) const HUGE_PAGES: Experiment = Experiment {
    name: "huge-pages",
    aliases: &[],
    source: "ours",
    title: "Huge pages",
    about: "Each engine twice in one race: its memory in the smallest pages, and moved into pages \
            of 2 MiB. In small ones a large structure needs more address translations than the CPU \
            keeps.",
    peers: false,
    seconds: |inputs, effort| {
        let tables = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
        tables as f64 * (effort.brief(2 * ENGINES.len()) + 1.5)
    },
    run,
};

const ENGINES: [&str; 7] =
    ["folio", "poptrie:s=18", "dxr", "dxr:d=21", "dir24_8", "sail", "spider"];

/// What the records say is varied.
const MARKS: [(Pages, &str); 2] =
    [(Pages::Ordinary, "pages=ordinary"), (Pages::Huge, "pages=huge")];

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let (four, six) = (desk.inputs.ipv4(), desk.inputs.ipv6());
    if four.is_empty() && six.is_empty() {
        return Err(Absence("needs a table of routes".into()));
    }
    let mut figures = Vec::new();
    if let Some(named) = four.first() {
        figures.push(figure(desk, *named)?);
    }
    if let Some(named) = six.first() {
        figures.push(figure(desk, *named)?);
    }
    Ok(figures)
}

/// An engine in both kinds of pages.
struct Pair {
    ordinary: Measured,
    huge: Measured,
    /// The memory of each, found out after it was compiled.
    backings: [Backing; 2],
}

fn figure<F: BenchFamily>(desk: &mut Desk<'_>, named: Named<'_, F>) -> Result<Figure, Absence> {
    let id = format!("huge-pages-{}-{}", F::NAME, named.name);
    let kind = |spec: &&&str| spec.split(':').next().and_then(|name| name.parse().ok());
    let has = |spec: &&&str| kind(spec).is_some_and(|kind: EngineKind| F::has(kind));
    let entrants = ENGINES
        .iter()
        .filter(has)
        .flat_map(|spec| MARKS.map(|(_, mark)| Entrant { mark, ..Entrant::new(*spec, "") }));
    let mut backings = Vec::new();
    let field = Field::entered(named, &entrants.collect::<Vec<_>>(), |race, entrant, spec| {
        let (pages, _) = MARKS.into_iter().find(|it| it.1 == entrant.mark).unwrap_or(MARKS[0]);
        let (entered, backing) = within(pages, || race.add_duplicate(spec));
        if entered.is_ok() {
            backings.push(backing);
        }
        entered
    });
    if backings.iter().skip(1).step_by(2).all(|backing| backing.huge == 0) {
        let why = "the system gives no huge pages: it needs Linux 6.1 or later with transparent \
                   huge pages (/sys/kernel/mm/transparent_hugepage/enabled not at never), the GNU \
                   C library, and structures of 2 MiB or more";
        return Err(Absence(why.into()));
    }
    desk.step(1.2);
    let heat = desk.heat(&field.race, &Traffic::Routed).expect("routed traffic has keys");
    desk.step(0.3);
    let setup = desk.brief(Mode::Batch);
    let measured = desk.measure(&id, &field, &heat, &setup, "");
    let pairs = pairs(measured, &backings);
    for pair in &pairs {
        note(desk, &id, named, pair);
    }
    let of = |which: fn(&Pair) -> &Measured| pairs.iter().map(which).cloned().collect::<Vec<_>>();
    let (ordinary, huge) = (of(|it| &it.ordinary), of(|it| &it.huge));
    let groups = [("pages of 4 KiB".into(), &ordinary[..]), ("huge pages".into(), &huge[..])];
    Ok(Figure {
        title: format!("Huge pages on and off, {}, {}", F::NAME, named.name),
        caption:
            "Batches of routed addresses. How much of the memory really lies in huge pages is \
                  read from the system after compiling: a block that does not reach over a whole \
                  huge page stays in small ones. Memory is what the process has in large blocks, \
                  more than what lookups read where an engine keeps room."
                .into(),
        conditions: about_rates(named.name, &field.race, &heat, &setup),
        chart: Some(rate_bars(groups)),
        table: table(columns(), pairs.iter().map(row).collect()),
        findings: findings(&pairs),
        id,
    })
}

/// Engines come in pairs, and so do the variants in their places; the backings are of those only
/// that hold the table.
fn pairs(measured: Vec<Measured>, backings: &[Backing]) -> Vec<Pair> {
    let of = |mark| {
        let own = measured.iter().filter(move |it: &&Measured| it.entrant.mark == mark);
        own.cloned()
    };
    let mut backings = backings.chunks_exact(2);
    of(MARKS[0].1)
        .zip(of(MARKS[1].1))
        .map(|(ordinary, huge)| {
            let backings = match ordinary.record() {
                Some(_) => backings.next().map_or_else(Default::default, |it| [it[0], it[1]]),
                None => Default::default(),
            };
            Pair { ordinary, huge, backings }
        })
        .collect()
}

fn note<F: BenchFamily>(desk: &mut Desk<'_>, id: &str, named: Named<'_, F>, pair: &Pair) {
    for ((_, mark), backing) in MARKS.into_iter().zip(pair.backings) {
        for (metric, bytes) in [("large blocks", backing.bytes), ("huge pages", backing.huge)] {
            if pair.ordinary.record().is_some() {
                desk.note(Row {
                    figure: id.into(),
                    engine: pair.ordinary.entrant.spec.clone(),
                    at: mark.into(),
                    metric: metric.into(),
                    unit: "B".into(),
                    value: Some(bytes as f64),
                    ..row_about(named.name, named.rib)
                });
            }
        }
    }
}

fn columns() -> Vec<Column> {
    vec![
        column("engine", ""),
        column("4 KiB pages", "Mlps"),
        column("huge pages", "Mlps"),
        column("times", ""),
        column("memory", "MiB"),
        column("really huge", "MiB"),
        column("really huge with 4 KiB pages", "MiB"),
    ]
}

fn row(pair: &Pair) -> Vec<Cell> {
    let mib = |bytes: usize| Some(bytes as f64 / MIB).filter(|_| pair.ordinary.record().is_some());
    let [ordinary, huge] = pair.backings;
    vec![
        text(&pair.ordinary.entrant.spec),
        rate_cell(&pair.ordinary),
        rate_cell(&pair.huge),
        number(ratio(pair.huge.rate(), pair.ordinary.rate()), 2),
        number(mib(huge.bytes), 1),
        number(mib(huge.huge), 1),
        number(mib(ordinary.huge), 1),
    ]
}

fn findings(pairs: &[Pair]) -> Vec<Finding> {
    let finding = |pair: &Pair| {
        let times = ratio(pair.huge.rate(), pair.ordinary.rate())?;
        let Backing { bytes, huge } = pair.backings[1];
        let share = 100.0 * huge as f64 / bytes.max(1) as f64;
        let spec = &pair.ordinary.entrant.spec;
        Some(remark(format!(
            "{spec}: {times:.2} times the rate with {share:.0} % of its memory in huge pages."
        )))
    };
    pairs.iter().filter_map(finding).collect()
}
