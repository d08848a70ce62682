//! Signals during `annotate`.
//!
//! Until [`Signals::catch`] nothing is written, and SIGINT or SIGTERM ends the program as the system does.
//! From then on the first one ends the reading; rows that were read are still written. The second one ends the program.
//! SIGHUP reads the tables again, also where it comes before the first line. Where there is nothing to read, it does
//! nothing but print a notice.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::plan::Plan;
use super::tables::AnnotationTables;
use crate::args::AnnotateArgs;
use crate::error::CliError;
use crate::output::warn;

/// The signals that have come.
#[derive(Clone, Default)]
pub struct Signals {
    interrupted: Arc<AtomicBool>,
    hung_up: Arc<AtomicBool>,
    /// Whether the tables are files that can be read again.
    reloads: bool,
    /// Whether a thread reads the tables.
    reloading: Arc<AtomicBool>,
}

impl Signals {
    /// Catches SIGINT and SIGTERM from now on.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn catch(&self) -> Result<(), CliError> {
        #[cfg(unix)]
        {
            // First the flag that ends the reading: no signal between the calls is lost then.
            let has_come = Arc::new(AtomicBool::new(false));
            for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
                signal_hook::flag::register(signal, self.interrupted.clone())
                    .and_then(|_| {
                        signal_hook::flag::register_conditional_default(signal, has_come.clone())
                    })
                    .and_then(|_| signal_hook::flag::register(signal, has_come.clone()))
                    .map_err(|error| CliError::input("signals", error))?;
            }
        }
        Ok(())
    }

    /// Catches SIGHUP from now on.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new(args: &AnnotateArgs) -> Result<Self, CliError> {
        let signals = Self { reloads: args.can_reload(), ..Self::default() };
        #[cfg(unix)]
        signal_hook::flag::register(signal_hook::consts::SIGHUP, signals.hung_up.clone())
            .map_err(|error| CliError::input("signals", error))?;
        Ok(signals)
    }

    /// After SIGHUP, reads the tables again in a separate thread. Bad tables change nothing.
    pub fn reload(&self, args: &AnnotateArgs, plan: &Arc<Plan>) {
        if !self.hung_up.load(Ordering::Relaxed) || self.reloading.swap(true, Ordering::Relaxed) {
            return;
        }
        self.hung_up.store(false, Ordering::Relaxed);
        if !self.reloads {
            self.reloading.store(false, Ordering::Relaxed);
            return warn("SIGHUP: the tables are not files that can be read again: they stay");
        }
        let (args, plan, reloading) = (args.clone(), plan.clone(), self.reloading.clone());
        let work = move || {
            match AnnotationTables::load(&args, plan.format.style(), plan.format.empty_cell()) {
                Ok(tables) if tables.adds_as(&plan.tables()) => {
                    plan.set_tables(tables);
                    warn("the tables were read again");
                }
                Ok(_) => warn("the tables have other columns now: the old ones stay"),
                Err(error) => warn(format_args!("{error}: the old tables stay")),
            }
            reloading.store(false, Ordering::Relaxed);
        };
        if let Err(error) = thread::Builder::new().spawn(work) {
            warn(format_args!("a thread did not start: {error}: the old tables stay"));
            self.reloading.store(false, Ordering::Relaxed);
        }
    }

    /// Whether SIGINT or SIGTERM has come.
    pub fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// A reader that fails after SIGINT or SIGTERM, also while it waits if `waits` is true. Only Unix has a call
    /// that ends the waiting.
    pub fn reader<R>(
        &self,
        inner: R,
        #[cfg_attr(not(unix), expect(unused_variables))] waits: bool,
    ) -> SignalledReader<R> {
        SignalledReader {
            inner,
            #[cfg(unix)]
            waits,
            signals: self.clone(),
        }
    }
}

/// The reader of [`Signals::reader`].
pub struct SignalledReader<R> {
    inner: R,
    #[cfg(unix)]
    waits: bool,
    signals: Signals,
}

#[cfg(unix)]
impl<R: Read + std::os::fd::AsFd> Read for SignalledReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        // The signal may come in another thread, which does not end the waiting here.
        const STEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        loop {
            if self.signals.interrupted() {
                return Err(io::Error::other("interrupted"));
            }
            let mut fds = [PollFd::new(&self.inner, PollFlags::IN)];
            match self.waits.then(|| poll(&mut fds, Some(&STEP))) {
                Some(Ok(0) | Err(rustix::io::Errno::INTR)) => {}
                // Reading has the same error, or has none.
                _ => return self.inner.read(buf),
            }
        }
    }
}

#[cfg(not(unix))]
impl<R: Read> Read for SignalledReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.signals.interrupted() {
            true => Err(io::Error::other("interrupted")),
            false => self.inner.read(buf),
        }
    }
}
