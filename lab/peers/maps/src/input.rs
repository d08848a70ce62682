//! Inputs that both programs share.

/// Takes `--passes N` from the arguments, or returns the default.
pub fn take_passes(args: &mut Vec<String>, default: usize) -> usize {
    let Some(i) = args.iter().position(|arg| arg == "--passes") else { return default };
    let number = args.get(i + 1).and_then(|number| number.parse().ok());
    let number = number.filter(|passes| *passes > 0).expect("--passes takes a number");
    args.drain(i..=i + 1);
    number
}

/// Numbers by xorshift64.
pub struct Random(u64);

impl Random {
    /// The same sequence in every run.
    pub fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    /// A random number of 128 bits.
    pub fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A random number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// The text of a file, decompressed if it is zstd.
pub fn read(path: &str) -> String {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let bytes = match bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        true => zstd::decode_all(&bytes[..]).unwrap_or_else(|error| panic!("{path}: {error}")),
        false => bytes,
    };
    String::from_utf8(bytes).unwrap_or_else(|_| panic!("{path}: not text"))
}

/// The model of the CPU, if the system reports it.
pub fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split_once(": ")).map_or("unknown CPU", |(_, name)| name).to_owned()
}
