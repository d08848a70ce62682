//! Lookups as instructions of eBPF, to be part of any program.

use crate::Shape;
use crate::asm::{Alu, Assembler, If, Label, R0, R1, R2, R3, R4, R5, Register, Width};
use crate::layout::{
    LOW, LOW_BITS, LineForm, PAGE, ROOT_BITS_4, ROOT_BITS_6, STARTS, STEPS_4, STEPS_6,
    STRIDE_SHIFT, UNIT_SHIFT, WORDS,
};

/// Emits the lookup of an IPv4 address: r0 becomes the value of its longest match, or 0.
///
/// `base`, one of r6 to r9, points to the version: `asm.map_value(base, map, 0)` for a map that stays, or the result of
/// `emit_version` for one that is replaced. r1 is the address, a number of 32 bits in the host's order. r1 to r5 are lost.
///
/// ```
/// use longmatch_bpf::asm::{Assembler, R1, R6};
/// use longmatch_bpf::{Shape, emit_lookup4};
/// let mut asm = Assembler::default();
/// asm.map_value(R6, 3, 0); // the map with descriptor 3
/// asm.set(R1, 0x0a00_0001);
/// emit_lookup4(&mut asm, Shape::new(1, 1, 1 << 20)?, 0, R6);
/// asm.exit();
/// assert!(asm.finish()?.len() < 512);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If the shape has no table of this number.
pub fn emit_lookup4(asm: &mut Assembler, shape: Shape, table: u32, base: Register) {
    assert!(table < shape.tables(), "there is no table {table}");
    asm.alu_32(Alu::Move, R0, R1);
    asm.alu_32_immediate(Alu::ShiftRight, R0, 32 - ROOT_BITS_4 as i32);
    emit_root(asm, base, shape.roots(table)[0]);
    asm.alu_64_immediate(Alu::ShiftLeft, R1, 32 + ROOT_BITS_4 as i32);
    let mut search = Search { asm, shape, base, form: LineForm::V4, low: None };
    let done = search.asm.label();
    search.steps(STEPS_4, done);
    asm.place(done);
}

/// Emits the lookup of an IPv6 address: r0 becomes the value of its longest match, or 0.
///
/// r1 has the first 64 bits of the address and r2 the last, each a number in the host's order. Otherwise as
/// [`emit_lookup4`].
///
/// # Panics
/// If the shape has no table of this number.
pub fn emit_lookup6(asm: &mut Assembler, shape: Shape, table: u32, base: Register) {
    assert!(table < shape.tables(), "there is no table {table}");
    asm.copy(R0, R1);
    asm.alu_64_immediate(Alu::ShiftRight, R0, 64 - ROOT_BITS_6 as i32);
    emit_root(asm, base, shape.roots(table)[1]);
    asm.alu_64_immediate(Alu::ShiftLeft, R1, ROOT_BITS_6 as i32);
    let (done, low) = (asm.label(), asm.label());
    let mut search = Search { asm, shape, base, form: LineForm::V6, low: Some(low) };
    search.steps(STEPS_6, done);
    search.asm.place(low);
    search.low = None;
    search.asm.copy(R1, R2);
    search.asm.copy(R4, R1);
    search.asm.alu_64_immediate(Alu::ShiftRight, R4, 64 - LOW_BITS as i32);
    search.asm.alu_64_immediate(Alu::ShiftLeft, R1, LOW_BITS as i32);
    search.entry(Width::Four);
    search.steps(STEPS_6, done);
    asm.place(done);
}

/// r0 becomes the word of the root at `start` with the number r0.
fn emit_root(asm: &mut Assembler, base: Register, start: u32) {
    asm.alu_32_immediate(Alu::ShiftLeft, R0, 2);
    asm.copy(R3, base);
    asm.alu_64(Alu::Add, R3, R0);
    if start > 0 {
        asm.add(R3, start as i32);
    }
    asm.load(R0, R3, 0, Width::Four);
}

/// The emission of a search. r0 is the word, r1 the key, r2 the low half; r3 to r5 are free.
struct Search<'a> {
    asm: &'a mut Assembler,
    shape: Shape,
    base: Register,
    form: LineForm,
    /// Where words of low halves lead, if there may be some.
    low: Option<Label>,
}

impl Search<'_> {
    /// Emits the pages and lines, and a jump to `done` with the value in r0.
    fn steps(&mut self, steps: u32, done: Label) {
        for _ in 0..steps {
            self.step(done);
        }
        // Never: no search has more steps.
        self.asm.set(R0, 0);
        self.asm.jump(done);
    }

    fn step(&mut self, done: Label) {
        let [line, words, next] = [(); 3].map(|()| self.asm.label());
        self.asm.jump_if(R0, If::Less, PAGE as i32, line);
        self.asm.alu_32(Alu::Move, R3, R0);
        self.asm.alu_32_immediate(Alu::ShiftRight, R3, STRIDE_SHIFT as i32);
        self.asm.copy(R4, R1);
        self.asm.alu_64_immediate(Alu::ShiftRight, R4, 32);
        self.asm.alu_64(Alu::ShiftRight, R4, R3);
        self.asm.jump_if(R0, If::AnyBit, WORDS as i32, words);
        self.entry(self.value_width());
        self.asm.jump(done);
        self.asm.place(words);
        self.asm.set(R5, 32);
        self.asm.alu_64(Alu::Subtract, R5, R3);
        self.asm.alu_64(Alu::ShiftLeft, R1, R5);
        self.entry(Width::Four);
        self.asm.jump(next);
        self.asm.place(line);
        self.line(done);
        self.asm.place(next);
    }

    /// r0 becomes the entry with the number r4 of the page of the word r0.
    fn entry(&mut self, width: Width) {
        let bytes = bytes(width);
        self.asm.alu_32_immediate(Alu::ShiftLeft, R0, UNIT_SHIFT as i32);
        if bytes > 1 {
            self.asm.alu_32_immediate(Alu::ShiftLeft, R4, bytes.trailing_zeros() as i32);
        }
        self.asm.alu_32(Alu::Add, R0, R4);
        self.asm.alu_32_immediate(Alu::And, R0, (self.shape.capacity() - bytes) as i32);
        self.asm.copy(R3, self.base);
        self.asm.alu_64(Alu::Add, R3, R0);
        self.asm.load(R0, R3, 0, width);
    }

    /// r0 becomes the entry of the line of the word r0, and the program jumps to `done` if it is a value.
    fn line(&mut self, done: Label) {
        if let Some(low) = self.low {
            self.asm.jump_if(R0, If::AnyBit, LOW as i32, low);
        }
        let LineForm { start_bytes, shift } = self.form;
        let width = if start_bytes == 2 { Width::Two } else { Width::Eight };
        self.asm.alu_32(Alu::Move, R4, R0);
        self.asm.alu_32_immediate(Alu::ShiftLeft, R4, UNIT_SHIFT as i32);
        self.asm.alu_32_immediate(Alu::And, R4, (self.shape.capacity() - 8) as i32);
        self.asm.copy(R3, self.base);
        self.asm.alu_64(Alu::Add, R3, R4);
        self.asm.set(R5, 0);
        // A start less key + 1 is negative if the start is not greater than the key: no branch that could be mispredicted.
        self.asm.alu_64_immediate(Alu::ShiftRight, R1, shift as i32);
        self.asm.add(R1, 1);
        for start in 0..STARTS as i16 {
            self.asm.load(R4, R3, start * start_bytes as i16, width);
            self.asm.alu_64(Alu::Subtract, R4, R1);
            self.asm.alu_64_immediate(Alu::ShiftRight, R4, 63);
            self.asm.alu_64(Alu::Add, R5, R4);
        }
        self.asm.add(R1, -1);
        self.asm.alu_64_immediate(Alu::ShiftLeft, R1, shift as i32);
        let words = self.asm.label();
        self.asm.jump_if(R0, If::AnyBit, WORDS as i32, words);
        self.line_entry(self.value_width());
        self.asm.jump(done);
        self.asm.place(words);
        self.line_entry(Width::Four);
    }

    /// r0 becomes the entry with the number r5 of the line at r3.
    fn line_entry(&mut self, width: Width) {
        if width != Width::One {
            self.asm.alu_64_immediate(Alu::ShiftLeft, R5, bytes(width).trailing_zeros() as i32);
        }
        self.asm.alu_64(Alu::Add, R3, R5);
        self.asm.load(R0, R3, self.form.entries() as i16, width);
    }

    fn value_width(&self) -> Width {
        match self.shape.value_bytes() {
            1 => Width::One,
            2 => Width::Two,
            _ => Width::Four,
        }
    }
}

fn bytes(width: Width) -> u32 {
    match width {
        Width::One => 1,
        Width::Two => 2,
        Width::Four => 4,
        Width::Eight => 8,
    }
}
