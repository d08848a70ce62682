//! No kernel reads or writes outside its slices: addresses and answers lie directly after a guard
//! page or directly before one, so that a step outside is a crash.
//!
//! D9 (DPDK lpm 66ed1786ad) was a vector load past an array's end. So this program's allocator puts
//! a guard page behind every larger array of an engine, too. `check()` tests the bounds of
//! structures inside an array.

#[cfg(target_os = "linux")]
mod common;

#[cfg(not(target_os = "linux"))]
#[test]
fn slices_between_guard_pages() {
    println!("SKIPPED: guard pages are implemented for Linux only");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::marker::PhantomData;
    use std::process::Command;
    use std::ptr::{NonNull, null_mut};

    use longmatch::{Engines, Fib, Ipv4, Ipv6, Keys, NextHopId, Prefix, Rib};

    use crate::common::{levels, specs, spread};

    /// Capacity for `T`s in whole pages, between two guard pages.
    struct Guarded<T> {
        /// Start of the first guard page.
        start: NonNull<u8>,
        /// Bytes in a page.
        page: usize,
        /// Bytes between the guard pages.
        capacity: usize,
        items: PhantomData<T>,
    }

    /// The side of a slice on which the nearest guard page lies.
    #[derive(Clone, Copy, Debug)]
    enum Guard {
        Behind,
        Before,
    }

    impl<T: Copy> Guarded<T> {
        fn new(most: usize) -> Self {
            // SAFETY: the call reads a constant of the system.
            let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            let page = usize::try_from(page).expect("pages have a size");
            let capacity = (most * size_of::<T>()).next_multiple_of(page);
            let (bytes, flags) = (capacity + 2 * page, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            // SAFETY: a new mapping at an address of the system's choice touches no other memory.
            let start = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
            assert!(start != libc::MAP_FAILED, "the system has no memory for {bytes} bytes");
            let start = NonNull::new(start.cast::<u8>()).expect("a mapping is not at 0");
            let inner = start.as_ptr().wrapping_add(page);
            // SAFETY: the pages between the first and the last page of the mapping above.
            let opened = unsafe {
                libc::mprotect(inner.cast(), capacity, libc::PROT_READ | libc::PROT_WRITE)
            };
            assert_eq!(opened, 0, "the inner pages became accessible");
            Self { start, page, capacity, items: PhantomData }
        }

        /// `count` items next to a guard page, all set to `value`.
        fn slice(&mut self, guard: Guard, count: usize, value: T) -> &mut [T] {
            let bytes = count * size_of::<T>();
            assert!(bytes <= self.capacity && self.page.is_multiple_of(align_of::<T>()));
            let offset = match guard {
                Guard::Behind => self.capacity - bytes,
                Guard::Before => 0,
            };
            let first: *mut T = self.start.as_ptr().wrapping_add(self.page + offset).cast();
            for i in 0..count {
                // SAFETY: inside the accessible pages, and aligned: pages are, and both the
                // capacity and the offset are multiples of the item's size and alignment.
                unsafe { first.wrapping_add(i).write(value) };
            }
            // SAFETY: `count` items that were just written, borrowed with `self`.
            unsafe { std::slice::from_raw_parts_mut(first, count) }
        }
    }

    impl<T> Drop for Guarded<T> {
        fn drop(&mut self) {
            // SAFETY: the mapping made by `new`; no slice of it is borrowed any more.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.capacity + 2 * self.page) };
        }
    }

    /// Ends arrays of a page or more at a guard page, as far as their alignment permits.
    struct GuardAllocator;

    /// Smaller allocations are many, and would need a page each.
    const MIN_GUARDED_BYTES: usize = 4096;

    impl GuardAllocator {
        /// The size of a page and of the whole pages for an allocation.
        ///
        /// `None` leaves the allocation to the system: small ones and those aligned to huge pages.
        fn pages(layout: Layout) -> Option<(usize, usize)> {
            if layout.size() < MIN_GUARDED_BYTES {
                return None;
            }
            // SAFETY: the call reads a constant of the system.
            let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
            let capacity = layout.size().checked_next_multiple_of(page)?;
            (layout.align() <= page).then_some((page, capacity))
        }

        fn place(layout: Layout, page: usize, capacity: usize) -> *mut u8 {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: a new mapping at an address of the system's choice touches no other memory.
            let start = unsafe { libc::mmap(null_mut(), capacity + page, access, flags, -1, 0) };
            if start == libc::MAP_FAILED {
                return null_mut();
            }
            let behind = start.cast::<u8>().wrapping_add(capacity);
            // SAFETY: the last page of the mapping above, of which no pointer has been returned
            // yet.
            if unsafe { libc::mprotect(behind.cast(), page, libc::PROT_NONE) } != 0 {
                return null_mut();
            }
            let offset = (capacity - layout.size()) & !(layout.align() - 1);
            start.cast::<u8>().wrapping_add(offset)
        }
    }

    // SAFETY: memory is the system's, or a separate mapping for each allocation, with the
    // requested size and alignment. An allocation begins in the first page of its mapping, so
    // `dealloc` finds the mapping.
    unsafe impl GlobalAlloc for GuardAllocator {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            match Self::pages(layout) {
                Some((page, capacity)) => Self::place(layout, page, capacity),
                // SAFETY: the caller fulfils the contract of `GlobalAlloc::alloc`, which `System`
                // shares.
                None => unsafe { System.alloc(layout) },
            }
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            match Self::pages(layout) {
                // A new mapping is zero, and takes no memory before it is written.
                Some((page, capacity)) => Self::place(layout, page, capacity),
                // SAFETY: the caller fulfils the contract of `GlobalAlloc::alloc_zeroed`, which
                // `System` shares.
                None => unsafe { System.alloc_zeroed(layout) },
            }
        }

        unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
            match Self::pages(layout) {
                Some((page, capacity)) => {
                    let first = start.wrapping_sub(start.addr() % page);
                    // SAFETY: the mapping made for this allocation, from its first page.
                    unsafe { libc::munmap(first.cast(), capacity + page) };
                }
                // SAFETY: `alloc` passed this layout to `System`; the caller returns its
                // allocation.
                None => unsafe { System.dealloc(start, layout) },
            }
        }
    }

    #[global_allocator]
    static ALLOCATOR: GuardAllocator = GuardAllocator;

    /// Sizes of batches in addition to 0 to 65.
    const SIZES: [usize; 8] = [127, 128, 129, 255, 511, 512, 513, 1000];
    const MAX_KEYS: usize = 1000;

    /// Both ends of the ranges of a RIB, with their answers.
    fn cases<F: Engines>(rib: &Rib<F>) -> (Vec<F::Bits>, Vec<Option<NextHopId>>) {
        let ends = rib
            .ranges()
            .flat_map(|range| [(range.first, range.next_hop()), (range.last, range.next_hop())]);
        ends.cycle().skip(7).take(MAX_KEYS).unzip()
    }

    /// Answers batches of many sizes with slices on either side of a guard page.
    ///
    /// The length of a slice before the page decides its start, so every vector alignment occurs.
    fn between_pages<A: Copy>(
        about: &str,
        (keys, expected): (&[A], &[Option<NextHopId>]),
        mut answer: impl FnMut(&[A], &mut [Option<NextHopId>]),
    ) {
        let mut addrs = Guarded::<A>::new(MAX_KEYS);
        let mut out = Guarded::<Option<NextHopId>>::new(MAX_KEYS);
        let sides = [Guard::Behind, Guard::Before];
        for size in (0..=65).chain(SIZES) {
            for (guard, out_guard) in
                sides.into_iter().flat_map(|guard| sides.map(|out| (guard, out)))
            {
                let addrs = addrs.slice(guard, size, keys[0]);
                addrs.copy_from_slice(&keys[..size]);
                let out = out.slice(out_guard, size, None);
                answer(addrs, out);
                assert_eq!(out, &expected[..size], "{about}, {size}, {guard:?}");
            }
        }
    }

    /// Every engine at every level, as a batch and one after the other.
    fn stays_inside<F: Engines>(rib: &Rib<F>) {
        let (keys, expected) = cases(rib);
        for spec in specs::<F>() {
            let fib = Fib::compile(rib, spec.clone()).unwrap();
            for simd in levels() {
                let about = format!("{spec}, {}", simd.level());
                between_pages(&about, (&keys, &expected), |addrs, out| {
                    fib.lookup_batch_with(simd, addrs, out);
                });
                between_pages(&about, (&keys, &expected), |addrs, out| {
                    fib.lookup_each(simd, addrs, out);
                });
            }
        }
    }

    /// Does the same with addresses in another layout.
    fn layout_stays_inside<F: Engines, A: Copy>(rib: &Rib<F>, held: impl Fn(F::Bits) -> A)
    where
        for<'a> Keys<'a, F>: From<&'a [A]>,
    {
        let (keys, expected) = cases(rib);
        let keys: Vec<A> = keys.into_iter().map(held).collect();
        for spec in specs::<F>() {
            let fib = Fib::compile(rib, spec.clone()).unwrap();
            for simd in levels() {
                let about = format!("{spec}, {}, {}", simd.level(), std::any::type_name::<A>());
                between_pages(&about, (&keys, &expected), |addrs, out| {
                    fib.lookup_keys_with(simd, addrs, out);
                });
            }
        }
    }

    fn table4() -> Rib<Ipv4> {
        let mut rib = spread::<Ipv4>(2000);
        rib.insert(Prefix::from_bits_masked(u32::MAX, 32), NextHopId::new(9).unwrap()).unwrap();
        rib
    }

    fn table6() -> Rib<Ipv6> {
        let mut rib = spread::<Ipv6>(500);
        rib.insert(Prefix::from_bits_masked(u128::MAX, 128), NextHopId::new(9).unwrap()).unwrap();
        rib
    }

    #[test]
    fn ipv4_slices_between_guard_pages() {
        stays_inside(&table4());
    }

    #[test]
    fn ipv6_slices_between_guard_pages() {
        stays_inside(&table6());
    }

    #[test]
    fn ipv4_layouts_between_guard_pages() {
        layout_stays_inside(&table4(), |addr| addr);
        layout_stays_inside(&table4(), u32::to_be_bytes);
    }

    #[test]
    fn ipv6_layouts_between_guard_pages() {
        layout_stays_inside(&table6(), |addr| addr);
        layout_stays_inside(&table6(), u128::to_be_bytes);
        layout_stays_inside(&table6(), |addr| [(addr >> 64) as u64, addr as u64]);
    }

    /// Environment variable: the guard page to touch.
    const TOUCH: &str = "LONGMATCH_TEST_TOUCH_GUARD";

    /// A step outside is a crash, which the tests above rely on.
    ///
    /// Takes one in a separate process.
    #[test]
    fn a_step_outside_is_a_crash() {
        let step = |side: &str| {
            let mut process = Command::new(std::env::current_exe().unwrap());
            let test = ["--exact", "linux::a_step_outside_is_a_crash", "--test-threads=1"];
            process.args(test).env(TOUCH, side).output().unwrap().status
        };
        let mut guarded = Guarded::<u32>::new(10);
        match std::env::var(TOUCH).as_deref() {
            Err(_) => {
                use std::os::unix::process::ExitStatusExt;
                for side in ["behind", "before", "array"] {
                    assert_eq!(step(side).signal(), Some(libc::SIGSEGV), "{side}");
                }
                assert!(step("inside").success());
            }
            Ok("array") => {
                let array = vec![7u32; 5000];
                let end = array.as_ptr().wrapping_add(array.len());
                // SAFETY: none; the read of a guard page must end this process.
                println!("{}", unsafe { end.read_volatile() });
            }
            Ok(side) => {
                let (guard, step) = match side {
                    "behind" => (Guard::Behind, 10),
                    "before" => (Guard::Before, -1),
                    _ => (Guard::Behind, 9),
                };
                let first: *const u32 = guarded.slice(guard, 10, 7).as_ptr();
                // SAFETY: none for -1 and 10: the read of a guard page must end this process.
                let read = unsafe { first.wrapping_offset(step).read_volatile() };
                assert_eq!(read, 7);
            }
        }
    }
}
