//! Detection of this CPU's vector instructions and caches; no other module detects CPU features.
//!
//! Engines are written as scalar code first. A [`Simd`] value proves that the CPU has the
//! instructions of its [`Level`]; [`Simd::run`] compiles a piece of work for that level, so that
//! `count_ones`, for example, becomes one POPCNT instruction and kernels may use the level's
//! intrinsics.
//!
//! Kernels that differ between levels only in vector width are written once, with the operations of
//! `lanes`. Kernels that need other operations use the intrinsics themselves.

mod cpu;
// For the benchmarks, which measure the machine with the same vectors; not for other users.
#[doc(hidden)]
pub mod lanes;

#[cfg(feature = "folio")]
pub(crate) use cpu::Cpu;
#[doc(hidden)]
pub use cpu::Microarch;

use core::fmt;
use core::str::FromStr;
use core::sync::atomic::{AtomicU8, Ordering};

/// An instruction set; each level contains the levels before it.
///
/// ```
/// use longmatch::simd::{Level, Simd};
/// // Each level contains those before it.
/// assert!(Level::Avx2 > Level::Scalar);
/// assert!(Simd::best().level() >= Level::Portable);
/// assert_eq!("avx2".parse(), Ok(Level::Avx2));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Level {
    /// The instructions that every CPU of the target architecture has.
    ///
    /// On x86-64 a population count takes a dozen of them.
    Portable,
    /// No vectors, but the bit instructions POPCNT, LZCNT, BMI1 and BMI2 on x86-64.
    ///
    /// Intel has them since 2013, AMD since 2015. Elsewhere the same as [`Level::Portable`].
    Scalar,
    /// [`Level::Scalar`] and AVX2.
    Avx2,
    /// [`Level::Avx2`] and AVX-512 F, BW, CD, DQ, VL, VBMI and VPOPCNTDQ.
    Avx512,
}

impl Level {
    /// Every level, lowest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Scalar, Self::Avx2, Self::Avx512];

    /// The name used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    const fn from_index(index: u8) -> Self {
        Self::ALL[index as usize]
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        Self::ALL.into_iter().find(|level| level.name() == name).ok_or(UnknownLevel)
    }
}

/// The error for a text that is not the name of a [`Level`].
///
/// ```
/// use longmatch::simd::Level;
/// let error = "sse2".parse::<Level>().unwrap_err();
/// assert_eq!(error.to_string(), "expected portable, scalar, avx2 or avx512");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct UnknownLevel;

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected portable, scalar, avx2 or avx512")
    }
}

impl core::error::Error for UnknownLevel {}

/// Proof that this CPU has the instructions of a level.
///
/// ```
/// use longmatch::simd::Simd;
/// use longmatch::{EngineKind, Fib, Ipv4, Rib};
/// let fib = Fib::compile(&Rib::<Ipv4>::new(), EngineKind::Poptrie)?;
/// for simd in Simd::available() {
///     let mut hops = [None; 1];
///     fib.lookup_batch_with(simd, &[0x0a00_0001], &mut hops);
///     assert_eq!(hops, [None], "with {}", simd.level());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Simd {
    level: Level,
}

/// The highest level found, plus one; 0 before detection.
///
/// Racing threads store the same value.
static BEST: AtomicU8 = AtomicU8::new(0);

impl Simd {
    /// The highest level that this CPU has.
    ///
    /// ```
    /// use longmatch::simd::Simd;
    /// assert_eq!(Some(Simd::best()), Simd::available().last());
    /// ```
    #[must_use]
    #[inline]
    pub fn best() -> Self {
        let level = match BEST.load(Ordering::Relaxed) {
            0 => {
                let level = detect();
                BEST.store(level as u8 + 1, Ordering::Relaxed);
                level
            }
            known => Level::from_index(known - 1),
        };
        Self { level }
    }

    /// Selects a level, to compare kernels and to test all of them.
    ///
    /// ```
    /// use longmatch::simd::{Level, Simd};
    /// // Every CPU has this level; `Level::Avx512` may be an error.
    /// assert_eq!(Simd::forced(Level::Portable)?.level(), Level::Portable);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When this CPU lacks the level (D10: no vector path without a check of the CPU).
    pub fn forced(level: Level) -> Result<Self, Unsupported> {
        if level <= Self::best().level { Ok(Self { level }) } else { Err(Unsupported { level }) }
    }

    /// Every level that this CPU has, lowest first.
    ///
    /// ```
    /// use longmatch::simd::{Level, Simd};
    /// let levels: Vec<_> = Simd::available().map(Simd::level).collect();
    /// assert_eq!(levels[0], Level::Portable);
    /// assert_eq!(levels.last(), Some(&Simd::best().level()));
    /// ```
    pub fn available() -> impl Iterator<Item = Self> {
        Level::ALL.into_iter().filter_map(|level| Self::forced(level).ok())
    }

    /// The proven level.
    #[inline]
    pub fn level(self) -> Level {
        self.level
    }

    /// Runs a piece of work compiled for this level.
    ///
    /// Functions that the work calls are compiled for the level only if they are inlined, so
    /// [`Work::run`] and its inner loops should be `#[inline(always)]`. This method is inlined
    /// itself: as a call it would copy the work by vectors right after the caller stored it by
    /// words, which the CPU can do only after all earlier instructions retire.
    #[doc(hidden)]
    #[inline(always)]
    pub fn run<W: Work>(self, work: W) -> W::Output {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        match self.level {
            Level::Portable => run_portable(work),
            // SAFETY: `self` exists with this level, so `detect` has found its instructions.
            Level::Scalar => unsafe { run_scalar(work) },
            // SAFETY: `self` exists with this level, so `detect` has found its instructions.
            Level::Avx2 => unsafe { run_avx2(work) },
            // SAFETY: `self` exists with this level, so `detect` has found its instructions.
            Level::Avx512 => unsafe { run_avx512(work) },
        }
        #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
        work.run()
    }

    /// [`Simd::run`] for work without vector code.
    ///
    /// Every level from [`Level::Scalar`] on runs the same code, so the work is compiled twice, not
    /// four times.
    #[inline(always)]
    pub(crate) fn run_scalar<W: Work>(self, work: W) -> W::Output {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        if self.level != Level::Portable {
            // SAFETY: `detect` has found `self.level`, and every level above `Portable` contains
            // `Scalar`.
            return unsafe { run_scalar(work) };
        }
        run_portable(work)
    }
}

/// A piece of work that is compiled once per level; see [`Simd::run`].
#[doc(hidden)]
pub trait Work {
    /// The result of the work.
    type Output;

    /// Does the work. Without `#[inline(always)]` the level has no effect.
    fn run(self) -> Self::Output;
}

/// Not inlined, so that few instructions are where the level is chosen.
#[inline(never)]
pub(crate) fn run_portable<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2")]
fn run_scalar<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
pub(crate) fn run_avx2<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
#[target_feature(enable = "avx512vbmi,avx512vpopcntdq")]
pub(crate) fn run_avx512<W: Work>(work: W) -> W::Output {
    work.run()
}

/// A kernel of batches. Its arguments are plain values, which stay in registers.
///
/// A struct of them would be stored word by word and loaded a vector at a time, which the CPU can do
/// only after all earlier instructions retire: a third of the rate of small batches.
pub(crate) trait Kernel {
    /// The data that the kernel reads.
    type Table;

    /// Answers `count` addresses.
    ///
    /// # Safety
    /// `keys` points to `count` addresses, `answers` to `count` writable words. The addresses have
    /// their bytes in the other order if `swap`.
    unsafe fn run<L: lanes::Lanes>(
        lanes: L,
        table: &Self::Table,
        keys: *const u8,
        answers: *mut u32,
        count: usize,
        swap: bool,
    );
}

/// Defines a function that runs a kernel in the vectors of a level.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
macro_rules! kernel_in {
    ($name:ident, $lanes:ty, $features:literal) => {
        /// Runs a kernel in vectors.
        ///
        /// # Safety
        /// As [`Kernel::run`].
        #[target_feature(enable = $features)]
        unsafe fn $name<K: Kernel>(
            lanes: $lanes,
            table: &K::Table,
            keys: *const u8,
            answers: *mut u32,
            count: usize,
            swap: bool,
        ) {
            // SAFETY: this function's contract.
            unsafe { K::run(lanes, table, keys, answers, count, swap) }
        }
    };
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
kernel_in!(kernel_avx2, lanes::Avx2, "popcnt,lzcnt,bmi1,bmi2,avx2");
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
kernel_in!(
    kernel_avx512,
    lanes::Avx512,
    "popcnt,lzcnt,bmi1,bmi2,avx2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq"
);

impl Simd {
    /// Runs a kernel in this level's vectors, if it has any and at least one is full.
    ///
    /// # Safety
    /// As [`Kernel::run`].
    #[inline(always)]
    pub(crate) unsafe fn run_kernel<K: Kernel>(
        self,
        table: &K::Table,
        keys: *const u8,
        answers: *mut u32,
        count: usize,
        swap: bool,
    ) -> bool {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        {
            use lanes::{Avx2, Avx512, Lanes};
            if let Some(lanes) = Avx512::new(self)
                && count >= Avx512::COUNT
            {
                // SAFETY: the token proves the instructions; the rest is this method's contract.
                unsafe { kernel_avx512::<K>(lanes, table, keys, answers, count, swap) };
                return true;
            }
            if let Some(lanes) = Avx2::new(self)
                && count >= Avx2::COUNT
            {
                // SAFETY: the token proves the instructions; the rest is this method's contract.
                unsafe { kernel_avx2::<K>(lanes, table, keys, answers, count, swap) };
                return true;
            }
        }
        let _ = (table, keys, answers, count, swap);
        false
    }
}

/// Prefetches the cache line of `slice[index]`.
///
/// An index out of range has no effect.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], index: usize) {
    prefetch_bytes(slice.as_ptr().wrapping_add(index).cast());
}

/// Prefetches the cache line at an address, which need not be readable.
#[inline(always)]
pub(crate) fn prefetch_bytes(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
    // SAFETY: a prefetch is a hint; it has no effect on the program at any address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2", not(miri))))]
    let _ = address;
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
fn detect() -> Level {
    Level::Scalar
}

/// Asks the CPU and, for the wide registers, the operating system.
///
/// The standard library's macro is not used because it needs `std`.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
fn detect() -> Level {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    // Miri does not know these instructions, and sanitizers do not see their memory reads.
    if cfg!(any(miri, longmatch_sanitize)) {
        return Level::Portable;
    }
    let has = |register: u32, bits: &[u32]| bits.iter().all(|bit| register >> bit & 1 == 1);
    let (leaf1, extended1) = (__cpuid(1), __cpuid(0x8000_0001));
    if __cpuid(0).eax < 7 {
        return Level::Portable;
    }
    let leaf7 = __cpuid_count(7, 0);
    let (popcnt, lzcnt, bmi1, bmi2) = (23, 5, 3, 8);
    let scalar =
        has(leaf1.ecx, &[popcnt]) && has(extended1.ecx, &[lzcnt]) && has(leaf7.ebx, &[bmi1, bmi2]);
    if !scalar {
        return Level::Portable;
    }
    let (osxsave, avx, avx2) = (27, 28, 5);
    if !has(leaf1.ecx, &[osxsave, avx]) || !has(leaf7.ebx, &[avx2]) {
        return Level::Scalar;
    }
    // SAFETY: OSXSAVE is set, so XGETBV exists.
    let saved = unsafe { enabled_state() };
    let (sse, ymm, masks, zmm_high, zmm_more) = (1, 2, 5, 6, 7);
    if !has(saved, &[sse, ymm]) {
        return Level::Scalar;
    }
    let (f, dq, cd, bw, vl) = (16, 17, 28, 30, 31);
    let (vbmi, vpopcntdq) = (1, 14);
    let wide = has(leaf7.ebx, &[f, dq, cd, bw, vl])
        && has(leaf7.ecx, &[vbmi, vpopcntdq])
        && has(saved, &[masks, zmm_high, zmm_more]);
    if wide { Level::Avx512 } else { Level::Avx2 }
}

/// The register states that the operating system saves for each thread (XCR0).
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[target_feature(enable = "xsave")]
fn enabled_state() -> u32 {
    // SAFETY: register 0 (XCR0) exists on every CPU that has XGETBV.
    unsafe { core::arch::x86_64::_xgetbv(0) as u32 }
}

/// The error for a [`Level`] whose instructions this CPU lacks.
///
/// ```
/// use longmatch::simd::{Level, Simd};
/// match Simd::forced(Level::Avx512) {
///     Ok(simd) => assert_eq!(simd.level(), Level::Avx512),
///     Err(error) => assert_eq!(error.to_string(), "this CPU has no avx512"),
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Unsupported {
    /// The requested level.
    pub level: Level,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this CPU has no {}", self.level)
    }
}

impl core::error::Error for Unsupported {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    fn agrees_with_the_standard_library() {
        let popcnt = is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("bmi2");
        assert_eq!(Simd::forced(Level::Scalar).is_ok(), popcnt);
        assert_eq!(Simd::forced(Level::Avx2).is_ok(), is_x86_feature_detected!("avx2") && popcnt);
        let wide = is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vpopcntdq")
            && is_x86_feature_detected!("avx512bw");
        assert_eq!(Simd::forced(Level::Avx512).is_ok(), wide);
    }

    #[test]
    fn work_runs_at_every_level() {
        struct Count(u64);
        impl Work for Count {
            type Output = u32;
            #[inline(always)]
            fn run(self) -> u32 {
                self.0.count_ones()
            }
        }
        for simd in Simd::available() {
            assert_eq!(simd.run(Count(0xff00ff)), 16, "{}", simd.level());
        }
    }
}
