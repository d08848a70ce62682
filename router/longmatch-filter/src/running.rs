//! A filter at an interface, and the pins that keep it without a process.
//!
//! The pins of a filter are in a directory of its own: the link, which has the program and its maps, and what is known beside
//! them. That of the link is made last and removed first: a directory without it is what a process left that was killed
//! meanwhile, no packet is filtered, and the next start removes it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longmatch::IpPrefix;
use longmatch_bpf::sys::{self, Link, Map, MapKind, MapSpec, Program};
use rustix::fs::{FlockOperation, flock, statfs};
use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::error::FilterError;
use crate::filter::{Filter, Hook, Setup};
use crate::netlink::interface;
use crate::safety::Safety;

/// The mode of an XDP program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum XdpMode {
    /// In the driver where it supports that, otherwise in the network stack.
    Auto,
    /// In the driver.
    Native,
    /// In the network stack.
    Generic,
}

/// A filter to start.
#[derive(Clone, Debug)]
pub struct Start {
    /// The interface.
    pub interface: String,
    /// The properties; `ethernet` is found out.
    pub setup: Setup,
    /// The mode of an XDP program.
    pub mode: XdpMode,
    /// The files of the lists, in their order, for those who read them again.
    pub files: Vec<String>,
    /// The file of the scope.
    pub scope_file: Option<String>,
    /// The addresses that always pass; `None` if there are none.
    pub safety: Option<Safety>,
    /// The time after which all packets pass, unless the filter is confirmed.
    pub confirm: Option<Duration>,
    /// The directory for the pins of all filters; `None` for a filter that ends with its value.
    pub pins: Option<PathBuf>,
}

/// What is known of a filter beside its tables.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct About {
    /// The version of this structure and of the maps.
    format: u32,
    /// The interface.
    pub interface: String,
    /// The kernel's number of it.
    pub index: u32,
    /// The number of its network namespace.
    pub namespace: u64,
    /// The properties.
    pub setup: Setup,
    /// Whether an XDP program is in the driver.
    pub native: bool,
    /// The files of the lists, in their order.
    pub files: Vec<String>,
    /// The file of the scope.
    pub scope_file: Option<String>,
    /// The addresses that always pass.
    pub safety: Option<Safety>,
}

/// The version of [`About`] and of the maps.
const FORMAT: u32 = 1;
/// Bytes of [`About`] as text, with its length before it.
const ABOUT_BYTES: usize = 1 << 16;
/// The pin of the link.
const LINK: &str = "link";
const ABOUT: &str = "about";

/// A filter at an interface.
///
/// It ends with this value unless it has pins.
///
/// ```no_run
/// use longmatch_filter::{Hook, Running};
/// let running = Running::open("eth0", Hook::Xdp, "/sys/fs/bpf/longmatch".as_ref())?;
/// println!("{:?}", running.filter().counts()?.dropped);
/// # Ok::<(), longmatch_filter::FilterError>(())
/// ```
#[derive(Debug)]
pub struct Running {
    filter: Filter,
    about: About,
    about_map: Map,
    pins: Option<PathBuf>,
    /// The link of a filter without pins.
    link: Option<Link>,
}

/// Whether a directory, or the one that will have it, is in a file system of BPF.
pub fn is_bpf_file_system(path: &Path) -> bool {
    const MAGIC: i128 = 0xcafe_4a11;
    let existing = path.ancestors().find(|it| it.exists());
    existing.and_then(|it| statfs(it).ok()).is_some_and(|it| i128::from(it.f_type) == MAGIC)
}

impl Running {
    /// Attaches a filter to an interface.
    ///
    /// # Errors
    /// If the interface has one already, or the kernel refuses.
    ///
    /// # Panics
    /// As [`Filter::load`].
    pub fn start(start: Start, content: &Content) -> Result<Self, FilterError> {
        let Start { interface: name, mut setup, .. } = start;
        let found = interface(&name).map_err(FilterError::Netlink)?;
        let found = found.ok_or_else(|| FilterError::NoInterface { interface: name.clone() })?;
        let no_frames = || FilterError::Frames { interface: name.clone() };
        setup.ethernet = found.ethernet.ok_or_else(no_frames)?;
        // Held until the filter is there.
        let (_lock, pins) = match &start.pins {
            None => (None, None),
            Some(base) => {
                fs::create_dir_all(base).map_err(at(base))?;
                let pins = base.join(pin_name(&name, setup.hook));
                (Some(lock(base)?), Some(free_directory(&name, pins)?))
            }
        };
        let filter = Filter::load(setup.clone(), content)?;
        filter.set_remaining(start.confirm);
        let link = attach(filter.program(), &name, found.index, setup.hook, start.mode);
        let (link, native) = link?;
        let about = About {
            format: FORMAT,
            interface: name,
            index: found.index,
            namespace: namespace(),
            setup,
            native,
            files: start.files,
            scope_file: start.scope_file,
            safety: start.safety,
        };
        let spec = MapSpec::new(MapKind::Array, "filter_about", ABOUT_BYTES as u32, 1);
        let about_map = Map::create(&spec)?;
        let running = Self { filter, about, about_map, pins, link: None };
        running.store_about()?;
        let Some(pins) = &running.pins else { return Ok(Self { link: Some(link), ..running }) };
        if let Err(error) = running.pin(pins).and_then(|()| Ok(link.pin(pins.join(LINK))?)) {
            // The link ends with this function.
            remove(pins)?;
            return Err(error);
        }
        drop(link.into_descriptor());
        Ok(running)
    }

    /// Opens the filter of an interface by its pins.
    ///
    /// # Errors
    /// If there is none, or it is that of another network namespace or version.
    pub fn open(name: &str, hook: Hook, base: &Path) -> Result<Self, FilterError> {
        let pins = base.join(pin_name(name, hook));
        let not_running = || FilterError::NotRunning {
            interface: format!("{name} ({})", hook.name()),
            pins: pins.clone(),
            mounted: is_bpf_file_system(base),
        };
        let program = match Link::open_pinned(pins.join(LINK)) {
            Ok(link) => {
                let info = link.info();
                drop(link.into_descriptor());
                info?.program
            }
            Err(error) if error.is_permission() => return Err(error.into()),
            Err(_) => return Err(not_running()),
        };
        let version = || FilterError::Version { pins: pins.clone() };
        let about_map = Map::open_pinned(pins.join(ABOUT)).map_err(|_| version())?;
        let about = read_about(&about_map)?.filter(|about| about.format == FORMAT);
        let about = about.ok_or_else(version)?;
        if about.namespace != namespace() {
            return Err(FilterError::OtherNamespace { interface: name.to_owned(), pins });
        }
        let filter = Filter::open(about.setup.clone(), Program::open_id(program)?)?;
        let filter = filter.ok_or_else(version)?;
        Ok(Self { filter, about, about_map, pins: Some(pins), link: None })
    }

    /// The filter.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// What is known of it.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The directory of its pins; `None` if it ends with this value.
    pub fn pins(&self) -> Option<&Path> {
        self.pins.as_deref()
    }

    /// Whether the interface is still there.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn is_attached(&self) -> Result<bool, FilterError> {
        let Some(pins) = &self.pins else { return Ok(true) };
        let link = Link::open_pinned(pins.join(LINK))?;
        let attached = link.info().map(|info| info.interface != 0);
        drop(link.into_descriptor());
        Ok(attached?)
    }

    /// Keeps other processes from changing the filter, until the value is dropped.
    ///
    /// # Errors
    /// If the pins are gone.
    pub fn lock(&self) -> Result<Option<Lock>, FilterError> {
        self.pins.as_deref().map(lock).transpose()
    }

    /// Replaces the addresses of all lists. Each packet sees either the old ones or the new ones.
    ///
    /// # Errors
    /// If the lists have too many combinations, or the kernel no memory; nothing is replaced then.
    ///
    /// # Panics
    /// As [`Filter::replace`].
    pub fn replace(&mut self, content: &Content) -> Result<(), FilterError> {
        let Self { filter, pins, link, .. } = self;
        filter.replace(content, |program| {
            let Some(pins) = pins else {
                return Ok(link.as_ref().map_or(Ok(()), |link| link.update(program))?);
            };
            let link = Link::open_pinned(pins.join(LINK))?;
            let updated = link.update(program);
            drop(link.into_descriptor());
            Ok(updated?)
        })
    }

    /// Changes the addresses of the lists within a prefix, as [`Filter::patch`].
    ///
    /// # Errors
    /// As [`Filter::patch`].
    pub fn patch(
        &mut self,
        prefix: IpPrefix,
        change: impl FnOnce(&mut Content),
    ) -> Result<bool, FilterError> {
        self.filter.patch(prefix, change)
    }

    /// Remembers other files of the lists and other addresses that always pass.
    ///
    /// # Errors
    /// If the kernel refuses, or the names are longer than the map's value.
    pub fn remember(
        &mut self,
        files: Vec<String>,
        scope_file: Option<String>,
        safety: Option<Safety>,
    ) -> Result<(), FilterError> {
        self.about = About { files, scope_file, safety, ..self.about.clone() };
        self.store_about()
    }

    /// Detaches the filter, and removes its pins.
    ///
    /// # Errors
    /// If a pin cannot be removed.
    pub fn detach(self) -> Result<(), FilterError> {
        let Some(pins) = self.pins else { return Ok(()) };
        let _lock = lock(pins.parent().unwrap_or(&pins))?;
        // Without its pin, the link ends with this process in any case, and its drop detaches the program.
        let link = Link::open_pinned(pins.join(LINK));
        let removed = remove(&pins);
        drop(link);
        removed
    }

    fn pin(&self, pins: &Path) -> Result<(), FilterError> {
        fs::create_dir(pins).map_err(at(pins))?;
        Ok(self.about_map.pin(pins.join(ABOUT))?)
    }

    fn store_about(&self) -> Result<(), FilterError> {
        let text = serde_json::to_vec(&self.about).map_err(io::Error::from);
        let mut value = vec![0; ABOUT_BYTES];
        let stored = text.and_then(|text| {
            let text_bytes = value[4..].get_mut(..text.len()).ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "the names of the lists and files are too long",
                )
            })?;
            text_bytes.copy_from_slice(&text);
            Ok(text.len() as u32)
        });
        let path = PathBuf::from(&self.about.interface);
        let length = stored.map_err(|source| FilterError::Pins { path, source })?;
        value[..4].copy_from_slice(&length.to_ne_bytes());
        Ok(self.about_map.insert(&[0; 4], &value)?)
    }
}

/// What is known of a filter; `None` if it is that of another version.
fn read_about(map: &Map) -> Result<Option<About>, sys::Error> {
    let value = map.look_up(&[0; 4])?.unwrap_or_default();
    let text = value
        .split_first_chunk()
        .and_then(|(length, text)| text.get(..u32::from_ne_bytes(*length) as usize));
    Ok(text.and_then(|text| serde_json::from_slice(text).ok()))
}

/// The name of a filter's directory. A file system of BPF has no points in names.
fn pin_name(interface: &str, hook: Hook) -> String {
    format!("{}-{}", interface.replace('%', "%25").replace('.', "%2e"), hook.name())
}

/// The number of this thread's network namespace.
fn namespace() -> u64 {
    fs::metadata("/proc/thread-self/ns/net").map_or(0, |it| it.ino())
}

/// Keeps other processes from making and changing filters, until it is dropped.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "closing the directory ends the lock")] File);

fn lock(directory: &Path) -> Result<Lock, FilterError> {
    let locked = File::open(directory).and_then(|file| {
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(Lock(file))
    });
    locked.map_err(at(directory))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> FilterError {
    |source| FilterError::Pins { path: path.to_owned(), source }
}

/// Returns the path if no filter has its pins there; those that a killed process left are removed.
fn free_directory(name: &str, pins: PathBuf) -> Result<PathBuf, FilterError> {
    if !pins.exists() {
        return Ok(pins);
    }
    if let Ok(link) = Link::open_pinned(pins.join(LINK)) {
        let attached = link.info().is_ok_and(|info| info.interface != 0);
        if attached {
            drop(link.into_descriptor());
            return Err(FilterError::Running { interface: name.to_owned(), pins });
        }
    }
    remove(&pins)?;
    Ok(pins)
}

/// Removes the pins of a filter: its link first.
fn remove(pins: &Path) -> Result<(), FilterError> {
    let link = pins.join(LINK);
    if link.exists() {
        fs::remove_file(&link).map_err(at(&link))?;
    }
    match fs::remove_dir_all(pins) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(pins)(error)),
        _ => Ok(()),
    }
}

/// Attaches the program; whether an XDP program is in the driver.
fn attach(
    program: &Program,
    name: &str,
    index: u32,
    hook: Hook,
    mode: XdpMode,
) -> Result<(Link, bool), FilterError> {
    let error = |error: sys::Error| match error.kind() {
        io::ErrorKind::ResourceBusy | io::ErrorKind::AlreadyExists => {
            FilterError::OtherProgram { interface: name.to_owned() }
        }
        _ => error.into(),
    };
    if hook != Hook::Xdp {
        let link = Link::attach_tcx(program, index, hook == Hook::Ingress).map_err(error)?;
        return Ok((link, false));
    }
    if mode != XdpMode::Generic {
        match Link::attach_xdp(program, index, true).map_err(error) {
            Ok(link) => return Ok((link, true)),
            // The driver lacks it.
            Err(FilterError::Bpf(refused)) if mode == XdpMode::Auto && !refused.is_permission() => {
            }
            Err(error) => return Err(error),
        }
    }
    Ok((Link::attach_xdp(program, index, false).map_err(error)?, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_pins_have_no_points_and_are_distinct() {
        let names = ["eth0", "eth0.1", "eth0%2e1", "eth0-1"].map(|name| pin_name(name, Hook::Xdp));
        assert_eq!(names, ["eth0-xdp", "eth0%2e1-xdp", "eth0%252e1-xdp", "eth0-1-xdp"]);
    }
}
