//! The address families of commands.

use longmatch::file::FileTable;
use longmatch::{Engines, Fib, IpPrefix, Ipv4, Ipv6, Prefix, Rib};

use crate::args::FamilyArgs;

/// The address families that a command works on. Routes of other families are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Families {
    /// Whether IPv4 is included.
    pub ipv4: bool,
    /// Whether IPv6 is included.
    pub ipv6: bool,
}

impl Families {
    /// Both.
    pub const BOTH: Self = Self { ipv4: true, ipv6: true };
}

impl Families {
    /// The options that name these families.
    pub fn named(self) -> FamilyArgs {
        FamilyArgs { ipv4: self.ipv4 && !self.ipv6, ipv6: self.ipv6 && !self.ipv4 }
    }
}

impl From<FamilyArgs> for Families {
    fn from(args: FamilyArgs) -> Self {
        Self { ipv4: !args.ipv6, ipv6: !args.ipv4 }
    }
}

/// Makes commands generic over the address family.
pub trait CliFamily: Engines {
    /// Name in headings, `IPv4` or `IPv6`. ([`longmatch::Family::NAME`] is the name in records.)
    const LABEL: &'static str;

    /// The compiled form of this family in a table file.
    fn fib(file: &FileTable) -> &Fib<Self>;

    /// A prefix of this family.
    fn prefix(prefix: IpPrefix) -> Option<Prefix<Self>>;

    /// The routes of this family.
    fn pick<'r>(ipv4: &'r Rib<Ipv4>, ipv6: &'r Rib<Ipv6>) -> &'r Rib<Self>;
}

impl CliFamily for Ipv4 {
    const LABEL: &'static str = "IPv4";

    fn fib(file: &FileTable) -> &Fib<Self> {
        file.ipv4()
    }

    fn prefix(prefix: IpPrefix) -> Option<Prefix<Self>> {
        match prefix {
            IpPrefix::V4(prefix) => Some(prefix),
            _ => None,
        }
    }

    fn pick<'r>(ipv4: &'r Rib<Ipv4>, _: &'r Rib<Ipv6>) -> &'r Rib<Self> {
        ipv4
    }
}

impl CliFamily for Ipv6 {
    const LABEL: &'static str = "IPv6";

    fn fib(file: &FileTable) -> &Fib<Self> {
        file.ipv6()
    }

    fn prefix(prefix: IpPrefix) -> Option<Prefix<Self>> {
        match prefix {
            IpPrefix::V6(prefix) => Some(prefix),
            _ => None,
        }
    }

    fn pick<'r>(_: &'r Rib<Ipv4>, ipv6: &'r Rib<Ipv6>) -> &'r Rib<Self> {
        ipv6
    }
}

impl Families {
    /// Returns whether the prefix is of a family to work on.
    pub fn keep(self, prefix: IpPrefix) -> bool {
        match prefix.unmapped() {
            IpPrefix::V4(_) => self.ipv4,
            IpPrefix::V6(_) => self.ipv6,
        }
    }
}
