//! Colours and marks of series.

use longmatch::EngineKind;

use crate::view::{distinct, grouped};

/// Hues of the style sheet with their peers. Engines have their own, by their names.
///
/// Implementations of one algorithm share a hue, and differ as variants of an engine do.
const HUES: [(&str, &[&str]); 8] = [
    ("poptrie", &["poptrie-crate"]),
    ("radix", &["py-radix"]),
    ("limit", &["limit", "paper", "auto"]),
    ("rte", &["rte_lpm", "rte_fib", "rte_fib6"]),
    ("wine", &["prefix-trie", "linux-route"]),
    ("leaf", &["ip_network_table"]),
    ("teal", &["bart", "bart-fast", "ts_bart"]),
    ("sand", &["pytricia", "linux-lpm-trie"]),
];

/// Hues for other series, in the order of their appearance in a chart.
const OTHERS: [&str; 10] =
    ["poptrie", "dxr", "dir24_8", "spider", "sail", "folio", "tree_bitmap", "wine", "teal", "sand"];

/// Returns the style sheet's part with the engines' colours, from their descriptors.
pub(in crate::page) fn engine_colours() -> String {
    let engines = EngineKind::ALL.map(|kind| (kind, kind.descriptor().map(|it| it.hue)));
    let colours = |ground: usize| -> String {
        let colour = |(kind, hue): &(EngineKind, Option<[&str; 2]>)| {
            hue.map_or_else(String::new, |hue| format!(" --{kind}: {};", hue[ground]))
        };
        engines.iter().map(colour).collect()
    };
    let classes = engines.map(|(kind, _)| format!(".c-{kind} {{ --c: var(--{kind}); }}\n"));
    format!(
        ":root {{{} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{{} }} }}\n{}",
        colours(0),
        colours(1),
        classes.concat()
    )
}

/// Returns the hue of a word that names an engine or a peer.
fn hue_of(word: &str) -> Option<&str> {
    let peers = HUES.iter().find(|it| it.1.contains(&word)).map(|it| it.0);
    let engine = EngineKind::ALL.iter().any(|kind| kind.name() == word);
    if engine { Some(word) } else { peers }
}

/// Number of lightness levels for variants of an engine; the middle one is the hue itself.
const LEVELS: usize = 7;

/// Number of shapes of marks.
pub(super) const SHAPES: usize = 8;

/// The colour and the mark of a series.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Look {
    /// Hue and lightness, as classes of the style sheet.
    pub class: String,
    /// The shape of the marks, less than [`SHAPES`].
    pub shape: usize,
}

/// The looks of the series of a chart.
///
/// The first word of a name determines the hue; lightness and mark distinguish variants.
#[derive(Debug)]
pub(super) struct Palette(Vec<(String, Look)>);

impl Palette {
    /// Creates the palette of a chart with these series; names may repeat.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        // Series that share a hue: engines by their hue, others by their first word.
        let kinds = grouped(distinct(names), |name| {
            let word = first_word(name);
            hue_of(word).unwrap_or(word)
        });
        let taken = |hue: &&str| kinds.iter().any(|(kind, _)| kind == hue);
        let free: Vec<&str> = OTHERS.into_iter().filter(|hue| !taken(hue)).collect();
        let mut others = free.into_iter().chain(OTHERS).cycle();
        let mut looks = Vec::new();
        for (kind, variants) in &kinds {
            let known = hue_of(kind).is_some() || HUES.iter().any(|(hue, _)| hue == kind);
            let hue = if known { kind } else { others.next().unwrap_or("limit") };
            for (at, name) in variants.iter().enumerate() {
                let class = format!("c-{hue} v{}", level(at, variants.len()));
                looks.push(((*name).to_owned(), Look { class, shape: looks.len() % SHAPES }));
            }
        }
        Self(looks)
    }

    /// Returns the look of a series.
    ///
    /// # Panics
    /// If the palette was created without the name.
    pub fn look(&self, name: &str) -> &Look {
        let found = self.0.iter().find(|(known, _)| known == name);
        &found.expect("the palette has all names of the chart").1
    }
}

/// Returns the engine of a series: `poptrie` of `poptrie s=18` and of `poptrie:s=18`.
fn first_word(name: &str) -> &str {
    let end = name.find(|c: char| c.is_whitespace() || ":,(".contains(c)).unwrap_or(name.len());
    &name[..end]
}

/// Returns the lightness level of variant `at` of `of`; few variants stay close to the hue.
fn level(at: usize, of: usize) -> usize {
    match of {
        1 => LEVELS / 2,
        2 => [2, 5][at],
        3 => [1, 3, 5][at],
        of => (at * (LEVELS - 1) + (of - 1) / 2) / (of - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(names: &[&str]) -> Vec<String> {
        let palette = Palette::new(names.iter().copied());
        names.iter().map(|name| palette.look(name).class.clone()).collect()
    }

    #[test]
    fn hues_and_lightness_distinguish_series() {
        for (names, wanted) in [
            // An engine has its hue in every chart.
            (&["folio", "poptrie s=18"][..], &["c-folio v3", "c-poptrie v3"][..]),
            (&["poptrie:s=18", "dxr d=18", "bart"], &["c-poptrie v3", "c-dxr v3", "c-teal v3"]),
            // Engines that share a hue differ as variants do.
            (&["rte_lpm", "rte_fib", "bart"], &["c-rte v2", "c-rte v5", "c-teal v3"]),
            // Others do not take the hue of a shown engine.
            (&["basic", "poptrie s=18"], &["c-dxr v3", "c-poptrie v3"]),
            // Others get hues in their order.
            (
                &["basic", "leafvec", "basic", "folio", "K = 16"],
                &["c-poptrie v3", "c-dxr v3", "c-poptrie v3", "c-folio v3", "c-dir24_8 v3"],
            ),
        ] {
            assert_eq!(classes(names), wanted);
        }
    }

    #[test]
    fn variants_differ_in_lightness_and_mark() {
        let names: Vec<String> = (16..=22).map(|k| format!("dxr d={k}")).collect();
        let palette = Palette::new(names.iter().map(String::as_str));
        for (at, name) in names.iter().enumerate() {
            assert_eq!(*palette.look(name), Look { class: format!("c-dxr v{at}"), shape: at });
        }
        assert_eq!((level(0, 2), level(1, 2), level(1, 3), level(11, 12)), (2, 5, 3, 6));
    }

    #[test]
    fn names_without_words_and_many_names_have_looks() {
        let names: Vec<String> = (0..40).map(|at| format!("engine{at}")).collect();
        let palette = Palette::new(names.iter().map(String::as_str).chain(["", " x"]));
        assert_ne!(palette.look("engine0"), palette.look("engine1"));
        assert!(palette.look("").class.starts_with("c-"));
    }
}
