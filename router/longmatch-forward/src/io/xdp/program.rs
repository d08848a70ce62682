//! The XDP program.
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

use longmatch_bpf::asm::{
    Assembler, If, Instruction, JumpError, Label, R0, R1, R2, R3, R6, R7, R8, R9, Register, STACK,
    Width,
};

/// The number that XDP programs return for packets that go to the kernel.
pub(super) const XDP_PASS: i32 = 2;

/// The bytes of a key of the map of local addresses: an IPv6 address, or a mapped IPv4 address.
pub(super) const ADDRESS_BYTES: i16 = 16;

const CONTEXT: Register = R6;
const FRAME: Register = R7;
const END: Register = R8;
const FLAGS: Register = R9;
/// Later than the flags.
const ALIVE_UNTIL: Register = R9;

const REDIRECT_MAP: i32 = 51;
/// The monotonic clock at the last tick, since Linux 5.11.
pub(super) const COARSE_CLOCK: i32 = 160;
/// The monotonic clock now.
pub(super) const CLOCK: i32 = 5;

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
pub(super) fn forwarding_program(
    [address, local, alive, sockets]: [i32; 4],
    clock: i32,
    (longest, partial): (u16, bool),
    otherwise: i32,
) -> Result<Vec<Instruction>, JumpError> {
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
    use crate::io::xdp::maps;
    use longmatch_bpf::sys::{Map, MapSpec};
    use longmatch_bpf::sys::{MapKind, Program, ProgramKind, Run};
    use std::{io::Write, time::Duration};

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
    fn kept(programs: &[Program; 2], frame: &[u8]) -> [bool; 2] {
        programs.each_ref().map(|program| {
            match program.run(frame, Run::default()).unwrap().result as i32 {
                XDP_PASS => true,
                FORWARDER => false,
                other => panic!("{other}: {frame:02x?}"),
            }
        })
    }

    #[test]
    fn the_kernel_keeps_its_packets_and_the_forwarder_gets_the_others() {
        let maps = maps::of_addresses(8)
            .and_then(|local| Ok((local, maps::of_sockets(1)?, maps::of_ethernet_address()?)))
            .and_then(|maps| Ok((maps, Map::create(&MapSpec::new(MapKind::Hash, "alive", 8, 1))?)));
        let ((local, sockets, address), alive) = match maps {
            Ok(maps) => maps,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "skipped: runs of the XDP program: {error}");
                return;
            }
        };
        for address in ["::ffff:10.0.0.1", "2001:db8::1"] {
            let key = address.parse::<std::net::Ipv6Addr>().unwrap().octets();
            local.insert(&key, &[1]).unwrap();
        }
        let [a, b, c, d, e, f] = HOST;
        address.insert(&[0; 4], &[a, b, c, d, e, f, 0, 0]).unwrap();
        // The queue has no socket.
        let maps =
            [address.descriptor(), local.descriptor(), alive.descriptor(), sockets.descriptor()];
        let programs = [(COARSE_CLOCK, false), (CLOCK, true)].map(|(clock, partial)| {
            let code = forwarding_program(maps, clock, (60, partial), FORWARDER).unwrap();
            Program::load(ProgramKind::Xdp, "test", &code).unwrap_or_else(|error| panic!("{error}"))
        });
        let transit = [ipv4([10, 0, 0, 2]), ipv6("2001:db8::7", "2001:db8::2")];
        // No queue of a thread, one whose thread stands still for a second, and one that has a second left.
        let second = Duration::from_secs(1);
        let times = [None, Some(now() - second), Some(now() + second)];
        for (time, kernel) in times.into_iter().zip([true, true, false]) {
            if let Some(time) = time {
                alive.insert(&[0; 4], &(time.as_nanos() as u64).to_ne_bytes()).unwrap();
            }
            assert_eq!(kept(&programs, &transit[0]), [kernel; 2], "{time:?}");
        }
        alive.insert(&[0; 4], &u64::MAX.to_ne_bytes()).unwrap();
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
            address.insert(&[0; 4], &[a, b, c, d, e, f, flags[0], flags[1]]).unwrap();
            for (frame, kernel) in transit.iter().zip(kernel) {
                assert_eq!(kept(&programs, frame), [kernel; 2], "{flags:?}");
            }
        }
    }
}
