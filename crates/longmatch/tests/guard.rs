//! No kernel reads or writes outside the slices it is given: addresses and answers lie right before
//! a page that must not be touched, or right after one, so that a step outside is a crash.
//!
//! D9 (DPDK lpm 66ed1786ad) was a vector load past an array's end. So the allocator of this program
//! puts such a page behind every array of an engine, too, if it is of some size. The ends of what
//! lies inside an array are `check()`'s business.

#[cfg(target_os = "linux")]
mod common;

#[cfg(not(target_os = "linux"))]
#[test]
fn slices_between_guard_pages() {
    println!("SKIPPED: guard pages are made for Linux only");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::marker::PhantomData;
    use std::process::Command;
    use std::ptr::{NonNull, null_mut};

    use longmatch::{Engines, Fib, Ipv4, Ipv6, Keys, NextHopId, Prefix, Rib};

    use crate::common::{levels, specs, spread};

    /// Room for `T`s in whole pages, between two pages that nothing may touch.
    struct Guarded<T> {
        /// Where the first page, which is not to be touched, begins.
        start: NonNull<u8>,
        /// A page, in bytes.
        page: usize,
        /// The room, in bytes.
        room: usize,
        items: PhantomData<T>,
    }

    /// On which side of a slice the nearest guard page is.
    #[derive(Clone, Copy, Debug)]
    enum Guard {
        Behind,
        Before,
    }

    impl<T: Copy> Guarded<T> {
        fn new(most: usize) -> Self {
            // SAFETY: asks for a number, changes nothing.
            let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            let page = usize::try_from(page).expect("pages have a size");
            let room = (most * size_of::<T>()).next_multiple_of(page);
            let (bytes, flags) = (room + 2 * page, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            // SAFETY: a new mapping at an address of the system's choice touches no other memory.
            let start = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
            assert!(start != libc::MAP_FAILED, "no room for {bytes} bytes");
            let start = NonNull::new(start.cast::<u8>()).expect("a mapping is not at 0");
            let inner = start.as_ptr().wrapping_add(page);
            // SAFETY: the pages in the middle of the mapping above.
            let opened =
                unsafe { libc::mprotect(inner.cast(), room, libc::PROT_READ | libc::PROT_WRITE) };
            assert_eq!(opened, 0, "pages that can be used");
            Self { start, page, room, items: PhantomData }
        }

        /// `count` items next to a guard page, all set to `value`.
        fn slice(&mut self, guard: Guard, count: usize, value: T) -> &mut [T] {
            let bytes = count * size_of::<T>();
            assert!(bytes <= self.room && self.page.is_multiple_of(align_of::<T>()));
            let offset = match guard {
                Guard::Behind => self.room - bytes,
                Guard::Before => 0,
            };
            let first: *mut T = self.start.as_ptr().wrapping_add(self.page + offset).cast();
            for i in 0..count {
                // SAFETY: inside the pages that can be used, and aligned: pages are, and both the
                // room and the offset are multiples of the item's size and alignment.
                unsafe { first.wrapping_add(i).write(value) };
            }
            // SAFETY: `count` items that have just been written, borrowed with `self`.
            unsafe { std::slice::from_raw_parts_mut(first, count) }
        }
    }

    impl<T> Drop for Guarded<T> {
        fn drop(&mut self) {
            // SAFETY: the mapping made by `new`, of which no slice is borrowed any more.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.room + 2 * self.page) };
        }
    }

    /// Puts what is as large as a page so that it ends where one begins that nothing may touch, or
    /// as close before it as its alignment allows.
    struct Walled;

    /// Smaller ones are many, and would need a page each.
    const WALLED_BYTES: usize = 4096;

    impl Walled {
        /// A page, and the whole pages for an allocation, in bytes; `None` leaves it to the system:
        /// if it is small, or has to begin where a huge page does.
        fn pages(layout: Layout) -> Option<(usize, usize)> {
            if layout.size() < WALLED_BYTES {
                return None;
            }
            // SAFETY: asks for a number, changes nothing.
            let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
            let room = layout.size().checked_next_multiple_of(page)?;
            (layout.align() <= page).then_some((page, room))
        }

        fn place(layout: Layout, page: usize, room: usize) -> *mut u8 {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: a new mapping at an address of the system's choice touches no other memory.
            let start = unsafe { libc::mmap(null_mut(), room + page, access, flags, -1, 0) };
            if start == libc::MAP_FAILED {
                return null_mut();
            }
            let behind = start.cast::<u8>().wrapping_add(room);
            // SAFETY: the last page of the mapping above, which nobody knows yet.
            if unsafe { libc::mprotect(behind.cast(), page, libc::PROT_NONE) } != 0 {
                return null_mut();
            }
            let offset = (room - layout.size()) & !(layout.align() - 1);
            start.cast::<u8>().wrapping_add(offset)
        }
    }

    // SAFETY: memory is the system's, or a mapping of its own for each allocation: inside it, as
    // large and as aligned as asked for. An allocation begins in the first page of its mapping, so
    // the mapping is found again.
    unsafe impl GlobalAlloc for Walled {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            match Self::pages(layout) {
                Some((page, room)) => Self::place(layout, page, room),
                // SAFETY: as the caller promises.
                None => unsafe { System.alloc(layout) },
            }
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            match Self::pages(layout) {
                // A new mapping is zero, and takes no memory before it is written.
                Some((page, room)) => Self::place(layout, page, room),
                // SAFETY: as the caller promises.
                None => unsafe { System.alloc_zeroed(layout) },
            }
        }

        unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
            match Self::pages(layout) {
                Some((page, room)) => {
                    let first = start.wrapping_sub(start.addr() % page);
                    // SAFETY: the mapping that was made for this allocation.
                    unsafe { libc::munmap(first.cast(), room + page) };
                }
                // SAFETY: as the caller promises; it came from there.
                None => unsafe { System.dealloc(start, layout) },
            }
        }
    }

    #[global_allocator]
    static WALLED: Walled = Walled;

    /// Sizes of batches beside 0 to 65.
    const SIZES: [usize; 8] = [127, 128, 129, 255, 511, 512, 513, 1000];
    const MOST: usize = 1000;

    /// Both ends of the ranges of a RIB, and the answers to them.
    fn cases<F: Engines>(rib: &Rib<F>) -> (Vec<F::Bits>, Vec<Option<NextHopId>>) {
        let ends = rib
            .ranges()
            .flat_map(|range| [(range.first, range.next_hop()), (range.last, range.next_hop())]);
        ends.cycle().skip(7).take(MOST).unzip()
    }

    /// Batches of many sizes, addresses and answers on either side of a guard page, answered by
    /// `answer`. A slice that ends at the page begins wherever its length makes it begin, so every
    /// alignment to a vector occurs.
    fn between_pages<A: Copy>(
        about: &str,
        (keys, expected): (&[A], &[Option<NextHopId>]),
        mut answer: impl FnMut(&[A], &mut [Option<NextHopId>]),
    ) {
        let mut addrs = Guarded::<A>::new(MOST);
        let mut out = Guarded::<Option<NextHopId>>::new(MOST);
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

    /// Every engine at every level, all at once and one after the other.
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

    /// The same of addresses in any form.
    fn form_stays_inside<F: Engines, A: Copy>(rib: &Rib<F>, held: impl Fn(F::Bits) -> A)
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
    fn ipv4_forms_between_guard_pages() {
        form_stays_inside(&table4(), |addr| addr);
        form_stays_inside(&table4(), u32::to_be_bytes);
    }

    #[test]
    fn ipv6_forms_between_guard_pages() {
        form_stays_inside(&table6(), |addr| addr);
        form_stays_inside(&table6(), u128::to_be_bytes);
        form_stays_inside(&table6(), |addr| [(addr >> 64) as u64, addr as u64]);
    }

    /// In the environment: touch a guard page, and which.
    const TOUCH: &str = "LONGMATCH_TEST_TOUCH_GUARD";

    /// The tests above prove something only if a step outside is a crash: takes one, in a process of
    /// its own.
    #[test]
    fn a_step_outside_is_a_crash() {
        let step = |side: &str| {
            let mut process = Command::new(std::env::current_exe().unwrap());
            let test = ["--exact", "linux::a_step_outside_is_a_crash", "--test-threads=1"];
            process.args(test).env(TOUCH, side).output().unwrap().status
        };
        let mut room = Guarded::<u32>::new(10);
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
                // SAFETY: none, as below.
                println!("{}", unsafe { end.read_volatile() });
            }
            Ok(side) => {
                let (guard, step) = match side {
                    "behind" => (Guard::Behind, 10),
                    "before" => (Guard::Before, -1),
                    _ => (Guard::Behind, 9),
                };
                let first: *const u32 = room.slice(guard, 10, 7).as_ptr();
                // SAFETY: none for -1 and 10, and that is the point: nothing but this process ends.
                let read = unsafe { first.wrapping_offset(step).read_volatile() };
                assert_eq!(read, 7);
            }
        }
    }
}
