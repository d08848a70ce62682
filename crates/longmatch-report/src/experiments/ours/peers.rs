//! Other people's implementations beside ours.

use core::time::Duration;

use crate::compare::{Comparison, Trial, compare};
use crate::desk::{Desk, Entrant, Field, Measured};
use crate::experiment::{Absence, Experiment};
use crate::experiments::engines::entrant;
use crate::inputs::{Effort, Inputs, Named};
use crate::model::{Cell, Condition, Figure, Finding};
use crate::show::{column, condition, number, of, ratio, remark};
use longmatch_bench::BenchFamily;
use longmatch_bench::Mode;
use longmatch_bench::Traffic;
use longmatch_bench::pin;
use longmatch_bench::{known_peers, peer_directory_name};

pub(super) const PEERS: Experiment = Experiment {
    name: "peers",
    aliases: &[],
    source: "ours",
    title: "Other implementations",
    about: "Programs of other people, each in a process of its own and asked through a small \
            protocol: the same table, the same keys, answers checked in the same way, passes in \
            turn with ours.",
    peers: true,
    seconds,
    run,
};

/// Keys of each traffic: some peers need a hundred bytes for one.
const KEYS: usize = 1 << 20;
/// Answers of each that are checked: some peers take ten microseconds for one.
const CHECKED: usize = 1 << 17;
/// How long a peer has for each answer; the slowest needs a minute to build a full table.
const FULL_LIMIT: Duration = Duration::from_secs(180);
const QUICK_LIMIT: Duration = Duration::from_secs(10);
const ENGINES: [(&str, &str); 5] =
    [("folio", ""), ("poptrie:s=18", ""), ("dir24_8", ""), ("tree_bitmap", ""), ("radix", "")];

fn seconds(inputs: &Inputs, effort: &Effort) -> f64 {
    let families = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
    let (engines, peers) = (ENGINES.len() as f64, inputs.peers.commands.len() as f64);
    let kinds = if effort.full { 4.0 } else { 2.0 };
    let check = effort.checked.min(CHECKED) as f64 * 4e-6;
    families as f64
        * (kinds * ((engines + peers) * (effort.seconds * 1.4 + 0.1) + peers * check)
            + peers * 3.0
            + 1.0)
}

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let inputs = desk.inputs;
    let mut figures = Vec::new();
    if let Some(named) = inputs.ipv4().first() {
        figures.push(figure(desk, *named));
    }
    if let Some(named) = inputs.ipv6().first() {
        figures.push(figure(desk, *named));
    }
    Ok(figures)
}

/// Starts all peers that have the family, on the CPU on which everything is measured; what they say
/// that they are.
fn enter<F: BenchFamily>(desk: &Desk<'_>, field: &mut Field<'_, F>) -> Vec<Condition> {
    let peers = &desk.inputs.peers;
    let of_family = |name: &str| {
        let known = known_peers().iter().find(|peer| peer.name == name);
        known.is_none_or(|peer| peer.families.contains(&F::NAME))
    };
    let limit = if desk.effort.full { FULL_LIMIT } else { QUICK_LIMIT };
    let mut abouts = Vec::new();
    pin::to(0);
    let commands = peers.commands.iter().enumerate();
    for (i, command) in commands.filter(|(_, it)| of_family(&it.name)) {
        let dir = peers.scratch.join(peer_directory_name(i, F::NAME));
        let about = field.enter_peer(command, &dir, limit);
        abouts.extend(about.map(|about| condition(&command.name, about)));
    }
    pin::free();
    for (name, how) in peers.missing.iter().filter(|(name, _)| of_family(name)) {
        field.leave_out(Entrant::new(&name[..], ""), how.clone());
    }
    abouts
}

fn figure<F: BenchFamily>(desk: &mut Desk<'_>, named: Named<'_, F>) -> Figure {
    let id = format!("peers-{}-{}", F::NAME, named.name);
    let mut field = Field::new(named, &ENGINES.map(entrant));
    let abouts = enter(desk, &mut field);
    desk.step(1.0 + 3.0 * desk.inputs.peers.commands.len() as f64);
    let (keys, checked) = (KEYS.min(desk.effort.keys), CHECKED.min(desk.effort.checked));
    let few = Effort { keys, checked, ..desk.effort };
    let usual = std::mem::replace(&mut desk.effort, few);
    let traffics =
        if usual.full { &[Traffic::Routed, Traffic::Random][..] } else { &[Traffic::Routed] };
    let trials: Vec<_> = traffics
        .iter()
        .flat_map(|traffic| {
            [(Mode::One, "one by one"), (Mode::Batch, "batch of 256")]
                .map(|(mode, how)| (traffic, mode, format!("{traffic}, {how}")))
        })
        .map(|(traffic, mode, name)| Trial::new(name, traffic.clone(), desk.setup(mode)))
        .collect();
    let all = compare(desk, &id, &mut field, &trials);
    desk.effort = usual;
    let mut conditions = all.conditions.clone();
    conditions.extend(abouts);
    let mut table = all.table();
    table.columns.push(column("built in", "ms"));
    for (row, spec) in table.rows.iter_mut().zip(names(&all)) {
        let built = all
            .trials
            .iter()
            .find_map(|(_, measured)| of(measured, &spec).and_then(Measured::record));
        row.push(built.map_or(Cell::Empty, |record| number(Some(record.build_ms), 0)));
    }
    Figure {
        title: format!("Ours and others, {}, {}", named.name, F::NAME),
        caption: "One thread, an array of 1,048,576 keys for everyone (a megabyte or four stay in \
                  the caches, for everyone alike). Peers are called as their users call them and \
                  what their language costs is in the rate. Memory and the time of building are \
                  what a peer says of itself, where it does."
            .into(),
        conditions,
        chart: Some(all.chart()),
        table,
        findings: findings(&all),
        id,
    }
}

fn names(all: &Comparison) -> Vec<String> {
    let first = all.trials.first().map_or(&[][..], |(_, measured)| measured);
    first.iter().map(|it| it.entrant.spec.clone()).collect()
}

/// The fastest peer beside the fastest of ours, under each traffic in each mode.
fn findings(all: &Comparison) -> Vec<Finding> {
    let is_ours = |it: &Measured| ENGINES.iter().any(|(spec, _)| *spec == it.entrant.spec);
    let best = |measured: &[Measured], ours: bool| {
        let rated = measured.iter().filter(|it| is_ours(it) == ours);
        let rated = rated.filter_map(|it| Some((it.rate()?, it.entrant.spec.clone())));
        rated.max_by(|(a, _), (b, _)| a.total_cmp(b))
    };
    let finding = |(name, measured): &(String, Vec<Measured>)| {
        let ((ours, own), (theirs, peer)) = (best(measured, true)?, best(measured, false)?);
        let times = ratio(Some(ours), Some(theirs))?;
        Some(remark(format!(
            "{name}: the fastest peer is {peer} with {theirs:.1} Mlps; {own} has {ours:.0}, \
             {times:.1} times as many."
        )))
    };
    let mut findings: Vec<_> = all.trials.iter().filter_map(finding).collect();
    if findings.is_empty() {
        findings.push(remark("No peer was there to be measured."));
    }
    findings
}
