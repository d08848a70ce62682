//! Classifies one line of x86-64 assembly (AT&T syntax, as the compiler writes it) for counting.

use std::ops::AddAssign;

/// Counts of a loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct InstructionCounts {
    pub instructions: usize,
    /// Vector loads from many addresses, not included in the loads.
    pub gathers: usize,
    /// Instructions that read memory, including constants and the stack.
    pub loads: usize,
    /// Instructions that write memory, including the stack.
    pub stores: usize,
    pub prefetches: usize,
    /// Calls that return.
    pub calls: usize,
    /// Instructions that access the stack: spilled registers, and arrays on the stack.
    pub stack: usize,
    /// Branches to a panic.
    pub panics: usize,
}

impl InstructionCounts {
    /// The names of [`InstructionCounts::columns`].
    pub const NAMES: [&str; 8] =
        ["instr", "gather", "load", "store", "prefetch", "call", "stack", "panic"];

    pub fn columns(&self) -> [usize; 8] {
        let Self { instructions, gathers, loads, stores, prefetches, calls, stack, panics } = *self;
        [instructions, gathers, loads, stores, prefetches, calls, stack, panics]
    }

    pub fn from_columns(columns: [usize; 8]) -> Self {
        let [instructions, gathers, loads, stores, prefetches, calls, stack, panics] = columns;
        Self { instructions, gathers, loads, stores, prefetches, calls, stack, panics }
    }
}

impl AddAssign for InstructionCounts {
    fn add_assign(&mut self, other: Self) {
        let (mut columns, others) = (self.columns(), other.columns());
        for (column, other) in columns.iter_mut().zip(others) {
            *column += other;
        }
        *self = Self::from_columns(columns);
    }
}

/// Control flow after an instruction.
#[derive(Debug, PartialEq, Eq)]
pub enum Flow<'a> {
    /// To the next instruction.
    Next,
    /// To the label, or to the next instruction.
    Branch(&'a str),
    /// To the label, or to another function.
    Jump(&'a str),
    /// To one of the labels of a jump table, or to a function known only at run time.
    Indirect,
    /// To the function, which returns here.
    Call(&'a str),
    /// Back to the caller.
    Return,
    /// A panic or a trap.
    Panic,
}

/// Parts of the names of functions that do not return.
const NO_RETURN: [&str; 7] = [
    "panic",
    "_fail",
    "handle_error",
    "alloc_error",
    "capacity_overflow",
    "abort",
    "_Unwind_Resume",
];

/// Returns the control flow after the instruction.
pub fn flow(instruction: &str) -> Flow<'_> {
    let (mnemonic, rest) = split(instruction);
    match mnemonic {
        "jmp" | "jmpq" if rest.starts_with('*') && !rest.contains("@GOTPCREL") => Flow::Indirect,
        "jmp" | "jmpq" => Flow::Jump(symbol(rest)),
        "ret" | "retq" => Flow::Return,
        "ud2" => Flow::Panic,
        "call" | "callq" if NO_RETURN.iter().any(|part| rest.contains(part)) => Flow::Panic,
        "call" | "callq" => Flow::Call(symbol(rest)),
        _ if mnemonic.starts_with('j') => Flow::Branch(rest),
        _ => Flow::Next,
    }
}

/// Returns the symbols and labels that the instruction names in any operand.
pub fn symbols(instruction: &str) -> impl Iterator<Item = &str> {
    let (_, rest) = split(instruction);
    operands(rest).map(symbol).filter(|name| name.starts_with(['_', '.']) || is_plain(name))
}

fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Returns the counts of the instruction; `frame` states whether %rbp points into the stack.
pub fn count(instruction: &str, frame: bool) -> InstructionCounts {
    let (mnemonic, rest) = split(instruction);
    let mut counts = InstructionCounts { instructions: 1, ..InstructionCounts::default() };
    if mnemonic.starts_with("nop") || mnemonic.starts_with("lea") {
        return counts;
    }
    let on_stack = |operand: &str| operand.contains("(%rsp") || frame && operand.contains("(%rbp");
    let saves = mnemonic.starts_with("push") || mnemonic.starts_with("pop");
    counts.stack = usize::from(saves || operands(rest).any(on_stack));
    if mnemonic.starts_with("prefetch") {
        counts.prefetches = 1;
    } else if mnemonic.starts_with("vpgather") || mnemonic.starts_with("vgather") {
        counts.gathers = 1;
    } else if matches!(flow(instruction), Flow::Call(_)) {
        counts.calls = 1;
    } else {
        let (reads, writes) = accesses(mnemonic, rest);
        (counts.loads, counts.stores) = (reads.into(), writes.into());
    }
    counts
}

/// Returns whether the instruction reads memory, and whether it writes memory. The last operand is the destination.
fn accesses(mnemonic: &str, rest: &str) -> (bool, bool) {
    let in_memory: Vec<bool> = operands(rest).map(is_memory).collect();
    let Some((destination, sources)) = in_memory.split_last() else { return (false, false) };
    if !destination || is_jump(mnemonic) {
        return (sources.contains(&true) || *destination, false);
    }
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| mnemonic.starts_with(prefix));
    let only_compares =
        starts(&["cmp", "test", "vptest", "vucomis", "vcomis", "push", "mul", "div", "idiv"])
            || matches!(mnemonic, "btw" | "btl" | "btq")
            || mnemonic.starts_with("imul") && sources.is_empty();
    if only_compares && !mnemonic.starts_with("cmpxchg") {
        return (true, false);
    }
    let only_writes = starts(&["mov", "vmov", "kmov", "vpmov", "set", "pop", "vextract", "vpextr"])
        || starts(&["pextr", "vpscatter", "vpcompress", "vst", "st"]);
    (sources.contains(&true) || !only_writes, true)
}

fn is_jump(mnemonic: &str) -> bool {
    mnemonic.starts_with('j')
}

fn is_memory(operand: &str) -> bool {
    operand.contains("(%") || operand.contains("(,")
}

/// Splits an instruction into the mnemonic without prefixes, and the operands.
fn split(instruction: &str) -> (&str, &str) {
    let (first, rest) = instruction.split_once(char::is_whitespace).unwrap_or((instruction, ""));
    let rest = rest.trim_start();
    match first {
        "lock" | "rep" | "repe" | "repne" | "notrack" | "data16" => split(rest),
        _ => (first, rest),
    }
}

/// Returns the operands, separated by commas outside parentheses.
fn operands(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let separator = move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    text.split(separator).map(str::trim).filter(|operand| !operand.is_empty())
}

/// Returns the symbol in an operand, without the star of an indirect call, its base register and its relocation.
fn symbol(operand: &str) -> &str {
    let name = operand.strip_prefix('*').unwrap_or(operand);
    let end = name.find(['@', '(', '+']).unwrap_or(name.len());
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(instruction: &str) -> [usize; 8] {
        count(instruction, false).columns()
    }

    #[test]
    fn memory_is_read_or_written() {
        assert_eq!(columns("movl (%r8,%r10,4), %r11d"), [1, 0, 1, 0, 0, 0, 0, 0]);
        assert_eq!(columns("movl %ebx, (%r9,%r10,4)"), [1, 0, 0, 1, 0, 0, 0, 0]);
        assert_eq!(columns("incq (%rax)"), [1, 0, 1, 1, 0, 0, 0, 0]);
        assert_eq!(columns("addl $1, (%rax)"), [1, 0, 1, 1, 0, 0, 0, 0]);
        assert_eq!(columns("lock cmpxchgq %rcx, (%rdi)"), [1, 0, 1, 1, 0, 0, 0, 0]);
        assert_eq!(columns("cmpl $5, (%rax)"), [1, 0, 1, 0, 0, 0, 0, 0]);
        assert_eq!(columns("vpaddd .LCPI3_1(%rip), %ymm0, %ymm1"), [1, 0, 1, 0, 0, 0, 0, 0]);
        assert_eq!(columns("vmovdqu64 %zmm6, (%r10) {%k1}"), [1, 0, 0, 1, 0, 0, 0, 0]);
        assert_eq!(columns("leaq 12(%r9), %r10"), [1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(columns("shrl %cl, %edx"), [1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn gathers_and_prefetches_are_no_loads() {
        let avx512 = "vpgatherdd (%r14,%zmm7,4), %zmm6 {%k1}";
        assert_eq!(columns(avx512), [1, 1, 0, 0, 0, 0, 0, 0]);
        let avx2 = "vpgatherdd %ymm1, (%rax,%ymm2,4), %ymm3";
        assert_eq!(columns(avx2), [1, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(columns("prefetcht0 (%r14,%r10,2)"), [1, 0, 0, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn stack_accesses_by_either_register_are_counted() {
        assert_eq!(columns("movq %rax, 8(%rsp)"), [1, 0, 0, 1, 0, 0, 1, 0]);
        assert_eq!(columns("vmovdqa64 64(%rsp,%rax), %zmm0"), [1, 0, 1, 0, 0, 0, 1, 0]);
        assert_eq!(columns("movq 8(%rbp), %rax"), [1, 0, 1, 0, 0, 0, 0, 0]);
        assert_eq!(count("movq 8(%rbp), %rax", true).stack, 1);
        assert_eq!(count("leaq 8(%rsp), %rax", true).stack, 0);
    }

    #[test]
    fn calls_return_unless_they_panic() {
        let get = "callq *memcpy@GOTPCREL(%rip)";
        assert_eq!(flow(get), Flow::Call("memcpy"));
        assert_eq!(columns(get), [1, 0, 0, 0, 0, 1, 0, 0]);
        assert_eq!(flow("callq *%r13"), Flow::Call("%r13"));
        let panics = "callq *_RNvNtCs1_4core9panicking18panic_bounds_check@GOTPCREL(%rip)";
        assert_eq!(flow(panics), Flow::Panic);
        assert_eq!(count(panics, false).calls, 0);
    }

    #[test]
    fn the_flow_follows_jumps() {
        assert_eq!(flow("jae .LBB3_1"), Flow::Branch(".LBB3_1"));
        assert_eq!(flow("jmp .LBB3_1"), Flow::Jump(".LBB3_1"));
        assert_eq!(flow("jmpq *%rax"), Flow::Indirect);
        assert_eq!(flow("jmpq *memcpy@GOTPCREL(%rip)"), Flow::Jump("memcpy"));
        assert_eq!(flow("retq"), Flow::Return);
        assert_eq!(flow("addq %rcx, %rax"), Flow::Next);
    }

    #[test]
    fn every_symbol_is_found() {
        let found = |instruction| symbols(instruction).collect::<Vec<_>>();
        assert_eq!(found("leaq .LJTI0_0(%rip), %rcx"), [".LJTI0_0"]);
        assert_eq!(found("movq _RNv1f@GOTPCREL(%rip), %rbx"), ["_RNv1f"]);
        assert_eq!(found("jmp kernel"), ["kernel"]);
        assert_eq!(found("addq $8, %rsp"), [] as [&str; 0]);
    }
}
