//! The listing of loops: its text format, and the comparison with the golden file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::function::LoopCounts;
use super::instruction::InstructionCounts;

/// Tolerated difference between two compilers in the instructions of a function's loops, in percent of the smaller
/// number.
const TOLERANCE: usize = 15;

/// The loops of all kernels, compiled by one compiler.
#[derive(Debug, PartialEq, Eq)]
pub struct Listing {
    /// Its version and target.
    pub compiler: String,
    /// The loops by kernel (a line in the table of kernels) and function.
    pub functions: BTreeMap<(String, String), Vec<LoopCounts>>,
}

const HEAD: &str = "\
# The loops of the kernels, counted in their machine code. `cargo xtask asm` compares, `cargo xtask asm --bless` rewrites.
# Loop 1.2 is the second one inside loop 1; its instructions are not counted in loop 1 again. instr: instructions.
# load, store: those that read or write memory, gathers and prefetches aside. stack: those that use the stack.
# call: calls that come back. panic: branches to a panic.
";

/// Prefix of the line with the compiler's version.
const COMPILER: &str = "# compiler: ";

impl Listing {
    /// Returns the text of a golden file, which [`Listing::parse`] reads.
    pub fn render(&self) -> String {
        let mut text = format!("{HEAD}{COMPILER}{}\n", self.compiler);
        let names = InstructionCounts::NAMES.map(|name| format!("{name:>9}")).concat();
        let mut last = "";
        for ((kernel, function), loops) in &self.functions {
            // Writing to a String cannot fail.
            if kernel != last {
                let _ = writeln!(text, "\n#   loop  {names}");
                last = kernel;
            }
            let _ = writeln!(text, "{kernel}: {function}\n{}", lines(' ', loops));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    /// Parses the text of [`Listing::render`].
    ///
    /// # Errors
    /// Names the first line that cannot be parsed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut compiler = String::new();
        let mut functions: Vec<(_, Vec<LoopCounts>)> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(version) = line.strip_prefix(COMPILER) {
                version.clone_into(&mut compiler);
            } else if !line.starts_with(['#', ' ']) {
                let name = line.split_once(": ").ok_or_else(|| format!("no function: {line}"))?;
                functions.push(((name.0.to_owned(), name.1.to_owned()), Vec::new()));
            } else if line.starts_with(' ') {
                let found = parse_line(line).ok_or_else(|| format!("no loop: {line}"))?;
                let (_, loops) = functions.last_mut().ok_or("a loop before any function")?;
                loops.push(found);
            }
        }
        Ok(Self { compiler, functions: functions.into_iter().collect() })
    }

    /// Compares with the current listing; returns the lines of both for each function that differs.
    ///
    /// With the same compiler all counts must be equal. Another one may generate other loops of the same code; then
    /// only the gathers, calls and instructions of each function are compared, as sums.
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let same_compiler = self.compiler == now.compiler;
        let names: BTreeSet<_> = self.functions.keys().chain(now.functions.keys()).collect();
        let difference = |name: &(String, String)| {
            let (then, now) = (self.functions.get(name), now.functions.get(name));
            let fine = match (then, now) {
                _ if same_compiler => then == now,
                (Some(then), Some(now)) => is_close(&sum(then), &sum(now)),
                // The function is inlined or no longer inlined; if gathers moved with it, its caller differs too.
                (then, now) => then.or(now).is_none_or(|loops| sum(loops).gathers == 0),
            };
            let lines = |sign, loops: Option<&Vec<_>>| match loops {
                Some(loops) => lines(sign, loops),
                None => format!("{sign} nothing\n"),
            };
            let both =
                || format!("{}: {}\n{}{}", name.0, name.1, lines('-', then), lines('+', now));
            (!fine).then(both)
        };
        names.into_iter().filter_map(difference).collect()
    }
}

fn sum(loops: &[LoopCounts]) -> InstructionCounts {
    let mut sum = InstructionCounts::default();
    loops.iter().for_each(|found| sum += found.counts);
    sum
}

/// Returns whether the code of two compilers for a function is close enough.
fn is_close(then: &InstructionCounts, now: &InstructionCounts) -> bool {
    let less = then.instructions.min(now.instructions);
    let more = then.instructions.max(now.instructions);
    then.gathers == now.gathers
        && (then.calls > 0 || now.calls == 0)
        && 100 * more <= (100 + TOLERANCE) * less
}

/// Formats a line for each loop, after a sign.
fn lines(sign: char, loops: &[LoopCounts]) -> String {
    let line = |found: &LoopCounts| {
        let path: Vec<String> = found.path.iter().map(usize::to_string).collect();
        let columns = found.counts.columns().map(|count| format!("{count:>9}")).concat();
        format!("{sign}   {:<6}{columns}\n", path.join("."))
    };
    loops.iter().map(line).collect()
}

/// Parses one of the [`lines`].
fn parse_line(line: &str) -> Option<LoopCounts> {
    let mut words = line.split_whitespace();
    let path = words.next()?.split('.').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let columns: Option<Vec<usize>> = words.map(|count| count.parse().ok()).collect();
    let counts = InstructionCounts::from_columns(columns?.try_into().ok()?);
    Some(LoopCounts { path, counts })
}

#[cfg(test)]
mod tests {
    use super::*;

    const INNER: [usize; 8] = [90, 2, 3, 4, 5, 0, 7, 8];

    /// Returns a listing of one function with the loop 1, which contains loop 1.1 with these counts.
    fn listing(compiler: &str, inner: [usize; 8]) -> Listing {
        let found = |path: &[usize], columns| LoopCounts {
            path: path.to_vec(),
            counts: InstructionCounts::from_columns(columns),
        };
        let loops = vec![found(&[1], [10, 0, 1, 2, 3, 0, 5, 6]), found(&[1, 1], inner)];
        let name = ("engine_ipv4".to_owned(), "simd::run_avx2<Each<Ipv4, E>>".to_owned());
        Listing { compiler: compiler.to_owned(), functions: [(name, loops)].into() }
    }

    #[test]
    fn rendered_listings_can_be_parsed() {
        let listing = listing("rustc 1", INNER);
        assert_eq!(Listing::parse(&listing.render()).as_ref(), Ok(&listing));
        assert!(Listing::parse("engine: function\n    1  2 3").is_err());
        assert!(Listing::parse("engine function").is_err());
        assert!(Listing::parse("    1 1 2 3 4 5 6 7 8").is_err());
    }

    #[test]
    fn the_same_compiler_must_count_the_same() {
        let golden = listing("rustc 1", INNER);
        assert_eq!(golden.differences(&listing("rustc 1", INNER)), [] as [&str; 0]);
        for column in 0..INNER.len() {
            let mut more = INNER;
            more[column] += 1;
            let differences = golden.differences(&listing("rustc 1", more));
            assert_eq!(differences.len(), 1);
            let starts = ["engine_ipv4: ", "-   1 ", "-   1.1 ", "+   1 ", "+   1.1 "];
            let lines = differences[0].lines();
            assert!(lines.zip(starts).all(|(line, start)| line.starts_with(start)));
        }
    }

    #[test]
    fn the_same_compiler_makes_the_same_loops() {
        let golden = listing("rustc 1", INNER);
        let mut fewer = listing("rustc 1", INNER);
        fewer.functions.values_mut().for_each(|loops| loops.truncate(1));
        assert_eq!(golden.differences(&fewer).len(), 1);
        fewer.functions.clear();
        assert!(golden.differences(&fewer)[0].ends_with("\n+ nothing\n"));
        assert!(fewer.differences(&golden)[0].contains("\n- nothing\n"));
    }

    #[test]
    fn another_compiler_may_differ_a_little() {
        let golden = listing("rustc 1", INNER);
        // Sums include the ten instructions of the outer loop, which has neither gathers nor calls.
        let accepts = |inner| golden.differences(&listing("rustc 2", inner)).is_empty();
        assert!(accepts([105, 2, 30, 40, 50, 0, 70, 80]));
        assert!(accepts([77, 2, 3, 4, 5, 0, 7, 8]));
        assert!(!accepts([106, 2, 3, 4, 5, 0, 7, 8]));
        assert!(!accepts([76, 2, 3, 4, 5, 0, 7, 8]));
        assert!(!accepts([90, 3, 3, 4, 5, 0, 7, 8]));
        assert!(!accepts([90, 2, 3, 4, 5, 1, 7, 8]));
    }

    #[test]
    fn another_compiler_may_inline_functions_without_gathers() {
        let none = Listing { compiler: "rustc 2".to_owned(), functions: BTreeMap::new() };
        let mut scalar = INNER;
        scalar[1] = 0;
        let scalar = listing("rustc 1", scalar);
        assert_eq!(scalar.differences(&none), [] as [&str; 0]);
        assert_eq!(none.differences(&scalar), [] as [&str; 0]);
        assert_eq!(listing("rustc 1", INNER).differences(&none).len(), 1);
    }
}
