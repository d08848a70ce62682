//! Colours and marks of series.

/// Engines and peers with their hues in the style sheet.
///
/// Implementations of one algorithm share a hue, and differ as variants of an engine do.
const KNOWN: [(&str, &str); 25] = [
    ("folio", "folio"),
    ("poptrie", "poptrie"),
    ("poptrie-crate", "poptrie"),
    ("dxr", "dxr"),
    ("dir24_8", "dir24"),
    ("spider", "spider"),
    ("sail", "sail"),
    ("tree_bitmap", "tree"),
    ("radix", "radix"),
    ("py-radix", "radix"),
    ("linear", "linear"),
    ("limit", "limit"),
    ("paper", "limit"),
    ("rte_lpm", "rte"),
    ("rte_fib", "rte"),
    ("rte_fib6", "rte"),
    ("prefix-trie", "wine"),
    ("ip_network_table", "leaf"),
    ("bart", "teal"),
    ("bart-fast", "teal"),
    ("ts_bart", "teal"),
    ("pytricia", "sand"),
    ("linux-lpm-trie", "sand"),
    ("linux-route", "wine"),
    ("auto", "limit"),
];

/// Hues for other series, in the order of their appearance in a chart.
const OTHERS: [&str; 10] =
    ["poptrie", "dxr", "dir24", "spider", "sail", "folio", "tree", "wine", "teal", "sand"];

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
#[derive(Debug, Default)]
pub(super) struct Palette {
    looks: Vec<(String, Look)>,
}

impl Palette {
    /// Creates the palette of a chart with these series; names may repeat.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut distinct: Vec<&str> = Vec::new();
        for name in names {
            if !distinct.contains(&name) {
                distinct.push(name);
            }
        }
        let hue_of = |word: &str| KNOWN.iter().find(|(name, _)| *name == word).map(|(_, hue)| *hue);
        // Series that share a hue: engines by their hue, others by their first word.
        let mut kinds: Vec<(&str, Vec<&str>)> = Vec::new();
        for name in distinct {
            let word = first_word(name);
            let kind = hue_of(word).unwrap_or(word);
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, variants)) => variants.push(name),
                None => kinds.push((kind, vec![name])),
            }
        }
        let taken = |hue: &str| kinds.iter().any(|(kind, _)| *kind == hue);
        let free: Vec<&str> = OTHERS.into_iter().filter(|hue| !taken(hue)).collect();
        let mut others = free.iter().copied().chain(OTHERS).cycle();
        let mut palette = Self::default();
        let mut shapes = (0..SHAPES).cycle();
        for (kind, variants) in &kinds {
            let known = KNOWN.iter().any(|(_, hue)| hue == kind);
            let hue = if known { kind } else { others.next().unwrap_or("limit") };
            for (at, name) in variants.iter().enumerate() {
                let class = format!("c-{hue} v{}", level(at, variants.len()));
                let look = Look { class, shape: shapes.next().unwrap_or(0) };
                palette.looks.push(((*name).to_owned(), look));
            }
        }
        palette
    }

    /// Returns the look of a series.
    ///
    /// # Panics
    /// If the palette was created without the name.
    pub fn look(&self, name: &str) -> &Look {
        let found = self.looks.iter().find(|(known, _)| known == name);
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

    #[test]
    fn an_engine_has_its_hue_in_every_chart() {
        for names in [&["folio", "poptrie s=18"][..], &["poptrie:s=18", "dxr d=18", "bart"]] {
            let palette = Palette::new(names.iter().copied());
            let name = names.iter().find(|name| name.starts_with("poptrie")).expect("one");
            assert_eq!(palette.look(name).class, "c-poptrie v3");
        }
    }

    #[test]
    fn variants_differ_in_lightness_and_mark() {
        let names: Vec<String> = (16..=22).map(|k| format!("dxr d={k}")).collect();
        let palette = Palette::new(names.iter().map(String::as_str));
        for (at, name) in names.iter().enumerate() {
            let look = palette.look(name);
            assert_eq!((look.class.as_str(), look.shape), (format!("c-dxr v{at}").as_str(), at));
        }
    }

    #[test]
    fn engines_that_share_a_hue_differ_as_variants_do() {
        let palette = Palette::new(["rte_lpm", "rte_fib", "bart"].into_iter());
        let classes = ["rte_lpm", "rte_fib", "bart"].map(|name| palette.look(name).class.clone());
        assert_eq!(classes, ["c-rte v2", "c-rte v5", "c-teal v3"]);
    }

    #[test]
    fn others_do_not_take_the_hue_of_a_shown_engine() {
        let palette = Palette::new(["basic", "poptrie s=18"].into_iter());
        assert_eq!(palette.look("basic").class, "c-dxr v3");
        assert_eq!(palette.look("poptrie s=18").class, "c-poptrie v3");
    }

    #[test]
    fn others_get_hues_in_their_order() {
        let palette = Palette::new(["basic", "leafvec", "basic", "folio", "K = 16"].into_iter());
        assert_eq!(palette.look("basic").class, "c-poptrie v3");
        assert_eq!(palette.look("leafvec").class, "c-dxr v3");
        assert_eq!(palette.look("K = 16").class, "c-dir24 v3");
        assert_eq!(palette.look("folio").class, "c-folio v3");
    }

    #[test]
    fn names_without_words_and_many_names_have_looks() {
        let names: Vec<String> = (0..40).map(|at| format!("engine{at}")).collect();
        let palette = Palette::new(names.iter().map(String::as_str).chain(["", " x"]));
        assert_ne!(palette.look("engine0"), palette.look("engine1"));
        assert!(palette.look("").class.starts_with("c-"));
        assert_eq!((level(0, 2), level(1, 2), level(1, 3), level(11, 12)), (2, 5, 3, 6));
    }
}
