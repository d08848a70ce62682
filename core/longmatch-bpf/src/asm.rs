//! An assembler for eBPF: instructions, and jumps to labels.
//!
//! Jumps lead forward only, so each program ends. The encoding is that of the kernel's
//! `Documentation/bpf/standardization/instruction-set.rst`.
//!
//! ```
//! use longmatch_bpf::asm::{Assembler, If, R0, R1, Width};
//!
//! // 1 for packets of 100 bytes and more, otherwise 2: `len` is the first field of the context of a tc program.
//! let mut asm = Assembler::default();
//! let short = asm.label();
//! asm.load(R1, R1, 0, Width::Four);
//! asm.set(R0, 2);
//! asm.jump_if(R1, If::Less, 100, short);
//! asm.set(R0, 1);
//! asm.place(short);
//! asm.exit();
//! assert_eq!(asm.finish()?.len(), 5);
//! # Ok::<(), longmatch_bpf::asm::JumpError>(())
//! ```

use std::fmt;

/// One eBPF instruction: `struct bpf_insn`. A 64-bit constant takes two.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// The operation.
    pub code: u8,
    /// The destination and the source, 4 bits each, in the order of C bit fields.
    pub registers: u8,
    /// The offset of a load or a store in bytes; the distance of a jump in instructions.
    pub offset: i16,
    /// The constant operand.
    pub immediate: i32,
}

/// A register of 64 bits.
///
/// [`R0`] has results, [`R1`] to [`R5`] have arguments and are lost by calls, [`R6`] to [`R9`] are kept, and [`STACK`] is
/// the end of the stack frame of 512 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Register(u8);

/// The result of calls and of the program.
pub const R0: Register = Register(0);
/// The first argument; the context at the program's start.
pub const R1: Register = Register(1);
/// The second argument.
pub const R2: Register = Register(2);
/// The third argument.
pub const R3: Register = Register(3);
/// The fourth argument.
pub const R4: Register = Register(4);
/// The fifth argument.
pub const R5: Register = Register(5);
/// Kept by calls.
pub const R6: Register = Register(6);
/// Kept by calls.
pub const R7: Register = Register(7);
/// Kept by calls.
pub const R8: Register = Register(8);
/// Kept by calls.
pub const R9: Register = Register(9);
/// The end of the stack frame; it cannot be changed.
pub const STACK: Register = Register(10);

/// The bytes that a load or store moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// 8 bits.
    One = 0x10,
    /// 16 bits.
    Two = 0x08,
    /// 32 bits.
    Four = 0x00,
    /// 64 bits.
    Eight = 0x18,
}

/// The condition of a jump; numbers have no sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum If {
    /// `left == right`
    Equal = 0x10,
    /// `left > right`
    Greater = 0x20,
    /// `left >= right`
    GreaterOrEqual = 0x30,
    /// `left & right != 0`
    AnyBit = 0x40,
    /// `left != right`
    NotEqual = 0x50,
    /// `left < right`
    Less = 0xa0,
    /// `left <= right`
    LessOrEqual = 0xb0,
}

/// An operation of arithmetic or logic; numbers have no sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alu {
    /// `to + operand`
    Add = 0x00,
    /// `to - operand`
    Subtract = 0x10,
    /// `to * operand`
    Multiply = 0x20,
    /// `to / operand`, 0 if the operand is 0
    Divide = 0x30,
    /// `to | operand`
    Or = 0x40,
    /// `to & operand`
    And = 0x50,
    /// `to << operand`
    ShiftLeft = 0x60,
    /// `to >> operand`
    ShiftRight = 0x70,
    /// `to % operand`, `to` if the operand is 0
    Remainder = 0x90,
    /// `to ^ operand`
    Xor = 0xa0,
    /// The operand.
    Move = 0xb0,
}

// Classes and modes of instructions.
const LOAD_IMMEDIATE_64: u8 = 0x18;
const LOAD: u8 = 0x61;
const STORE_IMMEDIATE: u8 = 0x62;
const STORE: u8 = 0x63;
const ATOMIC: u8 = 0xc3;
const ALU_32: u8 = 0x04;
const JUMP_64: u8 = 0x05;
const JUMP_32: u8 = 0x06;
const ALU_64: u8 = 0x07;
const TO_BIG_ENDIAN: u8 = 0xdc;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
/// The operand is a register, not the immediate value.
const BY_REGISTER: u8 = 0x08;
/// The source "register" that makes a 64-bit immediate value the descriptor of a map.
const MAP: Register = Register(1);
/// The source "register" that makes it the address of the value of a map.
const MAP_VALUE: Register = Register(2);
/// The source "register" of a call of a function of the program.
const FUNCTION: Register = Register(1);

/// The number of the helper `bpf_map_lookup_elem`.
pub const MAP_LOOKUP: i32 = 1;

/// A place in the program, for jumps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(usize);

/// A jump leads backwards, to a label without a place, or further than 32,767 instructions.
///
/// ```
/// use longmatch_bpf::asm::Assembler;
/// let mut asm = Assembler::default();
/// let label = asm.label();
/// asm.jump(label);
/// assert_eq!(asm.finish().unwrap_err().at, 0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct JumpError {
    /// The place of the jump in the program.
    pub at: usize,
}

impl fmt::Display for JumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the jump at instruction {} of the BPF program leads backwards, nowhere or too far; this is a bug",
            self.at
        )
    }
}

impl std::error::Error for JumpError {}

/// Instructions, and jumps to places that come later.
///
/// See the [module](self) for an example.
#[derive(Clone, Default, Debug)]
pub struct Assembler {
    code: Vec<Instruction>,
    /// Each jump's place in `code`, and its label.
    jumps: Vec<(usize, Label)>,
    /// The place in `code` of each label.
    labels: Vec<usize>,
}

impl Assembler {
    fn emit(&mut self, code: u8, to: Register, from: Register, offset: i16, immediate: i32) {
        // The order of the two fields is the order of C bit fields.
        let registers = match cfg!(target_endian = "little") {
            true => to.0 | from.0 << 4,
            false => to.0 << 4 | from.0,
        };
        self.code.push(Instruction { code, registers, offset, immediate });
    }

    /// Emits a 64-bit constant, or what `kind` makes of it.
    fn constant(&mut self, to: Register, kind: Register, [low, high]: [i32; 2]) {
        self.emit(LOAD_IMMEDIATE_64, to, kind, 0, low);
        self.emit(0, R0, R0, 0, high);
    }

    /// The number of instructions so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// Whether there is no instruction yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    /// A label without a place.
    #[must_use]
    pub fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }

    /// Places the label before the next instruction.
    ///
    /// # Panics
    /// If the label belongs to an assembler with more labels.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0] = self.code.len();
    }

    /// `to = *(from + offset)`, extended by zeros.
    pub fn load(&mut self, to: Register, from: Register, offset: i16, width: Width) {
        self.emit(LOAD | width as u8, to, from, offset, 0);
    }

    /// `*(to + offset) = from`
    pub fn store(&mut self, to: Register, offset: i16, from: Register, width: Width) {
        self.emit(STORE | width as u8, to, from, offset, 0);
    }

    /// `*(to + offset) = value`; 64-bit stores extend the sign.
    pub fn store_immediate(&mut self, to: Register, offset: i16, value: i32, width: Width) {
        self.emit(STORE_IMMEDIATE | width as u8, to, R0, offset, value);
    }

    /// `*(to + offset) += from` in one step, of 4 or 8 bytes.
    pub fn atomic_add(&mut self, to: Register, offset: i16, from: Register, width: Width) {
        self.emit(ATOMIC | width as u8, to, from, offset, 0);
    }

    /// `to = to operation from`, of 64 bits. Shifts take the low 6 bits of `from`.
    pub fn alu_64(&mut self, operation: Alu, to: Register, from: Register) {
        self.emit(ALU_64 | operation as u8 | BY_REGISTER, to, from, 0, 0);
    }

    /// `to = to operation value`, of 64 bits: the value's sign is extended.
    pub fn alu_64_immediate(&mut self, operation: Alu, to: Register, value: i32) {
        self.emit(ALU_64 | operation as u8, to, R0, 0, value);
    }

    /// `to = to operation from`, of the low 32 bits; the high ones become 0. Shifts take the low 5 bits of `from`.
    pub fn alu_32(&mut self, operation: Alu, to: Register, from: Register) {
        self.emit(ALU_32 | operation as u8 | BY_REGISTER, to, from, 0, 0);
    }

    /// `to = to operation value`, of the low 32 bits; the high ones become 0.
    pub fn alu_32_immediate(&mut self, operation: Alu, to: Register, value: i32) {
        self.emit(ALU_32 | operation as u8, to, R0, 0, value);
    }

    /// Converts the low 2, 4 or 8 bytes between the order of the host and that of the network; higher ones become 0.
    pub fn swap_network(&mut self, to: Register, width: Width) {
        let bits = match width {
            Width::One => 8,
            Width::Two => 16,
            Width::Four => 32,
            Width::Eight => 64,
        };
        self.emit(TO_BIG_ENDIAN, to, R0, 0, bits);
    }

    /// `to = from`
    pub fn copy(&mut self, to: Register, from: Register) {
        self.alu_64(Alu::Move, to, from);
    }

    /// `to = value`, with its sign extended.
    pub fn set(&mut self, to: Register, value: i32) {
        self.alu_64_immediate(Alu::Move, to, value);
    }

    /// `to = value`, of 64 bits.
    pub fn set_64(&mut self, to: Register, value: u64) {
        self.constant(to, R0, [value as i32, (value >> 32) as i32]);
    }

    /// `to += value`, of 64 bits.
    pub fn add(&mut self, to: Register, value: i32) {
        self.alu_64_immediate(Alu::Add, to, value);
    }

    /// `to &= mask`, of 64 bits: the mask's sign is extended.
    pub fn and(&mut self, to: Register, mask: i32) {
        self.alu_64_immediate(Alu::And, to, mask);
    }

    /// `to` = the map with this descriptor, for calls.
    pub fn map(&mut self, to: Register, descriptor: i32) {
        self.constant(to, MAP, [descriptor, 0]);
    }

    /// `to` = the address of the value of an array of one element, and `offset` bytes more (Linux 5.2).
    pub fn map_value(&mut self, to: Register, descriptor: i32, offset: i32) {
        self.constant(to, MAP_VALUE, [descriptor, offset]);
    }

    /// Calls the helper of this number: arguments in r1 to r5, the result in r0.
    pub fn call(&mut self, helper: i32) {
        self.emit(CALL, R0, R0, 0, helper);
    }

    /// Calls the function of the program at a label that comes later: arguments in r1 to r5, the result in r0, and a stack
    /// frame of its own, of which there are 8 and 512 bytes at most.
    pub fn call_function(&mut self, label: Label) {
        self.jumps.push((self.code.len(), label));
        self.emit(CALL, R0, FUNCTION, 0, 0);
    }

    /// Looks up the key at an offset of the stack's end in a map: r0 points to the value, or is null.
    pub fn look_up(&mut self, map: i32, key: i16) {
        self.map(R1, map);
        self.copy(R2, STACK);
        self.add(R2, key.into());
        self.call(MAP_LOOKUP);
    }

    /// Returns r0.
    pub fn exit(&mut self) {
        self.emit(EXIT, R0, R0, 0, 0);
    }

    fn jump_by(&mut self, code: u8, [left, right]: [Register; 2], value: i32, label: Label) {
        self.jumps.push((self.code.len(), label));
        self.emit(code, left, right, 0, value);
    }

    /// Jumps if the low 32 bits compare so with the value.
    pub fn jump_if(&mut self, left: Register, is: If, value: i32, label: Label) {
        self.jump_by(JUMP_32 | is as u8, [left, R0], value, label);
    }

    /// Jumps if the comparison of the register with the sign-extended value holds.
    pub fn jump_if_64(&mut self, left: Register, is: If, value: i32, label: Label) {
        self.jump_by(JUMP_64 | is as u8, [left, R0], value, label);
    }

    /// Jumps if the comparison of the registers holds.
    pub fn jump_if_register(&mut self, left: Register, is: If, right: Register, label: Label) {
        self.jump_by(JUMP_64 | is as u8 | BY_REGISTER, [left, right], 0, label);
    }

    /// Jumps if the low 32 bits of the registers compare so.
    pub fn jump_if_register_32(&mut self, left: Register, is: If, right: Register, label: Label) {
        self.jump_by(JUMP_32 | is as u8 | BY_REGISTER, [left, right], 0, label);
    }

    /// Jumps if the comparison of the pointer in r0, the result of a call, with null holds.
    pub fn jump_by_null(&mut self, is: If, label: Label) {
        self.jump_if_64(R0, is, 0, label);
    }

    /// Jumps.
    pub fn jump(&mut self, label: Label) {
        self.jump_by(JUMP_64, [R0, R0], 0, label);
    }

    /// The program, with the distances of its jumps.
    ///
    /// # Errors
    /// If a jump leads backwards or too far, or its label has no place.
    pub fn finish(mut self) -> Result<Vec<Instruction>, JumpError> {
        for (at, label) in self.jumps {
            let error = JumpError { at };
            let place = self.labels.get(label.0).filter(|place| **place != usize::MAX);
            // Distances count from the next instruction.
            let distance = place.ok_or(error)?.checked_sub(at + 1).ok_or(error)?;
            let distance: i16 = distance.try_into().map_err(|_| error)?;
            match &mut self.code[at] {
                call if call.code == CALL => call.immediate = distance.into(),
                jump => jump.offset = distance,
            }
        }
        Ok(self.code)
    }
}

#[cfg(test)]
mod tests;
