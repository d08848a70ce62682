//! The packet program: headers, the lookups of addresses, the counts and the decision.
//!
//! ```text
//! after the time to confirm                                 -> passes, not counted
//! neither IPv4 nor IPv6                                     -> passes, counted as other
//! a header shorter than its length, of another version, a third VLAN tag -> as --unknown says, counted as unknown
//! otherwise: class of the source, class of the destination  -> their cell: a count, and an action
//! ```
//!
//! Addresses are in the fixed part of both headers, so IPv4 options, IPv6 extension headers and fragments after the first
//! need no parsing: each fragment has both addresses.

use longmatch_bpf::asm::{
    Alu, Assembler, If, Instruction, JumpError, Label, R0, R1, R2, R3, R4, R6, R7, R8, R9,
    Register, STACK, Width,
};

use crate::content::End;
use crate::layout::{
    ACTION_DROP, ACTION_LIMIT, ACTION_MARK, BUCKET_BYTES, CELL_BYTES, CELLS, COUNTER_BYTES,
    Counter, DEADLINE, KEPT, NEVER, TICK_BITS, VERDICTS,
};
use crate::tables::{IpFamily, Lookup, Tables};

/// How frames begin, and what the program returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Frames {
    /// Whether frames come from tc rather than from XDP.
    pub tc: bool,
    /// Whether frames begin with an Ethernet header rather than with that of IP.
    pub ethernet: bool,
}

/// The parts of a program that depend on the filter.
pub(crate) struct FilterProgram<'a> {
    pub frames: Frames,
    /// The ends whose addresses are looked up.
    pub ends: &'a [End],
    /// Packets whose headers cannot be read are dropped.
    pub drop_unknown: bool,
    /// All packets pass.
    pub dry_run: bool,
    /// The descriptors of the maps: state, counters, buckets.
    pub maps: [i32; 3],
    /// The tables of classes.
    pub tables: &'a Tables,
}

// Registers during the program.
const CONTEXT: Register = R6;
/// The rest of the frame; the class of the source, then the cell, after parsing.
const FRAME: Register = R7;
const CELL: Register = R7;
/// The end of the frame; after parsing the version of the tables, then the argument of the action.
const FRAME_END: Register = R8;
const SCRATCH: Register = R8;
const LENGTH: Register = R9;

// Places on the stack, from its end. That below is the tables' own.
const SOURCE: i16 = -16;
const DESTINATION: i16 = -32;
const KEY: i16 = -36;

// Results of XDP programs and of TCX programs, whose "next" asks the programs behind it.
const XDP_DROP: i32 = 1;
const XDP_PASS: i32 = 2;
const TCX_NEXT: i32 = -1;
const TCX_DROP: i32 = 2;

// Helpers.
const CLOCK: i32 = 5;
const SKB_PULL_DATA: i32 = 39;
const XDP_LENGTH: i32 = 188;

// Fields of `struct __sk_buff`.
const SKB_LENGTH: i16 = 0;
const SKB_MARK: i16 = 8;

/// The longest headers that are read: Ethernet, two VLAN tags, IPv4 with all options.
const LONGEST_HEADERS: i32 = 14 + 8 + 60;
const VLAN_TAGS: usize = 2;

/// The time in which a list of limited rate may use up what it has not used, in nanoseconds.
const BURST: i32 = 100_000_000;

/// Places of the program that are jumped to.
struct Labels {
    short: Label,
    unknown: Label,
    other: Label,
    parsed: [Label; 2],
}

impl FilterProgram<'_> {
    /// The instructions.
    ///
    /// # Errors
    /// Never: an error says that a jump of this module has no place.
    pub(crate) fn assemble(&self) -> Result<Vec<Instruction>, JumpError> {
        let mut asm = Assembler::default();
        let (pass, drop) = (asm.label(), asm.label());
        let parsed = [asm.label(), asm.label()];
        let (unknown, other, decide) = (asm.label(), asm.label(), asm.label());
        asm.copy(CONTEXT, R1);
        self.pass_after_deadline(&mut asm, pass);
        let short = if self.frames.tc { asm.label() } else { unknown };
        self.frame(&mut asm);
        self.parse(&mut asm, &Labels { short, unknown, other, parsed });
        if self.frames.tc {
            asm.place(short);
            pull(&mut asm, unknown);
            self.frame(&mut asm);
            self.parse(&mut asm, &Labels { short: unknown, unknown, other, parsed });
        }
        for (family, label) in [IpFamily::V4, IpFamily::V6].into_iter().zip(parsed) {
            asm.place(label);
            self.length(&mut asm);
            self.tables.emit_version(&mut asm, pass);
            self.cell(&mut asm, family);
            asm.jump(decide);
        }
        let other = self.frames.ethernet.then_some((other, Counter::Other, false));
        let unknown = (unknown, Counter::Unknown, self.drop_unknown);
        for (label, counter, is_dropped) in other.into_iter().chain([unknown]) {
            asm.place(label);
            self.length(&mut asm);
            asm.store_immediate(STACK, KEY, counter as i32, Width::Four);
            self.count(&mut asm, pass);
            asm.jump(if is_dropped { drop } else { pass });
        }
        asm.place(decide);
        asm.copy(R1, CELL);
        asm.add(R1, KEPT as i32);
        asm.store(STACK, KEY, R1, Width::Four);
        self.count(&mut asm, pass);
        self.act(&mut asm, pass, drop);
        asm.place(drop);
        let (passes, drops) =
            if self.frames.tc { (TCX_NEXT, TCX_DROP) } else { (XDP_PASS, XDP_DROP) };
        asm.set(R0, if self.dry_run { passes } else { drops });
        asm.exit();
        asm.place(pass);
        asm.set(R0, passes);
        asm.exit();
        asm.finish()
    }

    /// Jumps if there is a deadline and it is over: nobody has confirmed the filter.
    fn pass_after_deadline(&self, asm: &mut Assembler, pass: Label) {
        let active = asm.label();
        asm.map_value(R1, self.maps[0], DEADLINE as i32);
        asm.load(R7, R1, 0, Width::Four);
        asm.jump_if(R7, If::Equal, NEVER as i32, active);
        asm.call(CLOCK);
        asm.alu_64_immediate(Alu::ShiftRight, R0, TICK_BITS);
        asm.jump_if_register(R0, If::Greater, R7, pass);
        asm.place(active);
    }

    /// Loads the bounds of the frame.
    fn frame(&self, asm: &mut Assembler) {
        let [start, end] = if self.frames.tc { [76, 80] } else { [0, 4] };
        asm.load(FRAME, CONTEXT, start, Width::Four);
        asm.load(FRAME_END, CONTEXT, end, Width::Four);
    }

    /// Loads the length of the packet.
    fn length(&self, asm: &mut Assembler) {
        match self.frames.tc {
            true => asm.load(LENGTH, CONTEXT, SKB_LENGTH, Width::Four),
            false => {
                asm.copy(R1, CONTEXT);
                asm.call(XDP_LENGTH);
                asm.copy(LENGTH, R0);
            }
        }
    }

    /// Reads the headers, writes the addresses to the stack, and jumps to the label of the family.
    fn parse(&self, asm: &mut Assembler, to: &Labels) {
        let [ipv4, ipv6] = [asm.label(), asm.label()];
        match self.frames.ethernet {
            true => ethertype(asm, to, [ipv4, ipv6]),
            false => {
                jump_if_shorter(asm, 1, to.short);
                asm.load(R2, FRAME, 0, Width::One);
                asm.alu_32_immediate(Alu::ShiftRight, R2, 4);
                asm.jump_if(R2, If::Equal, 4, ipv4);
                asm.jump_if(R2, If::Equal, 6, ipv6);
                asm.jump(to.unknown);
            }
        }
        asm.place(ipv4);
        jump_if_shorter(asm, 20, to.short);
        asm.load(R2, FRAME, 0, Width::One);
        asm.jump_if(R2, If::Less, 0x45, to.unknown);
        asm.jump_if(R2, If::Greater, 0x4f, to.unknown);
        // The low four bits are the header's length in words of 4 bytes.
        asm.alu_32_immediate(Alu::And, R2, 15);
        asm.alu_32_immediate(Alu::ShiftLeft, R2, 2);
        asm.copy(R1, FRAME);
        asm.alu_64(Alu::Add, R1, R2);
        asm.jump_if_register(R1, If::Greater, FRAME_END, to.short);
        for (from, place) in [(12, SOURCE), (16, DESTINATION)] {
            asm.load(R2, FRAME, from, Width::Four);
            asm.store(STACK, place, R2, Width::Four);
        }
        asm.jump(to.parsed[0]);
        asm.place(ipv6);
        jump_if_shorter(asm, 40, to.short);
        asm.load(R2, FRAME, 0, Width::One);
        asm.alu_32_immediate(Alu::ShiftRight, R2, 4);
        asm.jump_if(R2, If::NotEqual, 6, to.unknown);
        for (from, place) in [(8, SOURCE), (24, DESTINATION)] {
            // Frames have IP addresses at multiples of 4 bytes at best.
            for offset in (0..16).step_by(4) {
                asm.load(R2, FRAME, from + offset, Width::Four);
                asm.store(STACK, place + offset, R2, Width::Four);
            }
        }
        asm.jump(to.parsed[1]);
    }

    /// Looks the addresses up: the number of their cell in [`CELL`].
    fn cell(&self, asm: &mut Assembler, family: IpFamily) {
        for (n, end) in self.ends.iter().enumerate() {
            let key = if *end == End::Source { SOURCE } else { DESTINATION };
            self.tables.emit_lookup(asm, Lookup { family, table: n as u32, key });
            match n {
                0 => asm.copy(CELL, R0),
                _ => {
                    asm.alu_64_immediate(Alu::ShiftLeft, CELL, CELLS.trailing_zeros() as i32 / 2);
                    asm.alu_64(Alu::Add, CELL, R0);
                }
            }
        }
        // The classes are smaller in any case, but the verifier does not know it.
        asm.and(CELL, CELLS as i32 - 1);
    }

    /// Adds the packet to the counter whose number is on the stack.
    fn count(&self, asm: &mut Assembler, pass: Label) {
        const { assert!(COUNTER_BYTES == 16) };
        asm.look_up(self.maps[1], KEY);
        asm.jump_by_null(If::Equal, pass);
        add_packet(asm, R0, 0);
    }

    /// Does what the cell says.
    fn act(&self, asm: &mut Assembler, pass: Label, drop: Label) {
        let limit = asm.label();
        asm.map_value(R1, self.maps[0], VERDICTS as i32);
        asm.alu_64_immediate(Alu::Multiply, CELL, CELL_BYTES as i32);
        asm.alu_64(Alu::Add, R1, CELL);
        asm.load(R2, R1, 0, Width::Two);
        asm.load(R3, R1, 2, Width::Two);
        asm.load(SCRATCH, R1, 4, Width::Four);
        asm.jump_if(R2, If::Equal, ACTION_DROP.into(), drop);
        asm.jump_if(R2, If::Equal, ACTION_LIMIT.into(), limit);
        if self.frames.tc && !self.dry_run {
            asm.jump_if(R2, If::NotEqual, ACTION_MARK.into(), pass);
            asm.store(CONTEXT, SKB_MARK, SCRATCH, Width::Four);
        }
        asm.jump(pass);
        asm.place(limit);
        self.limit(asm, pass, drop);
    }

    /// Decides by the bucket whose number is in r3; [`SCRATCH`] has the nanoseconds from packet to packet.
    fn limit(&self, asm: &mut Assembler, pass: Label, drop: Label) {
        const { assert!(BUCKET_BYTES == 24) };
        let (is_later, is_over) = (asm.label(), asm.label());
        asm.store(STACK, KEY, R3, Width::Four);
        asm.look_up(self.maps[2], KEY);
        asm.jump_by_null(If::Equal, pass);
        let bucket = CELL;
        asm.copy(bucket, R0);
        asm.call(CLOCK);
        // The bucket has the time at which the next packet is due: at most a burst ago.
        asm.load(R2, bucket, 0, Width::Eight);
        asm.copy(R4, R0);
        asm.add(R4, -BURST);
        asm.jump_if_register(R2, If::GreaterOrEqual, R4, is_later);
        asm.copy(R2, R4);
        asm.place(is_later);
        asm.jump_if_register(R2, If::Greater, R0, is_over);
        asm.alu_64(Alu::Add, R2, SCRATCH);
        asm.store(bucket, 0, R2, Width::Eight);
        asm.jump(pass);
        asm.place(is_over);
        add_packet(asm, bucket, 8);
        asm.jump(drop);
    }
}

/// Adds the packet to a count of packets and bytes.
fn add_packet(asm: &mut Assembler, counter: Register, offset: i16) {
    asm.load(R1, counter, offset, Width::Eight);
    asm.add(R1, 1);
    asm.store(counter, offset, R1, Width::Eight);
    asm.load(R1, counter, offset + 8, Width::Eight);
    asm.alu_64(Alu::Add, R1, LENGTH);
    asm.store(counter, offset + 8, R1, Width::Eight);
}

/// Jumps if the rest of the frame has fewer bytes.
fn jump_if_shorter(asm: &mut Assembler, bytes: i32, label: Label) {
    asm.copy(R1, FRAME);
    asm.add(R1, bytes);
    asm.jump_if_register(R1, If::Greater, FRAME_END, label);
}

/// Reads the Ethernet header and VLAN tags, and jumps by what follows them.
fn ethertype(asm: &mut Assembler, to: &Labels, families: [Label; 2]) {
    let is = |number: u16| i32::from(number.to_be());
    let known = asm.label();
    jump_if_shorter(asm, 14, to.short);
    asm.load(R2, FRAME, 12, Width::Two);
    asm.add(FRAME, 14);
    for _ in 0..VLAN_TAGS {
        let tag = asm.label();
        asm.jump_if(R2, If::Equal, is(0x8100), tag);
        asm.jump_if(R2, If::NotEqual, is(0x88a8), known);
        asm.place(tag);
        jump_if_shorter(asm, 4, to.short);
        asm.load(R2, FRAME, 2, Width::Two);
        asm.add(FRAME, 4);
    }
    asm.place(known);
    asm.jump_if(R2, If::Equal, is(0x0800), families[0]);
    asm.jump_if(R2, If::Equal, is(0x86dd), families[1]);
    asm.jump_if(R2, If::Equal, is(0x8100), to.unknown);
    asm.jump_if(R2, If::Equal, is(0x88a8), to.unknown);
    asm.jump(to.other);
}

/// Brings the headers of a packet into one piece of memory.
fn pull(asm: &mut Assembler, unknown: Label) {
    let short = asm.label();
    asm.load(R2, CONTEXT, SKB_LENGTH, Width::Four);
    asm.jump_if(R2, If::LessOrEqual, LONGEST_HEADERS, short);
    asm.set(R2, LONGEST_HEADERS);
    asm.place(short);
    asm.copy(R1, CONTEXT);
    asm.call(SKB_PULL_DATA);
    asm.jump_if_64(R0, If::NotEqual, 0, unknown);
}
