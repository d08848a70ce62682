//! The XDP program, and the assembler that it is written with.
//!
//! The program chooses between the kernel and the forwarder, packet by packet:
//!
//! ```text
//! shorter than its headers, group address, neither IPv4 nor IPv6    -> kernel
//! to another Ethernet address than that of the interface (a map)    -> kernel
//! of a family that the interface does not forward (the same map)    -> kernel
//! longer than its MTU permits: several segments                     -> kernel
//! from or to a link-local IPv6 address, to a multicast or broadcast -> kernel
//! neither ICMP, TCP nor UDP, where checksums may be partial         -> kernel
//! from or to an address of this machine (a map of 16-byte addresses) -> kernel
//! of a queue whose thread stands still (an array of times by queue) -> kernel
//! otherwise -> the AF_XDP socket of the packet's queue; the kernel if there is none
//! ```
//!
//! The kernel gets its packets unchanged, on the interface where they arrived.

/// The number that XDP programs return for packets that go to the kernel.
pub(super) const XDP_PASS: i32 = 2;

/// The bytes of a key of the map of local addresses: an IPv6 address, or a mapped IPv4 address.
pub(super) const ADDRESS_BYTES: i16 = 16;

/// One eBPF instruction: `struct bpf_insn`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Instruction {
    code: u8,
    /// The destination and the source, 4 bits each.
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// A register: r0 has results, r1 to r5 have arguments and are lost by calls, r6 to r9 are kept, and
/// r10 is the end of the stack frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Register(u8);

const R0: Register = Register(0);
const R1: Register = Register(1);
const R2: Register = Register(2);
const R3: Register = Register(3);
const CONTEXT: Register = Register(6);
const FRAME: Register = Register(7);
const END: Register = Register(8);
const FLAGS: Register = Register(9);
/// Later than the flags.
const ALIVE_UNTIL: Register = Register(9);
const STACK: Register = Register(10);

/// The bytes that a load or store moves.
#[derive(Clone, Copy)]
enum Width {
    One = 0x10,
    Two = 0x08,
    Four = 0x00,
    Eight = 0x18,
}

/// The condition of a jump.
#[derive(Clone, Copy)]
enum If {
    Equal = 0x10,
    Greater = 0x20,
    NotEqual = 0x50,
}

// Classes and modes of instructions (the kernel's Documentation/bpf/standardization).
const LOAD_IMMEDIATE_64: u8 = 0x18;
const LOAD: u8 = 0x61;
const STORE_IMMEDIATE: u8 = 0x62;
const STORE: u8 = 0x63;
const JUMP_64: u8 = 0x05;
const JUMP_32: u8 = 0x06;
const ALU_64: u8 = 0x07;
const ADD: u8 = 0x00;
const AND: u8 = 0x50;
const MOVE: u8 = 0xb0;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
/// The operand is a register, not the immediate value.
const BY_REGISTER: u8 = 0x08;
/// The source "register" that makes a 64-bit immediate value the descriptor of a map.
const MAP: Register = Register(1);

const MAP_LOOKUP: i32 = 1;
const REDIRECT_MAP: i32 = 51;
/// The monotonic clock at the last tick, since Linux 5.11.
pub(super) const COARSE_CLOCK: i32 = 160;
/// The monotonic clock now.
pub(super) const CLOCK: i32 = 5;

/// A place in the program, for jumps.
#[derive(Clone, Copy)]
struct Label(usize);

/// Instructions, and jumps to places that may come later.
#[derive(Default)]
struct Assembler {
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

    /// A label without a place.
    fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }

    /// Places the label before the next instruction.
    fn place(&mut self, label: Label) {
        self.labels[label.0] = self.code.len();
    }

    fn load(&mut self, to: Register, from: Register, offset: i16, width: Width) {
        self.emit(LOAD | width as u8, to, from, offset, 0);
    }

    fn store(&mut self, to: Register, offset: i16, from: Register, width: Width) {
        self.emit(STORE | width as u8, to, from, offset, 0);
    }

    fn store_immediate(&mut self, to: Register, offset: i16, value: i32, width: Width) {
        self.emit(STORE_IMMEDIATE | width as u8, to, R0, offset, value);
    }

    fn copy(&mut self, to: Register, from: Register) {
        self.emit(ALU_64 | MOVE | BY_REGISTER, to, from, 0, 0);
    }

    fn set(&mut self, to: Register, value: i32) {
        self.emit(ALU_64 | MOVE, to, R0, 0, value);
    }

    fn add(&mut self, to: Register, value: i32) {
        self.emit(ALU_64 | ADD, to, R0, 0, value);
    }

    fn and(&mut self, to: Register, mask: i32) {
        self.emit(ALU_64 | AND, to, R0, 0, mask);
    }

    fn map(&mut self, to: Register, descriptor: i32) {
        self.emit(LOAD_IMMEDIATE_64, to, MAP, 0, descriptor);
        // The upper half of the value.
        self.emit(0, R0, R0, 0, 0);
    }

    fn call(&mut self, helper: i32) {
        self.emit(CALL, R0, R0, 0, helper);
    }

    /// Looks up the key at an offset of the stack's end in a map: r0 points to the value, or is null.
    fn look_up(&mut self, map: i32, key: i16) {
        self.map(R1, map);
        self.copy(R2, STACK);
        self.add(R2, key.into());
        self.call(MAP_LOOKUP);
    }

    fn exit(&mut self) {
        self.emit(EXIT, R0, R0, 0, 0);
    }

    /// Jumps if the low 32 bits compare so with the value.
    fn jump_if(&mut self, left: Register, is: If, value: i32, label: Label) {
        self.jumps.push((self.code.len(), label));
        self.emit(JUMP_32 | is as u8, left, R0, 0, value);
    }

    /// Jumps if the registers compare so.
    fn jump_if_register(&mut self, left: Register, is: If, right: Register, label: Label) {
        self.jumps.push((self.code.len(), label));
        self.emit(JUMP_64 | is as u8 | BY_REGISTER, left, right, 0, 0);
    }

    /// Jumps if the pointer in r0, the result of a call, compares so with null.
    fn jump_by_null(&mut self, is: If, label: Label) {
        self.jumps.push((self.code.len(), label));
        self.emit(JUMP_64 | is as u8, R0, R0, 0, 0);
    }

    fn jump(&mut self, label: Label) {
        self.jumps.push((self.code.len(), label));
        self.emit(JUMP_64, R0, R0, 0, 0);
    }

    /// The program, with the distances of its jumps; `None` if one is too far or has no place.
    fn finish(mut self) -> Option<Vec<Instruction>> {
        for (from, label) in self.jumps {
            // Distances count from the next instruction.
            let distance = self.labels[label.0].checked_sub(from + 1)?;
            self.code[from].offset = distance.try_into().ok()?;
        }
        Some(self.code)
    }
}

// Offsets in a frame, and in `struct xdp_md`, the context of XDP programs.
const ETHERTYPE: i16 = 12;
const ETHERNET_BYTES: i32 = 14;
const IPV4_PROTOCOL: i16 = 14 + 9;
const IPV4_SOURCE: i16 = 14 + 12;
const IPV4_DESTINATION: i16 = 14 + 16;
const IPV4_BYTES: i32 = 20;
const IPV6_NEXT_HEADER: i16 = 14 + 6;
const IPV6_SOURCE: i16 = 14 + 8;
const IPV6_DESTINATION: i16 = 14 + 24;
const IPV6_BYTES: i32 = 40;
const CONTEXT_DATA: i16 = 0;
const CONTEXT_DATA_END: i16 = 4;
const CONTEXT_QUEUE: i16 = 16;

/// The bytes of [`FLAGS`] that are not 0 if the interface does not forward IPv4, IPv6.
const NOT_FORWARDED: [[u8; 2]; 2] = [[0xff, 0], [0, 0xff]];

/// The places of the keys of the destination and the source, from the end of the stack.
const KEYS: [i16; 2] = [-ADDRESS_BYTES, -2 * ADDRESS_BYTES];

/// The program of an interface. Its maps: the array with its Ethernet address, local addresses, the time until which each
/// queue's thread is alive, the sockets by queue. `clock` returns the time, `longest` is the greatest length of frames
/// with one segment; `partial` states that checksums may be partial; `otherwise` is returned if there is no socket.
///
/// `None` never happens: it says that the program has a jump without a place.
pub(super) fn forwarding_program(
    [address, local, alive, sockets]: [i32; 4],
    clock: i32,
    (longest, partial): (u16, bool),
    otherwise: i32,
) -> Option<Vec<Instruction>> {
    let mut asm = Assembler::default();
    let (pass, ipv6, look_up) = (asm.label(), asm.label(), asm.label());
    asm.copy(CONTEXT, R1);
    asm.load(FRAME, CONTEXT, CONTEXT_DATA, Width::Four);
    asm.load(END, CONTEXT, CONTEXT_DATA_END, Width::Four);
    jump_if_shorter(&mut asm, ETHERNET_BYTES, pass);
    jump_if_longer(&mut asm, longest.into(), pass);
    // The first bit of an Ethernet address on the wire distinguishes groups from hosts.
    asm.load(R2, FRAME, 0, Width::One);
    asm.and(R2, 1);
    asm.jump_if(R2, If::NotEqual, 0, pass);
    pass_other_addresses(&mut asm, address, pass);
    asm.load(R2, FRAME, ETHERTYPE, Width::Two);
    asm.jump_if(R2, If::Equal, 0x86dd_u16.to_be().into(), ipv6);
    asm.jump_if(R2, If::NotEqual, 0x0800_u16.to_be().into(), pass);
    pass_family(&mut asm, 0, pass);
    ipv4_keys(&mut asm, pass);
    if partial {
        pass_other_protocols(&mut asm, IPV4_PROTOCOL, pass);
    }
    asm.jump(look_up);
    asm.place(ipv6);
    pass_family(&mut asm, 1, pass);
    ipv6_keys(&mut asm, pass);
    if partial {
        pass_other_protocols(&mut asm, IPV6_NEXT_HEADER, pass);
    }
    asm.place(look_up);
    for key in KEYS {
        asm.look_up(local, key);
        asm.jump_by_null(If::NotEqual, pass);
    }
    pass_of_stalled(&mut asm, alive, clock, pass);
    asm.load(R2, CONTEXT, CONTEXT_QUEUE, Width::Four);
    asm.map(R1, sockets);
    asm.set(R3, otherwise);
    asm.call(REDIRECT_MAP);
    asm.exit();
    asm.place(pass);
    asm.set(R0, XDP_PASS);
    asm.exit();
    asm.finish()
}

/// Jumps if the packet has another protocol than those whose checksums are complete or completed by the forwarder.
fn pass_other_protocols(asm: &mut Assembler, protocol: i16, pass: Label) {
    let known = asm.label();
    asm.load(R2, FRAME, protocol, Width::One);
    // ICMP, TCP, UDP and ICMPv6.
    for protocol in [1, 6, 17, 58] {
        asm.jump_if(R2, If::Equal, protocol, known);
    }
    asm.jump(pass);
    asm.place(known);
}

/// Jumps if the frame has fewer bytes. The verifier of the kernel wants this before any load.
fn jump_if_shorter(asm: &mut Assembler, bytes: i32, label: Label) {
    asm.copy(R2, FRAME);
    asm.add(R2, bytes);
    asm.jump_if_register(R2, If::Greater, END, label);
}

/// Jumps if the frame has more bytes. Without CAP_PERFMON the verifier permits this with a constant only.
fn jump_if_longer(asm: &mut Assembler, bytes: i32, label: Label) {
    asm.copy(R2, FRAME);
    asm.add(R2, bytes);
    asm.jump_if_register(END, If::Greater, R2, label);
}

/// Jumps if the frame is for another Ethernet address than that in the array.
fn pass_other_addresses(asm: &mut Assembler, address: i32, pass: Label) {
    asm.store_immediate(STACK, -4, 0, Width::Four);
    asm.look_up(address, -4);
    asm.jump_by_null(If::Equal, pass);
    asm.load(FLAGS, R0, 6, Width::Two);
    for (offset, width) in [(0, Width::Four), (4, Width::Two)] {
        asm.load(R2, FRAME, offset, width);
        asm.load(R3, R0, offset, width);
        asm.jump_if_register(R2, If::NotEqual, R3, pass);
    }
}

/// Jumps if the thread of the packet's queue has given no sign of life for some time.
fn pass_of_stalled(asm: &mut Assembler, alive: i32, clock: i32, pass: Label) {
    asm.load(R2, CONTEXT, CONTEXT_QUEUE, Width::Four);
    asm.store(STACK, -4, R2, Width::Four);
    asm.look_up(alive, -4);
    asm.jump_by_null(If::Equal, pass);
    asm.load(ALIVE_UNTIL, R0, 0, Width::Eight);
    asm.call(clock);
    asm.jump_if_register(R0, If::Greater, ALIVE_UNTIL, pass);
}

/// Jumps if the interface does not forward a family.
fn pass_family(asm: &mut Assembler, family: usize, pass: Label) {
    asm.copy(R2, FLAGS);
    asm.and(R2, u16::from_ne_bytes(NOT_FORWARDED[family]).into());
    asm.jump_if(R2, If::NotEqual, 0, pass);
}

/// Writes the destination and the source below the end of the stack, as mapped IPv4 addresses.
fn ipv4_keys(asm: &mut Assembler, pass: Label) {
    jump_if_shorter(asm, ETHERNET_BYTES + IPV4_BYTES, pass);
    asm.load(R2, FRAME, IPV4_DESTINATION, Width::One);
    asm.and(R2, 0xf0);
    asm.jump_if(R2, If::Equal, 0xe0, pass); // 224.0.0.0/4
    asm.load(R2, FRAME, IPV4_DESTINATION, Width::Four);
    asm.jump_if(R2, If::Equal, -1, pass); // 255.255.255.255
    for (key, address) in KEYS.into_iter().zip([IPV4_DESTINATION, IPV4_SOURCE]) {
        asm.load(R2, FRAME, address, Width::Four);
        asm.store_immediate(STACK, key, 0, Width::Eight);
        asm.store_immediate(STACK, key + 8, 0x0000_ffff_i32.to_be(), Width::Four);
        asm.store(STACK, key + 12, R2, Width::Four);
    }
}

/// Writes the destination and the source below the end of the stack.
fn ipv6_keys(asm: &mut Assembler, pass: Label) {
    jump_if_shorter(asm, ETHERNET_BYTES + IPV6_BYTES, pass);
    asm.load(R2, FRAME, IPV6_DESTINATION, Width::One);
    asm.jump_if(R2, If::Equal, 0xff, pass); // ff00::/8
    for address in [IPV6_SOURCE, IPV6_DESTINATION] {
        asm.load(R2, FRAME, address, Width::Two);
        asm.and(R2, 0xffc0_u16.to_be().into());
        asm.jump_if(R2, If::Equal, 0xfe80_u16.to_be().into(), pass); // fe80::/10
    }
    // Frames have IP addresses at multiples of 4 bytes at best.
    for (key, address) in KEYS.into_iter().zip([IPV6_DESTINATION, IPV6_SOURCE]) {
        for offset in (0..ADDRESS_BYTES).step_by(4) {
            asm.load(R2, FRAME, address + offset, Width::Four);
            asm.store(STACK, key + offset, R2, Width::Four);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::xdp::alive::now;
    use crate::io::xdp::bpf::{MAP_TYPE_HASH, Map, load_program, test::run};
    use std::{io::Write, os::fd::OwnedFd, time::Duration};

    fn one(emit: impl FnOnce(&mut Assembler)) -> (u8, u8, i16, i32) {
        let mut asm = Assembler::default();
        emit(&mut asm);
        let code = asm.code[0];
        (code.code, code.registers, code.offset, code.immediate)
    }

    /// The expected values are those of the macros in the kernel's `include/linux/filter.h`.
    #[test]
    #[cfg(target_endian = "little")]
    fn instructions_are_encoded_as_the_kernel_reads_them() {
        assert_eq!(size_of::<Instruction>(), 8);
        assert_eq!(one(|asm| asm.copy(CONTEXT, R1)), (0xbf, 0x16, 0, 0));
        assert_eq!(one(|asm| asm.set(R0, 2)), (0xb7, 0x00, 0, 2));
        assert_eq!(one(|asm| asm.add(R2, -16)), (0x07, 0x02, 0, -16));
        assert_eq!(one(|asm| asm.and(R2, 1)), (0x57, 0x02, 0, 1));
        assert_eq!(one(|asm| asm.load(R2, FRAME, 12, Width::One)), (0x71, 0x72, 12, 0));
        assert_eq!(one(|asm| asm.load(R2, FRAME, 12, Width::Two)), (0x69, 0x72, 12, 0));
        assert_eq!(one(|asm| asm.load(R2, FRAME, 12, Width::Four)), (0x61, 0x72, 12, 0));
        assert_eq!(one(|asm| asm.load(R2, FRAME, 12, Width::Eight)), (0x79, 0x72, 12, 0));
        assert_eq!(one(|asm| asm.store(STACK, -4, R2, Width::Four)), (0x63, 0x2a, -4, 0));
        let store = |asm: &mut Assembler| asm.store_immediate(STACK, -16, 7, Width::Eight);
        assert_eq!(one(store), (0x7a, 0x0a, -16, 7));
        assert_eq!(one(|asm| asm.map(R1, 9)), (0x18, 0x11, 0, 9));
        assert_eq!(one(|asm| asm.call(51)), (0x85, 0, 0, 51));
        assert_eq!(one(|asm| asm.exit()), (0x95, 0, 0, 0));
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn jumps_count_from_the_next_instruction() {
        let mut asm = Assembler::default();
        let label = asm.label();
        asm.jump_if(R2, If::Equal, 5, label);
        asm.jump_if_register(R2, If::Greater, END, label);
        asm.jump_by_null(If::NotEqual, label);
        asm.jump(label);
        asm.set(R0, 1);
        asm.place(label);
        asm.exit();
        let code = asm.finish().unwrap();
        let fields = |code: &Instruction| (code.code, code.registers, code.offset, code.immediate);
        let jumps: Vec<_> = code[..4].iter().map(fields).collect();
        let expected = [(0x16, 2, 4, 5), (0x2d, 0x82, 3, 0), (0x55, 0, 2, 0), (0x05, 0, 1, 0)];
        assert_eq!(jumps, expected);
    }

    #[test]
    fn a_jump_to_nowhere_or_backwards_is_refused() {
        let mut asm = Assembler::default();
        let label = asm.label();
        asm.jump(label);
        assert!(asm.finish().is_none());
        let mut asm = Assembler::default();
        let label = asm.label();
        asm.place(label);
        asm.jump(label);
        assert!(asm.finish().is_none());
    }

    const HOST: [u8; 6] = [2, 0, 0, 0, 0, 1];
    /// The program's result here for packets that the forwarder gets: `XDP_DROP`.
    const FORWARDER: i32 = 1;

    /// Headers of a TCP packet.
    fn ipv4(destination: [u8; 4]) -> Vec<u8> {
        let header = [&[0x45][..], &[0; 8], &[6], &[0; 6], &destination].concat();
        [&HOST[..], &HOST, &[0x08, 0x00], &header].concat()
    }

    fn ipv6(source: &str, destination: &str) -> Vec<u8> {
        let octets = |address: &str| address.parse::<std::net::Ipv6Addr>().unwrap().octets();
        let header =
            [&[0x60][..], &[0; 5], &[6, 0], &octets(source), &octets(destination)].concat();
        [&HOST[..], &HOST, &[0x86, 0xdd], &header].concat()
    }

    /// A frame with another byte in one place.
    fn with(mut frame: Vec<u8>, place: usize, byte: u8) -> Vec<u8> {
        frame[place] = byte;
        frame
    }

    /// Frames and whether the kernel keeps them, with 10.0.0.1 and 2001:db8::1 for its addresses.
    fn frames() -> Vec<(Vec<u8>, bool)> {
        let transit = ipv4([10, 0, 0, 2]);
        let transit_6 = || ipv6("2001:db8::7", "2001:db8::2");
        vec![
            (transit.clone(), false),
            (transit_6(), false),
            // Local addresses, and others that share 32 bits with them.
            (ipv4([10, 0, 0, 1]), true),
            (ipv6("2001:db8::7", "2001:db8::1"), true),
            (ipv6("2001:db8::7", "2001:db8:0:1::1"), false),
            (ipv6("2001:db8::7", "2001:db9::1"), false),
            (ipv6("2001:db8::7", "::ffff:10.0.0.2"), false),
            // Too short by a byte.
            (transit[..33].to_vec(), true),
            (transit_6()[..53].to_vec(), true),
            (transit[..14].to_vec(), true),
            // Other Ethernet addresses.
            (with(transit.clone(), 0, 0x00), true),
            (with(transit.clone(), 3, 1), true),
            (with(transit.clone(), 5, 2), true),
            (with(transit_6(), 5, 2), true),
            // As long as permitted, and longer.
            ([&transit[..], &[0; 26]].concat(), false),
            ([&transit[..], &[0; 27]].concat(), true),
            // Sources of this machine.
            (with(with(transit.clone(), 26, 10), 29, 1), true),
            (ipv6("2001:db8::1", "2001:db8::2"), true),
            // Groups and everybody.
            (with(transit.clone(), 0, 3), true),
            (ipv4([223, 255, 255, 255]), false),
            (ipv4([224, 0, 0, 1]), true),
            (ipv4([239, 255, 255, 255]), true),
            (ipv4([240, 0, 0, 1]), false),
            (ipv4([255, 255, 255, 254]), false),
            (ipv4([255, 255, 255, 255]), true),
            (ipv6("2001:db8::7", "ff02::1"), true),
            // One link.
            (ipv6("2001:db8::7", "fe80::1"), true),
            (ipv6("2001:db8::7", "febf::1"), true),
            (ipv6("2001:db8::7", "fec0::1"), false),
            (ipv6("2001:db8::7", "fe7f::1"), false),
            (ipv6("fe80::1", "2001:db8::2"), true),
            (ipv6("fdff::1", "fdff::2"), false),
            // ARP, a VLAN, and the two numbers of IP in the wrong order of bytes.
            (with(transit.clone(), 13, 6), true),
            (with(transit.clone(), 12, 0x81), true),
            (with(with(transit.clone(), 12, 0x00), 13, 0x08), true),
            (with(with(transit, 12, 0xdd), 13, 0x86), true),
        ]
    }

    /// Whether the kernel keeps a frame, by each program.
    fn kept(programs: &[OwnedFd; 2], frame: &[u8]) -> [bool; 2] {
        programs.each_ref().map(|program| match run(program, frame).unwrap() as i32 {
            XDP_PASS => true,
            FORWARDER => false,
            other => panic!("{other}: {frame:02x?}"),
        })
    }

    #[test]
    fn the_kernel_keeps_its_packets_and_the_forwarder_gets_the_others() {
        let maps = Map::of_addresses(8)
            .and_then(|local| Ok((local, Map::of_sockets(1)?, Map::of_ethernet_address()?)))
            .and_then(|maps| Ok((maps, Map::create(MAP_TYPE_HASH, 1, 0)?)));
        let ((local, sockets, address), alive) = match maps {
            Ok(maps) => maps,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "skipped: runs of the XDP program: {error}");
                return;
            }
        };
        for address in ["::ffff:10.0.0.1", "2001:db8::1"] {
            let key = address.parse::<std::net::Ipv6Addr>().unwrap().octets();
            local.insert(key, [1]).unwrap();
        }
        let [a, b, c, d, e, f] = HOST;
        address.insert([0; 4], [a, b, c, d, e, f, 0, 0]).unwrap();
        // The queue has no socket.
        let maps =
            [address.descriptor(), local.descriptor(), alive.descriptor(), sockets.descriptor()];
        let programs = [(COARSE_CLOCK, false), (CLOCK, true)].map(|(clock, partial)| {
            let code = forwarding_program(maps, clock, (60, partial), FORWARDER).unwrap();
            load_program(&code).unwrap_or_else(|error| panic!("{error:?}"))
        });
        let transit = [ipv4([10, 0, 0, 2]), ipv6("2001:db8::7", "2001:db8::2")];
        // No queue of a thread, one whose thread stands still for a second, and one that has a second left.
        let second = Duration::from_secs(1);
        let times = [None, Some(now() - second), Some(now() + second)];
        for (time, kernel) in times.into_iter().zip([true, true, false]) {
            if let Some(time) = time {
                alive.insert([0; 4], (time.as_nanos() as u64).to_ne_bytes()).unwrap();
            }
            assert_eq!(kept(&programs, &transit[0]), [kernel; 2], "{time:?}");
        }
        alive.insert([0; 4], u64::MAX.to_ne_bytes()).unwrap();
        for (frame, kernel) in frames() {
            assert_eq!(kept(&programs, &frame), [kernel; 2], "{frame:02x?}");
        }
        // ICMP, UDP, ICMPv6; SCTP and a fragment of IPv6: their checksums may be partial.
        for (protocol, kernel) in [(1, false), (17, false), (58, false), (132, true), (44, true)] {
            for (frame, place) in transit.iter().zip([23, 20]) {
                let frame = with(frame.clone(), place, protocol);
                assert_eq!(kept(&programs, &frame), [false, kernel], "{frame:02x?}");
            }
        }
        // One family is not forwarded.
        for (flags, kernel) in [([1, 0], [true, false]), ([0, 1], [false, true])] {
            address.insert([0; 4], [a, b, c, d, e, f, flags[0], flags[1]]).unwrap();
            for (frame, kernel) in transit.iter().zip(kernel) {
                assert_eq!(kept(&programs, frame), [kernel; 2], "{flags:?}");
            }
        }
    }

    #[test]
    fn the_verifier_says_what_is_wrong() {
        let (error, log) = load_program(&[]).unwrap_err();
        assert!(error.raw_os_error().is_some() && log.is_empty());
        // Without a result.
        let mut asm = Assembler::default();
        asm.exit();
        let (error, log) = load_program(&asm.finish().unwrap()).unwrap_err();
        let permitted = error.kind() != std::io::ErrorKind::PermissionDenied || !log.is_empty();
        assert!(!permitted || log.contains("R0"), "{error}: {log}");
    }
}
