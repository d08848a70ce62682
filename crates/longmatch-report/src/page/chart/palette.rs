//! Which colour and which mark a series has.

/// The hues, as the style sheet names them, of engines and of peers. Those that share one do the
/// same thing, and are told apart as variants of an engine are.
const KNOWN: [(&str, &str); 22] = [
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
    ("pytricia", "sand"),
    ("auto", "limit"),
];

/// Hues for all others, in the order in which they appear in a chart.
const OTHERS: [&str; 10] =
    ["poptrie", "dxr", "dir24", "spider", "sail", "folio", "tree", "wine", "teal", "sand"];

/// Steps of lightness that variants of an engine are spread over; the hue itself is the middle.
const LEVELS: usize = 7;

/// Shapes of marks.
pub(super) const SHAPES: usize = 8;

/// How a series looks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Look {
    /// Its hue and lightness, as classes of the style sheet.
    pub class: String,
    /// The shape of its marks, less than [`SHAPES`].
    pub shape: usize,
}

/// The looks of the series of a chart. The hue comes from the name's first word alone where that
/// is an engine's; lightness and mark tell its variants apart.
#[derive(Debug, Default)]
pub(super) struct Palette {
    looks: Vec<(String, Look)>,
}

impl Palette {
    /// Of a chart with these series; a name may come more than once.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut distinct: Vec<&str> = Vec::new();
        for name in names {
            if !distinct.contains(&name) {
                distinct.push(name);
            }
        }
        let hue_of = |word: &str| KNOWN.iter().find(|(name, _)| *name == word).map(|(_, hue)| *hue);
        // What has a hue together, in its order: engines by their hue, others by their first word.
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

    /// The look of a series.
    ///
    /// # Panics
    /// When the chart was said not to have it.
    pub fn look(&self, name: &str) -> &Look {
        let found = self.looks.iter().find(|(known, _)| known == name);
        &found.expect("the palette was made of all names of the chart").1
    }
}

/// The engine of a series: `poptrie` of `poptrie s=18` and of `poptrie:s=18`.
fn first_word(name: &str) -> &str {
    let end = name.find(|c: char| c.is_whitespace() || ":,(".contains(c)).unwrap_or(name.len());
    &name[..end]
}

/// The lightness of a variant among so many: few stay near the hue itself.
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
    fn what_shares_a_hue_differs_as_variants_do() {
        let palette = Palette::new(["rte_lpm", "rte_fib", "bart"].into_iter());
        let classes = ["rte_lpm", "rte_fib", "bart"].map(|name| palette.look(name).class.clone());
        assert_eq!(classes, ["c-rte v2", "c-rte v5", "c-teal v3"]);
    }

    #[test]
    fn others_do_not_take_the_hue_of_an_engine_that_is_there() {
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
