//! Parses assembly files into functions, and counts the loops of a function.

use std::collections::{BTreeSet, HashMap};

use super::instruction::{self, Flow, InstructionCounts};
use super::loops;

/// A function: its instructions in basic blocks.
#[derive(Debug)]
pub struct Function {
    /// The symbols that it names, including all that it calls.
    pub symbols: BTreeSet<String>,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    counts: InstructionCounts,
    /// The symbols that it calls.
    calls: Vec<String>,
    /// Whether it counts bits with the instruction for it.
    counts_bits: bool,
    /// The possible successor blocks.
    next: Vec<usize>,
    /// Whether it ends in a panic.
    panics: bool,
}

/// A loop of a function.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoopCounts {
    /// Its number among its siblings, after those of the loops around it: 1, 2 is the second loop inside the first.
    pub path: Vec<usize>,
    /// Counts of its own blocks, without inner loops.
    pub counts: InstructionCounts,
}

/// Returns the functions of an assembly file for ELF, by their symbols.
pub fn parse(text: &str) -> HashMap<String, Function> {
    let mut declared = BTreeSet::new();
    let mut bodies: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut tables = JumpTables::new();
    let (mut in_body, mut table) = (false, None);
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let label = line.strip_suffix(':');
        if let Some(label) = label {
            table = label.starts_with(".LJTI").then_some(label);
            in_body &= !label.starts_with(".Lfunc_end");
        }
        if let Some(symbol) = label.filter(|label| declared.contains(label)) {
            bodies.push((symbol, Vec::new()));
            in_body = true;
        } else if let Some(declaration) = line.strip_prefix(".type") {
            declared.extend(declaration.trim().strip_suffix(",@function"));
        } else if let (Some(table), Some(offset)) = (table, line.strip_prefix(".long")) {
            // The entry is the distance of a label from the table.
            let label = offset.trim().split('-').next().unwrap_or_default();
            tables.entry(table).or_default().push(label);
        } else if in_body && !line.is_empty() && (label.is_some() || !line.starts_with('.')) {
            bodies.last_mut().expect("in a body there is one").1.push(line);
        }
    }
    let built = |(symbol, body): (&str, Vec<&str>)| (symbol.to_owned(), build(&body, &tables));
    bodies.into_iter().map(built).collect()
}

/// The target labels of jump tables, by the label of the table.
type JumpTables<'a> = HashMap<&'a str, Vec<&'a str>>;

/// A block as parsed, before labels are resolved.
#[derive(Default)]
struct Draft<'a> {
    counts: InstructionCounts,
    calls: Vec<String>,
    counts_bits: bool,
    /// The control flow at its end, unless the next label ends it.
    end: Option<Flow<'a>>,
}

/// Splits the lines of a function, labels and instructions, into blocks.
fn build(lines: &[&str], tables: &JumpTables<'_>) -> Function {
    let frame = lines.iter().any(|line| line.split_whitespace().eq(["movq", "%rsp,", "%rbp"]));
    let mut drafts: Vec<Draft<'_>> = vec![Draft::default()];
    let mut labels = HashMap::new();
    let mut symbols = BTreeSet::new();
    for line in lines {
        let label = line.strip_suffix(':');
        let last = &drafts[drafts.len() - 1];
        if last.end.is_some() || label.is_some() && last.counts.instructions > 0 {
            drafts.push(Draft::default());
        }
        let number = drafts.len() - 1;
        if let Some(label) = label {
            labels.insert(label, number);
            continue;
        }
        symbols.extend(instruction::symbols(line).map(str::to_owned));
        let draft = &mut drafts[number];
        draft.counts += instruction::count(line, frame);
        draft.counts_bits |= line.starts_with("popcnt") || line.starts_with("vpopcnt");
        match instruction::flow(line) {
            Flow::Next => {}
            // What a register holds is among the symbols of the function.
            Flow::Call(target) if target.starts_with('%') => {}
            Flow::Call(target) => draft.calls.push(target.to_owned()),
            end => draft.end = Some(end),
        }
    }
    let listed = symbols.iter().filter_map(|symbol| tables.get(symbol.as_str())).flatten();
    let cases: Vec<usize> = listed.filter_map(|label| labels.get(label)).copied().collect();
    let count = drafts.len();
    let finish = |(i, draft): (usize, Draft<'_>)| {
        let following = (i + 1 < count).then_some(i + 1).into_iter();
        let target = |label| labels.get(label).copied();
        let next: BTreeSet<usize> = match draft.end {
            None => following.collect(),
            Some(Flow::Branch(label)) => following.chain(target(label)).collect(),
            Some(Flow::Jump(label)) => target(label).into_iter().collect(),
            Some(Flow::Indirect) => cases.iter().copied().collect(),
            Some(_) => BTreeSet::new(),
        };
        let panics = draft.end == Some(Flow::Panic);
        let Draft { counts, calls, counts_bits, .. } = draft;
        Block { counts, calls, counts_bits, next: next.into_iter().collect(), panics }
    };
    Function { symbols, blocks: drafts.into_iter().enumerate().map(finish).collect() }
}

impl Function {
    fn found_loops(&self) -> Vec<loops::Loop> {
        let next: Vec<Vec<usize>> = self.blocks.iter().map(|block| block.next.clone()).collect();
        loops::find(&next)
    }

    fn blocks_in_loops(&self) -> impl Iterator<Item = &Block> {
        self.found_loops().into_iter().flat_map(|found| found.own).map(|block| &self.blocks[block])
    }

    /// Returns the symbols that its loops call by name.
    pub fn called_in_loops(&self) -> impl Iterator<Item = &String> {
        self.blocks_in_loops().flat_map(|block| &block.calls)
    }

    /// Returns whether a loop counts bits with the instruction for it.
    pub fn counts_bits_in_a_loop(&self) -> bool {
        self.blocks_in_loops().any(|block| block.counts_bits)
    }

    /// Returns its loops with their counts.
    pub fn loops(&self) -> Vec<LoopCounts> {
        let counted = |found: loops::Loop| {
            let mut counts = InstructionCounts::default();
            for block in &found.own {
                counts += self.blocks[*block].counts;
                counts.panics += self.panics_after(*block);
            }
            LoopCounts { path: found.path, counts }
        };
        self.found_loops().into_iter().map(counted).collect()
    }

    /// Counts the ways (0, 1 or 2) of the branch at the end of a block that lead only to a panic.
    fn panics_after(&self, block: usize) -> usize {
        self.blocks[block].next.iter().filter(|next| self.only_panics(**next)).count()
    }

    /// Returns whether a block leads to a panic without a branch.
    fn only_panics(&self, mut block: usize) -> bool {
        for _ in 0..self.blocks.len() {
            match self.blocks[block].next.as_slice() {
                [] => return self.blocks[block].panics,
                [next] => block = *next,
                _ => return false,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two functions: one with a loop that calls, checks a bound and has a rare block at its end, one with a loop that
    /// uses a jump table.
    const FILE: &str = "\
\t.section\t.text.first,\"ax\",@progbits
\t.type\tfirst,@function
first:
\t.cfi_startproc
\ttestq\t%rdx, %rdx
\tje\t.LBB0_5
\tvmovdqa64\t.LCPI0_0(%rip), %zmm1
\t.p2align\t4
.LBB0_2:
\tcmpq\t%rcx, %rax
\tjae\t.LBB0_6
\tvpgatherdd\t(%r14,%zmm7,4), %zmm6 {%k1}
\ttestl\t%ebx, %ebx
\tjne\t.LBB0_7
.LBB0_4:
\tvmovdqu64\t%zmm6, (%r10)
\tincq\t%rax
\tcallq\t*memcpy@GOTPCREL(%rip)
\tmovq\t8(%rsp), %rdx
\tdecq\t%rdx
\tjne\t.LBB0_2
.LBB0_5:
\tretq
.LBB0_6:
\tleaq\t.Lanon.1(%rip), %rdx
\tcallq\t*_RNvNtCs1_4core9panicking18panic_bounds_check@GOTPCREL(%rip)
.LBB0_7:
\tprefetcht0\t(%r14,%r10,2)
\tjmp\t.LBB0_4
.Lfunc_end0:
\t.size\tfirst, .Lfunc_end0-first
\t.cfi_endproc

\t.type\tsecond,@function
second:
\tleaq\t.LJTI1_0(%rip), %rcx
.LBB1_1:
\tmovslq\t(%rcx,%rax,4), %rdx
\taddq\t%rcx, %rdx
\tjmpq\t*%rdx
.LBB1_2:
\tincl\t(%rdi)
\tjmp\t.LBB1_1
.LBB1_3:
\tjmp\tfirst
.Lfunc_end1:
\t.section\t.rodata.second,\"a\",@progbits
.LJTI1_0:
\t.long\t.LBB1_2-.LJTI1_0
\t.long\t.LBB1_3-.LJTI1_0
";

    #[test]
    fn a_loop_is_counted_with_its_rare_block() {
        let functions = parse(FILE);
        let counts = InstructionCounts {
            instructions: 13,
            gathers: 1,
            loads: 1,
            stores: 1,
            prefetches: 1,
            calls: 1,
            stack: 1,
            panics: 1,
        };
        assert_eq!(functions["first"].loops(), [LoopCounts { path: vec![1], counts }]);
    }

    #[test]
    fn a_table_of_labels_is_followed() {
        let functions = parse(FILE);
        let loops = functions["second"].loops();
        assert_eq!(loops.len(), 1);
        assert_eq!(loops[0].counts.columns(), [5, 0, 2, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn called_functions_are_named() {
        let functions = parse(FILE);
        assert_eq!(functions.len(), 2);
        assert!(functions["second"].symbols.contains("first"));
        assert!(functions["first"].symbols.contains("memcpy"));
    }
}
