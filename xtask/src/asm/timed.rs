//! The rule for the timed loops of the benchmarks: every lookup in them is inlined.
//!
//! A lookup that a loop calls is compiled for the baseline, whatever the level of the loop. The rule covers the loops
//! of single lookups at every level above the portable one, for every engine that the benchmarks compile, and the
//! iterations of Spider.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::function::Function;
use super::name;

/// The levels, in the names of the functions that are compiled for them.
const LEVELS: [&str; 3] = ["scalar", "avx2", "avx512"];
/// The loops at a level: one by one and dependent, each with and without stores of answers; ticks.
const LOOPS: usize = 5;
/// The type around the loops of single lookups.
const SINGLE: &str = "Single<";
/// Spider's iterations with generated keys, in vectors.
const ITERATE: &str = "spider::batch::avx2::iterate<";

/// Part of the name of the function that a loop may call: the next block of keys.
const MAY_CALL: &str = "KeyBlocks<";

/// Engines that count bits, and the lowest level at which they do. Folio's lines of IPv6 count the bits of a comparison.
const COUNT_BITS: [(&str, &str); 3] =
    [("Poptrie<", "scalar"), ("TreeBitmap<", "scalar"), ("Folio6", "avx2")];

/// Returns what breaks the rule, one line each.
pub fn faults(functions: &HashMap<String, Function>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut loops: BTreeMap<String, BTreeSet<(&str, String)>> = BTreeMap::new();
    let mut iterations = 0;
    for (symbol, function) in functions {
        let name = name::readable(symbol);
        let single = single(&name);
        if single.is_none() && !name.starts_with(ITERATE) {
            continue;
        }
        let callees = function.symbols.iter().filter(|callee| functions.contains_key(*callee));
        let callees =
            callees.chain(function.called_in_loops()).map(|callee| name::readable(callee));
        let callees = callees.filter(|callee| !callee.contains(MAY_CALL));
        faults.extend(callees.map(|callee| format!("{name} calls {callee}")));
        let Some((level, engine, work)) = single else {
            iterations += 1;
            continue;
        };
        let counts = COUNT_BITS.iter().find(|(counts, _)| engine.starts_with(counts));
        let position = |level| LEVELS.iter().position(|it| *it == level);
        if counts.is_some_and(|(_, lowest)| position(level) >= position(lowest))
            && !function.counts_bits_in_a_loop()
        {
            faults.push(format!("{name} counts bits without the instruction for it"));
        }
        loops.entry(engine.to_owned()).or_default().insert((level, work));
    }
    for (engine, loops) in &loops {
        let all = LEVELS.len() * LOOPS;
        if loops.len() != all {
            faults.push(format!("{engine} has {} of {all} timed loops", loops.len()));
        }
    }
    for (engine, _) in COUNT_BITS {
        if !loops.keys().any(|found| found.starts_with(engine)) {
            faults.push(format!("{engine}...> has no timed loop"));
        }
    }
    if iterations == 0 {
        faults.push(format!("{ITERATE}...> is not found"));
    }
    faults.sort();
    faults.dedup();
    faults
}

/// Returns the level, the engine and the loop that a function of single lookups is compiled for.
fn single(name: &str) -> Option<(&'static str, &str, String)> {
    let level =
        LEVELS.into_iter().find(|level| name.starts_with(&format!("simd::run_{level}<")))?;
    let arguments = &name[name.find(SINGLE)? + SINGLE.len()..];
    let [work, _, engine] = arguments_of(arguments)[..] else { return None };
    Some((level, engine, work.replace(engine, "_")))
}

/// Splits the generic arguments up to the bracket that closes them.
fn arguments_of(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut arguments) = (0, 0, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            ',' | '>' if depth == 0 => {
                arguments.push(text[start..i].trim());
                start = i + 1;
                if c == '>' {
                    break;
                }
            }
            _ => {}
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::super::function;
    use super::*;

    /// Assembly text of all timed loops of three engines, whose bodies are these instructions; of the loop one by one
    /// of Poptrie at AVX2 other ones.
    fn text(body: &str, other: &str) -> String {
        let mut text = String::new();
        let mut add = |name: &str, body: &str| {
            text += &format!(
                "\t.type\t{name},@function\n{name}:\n.L:\n{body}\n\tjne\t.L\n\tretq\n.Lfunc_end0:\n"
            );
        };
        for (level, engine) in LEVELS.iter().flat_map(|level| {
            ["Poptrie<Ipv4>", "TreeBitmap<Ipv4, u8>", "Folio6"].map(|engine| (level, engine))
        }) {
            let kinds = ["false, false", "false, true", "true, false", "true, true"];
            let works = kinds.map(|kind| format!("OneByOne<Ipv4, {engine}, {kind}>"));
            for work in works.iter().chain([&format!("Ticks<Ipv4, {engine}>")]) {
                let name =
                    format!("longmatch::simd::run_{level}::<Single<{work}, Ipv4, {engine}>>");
                let is_other = *level == "avx2" && name.contains("Poptrie<Ipv4>, false, false");
                add(&name, if is_other { other } else { body });
            }
        }
        add("longmatch::engine::spider::batch::avx2::iterate::<Ipv4, u32, 2>", body);
        for callee in ["call_once", "longmatch_bench::key_stream::KeyBlocks<Ipv4>>::next"] {
            add(callee, "\tnop");
        }
        text
    }

    const SOUND: &str =
        "\tpopcntq\t%rax, %rcx\n\tcallq\tlongmatch_bench::key_stream::KeyBlocks<Ipv4>>::next";

    fn faults_of(text: &str) -> Vec<String> {
        faults(&function::parse(text))
    }

    #[test]
    fn inlined_lookups_follow_the_rule() {
        assert_eq!(faults_of(&text(SOUND, SOUND)), [] as [&str; 0]);
    }

    /// The lookup is passed as an item, so that the loop calls it.
    #[test]
    fn a_called_lookup_breaks_the_rule() {
        for call in
            ["\tcallq\tcall_once", "\tcallq\tmemcpy", "\tmovq\tcall_once, %r13\n\tcallq\t*%r13"]
        {
            let found = faults_of(&text(SOUND, &format!("{SOUND}\n{call}")));
            assert!(found.len() == 1 && found[0].contains(" calls "), "{found:?}");
        }
        let found = faults_of(&text(&format!("{SOUND}\n\tcallq\tcall_once"), SOUND));
        assert_eq!(found.len(), 3 * 3 * 5 - 1 + 1, "{found:?}");
    }

    #[test]
    fn bits_are_counted_by_their_instruction() {
        let found = faults_of(&text(SOUND, "\timulq\t%rax, %rcx\n\tshrq\t$56, %rcx"));
        assert!(found.len() == 1 && found[0].ends_with("for it"), "{found:?}");
        assert_eq!(faults_of(&text(SOUND, "\tvpopcntd\t%zmm1, %zmm2")), [] as [&str; 0]);
    }

    #[test]
    fn no_loop_may_be_missing() {
        let all = text(SOUND, SOUND);
        let found = faults_of(&all.replace("run_avx512::<Single<Ticks<Ipv4, Poptrie", "x<"));
        assert_eq!(found, ["Poptrie<Ipv4> has 14 of 15 timed loops"]);
        assert_eq!(faults_of("").len(), COUNT_BITS.len() + 1);
    }

    /// The mutant that passes the item of the lookup fails here.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    #[test]
    #[ignore = "compiles the benchmarks for minutes; run by `cargo xtask mutants`"]
    fn the_benchmarks_follow_the_rule() {
        let host = super::super::Compiler::find().expect("a compiler").host;
        let functions = super::super::compile(&host).expect("the benchmarks compile");
        assert_eq!(faults(&functions), [] as [&str; 0]);
    }
}
