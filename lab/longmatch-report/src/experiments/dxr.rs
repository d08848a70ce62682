//! Chunks and memory: the page of DXR.

use core::hint::black_box;
use std::time::Instant;

use longmatch::engine::dxr::{
    Config, Dxr, Original, Single, Statistics, Wide, chunk_lengths, published_statistics,
};
use longmatch::{CompileError, Engine as _, Ipv4, Rib};
use longmatch_bench::Stats;

use crate::context::{ExperimentContext, FigureCell};
use crate::declaration::{CalledEngine, Skipped};
use crate::inputs::Named;

/// The row of D20R, counted as on the page.
const PUBLISHED: &str = "dxr:d=20, as the page counts";
/// Compilations of D20R for the median time.
const COMPILATIONS: usize = 3;

/// Classes of chunks by their number of ranges.
const BUCKETS: [&str; 10] =
    ["1", "2", "3-4", "5-8", "9-16", "17-32", "33-64", "65-128", "129-256", "more"];
/// The least K, and the number of them.
const MIN_K: u8 = 16;
const KS: u8 = 7;

const LENGTHS: &str = "dxr-lengths";
const RT_STAT: &str = "dxr-statistics";

/// Counts chunks, and the compiled structures.
pub(super) fn on_table(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, Ipv4>,
) -> Result<(), Skipped> {
    lengths(context, named);
    context.step(0.3);
    for k in MIN_K..MIN_K + KS {
        structure(context, named, k);
    }
    statistics(context, named, PUBLISHED, &published_statistics(named.rib, 20));
    context.step(0.9);
    Ok(())
}

fn lengths(context: &mut ExperimentContext<'_>, named: Named<'_, Ipv4>) {
    let mut longest = 0;
    for k in MIN_K..MIN_K + KS {
        let lengths = chunk_lengths(named.rib, k);
        longest = longest.max(lengths.longest);
        for (run, share) in BUCKETS.into_iter().zip(lengths.shares()) {
            let cell =
                FigureCell { figure: LENGTHS, run, x: Some(f64::from(k)), ..FigureCell::default() };
            context.count(cell, named, "", ("share of chunks", ""), share);
        }
    }
    let cell = FigureCell { figure: RT_STAT, ..FigureCell::default() };
    let mut hops: Vec<_> = named.rib.iter().map(|route| route.next_hop).collect();
    hops.sort_unstable();
    hops.dedup();
    let long = named.rib.iter().filter(|route| route.prefix.len() > 24).count();
    let beyond = long + hops.len().saturating_sub(256);
    context.count(cell, named, "", ("longest chunk of any K", ""), longest as f64);
    context.count(cell, named, "", ("beyond the formats of 2014", ""), beyond as f64);
}

/// Counts the narrowest variant with this K that holds the table; if the page's variant refuses, notes its reason.
fn structure(context: &mut ExperimentContext<'_>, named: Named<'_, Ipv4>, k: u8) {
    let plain = Config { d: k, ..Config::default() };
    let hops_k = Config { hops_k: true, ..plain };
    let original = |rib: &Rib<Ipv4>, config: &Config| {
        Ok(Dxr::<Original, Single>::compile(rib, config)?.statistics())
    };
    let wide = |rib: &Rib<Ipv4>, config: &Config| {
        Ok(Dxr::<Wide, Single>::compile(rib, config)?.statistics())
    };
    type Compile<'c> = &'c dyn Fn(&Rib<Ipv4>, &Config) -> Result<Statistics, CompileError>;
    let variants: [(&str, Compile<'_>, &Config); 4] = [
        ("", &original, &plain),
        (":hops=k", &original, &hops_k),
        (":wide", &wide, &plain),
        (":hops=k:wide", &wide, &hops_k),
    ];
    let cell = FigureCell { figure: RT_STAT, ..FigureCell::default() };
    for (option, compile, config) in variants {
        let spec = format!("dxr:d={k}{option}");
        match compile(named.rib, config) {
            Ok(own) => {
                statistics(context, named, &spec, &own);
                if k == 20 {
                    let times = (0..COMPILATIONS).map(|_| {
                        let started = Instant::now();
                        black_box(compile(named.rib, config).is_ok());
                        started.elapsed().as_secs_f64() * 1e3
                    });
                    let median = Stats::of(&times.collect::<Vec<_>>()).map_or(0.0, |it| it.median);
                    context.count(cell, named, &spec, ("update", "ms"), median);
                }
                return;
            }
            Err(error) if option.is_empty() => {
                let (engine, refused) = (CalledEngine::new(spec), Err(error.to_string()));
                context.quantity(cell, named, &engine, ("direct table", "B"), refused);
            }
            Err(_) => {}
        }
    }
}

fn statistics(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, Ipv4>,
    engine: &str,
    own: &Statistics,
) {
    let cell = FigureCell { figure: RT_STAT, ..FigureCell::default() };
    let mut note =
        |metric: &str, unit, value| context.count(cell, named, engine, (metric, unit), value);
    let [direct, range] = [own.direct_bytes, own.range_bytes].map(|it| it as f64);
    note("direct table", "B", direct);
    note("range table", "B", range);
    note("bytes a prefix", "", (direct + range) / named.rib.len().max(1) as f64);
    note("resolved directly", "%", 100.0 * own.resolved as f64 / 2f64.powi(own.k.into()));
    note("longest chunk", "", own.longest as f64);
    for (kind, it) in [("physical", &own.physical), ("aggregated", &own.aggregated)] {
        note(&format!("{kind} short chunks"), "", it.short_chunks as f64);
        note(&format!("{kind} long chunks"), "", it.long_chunks as f64);
        note(&format!("{kind} short fragments"), "", it.short_fragments as f64);
        note(&format!("{kind} long fragments"), "", it.long_fragments as f64);
    }
}
