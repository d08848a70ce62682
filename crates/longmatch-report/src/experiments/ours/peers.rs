//! Implementations of others beside ours.

use core::time::Duration;

use longmatch_bench::{BenchFamily, Mode, known_peers, peer_directory_name, pin};

use super::common::{BATCH, ours};
use crate::context::{ExperimentContext, Place, anchor};
use crate::context::{OnTable, on_first};
use crate::declaration::{Absence, ChartKind, Figure, Rows, RunSpec, TrafficKind};
use crate::engine_set::{EngineSet, EngineUnderTest};
use crate::experiment::{Experiment, Work};
use crate::inputs::{Effort, Inputs, Named};

/// Keys of each traffic: some peers need a hundred bytes for a key.
const KEYS: usize = 1 << 20;
/// Answers of each engine that are checked: some peers take ten microseconds for an answer.
const CHECKED: usize = 1 << 17;
/// The time limit for an answer of a peer; the slowest peer builds a full table in a minute.
const FULL_LIMIT: Duration = Duration::from_secs(180);
const QUICK_LIMIT: Duration = Duration::from_secs(10);
const ENGINES: [&str; 5] = ["folio", "poptrie", "dir24_8", "tree_bitmap", "radix"];

const FIGURE: &str = "peers";

struct Peers;

pub(super) fn peers() -> Experiment {
    ours(
        FIGURE,
        "Other implementations",
        "Programs of others, each in its own process and called through a small protocol, with the same table, the \
         same keys and the same check of answers. Their passes alternate with ours.",
        Work::Own((|context| on_first(context, &Peers), seconds)),
        vec![Figure {
            id: FIGURE.into(),
            title: "Ours and others".into(),
            caption: "One thread, an array of 1,048,576 keys for every program. Peers are called as their users call \
                      them; the rate includes the cost of their language. Peers report their own memory and build \
                      time.".into(),
            chart: ChartKind::Bars("rate".into()),
            rows: Rows::Engines,
            words: Vec::new(),
        }],
    )
}

fn seconds(inputs: &Inputs, effort: &Effort) -> f64 {
    let families = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
    let peers = inputs.peers.commands.len();
    let check = effort.checked.min(CHECKED) as f64 * 4e-6;
    let kinds = 2.0;
    families as f64
        * (kinds * (effort.rates(ENGINES.len() + peers, false) + peers as f64 * check)
            + peers as f64 * 3.0
            + 1.0)
}

impl OnTable for Peers {
    fn on_table<F: BenchFamily>(
        &self,
        context: &mut ExperimentContext<'_>,
        named: Named<'_, F>,
    ) -> Result<(), Absence> {
        let mut set = EngineSet::new(named, &EngineUnderTest::unnamed(&ENGINES));
        start(context, &mut set);
        context.step(1.0 + 3.0 * context.inputs.peers.commands.len() as f64);
        let usual = context.effort;
        context.effort =
            Effort { keys: KEYS.min(usual.keys), checked: CHECKED.min(usual.checked), ..usual };
        for (run, mode) in [("one by one", Mode::One), ("batches of 256", Mode::Batch)] {
            let config = RunSpec { mode, ..BATCH };
            let Some(traffic) = context.traffic(TrafficKind::Routed) else { continue };
            let Some(workload) = context.workload(&set, &traffic) else { continue };
            let setup = context.setup(&config);
            let place = Place { figure: FIGURE, run, ..Place::default() };
            for it in context.measure(place, &set, &workload, &setup) {
                let Some(record) = it.record().filter(|_| mode == Mode::One) else { continue };
                let place = Place { run: "", ..place };
                context.count(place, named, &it.engine.spec, ("built in", "ms"), record.build_ms);
            }
        }
        context.effort = usual;
        Ok(())
    }
}

/// Starts all peers that have the family, on the CPU of the measurements.
fn start<F: BenchFamily>(context: &mut ExperimentContext<'_>, set: &mut EngineSet<'_, F>) {
    let peers = &context.inputs.peers;
    let of_family = |name: &str| {
        let known = known_peers().iter().find(|peer| peer.name == name);
        known.is_none_or(|peer| peer.families.contains(&F::NAME))
    };
    let limit = if context.effort.full { FULL_LIMIT } else { QUICK_LIMIT };
    let anchor = anchor::<F>(FIGURE, set.table);
    pin::to(0);
    for (i, command) in peers.commands.iter().enumerate().filter(|(_, it)| of_family(&it.name)) {
        let dir = peers.scratch.join(peer_directory_name(i, F::NAME));
        if let Some(about) = set.add_peer(command, &dir, limit) {
            context.condition(&anchor, &command.name, about);
        }
    }
    pin::free();
    for (name, how) in peers.missing.iter().filter(|(name, _)| of_family(name)) {
        set.members.push((EngineUnderTest::new(&name[..], ""), Err(how.clone())));
    }
}
