//! Encodings; the expected values are those of the macros in the kernel's `include/linux/filter.h`.

use super::*;

#[cfg(target_endian = "little")]
fn one(emit: impl FnOnce(&mut Assembler)) -> (u8, u8, i16, i32) {
    let mut asm = Assembler::default();
    emit(&mut asm);
    let code = asm.code[0];
    (code.code, code.registers, code.offset, code.immediate)
}

#[test]
#[cfg(target_endian = "little")]
fn instructions_are_encoded_as_the_kernel_reads_them() {
    assert_eq!(size_of::<Instruction>(), 8);
    assert_eq!(one(|asm| asm.copy(R6, R1)), (0xbf, 0x16, 0, 0));
    assert_eq!(one(|asm| asm.set(R0, 2)), (0xb7, 0x00, 0, 2));
    assert_eq!(one(|asm| asm.add(R2, -16)), (0x07, 0x02, 0, -16));
    assert_eq!(one(|asm| asm.and(R2, 1)), (0x57, 0x02, 0, 1));
    assert_eq!(one(|asm| asm.load(R2, R7, 12, Width::One)), (0x71, 0x72, 12, 0));
    assert_eq!(one(|asm| asm.load(R2, R7, 12, Width::Two)), (0x69, 0x72, 12, 0));
    assert_eq!(one(|asm| asm.load(R2, R7, 12, Width::Four)), (0x61, 0x72, 12, 0));
    assert_eq!(one(|asm| asm.load(R2, R7, 12, Width::Eight)), (0x79, 0x72, 12, 0));
    assert_eq!(one(|asm| asm.store(STACK, -4, R2, Width::Four)), (0x63, 0x2a, -4, 0));
    let store = |asm: &mut Assembler| asm.store_immediate(STACK, -16, 7, Width::Eight);
    assert_eq!(one(store), (0x7a, 0x0a, -16, 7));
    assert_eq!(one(|asm| asm.atomic_add(R1, 8, R2, Width::Eight)), (0xdb, 0x21, 8, 0));
    assert_eq!(one(|asm| asm.atomic_add(R1, 8, R2, Width::Four)), (0xc3, 0x21, 8, 0));
    assert_eq!(one(|asm| asm.alu_64(Alu::Subtract, R1, R2)), (0x1f, 0x21, 0, 0));
    assert_eq!(one(|asm| asm.alu_64_immediate(Alu::ShiftRight, R1, 63)), (0x77, 1, 0, 63));
    assert_eq!(one(|asm| asm.alu_32(Alu::ShiftRight, R1, R2)), (0x7c, 0x21, 0, 0));
    assert_eq!(one(|asm| asm.alu_32_immediate(Alu::ShiftLeft, R1, 2)), (0x64, 1, 0, 2));
    assert_eq!(one(|asm| asm.swap_network(R3, Width::Four)), (0xdc, 3, 0, 32));
    assert_eq!(one(|asm| asm.map(R1, 9)), (0x18, 0x11, 0, 9));
    assert_eq!(one(|asm| asm.map_value(R1, 9, 4)), (0x18, 0x21, 0, 9));
    assert_eq!(one(|asm| asm.set_64(R1, 0x1_0000_0002)), (0x18, 0x01, 0, 2));
    assert_eq!(one(|asm| asm.call(51)), (0x85, 0, 0, 51));
    assert_eq!(one(|asm| asm.exit()), (0x95, 0, 0, 0));
}

#[test]
#[cfg(target_endian = "little")]
fn jumps_count_from_the_next_instruction() {
    let mut asm = Assembler::default();
    let label = asm.label();
    asm.jump_if(R2, If::Equal, 5, label);
    asm.jump_if_register(R2, If::Greater, R8, label);
    asm.jump_by_null(If::NotEqual, label);
    asm.jump_if_register_32(R1, If::Less, R2, label);
    asm.call_function(label);
    asm.jump(label);
    asm.set(R0, 1);
    asm.place(label);
    asm.exit();
    let code = asm.finish().unwrap();
    let fields = |code: &Instruction| (code.code, code.registers, code.offset, code.immediate);
    let jumps: Vec<_> = code[..6].iter().map(fields).collect();
    let expected = [
        (0x16, 2, 6, 5),
        (0x2d, 0x82, 5, 0),
        (0x55, 0, 4, 0),
        (0xae, 0x21, 3, 0),
        (0x85, 0x10, 0, 2),
        (0x05, 0, 1, 0),
    ];
    assert_eq!(jumps, expected);
}

#[test]
fn a_jump_to_nowhere_or_backwards_is_refused() {
    let mut asm = Assembler::default();
    let label = asm.label();
    asm.set(R0, 0);
    asm.jump(label);
    assert_eq!(asm.finish(), Err(JumpError { at: 1 }));
    let mut asm = Assembler::default();
    let label = asm.label();
    asm.place(label);
    asm.jump(label);
    assert_eq!(asm.finish(), Err(JumpError { at: 0 }));
    let mut asm = Assembler::default();
    let label = asm.label();
    asm.jump(label);
    (0..=i16::MAX as usize).for_each(|_| asm.set(R0, 0));
    asm.place(label);
    assert_eq!(asm.finish(), Err(JumpError { at: 0 }));
}
