//! Numbers of the MRT record types (RFC 6396, section 4; RFC 8050, section 4).

/// Header of a record, without the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) kind: u16,
    pub(crate) subtype: u16,
    /// Bytes after the header.
    pub(crate) len: usize,
}

/// Record types.
pub(crate) mod kind {
    /// BGP updates of 1999 and 2000, before BGP4MP.
    pub(crate) const BGP: u16 = 5;
    pub(crate) const TABLE_DUMP: u16 = 12;
    pub(crate) const TABLE_DUMP_V2: u16 = 13;
    pub(crate) const BGP4MP: u16 = 16;
    pub(crate) const BGP4MP_ET: u16 = 17;

    /// Whether records of this type hold routing information: routing protocols up to 17, IS-IS and
    /// OSPFv3 from 32. Types below 5 describe the state of the collector; they are excluded so that a
    /// file of zeros is not MRT.
    pub(crate) fn is_known(kind: u16) -> bool {
        matches!(kind, 5..=17 | 32 | 33 | 48 | 49)
    }

    /// Name of a record type, for messages.
    pub(crate) fn name(kind: u16) -> &'static str {
        match kind {
            BGP => "BGP, obsolete since 2001",
            6 => "RIP",
            7 => "IDRP",
            8 => "RIPng",
            9 | 10 => "BGP4PLUS, obsolete since 2001",
            11 => "OSPF",
            TABLE_DUMP => "TABLE_DUMP",
            TABLE_DUMP_V2 => "TABLE_DUMP_V2",
            BGP4MP => "BGP4MP",
            BGP4MP_ET => "BGP4MP_ET",
            32 | 33 => "IS-IS",
            48 | 49 => "OSPFv3",
            _ => "unknown",
        }
    }
}

/// Subtypes of BGP (RFC 6396, appendix B.2.1). Other subtypes do not change routes.
pub(crate) mod bgp {
    pub(crate) const UPDATE: u16 = 1;
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

/// Subtypes of BGP4MP and BGP4MP_ET. The LOCAL subtypes are missing: they hold messages sent by the
/// collector itself, not routes of a peer.
pub(crate) mod bgp4mp {
    pub(crate) const MESSAGE: u16 = 1;
    pub(crate) const MESSAGE_AS4: u16 = 4;
    pub(crate) const MESSAGE_ADDPATH: u16 = 8;
    pub(crate) const MESSAGE_AS4_ADDPATH: u16 = 9;
}
