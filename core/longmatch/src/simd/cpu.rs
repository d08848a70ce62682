//! The microarchitecture and the caches of this CPU.
//!
//! The plans of Folio depend on them. On x86-64 CPUID states them, elsewhere Linux's sysfs, and
//! where neither is usable conservative constants do. A hypervisor may state anything, so that
//! [`Caches::plausible`] judges every statement, and nothing but plans depends on it.
#![cfg_attr(not(feature = "folio"), allow(dead_code))]

/// A group of CPUs on which reads cost about the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Microarch {
    /// AMD Zen 2 and Zen 3.
    Zen3,
    /// AMD Zen 4.
    Zen4,
    /// AMD Zen 5.
    Zen5,
    /// Intel with AVX-512 and its bit instructions: servers from Ice Lake on.
    IntelServer,
    /// Any other CPU.
    Other,
}

impl Microarch {
    /// Every group.
    pub const ALL: [Self; 5] = [Self::Zen3, Self::Zen4, Self::Zen5, Self::IntelServer, Self::Other];

    /// The group of the CPU that this program runs on. Takes microseconds, in a virtual machine
    /// tens.
    pub fn here() -> Self {
        cpuid().map_or(Self::Other, |(microarch, _)| microarch)
    }

    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zen3 => "zen3",
            Self::Zen4 => "zen4",
            Self::Zen5 => "zen5",
            Self::IntelServer => "intel",
            Self::Other => "other",
        }
    }
}

/// What CPUID states about a CPU's design.
///
/// A hypervisor may replace family and model by those of an older CPU, and still state the
/// instructions. It may also hide instructions, and still state the model.
#[derive(Clone, Copy, Default)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
struct Design {
    vendor: [u8; 12],
    /// Leaf 1, EAX.
    version: u32,
    /// Leaf 7, EBX, ECX and EDX.
    leaf7: [u32; 3],
    /// Leaf 7, subleaf 1, EAX.
    leaf7_1: u32,
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
impl Design {
    /// Returns the group by family, model and instructions.
    fn microarch(&self) -> Microarch {
        let base = self.version >> 8 & 15;
        let family = if base == 15 { base + (self.version >> 20 & 0xff) } else { base };
        let model = (self.version >> 4 & 15) | (self.version >> 12 & 0xf0);
        let has = |register: u32, bits: &[u32]| bits.iter().all(|bit| register >> bit & 1 == 1);
        let [ebx, ecx, edx] = self.leaf7;
        let (avx512, vp2intersect, avx_vnni) = (has(ebx, &[16]), has(edx, &[8]), 4);
        let zen5 = avx512 && (vp2intersect || has(self.leaf7_1, &[avx_vnni]));
        let (vbmi2, gfni, vpopcntdq) = (6, 8, 14);
        let ice_lake = avx512 && has(ecx, &[vbmi2, gfni, vpopcntdq]);
        let (amx_bf16, avx512_fp16, amx_tile, amx_int8) = (22, 23, 24, 25);
        let sapphire_rapids = has(edx, &[amx_bf16, avx512_fp16, amx_tile, amx_int8]);
        match (&self.vendor, family, model) {
            (b"AuthenticAMD", 0x1a, _) => Microarch::Zen5,
            (b"AuthenticAMD", 0x17..=0x19, _) if zen5 => Microarch::Zen5,
            // Zen 3 and earlier have no AVX-512.
            (b"AuthenticAMD", 0x17..=0x19, _) if avx512 => Microarch::Zen4,
            (b"AuthenticAMD", 0x19, 0x10..=0x1f | 0x60..=0x7f | 0xa0..=0xaf) => Microarch::Zen4,
            (b"AuthenticAMD", 0x19, _) | (b"AuthenticAMD", 0x17, 0x30..) => Microarch::Zen3,
            // Ice Lake, Sapphire Rapids, Emerald Rapids, Granite Rapids; for each the server models.
            (b"GenuineIntel", 6, 0x6a | 0x6c | 0x8f | 0xcf | 0xad | 0xae) => Microarch::IntelServer,
            (b"GenuineIntel", ..) if ice_lake || sapphire_rapids => Microarch::IntelServer,
            _ => Microarch::Other,
        }
    }
}

/// Sizes of the data caches that one core can use, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Caches {
    pub l1d: u64,
    pub l2: u64,
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

impl Caches {
    /// Smaller than those of nearly every 64-bit CPU, so that no plan relies on a cache that is not
    /// there.
    const CONSERVATIVE: Self = Self { l1d: 32 * KIB, l2: 512 * KIB };

    /// Returns the caches if a CPU can have them.
    ///
    /// The limits have a factor of two to four to the CPUs on sale: L1d from 16 to 192 KiB, L2 from
    /// 256 KiB to 16 MiB.
    fn plausible(self) -> Option<Self> {
        let l1d = (8 * KIB..=512 * KIB).contains(&self.l1d);
        let l2 = (self.l1d.max(128 * KIB)..=64 * MIB).contains(&self.l2);
        (l1d && l2).then_some(self)
    }

    /// Reads the subleaves of CPUID leaf 4 (Intel) or 0x8000_001D (AMD), which have one layout.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    fn of_subleaves(subleaf: impl Fn(u32) -> [u32; 3]) -> Option<Self> {
        let mut caches = Self { l1d: 0, l2: 0 };
        for [eax, ebx, ecx] in (0..8).map(subleaf) {
            let field = |register: u32, from: u32, bits: u32| register >> from & ((1 << bits) - 1);
            let lines = u64::from(field(ebx, 22, 10) + 1) * (u64::from(ecx) + 1);
            let line = u64::from(field(ebx, 12, 10) + 1) * u64::from(field(ebx, 0, 12) + 1);
            let (instructions, none) = (2, 0);
            match (field(eax, 5, 3), field(eax, 0, 5)) {
                (_, kind) if kind == none => break,
                (_, kind) if kind == instructions => {}
                (1, _) => caches.l1d = lines.saturating_mul(line),
                (2, _) => caches.l2 = lines.saturating_mul(line),
                _ => {}
            }
        }
        caches.plausible()
    }

    /// Reads what Linux says about the first CPU.
    #[cfg(all(feature = "std", target_os = "linux"))]
    fn of_sysfs() -> Option<Self> {
        let mut caches = Self { l1d: 0, l2: 0 };
        for index in 0..8 {
            let read = |name: &str| {
                let path = std::format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}");
                Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
            };
            let Some((level, kind)) = read("level").zip(read("type")) else { break };
            let size = read("size")?.strip_suffix('K')?.parse::<u64>().ok()?.checked_mul(KIB)?;
            match (level.as_str(), kind.as_str()) {
                (_, "Instruction") => {}
                ("1", _) => caches.l1d = size,
                ("2", _) => caches.l2 = size,
                _ => {}
            }
        }
        caches.plausible()
    }

    #[cfg(not(all(feature = "std", target_os = "linux")))]
    fn of_sysfs() -> Option<Self> {
        None
    }
}

/// A CPU, as far as plans depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cpu {
    pub microarch: Microarch,
    pub caches: Caches,
}

impl Cpu {
    /// The CPU that this program runs on, detected once in a program with the standard library.
    pub fn detect() -> Self {
        #[cfg(feature = "std")]
        {
            static HERE: std::sync::OnceLock<Cpu> = std::sync::OnceLock::new();
            *HERE.get_or_init(Self::read)
        }
        #[cfg(not(feature = "std"))]
        Self::read()
    }

    /// Detects the CPU. Takes microseconds, in a virtual machine tens.
    fn read() -> Self {
        let (microarch, caches) = cpuid().unwrap_or((Microarch::Other, None));
        let caches = caches.or_else(Caches::of_sysfs).unwrap_or(Caches::CONSERVATIVE);
        Self { microarch, caches }
    }

    /// The usual server CPU of a group, for structures and tests that do not depend on this machine.
    pub const fn typical(microarch: Microarch) -> Self {
        let caches = match microarch {
            Microarch::Zen3 => Caches { l1d: 32 * KIB, l2: 512 * KIB },
            Microarch::Zen4 => Caches { l1d: 32 * KIB, l2: MIB },
            Microarch::Zen5 => Caches { l1d: 48 * KIB, l2: MIB },
            Microarch::IntelServer => Caches { l1d: 48 * KIB, l2: 2 * MIB },
            Microarch::Other => Caches::CONSERVATIVE,
        };
        Self { microarch, caches }
    }
}

/// The microarchitecture, and the caches if the CPU states plausible ones.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn cpuid() -> Option<(Microarch, Option<Caches>)> {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    let (leaf0, leaf1) = (__cpuid(0), __cpuid(1));
    let mut vendor = [0; 12];
    for (bytes, register) in vendor.chunks_exact_mut(4).zip([leaf0.ebx, leaf0.edx, leaf0.ecx]) {
        bytes.copy_from_slice(&register.to_le_bytes());
    }
    let mut design = Design { vendor, version: leaf1.eax, ..Design::default() };
    if leaf0.eax >= 7 {
        let leaf7 = __cpuid_count(7, 0);
        design.leaf7 = [leaf7.ebx, leaf7.ecx, leaf7.edx];
        design.leaf7_1 = if leaf7.eax > 0 { __cpuid_count(7, 1).eax } else { 0 };
    }
    let caches = |leaf: u32| {
        Caches::of_subleaves(|sub| {
            let it = __cpuid_count(leaf, sub);
            [it.eax, it.ebx, it.ecx]
        })
    };
    let (extended, topology) = (0x8000_001d, 22);
    let amd = __cpuid(0x8000_0000).eax >= extended && __cpuid(0x8000_0001).ecx >> topology & 1 == 1;
    let caches = match leaf0.eax >= 4 && &vendor == b"GenuineIntel" {
        true => caches(4),
        false => amd.then(|| caches(extended)).flatten(),
    };
    Some((design.microarch(), caches))
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn cpuid() -> Option<(Microarch, Option<Caches>)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A subleaf for a cache of 64-byte lines.
    fn subleaf(level: u32, kind: u32, cpus: u32, ways: u32, sets: u32) -> [u32; 3] {
        [kind | level << 5 | (cpus - 1) << 14, 63 | (ways - 1) << 22, sets - 1]
    }

    #[test]
    fn subleaves_are_read() {
        let genoa = [
            subleaf(1, 1, 2, 8, 64),
            subleaf(1, 2, 2, 8, 64),
            subleaf(2, 3, 2, 8, 2048),
            subleaf(3, 3, 16, 16, 32_768),
            [0; 3],
        ];
        let read = Caches::of_subleaves(|sub| genoa[sub as usize]);
        assert_eq!(read, Some(Cpu::typical(Microarch::Zen4).caches));
        // A hypervisor that hides the leaf, and one that states a cache of 2^44 bytes.
        assert_eq!(Caches::of_subleaves(|_| [0; 3]), None);
        assert_eq!(Caches::of_subleaves(|_| subleaf(1, 1, 1, 1024, u32::MAX)), None);
    }

    /// The group of a design; `leaf7` has EBX, ECX and EDX of leaf 7, and EAX of its subleaf 1.
    fn group(vendor: &[u8; 12], version: u32, [ebx, ecx, edx, leaf7_1]: [u32; 4]) -> Microarch {
        Design { vendor: *vendor, version, leaf7: [ebx, ecx, edx], leaf7_1 }.microarch()
    }

    /// Leaf 7 without AVX-512, and that of AMD Zen 4 and 5, Intel Ice Lake and Sapphire Rapids.
    const AVX2: [u32; 4] = [0x219c_97a9, 0x0040_0684, 0x0000_0010, 0];
    const ZEN4: [u32; 4] = [0xf1bf_97a9, 0x0040_5fce, 0x1000_0010, 1 << 5];
    const ZEN5: [u32; 4] = [0xf1bf_97ab, 0x0840_5fce, 0x1000_0110, 1 << 4 | 1 << 5];
    const ICE_LAKE: [u32; 4] = [0xf3bf_a7eb, 0x40c0_5fde, 0xbc04_0410, 0];
    const SAPPHIRE_RAPIDS: [u32; 4] = [0xf3bf_bfeb, 0xfb41_7ffe, 0xffdd_4432, 1 << 4 | 1 << 5];

    #[test]
    fn models_are_told_apart() {
        for (version, expected) in [
            (0x0080_0f12, Microarch::Other),
            (0x0083_0f10, Microarch::Zen3),
            (0x00a0_0f11, Microarch::Zen3),
            (0x00a1_0f11, Microarch::Zen4),
            (0x00aa_0f00, Microarch::Zen4),
            (0x00b0_0f21, Microarch::Zen5),
            (0x00c0_0f00, Microarch::Other),
        ] {
            assert_eq!(group(b"AuthenticAMD", version, AVX2), expected, "{version:x}");
        }
        assert_eq!(group(b"GenuineIntel", 0x0008_06f8, AVX2), Microarch::IntelServer);
        assert_eq!(group(b"GenuineIntel", 0x0005_0657, AVX2), Microarch::Other, "Skylake");
    }

    /// Hypervisors that state the model of another CPU, but not its instructions.
    #[test]
    fn masked_models_are_told_by_instructions() {
        let (rome, milan, unknown) = (0x0083_0f10, 0x00a0_0f11, 0x00c0_0f00);
        for (version, leaf7, expected) in [
            (milan, ZEN4, Microarch::Zen4),
            (milan, ZEN5, Microarch::Zen5),
            (rome, ZEN5, Microarch::Zen5),
            (rome, [ZEN5[0], ZEN5[1], AVX2[2], ZEN5[3]], Microarch::Zen5),
            (milan, [ZEN5[0], ZEN5[1], ZEN5[2], 0], Microarch::Zen5),
            (milan, [AVX2[0], AVX2[1], AVX2[2], ZEN5[3]], Microarch::Zen3),
            (unknown, ZEN5, Microarch::Other),
        ] {
            assert_eq!(group(b"AuthenticAMD", version, leaf7), expected, "{version:x}, {leaf7:x?}");
        }
        let (skylake, rocket_lake) = (0x0005_0657, 0x000a_0671);
        let without_avx512 = [AVX2[0], AVX2[1], SAPPHIRE_RAPIDS[2], 0];
        for (version, leaf7, expected) in [
            (skylake, ICE_LAKE, Microarch::IntelServer),
            (rocket_lake, SAPPHIRE_RAPIDS, Microarch::IntelServer),
            (rocket_lake, without_avx512, Microarch::IntelServer),
            (rocket_lake, [ICE_LAKE[0], AVX2[1], ICE_LAKE[2], 0], Microarch::Other),
        ] {
            assert_eq!(group(b"GenuineIntel", version, leaf7), expected, "{version:x}, {leaf7:x?}");
        }
        assert_eq!(group(b"CentaurHauls", rocket_lake, ICE_LAKE), Microarch::Other);
    }

    /// CPUID and the operating system agree, where both state something.
    #[test]
    #[cfg(all(feature = "std", target_os = "linux"))]
    fn agrees_with_the_operating_system() {
        let Some((Some(cpuid), sysfs)) = cpuid().map(|it| (it.1, Caches::of_sysfs())) else {
            return std::eprintln!("skipped: CPUID states no plausible caches");
        };
        let Some(sysfs) = sysfs else {
            return std::eprintln!("skipped: sysfs states no plausible caches");
        };
        // CPUID is that of any core, sysfs that of the first.
        if std::path::Path::new("/sys/devices/cpu_atom").exists() {
            return std::eprintln!("skipped: the cores of this CPU have different caches");
        }
        assert_eq!(cpuid, sysfs);
    }
}
