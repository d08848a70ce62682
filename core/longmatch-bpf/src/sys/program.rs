//! Programs, and runs of them without an interface.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;
use std::time::Duration;

use super::object::{self, field, number};
use super::{Error, address, bpf, name, own, text};
use crate::asm::Instruction;

const PROG_LOAD: libc::c_int = 5;
const PROG_TEST_RUN: libc::c_int = 10;
const ATTACH_XDP: u32 = 37;
/// Bytes of the verifier's log that are read.
const LOG_BYTES: usize = 1 << 20;
/// The maps of a program that [`Program::info`] names.
const MAX_MAPS: usize = 64;

/// The arguments of `BPF_PROG_LOAD`.
#[repr(C)]
struct ProgLoad {
    kind: u32,
    instruction_count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    expected_attach: u32,
}

/// The arguments of `BPF_PROG_TEST_RUN`.
#[repr(C)]
struct TestRun {
    program: u32,
    result: u32,
    size: u32,
    size_out: u32,
    data: u64,
    data_out: u64,
    repeat: u32,
    duration: u32,
}

/// The kind of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ProgramKind {
    /// Before the network stack; results are those of `enum xdp_action`.
    Xdp,
    /// In tc, at either direction; results are those of `linux/pkt_cls.h`.
    Classifier,
}

/// The information of the kernel about a program.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ProgramInfo {
    /// The kernel's number of the program.
    pub id: u32,
    /// The name.
    pub name: String,
    /// Bytes of its instructions after the verifier's changes; 0 without rights to see them.
    pub translated_bytes: u32,
    /// Bytes of its machine code; 0 without a compiler in the kernel.
    pub machine_bytes: u32,
    /// Instructions that the verifier followed, on all paths; 0 before Linux 5.16.
    pub verified_instructions: u32,
    /// The kernel's numbers of its maps, at most 64.
    pub maps: Vec<u32>,
}

/// How a program runs without an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// The number of runs, one after the other.
    pub repeat: u32,
    /// The greatest length of a packet that the program may leave; 0 if the packet is not asked for.
    pub packet_bytes: usize,
}

impl Default for Run {
    /// One run.
    fn default() -> Self {
        Self { repeat: 1, packet_bytes: 0 }
    }
}

/// What a run leaves.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The result of the last run.
    pub result: u32,
    /// The packet after it, if [`Run::packet_bytes`] asks for it.
    pub packet: Vec<u8>,
    /// The mean time of a run, in whole nanoseconds.
    pub duration: Duration,
}

/// A program that is loaded.
///
/// See [the module](super) for an example.
#[derive(Debug)]
pub struct Program(OwnedFd);

impl Program {
    /// Loads a program. Its name is for `bpftool`: up to 15 letters, digits, `_` and `.`.
    ///
    /// # Errors
    /// If the process lacks rights, or the verifier refuses the program: the error has its reasons.
    pub fn load(kind: ProgramKind, name: &str, code: &[Instruction]) -> Result<Self, Error> {
        let error = match load_with_log(kind, name, code, &mut []) {
            Ok(program) => return Ok(Self(program)),
            Err(error) => error,
        };
        let action = format!("load the BPF program {name} of {} instructions", code.len());
        // The verifier's refusal is EACCES.
        if error.raw_os_error() == Some(libc::EPERM) {
            return Err(Error::at(action, "5.2")(error));
        }
        // The verifier writes its reasons only if it is asked to.
        let mut log = vec![0; LOG_BYTES];
        match load_with_log(kind, name, code, &mut log) {
            Ok(program) => Ok(Self(program)),
            Err(error) => {
                let log = CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy();
                Err(Error::at(action, "5.9")(error).with_log(log.trim().to_owned()))
            }
        }
    }

    /// Opens a program that is pinned in the BPF file system.
    ///
    /// # Errors
    /// If there is no such pin.
    pub fn open_pinned(path: impl AsRef<Path>) -> Result<Self, Error> {
        object::open(path.as_ref()).map(Self)
    }

    /// Opens the program with this number of the kernel's.
    ///
    /// # Errors
    /// If there is no such program.
    pub fn open_id(id: u32) -> Result<Self, Error> {
        object::by_id(object::PROGRAM_BY_ID, id).map(Self)
    }

    /// Pins the program in the BPF file system: it stays after the process.
    ///
    /// # Errors
    /// If the path exists, or is not in the BPF file system.
    pub fn pin(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        object::pin(self.0.as_fd(), path.as_ref())
    }

    /// The descriptor.
    #[must_use]
    pub fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// The information of the kernel about the program.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn info(&self) -> Result<ProgramInfo, Error> {
        let mut maps = [0_u32; MAX_MAPS];
        let mut info = [0; 256];
        info[52..56].copy_from_slice(&(MAX_MAPS as u32).to_ne_bytes());
        info[56..64].copy_from_slice(&address(maps.as_mut_ptr()).to_ne_bytes());
        object::info(self.0.as_fd(), &mut info)?;
        let count = (number(&info, 52) as usize).min(MAX_MAPS);
        Ok(ProgramInfo {
            id: number(&info, 4),
            name: text(&field::<16>(&info, 64)),
            translated_bytes: number(&info, 20),
            machine_bytes: number(&info, 16),
            verified_instructions: number(&info, 216),
            maps: maps[..count].to_vec(),
        })
    }

    /// Runs the program on a packet, without an interface.
    ///
    /// # Errors
    /// If the packet is shorter than 14 bytes, or the kernel refuses.
    pub fn run(&self, packet: &[u8], run: Run) -> Result<Outcome, Error> {
        let mut output = vec![0; run.packet_bytes];
        let mut arguments = TestRun {
            program: self.descriptor() as u32,
            result: u32::MAX,
            size: packet.len() as u32,
            size_out: output.len() as u32,
            data: address(packet),
            data_out: if output.is_empty() { 0 } else { address(output.as_mut_ptr()) },
            repeat: run.repeat,
            duration: 0,
        };
        // SAFETY: the structure is that of the command, and the packets have the stated lengths.
        let done = unsafe { bpf(PROG_TEST_RUN, &mut arguments) };
        done.map_err(Error::at("run a BPF program", "5.2"))?;
        output.truncate(arguments.size_out as usize);
        let duration = Duration::from_nanos(arguments.duration.into());
        Ok(Outcome { result: arguments.result, packet: output, duration })
    }
}

impl AsFd for Program {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn load_with_log(
    kind: ProgramKind,
    program: &str,
    code: &[Instruction],
    log: &mut [u8],
) -> io::Result<OwnedFd> {
    let (kind, expected_attach) = match kind {
        ProgramKind::Xdp => (6, ATTACH_XDP),
        ProgramKind::Classifier => (3, 0),
    };
    let mut arguments = ProgLoad {
        kind,
        instruction_count: code.len() as u32,
        instructions: address(code),
        license: address(c"MIT OR Apache-2.0".as_ptr()),
        log_level: u32::from(!log.is_empty()),
        log_size: log.len() as u32,
        log: if log.is_empty() { 0 } else { address(log.as_mut_ptr()) },
        kernel_version: 0,
        flags: 0,
        name: name(program),
        interface: 0,
        expected_attach,
    };
    // SAFETY: the structure is that of the command; the instructions and the log have the stated
    // lengths, the license ends with a zero byte, and all live until the call ends.
    let descriptor = unsafe { bpf(PROG_LOAD, &mut arguments) }?;
    // SAFETY: the descriptor is new.
    Ok(unsafe { own(descriptor) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asm::Assembler;

    #[test]
    fn the_verifier_says_what_is_wrong() {
        let error = Program::load(ProgramKind::Xdp, "empty", &[]).unwrap_err();
        assert!(error.number().is_some() && error.log().is_empty(), "{error}");
        // Without a result.
        let mut asm = Assembler::default();
        asm.exit();
        let error = Program::load(ProgramKind::Xdp, "bad", &asm.finish().unwrap()).unwrap_err();
        assert!(error.is_permission() || error.log().contains("R0"), "{error}");
    }
}
