//! Every experiment carried out once on small tables: what is no rate
//! is compared with what was counted by hand.

mod poptrie;

use longmatch::{Ipv4, Ipv6, NextHopId, Rib};

use super::desk::Desk;
use super::experiment::{Absence, Experiment};
use super::inputs::{Effort, Inputs, Subject};
use super::model::{Cell, Chart, Figure, Row};
use crate::testing::{table4, table6};
use crate::traffic::Destinations;

fn inputs(ipv4: Rib<Ipv4>, ipv6: Rib<Ipv6>) -> Inputs {
    let tables = vec![Subject { name: "small".into(), ipv4, ipv6 }];
    Inputs { tables, ..Inputs::default() }
}

/// Carries an experiment out as fast as can be, and sees that its figures can be shown.
fn carry_out(name: &str, inputs: &Inputs) -> Result<(Vec<Figure>, Vec<Row>), Absence> {
    let experiment = Experiment::named(name).expect("an experiment");
    let mut steps = Vec::new();
    let mut on_step = |done| steps.push(done);
    let mut desk = Desk::new(inputs, Effort::TEST, experiment.name, &mut on_step);
    let figures = (experiment.run)(&mut desk)?;
    let rows = desk.into_rows();
    assert!(!steps.is_empty() && steps.is_sorted(), "{name} goes backwards");
    let estimate = (experiment.seconds)(inputs, &Effort::TEST);
    assert!(estimate > 0.0, "{name}: {estimate}");
    assert_sound(&figures, &rows);
    Ok((figures, rows))
}

fn assert_sound(figures: &[Figure], rows: &[Row]) {
    let mut ids: Vec<_> = figures.iter().map(|it| &it.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), figures.len(), "anchors are unlike");
    for Figure { id, table, caption, conditions, .. } in figures {
        assert!(!table.rows.is_empty() && !caption.is_empty() && !conditions.is_empty(), "{id}");
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{id}");
        for cell in table.rows.iter().flatten() {
            let sound = match cell {
                Cell::Number(value, _) => value.is_finite(),
                Cell::Spread(value, [low, high], _) => low <= value && value <= high,
                _ => true,
            };
            assert!(sound, "{id}: {cell:?}");
        }
    }
    assert!(!rows.is_empty());
    for row in rows {
        assert!(ids.iter().any(|id| **id == row.figure), "{row:?}");
        assert!(row.value.is_some() == row.refused.is_empty(), "{row:?}");
        assert_eq!(row.paper.is_some(), !row.paper_of.is_empty(), "{row:?}");
    }
}

fn small(name: &str) -> (Vec<Figure>, Vec<Row>) {
    carry_out(name, &inputs(table4(), table6())).expect("small tables will do")
}

/// The values of rows of a family.
fn values(rows: &[Row], family: &str, engine: &str, metric: &str) -> Vec<f64> {
    let is = |row: &&Row| row.family == family && row.engine == engine && row.metric == metric;
    rows.iter().filter(is).map(|row| row.value.expect("a value")).collect()
}

fn findings(figures: &[Figure]) -> Vec<&str> {
    figures.iter().flat_map(|it| &it.findings).map(|it| &it.text[..]).collect()
}

/// Of 2^16 chunks four have more than one range: 0.0/16 and 10.1/16 have 2, 255.255/16 has 4 and
/// 192.0/16 has 6. All but that of 10.1.255.255/32 has its ranges at multiples of 256, or not:
/// 192.0/16 is at 2.0, 2.64, 2.128, 3.0 and 4.0, so no chunk is short.
#[test]
fn dxr_chunks() {
    let (figures, rows) = small("dxr-chunks");
    assert_eq!(figures.len(), 2);
    let share = |at: &str| rows.iter().find(|row| row.at == at).unwrap().value.unwrap();
    assert_eq!(share("k=16 fragments=1") * 65_536.0, 65_532.0);
    assert_eq!(share("k=16 fragments=2") * 65_536.0, 2.0);
    assert_eq!(share("k=16 fragments=3-4") * 65_536.0, 1.0);
    assert_eq!(share("k=16 fragments=5-8") * 65_536.0, 1.0);
    let paper = rows.iter().find(|row| row.at == "k=20 fragments=9-16").unwrap();
    assert_eq!(paper.paper, Some(0.00494));
    let of = |metric| values(&rows, "ipv4", "dxr:d=16", metric);
    assert_eq!(of("direct table"), [4.0 * 65_536.0]);
    assert_eq!(of("longest chunk"), [6.0]);
    assert_eq!(of("physical long chunks"), [4.0]);
    assert_eq!(of("physical long fragments"), [14.0]);
    assert_eq!(of("physical short chunks"), [0.0]);
    assert_eq!(of("range table"), [4.0 * 14.0]);
    assert_eq!(of("bytes a prefix"), [(4.0 * 65_536.0 + 56.0) / 12.0]);
    assert_eq!(of("resolved directly"), [100.0 * 65_532.0 / 65_536.0]);
    assert_eq!(values(&rows, "ipv4", "dxr:d=22", "direct table"), [4.0 * (1 << 22) as f64]);
}

/// DXR with K = 16 has no room for so many next hops in any form that leaves K as it is; with K = 18
/// it has.
#[test]
fn wider_variants_leave_options_as_they_are() {
    let (figures, rows) = carry_out("dxr-throughput", &inputs(many(), Rib::new())).unwrap();
    let engines: Vec<_> = rows.iter().map(|row| &row.engine[..]).collect();
    assert!(engines.contains(&"dxr:d=18:hops=k"), "{engines:?}");
    assert!(engines.iter().all(|it| it.matches("d=").count() < 2), "{engines:?}");
    let refused = |it: &&Row| it.engine == "dxr:d=16" && it.refused.contains("next-hop");
    assert_eq!(rows.iter().filter(refused).count(), 3);
    assert_eq!(figures.len(), 1);
}

/// 70,000 routes with as many next hops.
fn many() -> Rib<Ipv4> {
    let mut rib = Rib::new();
    for i in 0..70_000u32 {
        let prefix = longmatch::Prefix::from_bits_masked(i << 8, 24);
        rib.insert(prefix, NextHopId::new(i + 1).unwrap()).unwrap();
    }
    rib
}

/// More next hops than 16 bits say: DXR's own form refuses, one with K bits of next hop does not.
#[test]
fn dxr_refusals_are_shown() {
    let (figures, rows) = carry_out("dxr-chunks", &inputs(many(), Rib::new())).unwrap();
    let specs: Vec<_> = figures[1].table.columns.iter().map(|it| &it.name[..]).collect();
    assert!(specs.contains(&"dxr:d=18:hops=k"), "{specs:?}");
    let refused = "dxr:d=18 refuses this table: ";
    assert!(findings(&figures).iter().any(|it| it.starts_with(refused)));
    assert!(values(&rows, "ipv4", "dxr:d=18", "direct table").is_empty());
    assert_eq!(values(&rows, "ipv4", "dxr:d=18:hops=k", "direct table"), [1_048_576.0]);
}

#[test]
fn dxr_throughput() {
    let (figures, rows) = small("dxr-throughput");
    assert_eq!((figures.len(), figures[0].table.rows.len()), (1, 24));
    let modes = |test: &str| {
        let rows = rows.iter().filter(|row| row.at == test);
        let mut seen: Vec<_> = rows.map(|row| (&row.mode[..], &row.traffic[..])).collect();
        seen.dedup();
        seen
    };
    assert_eq!(modes("test=SEQ"), [("dependent", "random")]);
    assert_eq!(modes("test=RND"), [("one", "random")]);
    assert_eq!(modes("test=REP"), [("one", "repeated-8")]);
    let d20 = rows.iter().filter(|row| row.engine == "dxr:d=20").map(|row| row.paper);
    assert!(d20.eq([Some(79.3), Some(273.3), Some(465.2)]));
}

/// DIR-24-8 has 2^24 entries, and groups of 256 below 0.0.0, 10.1.255, 192.0.2, 255.255.255. DXR
/// has 2^18 entries; its chunks of 14 bits, by the routes' places in them: 0.0.0.0/32 2 ranges,
/// 10.1.192.0/18 2, 192.0.0.0/18 6, 255.255.192.0/18 4. Spider has a row of 256 for EoL, 2^16
/// entries, and a row for each octet: 0.0 2, 10.1 2, 192.0 2, 255.255 2.
#[test]
fn spider_memory() {
    let (figures, rows) = small("spider-table1");
    assert_eq!(figures.len(), 1);
    let bytes = |engine| values(&rows, "ipv4", engine, "memory")[0] * (1 << 20) as f64;
    assert_eq!(bytes("dir24_8"), 2.0 * ((1 << 24) + 4 * 256) as f64);
    assert_eq!(bytes("dir24_8:entry=32"), 4.0 * ((1 << 24) + 4 * 256) as f64);
    assert_eq!(bytes("dxr:d=18"), 4.0 * ((1 << 18) + 14) as f64);
    assert_eq!(bytes("spider:lanes=16"), 4.0 * (256 + (1 << 16) + 8 * 256) as f64);
    let row = rows.iter().find(|row| row.engine == "spider:lanes=16").unwrap();
    assert_eq!(row.paper, Some(9.32));
}

#[test]
fn spider_parallelism() {
    let (figures, rows) = small("spider-fig6");
    assert_eq!(figures.len(), 2, "both families");
    assert_eq!(values(&rows, "ipv4", "spider:lanes=7", "rate").len(), 1);
    let Some(Chart::Lines(lines)) = &figures[1].chart else { panic!("no lines") };
    let spider = lines.series.iter().find(|it| it.name == "spider").unwrap();
    assert!(spider.points.iter().map(|it| it.x).eq((1..=16).map(f64::from)));
    let dashed = lines.series.iter().filter(|it| it.dashed).map(|it| &it.name[..]);
    let poptries = ["poptrie:s=18", "poptrie:s=16"];
    let others = ["dir24_8:entry=32", "spider:lanes=16, paper"];
    assert!(dashed.eq(["folio"].into_iter().chain(poptries).chain(others)));
    let modes = |family: &str, mode: &str| {
        rows.iter().filter(|row| row.family == family && row.mode == mode).count()
    };
    assert_eq!((modes("ipv4", "batch"), modes("ipv4", "one")), (17, 5));
    assert_eq!((modes("ipv6", "batch"), modes("ipv6", "one")), (17, 3));
    let traffic = |family: &str| &rows.iter().find(|row| row.family == family).unwrap().traffic;
    assert_eq!((&traffic("ipv4")[..], &traffic("ipv6")[..]), ("random", "spider-random"));
}

/// The trace has IPv4 destinations only.
#[test]
fn spider_comparison() {
    let mut with_trace = inputs(table4(), table6());
    let addresses = ["10.0.0.1", "192.0.2.1", "8.8.8.8"].map(|it| it.parse().unwrap());
    with_trace.trace = Some(std::sync::Arc::new(Destinations::new("packets", addresses)));
    let (figures, rows) = carry_out("spider-fig9", &with_trace).unwrap();
    let without = "NO TRACE of this family";
    let [four, six] = [&figures[0], &figures[1]];
    assert!(!four.caption.contains(without) && six.caption.contains(without));
    let ways = |engine: &str, family: &str| {
        let rows = rows.iter().filter(|row| row.engine == engine && row.family == family);
        rows.map(|row| format!("{} {}", row.traffic, row.mode)).collect::<Vec<_>>()
    };
    let wanted = ["random one", "random batch", "packets one", "packets batch"];
    assert_eq!(ways("dir24_8", "ipv4"), wanted);
    assert_eq!(ways("spider:lanes=16", "ipv4"), ["random batch", "packets batch"]);
    assert_eq!(ways("folio", "ipv6"), ["spider-random batch", "zipf batch"]);
    let Some(Chart::Bars(bars)) = &four.chart else { panic!("no bars") };
    assert!(bars.groups.iter().all(|group| group.bars.len() == 9));
    assert_eq!(bars.groups.len(), 4);
}

#[test]
fn spider_cores() {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let (figures, rows) = small("spider-fig12");
    assert_eq!(figures.len(), 2);
    assert_eq!(rows.iter().map(|row| row.threads).max(), Some(cpus as u64));
    let first = rows.iter().find(|row| row.engine == "spider:lanes=16").unwrap();
    assert_eq!((first.threads, first.paper), (1, Some(318.0)));
    if cpus == 1 {
        assert!(findings(&figures)[0].contains("nothing to compare"));
    }
}

/// 12 routes of IPv4 become 3, 12 and 48, 9 of IPv6 become 2 (9 / 4 rounded), 9 and 36. The radix
/// tree of the table itself is counted in `memory`.
#[test]
fn growth() {
    let (figures, rows) = small("growth");
    assert_eq!(figures.len(), 4);
    let routes = |family: &str| {
        let is = |row: &&Row| row.family == family && row.engine == "radix" && row.metric == "rate";
        rows.iter().filter(is).map(|row| (row.at.clone(), row.routes)).collect::<Vec<_>>()
    };
    let wanted = |sizes: [u64; 3]| {
        let at = ["size=0.25", "size=1", "size=4"].map(str::to_owned);
        at.into_iter().zip(sizes).collect::<Vec<_>>()
    };
    assert_eq!(routes("ipv4"), wanted([3, 12, 48]));
    assert_eq!(routes("ipv6"), wanted([2, 9, 36]));
    let bytes = values(&rows, "ipv4", "dir24_8", "bytes");
    assert_eq!(bytes[1], 2.0 * ((1 << 24) + 4 * 256) as f64);
}

/// table6 has a route for all of 2000::/3, so that only IPv4 has misses; with a default route
/// nothing has.
#[test]
fn misses() {
    let (figures, rows) = small("misses");
    assert_eq!(figures.len(), 1);
    let of = |it: &&Row| it.engine == "radix";
    let seen: Vec<_> = rows.iter().filter(of).map(|row| (&row.at[..], &row.traffic[..])).collect();
    let wanted = ["0", "50", "100"].map(|it| (format!("missing={it}"), format!("missing-{it}")));
    assert!(seen.iter().zip(&wanted).all(|(a, b)| *a == (&b.0[..], &b.1[..])), "{seen:?}");
    let mut rib = table4();
    rib.insert(longmatch::Prefix::DEFAULT, NextHopId::new(1).unwrap()).unwrap();
    assert!(carry_out("misses", &inputs(rib, table6())).is_err());
}

#[test]
fn batch_sizes() {
    let (figures, rows) = small("batch-size");
    assert_eq!(figures.len(), 2);
    let of = |it: &&Row| it.engine == "folio" && it.family == "ipv6";
    let sizes = rows.iter().filter(of).map(|row| row.batch);
    assert!(sizes.eq([1, 8, 32, 128, 512, 4096]));
}

/// Larger sizes than the table has are left out once it is there whole.
#[test]
fn small_tables() {
    let (figures, rows) = small("small-tables");
    assert_eq!(figures.len(), 2);
    let of = |it: &&Row| it.engine == "radix" && it.family == "ipv4" && it.metric == "bytes";
    assert!(rows.iter().filter(of).map(|row| row.routes).eq([10, 12]));
    let of = |it: &&Row| it.engine == "radix" && it.family == "ipv6" && it.metric == "rate";
    assert!(rows.iter().filter(of).map(|row| &row.mode[..]).eq(["one", "batch"]));
    assert!(findings(&figures).iter().any(|it| it.starts_with("12 routes, one by one: ")));
}

/// A radix tree of 0.0.0.0/32 alone has a root and 32 nodes below it, of 12 bytes.
#[test]
fn memory() {
    let mut rib = Rib::new();
    rib.insert("0.0.0.0/32".parse().unwrap(), NextHopId::new(1).unwrap()).unwrap();
    let (_, rows) = carry_out("memory", &inputs(rib, Rib::new())).unwrap();
    let whole = |engine: &str| *values(&rows, "ipv4", engine, "bytes").last().unwrap();
    assert_eq!(whole("radix"), 12.0 * 33.0);
    assert_eq!(whole("dir24_8"), 2.0 * ((1 << 24) + 256) as f64);
    assert_eq!(whole("dxr"), 4.0 * ((1 << 18) + 2) as f64);
    assert_eq!(whole("spider"), 4.0 * (256 + (1 << 16) + 2 * 256) as f64);
    let (figures, rows) = small("memory");
    assert_eq!(figures.len(), 2);
    let engines = |family: &str| {
        let rows = rows.iter().filter(|row| row.family == family && row.routes >= 9);
        rows.map(|row| &row.engine[..]).collect::<Vec<_>>()
    };
    let six = ["radix", "dir24_8", "tree_bitmap", "dxr", "poptrie", "spider", "folio"];
    assert_eq!(engines("ipv6"), six);
    assert!(engines("ipv4").contains(&"sail"));
}

/// Where there are huge pages, DIR-24-8's 32 MiB lie in them in one of the two.
#[test]
fn huge_pages() {
    match carry_out("huge-pages", &inputs(table4(), table6())) {
        Err(Absence(why)) => assert!(why.contains("huge pages"), "{why}"),
        Ok((figures, rows)) => {
            assert_eq!(figures.len(), 2);
            let of = |mark: &str, metric: &str| {
                let is = |row: &&Row| {
                    row.engine == "dir24_8"
                        && row.family == "ipv4"
                        && row.at == mark
                        && row.metric == metric
                };
                rows.iter().find(is).and_then(|row| row.value).unwrap()
            };
            assert!(of("pages=huge", "large blocks") >= (32 << 20) as f64);
            assert!(of("pages=huge", "huge pages") > of("pages=ordinary", "huge pages"));
            assert!(of("pages=ordinary", "rate") > 0.0 && of("pages=huge", "rate") > 0.0);
        }
    }
}
