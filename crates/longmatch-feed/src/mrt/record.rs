//! The numbers of the MRT record types (RFC 6396, section 4; RFC 8050, section 4).

/// The header that all records have, without the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) kind: u16,
    pub(crate) subtype: u16,
    /// Bytes after the header.
    pub(crate) len: usize,
}

/// Record types.
pub(crate) mod kind {
    pub(crate) const TABLE_DUMP: u16 = 12;
    pub(crate) const TABLE_DUMP_V2: u16 = 13;
    pub(crate) const BGP4MP: u16 = 16;
    pub(crate) const BGP4MP_ET: u16 = 17;

    /// Whether records of this type hold routing information: those of routing protocols up to 17,
    /// IS-IS and OSPFv3 from 32 on. The types below 5 told of the collector's own state, and a file
    /// of zeros must not pass for MRT.
    pub(crate) fn is_known(kind: u16) -> bool {
        matches!(kind, 5..=17 | 32 | 33 | 48 | 49)
    }
}

/// Subtypes of TABLE_DUMP: the address families.
pub(crate) mod table_dump {
    pub(crate) const IPV4: u16 = 1;
    pub(crate) const IPV6: u16 = 2;
}

/// Subtypes of TABLE_DUMP_V2.
pub(crate) mod table_dump_v2 {
    pub(crate) const PEER_INDEX_TABLE: u16 = 1;
    pub(crate) const RIB_IPV4_UNICAST: u16 = 2;
    pub(crate) const RIB_IPV6_UNICAST: u16 = 4;
    pub(crate) const RIB_IPV4_UNICAST_ADDPATH: u16 = 8;
    pub(crate) const RIB_IPV6_UNICAST_ADDPATH: u16 = 10;
}

/// Subtypes of BGP4MP and BGP4MP_ET. Those of messages that the collector itself sent (LOCAL) are
/// not here: they tell nothing about the peer's routes.
pub(crate) mod bgp4mp {
    pub(crate) const MESSAGE: u16 = 1;
    pub(crate) const MESSAGE_AS4: u16 = 4;
    pub(crate) const MESSAGE_ADDPATH: u16 = 8;
    pub(crate) const MESSAGE_AS4_ADDPATH: u16 = 9;
}
