//! The description of an engine.

/// An engine's entry in the registry, without its builder.
///
/// Documents, help, reports and tests read it, so that a new engine needs no line in any of them.
#[derive(Debug)]
pub struct Descriptor {
    /// Name of the algorithm, as its authors write it.
    pub title: &'static str,
    /// Years of the papers, as text; empty where there is no paper.
    pub year: &'static str,
    /// The structure, in a few words.
    pub summary: &'static str,
    /// Colours of its series in charts, on light and on dark ground.
    pub hue: [&'static str; 2],
    /// Place in the order of `auto`, which never chooses an engine without one.
    pub order: Option<u8>,
    /// Whether a lookup takes time in proportion to the table.
    pub oracle: bool,
    /// Whether compiling and checking takes long for any table.
    pub slow: bool,
    /// Options of variants with wider limits than the default, narrowest first.
    pub wider: &'static [&'static str],
    /// Options of further variants that the test suites compile: of both families, of IPv4 and of
    /// IPv6 alone.
    pub variants: [&'static [&'static str]; 3],
    /// Its rows in comparisons, at least one.
    pub forms: &'static [Form],
}

/// An engine, or a variant of it, in a comparison of all engines.
#[derive(Debug)]
pub struct Form {
    /// The variant's options, after the engine's name; empty for the engine itself.
    pub name: &'static str,
    /// Authors, place and year of the paper, or the origin of an engine without one.
    pub paper: &'static str,
    /// `both`, `IPv4` or `IPv6`.
    pub families: &'static str,
    /// Reads of memory that a lookup makes.
    pub reads: &'static str,
    /// The parts of the structure.
    pub structure: &'static str,
    /// The words that a change under readers writes; empty if the engine is compiled again.
    pub changes: &'static str,
    /// The limit of a table, and the result beyond it; empty if there is no limit.
    pub limit: [&'static str; 2],
}

impl Descriptor {
    /// An engine without properties, from which others differ.
    pub const NEW: Self = Self {
        title: "",
        year: "",
        summary: "",
        hue: ["#6d7278", "#9aa0a8"],
        order: None,
        oracle: false,
        slow: false,
        wider: &[],
        variants: [&[]; 3],
        forms: &[],
    };

    /// Whether a change is made in place, under readers.
    #[must_use]
    pub fn is_patched(&self) -> bool {
        self.forms.iter().any(|form| !form.changes.is_empty())
    }
}

impl Form {
    /// The one form of an engine for both families without a paper.
    pub const NEW: Self = Self {
        name: "",
        paper: "none: our own",
        families: "both",
        reads: "",
        structure: "",
        changes: "",
        limit: [""; 2],
    };
}
