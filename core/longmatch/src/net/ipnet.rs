//! Conversions from and to the types of the `ipnet` crate.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::net::{Family, IpPrefix, Ipv4, Ipv6, Prefix};

macro_rules! convert {
    ($family:ty, $net:ty) => {
        /// Keeps the network and drops host bits, which `ipnet` allows.
        impl From<$net> for Prefix<$family> {
            fn from(net: $net) -> Self {
                Self::from_bits_masked(<$family>::bits(net.addr()), net.prefix_len())
            }
        }

        impl From<Prefix<$family>> for $net {
            fn from(prefix: Prefix<$family>) -> Self {
                Self::new_assert(prefix.addr(), prefix.len())
            }
        }
    };
}

convert!(Ipv4, Ipv4Net);
convert!(Ipv6, Ipv6Net);

/// Keeps the network and drops host bits, which `ipnet` allows.
impl From<IpNet> for IpPrefix {
    fn from(net: IpNet) -> Self {
        match net {
            IpNet::V4(net) => Self::V4(net.into()),
            IpNet::V6(net) => Self::V6(net.into()),
        }
    }
}

impl From<IpPrefix> for IpNet {
    fn from(prefix: IpPrefix) -> Self {
        match prefix {
            IpPrefix::V4(prefix) => Self::V4(prefix.into()),
            IpPrefix::V6(prefix) => Self::V6(prefix.into()),
        }
    }
}
