//! The opened devices and their memory.

use std::ffi::CString;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

use super::error::DpdkError;
use super::ffi::{self, Info, Mempool};
use super::options::{DpdkOptions, device_name};
use crate::target::{Mac, Port, PortId};

/// Buffers of a pool beyond those in queues: a batch at most in the worker's hands, and twice what
/// DPDK keeps for a thread (256 and a half of it).
const SPARE: u32 = 512 + 2 * 384;

/// All ports and pools, which are closed with the last worker.
pub(super) struct Devices {
    /// By port number; then the ways to the kernel of the same ports, or none.
    pub(super) list: Vec<Device>,
    /// The number of ports.
    pub(super) ports: usize,
    /// By worker.
    pub(super) pools: Vec<NonNull<Mempool>>,
}

/// A port of DPDK's that was opened.
pub(super) struct Device {
    /// DPDK's number of the port.
    pub(super) id: u16,
    /// Receive queues: of the first workers, if the device has fewer than there are workers.
    pub(super) rx_queues: u16,
    rx_descriptors: u16,
    tx_descriptors: u16,
    pub(super) port: Arc<Port>,
}

// SAFETY: the pools are DPDK's, which any thread may use and free; nothing changes the lists.
unsafe impl Send for Devices {}
// SAFETY: as for `Send`: through a shared reference, the lists are only read.
unsafe impl Sync for Devices {}

impl Devices {
    /// Opens the devices with a pool and queues for each worker, and starts them.
    pub(super) fn open(options: &DpdkOptions) -> Result<Self, DpdkError> {
        // `Drop` closes the ports opened before an error.
        let ports = options.devices.len();
        let mut devices = Self { list: Vec::new(), ports, pools: Vec::new() };
        for (device, id) in options.all_devices().zip(0..) {
            devices.list.push(Device::find(device, PortId(id), options)?);
        }
        devices.join_kernel(options)?;
        let queues = devices.list.iter().map(Device::descriptors).sum::<u32>();
        for worker in 0..options.workers {
            devices.pools.push(create_pool(worker, queues + SPARE)?);
        }
        for (text, device) in options.all_devices().zip(&devices.list) {
            device
                .start(options.workers, &devices.pools)
                .map_err(|error| failure(text, "start", error))?;
        }
        Ok(devices)
    }

    /// Lets the kernel see the ports: each by the device that leads to it.
    fn join_kernel(&mut self, options: &DpdkOptions) -> Result<(), DpdkError> {
        let (ports, kernel) = self.list.split_at_mut(self.ports);
        for ((device, way), text) in ports.iter_mut().zip(kernel).zip(&options.kernel) {
            let (Port { id, name, .. }, mac) = (&*device.port, device.port.mac());
            set_mac(way.id, mac).map_err(|error| failure(text, "set the address of", error))?;
            let (index, mtu) = (way.port.index, device.port.mtu());
            device.port = Arc::new(Port::new(*id, name.clone(), index, mac, mtu));
        }
        Ok(())
    }
}

impl Drop for Devices {
    fn drop(&mut self) {
        for device in &self.list {
            // SAFETY: the port was found by `find` and is closed only here; no worker uses its
            // queues any more, since each holds a reference to `self`.
            unsafe { ffi::lm_dpdk_close(device.id) };
        }
        for pool in &self.pools {
            // SAFETY: `create_pool` made the pool, and it is freed only here; all buffers are back,
            // since workers free theirs before they drop `self`, and the ports are closed.
            unsafe { ffi::lm_dpdk_pool_free(pool.as_ptr()) };
        }
    }
}

impl Device {
    /// Finds or creates the port of a device.
    fn find(device: &str, number: PortId, options: &DpdkOptions) -> Result<Self, DpdkError> {
        let name = device_name(device);
        let id = probe(device, name).map_err(|error| failure(device, "find", error))?;
        let mut closed_on_error = Unfinished(Some(id));
        let info = info(id).map_err(|error| failure(device, "describe", error))?;
        if info.max_tx_queues < options.workers {
            let (queues, workers) = (info.max_tx_queues, options.workers);
            return Err(DpdkError::Queues { device: device.into(), queues, workers });
        }
        let (mut rx_descriptors, mut tx_descriptors) = (options.descriptors, options.descriptors);
        // SAFETY: both pointers are to local variables.
        let result = unsafe { ffi::lm_dpdk_adjust(id, &mut rx_descriptors, &mut tx_descriptors) };
        ffi::check(result).map_err(|error| failure(device, "describe", error))?;
        let rx_queues = info.max_rx_queues.min(options.workers);
        let port = Port::new(number, name, info.if_index, Mac(info.mac), info.mtu.into());
        closed_on_error.0 = None;
        Ok(Self { id, rx_queues, rx_descriptors, tx_descriptors, port: Arc::new(port) })
    }

    /// Buffers in one receive and one transmit queue.
    fn descriptors(&self) -> u32 {
        u32::from(self.rx_descriptors) + u32::from(self.tx_descriptors)
    }

    /// Configures the queues and starts the port. There is a pool for each receive queue.
    fn start(&self, workers: u16, pools: &[NonNull<Mempool>]) -> io::Result<()> {
        debug_assert!(pools.len() >= self.rx_queues.into());
        // SAFETY: the port was found and is not started yet. There are as many pools as workers and
        // at most as many receive queues; a `NonNull` has the layout of a pointer.
        let result = unsafe {
            ffi::lm_dpdk_start(
                self.id,
                self.rx_queues,
                self.rx_descriptors,
                workers,
                self.tx_descriptors,
                pools.as_ptr().cast(),
            )
        };
        ffi::check(result).map(drop)
    }
}

/// Closes the port with this number when it goes out of scope.
struct Unfinished(Option<u16>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(id) = self.0 {
            // SAFETY: the port was found, is not started, and nothing else knows it.
            unsafe { ffi::lm_dpdk_close(id) };
        }
    }
}

fn failure(device: &str, step: &'static str, error: io::Error) -> DpdkError {
    DpdkError::Device { device: device.into(), step, error }
}

fn probe(device: &str, name: &str) -> io::Result<u16> {
    let (device, name, mut id) = (CString::new(device)?, CString::new(name)?, 0);
    // SAFETY: both texts end with a NUL character, and `id` is a local variable.
    let result = unsafe { ffi::lm_dpdk_probe(device.as_ptr(), name.as_ptr(), &mut id) };
    ffi::check(result)?;
    Ok(id)
}

fn info(id: u16) -> io::Result<Info> {
    let mut info = Info::default();
    // SAFETY: `info` is a local variable with the layout of the C structure.
    let result = unsafe { ffi::lm_dpdk_info(id, &mut info) };
    ffi::check(result)?;
    Ok(info)
}

/// Sets the MAC address of a port, if its device has one.
fn set_mac(id: u16, mac: Mac) -> io::Result<()> {
    // SAFETY: the shim reads the six bytes of the address.
    let result = unsafe { ffi::lm_dpdk_set_mac(id, mac.0.as_ptr()) };
    ffi::check(result).map(drop)
}

fn create_pool(worker: u16, buffers: u32) -> Result<NonNull<Mempool>, DpdkError> {
    let failure = |error| DpdkError::Pool { buffers, error };
    let name = CString::new(format!("longmatch{worker}")).map_err(|error| failure(error.into()))?;
    let mut error = 0;
    // SAFETY: the name ends with a NUL character, and `error` is a local variable.
    let pool = unsafe { ffi::lm_dpdk_pool_create(name.as_ptr(), buffers, &mut error) };
    NonNull::new(pool).ok_or_else(|| failure(io::Error::from_raw_os_error(-error)))
}
