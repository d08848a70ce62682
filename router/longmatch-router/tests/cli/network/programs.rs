//! Interfaces with another XDP program: the advice of the message works.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::net::{AddressFamily, SendFlags, SocketType, send, socket};

use super::child::Forwarder;
use super::net::Net;
use super::wire::index;

/// An XDP program that passes everything to the kernel.
fn program() -> OwnedFd {
    // r0 = XDP_PASS; exit
    let code = [0x0000_0002_0000_00b7_u64, 0x95];
    let license = c"MIT";
    let pointer = |start: *const u8| start.expose_provenance() as u64;
    // The first fields of the arguments of BPF_PROG_LOAD: type and number of instructions, instructions, license.
    let mut arguments =
        [6 | 2 << 32, pointer(code.as_ptr().cast()), pointer(license.as_ptr().cast())];
    let size = size_of_val(&arguments);
    // SAFETY: the arguments have this size; the instructions and the license live until the call ends.
    let loaded = unsafe { libc::syscall(libc::SYS_bpf, 5, arguments.as_mut_ptr(), size) };
    assert!(loaded >= 0, "{}", io::Error::last_os_error());
    // SAFETY: the descriptor is new.
    unsafe { OwnedFd::from_raw_fd(loaded as i32) }
}

/// Attaches a program to an interface by rtnetlink, as `ip` does.
fn attach(interface: &str, program: &OwnedFd, generic: bool) {
    let mode = if generic { 2 } else { 4 };
    // struct ifinfomsg, IFLA_XDP with IFLA_XDP_FD and IFLA_XDP_FLAGS.
    let link = [0, index(interface), 0, 0, 20 | (43 | 0x8000) << 16];
    let attributes = [8 | 1 << 16, program.as_raw_fd() as u32, 8 | 3 << 16, mode];
    // struct nlmsghdr of RTM_SETLINK.
    let words = [&[52, 19 | 1 << 16, 1, 0], &link[..], &attributes].concat();
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None).unwrap();
    send(&socket, &bytes, SendFlags::empty()).unwrap();
    assert!(super::wire::ip(&format!("-d link show {interface}")).contains("prog/xdp"));
}

#[test]
#[cfg(target_endian = "little")]
fn advice_about_other_programs_works() {
    let Some(net) = Net::new("advice_about_other_programs_works") else { return };
    let program = program();
    let refused = || {
        let ended = net.program(&["-i", "ra", "rb", "--seconds", "1", "--control", "x"]);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains("ra: another XDP program is attached"), "{ended:?}");
        ended.stderr
    };
    for generic in [false, true] {
        net.router.run(|| attach("ra", &program, generic));
        let advice = if generic { "xdpgeneric off" } else { "xdp off" };
        assert!(refused().contains(advice));
        net.router.ip(&format!("link set ra {advice}"));
        Forwarder::start(&net, &[]).end();
    }
    // A link ends with its process only.
    let forwarder = Forwarder::start(&net, &[]);
    assert!(refused().contains("--take-over"));
    assert!(!net.router.try_ip("link set ra xdp off"));
    forwarder.end();
    Forwarder::start(&net, &[]).end();
}
