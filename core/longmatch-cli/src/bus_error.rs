//! The message of a command that SIGBUS ends: the system sends it to a process that reads a part of a mapped file that is
//! no longer there, because another program shortened the file.

use std::io;
use std::path::Path;
use std::sync::{Once, OnceLock};

use longmatch_feed::printable;
use signal_hook::consts::SIGBUS;

use crate::output::{program, warn};

/// A file that is or was mapped, in a list that only grows: a handler of a signal may wait for no lock.
struct MappedFile {
    /// The path, printable.
    name: Box<str>,
    next: OnceLock<Box<Self>>,
}

static FIRST: OnceLock<Box<MappedFile>> = OnceLock::new();
static HANDLER: Once = Once::new();

const CAUSE: &str = ": a bus error: the mapped file was shortened by another program, or its disk failed; never write into a \
                     table that is in use: write another file, then rename it ('mv NEW FILE')\n";

/// From now on the command names this file if SIGBUS ends it. To be called before the file is mapped.
pub fn name_file(path: &Path) {
    add(printable(&path.display().to_string()).into());
    HANDLER.call_once(|| {
        // SAFETY: `end` only reads memory that does not change any more, and calls write(2) and _exit(2).
        if let Err(error) = unsafe { signal_hook::low_level::register(SIGBUS, end) } {
            warn(format_args!("SIGBUS cannot be caught: {error}"));
        }
    });
}

/// Adds a name to the list, unless it is there.
fn add(name: Box<str>) {
    let mut file = Box::new(MappedFile { name, next: OnceLock::new() });
    let mut place = &FIRST;
    loop {
        let present = match place.get() {
            Some(present) => present,
            None => match place.set(file) {
                Ok(()) => return,
                // Another thread has added a file meanwhile.
                Err(refused) => {
                    file = refused;
                    continue;
                }
            },
        };
        if present.name == file.name {
            return;
        }
        place = &present.next;
    }
}

/// The handler: it ends the process. Other handlers, such as that of Rust for stacks that overflow, have run before.
fn end() {
    let print = |text: &str| {
        // Standard error may be closed: nothing else can be done then.
        let _ = rustix::io::write(io::stderr(), text.as_bytes());
    };
    print(program());
    let mut next = FIRST.get();
    let mut separator = ": ";
    while let Some(file) = next {
        print(separator);
        print(&file.name);
        separator = ", ";
        next = file.next.get();
    }
    print(CAUSE);
    signal_hook::low_level::exit(2);
}
